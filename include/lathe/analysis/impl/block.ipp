#pragma once

#include <cmath>
#include <lathe/analysis/block.hpp>
#include <lathe/arith/determined.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/reducer_law.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

// combine(x, identity) is x, bit for bit.
inline bool exact_identity(BinaryOp op, const AnyExpr& identity) {
  const auto* c = identity.as<ConstNode>();
  if (!c) return false;
  const bool is_float = c->dtype.is_float();
  ConstInterval type = range_of_type(c->dtype);
  switch (op) {
    case BinaryOp::add:
      return is_float ? c->f == 0 && std::signbit(c->f) : c->i == 0;
    case BinaryOp::mul:
      return is_float ? c->f == 1 : c->i == 1;
    case BinaryOp::or_:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
      return c->i == 0;
    case BinaryOp::and_:
      return c->i == 1;
    case BinaryOp::bit_and:
      return is_const(simplify(make_unary(UnaryOp::bit_not, identity)), 0);
    case BinaryOp::max:
    case BinaryOp::fast_max:
      return is_float ? std::isinf(c->f) && c->f < 0 : c->i == type.min;
    case BinaryOp::min:
    case BinaryOp::fast_min:
      if (is_float) return std::isinf(c->f) && c->f > 0;
      return c->dtype == kU64 ? c->i == -1 : c->i == type.max;
    default:
      return false;
  }
}

// combine = op(lhs, rhs) in either order, for one of the table's operators.
inline bool match_combiner(const ReducerNode& r, std::size_t k, ReducerInfo& out) {
  const auto* n = r.combine[k].as<BinaryNode>();
  if (!n) return false;
  const AnyExpr lhs(r.lhs[k]), rhs(r.rhs[k]);
  const bool straight = n->a.same_as(lhs) && n->b.same_as(rhs),
             crossed = n->a.same_as(rhs) && n->b.same_as(lhs);
  if (!straight && !crossed) return false;
  out.op = n->op;
  const CombinerRow* row = find_combiner(n->op);
  const bool is_float = n->a.dtype().is_float();
  if (row && (is_float ? row->floats : row->ints)) {
    out.kind = ReducerClass::reorder;
    out.reassociates = is_float && row->rounds;
    out.identity_exact = exact_identity(n->op, r.identity[k]);
    return true;
  }
  out.kind = ReducerClass::fold;
  out.why = "the combining operator is not associative";
  return true;
}

// Each component combines by itself with an operator of the table.
inline bool match_components(const ReducerNode& r, ReducerInfo& out) {
  out.kind = ReducerClass::reorder;
  out.identity_exact = true;
  for (std::size_t k = 0; k < r.combine.size(); ++k) {
    ReducerInfo one;
    if (!match_combiner(r, k, one)) return false;
    if (one.kind != ReducerClass::reorder) out.kind = one.kind, out.why = one.why;
    out.reassociates = out.reassociates || one.reassociates;
    out.identity_exact = out.identity_exact && one.identity_exact;
    if (r.combine.size() == 1) out.op = one.op;
  }
  return true;
}

inline bool any_float(const ReducerNode& r) {
  for (const auto& e : r.combine)
    if (e.dtype().is_float()) return true;
  return false;
}

// Blocks

/// What a body holds besides loads and stores.
class BodyScan : public Visitor {
 public:
  void expr(const AnyExpr& e) override {
    const auto* c = e.as<CallNode>();
    impure = impure || (c && !op_pure(c->op) && c->op != CallOp::prefetch);
    descend(e);
  }
  void stmt(const Stmt& s) override {
    atomics = atomics || s.kind() == StmtKind::Atomic;
    whiles = whiles || s.kind() == StmtKind::While;
    if (const auto* a = s.as<AllocNode>()) allocated.push_back(a->buffer);
    descend(s);
  }
  bool impure = false, atomics = false, whiles = false;
  Vec<Buffer> allocated;
};

class BlockJudge {
 public:
  BlockJudge(const BlockNode& block, const Facts& facts) : block_(block), facts_(facts) {
    BodyScan scan;
    scan.stmt(block.body);
    scan_ = std::move(scan);
    for (auto& a : accesses(block)) {
      bool local = false;
      for (const auto& b : scan_.allocated) local = local || b == a.buffer;
      if (!local) sites_.push_back(std::move(a));
    }
  }
  BlockInfo run();
  Vec<Buffer> outputs() const {
    Vec<Buffer> out;
    for (const auto& a : sites_)
      if (a.is_write) add_once(out, a.buffer);
    return out;
  }

 private:
  bool has_kind(IterKind kind) const {
    for (const auto& it : block_.iters)
      if (it.kind == kind) return true;
    return false;
  }
  void judge_reduction(BlockInfo& info);
  void judge_complete(BlockInfo& info);
  bool injective(std::string& why);
  bool in_place() const;
  void ordered(BlockInfo& info, const char* why) {
    info.kind = BlockClass::ordered;
    if (info.why.empty()) info.why = why;
  }

  const BlockNode& block_;
  Facts facts_;
  BodyScan scan_;
  Vec<AccessSite> sites_;
};

// Each variable is an index by itself.
inline bool stands_alone(const Vec<AnyExpr>& indices, const Vec<IterDomain>& domain) {
  for (const auto& d : domain) {
    bool found = false;
    for (const auto& i : indices) found = found || i.get() == d.var.get();
    if (!found) return false;
  }
  return true;
}

// Every store's index map is injective over the spatial iterators and the loops inside the block.
LATHE_DECL bool BlockJudge::injective(std::string& why) {
  for (const auto& a : sites_) {
    if (!a.is_write) continue;
    if (a.kind == AccessKind::opaque) return false;
    LoadedBuffers loads;
    for (const auto& i : a.indices) loads.expr(i);
    if (!loads.found.empty()) {
      why = "a store index reads memory";
      return false;
    }
    Vec<IterDomain> domain;
    for (const auto& it : block_.iters)
      if (it.kind != IterKind::reduce) domain.push_back({it.var, it.min, it.extent});
    for (const auto& f : a.loops) domain.push_back({f->var, f->min, f->extent});
    if (stands_alone(a.indices, domain)) continue;
    IterMap map = iter_map(a.indices, domain, {}, facts_);
    if (map.injective || tell_apart(a.indices, domain, {}, facts_)) continue;
    why = "different instances may store to one element of '" + a.buffer->name +
          "': " + std::string(map.why);
    return false;
  }
  return true;
}

LATHE_DECL bool BlockJudge::in_place() const {
  // A block has many reads, each use of a shared part by itself, and stores to few buffers.
  Vec<Buffer> written;
  for (const auto& w : sites_)
    if (w.is_write) add_once(written, w.buffer);
  for (const auto& r : sites_)
    if (r.reads() && r.kind != AccessKind::update && contains(written, r.buffer)) return true;
  return false;
}

LATHE_DECL void BlockJudge::judge_reduction(BlockInfo& info) {
  info.reducer = classify(*block_.reducer);
  info.kind = BlockClass::reduction;
  for (const auto& a : sites_) {
    if (!a.is_write) continue;
    for (const auto& i : a.indices)
      for (const auto& it : block_.iters)
        if (it.kind == IterKind::reduce && uses_var(i, it.var))
          return ordered(info, "a store index uses a reduce iterator");
  }
  if (!info.injective) return ordered(info, "different spatial points may update one element");
  if (info.in_place) return ordered(info, "it reads its output besides accumulating into it");
}

LATHE_DECL void BlockJudge::judge_complete(BlockInfo& info) {
  info.kind = BlockClass::complete;
  if (has_kind(IterKind::reduce)) return ordered(info, "it has reduce iterators but no reducer");
  if (scan_.atomics) return ordered(info, "it has atomic updates");
  if (scan_.whiles) return ordered(info, "it has a while loop");
  if (info.in_place) return ordered(info, "it reads what it writes");
  Vec<Buffer> seen;
  for (const auto& a : sites_) {
    if (!a.is_write) continue;
    const std::size_t before = seen.size();
    add_once(seen, a.buffer);
    if (seen.size() == before) return ordered(info, "it stores to one buffer in several places");
  }
  if (!info.injective) return ordered(info, "different instances may store to one element");
}

LATHE_DECL BlockInfo BlockJudge::run() {
  BlockInfo info;
  info.in_place = in_place();
  info.injective = injective(info.why);
  if (has_kind(IterKind::opaque) || !block_.reads.empty() || !block_.writes.empty() ||
      scan_.impure) {
    info.kind = BlockClass::opaque;
    info.why = scan_.impure ? "it has a call that is not pure" : "it is opaque";
  } else if (block_.reducer) {
    judge_reduction(info);
  } else {
    judge_complete(info);
  }
  return info;
}

}  // namespace detail

LATHE_DECL std::string_view to_text(BlockClass c) {
  static constexpr std::string_view texts[] = {"complete", "reduction", "ordered", "opaque"};
  return texts[static_cast<int>(c)];
}

LATHE_DECL ReducerInfo classify(const ReducerNode& r) {
  ReducerInfo info;
  const bool known = detail::match_components(r, info);
  if (!known) {
    info = {};
    const bool arg = is_arg_reducer(r);
    info.kind = r.associative ? ReducerClass::reorder : ReducerClass::fold;
    info.reassociates = !arg && detail::any_float(r);
  }
  if (!r.associative) info.kind = ReducerClass::fold;
  if (r.associative && !r.commutative && info.kind == ReducerClass::reorder)
    info.kind = ReducerClass::sequence;
  if (info.kind == ReducerClass::reorder || !info.why.empty()) return info;
  info.why = r.associative ? "the reducer is not commutative" : "the reducer is not associative";
  if (r.associative) return info;
  if (std::string problem = identity_problem(r); !problem.empty()) info.why += ": " + problem;
  return info;
}

LATHE_DECL BlockInfo classify(const BlockNode& block, const Facts& facts) {
  return detail::BlockJudge(block, facts).run();
}

LATHE_DECL BlockInfo classify(const Stmt& root, const BlockTag& tag, const Facts& facts) {
  BlockSite site = find_block(root, tag);
  if (!site.block) return {};
  detail::BlockJudge judge(*site.block, facts_on(site.path, facts));
  BlockInfo info = judge.run();
  const Vec<Buffer> outputs = judge.outputs();
  detail::any_use_of(outputs, root, [&](const detail::BufferUse& use) {
    // What is nested inside the block belongs to it.
    if (!use.is_write || (use.block && find_block(site.block->body, use.block->tag).block))
      return false;
    if (use.block && use.block->tag == tag) return false;
    info.sole_writer = false;
    std::string other = use.block ? "block '" + use.block->name() + "'" : "a statement in no block";
    if (info.why.empty()) info.why = other + " also writes '" + use.buffer->name + "'";
    return true;
  });
  return info;
}

LATHE_DECL bool feeds(const ForNode& loop, const BlockNode& block, IterKind kind) {
  for (const auto& it : block.iters)
    if (it.kind == kind && uses_var(it.binding, loop.var)) return true;
  return false;
}

}  // namespace lathe
