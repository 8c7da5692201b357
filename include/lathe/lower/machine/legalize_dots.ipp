#pragma once

#include <lathe/lower/machine/narrow_types.hpp>
#include <lathe/lower/math/math_builder.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe::detail {

/// Dots as the target has them, or as arithmetic of f32 and i32 that gives the same bits.
class LegalDots {
 public:
  explicit LegalDots(const TargetCaps& caps) : caps_(caps) {}

  AnyExpr dot(CallOp op, AnyExpr sum, AnyExpr a, AnyExpr b) const {
    if (op == CallOp::dot2) return caps_.bf16_dots ? make_call(op, {sum, a, b}) : dot2(sum, a, b);
    if (op == CallOp::dot_words)
      return caps_.word_dots ? make_call(op, {sum, a, b}) : integers(sum, a, b, 2);
    // The instruction takes the unsigned factors first.
    if (a.dtype().is_signed() && b.dtype().is_unsigned()) std::swap(a, b);
    const bool known = caps_.byte_dots && a.dtype().is_unsigned() && b.dtype().is_signed();
    return known ? make_call(op, {sum, a, b}) : integers(sum, a, b, 4);
  }

  /// As scalar_dot2_step does it: fma(a, b, sum) of numbers that are not subnormal.
  static AnyExpr step(const AnyExpr& sum, const AnyExpr& a, const AnyExpr& b) {
    return with_value("sum", number(sum), [&](const AnyExpr& s) {
      return with_value("a", number(a), [&](const AnyExpr& x) {
        return with_value("b", number(b), [&](const AnyExpr& y) {
          return with_value("r", make_call(CallOp::fma, {x, y, s}), [&](const AnyExpr& r) {
            const DType t = r.dtype();
            AnyExpr scale = make_float(t, 0x1p32);
            AnyExpr larger = size(make_call(CallOp::fma, {x * scale, y, s * scale}));
            AnyExpr tiny = make_binary(BinaryOp::le, size(r), make_float(t, 0x1p-126));
            AnyExpr kept = make_binary(BinaryOp::ge, larger, make_float(t, 0x1p-94));
            return make_select(tiny, make_select(kept, r, zero_like(r)), r);
          });
        });
      });
    });
  }

 private:
  // Lane k of each group.
  static AnyExpr part(const AnyExpr& v, int k, int group) {
    Vec<int> lanes;
    for (int l = k; l < v.dtype().lanes; l += group) lanes.push_back(l);
    return make_shuffle({v}, std::move(lanes));
  }

  static AnyExpr integers(const AnyExpr& sum, const AnyExpr& a, const AnyExpr& b, int group) {
    const DType t = sum.dtype();
    return with_value("a", a, [&](const AnyExpr& x) {
      return with_value("b", b, [&](const AnyExpr& y) {
        AnyExpr out = sum;
        for (int k = 0; k < group; ++k)
          out = out + make_cast(t, part(x, k, group)) * make_cast(t, part(y, k, group));
        return out;
      });
    });
  }

  static AnyExpr dot2(const AnyExpr& sum, const AnyExpr& a, const AnyExpr& b) {
    return with_value("a", a, [&](const AnyExpr& x) {
      return with_value("b", b, [&](const AnyExpr& y) {
        AnyExpr first = step(sum, factor(part(x, 1, 2)), factor(part(y, 1, 2)));
        return step(first, factor(part(x, 0, 2)), factor(part(y, 0, 2)));
      });
    });
  }

  // A bf16 is the upper half of an f32.
  static AnyExpr factor(const AnyExpr& bits) {
    const DType u32 = kU32.with_lanes(bits.dtype().lanes);
    return make_reinterpret(kF32.with_lanes(u32.lanes),
                            make_binary(BinaryOp::shl, make_cast(u32, bits), make_int(u32, 16)));
  }

  static AnyExpr size(const AnyExpr& x) { return make_call(CallOp::abs, {x}); }
  static AnyExpr zero_like(const AnyExpr& x) {
    return make_call(CallOp::copysign, {make_float(x.dtype(), 0), x});
  }
  static AnyExpr number(const AnyExpr& x) {
    return with_value("x", x, [&](const AnyExpr& v) {
      AnyExpr least = make_float(v.dtype(), 0x1p-126);
      return make_select(make_binary(BinaryOp::lt, size(v), least), zero_like(v), v);
    });
  }

  const TargetCaps& caps_;
};

}  // namespace lathe::detail
