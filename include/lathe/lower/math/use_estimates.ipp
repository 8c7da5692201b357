// Under Math::fast: quotients and square roots of vectors of f32 from the processor's estimates.
//
// An estimate is right to 2^-14, and one step of Newton's method doubles the digits (P. Markstein,
// Computation of elementary functions on the IBM RISC System/6000 processor, 1990).
#pragma once

#include <algorithm>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/expr.hpp>
#include <lathe/ir/machine_form.hpp>
#include <lathe/ir/math_table.hpp>
#include <lathe/ir/ops.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/support/dense_map.hpp>
#include <utility>

namespace lathe {
namespace detail {

inline AnyExpr fused(const AnyExpr& a, const AnyExpr& b, const AnyExpr& c) {
  return make_call(CallOp::fma, {a, b, c});
}

/// Whether it is no number below 0; NaN it may be.
inline bool is_never_negative(const AnyExpr& e) {
  if (const auto* n = e.as<BroadcastNode>()) return is_never_negative(n->value);
  if (const auto* n = e.as<ConstNode>()) return n->f > 0;
  if (const auto* n = e.as<CallNode>())
    return n->op == CallOp::abs ||
           (n->op == CallOp::fma && structurally_equal(n->args[0], n->args[1]) &&
            is_never_negative(n->args[2]));
  const auto* n = e.as<BinaryNode>();
  if (!n) return false;
  if (n->op == BinaryOp::mul && structurally_equal(n->a, n->b)) return true;
  return (n->op == BinaryOp::add || n->op == BinaryOp::mul || n->op == BinaryOp::div) &&
         is_never_negative(n->a) && is_never_negative(n->b);
}

/// `result`, or `otherwise` where that is 0 or infinite: the result is NaN there, or has lost the
/// sign.
inline AnyExpr unless_extreme(const AnyExpr& result, const AnyExpr& otherwise) {
  return with_value("nearer", result, [&](const AnyExpr& nearer) {
    const AnyExpr size = make_call(CallOp::abs, {nearer});
    return make_select(size > make_float(size.dtype(), 0), nearer, otherwise);
  });
}
/// estimate + estimate * part * (1 - what the estimate should make 1): one step.
template <class F>
AnyExpr corrected(const AnyExpr& estimate, double part, F made) {
  return with_value("estimate", estimate, [&](const AnyExpr& r) {
    const AnyExpr missing = fused(-made(r), r, make_float(r.dtype(), 1));
    const AnyExpr share = part == 1 ? r : r * make_float(r.dtype(), part);
    return unless_extreme(fused(share, missing, r), r);
  });
}

inline AnyExpr estimated_reciprocal(const AnyExpr& x) {
  return corrected(make_call(CallOp::reciprocal_estimate, {x}), 1,
                   [&](const AnyExpr&) { return x; });
}
inline AnyExpr estimated_reciprocal_root(const AnyExpr& x) {
  return corrected(make_call(CallOp::rsqrt_estimate, {x}), 0.5,
                   [&](const AnyExpr& r) { return x * r; });
}

inline AnyExpr estimated_root(const AnyExpr& x, bool never_negative) {
  const auto c = [&](double value) { return make_float(x.dtype(), value); };
  AnyExpr estimate = make_call(CallOp::rsqrt_estimate, {x});
  // Of negative numbers NaN must be left. Between the least and the largest one of a number, x
  // times the estimate is right also where x is 0 or infinite.
  if (!never_negative)
    estimate = make_binary(BinaryOp::fast_min, c(0x1p76),
                           make_binary(BinaryOp::fast_max, c(0x1p-65), estimate));
  return with_value("estimate", estimate, [&](const AnyExpr& r) {
    return with_value("near", x * r, [&](const AnyExpr& s) {
      const AnyExpr nearer = fused(s * c(0.5), fused(-s, r, c(1)), s);
      return unless_extreme(nearer, never_negative ? x : s);
    });
  });
}

inline const AnyExpr* under_root(const AnyExpr& e) {
  const auto* n = e.as<CallNode>();
  return n && n->op == CallOp::sqrt ? &n->args[0] : nullptr;
}
/// A quotient that lanes do not share: one of scalars is divided once, and often ahead of a loop.
inline const BinaryNode* lane_quotient(const AnyExpr& e) {
  const auto* n = e.as<BinaryNode>();
  return n && n->op == BinaryOp::div && n->b.kind() != ExprKind::Broadcast ? n : nullptr;
}
inline bool is_of_lanes(const AnyExpr& e) {
  return e.dtype().is_vector() && e.dtype().scalar() == kF32;
}

/// What one iteration of a loop computes in vectors, in sums, but for the loops in it: the divider
/// works beside the units that add and multiply, and estimates are work for these.
class EstimateGain : public Visitor {
 public:
  explicit EstimateGain(const TargetCaps& caps) : caps_(caps) {}

  bool positive() const { return sums_ + estimates_ < std::max(sums_, divider_); }

  void stmt(const Stmt& s) override {
    if (s.kind() != StmtKind::For && s.kind() != StmtKind::While) descend(s);
  }
  void expr(const AnyExpr& e) override {
    if (!seen_.insert(e.get(), true)) return;
    if (is_of_lanes(e)) count(e);
    descend(e);
  }

 private:
  // Instructions of the functions above.
  static constexpr int kQuotient = 8, kRoot = 11, kReciprocalRoot = 9;

  void count(const AnyExpr& e) {
    if (under_root(e)) return add(kRoot, caps_.root_sums);
    const BinaryNode* n = lane_quotient(e);
    if (n && under_root(n->b)) {
      // The root itself is counted below.
      ++sums_;
      return add(kReciprocalRoot - kRoot, caps_.quotient_sums);
    }
    if (n) return add(kQuotient, caps_.quotient_sums);
    const auto* call = e.as<CallNode>();
    const ExprKind kind = e.kind();
    if (call)
      sums_ += is_transcendental(call->op) ? operations_of_function(call->op) : 1;
    else
      sums_ += kind == ExprKind::Binary || kind == ExprKind::Select || kind == ExprKind::Cast;
  }
  void add(int estimate, int exact) { estimates_ += estimate, divider_ += exact; }

  const TargetCaps& caps_;
  double sums_ = 0, estimates_ = 0, divider_ = 0;
  NodeMap<bool> seen_;
};

class UseEstimates : public SharingMutator {
 public:
  explicit UseEstimates(const TargetCaps& caps) : caps_(caps) {}

  bool changed = false;

  Stmt in_program(const Stmt& body) {
    pays_ = pays(body);
    return stmt(body);
  }
  Stmt stmt(const Stmt& s) override {
    const auto* loop = s.as<ForNode>();
    const auto* open = s.as<WhileNode>();
    if (!loop && !open) return SharingMutator::stmt(s);
    const bool outer = std::exchange(pays_, pays(loop ? loop->body : open->body));
    Stmt out = SharingMutator::stmt(s);
    pays_ = outer;
    return out;
  }

 private:
  bool pays(const Stmt& body) const {
    EstimateGain gain(caps_);
    gain.stmt(body);
    return gain.positive();
  }
  AnyExpr rewritten(const AnyExpr& e) override {
    const bool vector = pays_ && is_of_lanes(e);
    if (const AnyExpr* x = vector ? under_root(e) : nullptr) {
      const bool never_negative = is_never_negative(*x);
      return of(*x, [&](const AnyExpr& y) { return estimated_root(y, never_negative); });
    }
    const auto* n = vector ? lane_quotient(e) : nullptr;
    if (!n) return descend(e);
    const AnyExpr* root = under_root(n->b);
    return expr(n->a) *
           (root ? of(*root, estimated_reciprocal_root) : of(n->b, estimated_reciprocal));
  }

  template <class F>
  AnyExpr of(const AnyExpr& x, F estimated) {
    changed = true;
    return with_value("x", expr(x), estimated);
  }

  const TargetCaps& caps_;
  bool pays_ = false;  ///< in this loop
};

}  // namespace detail

LATHE_DECL Program use_estimates(const Program& program, const TargetCaps& caps,
                                 std::vector<std::string>* changes) {
  if (!caps.estimates || !caps.fma) return program;
  detail::UseEstimates pass(caps);
  Program out = program.with(pass.in_program(program->body));
  if (changes && pass.changed)
    changes->push_back(
        "fast: quotients and square roots of f32 in vectors from estimates of the processor, to 2 "
        "and 1 units in the last place; subnormal divisors may give infinity or NaN");
  return out;
}

}  // namespace lathe
