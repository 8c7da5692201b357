// The operators of Ansor's evaluation and their sizes.
#pragma once

#include <vector>

#include "core/operator.hpp"

namespace bench {

/// Ansor's sizes of each operator and one that is drawn with the seed, last, for batches of
/// 1, then of 16.
std::vector<Operator> ansor_operators(unsigned seed);

}  // namespace bench
