// Elements of what transformers are made of, computed in f64.
#pragma once

#include <vector>

#include "core/operator.hpp"

namespace bench {

double value(const Attention& p, const std::vector<const float*>& in, std::int64_t element);
double value(const Linear& p, const std::vector<const float*>& in, std::int64_t element);
double value(const GatedUnit& p, const std::vector<const float*>& in, std::int64_t element);
double value(const RowNorm& p, const std::vector<const float*>& in, std::int64_t element);
double value(const Rotation& p, const std::vector<const float*>& in, std::int64_t element);

}  // namespace bench
