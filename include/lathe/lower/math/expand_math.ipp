#pragma once

#include <lathe/ir/math_table.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/math/math_builder.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

class ExpandMath : public Mutator {
 public:
  explicit ExpandMath(const TargetCaps& caps) : caps_(caps) {}

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<CallNode>();
    if (!n || !is_transcendental(n->op) || !n->dtype.is_float()) return descend(e);
    DType t = n->dtype.bits < 32 ? kF32.with_lanes(n->dtype.lanes) : n->dtype;
    MathBuilder b(t, caps_);
    AnyExpr x = b.let(make_cast(t, expr(n->args[0])));
    AnyExpr y = n->args.size() > 1 ? b.let(make_cast(t, expr(n->args[1]))) : AnyExpr();
    return make_cast(n->dtype, b.finish(expanded(b, n->op, x, y)));
  }

 private:
  static AnyExpr expanded(MathBuilder& b, CallOp op, const AnyExpr& x, const AnyExpr& y) {
    switch (op) {
      case CallOp::exp:
        return math_exp(b, x);
      case CallOp::exp2:
        return math_exp2(b, x);
      case CallOp::expm1:
        return math_expm1(b, x);
      case CallOp::log:
        return math_log(b, x);
      case CallOp::log2:
        return math_log2(b, x);
      case CallOp::log1p:
        return math_log1p(b, x);
      case CallOp::sin:
        return math_sin(b, x);
      case CallOp::cos:
        return math_cos(b, x);
      case CallOp::tan:
        return math_tan(b, x);
      case CallOp::atan:
        return math_atan(b, x);
      case CallOp::atan2:
        return math_atan2(b, x, y);
      case CallOp::cbrt:
        return math_cbrt(b, x);
      case CallOp::tanh:
        return math_tanh(b, x);
      case CallOp::erf:
        return math_erf(b, x);
      case CallOp::pow:
        return math_pow(b, x, y);
      default:
        unreachable("not a function that expands");
    }
  }

  const TargetCaps& caps_;
};

}  // namespace detail

LATHE_DECL Program expand_math(const Program& program, const TargetCaps& caps) {
  return program.with(detail::ExpandMath(caps).stmt(program->body));
}

}  // namespace lathe
