#pragma once

#include <lathe/analysis/region.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/loads_met.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <utility>

namespace lathe {
namespace detail {

// Widens one loop body to `lanes` instances in lockstep. `ok` is false where a statement has no
// vector form.
class Widen : public Mutator {
 public:
  Widen(const VarRef& var, const AnyExpr& base, int lanes, const Facts& facts)
      : lanes_(lanes), facts_(facts) {
    vectors_[var.get()] = make_ramp(base, 1, lanes);
  }
  bool ok = true;

  AnyExpr expr(const AnyExpr& e) override {
    switch (e.kind()) {
      case ExprKind::Const:
        return e;
      case ExprKind::Var:
        return variable(e);
      case ExprKind::Load:
        return load(*e.as<LoadNode>());
      case ExprKind::Let:
        return let(*e.as<LetNode>());
      case ExprKind::Select:
        return select(*e.as<SelectNode>());
      case ExprKind::Binary: {
        const auto* n = e.as<BinaryNode>();
        auto [a, b] = even(expr(n->a), expr(n->b));
        return make_binary(n->op, a, b);
      }
      case ExprKind::Call:
        return call(*e.as<CallNode>());
      case ExprKind::Ramp:
      case ExprKind::Broadcast:
      case ExprKind::Shuffle:
        return kept(e);
      default:
        return descend(e);
    }
  }

  Stmt stmt(const Stmt& s) override {
    if (!ok) return s;
    met_.drop(0);  // a statement before may have stored there
    switch (s.kind()) {
      case StmtKind::For:
        return loop(*s.as<ForNode>());
      case StmtKind::Alloc:
        return alloc(*s.as<AllocNode>());
      case StmtKind::Store:
        return store(*s.as<StoreNode>());
      case StmtKind::LetStmt:
        return let_stmt(*s.as<LetStmtNode>());
      case StmtKind::If:
        return branch(*s.as<IfNode>());
      case StmtKind::Seq:
        return descend(s);
      default:
        return ok = false, s;
    }
  }

 private:
  static bool wide(const AnyExpr& e) { return e.dtype().lanes != 1; }
  // Both masks, where none means true.
  static AnyExpr both(const AnyExpr& a, const AnyExpr& b) {
    return a.get() ? logical_and(a, b) : b;
  }
  AnyExpr widened(const AnyExpr& e) const { return wide(e) ? e : make_broadcast(e, lanes_); }
  std::pair<AnyExpr, AnyExpr> even(AnyExpr a, AnyExpr b) const {
    if (wide(a) == wide(b)) return {a, b};
    return {widened(a), widened(b)};
  }

  // Vectors don't become wider.
  AnyExpr kept(const AnyExpr& e) {
    if (!descend(e).same_as(e)) ok = false;
    return e;
  }

  AnyExpr variable(const AnyExpr& e) const {
    const AnyExpr* vector = vectors_.find(e.get());
    return vector ? *vector : e;
  }

  // What is loaded in any case keeps the mask that it has there.
  AnyExpr load(const LoadNode& n) {
    AnyExpr out = mask_ ? met_.find(n) : AnyExpr();
    if (out) return out;
    out = loaded(n);
    met_.add(n, out);
    return out;
  }

  AnyExpr loaded(const LoadNode& n) {
    Vec<AnyExpr> indices;
    bool any = false;
    for (const auto& i : n.indices) indices.push_back(expr(i)), any |= wide(indices.back());
    AnyExpr mask = n.mask ? expr(n.mask) : AnyExpr();
    if (const Buffer* own = privatized(n.buffer)) {
      // Reading what an idle lane left there is harmless, if it is there.
      const bool there = !any && surely_inside(*n.buffer, indices, facts_);
      indices.push_back(make_ramp(0, 1, lanes_));
      return make_load(*own, indices, there ? AnyExpr() : masked(mask));
    }
    if (!any) {
      // One element for all lanes: loaded unconditionally, so it must be in bounds whatever the
      // mask, unless some lane loads it in any case.
      const bool own = mask.get() && wide(mask);
      if ((own || !some_run_) && !surely_inside(*n.buffer, indices, facts_)) ok = false;
      return make_load(n.buffer, indices, mask.get() && wide(mask) ? AnyExpr() : mask);
    }
    return make_load(n.buffer, indices, masked(mask));
  }

  // A load's or store's own mask together with that of the lanes that run.
  AnyExpr masked(const AnyExpr& own) const {
    AnyExpr mask = own.get() ? widened(own) : AnyExpr();
    return mask_.get() ? both(mask, mask_) : mask;
  }

  AnyExpr let(const LetNode& n) {
    const std::size_t before = met_.mark();
    Vec<LetBinding> bindings;
    for (const auto& b : n.bindings) {
      AnyExpr value = expr(b.value);
      VarRef var = b.var;
      if (wide(value)) {
        var = make_var(b.var->name, value.dtype());
        vectors_[b.var.get()] = var;
      }
      bindings.push_back({var, std::move(value)});
    }
    AnyExpr body = expr(n.body);
    met_.drop(before);
    return make_let(std::move(bindings), std::move(body));
  }

  // Lanes of an arm that is not chosen load nothing: the arm's loads are masked by the condition.
  // One that loads is named: masks that hold loads, which hold masks, would double with each
  // select.
  AnyExpr select(const SelectNode& n) {
    AnyExpr condition = expr(n.condition);
    if (!wide(condition)) {
      auto [yes, no] = even(knowing(condition, n.yes), knowing(logical_not(condition), n.no));
      return make_select(condition, yes, no);
    }
    const VarRef kept = is_load_free(condition) ? VarRef() : make_var("mask", condition.dtype());
    const AnyExpr value = condition;
    if (kept) condition = kept;
    AnyExpr yes = under(condition, n.yes), no = under(logical_not(condition), n.no);
    AnyExpr out = make_select(condition, widened(yes), widened(no));
    return kept ? make_let(kept, value, out) : out;
  }

  AnyExpr knowing(const AnyExpr& condition, const AnyExpr& e) {
    Facts outer = facts_;
    const std::size_t before = met_.mark();
    facts_.assume(condition);
    AnyExpr out = expr(e);
    met_.drop(before);
    facts_ = std::move(outer);
    return out;
  }

  AnyExpr under(const AnyExpr& condition, const AnyExpr& e) {
    AnyExpr outer = mask_;
    const bool some = std::exchange(some_run_, false);
    const std::size_t before = met_.mark();
    mask_ = both(mask_, condition);
    AnyExpr out = expr(e);
    met_.drop(before);
    mask_ = outer, some_run_ = some;
    return out;
  }

  // A mask of the first lanes that is never empty.
  static bool has_first_lane(const AnyExpr& mask) {
    const auto* n = mask.as<BinaryNode>();
    const auto* ramp = n && n->op == BinaryOp::lt ? n->a.as<RampNode>() : nullptr;
    const auto* all = ramp ? n->b.as<BroadcastNode>() : nullptr;
    const std::int64_t* bound = all ? as_const_int(all->value) : nullptr;
    const std::int64_t* first = ramp ? as_const_int(ramp->base) : nullptr;
    return bound && first && *first < *bound;
  }

  AnyExpr call(const CallNode& n) {
    if (crosses_lanes(n.op)) return kept(AnyExpr(Ref<CallNode>(&n)));
    Vec<AnyExpr> args;
    bool any = false;
    for (const auto& a : n.args) args.push_back(expr(a)), any |= wide(args.back());
    if (any)
      for (auto& a : args) a = widened(a);
    if (n.op == CallOp::reinterpret)
      return make_reinterpret(n.dtype.with_lanes(args[0].dtype().lanes), args[0]);
    return make_call(n.op, args);
  }

  Stmt loop(const ForNode& f) {
    AnyExpr min = expr(f.min), extent = expr(f.extent);
    if (wide(min) || wide(extent) || f.loop_kind == ForKind::parallel)
      return ok = false, Stmt(Ref<ForNode>(&f));
    Facts outer = facts_;
    facts_.bind(f.var, min, extent);
    ForKind kind = f.loop_kind == ForKind::vectorized ? ForKind::serial : f.loop_kind;
    Stmt body = stmt(f.body);
    facts_ = outer;
    return make_for(f.var, min, extent, body, kind, f.attributes);
  }

  // A temporary inside the loop gets one copy a lane: a last dimension.
  Stmt alloc(const AllocNode& a) {
    BufferNode node = *a.buffer;
    for (const auto& extent : node.shape)
      if (uses_lanes(extent)) return ok = false, Stmt(Ref<AllocNode>(&a));
    node.shape.push_back(lanes_);
    private_.emplace_back(a.buffer, Buffer(new BufferNode(std::move(node))));
    Buffer own = private_.back().second;
    return make_alloc(own, stmt(a.body));
  }

  bool uses_lanes(const AnyExpr& e) const {
    for (const auto& v : free_vars(e))
      if (vectors_.contains(v.get())) return true;
    return false;
  }

  const Buffer* privatized(const Buffer& b) const {
    for (const auto& [from, to] : private_)
      if (from == b) return &to;
    return nullptr;
  }

  Stmt store(const StoreNode& n) {
    Vec<AnyExpr> indices;
    bool any = false;
    for (const auto& i : n.indices) indices.push_back(expr(i)), any |= wide(indices.back());
    AnyExpr value = expr(n.value), mask = masked(n.mask ? expr(n.mask) : AnyExpr());
    Buffer buffer = n.buffer;
    if (const Buffer* own = privatized(n.buffer)) {
      buffer = *own;
      indices.push_back(make_ramp(0, 1, lanes_));
      any = true;
    }
    // All lanes would store to one element: the last one has to win, which only a loop does.
    if (!any) return ok = false, Stmt(Ref<StoreNode>(&n));
    return make_ref<StoreNode>(buffer, indices, widened(value), mask, n.streaming);
  }

  Stmt let_stmt(const LetStmtNode& n) {
    AnyExpr value = expr(n.value);
    if (!wide(value)) return make_let_stmt(n.var, value, stmt(n.body));
    VarRef vector = make_var(n.var->name, value.dtype());
    vectors_[n.var.get()] = vector;
    return make_let_stmt(vector, value, stmt(n.body));
  }

  Stmt branch(const IfNode& n) {
    AnyExpr condition = expr(n.condition);
    if (!wide(condition)) {
      Facts outer = facts_;
      facts_.assume(condition);
      Stmt yes = stmt(n.then_body);
      facts_ = outer;
      return make_if(condition, yes, n.else_body ? stmt(n.else_body) : Stmt());
    }
    AnyExpr outer = mask_;
    AnyExpr cheap = tail_mask(simplify(condition, facts_));
    if (is_const(cheap, 0)) return n.else_body ? stmt(n.else_body) : make_seq({});
    // What it reads may be stored to inside.
    VarRef kept;
    if (!is_load_free(cheap)) kept = make_var("mask", cheap.dtype());
    const AnyExpr value = cheap;
    if (kept) cheap = kept;
    const bool some = some_run_;
    mask_ = both(outer, cheap);
    some_run_ = !outer.get() && has_first_lane(cheap);
    Stmt yes = stmt(n.then_body), no;
    if (n.else_body) {
      mask_ = both(outer, logical_not(cheap));
      some_run_ = false;
      no = stmt(n.else_body);
    }
    mask_ = outer, some_run_ = some;
    Stmt out = no ? make_seq({yes, no}) : yes;
    return kept ? make_let_stmt(kept, value, out) : out;
  }

  // ramp(b, 1, n) < e on i64 takes two wide compares; the same mask from 32-bit lanes takes one,
  // against min(max(e - b, 0), n), computed once. Where e - b may wrap, e is brought into the range
  // of the lanes before: of a program's own extents it can't, of data it can.
  AnyExpr tail_mask(const AnyExpr& condition) const {
    const auto* n = condition.as<BinaryNode>();
    if (!n || n->op != BinaryOp::lt) return condition;
    const auto* ramp = n->a.as<RampNode>();
    const auto* bound = n->b.as<BroadcastNode>();
    // Of more lanes count_lanes compares bytes.
    constexpr int kFewLanes = 32;
    if (!ramp || !bound || !is_const(ramp->stride, 1) || ramp->base.dtype() != kIndex ||
        ramp->lanes > kFewLanes)
      return condition;
    const ConstInterval from = const_bounds(ramp->base, facts_);
    if (!from.has_max() || from.max > INT64_MAX - ramp->lanes) return condition;
    AnyExpr end = bound->value;
    const ConstInterval to = const_bounds(end, facts_);
    std::int64_t least = 0;
    if (!from.has_max() || !to.has_min() || __builtin_sub_overflow(to.min, from.max, &least))
      end = make_binary(BinaryOp::max, end, ramp->base);
    if (!from.has_min() || !to.has_max() || __builtin_sub_overflow(to.max, from.min, &least))
      end = make_binary(BinaryOp::min, end, ramp->base + AnyExpr(ramp->lanes));
    AnyExpr left = make_binary(BinaryOp::sub, end, ramp->base);
    left = make_binary(BinaryOp::max, left, AnyExpr(0));
    left = simplify(make_binary(BinaryOp::min, left, AnyExpr(ramp->lanes)), facts_);
    if (const auto* count = as_const_int(left); count && (*count == 0 || *count == ramp->lanes))
      return make_broadcast(make_bool(*count != 0), ramp->lanes);
    AnyExpr lanes = make_ramp(make_int(kI32, 0), make_int(kI32, 1), ramp->lanes);
    return lanes < make_broadcast(simplify(make_cast(kI32, left), facts_), ramp->lanes);
  }

  int lanes_;
  Facts facts_;
  AnyExpr mask_;
  bool some_run_ = true;  ///< of the lanes that the mask leaves, one at least is there
  LoadsMet met_;
  NodeMap<AnyExpr> vectors_;
  Vec<std::pair<Buffer, Buffer>> private_;
};

}  // namespace detail
}  // namespace lathe
