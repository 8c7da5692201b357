// What transformers are made of, in sizes of BERT, GPT-2 and LLaMA.
#pragma once

#include <vector>

#include "core/operator.hpp"

namespace bench {

/// The last one of each family is drawn with the seed.
std::vector<Operator> transformer_operators(unsigned seed);

}  // namespace bench
