#pragma once

#include <lathe/arith/interval.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/edit.hpp>

namespace lathe::detail {

// How far up a path a statement may be seen as one: through loops, while `stop` does not hold of
// their subtree. Gives the position in the path.
template <class Stop>
std::size_t climb(const std::vector<Stmt>& path, std::size_t from, Stop&& stop) {
  std::size_t at = from;
  for (std::size_t k = from; k-- > 0;) {
    StmtKind kind = path[k].kind();
    if (kind == StmtKind::Seq || kind == StmtKind::Alloc) continue;
    if (kind != StmtKind::For || stop(path[k])) break;
    at = k;
  }
  return at;
}

inline std::vector<Stmt> path_to(const std::vector<Stmt>& path, std::size_t last) {
  return {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(last) + 1};
}
inline std::vector<ForRef> loops_in(const std::vector<Stmt>& path) {
  std::vector<ForRef> out;
  for (const auto& s : path)
    if (const auto* f = s.as<ForNode>()) out.emplace_back(f);
  return out;
}

inline std::string cache_axis(std::size_t k) {
  static constexpr const char* names[] = {"vi", "vj", "vk", "vl"};
  return k < 4 ? names[k] : "vi" + std::to_string(k);
}

// to[iters] = from[iters], one iterator per dimension.
inline BlockNode copy_block(const BlockTag& tag, const Buffer& from, const Buffer& to) {
  std::vector<IterVar> iters;
  std::vector<AnyExpr> at;
  for (std::size_t d = 0; d < from->shape.size(); ++d) {
    VarRef var = make_var(cache_axis(d));
    iters.push_back({var, AnyExpr(0), from->shape[d], IterKind::spatial, var});
    at.emplace_back(var);
  }
  return BlockNode(tag, std::move(iters), make_store(to, at, make_load(from, at)));
}

inline std::vector<std::string> loop_names(const std::vector<ForRef>& loops) {
  std::vector<std::string> out;
  for (const auto& l : loops) out.push_back(l->var->name);
  return out;
}

inline Verdict check_scope_word(const std::string& word, Scope& scope, std::string_view id) {
  for (Scope s : {Scope::global, Scope::shared, Scope::local, Scope::reg})
    if (to_text(s) == word) return scope = s, Verdict();
  return refusal(id, "no scope is called " + in_quotes(word),
                 "scopes are global, shared, local and register");
}

inline bool reads_buffer(const BlockNode& block, const Buffer& buffer) {
  for (const auto& r : reads_of(block))
    if (r.buffer == buffer) return true;
  return false;
}
inline bool writes_buffer(const BlockNode& block, const Buffer& buffer) {
  for (const auto& w : writes_of(block))
    if (w.buffer == buffer) return true;
  return false;
}

inline std::string list_buffers(const std::vector<Buffer>& buffers) {
  std::string out;
  for (const auto& b : buffers) out += (out.empty() ? "" : " ") + b->name;
  return out.empty() ? "none" : out;
}

inline Verdict check_cache_read(const BlockSite& site, const Buffer& buffer) {
  const BlockNode& block = *site.block;
  std::string name = "block " + in_quotes(block.name());
  if (!reads_buffer(block, buffer))
    return refusal_at(block.tag, "L0216", name + " does not read " + in_quotes(buffer->name),
                      "it reads " + list_buffers(buffers_read(block.body)));
  if (writes_buffer(block, buffer))
    return refusal_at(block.tag, "L0216",
                      name + " both reads and writes " + in_quotes(buffer->name),
                      "cache what it writes with cache_write");
  if (!is_open_path(site.path))
    return refusal_at(block.tag, "L0216",
                      name + " stands under a condition or inside another block");
  for (const auto& r : reads_of(block))
    if (r.buffer == buffer && r.kind != AccessKind::read)
      return refusal_at(block.tag, "L0216",
                        name + " uses " + in_quotes(buffer->name) + " as a whole, not by loads");
  return {};
}

// The block with its loads of one buffer, predicate included, turned to another.
inline Stmt redirect_reads(const BlockNode& block, const Buffer& from, const Buffer& to) {
  BlockNode reader = block;
  reader.body = replace_buffer(reader.body, from, to);
  if (reader.predicate) {
    Stmt holder = replace_buffer(make_ref<EvaluateNode>(reader.predicate), from, to);
    reader.predicate = holder.as<EvaluateNode>()->call;
  }
  return make_block(std::move(reader));
}

// What the copy reads was written by all blocks that come before it.
inline Verdict check_copy_source(const Program& program, const Stmt& root, const BlockTag& copy,
                                 const Buffer& buffer, const std::vector<ForRef>& outside) {
  std::vector<BlockTag> sources;
  for (const auto& w : writers(root, buffer))
    if (block_position(root, w.block->tag) < block_position(root, copy))
      sources.push_back(w.block->tag);
  if (sources.empty()) return {};
  std::string why =
      why_not_found(root, sources, copy, buffer, outside.empty() ? VarRef() : outside.back()->var,
                    program_facts(program));
  if (why.empty()) return {};
  return refusal("L0216", "the copy of " + in_quotes(buffer->name) +
                              " could read what is not written yet: " + why);
}

inline Verdict run_cache_read(const Program& program, const Args& args, Edit* edit) {
  BlockSite site = find_block(program->body, args[0].block);
  Buffer buffer = find_buffer(program, args[1].text);
  Scope scope = Scope::global;
  if (auto no = check_scope_word(args[2].text, scope, "L0216")) return no;
  if (auto no = check_cache_read(site, buffer)) return no;
  std::size_t at = climb(site.path, site.path.size() - 1,
                         [&](const Stmt& s) { return !writers(s, buffer).empty(); });
  std::vector<Stmt> above(site.path.begin(), site.path.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<ForRef> outside = loops_in(above);
  Facts facts = facts_on(path_to(site.path, at), program_facts(program));
  Region region = region_read(site.path[at], buffer, facts, args[0].block);
  std::string name = NamePool(program).fresh(buffer->name + "_cache");
  Buffer cache = make_buffer(name, buffer->dtype, buffer->shape, scope);
  BlockTag tag = make_ref<BlockTagNode>(name);
  BlockNode copy = copy_block(tag, buffer, cache);
  std::vector<Range> ranges = whole_domains(copy);
  for (std::size_t d = 0; d < ranges.size(); ++d)
    ranges[d] = shorter(ranges[d], region.ranges[d], facts);
  Stmt root = replace_at(site.path, redirect_reads(*site.block, buffer, cache));
  std::vector<Stmt> place = path_to(find_block(root, args[0].block).path, at);
  root = add_alloc(insert_before(place, nest_of(copy, ranges, loop_names(outside))), cache);
  if (auto no = check_copy_source(program, root, tag, buffer, outside)) {
    no->block = args[0].block;
    return no;
  }
  if (!edit) return {};
  edit->program = program.with(root);
  edit->results.push_back(BlockRef(tag));
  return {};
}

LATHE_DECL const Primitive& primitive_cache_read() {
  static const Primitive record{
      "cache_read",
      1,
      {{"consumer", ArgKind::block}, {"buffer", ArgKind::buffer}, {"scope", ArgKind::word}},
      "a block reads a copy of a buffer",
      run_cache_read,
      ArgKind::block};
  return record;
}

// The conjuncts of a predicate that name no reduce iterator.
inline AnyExpr spatial_part(const BlockNode& block, const AnyExpr& condition) {
  if (!condition) return {};
  if (const auto* both = condition.as<BinaryNode>(); both && both->op == BinaryOp::and_)
    return fold_and(spatial_part(block, both->a), spatial_part(block, both->b));
  for (const auto& it : block.iters)
    if (it.kind == IterKind::reduce && uses_var(condition, it.var)) return {};
  return condition;
}

// The instances of a block's spatial points as a block of its own: fresh iterators, and what they
// stand for.
inline BlockNode spatial_block(const BlockNode& block, const BlockTag& tag, Substitution& map) {
  std::vector<IterVar> iters;
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
  AnyExpr predicate = block.reducer ? spatial_part(block, block.predicate) : block.predicate;
  if (predicate) out.predicate = substitute(predicate, map);
  return out;
}

inline Verdict check_cache_write(const Program& program, const BlockSite& site) {
  const BlockNode& block = *site.block;
  std::string name = "block " + in_quotes(block.name());
  if (!is_open_path(site.path))
    return refusal_at(block.tag, "L0217",
                      name + " stands under a condition or inside another block");
  if (!only_store(block)) return refusal_at(block.tag, "L0217", name + " is not one store");
  const Buffer& out = only_store(block)->buffer;
  BlockInfo info = info_of(program, block.tag);
  if (!info.is_complete() && !info.is_reduction())
    return refusal_at(block.tag, "L0217",
                      name + " can't write a copy of " + in_quotes(out->name) + ": " +
                          (info.why.empty() ? std::string(to_text(info.kind)) : info.why));
  if (!info.sole_writer)
    return refusal_at(block.tag, "L0217",
                      name + " is not the only writer of " + in_quotes(out->name),
                      "cache_write before decompose_reduction");
  if (block.reducer && !block.init)
    return refusal_at(block.tag, "L0217",
                      name + " adds to what " + in_quotes(out->name) + " holds already",
                      "cache_write before decompose_reduction");
  if (ragged(block))
    return refusal_at(block.tag, "L0217",
                      name + " has a domain that depends on another of its iterators");
  return {};
}

// Ranges of the spatial iterators while the loops inside `inner` run.
inline bool ranges_inside(const BlockNode& core, const std::vector<ForRef>& inner,
                          const Facts& facts, std::vector<Range>& out) {
  std::vector<VarRef> relaxed = vars_of(inner);
  for (const auto& it : core.iters) {
    if (is_const(it.extent, 0)) {  // bounds over nothing are none
      out.push_back({it.min, it.extent});
      continue;
    }
    Interval i = bounds(it.binding, relaxed, facts);
    if (!i.bounded()) return false;
    AnyExpr extent = constant_extent(fold_add(fold_sub(i.max, i.min), AnyExpr(1)), facts);
    out.push_back(shorter({it.min, it.extent}, {simplify(i.min, facts), extent}, facts));
  }
  return true;
}

struct CacheWritePlan {
  BlockSite site;
  std::size_t at = 0;  ///< position in the path of what the copy follows
  std::vector<Range> ranges;
  std::optional<BlockNode> copy;
};

inline Verdict plan_cache_write(const Program& program, CacheWritePlan& plan) {
  const BlockSite& site = plan.site;
  const Buffer& out = only_store(*site.block)->buffer;
  auto read_by_others = [&](const Stmt& s) {
    for (const auto& r : readers(s, out))
      if (r.block->tag != site.block->tag) return true;
    return false;
  };
  plan.at = site.path.size() - 1;
  for (std::size_t k = plan.at; k-- > 0;)
    if (const auto* f = site.path[k].as<ForNode>(); f && feeds(*f, *site.block, IterKind::reduce))
      plan.at = k;
  if (read_by_others(site.path[plan.at]))
    return refusal_at(site.block->tag, "L0217",
                      in_quotes(out->name) + " is read inside the loop that reduces it");
  plan.at = climb(site.path, plan.at, read_by_others);
  Facts facts = facts_on(site.path, program_facts(program));
  std::vector<Stmt> outside(site.path.begin(),
                            site.path.begin() + static_cast<std::ptrdiff_t>(plan.at));
  std::vector<ForRef> inner;
  for (const auto& loop : site.loops)
    if (!below(loops_in(outside), loop->var)) inner.push_back(loop);
  if (!ranges_inside(*plan.copy, inner, facts, plan.ranges))
    return refusal_at(site.block->tag, "L0217",
                      "what " + in_quotes(site.block->name()) + " writes of " +
                          in_quotes(out->name) + " in one iteration is not known");
  return {};
}

// out[index] = cache[index] for every spatial point of the block; the mark for streaming stores
// moves there.
inline BlockNode copy_out_block(const BlockNode& block, const BlockTag& tag, const Buffer& cache) {
  Substitution map;
  BlockNode copy = spatial_block(without_guards(block), tag, map);
  const StoreNode& store = *only_store(block);
  std::vector<AnyExpr> at;
  for (const auto& index : store.indices) at.push_back(substitute(index, map));
  copy.body = make_store(store.buffer, at, make_load(cache, at));
  for (const auto& a : block.annotations)
    if (a.key == "stream") copy.annotations.push_back(a);
  return copy;
}

inline Verdict run_cache_write(const Program& program, const Args& args, Edit* edit) {
  CacheWritePlan plan;
  plan.site = find_block(program->body, args[0].block);
  const BlockNode& block = *plan.site.block;
  Scope scope = Scope::global;
  if (auto no = check_scope_word(args[1].text, scope, "L0217")) return no;
  if (auto no = check_cache_write(program, plan.site)) return no;
  const Buffer& out = only_store(block)->buffer;
  NamePool names(program);
  Buffer cache = make_buffer(names.fresh(out->name + "_cache"), out->dtype, out->shape, scope);
  BlockTag tag = make_ref<BlockTagNode>(names.fresh(out->name + "_copy"));
  plan.copy.emplace(copy_out_block(block, tag, cache));
  if (auto no = plan_cache_write(program, plan)) return no;
  BlockNode writer = block;
  writer.body = replace_buffer(writer.body, out, cache);
  std::erase_if(writer.annotations, [](const Annotation& a) { return a.key == "stream"; });
  std::vector<Stmt> above = path_to(plan.site.path, plan.at);
  above.pop_back();
  std::vector<ForRef> outside = loops_in(above);
  Stmt root = replace_at(plan.site.path, make_block(std::move(writer)));
  std::vector<Stmt> place = path_to(find_block(root, block.tag).path, plan.at);
  root =
      add_alloc(insert_after(place, nest_of(*plan.copy, plan.ranges, loop_names(outside))), cache);
  std::string why =
      why_not_found(root, {block.tag}, tag, cache, outside.empty() ? VarRef() : outside.back()->var,
                    program_facts(program));
  if (!why.empty())
    return refusal_at(
        block.tag, "L0217",
        "the copy would take what " + in_quotes(block.name()) + " did not write: " + why,
        "cache_write before the loops are split");
  if (!edit) return {};
  edit->program = program.with(root);
  edit->results.push_back(BlockRef(tag));
  return {};
}

LATHE_DECL const Primitive& primitive_cache_write() {
  static const Primitive record{"cache_write",
                                1,
                                {{"block", ArgKind::block}, {"scope", ArgKind::word}},
                                "a block writes a private copy of its output",
                                run_cache_write,
                                ArgKind::block};
  return record;
}

}  // namespace lathe::detail
