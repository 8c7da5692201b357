// Which tuples a reducer is tried with.
#pragma once

#include <lathe/ir/impl/law_trial.ipp>
#include <span>

namespace lathe::detail {

/// Values of its one element; of several elements what their terms give, or folds of that: what
/// else tuples may hold has laws of its own (sorted, a count that is 0 where the others are …).
class LawSamples {
 public:
  LawSamples(LawTrial& trial, std::span<const AnyExpr> terms);
  LawSamples(const LawSamples&) = delete;
  LawSamples& operator=(const LawSamples&) = delete;

  /// Those that all laws are tried with in every way, the plainest first.
  const Vec<Tuple>& front() const { return front_; }
  /// How many triples may be drawn besides: a reducer is made in about a millisecond.
  std::size_t draws() const;
  void draw(Tuple (&abc)[3]);

 private:
  enum Source { element, by_terms, alike };

  static LawScan scan_of(const LawTrial& trial, std::span<const AnyExpr> terms);
  void read_terms(std::span<const AnyExpr> terms);
  void fill_front();
  bool is_axis(std::size_t leaf) const {
    return source_ == by_terms && terms_.input_expr(leaf).kind() == ExprKind::Var &&
           terms_.input_expr(leaf).dtype() == kIndex;
  }
  void draw_leaves(bool plain);
  void draw_one(Tuple& out, bool plain = false);
  void draw_alike(Tuple& out);
  void all_alike(Tuple& out, std::int64_t i, double f) const;

  LawTrial& trial_;
  LawScan scan_;
  ScalarCode terms_;
  Source source_ = alike;
  Vec<LawValues> leaves_;
  Vec<Scalar> in_;
  Vec<Tuple> front_;
  LawRandom random_;
  std::uint64_t drawn_ = 0;
  Tuple other_, joined_;
};

LATHE_DECL LawScan LawSamples::scan_of(const LawTrial& trial, std::span<const AnyExpr> terms) {
  LawScan scan = trial.scan();
  for (const auto& e : terms) scan.expr(e);
  return scan;
}

LATHE_DECL LawSamples::LawSamples(LawTrial& trial, std::span<const AnyExpr> terms)
    : trial_(trial), scan_(scan_of(trial, terms)), terms_(trial.scan().bits) {
  if (trial.width() == 1) {
    source_ = element;
    leaves_.emplace_back(trial.dtype(0), trial.type(0), scan_, true);
  } else if (!terms.empty()) {
    read_terms(terms);
  }
  in_ = Vec<Scalar>(leaves_.size());
  fill_front();
}

// Not a number and the infinities only where there is one value: what parts of a tuple do to each
// other then is nobody's law.
LATHE_DECL void LawSamples::read_terms(std::span<const AnyExpr> values) {
  for (const auto& e : values) terms_.result(e);
  if (!terms_.good()) return;
  source_ = by_terms;
  for (std::size_t k = 0; k < terms_.inputs(); ++k) {
    const DType t = terms_.input_expr(k).dtype();
    leaves_.emplace_back(t, terms_.type(t), scan_, false);
  }
}

LATHE_DECL std::size_t LawSamples::draws() const {
  const std::size_t constants = scan_.numbers.size();
  return 100 + 9000 / trial_.cost() + (constants < 50 ? constants : 50);
}

LATHE_DECL void LawSamples::fill_front() {
  // Of small integers all edges, unless there are many constants.
  const bool small = source_ == element && trial_.dtype(0).is_int() && trial_.dtype(0).bits <= 16;
  std::size_t most = 4;
  while ((most + 1) * (most + 1) * (most + 1) <= draws() * (small ? 4 : 1)) ++most;
  if (source_ == element) {
    const Vec<Scalar>& edges = leaves_[0].edges();
    for (std::size_t k = 0; k < edges.size() && k < most; ++k) front_.push_back({edges[k]});
    return;
  }
  Tuple one(trial_.width());
  for (std::int64_t i : {1, 2, 3, 5, 8}) {
    if (source_ != alike) break;
    all_alike(one, i, static_cast<double>(i));
    front_.push_back(one);
  }
  if (source_ == alike) front_.push_back(trial_.identity());
  while (front_.size() < most) {
    draw_one(one, front_.size() < 4);
    front_.push_back(one);
  }
}

LATHE_DECL void LawSamples::all_alike(Tuple& out, std::int64_t i, double f) const {
  out.resize(trial_.width());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = scalar_of(trial_.type(k), trial_.dtype(k).is_bool() ? i & 1 : i, f);
}

// Above 0, as counts are, and so small that a fold of six of them, each in all elements, is no
// more than the narrowest type holds.
LATHE_DECL void LawSamples::draw_alike(Tuple& out) {
  std::size_t most = 1000;
  bool floats = true;
  for (std::size_t k = 0; k < trial_.width(); ++k) {
    const DType t = trial_.dtype(k);
    floats = floats && t.is_float();
    if (t.is_int() && t.bits <= 8) most = t.bits == 8 ? 20 : 1;
  }
  const auto i = static_cast<std::int64_t>(1 + random_.below(most));
  const double f = static_cast<double>(i), part = static_cast<double>(random_.below(1000));
  all_alike(out, i, floats ? f * f * (1 + part) * 1e-3 : f);
}

// Axes count from about 0, and no two terms of a fold have the same place: the first axis counts
// what is drawn.
LATHE_DECL void LawSamples::draw_leaves(bool plain) {
  bool placed = false;
  for (std::size_t k = 0; k < in_.size(); ++k) {
    const LawValues& leaf = leaves_[k];
    if (plain)
      in_[k] = leaf.edges()[drawn_ == 0 ? k % leaf.edges().size() : random_.below(5)];
    else if (is_axis(k) && !placed)
      in_[k].i = static_cast<std::int64_t>(drawn_ * 40503);
    else
      in_[k] = drawn_ && random_.chance(4) ? leaf.partner(in_[k], random_) : leaf.draw(random_);
    if (is_axis(k)) in_[k].i &= 0xFFFF, placed = true;
  }
  ++drawn_;
}

LATHE_DECL void LawSamples::draw_one(Tuple& out, bool plain) {
  out.resize(trial_.width());
  if (source_ == alike) return draw_alike(out);
  draw_leaves(plain);
  if (source_ == element)
    out[0] = in_[0];
  else
    terms_.run(in_.data(), out.data());
}

LATHE_DECL void LawSamples::draw(Tuple (&abc)[3]) {
  for (Tuple& one : abc) {
    draw_one(one);
    if (source_ == element || !random_.chance(3)) continue;
    draw_one(other_);
    trial_.combine(one, other_, joined_);
    std::swap(one, joined_);
  }
  if (source_ != element || !random_.chance(4)) return;
  trial_.combine(abc[0], abc[1], joined_);
  abc[2][0] = leaves_[0].partner(joined_[0], random_);
}

}  // namespace lathe::detail
