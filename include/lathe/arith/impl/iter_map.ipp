#pragma once

#include <algorithm>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

/// Builds an IterMap: reads the index sums, then judges them.
class IterMapper {
 public:
  IterMapper(const Vec<IterDomain>& inputs, const Facts& facts) : around_(facts), facts_(facts) {
    facts_.keep_unit_vars();
    map_.inputs = inputs;
    rectangular_ = make_rectangular();
    for (const auto& d : map_.inputs) {
      // Sources count from zero.
      VarRef zero_based = is_const(d.min, 0) ? d.var : make_var(d.var->name);
      if (zero_based != d.var) shift_.emplace_back(d.var, fold_add(AnyExpr(zero_based), d.min));
      sources_.push_back(zero_based);
      facts_.bind(zero_based, AnyExpr(0), d.extent);
      extents_.push_back(simplify(d.extent, facts_));
    }
  }
  IterMap run(const Vec<AnyExpr>& indices, const AnyExpr& condition);

 private:
  bool fail(const char* why) {
    if (map_.why.empty()) map_.why = why;
    return false;
  }
  AnyExpr mul(const AnyExpr& a, const AnyExpr& b) { return short_form(fold_mul(a, b)); }
  AnyExpr short_form(const AnyExpr& e) {
    return e.kind() == ExprKind::Const ? e : simplify(e, facts_);
  }
  bool equal(const AnyExpr& a, const AnyExpr& b) {
    const auto *x = as_const_int(a), *y = as_const_int(b);
    return x && y ? *x == *y : prove_eq(a, b, facts_);
  }
  bool at_least(const AnyExpr& a, const AnyExpr& b) {
    const auto *x = as_const_int(a), *y = as_const_int(b);
    return x && y ? *x >= *y : prove_le(b, a, facts_);
  }
  bool divides(const AnyExpr& a, const AnyExpr& b) {
    const auto *x = as_const_int(a), *y = as_const_int(b);
    return x && y ? *x != 0 && *y % *x == 0 : same_expr(a, b) || prove_divides(a, b, facts_);
  }
  bool read_sum(const AnyExpr& e, IterSum& out);
  bool read_split(const AnyExpr& e, IterSplit& out);
  bool read_fused(const AnyExpr& e, IterSplit& out);
  bool read_div(const BinaryNode& n, IterSplit& out);
  void order_splits(Vec<IterSplit>& splits, Vec<AnyExpr>& sizes);
  void judge_sum(IterSum& sum);
  bool sum_injective(const IterSum& sum, const Vec<bool>& determined);
  bool whole_source(const IterSplit& split) {
    return is_const(split.lower, 1) && equal(split.extent, extents_[split.source]);
  }
  bool source_determined(std::size_t source, const Vec<const IterSplit*>& known);
  bool judge_injective();
  bool judge_covering();
  bool source_covered(std::size_t source);
  AnyExpr magnitude(const AnyExpr& scale, bool& ok);

  bool make_rectangular();

  Facts around_;  // without the inputs, which a domain that may be empty need not have
  Facts facts_;
  IterMap map_;
  bool rectangular_ = true, hulled_ = true;
  Substitution shift_;
  Vec<VarRef> sources_;   // a variable per source; fused ones get a name of their own
  Vec<AnyExpr> extents_;  // of each source
};

// Replaces domains that depend on each other (triangular ones) by their hull; false if there were
// any.
LATHE_DECL bool IterMapper::make_rectangular() {
  Vec<VarRef> vars;
  for (const auto& d : map_.inputs) vars.push_back(d.var);
  auto dependent = [&](const AnyExpr& e) {
    for (const auto& v : vars)
      if (e.kind() != ExprKind::Const && uses_var(e, v)) return true;
    return false;
  };
  bool all = true;
  for (const auto& d : map_.inputs) all = all && !dependent(d.min) && !dependent(d.extent);
  if (all) return true;
  Facts inside = facts_;
  for (auto& d : map_.inputs) {
    if (dependent(d.min) || dependent(d.extent)) {
      AnyExpr lo = bounds(d.min, vars, inside).min,
              end = bounds(fold_add(d.min, d.extent), vars, inside).max;
      inside.bind(d.var, d.min, d.extent);
      // Without a hull the domain has no size that could be used: it counts as empty.
      d.min = lo.get() ? lo : AnyExpr(0);
      d.extent = lo.get() && end.get() ? fold_sub(end, lo) : AnyExpr(0);
      if (!lo.get() || !end.get()) hulled_ = false;
      continue;
    }
    inside.bind(d.var, d.min, d.extent);
  }
  return false;
}

LATHE_DECL AnyExpr IterMapper::magnitude(const AnyExpr& scale, bool& ok) {
  if (const auto* c = as_const_int(scale)) return AnyExpr(*c < 0 ? -*c : *c);
  if (prove(scale > 0, facts_)) return scale;
  if (prove(scale < 0, facts_)) return short_form(-scale);
  ok = false;
  return scale;
}

LATHE_DECL bool IterMapper::read_sum(const AnyExpr& e, IterSum& out) {
  Simplifier engine(facts_);
  Poly p = engine.poly(e);
  if (engine.exhausted()) return fail("the index is too large to analyse");
  Poly base = poly_const(p.constant);
  for (const auto& t : p.terms) {
    IterSplit split;
    AnyExpr scale(t.coef);
    bool found = false;
    for (std::size_t k = 0; k < t.degree(); ++k) {
      bool uses = false;
      for (const auto& v : sources_) uses = uses || uses_var(t.factor(k), v);
      if (!uses) {
        scale = fold_mul(t.factor(k), scale);
        continue;
      }
      if (found) return fail("the index multiplies two iterators");
      // A sum that could not be taken apart has coefficients beyond 64 bits.
      const auto* n = t.factor(k).as<BinaryNode>();
      if (n && (n->op == BinaryOp::add || n->op == BinaryOp::sub || n->op == BinaryOp::mul))
        return fail("the index overflows");
      if (!read_split(t.factor(k), split)) return false;
      found = true;
    }
    split.scale = short_form(scale);
    if (found)
      out.splits.push_back(std::move(split));
    else if (!poly_add_term(base, t))
      return fail("the index overflows");
  }
  out.base = engine.emit(base);
  judge_sum(out);
  return true;
}

LATHE_DECL bool IterMapper::read_split(const AnyExpr& e, IterSplit& out) {
  if (const auto* v = e.as<VarNode>()) {
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      if (sources_[k].get() != v) continue;
      out = {k, AnyExpr(1), extents_[k], AnyExpr(1), true};
      return true;
    }
  }
  const auto* n = e.as<BinaryNode>();
  if (n && (n->op == BinaryOp::floordiv || n->op == BinaryOp::floormod)) return read_div(*n, out);
  if (n && (n->op == BinaryOp::add || n->op == BinaryOp::sub || n->op == BinaryOp::mul))
    return read_fused(e, out);
  return fail("the index is not a sum of split iterators");
}

LATHE_DECL bool IterMapper::read_div(const BinaryNode& n, IterSplit& out) {
  for (const auto& v : sources_)
    if (uses_var(n.b, v)) return fail("the index divides by an iterator");
  if (!prove(n.b > 0, facts_)) return fail("the index divides by what may be zero or negative");
  if (!read_split(n.a, out)) return false;
  if (n.op == BinaryOp::floormod) {
    // A range that may be shorter takes only a part of the remainders; they still tell it apart.
    out.partial = out.partial || !at_least(out.extent, n.b);
    if (!out.whole && !divides(n.b, out.extent))
      return fail("a remainder of a remainder that doesn't divide it");
    out.extent = short_form(n.b);
    out.whole = false;
    return true;
  }
  if (!out.whole && !divides(n.b, out.extent))
    return fail("a quotient of a remainder that it doesn't divide");
  out.lower = mul(out.lower, n.b);
  out.extent = short_form(fold_floordiv(fold_add(out.extent, fold_sub(n.b, AnyExpr(1))), n.b));
  return true;
}

// A sum under a division becomes a source of its own if it counts through [0, extent).
LATHE_DECL bool IterMapper::read_fused(const AnyExpr& e, IterSplit& out) {
  for (std::size_t k = map_.inputs.size(); k < sources_.size(); ++k) {
    const IterSum& f = map_.fused[k - map_.inputs.size()];
    AnyExpr sum = f.base;
    for (const auto& s : f.splits)
      sum = fold_add(sum, fold_mul(AnyExpr(sources_[s.source]), s.scale));
    if (!prove_eq(sum, e, facts_)) continue;
    out = {k, AnyExpr(1), extents_[k], AnyExpr(1), true};
    return true;
  }
  IterSum sum;
  if (!read_sum(e, sum)) return false;
  bool ok = sum.injective && sum.dense && is_const(sum.min, 0);
  for (const auto& s : sum.splits) ok = ok && s.source < map_.inputs.size() && whole_source(s);
  if (!ok) return fail("a division of a sum of iterators that has gaps or repetitions");
  out = {sources_.size(), AnyExpr(1), sum.extent, AnyExpr(1), true};
  sources_.push_back(make_var("fused"));
  extents_.push_back(sum.extent);
  map_.fused.push_back(std::move(sum));
  return true;
}

// Largest scale first, as far as the order can be proven; sizes are the magnitudes.
LATHE_DECL void IterMapper::order_splits(Vec<IterSplit>& splits, Vec<AnyExpr>& sizes) {
  for (std::size_t i = 1; i < splits.size(); ++i) {
    for (std::size_t j = i; j > 0; --j) {
      // Among equal scales, one with a larger extent goes first: x + y with extent(y) = 1 is fine.
      bool swap = !equal(sizes[j], sizes[j - 1]) ? at_least(sizes[j], sizes[j - 1])
                                                 : is_const(splits[j - 1].extent, 1);
      if (!swap) break;
      std::swap(splits[j], splits[j - 1]);
      std::swap(sizes[j], sizes[j - 1]);
    }
  }
}

LATHE_DECL void IterMapper::judge_sum(IterSum& sum) {
  Vec<AnyExpr> sizes;
  bool ok = true;
  for (const auto& s : sum.splits) sizes.push_back(magnitude(s.scale, ok));
  AnyExpr min = sum.base, span(1);  // span = 1 + sum of |scale| * (extent - 1)
  if (ok) order_splits(sum.splits, sizes);
  sum.injective = sum.dense = ok;
  for (std::size_t k = sum.splits.size(); k-- > 0;) {
    IterSplit& s = sum.splits[k];
    s.reversed = !same_expr(sizes[k], s.scale);
    if (is_const(s.extent, 1)) continue;
    sum.injective = sum.injective && at_least(sizes[k], span);
    sum.dense = sum.dense && !s.partial && at_least(span, sizes[k]);
    AnyExpr reach = mul(fold_sub(s.extent, AnyExpr(1)), sizes[k]);
    span = short_form(fold_add(span, reach));
    if (s.reversed) min = short_form(fold_sub(min, reach));
  }
  sum.min = min;
  sum.extent = span;
}

// Whether the sum's value tells all splits of sources that aren't determined yet.
LATHE_DECL bool IterMapper::sum_injective(const IterSum& sum, const Vec<bool>& determined) {
  IterSum rest;
  rest.base = sum.base;
  for (const auto& s : sum.splits)
    if (!determined[s.source]) rest.splits.push_back(s);
  if (rest.splits.size() == sum.splits.size()) return sum.injective;
  judge_sum(rest);
  return rest.injective;
}

// Digits known from the lowest up to the extent determine the source.
LATHE_DECL bool IterMapper::source_determined(std::size_t source,
                                              const Vec<const IterSplit*>& known) {
  AnyExpr reach(1);
  if (at_least(reach, extents_[source])) return true;
  for (std::size_t round = 0; round <= known.size(); ++round) {
    bool moved = false;
    for (const IterSplit* s : known) {
      if (s->source != source || !divides(s->lower, reach)) continue;
      if (s->whole) return true;
      AnyExpr top = mul(s->lower, s->extent);
      if (equal(top, reach) || !at_least(top, reach) || !divides(reach, top)) continue;
      reach = top;
      moved = true;
    }
    if (at_least(reach, extents_[source])) return true;
    if (!moved) return false;
  }
  return false;
}

LATHE_DECL bool IterMapper::judge_injective() {
  Vec<bool> determined(sources_.size(), false), used(map_.sums.size(), false);
  Vec<const IterSplit*> known;
  for (std::size_t round = 0; round <= map_.sums.size(); ++round) {
    for (std::size_t k = 0; k < map_.sums.size(); ++k) {
      if (used[k] || !sum_injective(map_.sums[k], determined)) continue;
      used[k] = true;
      for (const auto& s : map_.sums[k].splits) known.push_back(&s);
    }
    for (std::size_t v = 0; v < sources_.size(); ++v) {
      determined[v] = determined[v] || source_determined(v, known);
      if (!determined[v] || v < map_.inputs.size()) continue;
      for (const auto& s : map_.fused[v - map_.inputs.size()].splits) determined[s.source] = true;
    }
  }
  determined.resize(map_.inputs.size());
  map_.determined = determined;
  for (std::size_t v = 0; v < map_.inputs.size(); ++v)
    if (!determined[v]) return fail("the indices don't determine every iterator");
  return true;
}

// The digits taken from one source are independent of each other and each takes all of its values.
LATHE_DECL bool IterMapper::source_covered(std::size_t source) {
  Vec<const IterSplit*> digits;
  for (const auto& sum : map_.sums)
    for (const auto& s : sum.splits)
      if (s.source == source && !is_const(s.extent, 1)) digits.push_back(&s);
  if (digits.size() <= 1)
    return digits.empty() || digits[0]->whole ||
           at_least(extents_[source], mul(digits[0]->lower, digits[0]->extent));
  for (std::size_t i = 1; i < digits.size(); ++i)
    for (std::size_t j = i; j > 0 && at_least(digits[j - 1]->lower, digits[j]->lower); --j)
      std::swap(digits[j - 1], digits[j]);
  for (std::size_t k = 0; k < digits.size(); ++k) {
    AnyExpr top = mul(digits[k]->lower, digits[k]->extent);
    const AnyExpr& next = k + 1 < digits.size() ? digits[k + 1]->lower : extents_[source];
    if (!divides(top, next)) return fail("the parts of an iterator overlap or don't divide it");
  }
  return true;
}

// How many of the sums and the fused sources that they use name each input.
inline Vec<int> uses_of_inputs(const IterMap& map) {
  Vec<int> uses(map.inputs.size(), 0);
  for (std::size_t v = 0; v < map.inputs.size() + map.fused.size(); ++v) {
    bool used = false;
    for (const auto& sum : map.sums)
      for (const auto& s : sum.splits) used = used || s.source == v;
    if (!used) continue;
    if (v < uses.size())
      ++uses[v];
    else
      for (const auto& s : map.fused[v - uses.size()].splits) ++uses[s.source];
  }
  return uses;
}

// An input may show up directly or inside one fused source, not both.
inline bool input_used_twice(const IterMap& map) {
  const Vec<int> uses = uses_of_inputs(map);
  return std::any_of(uses.begin(), uses.end(), [](int n) { return n > 1; });
}

LATHE_DECL bool IterMapper::judge_covering() {
  for (const auto& sum : map_.sums)
    if (!sum.dense) return fail("an index leaves gaps");
  for (std::size_t v = 0; v < sources_.size(); ++v)
    if (!source_covered(v)) return fail("an iterator is used twice, or in part");
  if (input_used_twice(map_)) return fail("an iterator is used alone and in a fused one");
  // Of one that no index names the extents of the sums say nothing.
  const Vec<int> uses = uses_of_inputs(map_);
  for (std::size_t v = 0; v < uses.size(); ++v)
    if (uses[v] == 0 && !prove(map_.inputs[v].extent >= 1, around_))
      return fail("an iterator that no index names may have no value");
  return true;
}

LATHE_DECL IterMap IterMapper::run(const Vec<AnyExpr>& indices, const AnyExpr& condition) {
  if (!hulled_) {
    fail("a domain has no bounds");
    return map_;
  }
  for (const auto& e : extents_) {
    const auto* c = as_const_int(e);
    if (c ? *c >= 1 : prove(e >= 1, facts_)) continue;
    map_.injective = c != nullptr;
    fail("the domain is empty");
    return map_;
  }
  for (const auto& e : indices) {
    IterSum sum;
    if (!e || e.dtype() != kIndex || !read_sum(substitute(e, shift_), sum)) {
      fail("an index is not an i64 scalar");
      map_.sums.clear();
      return map_;
    }
    map_.sums.push_back(std::move(sum));
  }
  map_.injective = judge_injective();
  map_.covering = judge_covering();
  if (!rectangular_) {
    fail("a domain depends on another iterator");
    map_.covering = false;
  }
  if (condition.get() && !prove(substitute(condition, shift_), facts_)) {
    fail("a condition restricts the domain");
    map_.covering = false;
  }
  return map_;
}

}  // namespace detail

LATHE_DECL IterMap iter_map(const Vec<AnyExpr>& indices, const Vec<IterDomain>& inputs,
                            const AnyExpr& condition, const Facts& facts) {
  return detail::IterMapper(inputs, facts).run(indices, condition);
}

}  // namespace lathe
