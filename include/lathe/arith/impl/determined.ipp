#pragma once

#include <algorithm>
#include <functional>
#include <lathe/arith/determined.hpp>
#include <lathe/arith/impl/products.ipp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <utility>

namespace lathe {
namespace detail {

/// Collects what is equal in two points of the domain, from the values to the inputs. Everything
/// noted here has one value, as an integer, in both points.
class Determiner {
 public:
  Determiner(const Vec<IterDomain>& inputs, const AnyExpr& condition, const Facts& facts)
      : facts_(facts) {
    for (const auto& d : inputs) {
      inputs_.push_back(d.var);
      facts_.bind(d.var, d.min, d.extent);
    }
    if (condition) facts_.assume_before(condition);
    // One iteration has the value at which it begins.
    fixed_.assign(inputs.size(), false);
    for (std::size_t k = 0; k < inputs.size(); ++k)
      fixed_[k] = facts_.range(inputs[k].var).is_point() ||
                  (!moves(inputs[k].min) && prove_le(inputs[k].extent, AnyExpr(1), facts_));
  }
  Vec<bool> run(const Vec<AnyExpr>& values);

 private:
  /// floormod(floordiv(source, lower), extent); without an extent the quotient itself.
  struct Digit {
    Poly source;
    AnyExpr lower, extent;
  };

  bool moves(const AnyExpr& e) const {
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      if (!fixed_[k] && uses_var(e, inputs_[k])) return true;
    return false;
  }
  bool all_fixed() const { return std::find(fixed_.begin(), fixed_.end(), false) == fixed_.end(); }
  Poly moving(const Poly& p) const;
  Mono still(const Mono& term) const;

  void know(const AnyExpr& e);
  void know(Poly p);
  void know_factor(const AnyExpr& e);
  bool know(Digit d);
  bool read_digit(const AnyExpr& e, Digit& out);
  bool times(const AnyExpr& a, const AnyExpr& b, AnyExpr& out);
  bool divides(const AnyExpr& a, const AnyExpr& b) {
    const auto *x = as_const_int(a), *y = as_const_int(b);
    return x && y ? *x != 0 && *y % *x == 0 : same_expr(a, b) || prove_divides(a, b, facts_);
  }

  void take_apart(const Poly& known);
  bool take_apart(const Poly& moving, const Mono& unit);
  void know_quotient(const Poly& parts, const Mono& unit);
  bool narrower(const Poly& parts, const AnyExpr& width);
  bool digits_narrower(const Poly& parts, const AnyExpr& width);
  Vec<Mono> units_of(const Poly& p) const;
  void widen(const Digit& d);
  bool is_low_part(const Digit& low, const Digit& high);
  void join(const Digit& low, const Digit& high);
  void restore(const Poly& known, const AnyExpr& modulus);
  bool restored(const Poly& known, const AnyExpr& modulus, const Digit& low, std::size_t at);

  Facts facts_;
  Vec<VarRef> inputs_;
  Vec<bool> fixed_;
  Vec<Poly> known_;
  Vec<Digit> digits_;
  static constexpr std::size_t kMaxKnown = 32;  // of each kind
  static constexpr int kMaxRounds = 16;
  static constexpr std::int64_t kDigitReach = std::int64_t{1} << 40;
};

LATHE_DECL Poly Determiner::moving(const Poly& p) const {
  Poly out;
  for (const auto& t : p.terms) {
    bool any = false;
    for (std::size_t k = 0; k < t.degree(); ++k) any = any || moves(t.factor(k));
    if (any) out.terms.push_back(t);
  }
  return out;
}

// What a term multiplies its moving part by: its magnitude. A number alone has no atom.
LATHE_DECL Mono Determiner::still(const Mono& term) const {
  Mono out;
  out.coef = term.coef < 0 ? -term.coef : term.coef;
  for (std::size_t k = 0; k < term.degree(); ++k)
    if (!moves(term.factor(k))) add_factor(out, term.factor(k));
  return out;
}

// The product as an integer: false where it may wrap.
LATHE_DECL bool Determiner::times(const AnyExpr& a, const AnyExpr& b, AnyExpr& out) {
  Simplifier engine(facts_);
  Poly p;
  if (!poly_mul(p, engine.poly(a), engine.poly(b)) || !engine.safe(p)) return false;
  out = engine.emit(p);
  return true;
}

// Reads floordiv and floormod inside each other as one digit of the innermost sum.
LATHE_DECL bool Determiner::read_digit(const AnyExpr& e, Digit& out) {
  const auto* n = e.as<BinaryNode>();
  if (!n || (n->op != BinaryOp::floordiv && n->op != BinaryOp::floormod)) return false;
  if (moves(n->b) || !prove(n->b > 0, facts_)) return false;
  const bool mod = n->op == BinaryOp::floormod;
  Digit in;
  if (read_digit(n->a, in)) {
    out = in;
    if (!mod && (!in.extent || divides(n->b, in.extent)) && times(in.lower, n->b, out.lower)) {
      if (in.extent) out.extent = simplify(fold_floordiv(in.extent, n->b), facts_);
      return true;
    }
    if (mod && (!in.extent || divides(n->b, in.extent))) return out.extent = n->b, true;
    if (mod && divides(in.extent, n->b)) return true;
  }
  out = {Simplifier(facts_).poly(n->a), mod ? AnyExpr(1) : n->b, mod ? n->b : AnyExpr()};
  return true;
}

LATHE_DECL void Determiner::know(const AnyExpr& e) {
  Digit d;
  if (read_digit(e, d)) know(std::move(d));
  know(Simplifier(facts_).poly(e));
}

LATHE_DECL void Determiner::know(Poly p) {
  p = moving(p);
  if (p.terms.empty() || known_.size() >= kMaxKnown || !Simplifier(facts_).safe(p)) return;
  if (p.terms[0].coef < 0 && !poly_scale(p, -1)) return;
  for (const auto& k : known_)
    if (poly_equal(k, p)) return;
  known_.push_back(std::move(p));
}

LATHE_DECL bool Determiner::know(Digit d) {
  if (is_const(d.lower, 1) && !d.extent) return know(d.source), true;
  for (const auto& k : digits_)
    if (poly_equal(k.source, d.source) && same_expr(k.lower, d.lower) &&
        (d.extent ? k.extent.get() && same_expr(k.extent, d.extent) : !k.extent))
      return false;
  if (digits_.size() < kMaxKnown) digits_.push_back(std::move(d));
  return true;
}

LATHE_DECL void Determiner::know_factor(const AnyExpr& e) {
  Digit d;
  if (read_digit(e, d)) know(std::move(d));
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    if (e.get() == inputs_[k].get()) fixed_[k] = true;
}

// In any two points the parts differ by less than the width.
LATHE_DECL bool Determiner::narrower(const Poly& parts, const AnyExpr& width) {
  const AnyExpr e = Simplifier(facts_).emit(parts);
  const ConstInterval r = const_bounds(e, facts_);
  std::int64_t span;
  const auto* c = as_const_int(width);
  if (c && r.has_min() && r.has_max() && !__builtin_sub_overflow(r.max, r.min, &span) && span < *c)
    return true;
  Vec<VarRef> open;
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    if (!fixed_[k]) open.push_back(inputs_[k]);
  Interval b = bounds(e, open, facts_);
  if (b.bounded() && prove_lt(fold_sub(b.max, b.min), width, facts_)) return true;
  if (b.min.get() && prove_lt(fold_sub(e, b.min), width, facts_)) return true;
  if (b.max.get() && prove_lt(fold_sub(b.max, e), width, facts_)) return true;
  return digits_narrower(parts, width);
}

// The same by the extents of remainders, also of those that are divided.
LATHE_DECL bool Determiner::digits_narrower(const Poly& parts, const AnyExpr& width) {
  AnyExpr span(0);
  for (const auto& t : parts.terms) {
    Vec<AnyExpr> factors;
    for (std::size_t k = 0; k < t.degree(); ++k)
      if (moves(t.factor(k))) factors.push_back(t.factor(k));
    Digit d;
    if (factors.size() != 1) return false;
    const AnyExpr scale = product_of(still(t));
    const ConstInterval r = const_bounds(factors[0], facts_);
    AnyExpr reach;
    if (read_digit(factors[0], d) && d.extent.get())
      reach = fold_sub(d.extent, AnyExpr(1));
    else if (r.has_min() && r.has_max() && r.min > -kDigitReach && r.max < kDigitReach)
      reach = AnyExpr(r.max - r.min);
    else
      return false;
    if (!as_const_int(scale) && !prove(scale > 0, facts_)) return false;
    span = fold_add(span, fold_mul(scale, reach));
  }
  return prove_lt(span, width, facts_);
}

// Numbers and products by which a sum may split; the greatest common divisors of its larger
// coefficients among them.
LATHE_DECL Vec<Mono> Determiner::units_of(const Poly& p) const {
  Vec<Mono> out;
  auto add = [&](const Mono& unit) {
    if (unit.coef == 1 && !unit.atom) return;
    for (const auto& u : out)
      if (u.coef == unit.coef && static_cast<bool>(u.atom) == static_cast<bool>(unit.atom) &&
          (!u.atom || same_product(u, unit)))
        return;
    out.push_back(unit);
  };
  Vec<std::int64_t> coefs;
  for (const auto& t : p.terms) add(still(t)), coefs.push_back(still(t).coef);
  std::sort(coefs.begin(), coefs.end(), std::greater<>());
  std::int64_t common = 0;
  for (const std::int64_t c : coefs) {
    common = gcd64(common, c);
    add({common, {}, {}});
  }
  return out;
}

LATHE_DECL void Determiner::know_quotient(const Poly& parts, const Mono& unit) {
  Poly quotient;
  for (const auto& t : parts.terms) {
    Mono part;
    if (!divide_term(t, unit, part) || !poly_add_term(quotient, std::move(part))) return;
  }
  if (quotient.terms.size() == 1 && quotient.terms[0].degree() == 1 &&
      std::abs(quotient.terms[0].coef) == 1)
    return know_factor(quotient.terms[0].atom);
  know(std::move(quotient));
}

// unit * q + rest: if the rest moves by less than the unit, both are known by themselves.
LATHE_DECL bool Determiner::take_apart(const Poly& sum, const Mono& unit) {
  Poly multiples, rest;
  for (const auto& t : sum.terms) {
    Mono part;
    (divide_term(t, unit, part) ? multiples : rest).terms.push_back(t);
  }
  if (multiples.terms.empty()) return false;
  const AnyExpr width = product_of(unit);
  if (!as_const_int(width) && !prove(width > 0, facts_)) return false;
  if (!rest.terms.empty() && !narrower(rest, width)) return false;
  know_quotient(multiples, unit);
  if (!rest.terms.empty()) know(std::move(rest));
  return true;
}

LATHE_DECL void Determiner::take_apart(const Poly& known) {
  const Poly p = moving(known);
  if (p.terms.empty()) return;
  if (p.terms.size() == 1 && p.terms[0].degree() == 1) return know_factor(p.terms[0].atom);
  for (const auto& unit : units_of(p))
    if (take_apart(p, unit)) return;
}

// A digit that the whole source stands behind: a remainder of what moves by less than the divisor,
// a quotient of what moves in steps that are no smaller.
LATHE_DECL void Determiner::widen(const Digit& d) {
  const Poly p = moving(d.source);
  if (p.terms.empty() || !Simplifier(facts_).safe(d.source)) return;
  AnyExpr reach;
  if (d.extent) {
    if (times(d.lower, fold_sub(d.extent, AnyExpr(1)), reach) &&
        narrower(p, fold_add(reach, AnyExpr(1))))
      know(Digit{d.source, d.lower, {}});
    return;
  }
  for (const auto& unit : units_of(p)) {
    Poly steps;
    for (const auto& t : p.terms) {
      Mono part;
      if (divide_term(t, unit, part)) steps.terms.push_back(t);
    }
    if (steps.terms.size() == p.terms.size() && prove_le(d.lower, product_of(unit), facts_))
      return know(p);
  }
}

// Digits of one source that follow each other; a remainder is one of every source that differs by
// multiples of the divisor.
LATHE_DECL bool Determiner::is_low_part(const Digit& low, const Digit& high) {
  AnyExpr top;
  if (!low.extent || !times(low.lower, low.extent, top) || !prove_eq(top, high.lower, facts_))
    return false;
  if (poly_equal(low.source, high.source)) return true;
  Simplifier engine(facts_);
  return is_const(low.lower, 1) && engine.safe(low.source) && engine.safe(high.source) &&
         prove_divides(low.extent, fold_sub(engine.emit(low.source), engine.emit(high.source)),
                       facts_);
}

LATHE_DECL void Determiner::join(const Digit& low, const Digit& high) {
  if (!is_low_part(low, high)) return;
  Digit both{high.source, low.lower, {}};
  if (high.extent.get() && !times(low.extent, high.extent, both.extent)) return;
  know(std::move(both));
}

// The simplifier writes floordiv(50 x + y, 42) as x + floordiv(8 x + y, 42). With the remainder of
// 8 x + y known, 42 times that is 50 x + y less something known.
LATHE_DECL bool Determiner::restored(const Poly& known, const AnyExpr& modulus, const Digit& low,
                                     std::size_t at) {
  const Mono& term = known.terms[at];
  Digit d;
  if (term.degree() != 1 || !read_digit(term.atom, d) || d.extent.get() || !low.extent)
    return false;
  if (!Simplifier(facts_).safe(known)) return false;
  AnyExpr wider;
  if (!is_low_part(low, d) || (modulus.get() && !times(modulus, low.extent, wider))) return false;
  Poly rest = known, scaled;
  rest.terms.erase_at(at);
  Simplifier engine(facts_);
  Poly source = d.source;
  if (!is_const(low.lower, 1))
    source = engine.poly(fold_floordiv(engine.emit(d.source), low.lower));
  if (!poly_mul(scaled, engine.poly(low.extent), rest) || !poly_add(scaled, source, term.coef) ||
      !engine.safe(scaled))
    return false;
  const AnyExpr whole = engine.emit(scaled);
  if (modulus) return know(Digit{engine.poly(whole), AnyExpr(1), wider});
  know(engine.poly(whole));
  return true;
}

LATHE_DECL void Determiner::restore(const Poly& known, const AnyExpr& modulus) {
  for (std::size_t at = 0; at < known.terms.size(); ++at)
    for (std::size_t k = 0; k < digits_.size(); ++k) {
      const Digit low = digits_[k];
      if (restored(known, modulus, low, at)) return;
    }
}

LATHE_DECL Vec<bool> Determiner::run(const Vec<AnyExpr>& values) {
  for (const auto& e : values)
    if (e.get() && e.dtype() == kIndex) know(e);
  std::size_t before = 0;
  auto progress = [&] {
    std::size_t fixed = 0;
    for (const bool f : fixed_) fixed += f;
    const std::size_t now = known_.size() + digits_.size() + fixed;
    return std::exchange(before, now) != now;
  };
  // Copies: what is being read may grow.
  for (int round = 0; round < kMaxRounds && progress() && !all_fixed(); ++round) {
    for (std::size_t k = 0; k < known_.size(); ++k) take_apart(Poly(known_[k]));
    for (std::size_t k = 0; k < digits_.size(); ++k) widen(Digit(digits_[k]));
    for (std::size_t k = 0; k < digits_.size(); ++k)
      for (std::size_t j = 0; j < digits_.size(); ++j)
        if (j != k) join(Digit(digits_[k]), Digit(digits_[j]));
    for (std::size_t k = 0; k < known_.size(); ++k) restore(Poly(known_[k]), {});
    for (std::size_t k = 0; k < digits_.size(); ++k)
      if (is_const(digits_[k].lower, 1)) restore(Poly(digits_[k].source), digits_[k].extent);
  }
  return fixed_;
}

}  // namespace detail

LATHE_DECL Vec<bool> determined_by(const Vec<AnyExpr>& values, const Vec<IterDomain>& inputs,
                                   const AnyExpr& condition, const Facts& facts) {
  return detail::Determiner(inputs, condition, facts).run(values);
}

LATHE_DECL bool tell_apart(const Vec<AnyExpr>& values, const Vec<IterDomain>& inputs,
                           const AnyExpr& condition, const Facts& facts) {
  for (const bool known : determined_by(values, inputs, condition, facts))
    if (!known) return false;
  return true;
}

}  // namespace lathe
