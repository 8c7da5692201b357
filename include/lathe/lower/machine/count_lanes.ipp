#pragma once

#include <algorithm>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/machine_form.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <limits>

namespace lathe {
namespace detail {

/// Comparisons of two indices that step evenly from lane to lane: the lanes where they hold are the
/// first or the last ones, and a scalar says how many.
class CountLanes : public SharingMutator {
 public:
  CountLanes(const Program& program, const TargetCaps& caps) : facts_(program), caps_(caps) {}

  Stmt stmt(const Stmt& s) override {
    const auto* let = s.as<LetStmtNode>();
    const auto* loop = s.as<ForNode>();
    const Facts around = facts_;
    if (let) note(let->var, let->value);
    if (loop && is_const(loop->extent, 1)) note(loop->var, loop->min);
    Stmt out = SharingMutator::stmt(s);
    facts_ = around;
    return out;
  }

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    if (const auto* n = e.as<BinaryNode>())
      if (AnyExpr mask = counted(*n)) return mask;
    const auto* n = e.as<LetNode>();
    if (!n) return descend(e);
    const Facts around = facts_;
    Vec<LetBinding> bindings;
    for (const auto& b : n->bindings) {
      bindings.push_back({b.var, expr(b.value)});
      note(b.var, b.value);
    }
    AnyExpr body = expr(n->body);
    facts_ = around;
    return make_let(std::move(bindings), std::move(body));
  }

  void note(const VarRef& var, const AnyExpr& value) {
    const Facts around = facts_;
    if (value.dtype() == kI64) Simplifier(around).note_let(var, value, facts_);
  }

  /// Empty if the operands are anything else, or may wrap from one lane to the next.
  AnyExpr counted(const BinaryNode& n) {
    const bool order = n.op >= BinaryOp::lt && n.op <= BinaryOp::ge, less = n.op <= BinaryOp::le;
    const DType t = n.a.dtype();
    std::int64_t left = 0, right = 0;
    if (!order || t.lanes == 1 || t.scalar() != kI64) return {};
    if (!lane_stride(n.a, left) || !lane_stride(n.b, right)) return {};
    // As a < b (or a <= b): a - b in lane l is d + step * l.
    std::int64_t step = less ? left - right : right - left;
    Simplifier engine(facts_);
    if (step < -1 || !engine.safe(n.a) || !engine.safe(n.b)) return {};
    const bool equal = n.op == BinaryOp::le || n.op == BinaryOp::ge;
    AnyExpr a = lane_base(less ? n.a : n.b), b = lane_base(less ? n.b : n.a);
    if (as_const_int(a) && as_const_int(b))
      return step > 1 ? first_of_known(*as_const_int(a), *as_const_int(b), step, equal, t.lanes)
                      : AnyExpr();
    if (step > 1 && !divide(a, b, step, equal)) return {};
    return with_value("first", expr(a), [&](const AnyExpr& x) {
      return with_value("end", expr(b), [&](const AnyExpr& y) {
        if (step == 0)
          return make_broadcast(make_binary(equal ? BinaryOp::le : BinaryOp::lt, x, y), t.lanes);
        if (step == 1) return first_lanes(lanes_below(x, y, equal, t.lanes), t.lanes, caps_);
        return make_unary(UnaryOp::not_,
                          first_lanes(lanes_below(y, x, !equal, t.lanes), t.lanes, caps_));
      });
    });
  }

  /// Of a + step * l < b, or <=, both sides, where all but numbers at their ends are multiples of
  /// the step; it is 1 then.
  bool divide(AnyExpr& a, AnyExpr& b, std::int64_t& step, bool or_equal) const {
    Poly low = poly_shallow(a), high = poly_shallow(b);
    std::int64_t apart = 0;
    if (__builtin_sub_overflow(high.constant, low.constant, &apart) ||
        apart == std::numeric_limits<std::int64_t>::min())
      return false;
    for (Poly* side : {&low, &high})
      for (Mono& term : side->terms) {
        if (term.coef % step != 0) return false;
        term.coef /= step;
      }
    low.constant = 0;
    high.constant = or_equal ? floor_div(apart, step) : -floor_div(-apart, step);
    Simplifier engine(facts_);
    a = engine.emit(low), b = engine.emit(high), step = 1;
    return true;
  }

  /// Of the lanes l those where from + l * step is below the end, or at most the end.
  AnyExpr first_of_known(std::int64_t from, std::int64_t end, std::int64_t step, bool or_equal,
                         int lanes) const {
    std::int64_t apart = 0;
    if (__builtin_sub_overflow(end, from, &apart)) return {};
    const std::int64_t count = floor_div(or_equal ? apart : apart - 1, step) + 1;
    return first_lanes(AnyExpr(std::clamp<std::int64_t>(count, 0, lanes)), lanes, caps_);
  }

  /// For how many of the lanes l from + l is below the end, or at most the end.
  static AnyExpr lanes_below(const AnyExpr& from, const AnyExpr& end, bool or_equal, int lanes) {
    // From a number not above it to the end there are less than 2^64 steps.
    AnyExpr apart = make_cast(kU64, end - from);
    AnyExpr count = make_cast(
        kI64, make_binary(BinaryOp::min, apart, make_int(kU64, or_equal ? lanes - 1 : lanes)));
    return make_select(make_binary(or_equal ? BinaryOp::le : BinaryOp::lt, from, end),
                       or_equal ? count + 1 : count, AnyExpr(0));
  }

  Facts facts_;
  const TargetCaps& caps_;
};

}  // namespace detail

LATHE_DECL Program count_lanes(const Program& program, const TargetCaps& caps) {
  return program.with(detail::CountLanes(program, caps).stmt(program->body));
}

}  // namespace lathe
