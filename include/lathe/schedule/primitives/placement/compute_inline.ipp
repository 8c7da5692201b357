#pragma once

#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

inline constexpr std::size_t kMaxInlinedNodes = 50000;

// Iterators as expressions over the stored element's indices (targets). With an only-injective map,
// `valid` says which targets are stored. Empty if the map has no inverse.
inline Vec<AnyExpr> iterators_of_element(const BlockNode& core, const Vec<AnyExpr>& indices,
                                         const Vec<AnyExpr>& targets, AnyExpr& valid,
                                         const Facts& facts) {
  Vec<AnyExpr> out(core.iters.size());
  // The common case, each index one iterator, needs no more than a look.
  bool direct = true;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    bool found = is_const(indices[d], 0);
    for (std::size_t k = 0; k < core.iters.size(); ++k)
      if (indices[d].get() == core.iters[k].var.get() && !out[k]) out[k] = targets[d], found = true;
    direct &= found;
  }
  for (std::size_t k = 0; k < out.size() && direct; ++k) {
    if (out[k]) continue;
    if (is_const(core.iters[k].extent, 1))
      out[k] = core.iters[k].min;
    else
      direct = false;
  }
  if (direct) return out;
  Vec<IterDomain> inputs;
  for (const auto& it : core.iters) inputs.push_back({it.var, it.min, it.extent});
  IterMap map = iter_map(indices, inputs, {}, facts);
  if (map.bijective()) return inverse(map, targets, facts);
  return map.injective ? left_inverse(map, targets, valid, facts) : Vec<AnyExpr>();
}

// Replaces loads of a buffer by an expression over their indices.
class InlineLoads : public Mutator {
 public:
  InlineLoads(const Buffer& buffer, const Vec<VarRef>& targets, const AnyExpr& value)
      : buffer_(buffer), targets_(targets), value_(value), bit_(Contents::bit(buffer->name)) {}
  Stmt stmt(const Stmt& s) override { return may_touch(s, bit_) ? descend(s) : s; }
  AnyExpr expr(const AnyExpr& e) override {
    const auto* load = e.as<LoadNode>();
    if (!load || load->buffer != buffer_) return descend(e);
    Substitution at;
    for (std::size_t d = 0; d < targets_.size(); ++d)
      at.emplace_back(targets_[d], expr(load->indices[d]));
    return fresh_lets(substitute(value_, at));
  }

 private:
  const Buffer& buffer_;
  const Vec<VarRef>& targets_;
  const AnyExpr& value_;
  const std::uint64_t bit_;
};

// Other uses than plain loads, in a block or outside.
class FindOddUse : public Visitor {
 public:
  explicit FindOddUse(const Buffer& buffer) : buffer_(buffer) {}
  std::string found;
  void expr(const AnyExpr& e) override {
    const auto* load = e.as<LoadNode>();
    if (load && load->buffer == buffer_ && load->mask.get()) found = "a masked load";
    if (load && load->buffer == buffer_ && load->dtype.is_vector()) found = "a load of lanes";
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (!may_touch(s, Contents::bit(buffer_->name))) return;
    if (const auto* f = s.as<ForNode>())
      in_bound(f->min, "the bound of loop " + in_quotes(f->var->name)),
          in_bound(f->extent, "the bound of loop " + in_quotes(f->var->name));
    if (const auto* b = s.as<BlockNode>())
      for (const auto* list : {&b->reads, &b->writes})
        for (const auto& r : *list)
          if (r.buffer == buffer_) found = "the opaque block " + in_quotes(b->name());
    descend(s);
  }

 private:
  void in_bound(const AnyExpr& e, const std::string& what) {
    for (const auto& b : buffers_read(make_ref<EvaluateNode>(e)))
      if (b == buffer_) found = what;
  }
  const Buffer& buffer_;
};

inline Verdict check_inline(const Program& program, const BlockSite& site) {
  const BlockNode& block = *site.block;
  std::string name = "block " + in_quotes(block.name());
  if (block.reducer)
    return refusal_at(block.tag, "L0214", name + " is a reduction",
                      "move it with compute_at instead");
  const StoreNode* store = only_store(block);
  if (!store) return refusal_at(block.tag, "L0214", name + " is not one store");
  BlockInfo info = info_of(program, block.tag);
  if (!info.is_complete())
    return refusal_at(block.tag, "L0214",
                      name + " can't be inlined: " +
                          (info.why.empty() ? std::string(to_text(info.kind)) : info.why));
  if (!info.sole_writer)
    return refusal_at(block.tag, "L0214",
                      name + " is not the only writer of " + in_quotes(store->buffer->name));
  if (!is_private(program->body, store->buffer))
    return refusal_at(block.tag, "L0214",
                      name + " writes the parameter " + in_quotes(store->buffer->name),
                      "inline it into its producer with reverse_compute_inline");
  if (!is_open_path(site.path))
    return refusal_at(block.tag, "L0214",
                      name + " stands under a condition or inside another block");
  if (block.predicate)
    return refusal_at(block.tag, "L0214",
                      name + " has a predicate, outside which its output is not defined");
  if (auto no = check_bare_touches(program, block, "L0214")) return no;
  FindOddUse odd(store->buffer);
  odd.stmt(program->body);
  if (!odd.found.empty())
    return refusal_at(
        block.tag, "L0214",
        in_quotes(store->buffer->name) + " is used by " + odd.found + ", not by plain loads only");
  return {};
}

// No block overwrites what the inlined one reads before its last reader.
inline Verdict check_inputs_until(const Program& program, const BlockSite& site,
                                  const Vec<BlockSite>& users) {
  int last = -1;
  for (const auto& u : users) last = std::max(last, block_position(program->body, u.block->tag));
  int own = block_position(program->body, site.block->tag);
  for (const auto& w : producers(program->body, site.block->tag)) {
    int at = block_position(program->body, w.block->tag);
    bool loops_back = false;
    for (const auto& u : users) loops_back |= static_cast<bool>(common_loop(w.loops, u.loops));
    if (at < own || (at > last && !loops_back)) continue;
    return refusal_at(w.block->tag, "L0214",
                      "block " + in_quotes(w.block->name()) + " overwrites what " +
                          in_quotes(site.block->name()) + " reads before its readers run");
  }
  return {};
}

inline Verdict run_compute_inline(const Program& program, const Args& args, Edit* edit) {
  BlockSite site = find_block(program->body, args[0].block);
  if (auto no = check_inline(program, site)) return no;
  const BlockNode core = without_guards(*site.block);
  const StoreNode& store = *only_store(core);
  Vec<BlockSite> users = consumers(program->body, core.tag);
  if (auto no = check_inputs_until(program, site, users)) return no;
  if (auto no = check_settled_inputs(program, *site.block, "L0214")) return no;
  Vec<VarRef> targets;
  Vec<AnyExpr> target_exprs;
  for (std::size_t d = 0; d < store.indices.size(); ++d)
    targets.push_back(make_var("t")), target_exprs.emplace_back(targets.back());
  AnyExpr valid;
  Vec<AnyExpr> iters =
      iterators_of_element(core, store.indices, target_exprs, valid, program_facts(program));
  if (iters.empty())
    return refusal_at(core.tag, "L0214",
                      "the instance of " + in_quotes(core.name()) +
                          " that stores an element can't be told from its indices");
  Substitution at;
  for (std::size_t k = 0; k < iters.size(); ++k) at.emplace_back(core.iters[k].var, iters[k]);
  Stmt root = remove_alloc(replace_at(site.path, {}), store.buffer);
  root = InlineLoads(store.buffer, targets, substitute(store.value, at)).stmt(root);
  for (const auto& u : users)
    if (node_count(find_block(root, u.block->tag).block->body) > kMaxInlinedNodes)
      return refusal_at(core.tag, "L0214",
                        "inlining " + in_quotes(core.name()) + " makes " +
                            in_quotes(u.block->name()) + " larger than " +
                            std::to_string(kMaxInlinedNodes) + " nodes",
                        "use compute_at");
  for (const auto& u : users)
    if (auto no = check_inputs_kept(program, root, u.block->tag, "L0214")) return no;
  if (!edit) return {};
  edit->program = program.with(root);
  edit->consumed.push_back({core.tag, "was inlined into its consumers"});
  consume_lost_loops(root, site.loops, *edit,
                     "was removed when " + in_quotes(core.name()) + " was inlined");
  return {};
}

LATHE_DECL const Primitive& primitive_compute_inline() {
  static const Primitive record{"compute_inline",
                                1,
                                {{"block", ArgKind::block}},
                                "loads of a block's output become its expression",
                                run_compute_inline};
  return record;
}

}  // namespace lathe::detail
