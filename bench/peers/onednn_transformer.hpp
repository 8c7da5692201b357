// oneDNN's parts of transformers, as chains of primitives that leave what lies between in memory.
#pragma once

#include "core/case.hpp"

namespace bench {

std::vector<Competitor> competitors(const Attention& p, const OperatorJob& job);
std::vector<Competitor> competitors(const Linear& p, const OperatorJob& job);
std::vector<Competitor> competitors(const GatedUnit& p, const OperatorJob& job);
std::vector<Competitor> competitors(const RowNorm& p, const OperatorJob& job);
std::vector<Competitor> competitors(const Rotation& p, const OperatorJob& job);

}  // namespace bench
