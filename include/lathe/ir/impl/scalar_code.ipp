#pragma once

#include <bit>
#include <cmath>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/scalar_code.hpp>
#include <lathe/support/random.hpp>

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
  if (!op_pure(n.op) || crosses_lanes(n.op) || is_tile(n.op)) return good_ = false, 0;
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

// A constant that needs nearly all digits of its type, as 1/3 does, was rounded to it.
LATHE_DECL int ScalarCode::place_of_constant(const ConstNode& c) {
  const int place = fresh(scalar_of(type(c.dtype), c.i, c.f));
  if (exact_ || !c.dtype.is_float() || c.dtype.bits == 64) return place;
  const int digits = c.dtype.bits == 32 ? 24 : c.dtype == kF16 ? 11 : c.dtype == kBF16 ? 8 : 4;
  int exponent = 0;
  const double fraction = std::ldexp(std::frexp(c.f, &exponent), digits - 3);
  if (std::isfinite(c.f) && fraction != std::trunc(fraction)) {
    coarse_.resize(places_.size());
    coarse_[static_cast<std::size_t>(place)] = std::ldexp(1.0, -digits);
  }
  return place;
}

LATHE_DECL int ScalarCode::compile_new(const AnyExpr& e) {
  if (const auto* c = e.as<ConstNode>()) return place_of_constant(*c);
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
    for (const auto& b : n->bindings) known_[AnyExpr(b.var).get()] = compile(b.value);
    return compile(n->body);
  }
  return good_ = false, 0;
}

inline void ScalarCode::run(const Step& s) {
  Scalar* at = places_.data();
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

LATHE_DECL void ScalarCode::run(const Scalar* in, Scalar* out) {
  load(in);
  for (const Step& s : steps_) run(s);
  store(out);
}

// What is taken to be exact stays equal to what it is compared with: sums by the error that is left
// (Knuth's two-sum), others by their last digits.
inline bool is_exact(BinaryOp op, double a, double b, double x) {
  if (op != BinaryOp::add && op != BinaryOp::sub)
    return (std::bit_cast<std::uint64_t>(x) & 0xfffff) == 0;
  if (op == BinaryOp::sub) b = -b;
  const double other = x - a;
  return (a - (x - other)) + (b - other) == 0;
}

inline double round_worse(double x, std::uint64_t bits) {
  const auto units = static_cast<double>(4 + (bits >> 1) % 29);
  const double step = std::fabs(x) * units * 0x1p-52 + units * 0x1p-1074;
  return bits & 1 ? x + step : x - step;
}

LATHE_DECL void ScalarCode::run_rounding(const Step& s, std::uint64_t bits) {
  const auto op = s.kind == Step::binary ? static_cast<BinaryOp>(s.op) : BinaryOp::mul;
  const bool arithmetic = s.kind == Step::call || (s.kind == Step::binary && op < BinaryOp::min);
  if (exact_ || !s.type.is_float() || !arithmetic) return run(s);
  // Of comparisons constants are what they say: there a threshold is meant.
  Scalar kept[3];
  for (int k = 0; k < 3; ++k) kept[k] = at(s.args[k]);
  for (int k = 0; k < 3; ++k) {
    const auto place = static_cast<std::size_t>(s.args[k]);
    const double part = place < coarse_.size() ? coarse_[place] : 0;
    if (part != 0)
      at(s.args[k]).f =
          kept[k].f * (1 + part * (static_cast<double>(bits >> 9 * k & 511) / 128 - 2));
  }
  run(s);
  for (int k = 0; k < 3; ++k) at(s.args[k]) = kept[k];
  double& x = at(s.to).f;
  if (std::isfinite(x) && !is_exact(op, kept[0].f, kept[1].f, x)) x = round_worse(x, bits >> 27);
}

LATHE_DECL void ScalarCode::run_rounding(const Scalar* in, Scalar* out, std::uint64_t seed) {
  load(in);
  for (std::size_t k = 0; k < steps_.size(); ++k) run_rounding(steps_[k], random_bits(seed, k));
  store(out);
}

}  // namespace lathe::detail
