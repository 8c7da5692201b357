#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/analysis/settle_terms.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

class AccessCollector : public Visitor {
 public:
  AccessCollector(AccessTerms terms, const Facts& facts, const Buffer* only = nullptr)
      : terms_(terms), facts_(facts), only_(only) {}

  void block_body(const BlockNode& b) {
    // A block under construction may live on the stack.
    block_ = BlockRefNode(b.is_shared() ? &b : new BlockNode(b));
    inside_block(b);
  }
  void stmt(const Stmt& s) override {
    switch (s.kind()) {
      case StmtKind::For:
        return loop(*s.as<ForNode>());
      case StmtKind::Block:
        return block(*s.as<BlockNode>());
      case StmtKind::Seq:
        for (const auto& child : s.as<SeqNode>()->stmts)
          if (!leaves_out(child)) stmt(child);
        return;
      case StmtKind::Store:
        return store(*s.as<StoreNode>());
      case StmtKind::Atomic: {
        const auto* n = s.as<AtomicNode>();
        for (const auto& i : n->indices) expr(i);
        expr(n->value);
        add(n->buffer, AccessKind::update, true, n->indices);
        if (!sites.empty() && sites.back().buffer == n->buffer) sites.back().atomic = n->op;
        return;
      }
      case StmtKind::If: {
        const auto* n = s.as<IfNode>();
        expr(n->condition);
        under(n->condition, [&] { stmt(n->then_body); });
        if (n->else_body) under(logical_not(n->condition), [&] { stmt(n->else_body); });
        return;
      }
      case StmtKind::While: {
        const auto* n = s.as<WhileNode>();
        expr(n->condition);
        return under(AnyExpr(), [&] { stmt(n->body); });
      }
      case StmtKind::LetStmt: {
        const auto* n = s.as<LetStmtNode>();
        expr(n->value);
        bind(n->var, n->value);
        return stmt(n->body);
      }
      case StmtKind::Evaluate:
        return prefetch(s.as<EvaluateNode>()->call);
      default:
        return descend(s);
    }
  }
  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>()) {
      for (const auto& i : n->indices) expr(i);
      if (!n->mask) return add(n->buffer, AccessKind::read, false, n->indices);
      expr(n->mask);
      return under(n->mask, [&] { add(n->buffer, AccessKind::read, false, n->indices); });
    }
    if (const auto* n = e.as<SelectNode>()) {
      expr(n->condition);
      under(n->condition, [&] { expr(n->yes); });
      return under(n->condition.dtype() == kBool ? logical_not(n->condition) : AnyExpr(),
                   [&] { expr(n->no); });
    }
    if (const auto* n = e.as<LetNode>()) {
      for (const auto& b : n->bindings) expr(b.value), bind(b.var, b.value);
      return expr(n->body);
    }
    if (e.kind() != ExprKind::Const && e.kind() != ExprKind::Var) descend(e);
  }
  Vec<AccessSite> sites;

 private:
  /// One of those under which a statement runs.
  struct Condition {
    AnyExpr over_loops;
    AnyExpr inside;     // the same inside the block; none if it is no condition there
    bool on_reduction;  // hangs on reduce iterators of the block
  };

  /// What variables stand for, written out; shared where they are.
  class Values : public Mutator {
   public:
    AnyExpr expr(const AnyExpr& e) override {
      const auto* v = e.as<VarNode>();
      if (!v) return descend(e);
      const AnyExpr* found = known_.find(v);
      return found ? *found : e;
    }
    void bind(const VarRef& var, AnyExpr value) { known_[var.get()] = std::move(value); }

   private:
    NodeMap<AnyExpr> known_;
  };
  // Of a value that would be longer, written out, nothing is known: each of the selects in it is
  // simplified under its condition, whose own selects are so too.
  static constexpr std::uint32_t kMostWritten = 200;
  static bool too_long(const AnyExpr& e) { return e->weight > kMostWritten; }

  AnyExpr resolve(const AnyExpr& e) { return values_.optional(e); }
  AnyExpr resolve_inner(const AnyExpr& e) { return inner_values_.optional(e); }
  // A vector condition is forgotten, and a long one: the access may then happen more often than it
  // does.
  template <class F>
  void under(const AnyExpr& condition, F&& f) {
    const std::size_t outer = conditions_.size();
    const bool told = condition.get() && condition.dtype() == kBool && add_condition(condition);
    untold_ += told ? 0 : 1;
    f();
    untold_ -= told ? 0 : 1;
    conditions_.resize(outer);
  }
  void bind(const VarRef& var, const AnyExpr& value) {
    values_.bind(var, resolve(value));
    inner_values_.bind(var, resolve_inner(value));
  }
  AccessSite site(const Buffer& buffer, AccessKind kind, bool is_write) const {
    AccessSite out;
    out.buffer = buffer;
    out.kind = kind;
    out.is_write = is_write;
    out.unsure = untold_ > 0;
    // The init stores also where the reduction has no point.
    const bool sets_identity = kind == AccessKind::update && block_ && block_->init;
    for (const auto& c : conditions_) {
      if (sets_identity && c.on_reduction) continue;
      out.condition = fold_and(out.condition, c.over_loops);
      out.inner_condition = fold_and(out.inner_condition, c.inside);
    }
    out.outer_condition = outer_condition_;
    out.bindings = bindings_;
    for (const auto& f : loops_) out.loops.push_back(sets_identity ? run_once_at_least(f) : f);
    out.block = block_;
    out.order = sites.size();
    return out;
  }
  ForRef run_once_at_least(const ForRef& f) const {
    const std::int64_t* extent = as_const_int(f->extent);
    if ((extent && *extent > 0) || !feeds(*f, *block_, IterKind::reduce) ||
        feeds(*f, *block_, IterKind::spatial))
      return f;
    Stmt loop = make_for(f->var, f->min, fold_max(f->extent, AnyExpr(1)), f->body, f->loop_kind,
                         f->attributes);
    return ForRef(loop.as<ForNode>());
  }
  // Nothing in it touches the one buffer that is asked for.
  bool leaves_out(const Stmt& s) const {
    return only_ && !any_use_of({*only_}, s, [](const BufferUse&) { return true; });
  }
  void add(const Buffer& buffer, AccessKind kind, bool is_write, const Vec<AnyExpr>& indices) {
    if (only_ && buffer != *only_) return;
    AccessSite out = site(buffer, kind, is_write);
    for (const auto& i : indices) {
      out.indices.push_back(resolve(i)), out.inner_indices.push_back(resolve_inner(i));
      if (!too_long(out.indices.back())) continue;
      out.unknown.push_back(make_var("index"));
      out.indices.back() = out.inner_indices.back() = out.unknown.back();
    }
    sites.push_back(std::move(out));
  }
  void store(const StoreNode& n) {
    for (const auto& i : n.indices) expr(i);
    if (n.mask) expr(n.mask);
    auto put = [&] {
      expr(n.value);
      const bool update = block_ && block_->reducer;
      add(n.buffer, update ? AccessKind::update : AccessKind::write, true, n.indices);
    };
    if (n.mask)
      under(n.mask, put);
    else
      put();
  }
  // A prefetch touches nothing; its index may read.
  void prefetch(const AnyExpr& call) {
    const auto* c = call.as<CallNode>();
    if (!c || c->op != CallOp::prefetch) return expr(call);
    if (const auto* load = c->args[0].as<LoadNode>())
      for (const auto& i : load->indices) expr(i);
  }
  // The bounds of a loop inside a block name its iterators.
  ForRef resolved(const ForNode& n) {
    AnyExpr min = resolve(n.min), extent = resolve(n.extent);
    if (min.same_as(n.min) && extent.same_as(n.extent)) return ForRef(&n);
    Stmt loop = make_for(n.var, min, extent, n.body, n.loop_kind, n.attributes);
    return ForRef(loop.as<ForNode>());
  }
  void loop(const ForNode& n) {
    expr(n.min), expr(n.extent);
    loops_.push_back(resolved(n));
    Facts outer = facts_;
    if (terms_ == AccessTerms::loops) facts_.bind(*loops_.back());
    stmt(n.body);
    facts_ = std::move(outer);
    loops_.pop_back();
  }
  void block(const BlockNode& n) {
    for (const auto& it : n.iters) expr(it.binding), expr(it.min), expr(it.extent);
    AccessCollector inner(terms_, facts_, only_);
    inner.loops_ = loops_;
    inner.untold_ = untold_;
    inner.values_ = values_;
    for (const auto& c : conditions_) {
      inner.conditions_.push_back({c.over_loops, {}, false});
      inner.outer_condition_ = fold_and(inner.outer_condition_, c.over_loops);
    }
    inner.block_ = BlockRefNode(&n);
    inner.sites = std::move(sites);
    for (const auto& it : n.iters) {
      if (terms_ == AccessTerms::iters) break;
      AnyExpr value = resolve(it.binding);
      inner.guard(it.kind, value, inner.resolve(it.min), inner.resolve(it.extent));
      inner.values_.bind(it.var, value);
      inner.bindings_.push_back(value);
    }
    inner.inside_block(n);
    sites = std::move(inner.sites);
  }
  // "The binding lies in its domain", as far as the loops don't say so.
  void guard(IterKind kind, const AnyExpr& value, const AnyExpr& min, const AnyExpr& extent) {
    if (const auto* v = value.as<VarNode>())
      for (const auto& f : loops_)
        if (f->var.get() == v && same_expr(f->min, min) && same_expr(f->extent, extent)) return;
    AnyExpr low = value >= min, high = value < fold_add(min, extent);
    for (const auto& c : {low, high})
      if (!prove(c, facts_)) conditions_.push_back({c, {}, kind == IterKind::reduce});
  }
  // Whether it is not too long.
  bool add_condition(const AnyExpr& condition) {
    const AnyExpr inside = resolve_inner(condition), over_loops = resolve(condition);
    if (too_long(over_loops)) return false;
    conditions_.push_back({over_loops, inside, block_ && names_reduce(block_->iters, inside)});
    return true;
  }
  // Each part is read where those before it hold.
  void add_predicate(const AnyExpr& predicate) {
    for (const auto& part : conjuncts(predicate)) {
      expr(part);
      untold_ += add_condition(part) ? 0 : 1;
    }
  }
  void inside_block(const BlockNode& n) {
    if (n.predicate) add_predicate(n.predicate);
    if (n.reads.empty() && n.writes.empty()) return stmt(n.body);
    for (const auto* regions : {&n.reads, &n.writes}) {
      for (const auto& r : *regions) {
        if (only_ && r.buffer != *only_) continue;
        AccessSite out = site(r.buffer, AccessKind::opaque, regions == &n.writes);
        out.declared.buffer = r.buffer;
        for (const auto& range : r.ranges)
          out.declared.ranges.push_back({resolve(range.min), resolve(range.extent)});
        sites.push_back(std::move(out));
      }
    }
  }

  AccessTerms terms_;
  Facts facts_;
  const Buffer* only_;  // null: all buffers
  Vec<ForRef> loops_;
  int untold_ = 0;  ///< conditions around that are not among conditions_
  BlockRefNode block_;
  Vec<Condition> conditions_;
  AnyExpr outer_condition_;
  Vec<AnyExpr> bindings_;
  Values values_;        // iterators by bindings, lets by values
  Values inner_values_;  // lets inside the block
};

/// What stands beside a path in the sequences that it passes is left out.
class PathAccesses : public AccessCollector {
 public:
  explicit PathAccesses(const Vec<Stmt>& path)
      : AccessCollector(AccessTerms::loops, Facts()), path_(path) {}
  void stmt(const Stmt& s) override {
    if (next_ < path_.size() && s.same_as(path_[next_])) {
      ++next_;
      if (s.kind() == StmtKind::Seq && next_ < path_.size()) return stmt(path_[next_]);
    }
    AccessCollector::stmt(s);
  }

 private:
  const Vec<Stmt>& path_;
  std::size_t next_ = 0;
};

}  // namespace detail

LATHE_DECL Vec<AccessSite> accesses(const Stmt& s, AccessTerms terms, const Facts& facts) {
  detail::AccessCollector collector(terms, facts);
  collector.stmt(s);
  detail::SettleTerms(s).run(collector.sites);
  return std::move(collector.sites);
}
LATHE_DECL Vec<AccessSite> accesses_to(const Buffer& buffer, const Stmt& s, const Facts& facts) {
  detail::AccessCollector collector(AccessTerms::loops, facts, &buffer);
  collector.stmt(s);
  detail::SettleTerms(s).run(collector.sites);
  return std::move(collector.sites);
}
LATHE_DECL Vec<AccessSite> accesses(const BlockNode& block) {
  detail::AccessCollector collector(AccessTerms::loops, Facts());
  collector.block_body(block);
  return std::move(collector.sites);
}

namespace detail {

inline Vec<AccessSite> accesses_on(const Vec<Stmt>& path, const ForRef& loop) {
  PathAccesses collector(path);
  collector.stmt(path.front());
  collector.sites.erase_if([&](const AccessSite& a) {
    for (const auto& f : a.loops)
      if (f->var == loop->var) return false;
    return true;
  });
  SettleTerms(Stmt(loop)).run(collector.sites);
  return std::move(collector.sites);
}

}  // namespace detail

LATHE_DECL Vec<AccessSite> accesses_below(const LoopSite& site) {
  return detail::accesses_on(site.path, site.loop);
}
LATHE_DECL Vec<AccessSite> accesses_below(const LoopSite& site, const Stmt& statement) {
  Vec<Stmt> path = site.path;
  if (!site.loop->body.same_as(statement)) path.push_back(site.loop->body);
  path.push_back(statement);
  return detail::accesses_on(path, site.loop);
}

LATHE_DECL Vec<AccessSite> reads_of(const BlockNode& block) {
  Vec<AccessSite> out;
  for (auto& a : accesses(block))
    if (a.reads()) out.push_back(std::move(a));
  return out;
}
LATHE_DECL Vec<AccessSite> writes_of(const BlockNode& block) {
  Vec<AccessSite> out;
  for (auto& a : accesses(block))
    if (a.is_write) out.push_back(std::move(a));
  return out;
}

}  // namespace lathe
