#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

/// The value of an integer expression at a point; false where it isn't plain arithmetic.
class PointEval {
 public:
  std::vector<std::pair<const VarNode*, std::int64_t>> values;

  bool value(const AnyExpr& e, std::int64_t& out) const {
    if (const auto* c = e.as<ConstNode>()) return out = c->i, !c->dtype.is_float();
    if (const auto* v = e.as<VarNode>()) {
      for (auto it = values.rbegin(); it != values.rend(); ++it)
        if (it->first == v) return out = it->second, true;
      return false;
    }
    std::int64_t a, b;
    if (const auto* n = e.as<BinaryNode>())
      return !n->a.dtype().is_float() && value(n->a, a) && value(n->b, b) &&
             fold_int(n->op, n->a.dtype(), a, b, out);
    if (const auto* u = e.as<UnaryNode>()) {
      if (!value(u->a, a)) return false;
      if (u->op == UnaryOp::not_) return out = !a, true;
      return u->op == UnaryOp::neg && fold_int(BinaryOp::sub, e.dtype(), 0, a, out);
    }
    if (const auto* s = e.as<SelectNode>())
      return value(s->condition, a) && value(a ? s->yes : s->no, out);
    return false;
  }
};

/// Two accesses in two iterations: the first over the variables as they are, the second over
/// renamed ones.
class DependenceTester {
 public:
  DependenceTester(const AccessSite& a, const AccessSite& b, const std::vector<ForRef>& loops,
                   const Facts& facts)
      : a_(a), b_(b), loops_(loops), facts_(facts) {
    coupled_ = find_coupling();
    for (const auto& f : b.loops) renamed_.push_back(make_var(f->var->name + "'", f->var->dtype));
  }
  DependenceVectors run();

 private:
  std::size_t common(const VarRef& var) const {
    std::size_t k = 0;
    while (k < loops_.size() && loops_[k]->var != var) ++k;
    return k;
  }
  /// No element is touched by both in iterations of these directions: proven.
  bool excluded(const std::vector<Direction>& directions);
  bool disjoint(const Substitution& rename, const Facts& facts);
  bool contradict(const std::vector<AnyExpr>& same, const Facts& facts, bool backward);
  bool find_coupling() const;
  void refine(std::vector<Direction>& directions, std::size_t k);
  void fix_determined(std::vector<Direction>& directions);
  bool enumerate(DependenceVectors& out);
  bool enumerate_loops(const std::vector<ForRef>& loops, const std::vector<VarRef>& as,
                       std::size_t k, const Substitution& rename, PointEval& at, bool second,
                       DependenceVectors& out);
  bool meet(PointEval& at, const Substitution& rename, DependenceVectors& out);

  const AccessSite &a_, &b_;
  const std::vector<ForRef>& loops_;
  const Facts& facts_;
  std::vector<VarRef> renamed_;
  DependenceVectors found_;
  bool coupled_ = false;
  int tests_ = 0;
  int points_ = 0;
  static constexpr int kMaxTests = 256;
  static constexpr int kMaxPoints = 4096;
};

LATHE_DECL bool DependenceTester::disjoint(const Substitution& rename, const Facts& facts) {
  if (a_.kind == AccessKind::opaque || b_.kind == AccessKind::opaque) {
    auto ends = [&](const AccessSite& s, std::size_t d, AnyExpr& lo, AnyExpr& hi) {
      const bool opaque = s.kind == AccessKind::opaque;
      if (opaque && d >= s.declared.ranges.size()) return false;
      lo = opaque ? s.declared.ranges[d].min : s.indices[d];
      hi = opaque ? fold_sub(fold_add(lo, s.declared.ranges[d].extent), AnyExpr(1)) : lo;
      return true;
    };
    for (std::size_t d = 0; d < a_.buffer->shape.size(); ++d) {
      AnyExpr lo, hi, low, high;
      if (!ends(a_, d, lo, hi) || !ends(b_, d, low, high)) continue;
      low = substitute(low, rename), high = substitute(high, rename);
      if (prove(hi < low, facts) || prove(high < lo, facts)) return true;
    }
    return false;
  }
  std::vector<AnyExpr> same;
  for (std::size_t d = 0; d < a_.indices.size(); ++d) {
    same.push_back(simplify(eq(a_.indices[d], substitute(b_.indices[d], rename)), facts));
    if (is_const(same[d], 0)) return true;
  }
  return coupled_ && (contradict(same, facts, false) || contradict(same, facts, true));
}

// Equalities that can't hold together; each is read under those before it.
LATHE_DECL bool DependenceTester::contradict(const std::vector<AnyExpr>& same, const Facts& facts, bool backward) {
  Facts so_far = facts;
  for (std::size_t k = 0; k < same.size(); ++k) {
    AnyExpr e = simplify(same[backward ? same.size() - 1 - k : k], so_far);
    if (is_const(e, 0)) return true;
    so_far.assume_before(e);
  }
  return false;
}

// Some loop occurs in two dimensions, so that these aren't independent.
LATHE_DECL bool DependenceTester::find_coupling() const {
  for (const auto* site : {&a_, &b_}) {
    for (const auto& f : site->loops) {
      int uses = 0;
      for (const auto& i : site->indices) uses += uses_var(i, f->var);
      if (uses > 1) return true;
    }
  }
  return false;
}

LATHE_DECL bool DependenceTester::excluded(const std::vector<Direction>& directions) {
  if (++tests_ > kMaxTests) return false;
  Facts facts = facts_;
  Substitution rename;
  for (const auto& f : a_.loops) facts.bind(*f);
  for (std::size_t k = 0; k < b_.loops.size(); ++k) {
    const ForNode& f = *b_.loops[k];
    const std::size_t c = common(f.var);
    if (c < loops_.size() && directions[c] == Direction::eq) continue;
    facts.bind(renamed_[k], substitute(f.min, rename), substitute(f.extent, rename));
    rename.emplace_back(f.var, AnyExpr(renamed_[k]));
    if (c == loops_.size()) continue;
    AnyExpr first(f.var), second(renamed_[k]);
    if (directions[c] == Direction::lt) facts.assume(second > first);
    if (directions[c] == Direction::gt) facts.assume(second < first);
    const ConstInterval r = facts.range(renamed_[k]), s = facts.range(f.var);
    if (r.empty() || s.empty()) return true;
  }
  if (a_.condition) facts.assume_before(a_.condition);
  if (b_.condition) facts.assume_before(substitute(b_.condition, rename));
  return disjoint(rename, facts);
}

LATHE_DECL void DependenceTester::refine(std::vector<Direction>& directions, std::size_t k) {
  if (tests_ > kMaxTests) {
    found_.vectors.push_back(directions);
    return;
  }
  if (excluded(directions)) return;
  while (k < loops_.size() && directions[k] != Direction::any) ++k;
  if (k == loops_.size()) {
    found_.vectors.push_back(directions);
    return;
  }
  for (Direction d : {Direction::lt, Direction::eq, Direction::gt}) {
    directions[k] = d;
    refine(directions, k + 1);
  }
  directions[k] = Direction::any;
}

// Both accesses go through one index map: what its value determines is equal in both iterations.
LATHE_DECL void DependenceTester::fix_determined(std::vector<Direction>& directions) {
  if (a_.kind == AccessKind::opaque || b_.kind == AccessKind::opaque) return;
  if (a_.loops.size() != b_.loops.size()) return;
  for (std::size_t d = 0; d < a_.indices.size(); ++d)
    if (!same_expr(a_.indices[d], b_.indices[d])) return;
  std::vector<IterDomain> domain;
  for (std::size_t k = 0; k < a_.loops.size(); ++k) {
    if (a_.loops[k]->var != b_.loops[k]->var) return;
    domain.push_back({a_.loops[k]->var, a_.loops[k]->min, a_.loops[k]->extent});
  }
  IterMap map = iter_map(a_.indices, domain, {}, facts_);
  for (std::size_t k = 0; k < map.determined.size(); ++k) {
    const std::size_t c = common(domain[k].var);
    if (map.determined[k] && c < loops_.size()) directions[c] = Direction::eq;
  }
}

// Small constant spaces: every pair of points. False if the space isn't one.
LATHE_DECL bool DependenceTester::enumerate(DependenceVectors& out) {
  if (a_.kind == AccessKind::opaque || b_.kind == AccessKind::opaque) return false;
  std::int64_t total = 1;
  for (const auto* loops : {&a_.loops, &b_.loops}) {
    for (const auto& f : *loops) {
      const auto* c = as_const_int(f->extent);
      if (!c || *c > kMaxPoints || *c < 0) return false;
      total *= *c;
      if (total > kMaxPoints) return false;
    }
  }
  Substitution rename;
  for (std::size_t k = 0; k < b_.loops.size(); ++k)
    rename.emplace_back(b_.loops[k]->var, AnyExpr(renamed_[k]));
  PointEval at;
  std::vector<VarRef> own;
  for (const auto& f : a_.loops) own.push_back(f->var);
  return enumerate_loops(a_.loops, own, 0, rename, at, false, out);
}

LATHE_DECL bool DependenceTester::enumerate_loops(const std::vector<ForRef>& loops,
                                                  const std::vector<VarRef>& as, std::size_t k,
                                                  const Substitution& rename, PointEval& at,
                                                  bool second, DependenceVectors& out) {
  if (k == loops.size()) {
    if (second) return meet(at, rename, out);
    return enumerate_loops(b_.loops, renamed_, 0, rename, at, true, out);
  }
  std::int64_t lo, size;
  const AnyExpr min = second ? substitute(loops[k]->min, rename) : loops[k]->min;
  if (!at.value(min, lo) || !at.value(loops[k]->extent, size)) return false;
  at.values.emplace_back(as[k].get(), 0);
  const std::size_t slot = at.values.size() - 1;
  for (std::int64_t i = lo; i < lo + size; ++i) {
    at.values[slot].second = i;
    if (!enumerate_loops(loops, as, k + 1, rename, at, second, out)) return false;
  }
  at.values.pop_back();
  return true;
}

LATHE_DECL bool DependenceTester::meet(PointEval& at, const Substitution& rename,
                                       DependenceVectors& out) {
  std::int64_t x, y;
  if (++points_ > kMaxPoints) return false;
  // A condition that can't be evaluated counts as true.
  if (a_.condition.get() && at.value(a_.condition, x) && !x) return true;
  if (b_.condition.get() && at.value(substitute(b_.condition, rename), x) && !x) return true;
  for (std::size_t d = 0; d < a_.indices.size(); ++d) {
    if (!at.value(a_.indices[d], x) || !at.value(substitute(b_.indices[d], rename), y))
      return false;
    if (x != y) return true;
  }
  std::vector<Direction> v;
  for (const auto& f : loops_) {
    at.value(AnyExpr(f->var), x);
    at.value(substitute(AnyExpr(f->var), rename), y);
    v.push_back(y > x ? Direction::lt : y == x ? Direction::eq : Direction::gt);
  }
  for (const auto& seen : out.vectors)
    if (seen == v) return true;
  out.vectors.push_back(std::move(v));
  return true;
}

LATHE_DECL DependenceVectors DependenceTester::run() {
  std::vector<Direction> directions(loops_.size(), Direction::any);
  if (a_.buffer != b_.buffer) return {Answer::no, {}};
  fix_determined(directions);
  bool open = false;
  for (Direction d : directions) open = open || d == Direction::any;
  if (open) refine(directions, 0);
  else found_.vectors.push_back(directions);
  if (found_.vectors.empty()) return {Answer::no, {}};
  bool only_equal = true;
  for (const auto& v : found_.vectors)
    for (Direction d : v) only_equal = only_equal && d == Direction::eq;
  DependenceVectors exact;
  if (!only_equal && enumerate(exact)) {
    exact.answer = exact.vectors.empty() ? Answer::no : Answer::yes;
    return exact;
  }
  found_.answer = Answer::unknown;
  return found_;
}

// Pairs
// ---------------------------------------------------------------------------------------------------------------

inline std::string describe(const AccessSite& a) {
  std::string out = a.block ? "block '" + a.block->name() + "' " : "a statement ";
  out += a.kind == AccessKind::update ? "updates " : a.is_write ? "writes " : "reads ";
  out += a.buffer->name;
  for (std::size_t d = 0; d < a.indices.size(); ++d)
    out += (d ? ", " : "[") + str(simplify(a.indices[d]));
  return out + (a.indices.empty() ? "" : "]");
}

inline Carried make_carried(const AccessSite& a, const AccessSite& b, bool proven,
                            const std::string& loops) {
  Carried out{a, b, proven, {}};
  out.explanation = describe(a) + (a.order == b.order ? "" : " and " + describe(b)) +
                    ": different iterations of " + loops + (proven ? " touch" : " may touch") +
                    " one element";
  return out;
}

/// The accesses below a loop to buffers that outlive it and are written there, and what holds
/// around the loop.
struct LoopAccesses {
  LoopSite site;
  Facts facts;
  std::vector<AccessSite> all;

  /// An index that loads what the loop writes is another one each time.
  bool index_changes(const AccessSite& a) const {
    LoadedBuffers loads;
    for (const auto& i : a.indices) loads.expr(i);
    for (const auto& w : all)
      for (const auto& b : loads.found)
        if (w.is_write && w.buffer == b) return true;
    return false;
  }
  LoopAccesses(const Stmt& root, const VarRef& loop, const Facts& around)
      : site(find_loop(root, loop)) {
    if (!site.loop) return;
    facts = facts_on(site.path, around);
    std::vector<AccessSite> found = accesses(Stmt(site.loop), AccessTerms::loops, facts);
    std::vector<Buffer> written;
    for (const auto& a : found)
      if (a.is_write) add_once(written, a.buffer);
    for (auto& a : found) {
      bool kept = false;
      for (const auto& b : written) kept = kept || b == a.buffer;
      if (kept && !is_private(site.loop->body, a.buffer)) all.push_back(std::move(a));
    }
    for (auto& a : all)
      if (index_changes(a)) a.kind = AccessKind::opaque, a.indices.clear(), a.declared = {};
  }
};

template <class F>
void each_conflict(const std::vector<AccessSite>& all, F&& f) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i; j < all.size(); ++j)
      if (all[i].buffer == all[j].buffer && (all[i].is_write || all[j].is_write) &&
          !f(all[i], all[j]))
        return;
}

inline int lead(const std::vector<Direction>& v, const std::vector<std::size_t>& order) {
  for (std::size_t k : order) {
    if (v[k] == Direction::eq) continue;
    return v[k] == Direction::lt ? 1 : v[k] == Direction::gt ? -1 : 2;
  }
  return 0;
}

}  // namespace detail

LATHE_DECL DependenceVectors dependence(const AccessSite& a, const AccessSite& b,
                                        const std::vector<ForRef>& loops, const Facts& facts) {
  return detail::DependenceTester(a, b, loops, facts).run();
}

LATHE_DECL std::optional<Carried> carried_by(const Stmt& root, const VarRef& loop,
                                             const Facts& facts) {
  detail::LoopAccesses below(root, loop, facts);
  std::optional<Carried> out;
  detail::each_conflict(below.all, [&](const AccessSite& a, const AccessSite& b) {
    DependenceVectors d = dependence(a, b, {below.site.loop}, below.facts);
    bool carried = false;
    for (const auto& v : d.vectors) carried = carried || v[0] != Direction::eq;
    if (carried) out = detail::make_carried(a, b, d.answer == Answer::yes, "'" + loop->name + "'");
    return !carried;
  });
  return out;
}

LATHE_DECL std::optional<Carried> reorder_violation(const Stmt& root,
                                                    const std::vector<VarRef>& loops,
                                                    const std::vector<std::size_t>& order,
                                                    const Facts& facts) {
  if (loops.empty()) return std::nullopt;
  detail::LoopAccesses below(root, loops[0], facts);
  std::vector<ForRef> chain;
  std::vector<std::size_t> before;
  std::string names;
  for (std::size_t k = 0; k < loops.size(); ++k) {
    LoopSite site = find_loop(root, loops[k]);
    if (!site.loop) return std::nullopt;
    chain.push_back(site.loop);
    before.push_back(k);
    names += (k ? ", '" : "'") + loops[k]->name + "'";
  }
  std::optional<Carried> out;
  detail::each_conflict(below.all, [&](const AccessSite& a, const AccessSite& b) {
    const bool update =
        a.kind == AccessKind::update && b.kind == AccessKind::update && a.block == b.block;
    if (update && a.block && a.block->reducer &&
        classify(*a.block->reducer).kind == ReducerClass::reorder)
      return true;
    DependenceVectors d = dependence(a, b, chain, below.facts);
    for (const auto& v : d.vectors) {
      const int was = detail::lead(v, before), is = detail::lead(v, order);
      if (was == is && was != 2) continue;
      out = detail::make_carried(a, b, d.answer == Answer::yes, names);
      return false;
    }
    return true;
  });
  return out;
}

LATHE_DECL std::optional<Carried> lockstep_violation(const Stmt& root, const VarRef& loop,
                                                     const Facts& facts) {
  detail::LoopAccesses below(root, loop, facts);
  std::optional<Carried> out;
  detail::each_conflict(below.all, [&](const AccessSite& a, const AccessSite& b) {
    std::vector<ForRef> chain;
    for (std::size_t k = 0;
         k < a.loops.size() && k < b.loops.size() && a.loops[k]->var == b.loops[k]->var; ++k)
      chain.push_back(a.loops[k]);
    DependenceVectors d = dependence(a, b, chain, below.facts);
    std::vector<std::size_t> inner;
    for (std::size_t k = 1; k < chain.size(); ++k) inner.push_back(k);
    for (const auto& v : d.vectors) {
      if (v[0] == Direction::eq) continue;
      // 1: b comes later, -1: a does, 0: in one statement or as written (a stands before b). In
      // lockstep the inner loops decide first, then the text, then the lane.
      const int was = v[0] == Direction::lt ? 1 : v[0] == Direction::gt ? -1 : 2;
      int is = detail::lead(v, inner);
      if (is == 0 && a.order != b.order) is = 1;
      if (was == is && was != 2) continue;
      out = detail::make_carried(a, b, d.answer == Answer::yes, "'" + loop->name + "'");
      return false;
    }
    return true;
  });
  return out;
}

}  // namespace lathe
