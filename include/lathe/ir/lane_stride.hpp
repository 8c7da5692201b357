// Vector indices that step evenly from lane to lane.
#pragma once

#include <lathe/ir/expr.hpp>

namespace lathe::detail {

/// Whether lane l of a vector is base + l * stride with a constant stride.
bool lane_stride(const AnyExpr& e, std::int64_t& stride);
/// The scalar stride of such a vector, also one that is no constant; empty if none is found.
AnyExpr lane_step(const AnyExpr& e);
/// The scalar that lane 0 of such a vector is.
AnyExpr lane_base(const AnyExpr& e);

}  // namespace lathe::detail
