// How far apart in memory the elements are that a loop's iterations name.
#pragma once

#include <lathe/arith/affine.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/ir/visit.hpp>
#include <optional>

namespace lathe::detail {

/// Whether rows of an axis lie behind each other.
inline bool follow_each_other(const BufferNode& buffer, std::size_t axis) {
  if (buffer.strides.empty()) return true;
  return same_expr(buffer.strides[axis - 1], fold_mul(buffer.shape[axis], buffer.strides[axis]));
}

/// [f / 3, f % 3] of axes of which the last one has 3 elements is where [0, f] would be.
inline void join_digits(const BufferNode& buffer, Vec<AnyExpr>& indices) {
  for (std::size_t d = indices.size(); d-- > 1;) {
    const auto* digit = indices[d].as<BinaryNode>();
    if (!digit || digit->op != BinaryOp::floormod || !same_expr(digit->b, buffer.shape[d]) ||
        !follow_each_other(buffer, d))
      continue;
    const AnyExpr rest = simplify(indices[d - 1] - floordiv(digit->a, digit->b));
    if (names_one_of(rest, free_vars(digit->a))) continue;
    indices[d - 1] = rest, indices[d] = digit->a;
  }
}

inline Vec<AnyExpr> with_joined_digits(const BufferNode& buffer, const Vec<AnyExpr>& indices) {
  Vec<AnyExpr> joined = indices;
  join_digits(buffer, joined);
  return joined;
}

/// How many elements lie between those of two iterations of a loop, if that is a number: extents
/// around the axes that it runs along may be any.
inline std::optional<std::int64_t> flat_stride(const BufferNode& buffer, const Vec<AnyExpr>& given,
                                               const VarRef& loop) {
  const Vec<AnyExpr> indices = with_joined_digits(buffer, given);
  std::int64_t stride = 0, below = 1;  // elements of one step along the axis
  bool known = true;                   // whether they are a number
  for (std::size_t axis = indices.size(); axis-- > 0;) {
    if (!buffer.strides.empty()) {
      const std::int64_t* declared = as_const_int(buffer.strides[axis]);
      known = declared != nullptr, below = declared ? *declared : 1;
    }
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

/// The same where extents are no numbers: nothing if it is not the same for all iterations. What is
/// loaded for an index stays where it is.
inline AnyExpr symbolic_stride(const BufferNode& buffer, const Vec<AnyExpr>& given,
                               const VarRef& loop) {
  const Vec<AnyExpr> indices = with_joined_digits(buffer, given);
  struct Loaded : Mutator {
    AnyExpr expr(const AnyExpr& e) override {
      return e.kind() == ExprKind::Load ? AnyExpr(make_var("loaded", e.dtype())) : descend(e);
    }
  } loaded;
  AnyExpr stride(0), below(1);
  for (std::size_t axis = indices.size(); axis-- > 0;) {
    if (!buffer.strides.empty()) below = buffer.strides[axis];
    const auto affine = affine_of(loaded.expr(indices[axis]), {loop});
    const auto coef = affine ? affine->coef(0) : std::nullopt;
    if (!coef) return {};
    stride = fold_add(stride, fold_mul(AnyExpr(*coef), below));
    below = fold_mul(below, buffer.shape[axis]);
  }
  return stride;
}

}  // namespace lathe::detail
