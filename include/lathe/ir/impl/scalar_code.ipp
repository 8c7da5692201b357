#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/ir/scalar_code.hpp>

namespace lathe::detail {

// Loads of one element in two places are one input.
LATHE_DECL int ScalarCode::place_of_input(const AnyExpr& e) {
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    if (structurally_equal(inputs_[k], e)) return input_places_[k];
  inputs_.push_back(e);
  input_places_.push_back(fresh());
  known_.insert(e.get(), input_places_.back());
  return input_places_.back();
}

LATHE_DECL int ScalarCode::compile(const AnyExpr& e) {
  if (const int* place = known_.find(e.get())) return *place;
  const int place = e.dtype().lanes == 1 ? compile_new(e) : (good_ = false, 0);
  known_.insert(e.get(), place);
  return place;
}

LATHE_DECL int ScalarCode::compile_call(const CallNode& n) {
  const DType t = n.args[0].dtype();
  if (!op_pure(n.op) || n.op == CallOp::dot2 || n.op == CallOp::dot4) return good_ = false, 0;
  Step step{n.op == CallOp::reinterpret ? Step::bits : Step::call,
            static_cast<std::uint8_t>(n.op),
            type(n.dtype),
            type(t),
            {},
            0};
  if (step.kind == Step::bits && !exact_ && (t.is_float() || n.dtype.is_float()))
    return good_ = false, 0;
  for (std::size_t k = 0; k < n.args.size(); ++k) step.args[k] = compile(n.args[k]);
  return add(step);
}

LATHE_DECL int ScalarCode::compile_new(const AnyExpr& e) {
  if (const auto* c = e.as<ConstNode>()) return fresh(scalar_of(type(c->dtype), c->i, c->f));
  if (e.kind() == ExprKind::Var || e.kind() == ExprKind::Load) return place_of_input(e);
  if (const auto* n = e.as<BinaryNode>()) {
    const int a = compile(n->a), b = compile(n->b);
    return add({Step::binary, static_cast<std::uint8_t>(n->op), type(n->a.dtype()), {}, {a, b}, 0});
  }
  if (const auto* n = e.as<UnaryNode>()) {
    const int a = compile(n->a);
    return add({Step::unary, static_cast<std::uint8_t>(n->op), type(n->a.dtype()), {}, {a}, 0});
  }
  if (const auto* n = e.as<SelectNode>()) {
    const int c = compile(n->condition), yes = compile(n->yes), no = compile(n->no);
    return add({Step::select, 0, {}, {}, {c, yes, no}, 0});
  }
  if (const auto* n = e.as<CastNode>()) {
    const int a = compile(n->value);
    return add({Step::cast, 0, type(n->dtype), type(n->value.dtype()), {a}, 0});
  }
  if (const auto* n = e.as<CallNode>()) return compile_call(*n);
  if (const auto* n = e.as<LetNode>()) {
    known_[AnyExpr(n->var).get()] = compile(n->value);
    return compile(n->body);
  }
  return good_ = false, 0;
}

LATHE_DECL void ScalarCode::run(const Scalar* in, Scalar* out) {
  Scalar* at = places_.data();
  for (std::size_t k = 0; k < input_places_.size(); ++k) at[input_places_[k]] = in[k];
  for (const Step& s : steps_) {
    const Scalar a = at[s.args[0]];
    Scalar& to = at[s.to];
    switch (s.kind) {
      case Step::binary:
        to = scalar_binary(static_cast<BinaryOp>(s.op), s.type, a, at[s.args[1]]);
        break;
      case Step::unary:
        to = scalar_unary(static_cast<UnaryOp>(s.op), s.type, a);
        break;
      case Step::cast:
        to = s.type == s.from ? a : scalar_cast(s.type, s.from, a);
        break;
      case Step::bits:
        to = scalar_from_bits(s.type, scalar_bits(s.from, a));
        break;
      case Step::call: {
        const Scalar args[] = {a, at[s.args[1]], at[s.args[2]]};
        to = scalar_call(static_cast<CallOp>(s.op), s.from, args);
        break;
      }
      case Step::select:
        to = a.i ? at[s.args[1]] : at[s.args[2]];
        break;
    }
  }
  for (std::size_t k = 0; k < results_.size(); ++k) out[k] = at[results_[k]];
}

}  // namespace lathe::detail
