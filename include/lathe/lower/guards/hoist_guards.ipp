#pragma once

#include <lathe/analysis/region.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/lower/blocks/partition_loops.ipp>
#include <lathe/lower/guards/border_cases.ipp>
#include <lathe/lower/guards/border_copies.ipp>
#include <lathe/lower/guards/tile_guards.ipp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/vector/clone.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

// Step 1. for i: if (c) S → if (c) for i: S, for every conjunct c that i does not occur in. Each
// conjunct becomes a guard of its own: what one comparison says of a tile can be decided.
class LiftInvariantGuards : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    if (const auto* g = s.as<IfNode>(); g && !g->else_body && is_load_free(g->condition)) {
      const Vec<AnyExpr> parts = conjuncts(g->condition);
      return parts.size() == 1 ? descend(s) : nest(parts, stmt(g->then_body));
    }
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    Stmt body = fetch_inside(stmt(f->body));
    Vec<AnyExpr> lifted, kept;
    while (const auto* guard = body.as<IfNode>()) {
      if (guard->else_body || !is_load_free(guard->condition)) break;
      (uses_var(guard->condition, f->var) ? kept : lifted).push_back(guard->condition);
      body = guard->then_body;
    }
    body = make_for(f->var, f->min, f->extent, nest(kept, body), f->loop_kind, f->attributes);
    return nest(lifted, body);
  }

 private:
  // What is fetched ahead of a guarded statement is so under the same guards.
  static Stmt fetch_inside(const Stmt& body) {
    const auto* all = body.as<SeqNode>();
    if (!all || all->stmts.size() < 2 || !is_guard(all->stmts.back())) return body;
    Vec<Stmt> ahead = all->stmts;
    ahead.pop_back();
    for (const auto& s : ahead)
      if (!prefetched(s)) return body;
    return below_guards(all->stmts.back(), std::move(ahead));
  }
  static Stmt below_guards(const Stmt& s, Vec<Stmt> first) {
    if (is_guard(s)) {
      const auto* guard = s.as<IfNode>();
      return make_if(guard->condition, below_guards(guard->then_body, std::move(first)));
    }
    first.push_back(s);
    return make_seq(std::move(first));
  }
  static bool is_guard(const Stmt& s) {
    const auto* guard = s.as<IfNode>();
    return guard && !guard->else_body && is_load_free(guard->condition);
  }

  static Stmt nest(const Vec<AnyExpr>& conditions, Stmt body) {
    for (const auto& condition : reversed(conditions)) body = make_if(condition, body);
    return body;
  }
};

class DropGuards : public Mutator {
 public:
  explicit DropGuards(const Vec<const IfNode*>& dropped) : dropped_(dropped) {}
  Stmt stmt(const Stmt& s) override {
    for (const auto* g : dropped_)
      if (s.get() == g) return stmt(g->then_body);
    return descend(s);
  }

 private:
  const Vec<const IfNode*>& dropped_;
};

// The loops whose conditions stay where they are.
inline Vec<VarRef> unpeeled_loops(const Stmt& body) {
  Vec<VarRef> out;
  each_statement(body, [&](const Stmt& s) {
    if (const auto* f = s.as<ForNode>(); f && partition_of(*f) == Partition::never)
      out.push_back(f->var);
  });
  return out;
}

// Step 2. In the body of the innermost loop that tile guards depend on, statements with such guards
// become if (all of them hold for the whole tile) { without guards } else { as it was }. One such
// split a path: the copy for border tiles stays as it is, so that code at most doubles however many
// guards there are.
class SplitBorderTiles : public Mutator {
 public:
  SplitBorderTiles(const Program& program, Vec<VarRef> unpeeled)
      : facts_(program), unpeeled_(std::move(unpeeled)) {
    for (const auto& d : program->dims) known_.push_back(d->var), dims_.push_back(d->var);
    const Vec<Buffer> written = buffers_written(program->body);
    for (const auto& p : program->params) {
      if (!p.buffer)
        known_.push_back(p.var);
      else if (!contains(written, p.buffer))
        steady_.push_back(p.buffer);
      for (std::size_t d = 0; p.buffer && d < p.buffer->strides.size(); ++d)
        if (const auto* v = p.buffer->strides[d].as<VarNode>()) known_.push_back(VarRef(v));
    }
  }

  Stmt stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) {
      Facts outer = facts_;
      facts_.bind(*f);
      known_.push_back(f->var);
      // Copies and lanes are parts of one tile: what differs between them is decided outside.
      const bool tile = f->loop_kind == ForKind::unrolled || f->loop_kind == ForKind::vectorized;
      Stmt body = tile ? stmt(f->body) : in_scope(f->body, f->var);
      known_.pop_back();
      facts_ = outer;
      if (body.same_as(f->body)) return s;
      return make_for(f->var, f->min, f->extent, body, f->loop_kind, f->attributes);
    }
    return descend(s);
  }

  Stmt run(const Stmt& body) { return in_scope(body, VarRef()); }

 private:
  // The body of a loop: first the loops inside, then what is left for this one.
  Stmt in_scope(const Stmt& body, const VarRef& loop) {
    if (const auto* a = body.as<AllocNode>()) {
      Stmt inner = in_scope(a->body, loop);
      if (inner.same_as(a->body)) return body;
      Stmt out = alloc_each_version(a->buffer, inner);
      if (is_split(inner)) splits_.push_back(out);
      return out;
    }
    Vec<Stmt> out, group;
    Vec<TileGuard> guards;
    auto flush = [&] {
      if (!group.empty()) out.push_back(versions(make_seq(group), guards));
      group.clear(), guards.clear();
    };
    for (const auto& part : seq_of(body)) {
      Stmt inner = is_split(part) ? part : stmt(part);
      Vec<TileGuard> found = is_split(inner) ? Vec<TileGuard>{} : guards_here(inner, loop);
      if (found.empty()) {
        flush();
        out.push_back(inner);
      } else {
        group.push_back(inner);
        guards.append(found);
      }
    }
    flush();
    return make_seq(std::move(out));
  }

  // A temporary of one version is another one in the next: each becomes registers in its own way.
  static Stmt alloc_each_version(const Buffer& b, const Stmt& s) {
    const auto* n = s.as<IfNode>();
    if (!n || !n->else_body || b->scope == Scope::global) return make_alloc(b, s);
    Buffer other(new BufferNode(*b));
    return make_if(n->condition, alloc_each_version(b, n->then_body),
                   alloc_each_version(other, replace_buffer(n->else_body, b, other)));
  }

  // Guards of `part` that can be decided here, if one of them could not be decided further out.
  Vec<TileGuard> guards_here(const Stmt& part, const VarRef& loop) const {
    TileGuards found(facts_, splits_, unpeeled_);
    found.stmt(part);
    Vec<TileGuard> here;
    bool ours = !loop.get();
    for (const auto& g : found.guards) {
      if (!decidable(g.full) || is_const(g.full, 0)) continue;
      here.push_back(g);
      if (g.some.get() && !decidable(g.some)) here.back().some = {};
      if (g.uniform.get() && !decidable(g.uniform)) here.back().uniform = {};
      ours = ours || uses_var(g.full, loop);
    }
    return ours ? here : Vec<TileGuard>{};
  }

  // Known here, and read from memory that stays as it is, at places that exist also where a guard
  // that would have come before fails.
  bool decidable(const AnyExpr& e) const { return reads_safely(e) && names_only(e, known_); }

  bool reads_safely(const AnyExpr& e) const {
    struct FindLoads : Visitor {
      Vec<const LoadNode*> found;
      void expr(const AnyExpr& part) override {
        if (const auto* load = part.as<LoadNode>()) found.push_back(load);
        descend(part);
      }
    } loads;
    loads.expr(e);
    for (const auto* load : loads.found)
      if (!contains(steady_, load->buffer) || load->mask.get() ||
          !surely_inside(*load->buffer, load->indices, facts_))
        return false;
    return true;
  }

  // One version per combination of border cases whose loop is there at a known iteration, two for
  // all other cases; three where these are the first and the last iteration of a loop.
  Stmt versions(const Stmt& s, const Vec<TileGuard>& guards) {
    VersionPlan plan(s, guards, facts_);
    const AnyExpr some = needed_by_all(s, guards);
    for (auto& c : plan.others) c.some = some;
    if (plan.known.empty() && plan.others.empty()) return leaf(s, plan.always, {});
    Stmt split = version(s, plan, 0, plan.always, {});
    splits_.push_back(split);
    return split;
  }

  // What must hold for any store of s to run: conditions that each have a guard above all of them.
  static AnyExpr needed_by_all(const Stmt& s, const Vec<TileGuard>& guards) {
    Vec<AnyExpr> needed;
    for (const auto& g : guards) {
      if (!g.some.get() || is_const(g.some, 1)) continue;
      bool known = false;
      for (const auto& n : needed) known |= same_expr(n, g.some);
      if (known) continue;
      Vec<const IfNode*> same;
      for (const auto& other : guards)
        if (other.some.get() && same_expr(other.some, g.some)) same.push_back(other.guard);
      BareStores bare(same);
      bare.stmt(s);
      if (!bare.found) needed.push_back(g.some);
    }
    AnyExpr all;
    for (const auto& n : needed) all = fold_and(all, n);
    return all;
  }

  Stmt version(const Stmt& s, const VersionPlan& plan, std::size_t k, Vec<const IfNode*> dropped,
               const KnownCounts& at) const {
    if (k == plan.size()) return leaf(s, dropped, at);
    const BorderCase& c = plan.at(k);
    Vec<const IfNode*> all = dropped;
    all.append(c.guards);
    AnyExpr full = set_counts(c.full, at);
    if (!c.count.get()) {
      Stmt slow = leaf(s, dropped, at);
      if (depends_on_dims(full)) slow = rolled_border(slow);
      slow = border(slow);
      if (c.uniform) slow = make_if(set_counts(c.uniform, at), border(leaf(s, dropped, at)), slow);
      return make_if(full, version(s, plan, k + 1, all, at), outside(c, at, slow));
    }
    KnownCounts here = at;
    here.emplace_back(c.count, c.last);
    return make_if(full, version(s, plan, k + 1, all, at),
                   border(version(s, plan, k + 1, dropped, here)));
  }

  bool depends_on_dims(const AnyExpr& condition) const {
    return std::any_of(dims_.begin(), dims_.end(),
                       [&](const VarRef& dim) { return uses_var(condition, dim); });
  }

  // A tile that lies outside altogether is skipped, if everything in it is under guards that say
  // so.
  static Stmt outside(const BorderCase& c, const KnownCounts& at, const Stmt& slow) {
    return c.some.get() ? make_if(set_counts(c.some, at), slow) : slow;
  }

  static Stmt leaf(const Stmt& s, const Vec<const IfNode*>& dropped, const KnownCounts& at) {
    return CloneFresh().stmt(set_counts(DropGuards(dropped).stmt(s), at));
  }

  static Stmt border(const Stmt& s) {
    return with_loop_attributes(
        s, [](const ForNode& f) { return after(Change::version, f.attributes); });
  }

  bool is_split(const Stmt& s) const {
    for (const auto& split : splits_)
      if (split.same_as(s)) return true;
    return false;
  }

  Facts facts_;
  const Vec<VarRef> unpeeled_;
  Vec<Buffer> steady_;  ///< parameters that the program only reads
  Vec<VarRef> known_;   ///< parameters, and the loops around
  Vec<VarRef> dims_;
  Vec<Stmt> splits_;
};

// Step 3. What runs apart does, and what is left of tails are tests.
inline Stmt drop_policies(const Stmt& s) {
  return with_loop_attributes(s, [](const ForNode& f) {
    Attributes rest = f.attributes;
    rest.erase<PartitionAttr>(), rest.erase<TailAttr>();
    return rest;
  });
}

}  // namespace detail

LATHE_DECL Program hoist_guards(const Program& program) {
  Stmt body = detail::LiftInvariantGuards().stmt(program->body);
  body = detail::PartitionLoops(program).stmt(body);
  detail::SplitBorderTiles split(program, detail::unpeeled_loops(body));
  return program.with(detail::drop_policies(split.run(body)));
}

}  // namespace lathe
