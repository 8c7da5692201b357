#pragma once

#include <algorithm>
#include <lathe/analysis/footprint.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

// Sums and products of sizes, where none stands for unknown and for what is beyond i64.
inline AnyExpr size_sum(const AnyExpr& a, const AnyExpr& b) {
  if (!a || !b) return {};
  const std::int64_t *x = as_const_int(a), *y = as_const_int(b);
  std::int64_t sum = 0;
  if (x && y && __builtin_add_overflow(*x, *y, &sum)) return {};
  return simplify(fold_add(a, b));
}
LATHE_DECL AnyExpr size_product(const AnyExpr& a, const AnyExpr& b) {
  if (!a || !b) return {};
  const std::int64_t *x = as_const_int(a), *y = as_const_int(b);
  std::int64_t product = 0;
  if (x && y && __builtin_mul_overflow(*x, *y, &product)) return {};
  return simplify(fold_mul(a, b));
}

// The least number found that an index expression never exceeds. Each min and max in its sum gives
// way to its operands in turn, so that what they have in common with other terms cancels: bounds of
// neighbours that are clamped at a border stay near each other.
class LargestNumber {
 public:
  explicit LargestNumber(const Facts& facts) : facts_(facts) {}

  std::optional<std::int64_t> of(const AnyExpr& e) {
    if (++tried_ > kTries) return std::nullopt;
    for (Pick pick : {Pick::both, Pick::either_outer, Pick::either}) {
      Found found;
      if (!find(e, true, pick, found)) continue;
      auto a = of(found.with_first), b = of(found.with_second);
      if (pick == Pick::both) return larger(a, b, found);
      return a && b ? std::min(a, b) : a ? a : b;
    }
    const ConstInterval range = const_bounds(simplify(e, facts_), facts_);
    return range.has_max() ? std::optional<std::int64_t>(range.max) : std::nullopt;
  }

 private:
  static constexpr int kTries = 400;
  // Which is replaced first. Where the larger of two counts, both must be tried, and that before
  // another is given up for either operand; so those go first that hold more of them.
  enum class Pick : std::uint8_t { both, either_outer, either };
  struct Found {
    AnyExpr with_first, with_second;
  };
  static bool is_choice(const AnyExpr& e) {
    const auto* n = e.as<BinaryNode>();
    return n && (n->op == BinaryOp::min || n->op == BinaryOp::max);
  }
  // Conditions on sums prove more than they say of single variables.
  std::optional<std::int64_t> larger(std::optional<std::int64_t> a, std::optional<std::int64_t> b,
                                     const Found& of) const {
    if (a && (!b || *a < *b)) return prove_le(of.with_second, AnyExpr(*a), facts_) ? a : b;
    if (b && (!a || *b < *a)) return prove_le(of.with_first, AnyExpr(*b), facts_) ? b : a;
    return a;
  }
  // The sum with the first min or max of that sort replaced by either operand.
  static bool find(const AnyExpr& e, bool added, Pick pick, Found& out) {
    const auto* n = e.as<BinaryNode>();
    if (!n) return false;
    if (is_choice(e)) {
      const bool both = n->op == (added ? BinaryOp::max : BinaryOp::min);
      if (both != (pick == Pick::both)) return false;
      if (pick == Pick::either_outer && !is_choice(n->a) && !is_choice(n->b)) return false;
      out = {n->a, n->b};
      return true;
    }
    if (n->op != BinaryOp::add && n->op != BinaryOp::sub) return false;
    if (find(n->a, added, pick, out)) {
      out = {make_binary(n->op, out.with_first, n->b), make_binary(n->op, out.with_second, n->b)};
      return true;
    }
    if (!find(n->b, added != (n->op == BinaryOp::sub), pick, out)) return false;
    out = {make_binary(n->op, n->a, out.with_first), make_binary(n->op, n->a, out.with_second)};
    return true;
  }

  const Facts& facts_;
  int tried_ = 0;
};

// The most that an extent is while the loops outside run: a number if there is one, else over Dims.
inline AnyExpr largest(const AnyExpr& extent, const Vec<VarRef>& outer, const Facts& facts) {
  if (!uses_any(extent, outer)) {
    AnyExpr known = simplify(extent, facts);
    const std::int64_t* number = as_const_int(known);
    return number && *number < 0 ? AnyExpr(0) : known;
  }
  if (auto number = LargestNumber(facts).of(extent))
    return AnyExpr(std::max<std::int64_t>(*number, 0));
  return bounds(extent, outer, facts).max;
}

// Operations of the values that one statement computes.
class ValueCost : public Visitor {
 public:
  std::int64_t operations = 0;

  LATHE_DECL void expr(const AnyExpr& e) override {
    if (e.kind() == ExprKind::Load || !seen_.insert(e.get(), true)) return;
    if (const auto* n = e.as<BinaryNode>()) operations += !is_logic(n->op);
    if (const auto* n = e.as<UnaryNode>()) operations += n->op != UnaryOp::not_;
    if (const auto* n = e.as<CallNode>()) operations += of_call(*n);
    descend(e);
  }

 private:
  static std::int64_t of_call(const CallNode& n) {
    if (n.op == CallOp::fma) return 2;
    if (n.op == CallOp::reinterpret || n.op == CallOp::tile) return 0;
    if (!is_dot(n.op)) return 1;
    // Of tiles each lane of a is multiplied with as many of b as a row of sums has.
    if (n.op == CallOp::tile_dot)
      return std::int64_t{2} * n.args[1].dtype().lanes * shape_of_tiles(n).columns;
    return std::int64_t{2} * n.dtype.lanes * dot_lanes(n.op, 0).count;
  }

  NodeMap<bool> seen_;
};

LATHE_DECL std::int64_t value_cost(const AnyExpr& e) {
  ValueCost cost;
  if (e) cost.expr(e);
  return cost.operations;
}

// The operations of a statement, and whether they may be fewer.
class OperationCount {
 public:
  OperationCount(Facts facts, Vec<VarRef> outer)
      : facts_(std::move(facts)), outer_(std::move(outer)) {}
  bool exact = true;

  AnyExpr of(const Stmt& s) {
    switch (s.kind()) {
      case StmtKind::For:
        return of_loop(*s.as<ForNode>());
      case StmtKind::Block:
        return of_block(*s.as<BlockNode>());
      case StmtKind::Store:
        return AnyExpr(value_cost(s.as<StoreNode>()->value));
      case StmtKind::Atomic:
        return AnyExpr(value_cost(s.as<AtomicNode>()->value) + 1);
      case StmtKind::LetStmt:
        return size_sum(AnyExpr(value_cost(s.as<LetStmtNode>()->value)), children(s));
      case StmtKind::If:
        exact = false;
        return children(s);
      case StmtKind::While:
        exact = false;
        return {};
      default:
        return children(s);
    }
  }

 private:
  AnyExpr children(const Stmt& s) {
    AnyExpr total(0);
    any_child(s, [&](const Stmt& child) { return total = size_sum(total, of(child)), false; });
    return total;
  }
  AnyExpr of_loop(const ForNode& loop) {
    for (const auto& v : outer_) exact = exact && !uses_var(loop.extent, v);
    AnyExpr times = largest(loop.extent, outer_, facts_);
    OperationCount inside(facts_, outer_);
    inside.facts_.bind(loop);
    inside.outer_.push_back(loop.var);
    AnyExpr each = inside.of(loop.body);
    exact = exact && inside.exact;
    return size_product(times, each);
  }
  AnyExpr of_block(const BlockNode& block) {
    exact = exact && !block.predicate;
    for (const auto& it : block.iters)
      exact = exact && prove(it.binding >= it.min, facts_) &&
              prove(it.binding < it.min + it.extent, facts_);
    AnyExpr total = of(block.body);
    if (block.reducer)
      for (const auto& c : block.reducer->combine) total = size_sum(total, AnyExpr(value_cost(c)));
    return total;
  }

  Facts facts_;
  Vec<VarRef> outer_;
};

// Boxes that are surely touched in full, joined where they meet.
inline Vec<Region> touched_boxes(const Buffer& buffer, const Vec<AccessSite>& all,
                                 const Vec<VarRef>& inner, const Facts& facts) {
  Vec<Region> out;
  for (const auto& a : all) {
    if (a.buffer != buffer || a.kind == AccessKind::opaque) continue;
    if (a.condition.get() && !prove(a.condition, facts_for(a, inner, facts))) continue;
    Vec<IterDomain> loops;
    for (const auto& f : a.loops)
      if (contains_var(inner, f->var)) loops.push_back({f->var, f->min, f->extent});
    const IterMap map = iter_map(a.indices, loops, {}, facts);
    if (!map.covering) continue;
    Region box;
    box.buffer = buffer;
    for (const auto& s : map.sums) box.ranges.push_back({s.min, s.extent});
    out.push_back(std::move(box));
  }
  join_all(out, facts);
  return out;
}

inline bool has_extents(const Region& box, const Vec<AnyExpr>& extents, const Facts& facts) {
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (!prove_eq(box.ranges[d].extent, extents[d], facts)) return false;
  return true;
}

// A box's extent, at most the buffer's. An index that is data, of which its type alone is known,
// reaches the whole buffer.
inline AnyExpr clipped_extent(const AnyExpr& extent, const AnyExpr& whole, const Facts& facts) {
  constexpr std::int64_t kBeyondAnyTile = std::int64_t{1} << 31;
  const std::int64_t* number = extent ? as_const_int(extent) : nullptr;
  const bool beyond = !extent || (number && *number >= kBeyondAnyTile);
  return beyond || prove_le(whole, extent, facts) ? simplify(whole, facts) : extent;
}

// The parts of an access's condition that the inner loops don't change.
inline Vec<AnyExpr> outer_conditions(const AccessSite& site, const Vec<VarRef>& inner,
                                     const Facts& facts) {
  if (!site.condition) return {};
  Vec<AnyExpr> parts = conjuncts(simplify(site.condition, facts_for(site, inner, facts)));
  parts.erase_if([&](const AnyExpr& part) { return uses_any(part, inner); });
  return parts;
}

// Facts under which alone the buffer is touched: what all its accesses ask for.
inline Facts facts_where_touched(const Buffer& buffer, const Vec<AccessSite>& all,
                                 const Vec<VarRef>& inner, const Facts& facts) {
  std::optional<Vec<AnyExpr>> common;
  for (const auto& a : all) {
    if (a.buffer != buffer) continue;
    Vec<AnyExpr> own = outer_conditions(a, inner, facts);
    if (!common) common = own;
    common->erase_if([&](const AnyExpr& part) {
      for (const auto& other : own)
        if (same_expr(part, other)) return false;
      return true;
    });
    if (common->empty()) break;
  }
  Facts touched = facts;
  if (common)
    for (const auto& part : *common) touched.assume_before(part);
  return touched;
}

// What the accesses of one buffer reach with the inner loops relaxed, for any value of the outer.
inline Footprint footprint_of(const Buffer& buffer, const Vec<AccessSite>& all,
                              const Vec<VarRef>& inner, const Vec<VarRef>& outer,
                              const Facts& facts) {
  Footprint out;
  out.buffer = buffer;
  for (const auto& a : all)
    if (a.buffer == buffer) out.reads |= a.reads(), out.writes |= a.is_write;
  const RegionBound box = region_upper(buffer, all, inner, facts);
  const Facts touched = facts_where_touched(buffer, all, inner, facts);
  out.bytes = AnyExpr(static_cast<std::int64_t>(buffer->dtype.element_bytes()));
  for (std::size_t d = 0; d < buffer->shape.size(); ++d) {
    AnyExpr most = box.empty ? AnyExpr(0) : largest(box.region.ranges[d].extent, outer, touched);
    out.extents.push_back(clipped_extent(most, buffer->shape[d], facts));
    out.bytes = size_product(out.bytes, out.extents.back());
  }
  for (const auto& b : touched_boxes(buffer, all, inner, facts))
    out.exact = out.exact || has_extents(b, out.extents, facts);
  return out;
}

// The loops of the accesses below the named one (all loops, for none), each once.
inline Vec<VarRef> loops_below(const Vec<AccessSite>& all, const VarRef& loop) {
  Vec<VarRef> out;
  for (const auto& a : all) {
    bool inside = !loop;
    for (const auto& f : a.loops) {
      if (inside && !contains_var(out, f->var)) out.push_back(f->var);
      inside = inside || f->var == loop;
    }
  }
  return out;
}

}  // namespace detail

LATHE_DECL Work work_of(const Program& program, const VarRef& loop) {
  Facts facts(program);
  Stmt body = program->body;
  Vec<VarRef> outer;
  Vec<AccessSite> all;
  if (loop) {
    const LoopSite site = find_loop(program->body, loop);
    facts = facts_on(site.path, facts);
    facts.bind(*site.loop);
    outer = vars_of(site.loops);
    outer.push_back(loop);
    body = site.loop->body;
    all = accesses_below(site);
  } else {
    all = accesses(body, AccessTerms::loops, facts);
  }
  const Vec<VarRef> inner = detail::loops_below(all, loop);
  Work work;
  work.bytes = AnyExpr(0);
  NodeSet seen;
  for (const auto& a : all) {
    if (!seen.insert(a.buffer.get()).second) continue;
    work.buffers.push_back(detail::footprint_of(a.buffer, all, inner, outer, facts));
    work.bytes = detail::size_sum(work.bytes, work.buffers.back().bytes);
  }
  detail::OperationCount count(facts, outer);
  work.operations = count.of(body);
  work.exact = count.exact;
  return work;
}

}  // namespace lathe
