// How far apart in memory the elements are that a loop's iterations name.
#pragma once

#include <lathe/arith/affine.hpp>
#include <lathe/ir/stmt.hpp>
#include <optional>

namespace lathe::detail {

/// How many elements lie between those of two iterations of a loop, if that is a number: extents
/// around the axes that it runs along may be any.
inline std::optional<std::int64_t> flat_stride(const BufferNode& buffer,
                                               const Vec<AnyExpr>& indices, const VarRef& loop) {
  std::int64_t stride = 0, below = 1;  // elements of one step along the axis
  bool known = true;                   // whether they are a number
  for (std::size_t axis = indices.size(); axis-- > 0;) {
    auto affine = affine_of(indices[axis], {loop});
    const auto coef = affine ? affine->coef(0) : std::nullopt;
    const std::int64_t* extent = as_const_int(buffer.shape[axis]);
    std::int64_t part = 0;
    if (!coef || (*coef != 0 && !known)) return std::nullopt;
    if (*coef != 0 && (__builtin_mul_overflow(*coef, below, &part) ||
                       __builtin_add_overflow(stride, part, &stride)))
      return std::nullopt;
    known = known && extent && !__builtin_mul_overflow(below, *extent, &below);
  }
  return stride;
}

}  // namespace lathe::detail
