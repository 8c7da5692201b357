#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/math/math_builder.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

class ExpandMath : public Mutator {
 public:
  explicit ExpandMath(const Target& target) {
    bool x86 = target.arch == "x86_64";
    target_.fused = !x86 || target.has("fma");
    target_.scales = x86 && target.has("avx512f");
  }

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<CallNode>();
    if (!n || !expands(n->op) || !n->dtype.is_float()) return descend(e);
    DType t = n->dtype.bits < 32 ? kF32.with_lanes(n->dtype.lanes) : n->dtype;
    MathBuilder b(t, target_);
    AnyExpr x = b.let(make_cast(t, expr(n->args[0])));
    AnyExpr y = n->args.size() > 1 ? b.let(make_cast(t, expr(n->args[1]))) : AnyExpr();
    return make_cast(n->dtype, b.finish(expanded(b, n->op, x, y)));
  }

 private:
  static bool expands(CallOp op) { return op <= CallOp::erf || op == CallOp::pow; }

  static AnyExpr expanded(MathBuilder& b, CallOp op, const AnyExpr& x, const AnyExpr& y) {
    switch (op) {
      case CallOp::exp:
        return math_exp(b, x);
      case CallOp::exp2:
        return math_exp2(b, x);
      case CallOp::log:
        return math_log(b, x);
      case CallOp::log2:
        return math_log2(b, x);
      case CallOp::sin:
        return math_sin(b, x);
      case CallOp::cos:
        return math_cos(b, x);
      case CallOp::tan:
        return math_tan(b, x);
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

  MathTarget target_;
};

}  // namespace detail

LATHE_DECL Program expand_math(const Program& program, const Target& target) {
  return program.with(detail::ExpandMath(target).stmt(program->body));
}

}  // namespace lathe
