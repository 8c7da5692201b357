#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/ir/impl/verifier.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline void Verifier::stmt(const Stmt& s) {
  if (!ok()) return;
  if (!s) return fail("a statement is missing");
  path_.push_back(s.get());
  met_.drop(0);
  node(s);
  path_.pop_back();
}

inline void Verifier::node(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::For:
      return for_loop(*s.as<ForNode>());
    case StmtKind::Block:
      return block(*s.as<BlockNode>());
    case StmtKind::Alloc:
      return alloc(*s.as<AllocNode>());
    case StmtKind::Store:
      return store(*s.as<StoreNode>());
    case StmtKind::Atomic:
      return atomic(*s.as<AtomicNode>());
    case StmtKind::LetStmt: {
      const auto* n = s.as<LetStmtNode>();
      if (!check(bool(n->var) && bool(n->value), "a let without variable or value")) return;
      expr(n->value);
      if (ok() && n->var->dtype != n->value.dtype())
        fail(cat("'", n->var->name, "' has another type than its value"));
      bind(n->var.get(), n->var->name, true);
      stmt(n->body);
      return release(n->var.get());
    }
    case StmtKind::Seq:
      for (const auto& child : s.as<SeqNode>()->stmts) {
        check(!child.as<SeqNode>(), "a sequence in a sequence");
        stmt(child);
      }
      return;
    case StmtKind::If: {
      const auto* n = s.as<IfNode>();
      if (condition(n->condition, "a condition")) stmt(n->then_body);
      if (n->else_body) stmt(n->else_body);
      return;
    }
    case StmtKind::While: {
      const auto* n = s.as<WhileNode>();
      if (condition(n->condition, "a condition")) stmt(n->body);
      return;
    }
    case StmtKind::Assert:
      condition(s.as<AssertNode>()->condition, "an asserted condition");
      for (const auto& e : s.as<AssertNode>()->values) {
        expr(e);
        if (!check(e.dtype() == kIndex, "a value of an assertion is no i64")) return;
      }
      return;
    case StmtKind::Evaluate: {
      const auto& e = s.as<EvaluateNode>()->call;
      if (!check(e.as<CallNode>(), "an Evaluate of something that is no call")) return;
      in_evaluate_ = true;
      expr(e);
      in_evaluate_ = false;
    }
  }
}

inline void Verifier::loop_kind(const ForNode& n) {
  const bool done = n.loop_kind == ForKind::vectorized || n.loop_kind == ForKind::unrolled;
  if ((done && stage_ >= Stage::vector) || (is_bound(n.loop_kind) && stage_ >= Stage::loops))
    fail(cat("loop '", n.var->name, "' is ", to_text(n.loop_kind), " at stage ", to_text(stage_)));
  if (n.loop_kind == ForKind::unrolled && stage_ == Stage::blocks && !as_const_int(n.extent))
    fail(cat("loop '", n.var->name, "' is unrolled, but its extent is no number; split it first"));
  if (is_bound(n.loop_kind) && (axes_ & axis_bit(n)))
    fail(cat("loop '", n.var->name, "' is ", to_text(n.loop_kind), ", as a loop around it"));
}

// Of a loop, or of a block where that is none.
inline void Verifier::attributes(const Attributes& all, const ForNode* loop) {
  for (const auto* a = all.begin(); a != all.end(); ++a) {
    if (std::string problem = attribute_problem(*a, loop != nullptr); !problem.empty())
      fail(std::move(problem));
    const std::string what = cat("the annotation '", key_of(*a), "' of ",
                                 loop ? "loop '" + loop->var->name + "'" : "a block");
    if (loop && !may_carry(loop->loop_kind, *a))
      fail(cat(what, " is not for a loop that is ", to_text(loop->loop_kind)));
    if (stage_ > row_of(*a).last) fail(cat(what, " is not realised, at stage ", to_text(stage_)));
    for (const auto* other = all.begin(); other != a; ++other)
      if (exclude_each_other(*a, *other)) fail(what + " stands there twice");
  }
}

inline void Verifier::for_loop(const ForNode& n) {
  if (!check(bool(n.var), "a loop without a variable")) return;
  loop_kind(n), attributes(n.attributes, &n);
  if (!ok()) return;
  std::string what = cat("of loop '", n.var->name, "'");
  index(n.min, "the start " + what), index(n.extent, "the extent " + what);
  if (ok() && (n.min.dtype() != n.var->dtype || n.extent.dtype() != n.var->dtype))
    fail(cat("the bounds ", what, " have another type than its variable"));
  bind(n.var.get(), n.var->name, true);
  const unsigned around = axes_;
  if (is_bound(n.loop_kind)) axes_ |= axis_bit(n);
  stmt(n.body);
  axes_ = around;
  release(n.var.get());
}

inline void Verifier::alloc(const AllocNode& n) {
  buffer_fields(n.buffer, false);
  if (!ok()) return;
  if (stage_ >= Stage::flat && (n.buffer->rank() > 1 || !n.buffer->strides.empty()))
    return fail(cat("buffer '", n.buffer->name, "' is not flat"));
  bind(n.buffer.get(), n.buffer->name, false);
  stmt(n.body);
  release(n.buffer.get());
}

inline void Verifier::store(const StoreNode& n) {
  if (!check(bool(n.buffer) && bool(n.value), "a store without buffer or value")) return;
  auto problem = access_problem(n.buffer, n.indices, n.value.dtype(), n.mask);
  if (!problem.empty()) return fail(cat("store to '", n.buffer->name, "': ", problem));
  access(n.buffer, n.indices, true);
  for (const auto& i : n.indices) expr(i);
  if (n.mask) expr(n.mask);
  if (is_tile_value(n.value)) tile_value(n);
  expr(n.value);
}

inline void Verifier::tile_value(const StoreNode& n) {
  const auto& call = *n.value.as<CallNode>();
  const auto* first = call.args[0].as<LoadNode>();
  check(!n.mask.get(), "a tile that is stored under a mask");
  if (call.op == CallOp::tile_dot) {
    bool same = first && first->buffer == n.buffer && first->indices.size() == n.indices.size();
    for (std::size_t d = 0; same && d < n.indices.size(); ++d)
      same = structurally_equal(first->indices[d], n.indices[d]);
    check(same, "a tile_dot is not stored where its sum is");
  }
  for (const auto& a : call.args)
    if (const auto* load = a.as<LoadNode>();
        load ? load->mask.get() != nullptr : call.op == CallOp::tile_dot)
      return fail("an operand of a tile is no load of all of its lanes");
  tile_of_store_ = &call;
}

inline void Verifier::atomic(const AtomicNode& n) {
  if (!check(bool(n.buffer) && bool(n.value), "an atomic update without buffer or value")) return;
  auto problem = access_problem(n.buffer, n.indices, n.value.dtype(), {});
  if (!problem.empty()) return fail(cat("update of '", n.buffer->name, "': ", problem));
  check(!is_comparison(n.op), "an atomic update with a comparison");
  const AnyExpr element = make_var("x", n.buffer->dtype.scalar());
  auto unfit = typing_problem(make_binary(n.op, element, element));
  if (!unfit.empty()) return fail(cat("update of '", n.buffer->name, "': ", unfit));
  access(n.buffer, n.indices, true);
  for (const auto& i : n.indices) expr(i);
  expr(n.value);
}

inline void Verifier::block_iter(const IterVar& it) {
  if (!check(bool(it.var), "an iterator without a variable")) return;
  std::string what = cat("of iterator '", it.var->name, "'");
  index(it.min, "the start " + what), index(it.extent, "the extent " + what);
  bind(it.var.get(), it.var->name, false);
  --level_;
  index(it.binding, "the binding " + what);
  ++level_;
  if (ok() && (it.min.dtype() != it.var->dtype || it.extent.dtype() != it.var->dtype ||
               it.binding.dtype() != it.var->dtype))
    fail(cat("domain or binding ", what, " have another type than it"));
}

inline void Verifier::regions(const Vec<Region>& list) {
  for (const auto& region : list) {
    if (!ok() || !check(bool(region.buffer), "a region without a buffer") ||
        !use_buffer(region.buffer))
      return;
    if (static_cast<int>(region.ranges.size()) != region.buffer->rank())
      return fail(cat("a region of '", region.buffer->name, "' with another rank"));
    for (const auto& r : region.ranges)
      index(r.min, "a region's start"), index(r.extent, "a region's extent");
  }
}

inline void Verifier::block(const BlockNode& n) {
  if (!check(bool(n.tag), "a block without a tag")) return;
  if (stage_ != Stage::blocks)
    return fail(cat("block '", n.name(), "' at stage ", to_text(stage_)));
  if (!tags_.insert(n.tag.get()).second || !block_names_.insert(n.name()).second)
    return fail(cat("there are two blocks '", n.name(), "'"));
  blocks_.push_back(&n);
  ++level_;
  for (const auto& it : n.iters) block_iter(it);
  if (n.predicate) condition(n.predicate, cat("the predicate of block '", n.name(), "'"));
  regions(n.reads), regions(n.writes);
  check(!n.init || n.reducer, "a block with init and no reducer");
  attributes(n.attributes, nullptr), guards(n);
  if (n.reducer && ok()) reducer_block(n);
  stmt(n.body);
  --level_;
  for (const auto& it : n.iters) release(it.var.get());
  blocks_.pop_back();
}

/// The iterators that stand for guards are the last ones, and occur nowhere.
inline void Verifier::guards(const BlockNode& n) {
  const auto* guards = n.attributes.find<GuardsAttr>();
  if (!ok() || !guards) return;
  const std::int64_t count = guards->count;
  const auto all = static_cast<std::int64_t>(n.iters.size());
  if (count > all)
    return fail(cat("block '", n.name(), "' has ", all, " iterators, of which ", count,
                    " are marked as guards"));
  NodeSet named;
  for (const auto& v : free_vars(n.body)) named.insert(v.get());
  if (n.predicate)
    for (const auto& v : free_vars(n.predicate)) named.insert(v.get());
  for (std::int64_t k = all - count; k < all; ++k)
    if (const auto& var = n.iters[static_cast<std::size_t>(k)].var; named.contains(var.get()))
      fail(cat("iterator '", var->name, "' of block '", n.name(),
               "' is marked as a guard, but the block uses it"));
}

inline void Verifier::reducer_block(const BlockNode& n) {
  if (std::string problem = init_problem(n); !problem.empty()) return fail(std::move(problem));
  const ReducerNode& r = *n.reducer;
  if (reducers_.insert(&r).second) reducer(r);
  Vec<Stmt> stores = seq_of(n.body);
  if (stores.size() != r.combine.size())
    return fail(cat("block '", n.name(), "' has ", stores.size(), " stores, its reducer ",
                    r.combine.size(), " values"));
  for (std::size_t k = 0; k < stores.size() && ok(); ++k) {
    const auto* store = stores[k].as<StoreNode>();
    if (!store || store->mask.get())
      return fail(cat("the body of reduction block '", n.name(), "' is not plain stores"));
    if (store->value.dtype() != r.lhs[k]->dtype)
      fail(cat("block '", n.name(), "' folds ", store->value.dtype().str(), " with a reducer of ",
               r.lhs[k]->dtype.str()));
  }
}

inline void Verifier::reducer(const ReducerNode& r) {
  std::size_t count = r.combine.size();
  bool sizes =
      count > 0 && r.identity.size() == count && r.lhs.size() == count && r.rhs.size() == count;
  if (!sizes) return fail(cat("reducer '", r.name, "' has lists of different lengths"));
  for (std::size_t k = 0; k < count && ok(); ++k) {
    bool complete = bool(r.lhs[k]) && bool(r.rhs[k]) && bool(r.identity[k]) && bool(r.combine[k]);
    if (!complete) return fail(cat("reducer '", r.name, "' is incomplete"));
    DType t = r.lhs[k]->dtype;
    if (t.is_vector() || r.rhs[k]->dtype != t || r.identity[k].dtype() != t ||
        r.combine[k].dtype() != t)
      return fail(cat("reducer '", r.name, "': types of value ", k, " differ"));
    closed(r, r.identity[k], false), closed(r, r.combine[k], true);
  }
}

/// Expressions of a reducer are checked in a scope of their own, which holds nothing but its
/// operands.
inline void Verifier::closed(const ReducerNode& r, const AnyExpr& e, bool operands_visible) {
  Verifier inner(stage_, caps_);
  if (operands_visible)
    for (const auto* vars : {&r.lhs, &r.rhs})
      for (const auto& v : *vars) inner.bind(v.get(), v->name, false);
  inner.expr(e);
  if (!inner.ok()) fail(cat("reducer '", r.name, "': ", inner.reason()));
}

inline const IterVar* reduce_iter_in(const BlockNode& block, const AnyExpr& e) {
  for (const auto& it : block.iters)
    if (it.kind == IterKind::reduce && e.get() && uses_var(e, it.var)) return &it;
  return nullptr;
}

}  // namespace detail

LATHE_DECL std::string init_problem(const BlockNode& block) {
  if (!block.init) return {};
  auto problem = [&](const IterVar& it, std::string_view what) {
    return cat("block '", block.name(), "' sets the identity before its reduction, but ", what,
               " depends on '", it.var->name,
               "', which is reduced: fill it in a block of its own, then update it without "
               "init");
  };
  for (const auto& s : seq_of(block.body))
    if (const auto* store = s.as<StoreNode>())
      for (const auto& index : store->indices)
        if (const auto* it = detail::reduce_iter_in(block, index))
          return problem(*it, cat("an index of '", store->buffer->name, "'"));
  for (const auto& it : block.iters) {
    if (it.kind == IterKind::reduce) continue;
    for (const auto* end : {&it.min, &it.extent})
      if (const auto* by = detail::reduce_iter_in(block, *end))
        return problem(*by, cat("the domain of '", it.var->name, "'"));
  }
  return {};
}

}  // namespace lathe
