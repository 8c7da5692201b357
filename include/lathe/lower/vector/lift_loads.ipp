#pragma once

#include <cstdlib>
#include <lathe/analysis/flat_stride.hpp>
#include <lathe/analysis/region.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

/// Loads in the arms of selects that lanes choose: those that may be done before the choice.
class LoadsOfArms : public Visitor {
 public:
  LoadsOfArms(const VarRef& lane, const Vec<Buffer>& inputs, const Facts& facts)
      : lane_(lane), inputs_(inputs), facts_(facts) {}
  Vec<const LoadNode*> found;

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LetNode>())
      for (const auto& b : n->bindings) bound_.push_back(b.var);
    if (const auto* n = e.as<SelectNode>()) {
      expr(n->condition);
      const bool around = in_arm_;
      in_arm_ = in_arm_ || uses_var(n->condition, lane_) || names_one_of(n->condition, bound_);
      expr(n->yes), expr(n->no);
      in_arm_ = around;
      return;
    }
    if (const auto* n = e.as<LoadNode>(); n && in_arm_ && may_lift(*n)) found.push_back(n);
    descend(e);
  }

 private:
  /// Neighbours in a dense load share what shuffles take; lanes further apart have no neighbours.
  static constexpr std::int64_t kFurthest = 8;

  bool may_lift(const LoadNode& n) const {
    if (!contains(inputs_, n.buffer) || n.mask.get()) return false;
    for (const auto& i : n.indices)
      if (!is_load_free(i) || names_one_of(i, bound_)) return false;
    const std::int64_t apart = std::abs(flat_stride(*n.buffer, n.indices, lane_).value_or(0));
    return apart >= 2 && apart <= kFurthest && surely_inside(*n.buffer, n.indices, facts_);
  }

  const VarRef& lane_;
  const Vec<Buffer>& inputs_;
  const Facts& facts_;
  Vec<VarRef> bound_;
  bool in_arm_ = false;
};

class LiftLoads : public Mutator {
 public:
  explicit LiftLoads(const Program& program) : facts_(program) {
    const Vec<Buffer> written = buffers_written(program->body);
    for (const auto& p : program->params)
      if (p.buffer && p.access == Access::in && !contains(written, p.buffer))
        inputs_.push_back(p.buffer);
  }

  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<ForNode>()) return loop(*n, s);
    if (const auto* n = s.as<StoreNode>(); n && lane_.get()) return store(*n, s);
    const auto* n = s.as<IfNode>();
    if (!n || !is_load_free(n->condition)) return descend(s);
    const Facts around = facts_;
    facts_.assume(n->condition);
    const Stmt yes = stmt(n->then_body);
    facts_ = around;
    const Stmt no = n->else_body ? stmt(n->else_body) : Stmt();
    const bool same = yes.same_as(n->then_body) && (!no || no.same_as(n->else_body));
    return same ? s : make_if(n->condition, yes, no);
  }

 private:
  Stmt loop(const ForNode& n, const Stmt& s) {
    const Facts around = facts_;
    const VarRef lane = lane_;
    facts_.bind(n);
    if (n.loop_kind == ForKind::vectorized) lane_ = n.var;
    const Stmt body = stmt(n.body);
    facts_ = around, lane_ = lane;
    return body.same_as(n.body) ? s
                                : make_for(n.var, n.min, n.extent, body, n.loop_kind, n.attributes);
  }

  Stmt store(const StoreNode& n, const Stmt& s) {
    LoadsOfArms loads(lane_, inputs_, facts_);
    loads.expr(n.value);
    if (loads.found.empty()) return s;
    lets_.clear();
    for (const auto* load : loads.found) lift(*load);
    Lifted lifted(lets_);
    AnyExpr value = make_let(lets_, lifted.expr(n.value));
    return make_ref<StoreNode>(n.buffer, n.indices, std::move(value), optional(n.mask),
                               n.streaming);
  }

  void lift(const LoadNode& n) {
    const AnyExpr load(Ref<LoadNode>{&n});
    for (const auto& b : lets_)
      if (structurally_equal(b.value, load)) return;
    lets_.push_back({make_var("lifted", n.dtype), load});
  }

  struct Lifted : Mutator {
    const Vec<LetBinding>& lets;
    explicit Lifted(const Vec<LetBinding>& all) : lets(all) {}
    AnyExpr expr(const AnyExpr& e) override {
      if (e.kind() == ExprKind::Load)
        for (const auto& b : lets)
          if (structurally_equal(b.value, e)) return b.var;
      return descend(e);
    }
  };

  Facts facts_;
  Vec<Buffer> inputs_;
  VarRef lane_;  ///< of the vectorized loop around
  Vec<LetBinding> lets_;
};

}  // namespace detail

LATHE_DECL Program lift_loads(const Program& program) {
  return program.with(detail::LiftLoads(program).stmt(program->body));
}

}  // namespace lathe
