#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/print.hpp>

namespace lathe {
namespace detail {

LATHE_DECL std::string describe(const AccessSite& a) {
  std::string out = a.block ? "block '" + a.block->name() + "' " : "a statement ";
  if (a.atomic) out += "atomically ";
  out += a.kind == AccessKind::update ? "updates " : a.is_write ? "writes " : "reads ";
  out += a.buffer->name;
  for (std::size_t d = 0; d < a.indices.size(); ++d) {
    const auto* var = a.indices[d].as<VarNode>();
    const bool unknown = var && contains(a.unknown, VarRef(var));
    out += (d ? ", " : "[") + (unknown ? std::string("...") : str(simplify(a.indices[d])));
  }
  return out + (a.indices.empty() ? "" : "]");
}

inline bool in_any_order(const AccessSite& a) {
  return a.block && a.block->attributes.has<AnyOrderAttr>();
}
/// Two atomic updates whose order nobody can tell, or may; what else reads the element is another
/// access.
inline bool order_free(const AccessSite& a, const AccessSite& b) {
  return a.atomic && a.atomic == b.atomic &&
         (atomics_commute(*a.atomic, a.buffer->dtype) || (in_any_order(a) && in_any_order(b)));
}

inline Carried make_carried(const AccessSite& a, const AccessSite& b, bool proven,
                            const std::string& loops) {
  Carried out{a, b, proven, {}};
  out.explanation = describe(a) + (a.order == b.order ? "" : " and " + describe(b)) +
                    ": different iterations of " + loops + (proven ? " touch" : " may touch") +
                    " one element";
  if (a.atomic && a.atomic == b.atomic)
    out.explanation += ", and the order of '" + std::string(op_text(*a.atomic)) + "' of " +
                       a.buffer->dtype.str() + " shows in the result";
  return out;
}

/// The accesses below a loop to buffers that outlive it and are written there, and what holds
/// around the loop.
struct LoopAccesses {
  LoopSite site;
  Facts facts;
  Vec<AccessSite> all;

  LoopAccesses(const Stmt& root, const VarRef& loop, const Facts& around)
      : site(find_loop(root, loop)) {
    if (!site.loop) return;
    facts = facts_on(site.path, around);
    Vec<AccessSite> found = accesses(Stmt(site.loop), AccessTerms::loops, facts);
    Vec<Buffer> written;
    for (const auto& a : found)
      if (a.is_write) add_once(written, a.buffer);
    for (auto& a : found) {
      bool kept = false;
      for (const auto& b : written) kept = kept || b == a.buffer;
      if (kept && !is_private(site.loop->body, a.buffer)) all.push_back(std::move(a));
    }
  }
};

template <class F>
void each_conflict(const Vec<AccessSite>& all, F&& f) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i; j < all.size(); ++j)
      if (all[i].buffer == all[j].buffer && (all[i].is_write || all[j].is_write) &&
          !f(all[i], all[j]))
        return;
}

/// The positions in a chain, but for its first, of the loops that decide when the init of an update
/// runs before the other access: those around the reduction. None where the other access is not in
/// the reduction, and stands to the init as it does to the update.
inline std::optional<Vec<std::size_t>> loops_around_init(const AccessSite& update,
                                                         const AccessSite& other,
                                                         const Vec<ForRef>& chain) {
  if (update.kind != AccessKind::update || !update.block || !update.block->init)
    return std::nullopt;
  Vec<std::size_t> around;
  for (std::size_t k = 1; k < chain.size(); ++k) {
    if (feeds(*chain[k], *update.block, IterKind::reduce)) return around;
    around.push_back(k);
  }
  if (other.block != update.block) return std::nullopt;
  return around;
}

inline int lead(const Vec<Direction>& v, const Vec<std::size_t>& order) {
  for (std::size_t k : order) {
    if (v[k] == Direction::eq) continue;
    return v[k] == Direction::lt ? 1 : v[k] == Direction::gt ? -1 : 2;
  }
  return 0;
}

}  // namespace detail

LATHE_DECL bool atomics_commute(BinaryOp op, DType t) {
  switch (op) {
    case BinaryOp::min:
    case BinaryOp::max:
      return true;
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
      return !t.is_float();
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
    case BinaryOp::and_:
    case BinaryOp::or_:
      return true;
    default:
      return false;
  }
}

LATHE_DECL std::optional<Carried> carried_by(const Stmt& root, const VarRef& loop,
                                             const Facts& facts) {
  detail::LoopAccesses below(root, loop, facts);
  std::optional<Carried> out;
  detail::each_conflict(below.all, [&](const AccessSite& a, const AccessSite& b) {
    if (detail::order_free(a, b)) return true;
    DependenceVectors d = dependence(a, b, {below.site.loop}, below.facts);
    bool carried = false;
    for (const auto& v : d.vectors) carried = carried || v[0] != Direction::eq;
    if (!carried) return true;
    const bool proven =
        d.answer == Answer::yes || surely_meet(a, b, {below.site.loop}, below.facts);
    out = detail::make_carried(a, b, proven, "'" + loop->name + "'");
    return false;
  });
  return out;
}

LATHE_DECL std::optional<Carried> reorder_violation(const Stmt& root, const Vec<VarRef>& loops,
                                                    const Vec<std::size_t>& order,
                                                    const Facts& facts) {
  if (loops.empty()) return std::nullopt;
  detail::LoopAccesses below(root, loops[0], facts);
  Vec<ForRef> chain;
  Vec<std::size_t> before;
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
    if (detail::order_free(a, b)) return true;
    auto violates = [&](const Vec<Direction>& v) {
      const int was = detail::lead(v, before), is = detail::lead(v, order);
      return was != is || was == 2;
    };
    DependenceVectors d = dependence(a, b, chain, below.facts, violates);
    if (!std::any_of(d.vectors.begin(), d.vectors.end(), violates)) return true;
    out = detail::make_carried(a, b, d.answer == Answer::yes, names);
    return false;
  });
  return out;
}

LATHE_DECL std::optional<Carried> lockstep_violation(const Stmt& root, const VarRef& loop,
                                                     const Facts& facts) {
  detail::LoopAccesses below(root, loop, facts);
  std::optional<Carried> out;
  detail::each_conflict(below.all, [&](const AccessSite& a, const AccessSite& b) {
    Vec<ForRef> chain;
    for (std::size_t k = 0;
         k < a.loops.size() && k < b.loops.size() && a.loops[k]->var == b.loops[k]->var; ++k)
      chain.push_back(a.loops[k]);
    Vec<std::size_t> inner;
    for (std::size_t k = 1; k < chain.size(); ++k) inner.push_back(k);
    const auto init_of_a = detail::loops_around_init(a, b, chain),
               init_of_b = detail::loops_around_init(b, a, chain);
    auto violates = [&](const Vec<Direction>& v) {
      if (v[0] == Direction::eq) return false;
      // 1: b comes later, -1: a does, 0: in one statement or as written (a stands before b). In
      // lockstep the inner loops decide first, then the text, then the lane.
      const int was = v[0] == Direction::lt ? 1 : v[0] == Direction::gt ? -1 : 2;
      auto is = [&](const Vec<std::size_t>& loops, int in_text) {
        const int decided = detail::lead(v, loops);
        return decided ? decided : in_text;
      };
      return was == 2 || was != is(inner, a.order != b.order) ||
             (init_of_a && was != is(*init_of_a, 1)) || (init_of_b && was != is(*init_of_b, -1));
    };
    DependenceVectors d = dependence(a, b, chain, below.facts, violates);
    if (!std::any_of(d.vectors.begin(), d.vectors.end(), violates)) return true;
    out = detail::make_carried(a, b, d.answer == Answer::yes, "'" + loop->name + "'");
    return false;
  });
  return out;
}

}  // namespace lathe
