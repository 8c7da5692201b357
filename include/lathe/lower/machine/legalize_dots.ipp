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
    if (op == CallOp::odd_dot2 || op == CallOp::odd_mat_dot4)
      return caps_.odd_dots ? make_call(op, {sum, a, b}) : odd_dot(op, sum, a, b);
    if (op == CallOp::sad8)
      return caps_.byte_differences ? make_call(op, {sum, a, b}) : differences(sum, a, b);
    const bool known = op == CallOp::dot_words ? caps_.word_dots
                       : op == CallOp::mat_dot8
                           ? caps_.byte_matrices
                           : caps_.multiplies_bytes(a.dtype().is_signed(), b.dtype().is_signed());
    if (!known) return integers(op, sum, a, b);
    // Instructions take unsigned factors first, where the others are signed.
    if (!a.dtype().is_signed() || b.dtype().is_signed()) return make_call(op, {sum, a, b});
    if (op != CallOp::mat_dot8) return make_call(op, {sum, b, a});
    return turned(make_call(op, {turned(sum), b, a}));
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
            AnyExpr less = make_binary(BinaryOp::lt, larger, make_float(t, 0x1p-94));
            return make_select(logical_and(tiny, less), zero_like(r), r);
          });
        });
      });
    });
  }

 private:
  // For each lane of the sum the k-th factor that it takes.
  static AnyExpr part(CallOp op, const AnyExpr& v, int k, int DotLanes::*first, int sums) {
    Vec<int> lanes;
    for (int l = 0; l < sums; ++l) lanes.push_back(dot_lanes(op, l).*first + k);
    return make_shuffle({v}, std::move(lanes));
  }

  // Rows and columns of 2 x 2 sums change places.
  static AnyExpr turned(const AnyExpr& sums) {
    Vec<int> lanes;
    for (int l = 0; l < sums.dtype().lanes; ++l) lanes.push_back(l / 4 * 4 + l % 2 * 2 + l % 4 / 2);
    return make_shuffle({sums}, std::move(lanes));
  }

  static AnyExpr integers(CallOp op, const AnyExpr& sum, const AnyExpr& a, const AnyExpr& b) {
    const DType t = sum.dtype();
    return with_value("a", a, [&](const AnyExpr& x) {
      return with_value("b", b, [&](const AnyExpr& y) {
        AnyExpr out = sum;
        for (int k = 0; k < dot_lanes(op, 0).count; ++k)
          out = out + make_cast(t, part(op, x, k, &DotLanes::a, t.lanes)) *
                          make_cast(t, part(op, y, k, &DotLanes::b, t.lanes));
        return out;
      });
    });
  }

  // Lanes that stay as they are get zeros.
  static AnyExpr differences(const AnyExpr& sum, const AnyExpr& a, const AnyExpr& b) {
    const DType t = sum.dtype();
    const auto spread = [&](const AnyExpr& v, int k) {
      Vec<int> lanes;
      for (int l = 0; l < t.lanes; ++l)
        lanes.push_back(l % 2 == 0 ? dot_lanes(CallOp::sad8, l).a + k : v.dtype().lanes);
      return make_cast(t, make_shuffle({v, make_int(v.dtype(), 0)}, std::move(lanes)));
    };
    return with_value("a", a, [&](const AnyExpr& x) {
      return with_value("b", b, [&](const AnyExpr& y) {
        AnyExpr out = sum;
        for (int k = 0; k < 8; ++k)
          out = out + make_call(CallOp::abs, {spread(x, k) - spread(y, k)});
        return out;
      });
    });
  }

  static AnyExpr dot2(const AnyExpr& sum, const AnyExpr& a, const AnyExpr& b) {
    return with_value("a", a, [&](const AnyExpr& x) {
      return with_value("b", b, [&](const AnyExpr& y) {
        const auto added = [&](const AnyExpr& to, int k) {
          const int sums = sum.dtype().lanes;
          return step(to, factor(part(CallOp::dot2, x, k, &DotLanes::a, sums)),
                      factor(part(CallOp::dot2, y, k, &DotLanes::b, sums)));
        };
        return added(added(sum, 1), 0);
      });
    });
  }

  // As scalar_odd_dot2 does it.
  static AnyExpr odd_dot(CallOp op, const AnyExpr& sum, const AnyExpr& a, const AnyExpr& b) {
    return with_value("a", a, [&](const AnyExpr& x) {
      return with_value("b", b, [&](const AnyExpr& y) {
        const auto product = [&](int k) {
          const int sums = sum.dtype().lanes;
          return number(number(factor(part(op, x, k, &DotLanes::a, sums))) *
                        number(factor(part(op, y, k, &DotLanes::b, sums))));
        };
        AnyExpr out = number(sum);
        for (int k = 0; k < dot_lanes(op, 0).count; k += 2)
          out = odd_sum(out, odd_sum(product(k), product(k + 1)));
        return out;
      });
    });
  }
  static AnyExpr odd_sum(const AnyExpr& x, const AnyExpr& y) {
    const DType f64 = kF64.with_lanes(x.dtype().lanes);
    return with_value(
        "exact", sum_to_odd(make_cast(f64, x), make_cast(f64, y)), [&](const AnyExpr& e) {
          const auto is = [&](BinaryOp op, double than) {
            return make_binary(op, size(e), make_float(f64, than));
          };
          const AnyExpr near = make_cast(x.dtype(), e);
          return make_select(is(BinaryOp::lt, 0x1p-126), zero_like(near),
                             make_select(is(BinaryOp::lt, 0x1p128), f32_to_odd(e), near));
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
