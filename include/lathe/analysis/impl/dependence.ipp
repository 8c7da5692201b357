#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/impl/declared.ipp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

/// The value of an integer expression at a point; false where it isn't plain arithmetic.
class PointEval {
 public:
  Vec<std::pair<const VarNode*, std::int64_t>> values;

  bool value(const AnyExpr& e, std::int64_t& out) const {
    if (const auto* c = e.as<ConstNode>()) return out = c->i, !c->dtype.is_float();
    if (const auto* v = e.as<VarNode>()) {
      for (const auto& [var, known] : reversed(values))
        if (var == v) return out = known, true;
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
  DependenceTester(const AccessSite& a, const AccessSite& b, const Vec<ForRef>& loops,
                   const Facts& facts)
      : a_(a), b_(b), loops_(loops), facts_(facts) {
    coupled_ = find_coupling();
    for (const auto& f : b.loops) renamed_.push_back(make_var(f->var->name + "'", f->var->dtype));
  }
  using Wanted = FunctionRef<bool(const Vec<Direction>&)>;
  DependenceVectors run(const Wanted* wanted = nullptr);
  bool meet_along_last();

 private:
  std::size_t common(const VarRef& var) const {
    std::size_t k = 0;
    while (k < loops_.size() && loops_[k]->var != var) ++k;
    return k;
  }
  /// No element is touched by both in iterations of these directions: proven.
  bool excluded(const Vec<Direction>& directions);
  bool disjoint(const Substitution& rename, const Facts& facts);
  bool contradict(const Vec<AnyExpr>& same, const Facts& facts, bool backward);
  bool find_coupling() const;
  void refine(Vec<Direction>& directions, std::size_t k);
  void keep(const Vec<Direction>& directions);
  void fix_determined(Vec<Direction>& directions);
  bool fix_determined(const Vec<AnyExpr>& indices, const Vec<IterDomain>& domain,
                      Vec<Direction>& directions);
  void match_own_loops();
  AnyExpr common_condition() const;
  void fix_told(Vec<Direction>& directions);
  bool told_apart(const Vec<Direction>& directions);
  bool has_few_points() const;
  bool enumerate(DependenceVectors& out);
  bool enumerate_loops(const Vec<ForRef>& loops, const Vec<VarRef>& as, std::size_t k,
                       const Substitution& rename, PointEval& at, bool second,
                       DependenceVectors& out);
  bool meet(PointEval& at, const Substitution& rename, DependenceVectors& out);

  const AccessSite &a_, &b_;
  const Vec<ForRef>& loops_;
  const Facts& facts_;
  Vec<VarRef> renamed_;
  // Of told_apart(): the loops of both accesses with the first one's variables, the second one's
  // variables as these, and the indices that are the same then.
  Vec<IterDomain> matched_;
  Substitution as_first_;
  Vec<AnyExpr> shared_;
  bool matching_ = false;
  DependenceVectors found_;
  const Wanted* wanted_ = nullptr;
  bool coupled_ = false, done_ = false;
  int tests_ = 0;
  int points_ = 0;
  static constexpr int kMaxTests = 256;
  static constexpr int kMaxPoints = 4096;
  static constexpr std::size_t kUncutLoops = 4;  // run() tests all directions of so many loops
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
  Vec<AnyExpr> same;
  for (std::size_t d = 0; d < a_.indices.size(); ++d) {
    same.push_back(simplify(eq(a_.indices[d], substitute(b_.indices[d], rename)), facts));
    if (is_const(same[d], 0)) return true;
  }
  return coupled_ && (contradict(same, facts, false) || contradict(same, facts, true));
}

// Equalities that can't hold together; each is read under those before it.
LATHE_DECL bool DependenceTester::contradict(const Vec<AnyExpr>& same, const Facts& facts,
                                             bool backward) {
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

LATHE_DECL bool DependenceTester::excluded(const Vec<Direction>& directions) {
  if (++tests_ > kMaxTests) return false;
  Facts facts = facts_;
  Substitution rename;
  for (const auto& f : a_.loops) facts.bind(*f);
  for (const auto& v : b_.unknown) rename.emplace_back(v, AnyExpr(make_var(v->name)));
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

LATHE_DECL void DependenceTester::keep(const Vec<Direction>& directions) {
  if (told_apart(directions)) return;
  found_.vectors.push_back(directions);
  done_ = wanted_ && (*wanted_)(directions);
}

LATHE_DECL void DependenceTester::refine(Vec<Direction>& directions, std::size_t k) {
  if (done_) return;
  if (tests_ > kMaxTests) return keep(directions);
  if (excluded(directions)) return;
  while (k < loops_.size() && directions[k] != Direction::any) ++k;
  if (k == loops_.size()) return keep(directions);
  for (Direction d : {Direction::lt, Direction::eq, Direction::gt}) {
    directions[k] = d;
    refine(directions, k + 1);
  }
  directions[k] = Direction::any;
}

// Where both accesses have the same index over loops around both: what its value determines is
// equal in both iterations.
LATHE_DECL void DependenceTester::fix_determined(Vec<Direction>& directions) {
  if (a_.kind == AccessKind::opaque || b_.kind == AccessKind::opaque) return;
  Vec<IterDomain> domain;
  for (std::size_t k = 0; k < std::min(a_.loops.size(), b_.loops.size()); ++k) {
    if (a_.loops[k]->var != b_.loops[k]->var) break;
    domain.push_back({a_.loops[k]->var, a_.loops[k]->min, a_.loops[k]->extent});
  }
  auto is_around = [&](const AnyExpr& index, const Vec<ForRef>& loops) {
    for (std::size_t k = domain.size(); k < loops.size(); ++k)
      if (uses_var(index, loops[k]->var)) return false;
    return true;
  };
  Vec<AnyExpr> same;
  for (std::size_t d = 0; d < a_.indices.size(); ++d)
    if (same_expr(a_.indices[d], b_.indices[d]) && is_around(a_.indices[d], a_.loops) &&
        is_around(a_.indices[d], b_.loops))
      same.push_back(a_.indices[d]);
  if (same.empty()) return;
  if (!fix_determined(same, domain, directions) && same.size() > 1)
    for (const auto& index : same) fix_determined({index}, domain, directions);
}

// False where one of the indices has no form that tells anything.
LATHE_DECL bool DependenceTester::fix_determined(const Vec<AnyExpr>& indices,
                                                 const Vec<IterDomain>& domain,
                                                 Vec<Direction>& directions) {
  const IterMap map = iter_map(indices, domain, {}, facts_);
  for (std::size_t k = 0; k < map.determined.size(); ++k) {
    const std::size_t c = common(domain[k].var);
    if (map.determined[k] && c < loops_.size()) directions[c] = Direction::eq;
  }
  return map.known();
}

// Loops of constant extents with few pairs of points.
LATHE_DECL bool DependenceTester::has_few_points() const {
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
  return true;
}

// Small constant spaces: every pair of points. False if the space isn't one.
LATHE_DECL bool DependenceTester::enumerate(DependenceVectors& out) {
  if (!has_few_points()) return false;
  Substitution rename;
  for (std::size_t k = 0; k < b_.loops.size(); ++k)
    rename.emplace_back(b_.loops[k]->var, AnyExpr(renamed_[k]));
  PointEval at;
  Vec<VarRef> own;
  for (const auto& f : a_.loops) own.push_back(f->var);
  return enumerate_loops(a_.loops, own, 0, rename, at, false, out);
}

LATHE_DECL bool DependenceTester::enumerate_loops(const Vec<ForRef>& loops, const Vec<VarRef>& as,
                                                  std::size_t k, const Substitution& rename,
                                                  PointEval& at, bool second,
                                                  DependenceVectors& out) {
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
  Vec<Direction> v;
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

// Where points can be counted, a vector that was found may still turn out not to be one.
LATHE_DECL DependenceVectors DependenceTester::run(const Wanted* wanted) {
  if (!has_few_points()) wanted_ = wanted;
  Vec<Direction> directions(loops_.size(), Direction::any);
  if (a_.buffer != b_.buffer) return {Answer::no, {}};
  tests_ = 0;
  fix_determined(directions);
  auto open = [&] {
    return std::find(directions.begin(), directions.end(), Direction::any) != directions.end();
  };
  if (open()) fix_told(directions);
  if (open())
    refine(directions, 0);
  else
    found_.vectors.push_back(directions);
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

// Two of the directions that run() ends with decide. Where they can't be excluded, or where run()
// would count points or meet its limit on tests, it has its say.
LATHE_DECL bool DependenceTester::meet_along_last() {
  Vec<Direction> directions(loops_.size(), Direction::any);
  if (a_.buffer != b_.buffer) return false;
  fix_determined(directions);
  if (directions.back() == Direction::eq) return false;
  std::fill(directions.begin(), directions.end(), Direction::eq);
  if (directions.back() = Direction::lt; told_apart(directions)) return false;
  auto apart = [&](Direction last) {
    directions.back() = last;
    return excluded(directions);
  };
  if (loops_.size() <= kUncutLoops && !has_few_points() && apart(Direction::lt) &&
      apart(Direction::gt))
    return false;
  for (const auto& v : run().vectors) {
    bool others_equal = true;
    for (std::size_t k = 0; k + 1 < v.size(); ++k)
      others_equal = others_equal && (v[k] & Direction::eq) == Direction::eq;
    if (others_equal && (v.back() & Direction::ne) != Direction::none) return true;
  }
  return false;
}

}  // namespace detail

LATHE_DECL bool meet_along_last(const AccessSite& a, const AccessSite& b, const Vec<ForRef>& loops,
                                const Facts& facts) {
  const detail::ElementPair pair(a, b);
  return detail::DependenceTester(pair.a(), pair.b(), loops, facts).meet_along_last();
}

LATHE_DECL DependenceVectors dependence(const AccessSite& a, const AccessSite& b,
                                        const Vec<ForRef>& loops, const Facts& facts) {
  const detail::ElementPair pair(a, b);
  return pair.answer(detail::DependenceTester(pair.a(), pair.b(), loops, facts).run());
}

LATHE_DECL DependenceVectors dependence(const AccessSite& a, const AccessSite& b,
                                        const Vec<ForRef>& loops, const Facts& facts,
                                        FunctionRef<bool(const Vec<Direction>&)> wanted) {
  const detail::ElementPair pair(a, b);
  return pair.answer(detail::DependenceTester(pair.a(), pair.b(), loops, facts).run(&wanted));
}

}  // namespace lathe
