#pragma once

#include <algorithm>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/placement/regions.ipp>

namespace lathe::detail {

// How far up a path a statement may be seen as one: through loops, while `stop` does not hold of
// their subtree. Gives the position in the path.
template <class Stop>
std::size_t climb(const Vec<Stmt>& path, std::size_t from, Stop&& stop) {
  std::size_t at = from;
  for (std::size_t k = from; k-- > 0;) {
    StmtKind kind = path[k].kind();
    if (kind == StmtKind::Seq || kind == StmtKind::Alloc) continue;
    if (kind != StmtKind::For || stop(path[k])) break;
    at = k;
  }
  return at;
}

inline Vec<Stmt> path_to(const Vec<Stmt>& path, std::size_t last) {
  return {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(last) + 1};
}
inline Vec<ForRef> loops_in(const Vec<Stmt>& path) {
  Vec<ForRef> out;
  for (const auto& s : path)
    if (const auto* f = s.as<ForNode>()) out.emplace_back(f);
  return out;
}

// Those of the loops that are not among the outer ones.
inline Vec<ForRef> loops_within(const Vec<ForRef>& loops, const Vec<ForRef>& outer) {
  Vec<ForRef> out;
  for (const auto& loop : loops)
    if (!below(outer, loop->var)) out.push_back(loop);
  return out;
}

inline Vec<std::string> loop_names(const Vec<ForRef>& loops) {
  Vec<std::string> out;
  for (const auto& l : loops) out.push_back(l->var->name);
  return out;
}

inline Verdict check_scope_word(const std::string& word, Scope& scope, std::string_view id) {
  for (Scope s : {Scope::global, Scope::shared, Scope::local, Scope::reg, Scope::fragment})
    if (to_text(s) == word) return scope = s, Verdict();
  return refusal(id, "no scope is called " + in_quotes(word),
                 "scopes are global, shared, local, register and fragment");
}

/// The step that makes a copy, for its refusals.
struct CopyStep {
  std::string_view name, id;
};

inline std::string list_buffers(const Vec<Buffer>& buffers) {
  std::string out;
  for (const auto& b : buffers) out += (out.empty() ? "" : " ") + b->name;
  return out.empty() ? "none" : out;
}

inline Verdict check_reader_block(const BlockSite& site, const CopyStep& step) {
  const BlockNode& block = *site.block;
  const std::string name = "block " + in_quotes(block.name());
  if (!is_open_path(site.path))
    return refusal_at(block.tag, step.id,
                      name + " stands under a condition or inside another block");
  if (!block_tags(block.body).empty())
    return refusal_at(block.tag, step.id, name + " holds blocks, each of which reads by itself",
                      "copy what a block inside reads before they become one");
  return {};
}

inline Verdict check_cache_read(const Program& program, const BlockSite& site, const Buffer& buffer,
                                const CopyStep& step) {
  const BlockNode& block = *site.block;
  std::string name = "block " + in_quotes(block.name());
  if (!reads_buffer(block, buffer))
    return refusal_at(block.tag, step.id, name + " does not read " + in_quotes(buffer->name),
                      "it reads " + list_buffers(buffers_read(block.body)));
  if (writes_buffer(block, buffer))
    return refusal_at(block.tag, step.id,
                      name + " both reads and writes " + in_quotes(buffer->name),
                      "cache what it writes with cache_write");
  if (auto no = check_reader_block(site, step)) return no;
  for (const auto& r : reads_of(block))
    if (r.buffer == buffer && r.kind != AccessKind::read)
      return refusal_at(block.tag, step.id,
                        name + " uses " + in_quotes(buffer->name) + " as a whole, not by loads");
  return check_bare_touches(program, block, step.id, buffer);
}

// What the copy reads was written by all blocks that come before it.
inline Verdict check_copy_source(const Program& program, const Stmt& root, const BlockTag& copy,
                                 const Buffer& buffer, const Vec<ForRef>& outside,
                                 const CopyStep& step) {
  Vec<BlockTag> sources;
  for (const auto& w : writers(root, buffer))
    if (block_position(root, w.block->tag) < block_position(root, copy))
      sources.push_back(w.block->tag);
  if (sources.empty()) return {};
  std::string why =
      why_not_found(root, sources, copy, buffer, outside.empty() ? VarRef() : outside.back()->var,
                    program_facts(program));
  if (why.empty()) return {};
  return refusal(step.id, "the copy of " + in_quotes(buffer->name) +
                              " could read what is not written yet: " + why);
}

/// A copy of what a block reads, and its place.
struct CopyIn {
  BlockSite site;  ///< of the block
  Vec<Buffer> from;
  Buffer to;
  std::size_t at = 0;  ///< position in the path of what the copy comes before
  Stmt reader;         ///< the block as it will be
  std::optional<BlockNode> copy;
  Vec<Range> ranges;  ///< of the copy's iterators

  // As far out as nothing writes the buffers.
  CopyIn(const BlockSite& block, Vec<Buffer> buffers)
      : site(block),
        from(std::move(buffers)),
        at(climb(block.path, block.path.size() - 1, [&](const Stmt& s) {
          return std::any_of(from.begin(), from.end(),
                             [&](const Buffer& buffer) { return !writers(s, buffer).empty(); });
        })) {}
  Vec<ForRef> outside() const {
    return loops_in({site.path.begin(), site.path.begin() + static_cast<std::ptrdiff_t>(at)});
  }
};

inline Verdict run_copy_in(const Program& program, const CopyIn& plan, const CopyStep& step,
                           Edit* edit) {
  const BlockTag &reader = plan.site.block->tag, &tag = plan.copy->tag;
  const Vec<ForRef> outside = plan.outside();
  Stmt root = replace_at(plan.site.path, plan.reader);
  Vec<Stmt> place = path_to(find_block(root, reader).path, plan.at);
  root = add_alloc(insert_before(place, nest_of(*plan.copy, plan.ranges, loop_names(outside))),
                   plan.to);
  for (const auto& buffer : plan.from)
    if (auto no = check_copy_source(program, root, tag, buffer, outside, step)) {
      no->block = reader;
      return no;
    }
  if (!edit) return {};
  edit->program = program.with(root);
  edit->results.push_back(BlockRef(tag));
  return {};
}

inline AnyExpr init_predicate(const BlockNode& block) {
  AnyExpr out;
  for (const auto& part : init_conjuncts(block)) out = fold_and(out, fresh_lets(part));
  return out;
}

// The instances of a block's spatial points as a block of its own: fresh iterators, and what they
// stand for.
inline BlockNode spatial_block(const BlockNode& block, const BlockTag& tag, Substitution& map) {
  Vec<IterVar> iters;
  for (const auto& it : block.iters) {
    if (it.kind == IterKind::reduce) continue;
    IterVar fresh = it;
    fresh.var = make_var(it.var->name, it.var->dtype);
    fresh.min = substitute(it.min, map);
    fresh.extent = substitute(it.extent, map);
    map.emplace_back(it.var, AnyExpr(fresh.var));
    iters.push_back(std::move(fresh));
  }
  BlockNode out(tag, std::move(iters), make_seq({}));
  const AnyExpr predicate = block.reducer ? init_predicate(block) : block.predicate;
  if (predicate) out.predicate = substitute(predicate, map);
  return out;
}

/// The stores of a block that does nothing else, each to a buffer of its own; else none.
inline Vec<const StoreNode*> plain_stores(const BlockNode& block) {
  const Vec<const StoreNode*> stores = stores_of(block);
  if (stores.size() != seq_of(block.body).size()) return {};
  for (const auto* a : stores)
    for (const auto* b : stores)
      if (a != b && a->buffer == b->buffer) return {};
  return stores;
}

inline Verdict check_cache_write(const Program& program, const BlockSite& site,
                                 const CopyStep& step) {
  const BlockNode& block = *site.block;
  std::string name = "block " + in_quotes(block.name());
  if (!is_open_path(site.path))
    return refusal_at(block.tag, step.id,
                      name + " stands under a condition or inside another block");
  const Vec<const StoreNode*> stores = plain_stores(block);
  if (stores.empty())
    return refusal_at(block.tag, step.id, name + " is not one store to each of its outputs");
  const Buffer& out = stores[0]->buffer;
  BlockInfo info = info_of(program, block.tag);
  if (!info.is_complete() && !info.is_reduction())
    return refusal_at(block.tag, step.id,
                      name + " can't write a copy of " + in_quotes(out->name) + ": " +
                          (info.why.empty() ? std::string(to_text(info.kind)) : info.why));
  if (!info.sole_writer)
    return refusal_at(block.tag, step.id,
                      name + " is not the only writer of " + in_quotes(out->name),
                      std::string(step.name) + " before decompose_reduction");
  if (block.reducer && !block.init)
    return refusal_at(block.tag, step.id,
                      name + " adds to what " + in_quotes(out->name) + " holds already",
                      std::string(step.name) + " before decompose_reduction");
  if (ragged(block))
    return refusal_at(block.tag, step.id,
                      name + " has a domain that depends on another of its iterators");
  for (const auto* store : stores)
    if (auto no = check_bare_touches(program, block, step.id, store->buffer)) return no;
  return {};
}

// Ranges of the iterators while the loops inside `inner` run, seen from beside the statement that
// holds them.
inline bool ranges_inside(const BlockNode& core, const Vec<ForRef>& inner, const Stmt& around,
                          const Facts& facts, Vec<Range>& out) {
  Vec<VarRef> relaxed = vars_of(inner);
  for (const auto& it : core.iters) {
    if (is_const(it.extent, 0)) {  // bounds over nothing are none
      out.push_back({it.min, it.extent});
      continue;
    }
    Interval i = bounds(it.binding, relaxed, facts);
    if (!i.bounded()) return false;
    if (loads_written(i.min, around) || loads_written(i.max, around)) {
      out.push_back({it.min, it.extent});
      continue;
    }
    AnyExpr extent = constant_extent(fold_add(fold_sub(i.max, i.min), AnyExpr(1)), facts);
    out.push_back(shorter({it.min, it.extent}, {simplify(i.min, facts), extent}, facts));
  }
  return true;
}

/// A copy out of private buffers that a block writes, and its place.
struct CopyOut {
  BlockSite site;      ///< of the block
  Vec<Buffer> to;      ///< the private buffers, in the order of the block's stores
  Vec<ForRef> inside;  ///< loops that the copy does not leave
  std::size_t at = 0;  ///< position in the path of what the copy follows
  Stmt writer;         ///< the block as it will be
  std::optional<BlockNode> copy;
  Vec<Range> ranges;  ///< of the copy's iterators
};

inline Verdict place_copy_out(const Program& program, CopyOut& plan, const CopyStep& step) {
  const BlockSite& site = plan.site;
  const Vec<const StoreNode*> stores = plain_stores(*site.block);
  auto read_by_others = [&](const Stmt& s) {
    for (const auto* store : stores)
      for (const auto& r : readers(s, store->buffer))
        if (r.block->tag != site.block->tag) return true;
    return false;
  };
  const std::string outs = in_quotes(stores[0]->buffer->name);
  plan.at = site.path.size() - 1;
  for (std::size_t k = plan.at; k-- > 0;)
    if (const auto* f = site.path[k].as<ForNode>(); f && feeds(*f, *site.block, IterKind::reduce))
      plan.at = k;
  if (read_by_others(site.path[plan.at]))
    return refusal_at(site.block->tag, step.id, outs + " is read inside the loop that reduces it");
  plan.at = climb(site.path, plan.at, [&](const Stmt& s) {
    const auto* loop = s.as<ForNode>();
    return (loop && below(plan.inside, loop->var)) || read_by_others(s);
  });
  // An init stores also where loops of the reduction run nothing: that they run is no fact then.
  Facts facts = program_facts(program);
  for (const auto& loop : site.loops)
    if (!site.block->init || !feeds(*loop, *site.block, IterKind::reduce) ||
        feeds(*loop, *site.block, IterKind::spatial))
      facts.bind(*loop);
  Vec<Stmt> outside(site.path.begin(), site.path.begin() + static_cast<std::ptrdiff_t>(plan.at));
  if (!ranges_inside(*plan.copy, loops_within(site.loops, loops_in(outside)), site.path[plan.at],
                     facts, plan.ranges))
    return refusal_at(site.block->tag, step.id,
                      "what " + in_quotes(site.block->name()) + " writes of " + outs +
                          " in one iteration is not known");
  return {};
}

// out[index] = private[at] for every spatial point of the block, and each of its stores.
inline BlockNode copy_out_block(const BlockNode& block, const BlockTag& tag,
                                const Vec<Buffer>& caches, const Vec<Vec<AnyExpr>>& at) {
  Substitution map;
  BlockNode copy = spatial_block(without_guards(block), tag, map);
  const auto moved = [&](const Vec<AnyExpr>& indices) {
    Vec<AnyExpr> out;
    for (const auto& index : indices) out.push_back(fresh_lets(substitute(index, map)));
    return out;
  };
  Vec<Stmt> stores;
  const Vec<const StoreNode*> own = plain_stores(block);
  for (std::size_t k = 0; k < own.size(); ++k)
    stores.push_back(
        make_store(own[k]->buffer, moved(own[k]->indices), make_load(caches[k], moved(at[k]))));
  copy.body = make_seq(std::move(stores));
  copy.attributes = after(Change::deliver, block.attributes);
  return copy;
}

inline Verdict run_copy_out(const Program& program, CopyOut& plan, const CopyStep& step,
                            Edit* edit) {
  const BlockTag &block = plan.site.block->tag, &tag = plan.copy->tag;
  if (auto no = place_copy_out(program, plan, step)) return no;
  Vec<Stmt> above = path_to(plan.site.path, plan.at);
  above.pop_back();
  Vec<ForRef> outside = loops_in(above);
  Stmt root = replace_at(plan.site.path, plan.writer);
  Vec<Stmt> place = path_to(find_block(root, block).path, plan.at);
  root = insert_after(place, nest_of(*plan.copy, plan.ranges, loop_names(outside)));
  for (const auto& to : plan.to) root = add_alloc(root, to);
  for (const auto& to : plan.to) {
    const std::string why =
        why_not_found(root, {block}, tag, to, outside.empty() ? VarRef() : outside.back()->var,
                      program_facts(program));
    if (!why.empty())
      return refusal_at(
          block, step.id,
          "the copy would take what " + in_quotes(block->name) + " did not write: " + why,
          std::string(step.name) + " before the loops are split");
  }
  if (!edit) return {};
  edit->program = program.with(root);
  edit->results.push_back(BlockRef(tag));
  return {};
}

}  // namespace lathe::detail
