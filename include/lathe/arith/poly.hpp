// Polynomials: index arithmetic while it is simplified, as sums of products of opaque parts, and
// the engine over them. Internal to arith and analysis; users call simplify, prove and bounds.
#pragma once

#include <lathe/arith/facts.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

/// The buffers that expressions load from.
class LoadedBuffers : public Visitor {
 public:
  using Visitor::stmt;
  void buffer(const Buffer& b) override { found.push_back(b); }
  Vec<Buffer> found;
};
/// Whether an expression reads no memory: it may be evaluated anywhere that its variables are
/// known.
inline bool is_load_free(const AnyExpr& e) { return !find_load(e); }

/// coef * atom * more...: more is empty for a linear term.
struct Mono {
  std::int64_t coef = 0;
  AnyExpr atom;
  Vec<AnyExpr> more;

  std::size_t degree() const { return 1 + more.size(); }
  const AnyExpr& factor(std::size_t k) const { return k == 0 ? atom : more[k - 1]; }
};

/// A sum of terms and a constant over i64. Terms differ in their product and keep the order of
/// first occurrence. Operations that would leave i64 return false and leave garbage: the caller
/// keeps the expression as it was.
struct Poly {
  Vec<Mono> terms;
  std::int64_t constant = 0;

  bool is_const() const { return terms.empty(); }
  /// 1 * atom + 0, or null.
  const AnyExpr* as_atom() const {
    return terms.size() == 1 && constant == 0 && terms[0].coef == 1 && terms[0].more.empty()
               ? &terms[0].atom
               : nullptr;
  }
};

Poly poly_const(std::int64_t value);
Poly poly_atom(AnyExpr atom, std::int64_t coef = 1);
bool same_product(const Mono& a, const Mono& b);
bool poly_equal(const Poly& a, const Poly& b);
[[nodiscard]] bool poly_add_term(Poly& a, Mono term);
/// a += scale * b.
[[nodiscard]] bool poly_add(Poly& a, const Poly& b, std::int64_t scale = 1);
[[nodiscard]] bool poly_scale(Poly& a, std::int64_t scale);
[[nodiscard]] bool poly_mul(Poly& out, const Poly& a, const Poly& b);
/// gcd of the coefficients, 0 without terms.
std::int64_t poly_gcd(const Poly& p);
/// Sums, differences and products by constants taken apart, everything else an atom; nothing is
/// simplified.
Poly poly_shallow(const AnyExpr& e);

std::int64_t floor_div(std::int64_t a, std::int64_t b);  ///< 0 for b == 0
std::int64_t floor_mod(std::int64_t a, std::int64_t b);
std::int64_t gcd64(std::int64_t a, std::int64_t b);

/// Exact folding with the semantics of ir/expr.hpp; false where the operator doesn't apply to the
/// type.
bool fold_int(BinaryOp op, DType operand, std::int64_t a, std::int64_t b, std::int64_t& out);
bool fold_float(BinaryOp op, DType operand, double a, double b, double& out);
bool fold_float_compare(BinaryOp op, double a, double b, bool& out);

ConstInterval range_add(ConstInterval a, ConstInterval b);
ConstInterval range_neg(ConstInterval a);
ConstInterval range_mul(ConstInterval a, ConstInterval b);
ConstInterval range_scale(ConstInterval a, std::int64_t c);
ConstInterval range_hull(ConstInterval a, ConstInterval b);
ConstInterval range_meet(ConstInterval a, ConstInterval b);
ConstInterval range_of_type(DType t);

/// How far from 0 the value of an expression over i64 may be, if its sums and products do not wrap;
/// from 2^63 on they may.
struct Reach {
  double size = 0;
  bool open = false;  ///< holds a variable without an end
  bool constant = false;
};
/// What a dim, a loop of symbolic extent, or a product of them is taken to be at most: sizes of
/// things that fit a memory. Calls check dims against it.
inline constexpr double kReachOpen = 0x1p40;
inline constexpr double kReachAny = 0x1p63;
inline constexpr double kReachSafe = 0x1p61;  ///< three such still add up within i64

/// One query's worth of simplification. Cheap to make; keeps a budget of steps.
class Simplifier {
 public:
  explicit Simplifier(const Facts& facts, int budget = 20000) : facts_(facts), budget_(budget) {}
  explicit Simplifier(Facts&& borrowed, int budget = 20000) = delete;  // it would be gone
  /// A part of the query under other facts: it may take half of the steps that are left, which the
  /// whole pays. However parts lie within each other, a query ends within its budget.
  Simplifier(const Facts& facts, Simplifier& whole)
      : facts_(facts), budget_(whole.budget_ / 2), granted_(budget_), whole_(&whole) {}
  ~Simplifier() {
    if (whole_) whole_->budget_ -= granted_ - budget_ + 1;
  }
  Simplifier(const Simplifier&) = delete;
  Simplifier& operator=(const Simplifier&) = delete;

  AnyExpr expr(const AnyExpr& e);
  /// The canonical sum of an i64 scalar.
  Poly poly(const AnyExpr& e);
  /// The same of what emit() gave, which is canonical but for multiples.
  Poly poly_of_emitted(const AnyExpr& e);
  AnyExpr emit(const Poly& p);
  ConstInterval range(const AnyExpr& e, int depth = 0);
  ConstInterval range(const Poly& p, int depth = 0);
  /// The same, tighter: each min or max is taken to be one of its operands, `depth` of them in
  /// turn, so that min(i + 8, n) - max(i, 0) is seen to be at most 8.
  ConstInterval range_by_cases(const Poly& p, int depth = 6);
  /// p >= 0 wherever the facts hold: proven.
  bool nonneg(const Poly& p, int depth = 4);
  /// The sum bounded from below (or above) over the relaxed variables; false if there is no bound.
  bool bound(Poly& p, bool upper, const Vec<VarRef>& relaxed, int depth = 8);
  Reach reach(const AnyExpr& e);
  /// Arithmetic on it can't leave i64.
  bool safe(const Poly& p);
  bool safe(const AnyExpr& e);
  /// What is known in the body of a let.
  void note_let(const VarRef& var, const AnyExpr& value, Facts& inner);
  Poly floordiv(const Poly& a, const Poly& b);
  Poly floormod(const Poly& a, const Poly& b);
  bool exhausted() const { return budget_ <= 0; }
  int steps_left() const { return budget_; }

 private:
  // Index sums (poly.ipp, divmod.ipp, index.ipp).
  Poly poly_binary(const BinaryNode& n);
  Poly poly_var(const VarNode* var);
  Poly poly_mul_or_atom(const Poly& a, const Poly& b);
  Poly recombine(Poly p);
  bool recombine_step(Poly& p, std::size_t k);
  bool recombine_mod(Poly& p, std::size_t k, std::size_t f);
  bool recombine_min_max(Poly& p, std::size_t k);
  bool recombine_div(Poly& p, std::size_t k);
  Poly floordiv_const(const Poly& a, std::int64_t c);
  Poly floormod_const(const Poly& a, std::int64_t c);
  std::optional<std::int64_t> period_of(const Poly& r, std::int64_t c);
  Poly floordiv_rest(Poly r, std::int64_t c);
  Poly floormod_rest(const Poly& r, std::int64_t c);
  bool floordiv_nested(const Poly& r, std::int64_t c, Poly& out);
  bool reduce_coefs(const Poly& r, std::int64_t c, Poly& q, Poly& rest);
  bool pull_gcd(const Poly& r, std::int64_t c, std::int64_t& g, Poly& high, Poly& low);
  Poly div_symbolic(const Poly& a, const Poly& b, bool mod);
  Poly trunc_divmod(const BinaryNode& n);
  Poly min_max(BinaryOp op, const Poly& a, const Poly& b);
  Poly op_atom(BinaryOp op, const Poly& a, const Poly& b);
  AnyExpr emit_mono(const Mono& m, std::int64_t coef, Vec<AnyExpr>& emitted);

  // Where wrapping can't happen (reach.ipp).
  bool is_index_by_use(const AnyExpr& e);
  Reach reach_leaf(const AnyExpr& e);
  Reach reach_binary(const BinaryNode& n);

  // Proofs (prove.ipp).
  bool nonneg_facts(const Poly& p, int depth);
  bool nonneg_symbolic(const Poly& p, int depth);
  bool nonneg_atoms(const Poly& p, int depth);
  bool nonneg_multiplied(const Poly& p, int depth);
  bool nonneg_div(const Poly& p, std::size_t k, int depth);
  bool nonneg_quotient(const Poly& p, std::size_t k, int depth);
  bool nonneg_quotients(const Poly& p, int depth);
  bool nonneg_remainder(const Poly& p, std::size_t k, int depth);
  bool bound_atoms(Poly& p, bool upper, const Vec<VarRef>& relaxed, int depth);
  bool bound_atom(const AnyExpr& atom, bool upper, const Vec<VarRef>& relaxed, int depth,
                  Poly& out);
  bool bound_var(Poly& p, bool upper, const Facts::Node& fact);
  ConstInterval range_binary(const BinaryNode& n, int depth);
  /// scale * (a floordiv divisor - b floordiv divisor) + rest; gap is a - b.
  struct QuotientPair {
    Poly gap, rest;
    AnyExpr divisor;
    std::int64_t scale = 1;
  };
  bool quotient_pair(const Poly& p, QuotientPair& out);
  ConstInterval range_of(const QuotientPair& pair, int depth);
  bool replaced_term(const Poly& p, std::size_t k, const AnyExpr& value, Poly& out);

  // Booleans (logic.ipp).
  AnyExpr boolean(const AnyExpr& e);
  AnyExpr comparison(const BinaryNode& n);
  AnyExpr compare_index(BinaryOp op, const Poly& a, const Poly& b);
  bool multiply_quotient(Poly& diff);
  AnyExpr emit_less(const Poly& diff);
  AnyExpr emit_equal(BinaryOp op, const Poly& diff);
  AnyExpr compare_range(BinaryOp op, const AnyExpr& a, const AnyExpr& b);
  AnyExpr logic(BinaryOp op, const Vec<AnyExpr>& parts, bool simplified);
  AnyExpr settled(const AnyExpr& e);
  AnyExpr negation(const AnyExpr& e);
  AnyExpr negated_parts(BinaryOp op, const AnyExpr& e);
  AnyExpr known_truth(const AnyExpr& e);

  // Everything else (data.ipp, lanes.ipp).
  AnyExpr binary_data(BinaryOp op, const AnyExpr& a, const AnyExpr& b);
  AnyExpr unary_data(UnaryOp op, const AnyExpr& a);
  AnyExpr cast(DType dtype, const AnyExpr& value);
  AnyExpr select(const SelectNode& n);
  AnyExpr load(const AnyExpr& e);
  AnyExpr let(const LetNode& n);
  AnyExpr call(const CallNode& n);
  AnyExpr structural(const AnyExpr& e);
  AnyExpr vector(const AnyExpr& e);
  AnyExpr vector_binary(BinaryOp op, const AnyExpr& a, const AnyExpr& b);
  AnyExpr ramp_divmod(BinaryOp op, const RampNode& r, std::int64_t c);
  AnyExpr ramp_compare(BinaryOp op, const AnyExpr& a, const AnyExpr& b);
  AnyExpr ramp(const AnyExpr& base, const AnyExpr& stride, int lanes);

  const Facts& facts_;
  int budget_, granted_ = 0;
  Simplifier* whole_ = nullptr;
  int allowed_ = 4;  // depth left to a proof that starts now
};

}  // namespace detail
}  // namespace lathe
