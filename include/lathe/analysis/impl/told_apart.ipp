#pragma once

#include <algorithm>
#include <lathe/analysis/impl/dependence.ipp>
#include <lathe/arith/determined.hpp>

namespace lathe {
namespace detail {

// Loops that only one access has stand for one of the other if they run alike: in either place the
// variable is one of two values of one range.
LATHE_DECL void DependenceTester::match_own_loops() {
  matching_ = true;
  if (a_.kind == AccessKind::opaque || b_.kind == AccessKind::opaque) return;
  std::size_t shared = 0;
  while (shared < std::min(a_.loops.size(), b_.loops.size()) &&
         a_.loops[shared]->var == b_.loops[shared]->var)
    ++shared;
  auto is_used = [](const AccessSite& site, const VarRef& var) {
    for (const auto& i : site.indices)
      if (uses_var(i, var)) return true;
    return false;
  };
  for (const auto& f : a_.loops) matched_.push_back({f->var, f->min, f->extent});
  std::size_t next = shared;
  for (std::size_t k = shared; k < b_.loops.size(); ++k) {
    const ForNode& f = *b_.loops[k];
    if (!is_used(b_, f.var)) continue;
    while (next < a_.loops.size() && !is_used(a_, a_.loops[next]->var)) ++next;
    if (next == a_.loops.size()) return;
    const ForNode& first = *a_.loops[next++];
    if (same_expr(substitute(f.min, as_first_), first.min) &&
        same_expr(substitute(f.extent, as_first_), first.extent))
      as_first_.emplace_back(f.var, AnyExpr(first.var));
  }
  for (std::size_t d = 0; d < a_.indices.size(); ++d) {
    const AnyExpr second = substitute(b_.indices[d], as_first_);
    bool known = true;
    for (std::size_t k = shared; k < b_.loops.size(); ++k)
      known = known && !uses_var(second, b_.loops[k]->var);
    if (known && prove_eq(a_.indices[d], second, facts_)) shared_.push_back(a_.indices[d]);
  }
}

// What holds at both accesses.
LATHE_DECL AnyExpr DependenceTester::common_condition() const {
  if (!a_.condition || !b_.condition) return {};
  const Vec<AnyExpr> first = conjuncts(a_.condition),
                     second = conjuncts(substitute(b_.condition, as_first_));
  AnyExpr out;
  for (const auto& c : first)
    for (const auto& d : second)
      if (same_expr(c, d)) {
        out = fold_and(out, c);
        break;
      }
  return out;
}

// What the indices that both accesses share determine is equal in both iterations: one question
// instead of a proof for each combination of directions.
LATHE_DECL void DependenceTester::fix_told(Vec<Direction>& directions) {
  if (!matching_) match_own_loops();
  if (shared_.empty()) return;
  const Vec<bool> known = determined_by(shared_, matched_, common_condition(), facts_);
  for (std::size_t k = 0; k < matched_.size(); ++k) {
    const std::size_t c = common(matched_[k].var);
    if (known[k] && c < loops_.size()) directions[c] = Direction::eq;
  }
}

// With the loops of equal directions fixed, the indices tell one of the others: these iterations do
// not differ in it.
LATHE_DECL bool DependenceTester::told_apart(const Vec<Direction>& directions) {
  if (!matching_) match_own_loops();
  auto apart_in = [&](const VarRef& var) {
    const std::size_t c = common(var);
    return c < loops_.size() && (directions[c] == Direction::lt || directions[c] == Direction::gt);
  };
  auto indexed = [&](const VarRef& var) {
    for (const auto& i : shared_)
      if (uses_var(i, var)) return true;
    return false;
  };
  Vec<IterDomain> domain;
  Facts facts = facts_;
  bool any = false;
  for (const auto& d : matched_) {
    const std::size_t c = common(d.var);
    const bool fixed = c < loops_.size() && directions[c] == Direction::eq;
    if (fixed)
      facts.bind(d.var, d.min, d.extent);
    else
      domain.push_back(d);
    any = any || (apart_in(d.var) && indexed(d.var));
  }
  if (!any) return false;
  const Vec<bool> known = determined_by(shared_, domain, common_condition(), facts);
  for (std::size_t k = 0; k < domain.size(); ++k)
    if (known[k] && apart_in(domain[k].var)) return true;
  return false;
}

}  // namespace detail

LATHE_DECL bool surely_meet(const AccessSite& a, const AccessSite& b, const Vec<ForRef>& loops,
                            const Facts& facts) {
  const bool known = a.kind != AccessKind::opaque && b.kind != AccessKind::opaque && !a.condition &&
                     !b.condition && a.indices.size() == b.indices.size();
  if (!known || loops.empty() || !a.unknown.empty() || !b.unknown.empty()) return false;
  Facts inside = facts;
  for (const auto& f : a.loops) inside.bind(*f);
  // Loops that only one of them has start in both.
  auto started = [&](const AccessSite& site, const VarRef& var, const AnyExpr& value) {
    Substitution at;
    bool shared = true;
    for (std::size_t k = 0; k < site.loops.size(); ++k) {
      shared =
          shared && k < a.loops.size() && k < b.loops.size() && a.loops[k]->var == b.loops[k]->var;
      if (!shared) at.emplace_back(site.loops[k]->var, substitute(site.loops[k]->min, at));
    }
    at.emplace_back(var, value);
    return at;
  };
  const VarRef& last = loops.back()->var;
  for (const std::int64_t step : {1, -1}) {
    const Substitution first = started(a, last, AnyExpr(last)),
                       second = started(b, last, fold_add(AnyExpr(last), AnyExpr(step)));
    bool same = true;
    for (std::size_t d = 0; d < a.indices.size(); ++d)
      same = same &&
             prove_eq(substitute(a.indices[d], first), substitute(b.indices[d], second), inside);
    if (same) return true;
  }
  return false;
}

}  // namespace lathe
