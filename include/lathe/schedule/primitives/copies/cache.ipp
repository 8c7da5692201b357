#pragma once

#include <lathe/schedule/primitives/copies/copies.ipp>
#include <lathe/schedule/primitives/placement/regions.ipp>

namespace lathe::detail {

inline std::string cache_axis(std::size_t k) {
  static constexpr const char* names[] = {"vi", "vj", "vk", "vl"};
  return k < 4 ? names[k] : "vi" + std::to_string(k);
}

// to[iters] = from[iters], one iterator per dimension.
inline BlockNode copy_block(const BlockTag& tag, const Buffer& from, const Buffer& to) {
  Vec<IterVar> iters;
  Vec<AnyExpr> at;
  for (std::size_t d = 0; d < from->shape.size(); ++d) {
    VarRef var = make_var(cache_axis(d));
    iters.push_back({var, AnyExpr(0), from->shape[d], IterKind::spatial, var});
    at.emplace_back(var);
  }
  return BlockNode(tag, std::move(iters), make_store(to, at, make_load(from, at)));
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

inline constexpr CopyStep kCacheRead{"cache_read", "L0216"};

inline Verdict run_cache_read(const Program& program, const Args& args, Edit* edit) {
  BlockSite site = find_block(program->body, args[0].block);
  Buffer buffer = find_buffer(program, args[1].text);
  Scope scope = Scope::global;
  if (auto no = check_scope_word(args[2].text, scope, kCacheRead.id)) return no;
  if (auto no = check_cache_read(program, site, buffer, kCacheRead)) return no;
  CopyIn plan(site, {buffer});
  Facts facts = facts_on(path_to(site.path, plan.at), program_facts(program));
  Region region = region_read(site.path[plan.at], buffer, facts, args[0].block);
  std::string name = NamePool(program).fresh(buffer->name + "_cache");
  plan.to = make_buffer(name, buffer->dtype, buffer->shape, scope);
  plan.copy.emplace(copy_block(make_ref<BlockTagNode>(name), buffer, plan.to));
  plan.ranges = whole_domains(*plan.copy);
  for (std::size_t d = 0; d < plan.ranges.size(); ++d)
    plan.ranges[d] = shorter(plan.ranges[d], region.ranges[d], facts);
  plan.reader = redirect_reads(*site.block, buffer, plan.to);
  return run_copy_in(program, plan, kCacheRead, edit);
}

LATHE_DECL const Primitive& primitive_cache_read() {
  static const Primitive record{
      "cache_read",
      1,
      {{"consumer", ArgKind::block}, {"buffer", ArgKind::buffer}, {"scope", ArgKind::word}},
      "a block reads a copy of a buffer",
      run_cache_read,
      ArgKind::block,
      Results::one};
  return record;
}

inline constexpr CopyStep kCacheWrite{"cache_write", "L0217"};

inline Verdict run_cache_write(const Program& program, const Args& args, Edit* edit) {
  CopyOut plan;
  plan.site = find_block(program->body, args[0].block);
  const BlockNode& block = *plan.site.block;
  Scope scope = Scope::global;
  if (auto no = check_scope_word(args[1].text, scope, kCacheWrite.id)) return no;
  if (auto no = check_cache_write(program, plan.site, kCacheWrite)) return no;
  NamePool names(program);
  const Vec<const StoreNode*> stores = plain_stores(block);
  Vec<Vec<AnyExpr>> at;
  BlockNode writer = block;
  for (const auto* store : stores) {
    const Buffer& out = store->buffer;
    plan.to.push_back(
        make_buffer(names.fresh(out->name + "_cache"), out->dtype, out->shape, scope));
    writer.body = replace_buffer(writer.body, out, plan.to.back());
    at.push_back(store->indices);
  }
  const std::string copied = stores.size() == 1 ? stores[0]->buffer->name : block.name();
  BlockTag tag = make_ref<BlockTagNode>(names.fresh(copied + "_copy"));
  plan.copy.emplace(copy_out_block(block, tag, plan.to, at));
  writer.attributes = after(Change::divert, writer.attributes);
  plan.writer = make_block(std::move(writer));
  return run_copy_out(program, plan, kCacheWrite, edit);
}

LATHE_DECL const Primitive& primitive_cache_write() {
  static const Primitive record{"cache_write",
                                1,
                                {{"block", ArgKind::block}, {"scope", ArgKind::word}},
                                "a block writes private copies of its outputs",
                                run_cache_write,
                                ArgKind::block,
                                Results::one};
  return record;
}

}  // namespace lathe::detail
