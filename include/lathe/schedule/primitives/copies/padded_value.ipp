#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/schedule/primitives/copies/over_places.ipp>

namespace lathe::detail {

/// A part of a block's value that depends on the iterators through the place of a load alone:
/// select(0 <= i - 1 && i - 1 < n, X[i - 1], 0), X[max(i - 1, 0)].
struct PaddedValue {
  AnyExpr value;       ///< as it stands in the block
  Vec<AnyExpr> index;  ///< the place, without what keeps it inside
  AnyExpr over_axes;   ///< the value over the axes of the buffer
};

// max(min(e, n - 1), 0) is e, kept inside.
inline AnyExpr without_clamps(AnyExpr e, const Vec<VarRef>& iters) {
  for (const auto* n = e.as<BinaryNode>(); n && (n->op == BinaryOp::min || n->op == BinaryOp::max);
       n = e.as<BinaryNode>()) {
    const bool a = names_one_of(n->a, iters), b = names_one_of(n->b, iters);
    if (a == b) break;
    e = AnyExpr(a ? n->a : n->b);
  }
  return e;
}

// Writes a value over the axes: what varies as the place does, over the axis in its stead.
class OverAxes : public OverPlaces {
 public:
  /// `facts` has the ranges of the iterators.
  OverAxes(const Vec<VarRef>& iters, const Facts& facts, const Vec<AnyExpr>& index,
           const Vec<VarRef>& axes)
      : OverPlaces(iters, facts), index_(index), axes_(axes) {}

 private:
  // index + rest or rest - index, where nothing that varies is left in the rest. By no ranges: of a
  // bound that this place does not reach the others need to know.
  AnyExpr over_place(const AnyExpr& e) override {
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      if (!names_one_of(index_[d], iters_)) continue;
      const AnyExpr axis(axes_[d]);
      if (const AnyExpr rest = simplify(fold_sub(e, index_[d])); !names_one_of(rest, iters_))
        return simplify(fold_add(axis, rest));
      if (const AnyExpr rest = simplify(fold_add(e, index_[d])); !names_one_of(rest, iters_))
        return simplify(fold_sub(rest, axis));
    }
    return {};
  }

  const Vec<AnyExpr>& index_;
  const Vec<VarRef>& axes_;
};

/// The padded values of one buffer in a block: of each load the outermost choice around it.
class FindPaddedValues : public Visitor {
 public:
  FindPaddedValues(const Program& program, const BlockNode& block, const Buffer& from,
                   const Vec<VarRef>& axes)
      : from_(from), axes_(axes), facts_(program_facts(program)) {
    for (const auto& it : block.iters) {
      iters_.push_back(it.var);
      facts_.bind(it);
    }
  }
  Vec<PaddedValue> found;
  AnyExpr other;  ///< what holds a load and is no padded value

  void expr(const AnyExpr& e) override {
    const auto* load = e.as<LoadNode>();
    const bool own = load && load->buffer == from_;
    if ((own || e.as<SelectNode>()) && loads_only_ours(e))
      if (auto value = value_of(e)) return void(found.push_back(std::move(*value)));
    if (own && !other.get()) other = choice_.get() ? choice_ : e;
    if (own) return;
    const AnyExpr before = choice_;
    if (e.as<SelectNode>()) choice_ = e;
    descend(e);
    choice_ = before;
  }

 private:
  bool loads_only_ours(const AnyExpr& e) const {
    LoadedBuffers loads;
    loads.expr(e);
    return !loads.found.empty() && std::all_of(loads.found.begin(), loads.found.end(),
                                               [&](const Buffer& b) { return b == from_; });
  }

  std::optional<PaddedValue> value_of(const AnyExpr& e) const {
    PaddedValue out{e, {}, {}};
    bool padded = e.as<SelectNode>() != nullptr;
    for (const auto& at : find_load(e)->indices) {
      out.index.push_back(without_clamps(at, iters_));
      padded = padded || out.index.back().get() != at.get();
    }
    if (!padded) return {};
    out.over_axes = OverAxes(iters_, facts_, out.index, axes_).expr(e);
    if (names_one_of(out.over_axes, iters_)) return {};
    return out;
  }

  const Buffer& from_;
  const Vec<VarRef>& axes_;
  Facts facts_;
  Vec<VarRef> iters_;
  AnyExpr choice_;  ///< the innermost one around, which is no padded value
};

/// The block with loads of the copy for its padded values.
class ReadPaddedCopy : public Mutator {
 public:
  ReadPaddedCopy(const Vec<PaddedValue>& values, const Buffer& to, const Vec<Range>& domain,
                 const Facts& facts)
      : values_(values), to_(to), domain_(domain), facts_(facts) {}

  Stmt reader(const BlockNode& block) {
    BlockNode out = block;
    out.body = stmt(out.body);
    if (out.predicate) out.predicate = expr(out.predicate);
    return make_block(std::move(out));
  }

  AnyExpr expr(const AnyExpr& e) override {
    for (const auto& value : values_) {
      if (value.value.get() != e.get()) continue;
      Vec<AnyExpr> at;
      for (std::size_t d = 0; d < domain_.size(); ++d)
        at.push_back(simplify(fold_sub(value.index[d], domain_[d].min), facts_));
      return make_load(to_, at);
    }
    return descend(e);
  }

 private:
  const Vec<PaddedValue>& values_;
  const Buffer& to_;
  const Vec<Range>& domain_;
  const Facts& facts_;
};

}  // namespace lathe::detail
