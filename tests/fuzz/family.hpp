// What the families of programs have in common: a type, and stages in few words.
#pragma once

#include <lathe/ir/parse.hpp>
#include <string>
#include <utility>
#include <vector>

#include "crash.hpp"
#include "random_values.hpp"

namespace fuzz {

/// The element of a row at a reduce axis.
struct InRow {
  Shaped x;
  AnyExpr operator()(const Axes& at, const Axes& r) const { return x(at[0], r[0]); }
};

/// Its classes, one per topic, have a function per family that adds stages, or sets a text.
class Family : public RandomValues {
 public:
  explicit Family(Random& random) : RandomValues(random) {
    symbolic_ = random_.chance(30);
    wild_ = random_.chance(40);
    static const std::vector<DType> common = {lathe::kF32, lathe::kF32, lathe::kF32, lathe::kF64,
                                              lathe::kI32, lathe::kI64, lathe::kI8,  lathe::kU8,
                                              lathe::kF16, lathe::kBF16};
    dtype_ = random_.chance(80) ? random_.pick(common) : random_.pick(all_dtypes());
  }

  /// Without a program if parse refuses a text that it may refuse.
  ComputedProgram computed() {
    ComputedProgram out{{}, {}, dims_};
    out.loose = loose_program_ || refusable_, out.untrue = untrue_program_, out.focus = focus_;
    try {
      out.program = text_.empty() ? program(outputs_percent_) : lathe::parse(text_);
    } catch (const lathe::UserError&) {
      if (!refusable_ && !untrue_program_) throw;
    } catch (const lathe::InternalError& error) {
      throw Failure("parse", std::string(error.what()) + "\n" + text_);
    }
    return out;
  }

 protected:
  DType near_dtype() { return random_.chance(75) ? dtype_ : random_.pick(all_dtypes()); }
  void only_floats() {
    static const std::vector<DType> types = {lathe::kF32, lathe::kF32, lathe::kF64, lathe::kF16,
                                             lathe::kBF16};
    if (!dtype_.is_float()) dtype_ = random_.pick(types);
  }
  void only_numbers() {
    if (dtype_.is_bool()) dtype_ = lathe::kI32;
  }
  Size positive_size(std::int64_t largest) {
    for (;;)
      if (Size s = size(largest); s.value > 0) return s;
  }
  static Size fixed(std::int64_t value) { return {AnyExpr(value), value}; }

  static Index places(const Axes& at) { return Index(at.begin(), at.end()); }

  // Of bools, "or" and "and" stand for sum and product.
  static AnyExpr plus(const AnyExpr& a, const AnyExpr& b) {
    return a.dtype().is_bool() ? lathe::logical_or(a, b) : a + b;
  }
  static AnyExpr times(const AnyExpr& a, const AnyExpr& b) {
    return a.dtype().is_bool() ? lathe::logical_and(a, b) : a * b;
  }
  static lathe::ReducerRef total(DType t) {
    return t.is_bool() ? lathe::any_reducer() : lathe::sum_reducer(t);
  }
  /// e in another type, where it is not of that type.
  AnyExpr as_type(DType t, const AnyExpr& e) { return e.dtype() == t ? e : cast(t, e); }
  static AnyExpr either(const AnyExpr& condition, const AnyExpr& yes, const AnyExpr& no) {
    return lathe::make_select(condition, yes, no);
  }
  static AnyExpr call(CallOp op, const AnyExpr& a) { return lathe::make_call(op, {a}); }
  /// The element there, and `outside` where there is none.
  static AnyExpr padded(const Shaped& x, const Index& at, const AnyExpr& outside) {
    return either(lathe::in_bounds_any(x.tensor, at), x.tensor.at(at), outside);
  }

  /// A stage of one tensor; body(axes) gives its value.
  template <class Body>
  Shaped map(const std::vector<Size>& shape, Body body) {
    return compute(shape, [&](const Axes& at) { return AnyValue(body(at)); })[0];
  }
  /// A stage that folds; terms(axes, reduce axes) gives one value per output.
  template <class Terms>
  std::vector<Shaped> fold(const std::vector<Size>& shape, const std::vector<Size>& over,
                           const lathe::ReducerRef& reducer, Terms terms) {
    return compute(shape, [&](const Axes& at) {
      AnyValue v;
      Axes inner;
      for (const auto& s : over) inner.push_back(reduce_axis(s, v.axes));
      std::vector<AnyExpr> values = terms(at, inner);
      for (const auto& value : values) v.values.push_back(value);
      v.reducer = reducer;
      return v;
    });
  }
  template <class Term>
  Shaped fold_one(const std::vector<Size>& shape, const std::vector<Size>& over,
                  const lathe::ReducerRef& reducer, Term term) {
    return fold(shape, over, reducer, [&](const Axes& at, const Axes& r) {
      return std::vector<AnyExpr>{term(at, r)};
    })[0];
  }
  template <class Term>
  Shaped sum(const std::vector<Size>& shape, const std::vector<Size>& over, Term term) {
    return fold_one(shape, over, total(dtype_), term);
  }
  /// Some element-wise stages after the others.
  void epilogue(const Shaped& last, int most = 2) {
    sources_ = {last};
    if (!last.shape.empty() && random_.chance(30))
      sources_.push_back(input({last.shape.back()}, dtype_));
    for (int stages = random_.below(most + 1); stages > 0; --stages)
      sources_.push_back(map(last.shape, [&](const Axes& at) { return value(dtype_, at, 2); }));
  }

  int outputs_percent_ = 15;                             ///< of the stages before the last
  std::vector<std::string> focus_;                       ///< primitives that the family is about
  bool loose_program_ = false, untrue_program_ = false;  ///< as in ComputedProgram
  bool refusable_ = false;                               ///< the text may be none of a program
  std::string text_;  ///< the program, where it is no computation of the DSL
};

}  // namespace fuzz
