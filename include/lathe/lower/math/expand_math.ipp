#pragma once

#include <lathe/ir/math_table.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/math/math_builder.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// Whether the arithmetic of a type keeps to 1 unit in the last place by itself.
constexpr bool math_is_accurate(CallOp op, bool wide, const TargetCaps& caps) {
  switch (op) {
    case CallOp::exp:
    case CallOp::exp2:
    case CallOp::cbrt:
      return true;
    case CallOp::pow:
      return !wide;
    case CallOp::log:
    case CallOp::log2:
      return wide || caps.fma;
    case CallOp::log1p:
      return !wide && caps.fma;
    default:
      return false;
  }
}

class ExpandMath : public Mutator {
 public:
  ExpandMath(const TargetCaps& caps, Math math, Location where)
      : caps_(caps), math_(math), where_(where) {}

  bool fast_tanh = false, fast_erf = false;  ///< whether there was one

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<CallNode>();
    if (!n || !is_transcendental(n->op) || !n->dtype.is_float()) return descend(e);
    const DType t = type_of(n->op, n->dtype);
    note(n->op, t);
    MathBuilder b(t, caps_, digits_for(n->dtype, t));
    AnyExpr x = b.let(make_cast(t, expr(n->args[0])));
    AnyExpr y = n->args.size() > 1 ? b.let(make_cast(t, expr(n->args[1]))) : AnyExpr();
    return make_cast(n->dtype, b.finish(expanded(b, n->op, x, y)));
  }

 private:
  // Rounding results of f64 to f32 is the most accurate that there is; narrower types have that by
  // rounding those of f32.
  DType type_of(CallOp op, DType t) const {
    if (math_ == Math::accurate && t.bits >= 32 && !math_is_accurate(op, t.bits == 64, caps_)) {
      if (t.bits == 64)
        throw UserError("L0605",
                        cat("math = accurate: there is no ", op_text(op),
                            " of f64 to 1 unit in the last place"),
                        where_, {}, "use f32, or lt::Math::normal, whose bounds docs/math.md has");
      return kF64.with_lanes(t.lanes);
    }
    return t.bits < 32 ? kF32.with_lanes(t.lanes) : t;
  }
  MathBuilder::Digits digits_for(DType result, DType t) const {
    if (math_ == Math::fast) return MathBuilder::Digits::fast;
    if (t.bits == result.bits)
      return math_ == Math::accurate ? MathBuilder::Digits::accurate : MathBuilder::Digits::full;
    return t.bits == 64 ? MathBuilder::Digits::rounded : MathBuilder::Digits::full;
  }
  void note(CallOp op, DType t) {
    if (math_ != Math::fast || t.bits == 64) return;
    fast_tanh |= op == CallOp::tanh, fast_erf |= op == CallOp::erf;
  }

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
  Math math_;
  Location where_;
};

}  // namespace detail

LATHE_DECL Program expand_math(const Program& program, const TargetCaps& caps, Math math,
                               Location where, std::vector<std::string>* changes) {
  detail::ExpandMath pass(caps, math, where);
  Program out = program.with(pass.stmt(program->body));
  if (changes && pass.fast_tanh)
    changes->push_back("fast: tanh of f32 to 12 units in the last place");
  if (changes && pass.fast_erf)
    changes->push_back("fast: erf of f32 to 12 units in the last place");
  return out;
}

}  // namespace lathe
