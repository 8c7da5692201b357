#pragma once

#include <cmath>
#include <lathe/arith/interval.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/legalize_dots.ipp>
#include <lathe/lower/machine/legalize_exponents.ipp>
#include <lathe/lower/machine/narrow_types.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

class LegalOps : public Mutator {
 public:
  LegalOps(const Program& program, const TargetCaps& caps)
      : facts_(program), dots_(caps), caps_(caps) {}

  AnyExpr expr(const AnyExpr& e) override {
    if (const auto* n = e.as<BinaryNode>();
        n && (n->op == BinaryOp::floordiv || n->op == BinaryOp::floormod))
      return n->dtype.is_int() ? floor_division(*n) : floor_division_of_floats(*n);
    const auto* n = e.as<CallNode>();
    if (n && is_dot(n->op) && !is_tile(n->op))
      return dots_.dot(n->op, expr(n->args[0]), expr(n->args[1]), expr(n->args[2]));
    if (n && n->op == CallOp::permute && n->dtype.is_vector() && !is_permuted(n->dtype, caps_))
      return chosen_lanes(expr(n->args[0]), expr(n->args[1]));
    if (!n || !n->dtype.is_float()) return descend(e);
    if (math_form(n->op, caps_) != MathForm::expanded) return descend(e);
    return with_value("x", expr(n->args[0]), [&](const AnyExpr& x) {
      if (n->op == CallOp::logb) return legal_logb(x);
      if (n->op == CallOp::significand) return legal_significand(x);
      if (n->op == CallOp::reciprocal_estimate) return make_float(x.dtype(), 1) / x;
      if (n->op == CallOp::rsqrt_estimate)
        return make_float(x.dtype(), 1) / make_call(CallOp::sqrt, {x});
      if (n->op != CallOp::scalb) return round(n->op, x);
      return with_value("n", expr(n->args[1]), [&](const AnyExpr& by) { return scalb(x, by); });
    });
  }

  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<ForNode>()) {
      // Its range is computed also where it runs nothing.
      AnyExpr min = expr(n->min), extent = expr(n->extent);
      Facts outer = facts_;
      facts_.bind(*n);
      Stmt body = stmt(n->body);
      facts_ = outer;
      return make_for(n->var, min, extent, body, n->loop_kind, n->attributes);
    }
    return descend(s);
  }

 private:
  static AnyExpr chosen_lanes(const AnyExpr& v, const AnyExpr& lanes) {
    return with_value("v", v, [&](const AnyExpr& vector) {
      return with_value("lanes", lanes, [&](const AnyExpr& from) {
        const int count = v.dtype().lanes;
        const auto all = [&](int k) { return make_broadcast(make_shuffle({vector}, {k}), count); };
        AnyExpr out = all(0);
        for (int k = 1; k < count; ++k)
          out =
              make_select(make_binary(BinaryOp::eq, from, make_int(from.dtype(), k)), all(k), out);
        return out;
      });
    });
  }

  AnyExpr floor_division(const BinaryNode& n) {
    AnyExpr a = expr(n.a), b = expr(n.b);
    const std::int64_t* c = as_const_int(b);
    const bool positive = c && *c > 0, power = positive && (*c & (*c - 1)) == 0;
    if (positive && !power && n.dtype.is_signed() && const_bounds(n.a, facts_).min >= 0)
      return make_binary(n.op == BinaryOp::floordiv ? BinaryOp::div : BinaryOp::mod, a, b);
    return machine_binary(n.op, a, b);
  }

  AnyExpr floor_division_of_floats(const BinaryNode& n) {
    return with_value("a", expr(n.a), [&](const AnyExpr& a) {
      return with_value("b", expr(n.b), [&](const AnyExpr& b) {
        AnyExpr down = rounded_down(a / b);
        return n.op == BinaryOp::floordiv ? down : a - down * b;
      });
    });
  }

  AnyExpr rounded_down(const AnyExpr& x) const {
    return caps_.rounds ? make_call(CallOp::floor, {x}) : round(CallOp::floor, x);
  }

  // Adding and subtracting 2^(mantissa bits) rounds to nearest even; floor, ceil and trunc correct
  // that by one.
  static AnyExpr round(CallOp op, const AnyExpr& x) {
    DType t = x.dtype();
    AnyExpr magic = make_float(t, std::ldexp(1.0, t.bits == 64 ? 52 : 23));
    AnyExpr size = make_call(CallOp::abs, {x});
    AnyExpr near = make_call(CallOp::copysign, {size + magic - magic, x});
    AnyExpr one = make_float(t, 1), zero = make_float(t, 0), rounded = near;
    auto step = [&](BinaryOp wrong, const AnyExpr& from, const AnyExpr& to) {
      return make_select(make_binary(wrong, from, to), one, zero);
    };
    if (op != CallOp::round) {
      rounded = with_value("near", near, [&](const AnyExpr& r) {
        AnyExpr down = r - step(BinaryOp::gt, r, x), up = r + step(BinaryOp::lt, r, x);
        if (op == CallOp::floor) return down;
        if (op == CallOp::ceil) return up;
        return make_select(make_binary(BinaryOp::lt, x, zero), up, down);
      });
      rounded = make_call(CallOp::copysign, {rounded, x});
    }
    // What is larger has no fraction, and neither have infinities; NaN stays itself.
    return make_select(make_binary(BinaryOp::lt, size, magic), rounded, x);
  }

  static AnyExpr power_of_two(DType t, const AnyExpr& n) {
    bool wide = t.bits == 64;
    DType bits = (wide ? kI64 : kI32).with_lanes(t.lanes);
    AnyExpr biased = make_cast(bits, n) + make_int(bits, wide ? 1023 : 127);
    return make_reinterpret(t, make_binary(BinaryOp::shl, biased, make_int(bits, wide ? 52 : 23)));
  }

  static AnyExpr limited(const AnyExpr& n, std::int64_t low, std::int64_t high) {
    AnyExpr at_least = make_binary(BinaryOp::max, n, make_int(n.dtype(), low));
    return make_binary(BinaryOp::min, at_least, make_int(n.dtype(), high));
  }

  static AnyExpr times_power_of_two(const AnyExpr& x, const AnyExpr& n) {
    DType t = x.dtype(), wide = kF64.with_lanes(t.lanes);
    // In f64 the product of an f32 is exact, so that only the conversion back rounds.
    if (t.bits == 32)
      return make_cast(t, make_cast(wide, x) * power_of_two(wide, limited(n, -400, 400)));
    return with_value("n", limited(n, -2200, 2200),
                      [&](const AnyExpr& k) { return power_step(x, k, 2); });
  }

  AnyExpr scalb(const AnyExpr& x, const AnyExpr& n) {
    const DType t = n.dtype();
    const AnyExpr down = rounded_down(n);
    const AnyExpr finite = times_power_of_two(x, make_cast(kI32.with_lanes(t.lanes), down));
    const AnyExpr factor =
        make_select(make_binary(BinaryOp::lt, n, make_float(t, 0)), make_float(t, 0), n);
    return make_select(make_call(CallOp::is_nan, {n - n}), x * factor, finite);
  }

  // A factor that leaves the value normal, or so small that all is lost anyway, until the rest is
  // one power of two.
  static AnyExpr power_step(const AnyExpr& x, const AnyExpr& n, int steps) {
    DType t = x.dtype();
    if (steps == 0) return x * power_of_two(t, limited(n, -1022, 1023));
    AnyExpr high = make_binary(BinaryOp::gt, n, make_int(n.dtype(), 1023));
    AnyExpr low = make_binary(BinaryOp::lt, n, make_int(n.dtype(), -1022));
    auto pick = [&](const AnyExpr& up, const AnyExpr& down, const AnyExpr& none) {
      return make_select(high, up, make_select(low, down, none));
    };
    AnyExpr factor = pick(make_float(t, std::ldexp(1.0, 1023)),
                          make_float(t, std::ldexp(1.0, -969)), make_float(t, 1));
    AnyExpr left = pick(n - make_int(n.dtype(), 1023), n + make_int(n.dtype(), 969), n);
    return with_value("x", x * factor, [&](const AnyExpr& y) {
      return with_value("n", left, [&](const AnyExpr& k) { return power_step(y, k, steps - 1); });
    });
  }

  Facts facts_;
  LegalDots dots_;
  const TargetCaps& caps_;
};

}  // namespace detail

LATHE_DECL Program legalize_ops(const Program& program, const TargetCaps& caps) {
  return program.with(detail::LegalOps(program, caps).stmt(program->body));
}

}  // namespace lathe
