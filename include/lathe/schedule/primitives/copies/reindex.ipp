#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/primitives/copies/copies.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline constexpr CopyStep kReindex{"reindex", "L0232"};

// The accesses of a block to a buffer, which come at one place or at several.
class OneIndex : public Visitor {
 public:
  explicit OneIndex(const Buffer& buffer) : buffer_(buffer) {}
  Vec<AnyExpr> index;
  bool found = false, same = true;

  void block(const BlockNode& b) {
    if (b.predicate) expr(b.predicate);
    stmt(b.body);
  }
  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>(); n && n->buffer == buffer_) note(n->indices);
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == buffer_) note(n->indices);
    descend(s);
  }

 private:
  void note(const Vec<AnyExpr>& indices) {
    for (std::size_t d = 0; found && d < indices.size(); ++d)
      same = same && structurally_equal(index[d], indices[d]);
    index = indices;
    found = true;
  }
  const Buffer& buffer_;
};

// Every access goes to the same place.
class MoveToPlace : public MoveAccesses {
 public:
  MoveToPlace(const Buffer& from, const Buffer& to, const Vec<AnyExpr>& at)
      : MoveAccesses(from, to), at_(at) {}

 private:
  Vec<AnyExpr> place(const Vec<AnyExpr>&) override { return at_; }
  const Vec<AnyExpr>& at_;
};

/// A buffer as a block sees it: one axis an iterator.
struct ReindexPlan {
  BlockSite site;
  Buffer from;
  Vec<AnyExpr> index;      ///< where the block touches it
  Vec<std::size_t> axes;   ///< the iterators that are axes of the copy
  Vec<AnyExpr> shape, at;  ///< of the copy, and where the block touches that
  std::string_view id = kReindex.id;
};

inline Refusal reindex_refusal(const ReindexPlan& plan, const std::string& why,
                               std::string help = {}) {
  return refusal_at(plan.site.block->tag, plan.id,
                    "block " + in_quotes(plan.site.block->name()) + " " + why, std::move(help));
}

inline std::string index_text(const ReindexPlan& plan) {
  return plan.from->name + "[" + join(plan.index, ", ", [](const AnyExpr& e) { return str(e); }) +
         "]";
}

// The index says where the copy reads or writes, before the block runs or after it.
inline Verdict check_index(const Program& program, const ReindexPlan& plan) {
  const BlockNode& block = *plan.site.block;
  Facts facts = program_facts(program);
  for (const auto& it : block.iters) facts.bind(it);
  for (const AnyExpr& at : plan.index) {
    for (const auto& var : free_vars(at)) {
      bool known = false;
      for (const auto& it : block.iters) known |= it.var == var;
      if (!known && !is_dim(program, var))
        return reindex_refusal(plan, "touches " + index_text(plan) + ", where " +
                                         in_quotes(var->name) + " is none of its iterators");
    }
    if (!buffers_read(make_ref<EvaluateNode>(at)).empty())
      return reindex_refusal(plan, "reads the index of " + index_text(plan) + " from memory");
  }
  if (surely_inside(*plan.from, plan.index, facts)) return {};
  return reindex_refusal(plan,
                         "is not proved to stay inside of the buffer at " + index_text(plan) +
                             " for all of its iterators: the copy would not",
                         "cache_read copies what lies inside");
}

inline bool is_axis(const ReindexPlan& plan, const IterVar& it, bool written) {
  if (written) return it.kind != IterKind::reduce;
  for (const auto& at : plan.index)
    if (uses_var(at, it.var)) return true;
  return false;
}

inline Verdict plan_axes(const Program& program, ReindexPlan& plan, bool written) {
  const BlockNode& block = *plan.site.block;
  std::int64_t elements = 1;
  for (std::size_t k = 0; k + guard_count(block) < block.iters.size(); ++k) {
    const IterVar& it = block.iters[k];
    if (!is_axis(plan, it, written)) continue;
    for (const auto* bound : {&it.min, &it.extent})
      for (const auto& var : free_vars(*bound))
        if (!is_dim(program, var))
          return reindex_refusal(plan, "has the iterator " + in_quotes(it.var->name) +
                                           ", whose domain depends on " + in_quotes(var->name));
    if (!is_load_free(it.min) || !is_load_free(it.extent))
      return reindex_refusal(plan, "has the iterator " + in_quotes(it.var->name) +
                                       ", whose domain is read from memory");
    const std::int64_t* extent = as_const_int(it.extent);
    if (extent && __builtin_mul_overflow(elements, std::max<std::int64_t>(1, *extent), &elements))
      return reindex_refusal(plan, "has a domain of more than 2^63 points");
    plan.axes.push_back(k);
    plan.shape.push_back(it.extent);
    plan.at.push_back(fold_sub(AnyExpr(it.var), it.min));
  }
  return {};
}

inline Verdict plan_reindex(const Program& program, ReindexPlan& plan, bool written) {
  OneIndex place(plan.from);
  place.block(*plan.site.block);
  plan.index = place.index;
  if (!place.found || !place.same)
    return reindex_refusal(plan,
                           "does not touch " + in_quotes(plan.from->name) + " at one place only");
  if (auto no = check_index(program, plan)) return no;
  return plan_axes(program, plan, written);
}

// copy[iterators] = value, over fresh iterators for the axes.
inline BlockNode block_over_axes(const ReindexPlan& plan, const Buffer& copy, const BlockTag& tag,
                                 const AnyExpr& value) {
  Vec<IterVar> iters;
  Substitution map;
  for (std::size_t k : plan.axes) {
    IterVar it = plan.site.block->iters[k];
    VarRef old = it.var;
    it.var = make_var(old->name), it.kind = IterKind::spatial;
    map.emplace_back(old, AnyExpr(it.var));
    iters.push_back(std::move(it));
  }
  Vec<AnyExpr> to;
  for (const auto& e : plan.at) to.push_back(substitute(e, map));
  return BlockNode(tag, std::move(iters), make_store(copy, to, fresh_lets(substitute(value, map))));
}

inline Verdict run_reindex_read(const Program& program, ReindexPlan& plan, Edit* edit) {
  if (auto no = check_cache_read(program, plan.site, plan.from, kReindex)) return no;
  if (auto no = plan_reindex(program, plan, false)) return no;
  const BlockNode& block = *plan.site.block;
  CopyIn copy(plan.site, {plan.from});
  std::string name = NamePool(program).fresh(plan.from->name + "_reindex");
  copy.to = make_buffer(name, plan.from->dtype, plan.shape, Scope::global);
  copy.copy.emplace(block_over_axes(plan, copy.to, make_ref<BlockTagNode>(name),
                                    make_load(plan.from, plan.index)));
  Facts facts = facts_on(plan.site.path, program_facts(program));
  if (!ranges_inside(*copy.copy, loops_within(plan.site.loops, copy.outside()),
                     plan.site.path[copy.at], facts, copy.ranges))
    return reindex_refusal(plan, "has iterators without a bound in one iteration");
  BlockNode reader = block;
  MoveToPlace move(plan.from, copy.to, plan.at);
  reader.body = move.stmt(reader.body);
  if (reader.predicate) reader.predicate = move.expr(reader.predicate);
  copy.reader = make_block(std::move(reader));
  return run_copy_in(program, copy, kReindex, edit);
}

// buffer[index] = copy[iterators], for the spatial iterators.
inline Verdict run_reindex_write(const Program& program, ReindexPlan& plan, Edit* edit) {
  if (auto no = check_cache_write(program, plan.site, kReindex)) return no;
  const BlockNode& block = *plan.site.block;
  if (!only_store(block))
    return refusal_at(block.tag, kReindex.id,
                      "block " + in_quotes(block.name()) + " is not one store");
  if (auto no = plan_reindex(program, plan, true)) return no;
  CopyOut copy;
  copy.site = plan.site;
  NamePool names(program);
  const Buffer to = make_buffer(names.fresh(plan.from->name + "_reindex"), plan.from->dtype,
                                plan.shape, Scope::global);
  copy.to = {to};
  BlockTag tag = make_ref<BlockTagNode>(names.fresh(plan.from->name + "_copy"));
  copy.copy.emplace(copy_out_block(block, tag, copy.to, {plan.at}));
  BlockNode writer = block;
  writer.body = MoveToPlace(plan.from, to, plan.at).stmt(writer.body);
  writer.attributes = after(Change::divert, writer.attributes);
  copy.writer = make_block(std::move(writer));
  return run_copy_out(program, copy, kReindex, edit);
}

inline Verdict run_reindex(const Program& program, const Args& args, Edit* edit) {
  ReindexPlan plan;
  plan.site = find_block(program->body, args[0].block);
  plan.from = find_buffer(program, args[1].text);
  return writes_buffer(*plan.site.block, plan.from) ? run_reindex_write(program, plan, edit)
                                                    : run_reindex_read(program, plan, edit);
}

LATHE_DECL const Primitive& primitive_reindex() {
  static const Primitive record{"reindex",
                                1,
                                {{"block", ArgKind::block}, {"buffer", ArgKind::buffer}},
                                "a block touches a copy of a buffer by its own iterators",
                                run_reindex,
                                ArgKind::block,
                                Results::one};
  return record;
}

}  // namespace lathe::detail
