// How an access moves when one loop steps by one.
#pragma once

#include <lathe/ir/expr.hpp>

namespace lathe::detail {

/// `strided`: by a constant number of elements of its last axis.
enum class Step : std::uint8_t { none, unit, strided, other };

struct Stride {
  Step step = Step::none;
  std::int64_t elements = 0;  ///< where strided
};

Stride stride_of(const Vec<AnyExpr>& indices, const VarRef& loop);
inline Step step_of(const Vec<AnyExpr>& indices, const VarRef& loop) {
  return stride_of(indices, loop).step;
}

}  // namespace lathe::detail
