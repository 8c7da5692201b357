#pragma once

#include <algorithm>
#include <functional>
#include <lathe/analysis/borders.hpp>
#include <lathe/analysis/flat_stride.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <vector>

namespace lathe {
namespace detail {

// Loops become two where an index divides what they count: x[floordiv(f, 16), floormod(f, 16)] is
// linear in the parts of f, and so is what groups, panels and pixel shuffles read. Where it divides
// a sum, floordiv(i + 1 - r, 2), spatial iterators become two, so that their residues say which
// terms there are: a transposed convolution is one of a few taps for each residue.
class SplitComposites : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run(const BlockRef& block) {
    const BlockSite at = site(block);
    if (!at.block) return;
    FindQuotients found(*at.block, facts_on(at.path));
    found.stmt(at.block->body);
    if (at.block->predicate) found.expr(at.block->predicate);
    const std::int64_t lanes = target_.lanes(body_cost(*at.block).widest);
    if (found.divides_sums()) return split_iterators(*at.block, found, false);
    if (at.block->reducer && found.has_ragged_part(lanes))
      return split_iterators(*at.block, found, true);
    for (const auto& it : at.block->iters)
      for (const auto& loop : at.loops) {
        if (it.binding.get() != loop->var.get() || loop->loop_kind != ForKind::serial) continue;
        Vec<Factor> factors{infer};
        for (const std::int64_t part : found.parts_of(it)) factors.push_back(part);
        if (factors.size() > 1) attempt([&] { s_.split_any(LoopRef(loop->var), factors); });
      }
  }

 private:
  class FindQuotients : public Visitor {
   public:
    FindQuotients(const BlockNode& block, Facts facts) : block_(block), facts_(std::move(facts)) {
      for (const auto& it : block.iters) iters_.push_back(it.var), facts_.bind(it);
    }

    // A quotient that only a value or a condition has does not say how memory is read.
    void expr(const AnyExpr& e) override {
      const auto* n = e.as<BinaryNode>();
      if (n && is_quotient(n->op))
        if (const std::int64_t* c = as_const_int(n->b); c && *c > 1) divides(n->a, *c);
      const int around = reads_;
      reads_ += e.kind() == ExprKind::Load;
      if (const auto* load = e.as<LoadNode>())
        places(*load->buffer, load->indices);
      else
        descend(e);
      reads_ = around;
    }
    void stmt(const Stmt& s) override {
      const auto* n = s.as<StoreNode>();
      if (!n) return descend(s);
      places(*n->buffer, n->indices);
      expr(n->value);
    }

    /// A quotient of a sum has spatial and reduce iterators.
    bool divides_sums() const { return mixes_; }
    /// Parts of a spatial iterator that fill no whole vectors: tails of loops within its loops are
    /// many conditions, tails of an iterator of its own are one.
    bool has_ragged_part(std::int64_t lanes) const {
      return std::any_of(block_.iters.begin(), block_.iters.end(), [&](const IterVar& it) {
        const std::int64_t part = part_of(it);
        return it.kind == IterKind::spatial && part % lanes != 0 && as_const_int(it.extent) &&
               fills(it, part);
      });
    }
    // The one number that divides the iterator; 0 if there is none, or another.
    std::int64_t part_of(const IterVar& it) const {
      const Vec<std::int64_t> parts = parts_of(it);
      return parts.size() == 1 ? parts[0] : 0;
    }
    static bool fills(const IterVar& it, std::int64_t part) {
      return is_const(simplify(floormod(it.extent, AnyExpr(part))), 0);
    }
    // What an iterator is made of below its largest part, outer ones first: of bytes that hold two
    // terms, and scales that hold for 32, 16 and 2. None where a part ends inside of another, or
    // may be left over from an extent that a call tells.
    Vec<std::int64_t> parts_of(const IterVar& it) const {
      const std::int64_t* extent = as_const_int(it.extent);
      std::vector<std::int64_t> all;
      for (const auto& [var, by] : divided_)
        if (var == it.var) all.push_back(by);
      std::sort(all.begin(), all.end(), std::greater<>());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      if (all.empty() || all.back() < 2) return {};
      if (extent ? all[0] >= *extent : !fills(it, all[0])) return {};
      Vec<std::int64_t> parts;
      for (std::size_t k = 0; k + 1 < all.size(); ++k) {
        if (all[k] % all[k + 1] != 0) return {};
        parts.push_back(all[k] / all[k + 1]);
      }
      parts.push_back(all.back());
      return parts;
    }

   private:
    static bool is_quotient(BinaryOp op) {
      return op == BinaryOp::floordiv || op == BinaryOp::floormod || op == BinaryOp::div ||
             op == BinaryOp::mod;
    }
    struct Divided {
      VarRef var;
      std::int64_t by;
    };

    // Digits of one index say no more than it, also where the first one is clamped.
    void places(const BufferNode& buffer, const Vec<AnyExpr>& indices) {
      Vec<AnyExpr> inside;
      for (const auto& index : indices) inside.push_back(away_from_borders(index, facts_));
      Vec<AnyExpr> joined = inside;
      join_digits(buffer, joined);
      for (std::size_t d = 0; d < indices.size(); ++d)
        expr(same_expr(joined[d], inside[d]) ? indices[d] : joined[d]);
    }

    void divides(const AnyExpr& sum, std::int64_t by) {
      const auto parts = affine_of(sum, iters_);
      if (!parts) return;
      bool spatial = false, reduce = false;
      Vec<Divided> found;
      for (std::size_t k = 0; k < iters_.size(); ++k) {
        const auto coef = parts->coef(k);
        if (!coef) return;
        if (*coef % by == 0) continue;
        found.push_back({iters_[k], by});
        (block_.iters[k].kind == IterKind::reduce ? reduce : spatial) = true;
      }
      if (!(spatial && reduce) && (sum.kind() != ExprKind::Var || reads_ == 0)) return;
      mixes_ = mixes_ || (spatial && reduce);
      divided_.append(found);
    }

    const BlockNode& block_;
    Facts facts_;
    Vec<VarRef> iters_;
    Vec<Divided> divided_;
    bool mixes_ = false;
    int reads_ = 0;  ///< indices of loads around
  };

  // Lanes of the output stay what they are, but for parts that follow each other.
  void split_iterators(const BlockNode& block, const FindQuotients& found, bool lanes_too) {
    const AccessSite write = writes_of(block)[0];
    Vec<VarRef> from;
    Vec<AnyExpr> to;
    for (const auto& it : block.iters) {
      const std::int64_t part = it.kind == IterKind::spatial ? found.part_of(it) : 0;
      if (part > 0 && !FindQuotients::fills(it, part)) return;
      const bool along = !write.indices.empty() && uses_var(write.indices.back(), it.var);
      if (part > 0 && along && !lanes_too) return;
      const VarRef var = make_var(it.var->name);
      from.push_back(var);
      if (part > 0) to.push_back(floordiv(AnyExpr(var), AnyExpr(part)));
      to.push_back(part > 0 ? floormod(AnyExpr(var), AnyExpr(part)) : AnyExpr(var));
    }
    const BlockName name{BlockRef(block.tag)};
    attempt([&] { s_.transform_block_layout(name, make_ref<LayoutMapNode>(from, to)); });
  }
};

}  // namespace detail
}  // namespace lathe
