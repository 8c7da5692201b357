// A reduction of sums of products as one reduction for each product.
#pragma once

#include <lathe/schedule/primitives/blocks/split_terms_plan.ipp>

namespace lathe::detail {

/// Builds the blocks of the sums, and the one that adds them up.
class SplitTermsBlocks {
 public:
  explicit SplitTermsBlocks(const SplitTermsPlan& plan) : plan_(plan), block_(plan.block()) {}

  AnyExpr product(const TermSum& sum) const {
    SumOfProducts out(plan_.type());
    out.add({1, sum.inner});
    return out.sum;
  }
  Buffer buffer_of(const TermSum& sum, std::string name) const {
    Vec<AnyExpr> shape;
    for (std::size_t k = 0; k < block_.iters.size(); ++k)
      if (is_axis(sum, k)) shape.push_back(block_.iters[k].extent);
    return make_buffer(std::move(name), plan_.type(), std::move(shape), Scope::global);
  }

  BlockNode of_sum(const TermSum& sum, const BlockTag& tag, const AnyExpr& value) const {
    BlockNode out(tag, {}, Stmt());
    Substitution map;
    for (std::size_t k = 0; k < block_.iters.size(); ++k) {
      if (!sum.named[k]) continue;
      IterVar it = block_.iters[k];
      it.var = make_var(it.var->name, it.var->dtype);
      map.emplace_back(block_.iters[k].var, AnyExpr(it.var));
      out.iters.push_back(std::move(it));
    }
    Vec<AnyExpr> at;
    for (const auto& index : place_in(sum)) at.push_back(substitute(index, map));
    out.body = make_store(sum.buffer, at, fresh_lets(substitute(value, map)));
    out.reducer = block_.reducer, out.init = true;
    return out;
  }

  Stmt main() const {
    const StoreNode& store = plan_.store();
    BlockNode out = block_;
    out.body = make_store(plan_.sums[0].buffer, store.indices, product(plan_.sums[0]));
    out.attributes = after(Change::divert, block_.attributes);
    return make_block(std::move(out));
  }

  BlockNode added(const BlockTag& tag) const {
    const StoreNode& store = plan_.store();
    SumOfProducts value(plan_.type());
    for (const TermSum& sum : plan_.sums)
      for (TermProduct outer : sum.outer) {
        if (sum.buffer)
          outer.parts.push_back(
              make_load(sum.buffer, &sum == &plan_.sums[0] ? store.indices : place_in(sum)));
        value.add(std::move(outer));
      }
    Substitution map;
    BlockNode out = spatial_block(block_, tag, map);
    Vec<AnyExpr> at;
    for (const auto& index : store.indices) at.push_back(fresh_lets(substitute(index, map)));
    out.body = make_store(store.buffer, at, fresh_lets(substitute(value.sum, map)));
    out.attributes = after(Change::deliver, block_.attributes);
    return out;
  }

 private:
  bool is_axis(const TermSum& sum, std::size_t k) const {
    return sum.named[k] && block_.iters[k].kind == IterKind::spatial;
  }
  Vec<AnyExpr> place_in(const TermSum& sum) const {
    Vec<AnyExpr> at;
    for (std::size_t k = 0; k < block_.iters.size(); ++k)
      if (is_axis(sum, k))
        at.push_back(simplify(fold_sub(AnyExpr(block_.iters[k].var), block_.iters[k].min)));
    return at;
  }
  const SplitTermsPlan& plan_;
  const BlockNode& block_;
};

/// The block of a sum, and the loops that it stays inside of.
inline Verdict make_sum(const Program& program, const SplitTermsPlan& plan, TermSum& sum) {
  const SplitTermsBlocks blocks(plan);
  const BlockTag tag = make_ref<BlockTagNode>(sum.buffer->name);
  InsideBlock inside(program, plan.block(), {blocks.product(sum)}, [&](const Vec<AnyExpr>& values) {
    return blocks.of_sum(sum, tag, values[0]);
  });
  if (inside.beyond)
    return plan.no("is not proved to read " + in_quotes(inside.beyond->name) +
                   " inside of it in each of its sums");
  sum.made = make_block(std::move(*inside.block));
  sum.read = buffers_read(make_ref<EvaluateNode>(only_store(sum.block())->value));
  for (const auto& buffer : sum.read)
    if (auto no = check_cache_read(program, plan.site, buffer, kSplitTerms)) return no;
  sum.outside = CopyIn(plan.site, sum.read).outside();
  for (const auto& loop : sum.outside)
    if (feeds(*loop, plan.block(), IterKind::reduce))
      return plan.no("reads in loop " + describe(*loop) + " what is written there");
  return {};
}

/// Puts a block of sums before the block, as far out as nothing writes what it reads.
inline Verdict put_sum_before(const Program& program, const SplitTermsPlan& plan,
                              const TermSum& sum, Stmt& root) {
  const CopyIn copy(find_block(root, plan.block().tag), sum.read);
  Vec<Range> ranges;
  if (!ranges_inside(sum.block(), loops_within(copy.site.loops, copy.outside()),
                     copy.site.path[copy.at], facts_on(copy.site.path, program_facts(program)),
                     ranges))
    return plan.no("has iterators without a bound in one iteration");
  root = insert_before(path_to(copy.site.path, copy.at),
                       nest_of(sum.block(), ranges, loop_names(copy.outside())));
  for (const auto& buffer : sum.read)
    if (auto no =
            check_copy_source(program, root, sum.block().tag, buffer, copy.outside(), kSplitTerms))
      return no;
  return {};
}

/// Puts the block that adds up after the block's nest.
inline Verdict put_added(const Program& program, const SplitTermsPlan& plan, const BlockTag& tag,
                         Stmt& root) {
  CopyOut out;
  out.site = plan.site;
  out.copy.emplace(SplitTermsBlocks(plan).added(tag));
  for (const auto& sum : plan.sums)
    if (sum.outside.size() > out.inside.size()) out.inside = sum.outside;
  if (const Buffer beyond = touched_beyond(program, *out.copy))
    return plan.no("is not proved to read " + in_quotes(beyond->name) +
                   " inside of it where there are no terms");
  if (auto no = place_copy_out(program, out, kSplitTerms)) return no;
  for (const auto& buffer : buffers_read(out.copy->body))
    if (!writers(plan.site.path[out.at], buffer).empty())
      return plan.no("reads " + in_quotes(buffer->name) + ", which is written beside it");
  Vec<Stmt> above = path_to(plan.site.path, out.at);
  above.pop_back();
  root = replace_at(plan.site.path, SplitTermsBlocks(plan).main());
  const Vec<ForRef> outside = loops_in(above);
  root = insert_after(path_to(find_block(root, plan.block().tag).path, out.at),
                      nest_of(*out.copy, out.ranges, loop_names(outside)));
  return {};
}

/// Whether what the last block reads is there.
inline Verdict check_added(const Program& program, const SplitTermsPlan& plan, const BlockTag& tag,
                           const Stmt& root) {
  const Vec<ForRef> around = find_block(root, tag).loops;
  for (const TermSum& sum : plan.sums) {
    if (!sum.buffer) continue;
    const BlockTag& from = sum.made ? sum.block().tag : plan.block().tag;
    VarRef inside;
    for (const auto& loop : around)
      if (below(find_block(root, from).loops, loop->var)) inside = loop->var;
    const std::string why =
        why_not_found(root, {from}, tag, sum.buffer, inside, program_facts(program));
    if (!why.empty()) return plan.no("is added to where it is not finished: " + why);
  }
  return {};
}

inline Verdict run_split_terms(const Program& program, const Args& args, Edit* edit) {
  SplitTermsPlan plan;
  plan.site = find_block(program->body, args[0].block);
  if (auto no = check_split_terms(program, plan)) return no;
  if (auto no = find_term_sums(program, plan)) return no;
  NamePool names(program);
  const Buffer& to = plan.store().buffer;
  plan.sums[0].buffer =
      make_buffer(names.fresh(to->name + "_terms"), to->dtype, to->shape, Scope::global);
  for (TermSum* sum = plan.sums.begin() + 1; sum != plan.sums.end(); ++sum) {
    if (sum->inner.empty()) continue;
    sum->buffer = SplitTermsBlocks(plan).buffer_of(*sum, names.fresh(to->name + "_sum"));
    if (auto no = make_sum(program, plan, *sum)) return no;
  }
  const BlockTag added = make_ref<BlockTagNode>(names.fresh(to->name + "_added"));
  Stmt root;
  if (auto no = put_added(program, plan, added, root)) return no;
  for (const TermSum& sum : plan.sums)
    if (sum.made)
      if (auto no = put_sum_before(program, plan, sum, root)) return no;
  if (auto no = check_added(program, plan, added, root)) return no;
  if (!edit) return {};
  for (const TermSum& sum : plan.sums) {
    if (sum.buffer) root = add_alloc(root, sum.buffer);
    if (sum.made) edit->results.push_back(BlockRef(sum.block().tag));
  }
  edit->program = program.with(root);
  edit->results.push_back(BlockRef(added));
  return {};
}

LATHE_DECL const Primitive& primitive_split_terms() {
  static const Primitive record{"split_terms",
                                1,
                                {{"block", ArgKind::block}},
                                "a sum of sums of products becomes a sum for each product",
                                run_split_terms,
                                ArgKind::block,
                                Results::counted};
  return record;
}

}  // namespace lathe::detail
