#pragma once

#include <lathe/arith/interval.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/renew.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/guards/tile_guards.ipp>

namespace lathe::detail {

// What counts iterations, a loop's variable or a part of one that runs through several loops (a
// quotient, a remainder), and its value.
using KnownCounts = Vec<std::pair<AnyExpr, std::int64_t>>;

class SetCounts : public MutatorOfSizes {
 public:
  explicit SetCounts(const KnownCounts& at) : at_(at) {}
  AnyExpr expr(const AnyExpr& e) override {
    if (e.kind() == ExprKind::Var || e.kind() == ExprKind::Binary)
      for (const auto& [count, value] : at_)
        if (same_expr(e, count)) return AnyExpr(value);
    return descend(e);
  }

 private:
  const KnownCounts& at_;
};
inline AnyExpr set_counts(const AnyExpr& e, const KnownCounts& at) {
  return at.empty() ? e : SetCounts(at).expr(e);
}
inline Stmt set_counts(const Stmt& s, const KnownCounts& at) {
  return at.empty() ? s : SetCounts(at).stmt(s);
}

// Tiles for which `full` does not hold; with `count`, those where it is `last`.
struct BorderCase {
  AnyExpr full;
  Vec<const IfNode*> guards;
  AnyExpr count;
  std::int64_t last = 0;
  AnyExpr some;     ///< of `others`: without it nothing in the tile runs; none: not known
  AnyExpr uniform;  ///< of `others`: with it all lanes take a constant; none: no version for that
};

// Quotients of x by constants in a statement.
class QuotientsOf : public Visitor {
 public:
  QuotientsOf(const AnyExpr& x, const Stmt& s) : x_(x) { stmt(s); }
  Vec<AnyExpr> found;
  void expr(const AnyExpr& e) override {
    descend(e);
    const auto* n = e.as<BinaryNode>();
    if (!n || n->op != BinaryOp::floordiv || !same_expr(n->a, x_)) return;
    const std::int64_t* divisor = as_const_int(n->b);
    if (divisor && *divisor > 0) found.push_back(e);
  }

 private:
  const AnyExpr& x_;
};

// Which versions of a tile its guards ask for.
class VersionPlan {
 public:
  VersionPlan(const Stmt& tile, const Vec<TileGuard>& guards, const Facts& facts)
      : facts_(facts), tile_(tile) {
    Vec<TileGuard> rest;
    for (const auto& g : guards)
      if (!add_known(g)) rest.push_back(g);
    for (const auto& g : rest) {
      BorderCase& other = case_for(g.full);
      other.full = fold_and(other.full, g.full);
      other.guards.push_back(g.guard);
      if (!other.uniform) other.uniform = g.uniform;
    }
  }

  Vec<BorderCase> known;
  Vec<BorderCase> others;
  Vec<const IfNode*> always;

  std::size_t size() const { return known.size() + others.size(); }
  const BorderCase& at(std::size_t k) const {
    return k < known.size() ? known[k] : others[k - known.size()];
  }

 private:
  // All values of a count but the first one, or but the last one that is no known case.
  struct CountEnd {
    AnyExpr count;
    std::int64_t end = 0;
    bool is_last = false;

    bool is_of(const AnyExpr& other) const {
      return count.get() && other.get() && same_expr(count, other);
    }
  };

  CountEnd count_end(const AnyExpr& condition) const {
    const auto* n = condition.as<BinaryNode>();
    const std::int64_t* bound = n && n->a.dtype() == kIndex ? as_const_int(n->b) : nullptr;
    if (!bound || !is_load_free(n->a)) return {};
    const ConstInterval range = range_of(n->a);
    if (n->op == BinaryOp::lt && range.max == *bound) return {n->a, *bound, true};
    if (n->op == BinaryOp::gt && range.min == *bound) return {n->a, *bound, false};
    return n->op == BinaryOp::lt ? quotient_end(n->a, *bound) : CountEnd{};
  }

  ConstInterval range_of(const AnyExpr& count) const {
    ConstInterval range = const_bounds(count, facts_);
    for (const auto& c : known)
      if (same_expr(c.count, count)) range.max = c.last - 1;
    return range;
  }

  // x < c * n, which x / c < n is simplified to: x / c, if the tile has it and it ends at n.
  CountEnd quotient_end(const AnyExpr& x, std::int64_t bound) const {
    for (const auto& quotient : QuotientsOf(x, tile_).found) {
      const std::int64_t divisor = *as_const_int(quotient.as<BinaryNode>()->b);
      if (bound % divisor == 0 && range_of(quotient).max == bound / divisor)
        return {quotient, bound / divisor, true};
    }
    return {};
  }

  // Whether it is decided, or at a known iteration.
  bool add_known(const TileGuard& g) {
    if (is_const(g.full, 1)) return always.push_back(g.guard), true;
    for (auto& c : known)
      if (same_expr(c.full, g.full)) return c.guards.push_back(g.guard), true;
    const CountEnd end = count_end(g.full);
    for (const auto& c : known)
      if (end.is_of(c.count)) return false;
    if (!end.is_last || known.size() == kMaxKnownCases) return false;
    known.push_back({g.full, {g.guard}, end.count, end.end, {}, {}});
    return true;
  }

  BorderCase& case_for(const AnyExpr& full) {
    const CountEnd end = count_end(full);
    bool other_end = others.size() == 1 && end.count.get();
    for (auto& c : others) {
      const CountEnd before = count_end(c.full);
      const bool same = end.is_of(before.count);
      if (same && before.is_last == end.is_last) return c;
      other_end = other_end && same;
    }
    if (others.empty() || other_end) others.push_back({});
    return others.back();
  }

  // Two tails of one tile: four versions of its body.
  static constexpr std::size_t kMaxKnownCases = 2;

  const Facts& facts_;
  const Stmt& tile_;
};

}  // namespace lathe::detail
