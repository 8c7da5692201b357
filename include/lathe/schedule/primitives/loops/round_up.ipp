#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/region.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// A loop that runs on past its end: iterators, and the temporaries that their blocks store, become
// longer with it, so that no instance is left out and nothing that was there before is another.
// What is computed past the end is read, if at all, past the end of other such blocks.
class RunPastEnd {
 public:
  RunPastEnd(const Program& program, const LoopSite& site, const AnyExpr& extent)
      : before_(program),
        site_(site),
        extent_(extent),
        facts_(program_facts(program)),
        more_(simplify(fold_sub(extent, site.loop->extent), facts_)) {}

  Program after;
  std::string why;  ///< why not, if it is not right

  bool run() {
    LoopHead head = head_of(*site_.loop);
    head.extent = extent_;
    if (has_bare_statement(site_.loop->body)) return no("it holds statements in no block");
    after = before_.with(replace_at(site_.path, wrap_loops({head}, site_.loop->body)));
    for (const auto& site : blocks_below(site_.loop->body))
      if (!widen(*site.block)) return false;
    for (const auto& [block, iter] : wider_)
      if (!reads_inside(block, iter)) return false;
    return true;
  }

 private:
  bool no(std::string reason) {
    why = std::move(reason);
    return false;
  }

  bool widen(const BlockNode& block) {
    const std::string name = "block " + in_quotes(block.name());
    const BlockInfo info = info_of(before_, block.tag);
    if (!info.is_complete() && !info.is_reduction())
      return no(name + " can't run on: " +
                (info.why.empty() ? std::string(to_text(info.kind)) : info.why));
    if (!info.sole_writer) return no("others write what " + name + " writes");
    if (block.reducer && !block.init) return no(name + " was separated from its init");
    if (block.predicate.get() || guard_count(block) > 0)
      return no(name + " has a predicate or a guard");
    if (feeds(*site_.loop, block, IterKind::reduce)) return no("it feeds the reduction of " + name);
    const IterVar* iter = iter_of_loop(block);
    if (!iter) return no(name + " has no iterator that is this loop, over all of its domain");
    const BlockSite site = find_block(after->body, block.tag);
    BlockNode wide = *site.block;
    for (auto& it : wide.iters)
      if (it.var == iter->var) it.extent = extent_;
    after = after.with(replace_at(site.path, make_block(std::move(wide))));
    wider_.emplace_back(block.tag, iter->var);
    const Vec<const StoreNode*> stores = stores_of(block);
    if (stores.empty()) return no(name + " is more than stores");
    for (const auto* store : stores)
      if (!lengthen(block, *iter, *store)) return false;
    return true;
  }

  // The one iterator that the loop feeds: loop + shift, in a domain that no other names.
  const IterVar* iter_of_loop(const BlockNode& block) const {
    const ForNode& loop = *site_.loop;
    const IterVar* found = nullptr;
    for (const auto& it : block.iters) {
      if (!uses_var(it.binding, loop.var)) continue;
      const AnyExpr shift = simplify(fold_sub(it.binding, AnyExpr(loop.var)), facts_);
      if (found || it.kind != IterKind::spatial || !over_dims(before_, shift) ||
          !prove_eq(fold_add(loop.min, shift), it.min, facts_) ||
          !prove_eq(loop.extent, it.extent, facts_))
        return nullptr;
      found = &it;
    }
    for (const auto& it : block.iters)
      if (found && (uses_var(it.min, found->var) || uses_var(it.extent, found->var)))
        return nullptr;
    return found;
  }

  // The buffer gets room for what the block stores past its end, where nothing was before.
  bool lengthen(const BlockNode& block, const IterVar& iter, const StoreNode& store) {
    const Buffer buffer = find_buffer(after, store.buffer->name);
    const std::string name = "buffer " + in_quotes(buffer->name);
    if (!is_private(after->body, buffer))
      return no("block " + in_quotes(block.name()) + " stores to " + name +
                ", which is a parameter and has no room past its end");
    if (!buffer->strides.empty() || any_use(after->body, [&](const BufferUse& use) {
          return use.buffer == buffer && use.kind == AccessKind::opaque;
        }))
      return no(name + " has strides, or is used by an opaque block");
    Facts past = facts_;
    for (const auto& it : block.iters)
      if (it.var == iter.var)
        past.bind(it.var, fold_add(it.min, it.extent), more_);
      else
        past.bind(it);
    BufferNode longer = *buffer;
    bool apart = false;
    for (std::size_t d = 0; d < store.indices.size(); ++d) {
      if (!uses_var(store.indices[d], iter.var)) continue;
      apart |= prove_le(store.buffer->shape[d], store.indices[d], past);
      if (!prove_lt(store.indices[d], buffer->shape[d], past))
        longer.shape[d] = prove_eq(buffer->shape[d], site_.loop->extent, facts_)
                              ? extent_
                              : simplify(fold_add(buffer->shape[d], more_), facts_);
    }
    if (!apart || !surely_inside(longer, store.indices, past) || !is_countable(longer))
      return no("what block " + in_quotes(block.name()) + " stores past its end in " + name +
                " is not proven to lie past the end of one of its dimensions");
    after = after.with(replace_buffer(after->body, buffer, Buffer(new BufferNode(longer))));
    return true;
  }

  static bool is_countable(const BufferNode& buffer) {
    std::int64_t elements = 1;
    for (const auto& extent : buffer.shape)
      if (const std::int64_t* n = as_const_int(extent);
          n && __builtin_mul_overflow(elements, std::max<std::int64_t>(1, *n), &elements))
        return false;
    return true;
  }

  // What a block reads past its end is there: inside of buffers, and stored before.
  bool reads_inside(const BlockTag& tag, const VarRef& iter) {
    const BlockSite site = find_block(after->body, tag);
    const BlockNode& block = *site.block;
    Facts inside = facts_;
    for (const auto& it : block.iters) inside.bind(it);
    const Vec<Buffer> own = buffers_written(block.body);
    for (const auto& read : accesses(block)) {
      if (!read.reads() || contains(own, read.buffer)) continue;
      bool moves = read.inner_condition.get() && uses_var(read.inner_condition, iter);
      for (const auto& index : read.inner_indices) moves |= uses_var(index, iter);
      if (!moves && read.kind == AccessKind::read) continue;
      Facts here = inside;
      if (read.inner_condition) here.assume(read.inner_condition);
      const std::string what =
          "block " + in_quotes(tag->name) + " reads " + in_quotes(read.buffer->name);
      if (read.kind != AccessKind::read || !surely_inside(*read.buffer, read.inner_indices, here))
        return no(what + (is_private(after->body, read.buffer)
                              ? ", which ends where it did: round the loop of its producer up first"
                              : ", which is not proven to reach past the end"));
      if (!is_stored(tag, read.buffer)) return no(what + " past the end, where nothing was stored");
    }
    return true;
  }

  bool is_stored(const BlockTag& tag, const Buffer& buffer) const {
    for (const auto& p : after->params)
      if (p.buffer == buffer) return p.access != Access::out;
    Vec<BlockTag> others;
    for (const auto& w : writers(after->body, buffer)) others.push_back(w.block->tag);
    return !others.empty() &&
           why_not_found(after->body, others, tag, buffer, VarRef(), facts_).empty();
  }

  const Program& before_;
  const LoopSite& site_;
  const AnyExpr extent_;
  const Facts facts_;
  const AnyExpr more_;  ///< iterations past the end
  Vec<std::pair<BlockTag, VarRef>> wider_;
};

}  // namespace lathe::detail
