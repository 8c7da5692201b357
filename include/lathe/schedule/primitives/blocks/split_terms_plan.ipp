// Whether a reduction is one of sums of products, and which sums it needs.
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
  Stmt made;               ///< its block
  Vec<Buffer> read;        ///< by the block
  Vec<ForRef> outside;     ///< the loops that it stays inside of, as what it reads is written there

  const BlockNode& block() const { return *made.as<BlockNode>(); }
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
  GroupTerms(const SplitTermsPlan& plan, const Facts& facts)
      : block_(plan.block()), plan_(plan), facts_(facts) {}

  /// Empty: no product names all iterators that any of them names, or all of them do and are what
  /// the block adds up.
  Vec<TermSum> run() const {
    Vec<TermSum> sums, main, out;
    for (const auto& product : MultiplyOut::of(plan_.store().value)) add(sums, sum_of(product));
    leave_out_zeros(sums);
    Vec<bool> all(block_.iters.size(), false);
    for (const auto& sum : sums)
      for (std::size_t k = 0; k < all.size(); ++k) all[k] = all[k] || sum.named[k];
    for (auto& sum : sums) {
      const bool is_main = same(sum.named, all);
      if (!is_main) times_extents(sum);
      (is_main ? main : out).push_back(std::move(sum));
    }
    leave_out_zeros(out);
    const bool as_it_is =
        out.empty() && (main.size() > 1 || (!main.empty() && is_one(main[0].outer)));
    if (main.empty() || as_it_is) return {};
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
      const AnyExpr times = simplify(fold_max(it.extent, AnyExpr(0)), facts_);
      for (TermProduct& outer : sum.outer)
        if (const std::int64_t* extent = as_const_int(times))
          outer.factor = wrapped_product(t, outer.factor, *extent);
        else
          outer.parts.push_back(make_cast(t, times));
    }
  }
  static void leave_out_zeros(Vec<TermSum>& sums) {
    for (auto& sum : sums)
      sum.outer.erase_if([](const TermProduct& outer) { return outer.factor == 0; });
    sums.erase_if([](const TermSum& sum) { return sum.outer.empty(); });
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
    TermSum out;
    out.inner = {sum.sum}, out.named = all, out.outer = {TermProduct{}};
    return out;
  }

  const BlockNode& block_;
  const SplitTermsPlan& plan_;
  const Facts& facts_;
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
  Vec<bool> own(block.iters.size(), false);
  for (const auto& loop : plan.site.loops)
    if (const auto bound = bound_by(block, *loop, facts)) own[*bound] = true;
  for (std::size_t k = 0; k < block.iters.size(); ++k) {
    const IterVar& it = block.iters[k];
    if (!own[k])
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

inline Verdict find_term_sums(const Program& program, SplitTermsPlan& plan) {
  plan.sums = GroupTerms(plan, program_facts(program)).run();
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

}  // namespace lathe::detail
