#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/schedule/primitives/copies/cache.ipp>
#include <lathe/schedule/primitives/copies/copies.ipp>

namespace lathe::detail {

/// A block that is computed twice, and who reads the second time.
struct ClonePlan {
  BlockSite site;
  std::size_t top = 0;  ///< position in its path of the outermost loop that holds it alone
  Vec<Buffer> outputs;
  Vec<BlockSite> readers;  ///< those named

  const BlockNode& block() const { return *site.block; }
  Refusal no(const std::string& why, std::string help = {}) const {
    return refusal_at(block().tag, "L0250", "block " + in_quotes(block().name()) + " " + why,
                      std::move(help));
  }
};

// The position in a block's path of the outermost loop with no other statement than what leads to
// the block.
inline std::size_t own_nest(const Vec<Stmt>& path) {
  std::size_t at = path.size() - 1;
  while (at > 0 && path[at - 1].kind() == StmtKind::For) --at;
  return at;
}

inline Verdict check_cloned(const Program& program, ClonePlan& plan) {
  const BlockNode& block = plan.block();
  if (!is_open_path(plan.site.path))
    return plan.no("stands under a condition or inside another block");
  BlockInfo info = info_of(program, block.tag);
  if (!info.is_complete() && !info.is_reduction())
    return plan.no("can't be cloned: " +
                   (info.why.empty() ? std::string(to_text(info.kind)) : info.why));
  if (block.reducer && !block.init)
    return plan.no("was separated from its init", "decompose the reduction after it is cloned");
  if (!info.sole_writer) return plan.no("is not the only writer of its output");
  for (const auto* store : stores_of(block)) plan.outputs.push_back(store->buffer);
  if (plan.outputs.empty()) return plan.no("holds more than stores");
  plan.top = own_nest(plan.site.path);
  const bool reads_itself = any_use(plan.site.path[plan.top], [&](const BufferUse& use) {
    return !use.is_write && contains(plan.outputs, use.buffer);
  });
  if (reads_itself) return plan.no("has a bound or a condition that reads its output");
  return {};
}

inline std::string names_of_readers(const Program& program, const ClonePlan& plan) {
  Vec<BlockSite> all = consumers(program->body, plan.block().tag);
  return all.empty() ? "nothing reads it" : "its readers: " + names_of(all);
}

inline Verdict check_reader(const Program& program, const ClonePlan& plan, const BlockSite& site) {
  const BlockNode& reader = *site.block;
  const std::string name = "block " + in_quotes(reader.name());
  bool reads = false;
  for (const auto& r : reads_of(reader)) {
    if (!contains(plan.outputs, r.buffer) || reader.tag == plan.block().tag) continue;
    if (r.kind != AccessKind::read)
      return plan.no("is read by " + name + " as a whole, not by loads");
    reads = true;
  }
  if (!reads) return plan.no("is not read by " + name, names_of_readers(program, plan));
  if (!is_open_path(site.path))
    return plan.no("is read by " + name +
                   ", which stands under a condition or inside another block");
  if (block_position(program->body, reader.tag) < block_position(program->body, plan.block().tag))
    return plan.no("comes after " + name + ", which reads what earlier iterations wrote");
  // Elements that the block leaves out hold what the caller put there.
  for (const auto& p : program->params) {
    if (!contains(plan.outputs, p.buffer) || p.access != Access::inout) continue;
    std::string why = why_not_found(program->body, {plan.block().tag}, reader.tag, p.buffer, {},
                                    program_facts(program));
    if (!why.empty())
      return plan.no("may leave out what " + name + " reads of " + in_quotes(p.name()) + ": " +
                     why);
  }
  return {};
}

inline Verdict check_clone_readers(const Program& program, const Vec<Arg>& named, ClonePlan& plan) {
  if (named.empty()) return plan.no("is to be cloned for nobody", names_of_readers(program, plan));
  for (const auto& arg : named) {
    for (const auto& other : plan.readers)
      if (other.block->tag == arg.block)
        return refusal_at(arg.block, "L0202",
                          "block " + in_quotes(arg.block->name) + " is named twice");
    plan.readers.push_back(find_block(program->body, arg.block));
    if (auto no = check_reader(program, plan, plan.readers.back())) return no;
  }
  for (const auto& out : plan.outputs)
    if (is_param(program, out)) return {};
  for (const auto& user : consumers(program->body, plan.block().tag)) {
    bool is_named = false;
    for (const auto& reader : plan.readers) is_named |= reader.block->tag == user.block->tag;
    if (!is_named) return {};
  }
  return plan.no("has no other readers than those named: they have it to themselves");
}

// The block under loops of its own, all that it binds new, writing the buffers of the clone.
inline Stmt cloned_nest(const ClonePlan& plan, const BlockTag& tag, const Vec<Buffer>& to) {
  Substitution map;
  Vec<LoopHead> heads =
      fresh_loops(loops_in({plan.site.path.begin() + static_cast<std::ptrdiff_t>(plan.top),
                            plan.site.path.end()}),
                  Change::clone, map);
  BlockNode clone = plan.block();
  clone.tag = tag;
  clone.attributes = after(Change::clone, clone.attributes);
  for (auto& it : clone.iters) {
    VarRef var = make_var(it.var->name, it.var->dtype);
    it.binding = fresh_lets(substitute(it.binding, map));
    it.min = fresh_lets(substitute(it.min, map));
    it.extent = fresh_lets(substitute(it.extent, map));
    map.emplace_back(it.var, AnyExpr(var));
    it.var = var;
  }
  if (clone.predicate) clone.predicate = fresh_lets(substitute(clone.predicate, map));
  clone.body = fresh_lets(substitute(clone.body, map));
  for (std::size_t k = 0; k < to.size(); ++k)
    clone.body = replace_buffer(clone.body, plan.outputs[k], to[k]);
  return wrap_loops(heads, make_block(std::move(clone)));
}

inline Buffer private_like(const Program& program, const Buffer& buffer, const std::string& name) {
  if (is_param(program, buffer)) return make_buffer(name, buffer->dtype, buffer->shape);
  auto node = BufferNode(*buffer);
  node.name = name;
  return Buffer(new BufferNode(std::move(node)));
}

inline Verdict run_clone(const Program& program, const Args& args, Edit* edit) {
  ClonePlan plan;
  plan.site = find_block(program->body, args[0].block);
  if (auto no = check_cloned(program, plan)) return no;
  if (auto no = check_clone_readers(program, args[1].list, plan)) return no;
  if (!edit) return {};
  NamePool names(program);
  const std::string name = names.fresh(plan.block().name() + "_clone");
  BlockTag tag = make_ref<BlockTagNode>(name);
  Vec<Buffer> to;
  for (const auto& out : plan.outputs) {
    const bool same = out->name == plan.block().name();
    to.push_back(private_like(program, out, same ? name : names.fresh(out->name + "_clone")));
  }
  Stmt root = insert_after(path_to(plan.site.path, plan.top), cloned_nest(plan, tag, to));
  for (const auto& reader : plan.readers)
    for (std::size_t k = 0; k < to.size(); ++k) {
      BlockSite site = find_block(root, reader.block->tag);
      root = replace_at(site.path, redirect_reads(*site.block, plan.outputs[k], to[k]));
    }
  for (const auto& buffer : to) root = add_alloc(root, buffer);
  edit->program = program.with(root);
  edit->results.push_back(BlockRef(tag));
  return {};
}

LATHE_DECL const Primitive& primitive_clone() {
  static const Primitive record{
      "clone",
      1,
      {{"block", ArgKind::block}, {"consumers", ArgKind::list, {}, ArgKind::block}},
      "some readers of a block get a private copy of it",
      run_clone,
      ArgKind::block,
      Results::one};
  return record;
}

}  // namespace lathe::detail
