#pragma once

#include <lathe/ir/loads_met.hpp>
#include <lathe/ir/machine_form.hpp>
#include <lathe/ir/moved_lanes.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

/// How much an expression computes, and whether it touches memory that may not be there: what has
/// been met is.
class ArmWeight : public Visitor {
 public:
  static constexpr int kHeavy = 48;

  ArmWeight(const AnyExpr& e, const LoadsMet& met) : met_(met) { expr(e); }
  void expr(const AnyExpr& e) override {
    if (heavy()) return;
    if (const auto* n = e.as<LoadNode>(); n && !n->indices.empty() && !loads_)
      loads_ = !met_.find(*n).get();
    if (e.kind() > ExprKind::Let) ++cost_;
    descend(e);
  }
  bool heavy() const { return cost_ >= kHeavy; }
  bool may_load() const { return loads_ || heavy(); }

 private:
  const LoadsMet& met_;
  int cost_ = 0;
  bool loads_ = false;
};

/// Carries the lanes that the selects around have chosen down to the loads.
class MaskArms : public SharingMutator {
 public:
  Stmt stmt(const Stmt& s) override {
    met_.drop(0);
    return SharingMutator::stmt(s);
  }

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    switch (e.kind()) {
      case ExprKind::Select:
        return select(*e.as<SelectNode>());
      case ExprKind::Let:
        return let(*e.as<LetNode>());
      case ExprKind::Load:
        return load(e, *e.as<LoadNode>());
      case ExprKind::Call:
        return mask_ ? call(e, *e.as<CallNode>()) : descend(e);
      case ExprKind::Ramp:
        return mask_.get() ? ramp(*e.as<RampNode>()) : descend(e);
      case ExprKind::Broadcast:
        return mask_.get() ? broadcast(*e.as<BroadcastNode>()) : descend(e);
      case ExprKind::Shuffle:
        return mask_.get() ? shuffle(*e.as<ShuffleNode>()) : descend(e);
      default:
        return descend(e);
    }
  }

  AnyExpr load(const AnyExpr& e, const LoadNode& n) {
    if (!mask_) {
      AnyExpr out = descend(e);
      met_.add(n, out);
      return out;
    }
    if (AnyExpr known = met_.find(n)) return known;
    Vec<AnyExpr> indices;
    for (const auto& i : n.indices) indices.push_back(expr(i));
    // What has no index is a register, or a parameter that is always there.
    AnyExpr mask = n.indices.empty() ? AnyExpr() : mask_of_lanes(mask_, n.dtype.lanes);
    if (n.mask) mask = mask_and(mask, expr(n.mask));
    return make_load(n.buffer, std::move(indices), std::move(mask));
  }

  AnyExpr let(const LetNode& n) {
    const std::size_t before = mark(), met = met_.mark();
    Vec<LetBinding> bindings;
    for (const auto& b : n.bindings) {
      const int lanes = b.value.dtype().lanes;
      const bool across = mask_.get() && lanes > 1 && MovedLanes(n.body, b.var.get()).found();
      AnyExpr value = under(across ? all_if_any(lanes) : mask_of_lanes(mask_, lanes), b.value);
      bindings.push_back({renewed(b.var), std::move(value)});
    }
    AnyExpr body = expr(n.body);
    // The same body under another binding of the variables is another value.
    forget(before), met_.drop(met);
    return make_let(std::move(bindings), std::move(body));
  }

  AnyExpr select(const SelectNode& n) {
    AnyExpr condition = expr(n.condition);
    if (condition.dtype().lanes == 1) {
      AnyExpr yes = in_branch(n.yes), no = in_branch(n.no);
      return make_select(std::move(condition), std::move(yes), std::move(no));
    }
    const bool yes_masked = needs_mask(n.yes), no_masked = needs_mask(n.no);
    if (!yes_masked && !no_masked) {
      AnyExpr yes = expr(n.yes), no = expr(n.no);
      return make_select(std::move(condition), std::move(yes), std::move(no));
    }
    return with_value("chosen", condition, [&](const AnyExpr& chosen) {
      AnyExpr yes = yes_masked ? arm(chosen, n.yes) : expr(n.yes);
      AnyExpr no = no_masked ? arm(make_unary(UnaryOp::not_, chosen), n.no) : expr(n.no);
      return make_select(chosen, std::move(yes), std::move(no));
    });
  }

  ArmWeight weight(const AnyExpr& e) const { return ArmWeight(e, met_); }

  /// Not where the value has been computed for all lanes already.
  bool needs_mask(const AnyExpr& e) const { return !known(e) && weight(e).may_load(); }

  AnyExpr arm(const AnyExpr& chosen, const AnyExpr& e) {
    const bool heavy = weight(e).heavy();
    return with_value("mask", mask_and(mask_of_lanes(mask_, chosen.dtype().lanes), chosen),
                      [&](const AnyExpr& mask) {
                        AnyExpr value = under(mask, e);
                        if (!heavy) return value;
                        // Much work for no lane is left out.
                        return make_select(any_lane(mask), std::move(value),
                                           make_const(e.dtype(), 0));
                      });
  }

  AnyExpr under(AnyExpr mask, const AnyExpr& e) {
    if (mask.same_as(mask_)) return expr(e);
    std::swap(mask_, mask);
    AnyExpr out = in_branch(e);
    std::swap(mask_, mask);
    return out;
  }

  /// What is computed here is not there for what follows, nor is a load under this mask the load
  /// under another.
  AnyExpr in_branch(const AnyExpr& e) {
    const std::size_t before = mark(), met = met_.mark();
    AnyExpr out = expr(e);
    forget(before), met_.drop(met);
    return out;
  }

  AnyExpr operand(const AnyExpr& e, const Vec<int>& map) {
    if (!weight(e).may_load()) return expr(e);
    return under(mask_of_operand(mask_, e.dtype().lanes, map), e);
  }

  /// Lane l of a result comes from lane l % count.
  static Vec<int> repeated(int lanes, int count) {
    Vec<int> map;
    for (int l = 0; l < lanes; ++l) map.push_back(l % count);
    return map;
  }

  AnyExpr broadcast(const BroadcastNode& n) {
    return make_broadcast(operand(n.value, repeated(n.dtype.lanes, n.value.dtype().lanes)),
                          n.lanes);
  }

  AnyExpr ramp(const RampNode& n) {
    AnyExpr base = operand(n.base, repeated(n.dtype.lanes, n.base.dtype().lanes));
    AnyExpr stride = operand(n.stride, repeated(n.dtype.lanes, n.stride.dtype().lanes));
    return make_ramp(std::move(base), std::move(stride), n.lanes);
  }

  AnyExpr shuffle(const ShuffleNode& n) {
    Vec<AnyExpr> vectors;
    int first = 0;
    for (const auto& vector : n.vectors) {
      const int width = vector.dtype().lanes;
      Vec<int> map;
      for (int lane : n.lanes)
        map.push_back(lane >= first && lane < first + width ? lane - first : -1);
      vectors.push_back(operand(vector, map));
      first += width;
    }
    return make_shuffle(std::move(vectors), n.lanes);
  }

  AnyExpr call(const AnyExpr& e, const CallNode& n) {
    if (is_dot(n.op) && !is_tile(n.op)) return dot(n);
    if (n.op != CallOp::permute || !weight(n.args[0]).may_load()) return descend(e);
    const AnyExpr from = expr(n.args[1]);
    return make_call(n.op, {under(all_if_any(n.dtype.lanes), n.args[0]), from});
  }
  /// Where any lane may take from any other.
  AnyExpr all_if_any(int lanes) const {
    const AnyExpr any = any_lane(mask_);
    return lanes > 1 ? make_broadcast(any, lanes) : any;
  }

  // A factor is needed where a sum is that takes it: one, or two of a matrix.
  AnyExpr dot(const CallNode& n) {
    const auto factor = [&](const AnyExpr& e, int DotLanes::*first) {
      if (!weight(e).may_load()) return expr(e);
      Vec<int> one(static_cast<std::size_t>(e.dtype().lanes)), other = one;
      for (int l = n.dtype.lanes - 1; l >= 0; --l) {
        const DotLanes at = dot_lanes(n.op, l);
        for (int k = at.*first; k < at.*first + at.count; ++k) {
          int& last = other[static_cast<std::size_t>(k)];
          one[static_cast<std::size_t>(k)] = l, last = std::max(last, l);
        }
      }
      const AnyExpr mask = mask_of_lanes(mask_, n.dtype.lanes);
      AnyExpr needed = make_shuffle({mask}, Vec<int>(one));
      if (!std::equal(one.begin(), one.end(), other.begin()))
        needed = make_binary(BinaryOp::or_, needed, make_shuffle({mask}, std::move(other)));
      return under(needed, e);
    };
    AnyExpr sum = expr(n.args[0]), a = factor(n.args[1], &DotLanes::a),
            b = factor(n.args[2], &DotLanes::b);
    return make_call(n.op, {std::move(sum), std::move(a), std::move(b)});
  }

  AnyExpr mask_;  ///< none: all lanes
  LoadsMet met_;  ///< by all lanes
};

}  // namespace detail

LATHE_DECL Program mask_arms(const Program& program) {
  return program.with(detail::MaskArms().stmt(program->body));
}

}  // namespace lathe
