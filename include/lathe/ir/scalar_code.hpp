// Expressions evaluated for many values of their variables, without a program around them.
#pragma once

#include <lathe/ir/scalar.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

/// Scalar expressions as a list of operations, each result in a place of its own. Variables and
/// loads are inputs: what stands in them is the caller's. Both arms of a select are computed.
class ScalarCode {
 public:
  /// exact: every float as its type rounds. Else floats of all types are doubles, which shows
  /// what is more than rounding.
  explicit ScalarCode(bool exact) : exact_(exact) {}

  /// A place for a variable, to be known before it is used.
  void input(const VarRef& var) { place_of_input(AnyExpr(var)); }
  /// The value as one more result.
  void result(const AnyExpr& value) { results_.push_back(compile(value)); }

  /// False: something in it is no operation on scalars.
  bool good() const { return good_; }
  std::size_t inputs() const { return inputs_.size(); }
  const AnyExpr& input_expr(std::size_t k) const { return inputs_[k]; }
  std::size_t size() const { return steps_.size(); }
  /// The type that holds values of type t here.
  DType type(DType t) const { return t.is_float() && !exact_ ? kF64 : t; }

  /// `in` has inputs() values, `out` takes one for each result.
  void run(const Scalar* in, Scalar* out);
  /// The same with each rounding a few times worse, at random: where that changes a result, it is
  /// rounding that decides it (Parker, Monte Carlo arithmetic, UCLA CSD-970002, 1997). Not if
  /// exact.
  void run_rounding(const Scalar* in, Scalar* out, std::uint64_t seed);

 private:
  struct Step {
    enum Kind : std::uint8_t { binary, unary, cast, call, bits, select } kind;
    std::uint8_t op;
    DType type, from;
    int args[3], to;
  };

  int fresh(Scalar value = {}) {
    places_.push_back(value);
    return static_cast<int>(places_.size()) - 1;
  }
  int place_of_input(const AnyExpr& e);
  int compile(const AnyExpr& e);
  int compile_new(const AnyExpr& e);
  int compile_call(const CallNode& n);
  Scalar& at(int place) { return places_[static_cast<std::size_t>(place)]; }
  const Scalar& at(int place) const { return places_[static_cast<std::size_t>(place)]; }
  void load(const Scalar* in) {
    for (std::size_t k = 0; k < input_places_.size(); ++k) at(input_places_[k]) = in[k];
  }
  void run(const Step& s);
  void run_rounding(const Step& s, std::uint64_t bits);
  int place_of_constant(const ConstNode& c);
  void store(Scalar* out) const {
    for (std::size_t k = 0; k < results_.size(); ++k) out[k] = at(results_[k]);
  }
  int add(Step step) {
    step.to = fresh();
    steps_.push_back(step);
    return step.to;
  }

  bool exact_, good_ = true;
  Vec<Scalar> places_;
  Vec<AnyExpr> inputs_;
  Vec<int> input_places_, results_;
  Vec<double> coarse_;  ///< of places of constants that their types round: by what part; else 0
  Vec<Step> steps_;
  NodeMap<int> known_;
};

}  // namespace lathe::detail
