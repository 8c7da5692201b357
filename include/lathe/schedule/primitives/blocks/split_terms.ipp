// A reduction of sums of products as one reduction for each product.
#pragma once

#include <lathe/schedule/primitives/blocks/rfactor_plan.ipp>
#include <lathe/schedule/primitives/blocks/term_products.ipp>
#include <lathe/schedule/primitives/copies/copies.ipp>
#include <lathe/schedule/primitives/copies/may_fail.ipp>

namespace lathe::detail {

inline constexpr CopyStep kSplitTerms{"split_terms", "L0269"};

/// One of the sums: of a product over the iterators that it names, times what the block's reduce
/// iterators don't change.
struct TermSum {
  Vec<AnyExpr> inner;
  Vec<bool> named;         ///< of the block's iterators, by the inner parts
  Vec<TermProduct> outer;  ///< added up
  Buffer buffer;           ///< of the sums; none where nothing is added up
};

struct SplitTermsPlan {
  BlockSite site;
  Vec<TermSum> sums;  ///< the first stays in the block

  const BlockNode& block() const { return *site.block; }
  const StoreNode& store() const { return *only_store(block()); }
  DType type() const { return store().value.dtype(); }
  Refusal no(const std::string& why, std::string help = {}) const {
    return refusal_at(block().tag, kSplitTerms.id, "block " + in_quotes(block().name()) + " " + why,
                      std::move(help));
  }
};

/// a + b * c + …; negative factors are subtracted.
class SumOfProducts {
 public:
  explicit SumOfProducts(DType t) : type_(t) {}
  AnyExpr sum;

  void add(TermProduct product) {
    const bool less = sum.get() && product.factor < 0 && product.factor != INT64_MIN;
    if (less) product.factor = -product.factor;
    const AnyExpr value = value_of(product);
    sum = sum.get() ? make_binary(less ? BinaryOp::sub : BinaryOp::add, sum, value) : value;
  }

 private:
  AnyExpr value_of(const TermProduct& product) const {
    AnyExpr out;
    for (const auto& part : product.parts)
      out = out.get() ? make_binary(BinaryOp::mul, out, part) : part;
    const AnyExpr factor = make_const(type_, wrap_int(type_, product.factor));
    if (!out.get() || is_const(factor, 1)) return out.get() ? out : factor;
    return make_binary(BinaryOp::mul, out, factor);
  }
  const DType type_;
};

/// Groups the products of a block's terms by the sums that they need.
class GroupTerms {
 public:
  explicit GroupTerms(const SplitTermsPlan& plan) : block_(plan.block()), plan_(plan) {}

  /// Empty: no product names all iterators that any of them names, or there is one that is as it
  /// is.
  Vec<TermSum> run() {
    const Vec<TermProduct> products = MultiplyOut::of(plan_.store().value);
    Vec<bool> all(block_.iters.size(), false);
    for (const auto& product : products) {
      const Vec<bool> named = named_by(inner_of(product));
      for (std::size_t k = 0; k < all.size(); ++k) all[k] = all[k] || named[k];
    }
    Vec<TermSum> out, main;
    for (const auto& product : products) {
      TermSum sum = sum_of(product);
      const bool is_main = same(sum.named, all);
      if (!is_main) times_extents(sum);
      add(is_main ? main : out, std::move(sum));
    }
    for (auto& sum : out)
      sum.outer.erase_if([](const TermProduct& outer) { return outer.factor == 0; });
    out.erase_if([](const TermSum& sum) { return sum.outer.empty(); });
    const bool as_it_is = out.empty() && main.size() == 1 && is_one(main[0].outer);
    if (main.empty() || as_it_is || (out.empty() && main.size() > 1)) return {};
    out.insert_at(0, main.size() == 1 ? main[0] : joined(main, all));
    return out;
  }

 private:
  bool is_inner(const AnyExpr& part) const {
    for (const auto& it : block_.iters)
      if (it.kind == IterKind::reduce && uses_var(part, it.var)) return true;
    return false;
  }
  Vec<AnyExpr> inner_of(const TermProduct& product) const {
    Vec<AnyExpr> out;
    for (const auto& part : product.parts)
      if (is_inner(part)) out.push_back(part);
    return out;
  }
  Vec<bool> named_by(const Vec<AnyExpr>& parts) const {
    Vec<bool> out;
    for (const auto& it : block_.iters)
      out.push_back(std::any_of(parts.begin(), parts.end(),
                                [&](const AnyExpr& part) { return uses_var(part, it.var); }));
    return out;
  }
  static bool same(const Vec<bool>& a, const Vec<bool>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  static bool is_one(const Vec<TermProduct>& outer) {
    return outer.size() == 1 && outer[0].factor == 1 && outer[0].parts.empty();
  }

  TermSum sum_of(const TermProduct& product) const {
    TermSum out;
    out.inner = inner_of(product), out.named = named_by(out.inner);
    TermProduct outer{product.factor, {}};
    for (const auto& part : product.parts)
      if (!is_inner(part)) outer.parts.push_back(part);
    out.outer = {std::move(outer)};
    return out;
  }
  // Reduce iterators that a sum does not name repeat it.
  void times_extents(TermSum& sum) const {
    const DType t = plan_.type();
    for (std::size_t k = 0; k < block_.iters.size(); ++k) {
      const IterVar& it = block_.iters[k];
      if (it.kind != IterKind::reduce || sum.named[k]) continue;
      TermProduct& outer = sum.outer[0];
      if (const std::int64_t* extent = as_const_int(it.extent))
        outer.factor = wrapped_product(t, outer.factor, *extent);
      else
        outer.parts.push_back(make_cast(t, it.extent));
    }
  }
  void add(Vec<TermSum>& to, TermSum sum) const {
    for (auto& other : to)
      if (MultiplyOut::same_parts(other.inner, sum.inner))
        return add_factor(other.outer, sum.outer[0]);
    to.push_back(std::move(sum));
  }
  void add_factor(Vec<TermProduct>& to, const TermProduct& more) const {
    for (auto& other : to)
      if (MultiplyOut::same_parts(other.parts, more.parts)) {
        other.factor = wrapped_sum(plan_.type(), other.factor, more.factor);
        return;
      }
    to.push_back(more);
  }
  // Several products that name all: the block goes on adding them up together.
  TermSum joined(const Vec<TermSum>& main, const Vec<bool>& all) const {
    SumOfProducts sum(plan_.type());
    for (const auto& each : main)
      for (TermProduct outer : each.outer) {
        outer.parts.append(each.inner);
        sum.add(std::move(outer));
      }
    return {{sum.sum}, all, {TermProduct{}}, {}};
  }

  const BlockNode& block_;
  const SplitTermsPlan& plan_;
};

inline Verdict check_split_terms(const Program& program, const SplitTermsPlan& plan) {
  const BlockNode& block = plan.block();
  if (auto no = check_cache_write(program, plan.site, kSplitTerms)) return no;
  const StoreNode* store = only_store(block);
  if (!block.reducer || !store || store->mask.get() || !store->value.dtype().is_int() ||
      classify(*block.reducer).op != BinaryOp::add || !is_const(block.reducer->identity[0], 0))
    return plan.no("is no sum of integers",
                   "sums of floats are rounded otherwise in each order: write them apart");
  if (block.predicate.get() || guard_count(block) > 0)
    return plan.no("has a condition, which not all of the sums would ask",
                   "split terms before loops are split");
  const Facts facts = facts_on(plan.site.path, program_facts(program));
  for (const auto& it : block.iters) {
    const auto* var = it.binding.as<VarNode>();
    const bool own =
        std::any_of(plan.site.loops.begin(), plan.site.loops.end(), [&](const ForRef& loop) {
          return var == loop->var.get() && prove(eq(loop->min, it.min), facts) &&
                 prove(eq(loop->extent, it.extent), facts);
        });
    if (!own)
      return plan.no(
          "has an iterator " + in_quotes(it.var->name) + " that no loop of its own runs through",
          "split terms before loops are split or fused");
    if (!over_dims(program, it.extent))
      return plan.no("has an iterator " + in_quotes(it.var->name) + " of " +
                     extent_text(it.extent) + " iterations, which is not over Dims");
  }
  RfactorPlan terms;
  terms.site = plan.site;
  Verdict no = check_terms(program, terms);
  if (no) no->id = kSplitTerms.id, no->help.clear();
  return no;
}

inline Verdict find_term_sums(SplitTermsPlan& plan) {
  plan.sums = GroupTerms(plan).run();
  if (plan.sums.empty())
    return plan.no("adds up " + str(plan.store().value) +
                       ", which is not one product over all of its " +
                       "iterators and others over fewer",
                   "terms such as (a[i, r] - z) * b[r, j] have sums over fewer iterators");
  for (const auto& sum : plan.sums) {
    Vec<AnyExpr> parts = sum.inner;
    for (const auto& outer : sum.outer) parts.append(outer.parts);
    for (const auto& part : parts)
      if (may_fail(part))
        return plan.no("computes " + str(part) + ", which may divide by 0 where no term does");
  }
  return {};
}

/// Builds the blocks of the sums, and the one that adds them up.
class SplitTermsBlocks {
 public:
  explicit SplitTermsBlocks(const SplitTermsPlan& plan) : plan_(plan), block_(plan.block()) {}

  static AnyExpr product(const SplitTermsPlan& plan, const TermSum& sum) {
    SumOfProducts out(plan.type());
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
    out.body = make_store(plan_.sums[0].buffer, store.indices, product(plan_, plan_.sums[0]));
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

/// Puts a block of sums before the block, as far out as nothing writes what it reads.
inline Verdict put_sum_before(const Program& program, const SplitTermsPlan& plan,
                              const TermSum& sum, const BlockTag& tag, Stmt& root) {
  const SplitTermsBlocks blocks(plan);
  const InsideBlock inside(
      program, plan.block(), {SplitTermsBlocks::product(plan, sum)},
      [&](const Vec<AnyExpr>& values) { return blocks.of_sum(sum, tag, values[0]); });
  if (inside.beyond)
    return plan.no("is not proved to read " + in_quotes(inside.beyond->name) +
                   " inside of it in each of its sums");
  const Vec<Buffer> read = buffers_read(make_ref<EvaluateNode>(only_store(*inside.block)->value));
  for (const auto& buffer : read)
    if (auto no = check_cache_read(program, plan.site, buffer, kSplitTerms)) return no;
  const CopyIn copy(find_block(root, plan.block().tag), read);
  for (const auto& loop : copy.outside())
    if (feeds(*loop, plan.block(), IterKind::reduce))
      return plan.no("reads in loop " + describe(*loop) + " what is written there");
  Vec<Range> ranges;
  if (!ranges_inside(*inside.block, loops_within(copy.site.loops, copy.outside()),
                     copy.site.path[copy.at], facts_on(copy.site.path, program_facts(program)),
                     ranges))
    return plan.no("has iterators without a bound in one iteration");
  root = insert_before(path_to(copy.site.path, copy.at),
                       nest_of(*inside.block, ranges, loop_names(copy.outside())));
  for (const auto& buffer : read)
    if (auto no = check_copy_source(program, root, tag, buffer, copy.outside(), kSplitTerms))
      return no;
  return {};
}

/// Puts the block that adds up after the block's nest.
inline Verdict put_added(const Program& program, const SplitTermsPlan& plan, const BlockTag& tag,
                         Stmt& root) {
  CopyOut out;
  out.site = plan.site;
  out.copy.emplace(SplitTermsBlocks(plan).added(tag));
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
  const std::string why =
      why_not_found(root, {plan.block().tag}, tag, plan.sums[0].buffer,
                    outside.empty() ? VarRef() : outside.back()->var, program_facts(program));
  if (!why.empty()) return plan.no("is added to where it is not finished: " + why);
  return {};
}

inline Verdict run_split_terms(const Program& program, const Args& args, Edit* edit) {
  SplitTermsPlan plan;
  plan.site = find_block(program->body, args[0].block);
  if (auto no = check_split_terms(program, plan)) return no;
  if (auto no = find_term_sums(plan)) return no;
  NamePool names(program);
  const std::string& name = plan.store().buffer->name;
  const Buffer& to = plan.store().buffer;
  plan.sums[0].buffer =
      make_buffer(names.fresh(name + "_terms"), to->dtype, to->shape, Scope::global);
  for (std::size_t k = 1; k < plan.sums.size(); ++k)
    if (!plan.sums[k].inner.empty())
      plan.sums[k].buffer =
          SplitTermsBlocks(plan).buffer_of(plan.sums[k], names.fresh(name + "_sum"));
  const BlockTag added = make_ref<BlockTagNode>(names.fresh(name + "_added"));
  Stmt root;
  Vec<BlockTag> made;
  if (auto no = put_added(program, plan, added, root)) return no;
  for (std::size_t k = 1; k < plan.sums.size(); ++k) {
    const TermSum& sum = plan.sums[k];
    if (!sum.buffer) continue;
    made.push_back(make_ref<BlockTagNode>(sum.buffer->name));
    if (auto no = put_sum_before(program, plan, sum, made.back(), root)) return no;
  }
  if (!edit) return {};
  for (const auto& sum : plan.sums)
    if (sum.buffer) root = add_alloc(root, sum.buffer);
  edit->program = program.with(root);
  made.push_back(added);
  for (const auto& tag : made) edit->results.push_back(BlockRef(tag));
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
