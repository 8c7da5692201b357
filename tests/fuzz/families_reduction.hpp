// Families that fold: sums of rows, normalisation, the best of a row, statistics, bits.
#pragma once

#include <lathe/dsl/statistics.hpp>

#include "family.hpp"

namespace fuzz {

class ReductionFamilies : public Family {
 public:
  using Family::Family;

  /// Random reducers of random terms over random axes.
  void reduction() {
    std::vector<Size> kept = shape(random_.below(3)), over{size(33)};
    if (random_.chance(30)) over.push_back(size(9));
    std::vector<Size> full = kept;
    full.insert(full.begin() + random_.below(static_cast<int>(kept.size()) + 1), over.begin(),
                over.end());
    sources_.push_back(input(full, near_dtype()));
    if (random_.chance(40)) sources_.push_back(input(over, near_dtype()));
    if (random_.chance(30))
      sources_.push_back(map(full, [&](const Axes& at) { return value(dtype_, at, 2); }));
    auto folded = compute(kept, [&](const Axes& at) { return reduced(dtype_, at, over, 2); });
    for (const auto& t : folded) sources_.push_back(t);
    if (random_.chance(50)) map(kept, [&](const Axes& at) { return value(dtype_, at, 2); });
  }
  void row_sum() { epilogue(rows_of(matrix())); }
  void column_sum() {
    Shaped x = matrix();
    epilogue(sum({x.shape[1]}, {x.shape[0]},
                 [&](const Axes& at, const Axes& r) { return x(r[0], at[0]); }));
  }
  /// Of all elements, at once or row by row.
  void total_sum() {
    Shaped x = matrix();
    if (random_.chance(50)) {
      epilogue(sum({}, x.shape, [&](const Axes&, const Axes& r) { return x(r[0], r[1]); }));
      return;
    }
    Shaped rows = rows_of(x);
    epilogue(sum({}, rows.shape, [&](const Axes&, const Axes& r) { return rows(r[0]); }));
  }
  void softmax() {
    only_floats();
    Shaped x = matrix();
    const Size m = x.shape[0], n = x.shape[1];
    if (random_.chance(50))
      x = map({m, n},
              [&](const Axes& at) { return x(at[0], at[1]) * lathe::make_float(dtype_, 0.5); });
    Shaped top = fold_one({m}, {n}, lathe::max_reducer(dtype_), InRow{x});
    Shaped e = map({m, n},
                   [&](const Axes& at) { return call(CallOp::exp, x(at[0], at[1]) - top(at[0])); });
    Shaped all = sum({m}, {n}, InRow{e});
    map({m, n}, [&](const Axes& at) { return e(at[0], at[1]) / all(at[0]); });
  }
  void layernorm() {
    only_floats();
    Shaped x = matrix();
    const Size m = x.shape[0], n = x.shape[1];
    Shaped gamma = input({n}, dtype_), beta = input({n}, dtype_);
    AnyExpr count = cast(dtype_, cast(lathe::kI32, n.any));
    Shaped all = rows_of(x);
    Shaped mean = map({m}, [&](const Axes& at) { return all(at[0]) / count; });
    Shaped squares = sum({m}, {n}, [&](const Axes& at, const Axes& r) {
      AnyExpr d = x(at[0], r[0]) - mean(at[0]);
      return d * d;
    });
    map({m, n}, [&](const Axes& at) {
      AnyExpr spread = call(CallOp::sqrt, squares(at[0]) / count + lathe::make_float(dtype_, 1e-3));
      return (x(at[0], at[1]) - mean(at[0])) / spread * gamma(at[1]) + beta(at[1]);
    });
  }
  /// Few different values, so that the lowest of several positions counts.
  void argmax() {
    only_numbers();
    Shaped x = matrix();
    const Size m = x.shape[0], n = x.shape[1];
    const bool ties = random_.chance(70);
    auto few = [&](const AnyExpr& v) {
      if (!ties) return v;
      AnyExpr low = lathe::make_const(dtype_, 1), high = lathe::make_const(dtype_, 2);
      return either(v < low, low, either(v < high, high, low));
    };
    auto folded =
        fold({m}, {n},
             random_.chance(50) ? lathe::argmax_reducer(dtype_) : lathe::argmin_reducer(dtype_),
             [&](const Axes& at, const Axes& r) {
               return std::vector<AnyExpr>{few(x(at[0], r[0])), r[0]};
             });
    if (random_.chance(40) && n.value > 0)  // the winners themselves
      map({m}, [&](const Axes& at) { return x(at[0], limited(folded[1](at[0]), n)); });
  }
  /// Mean and variance in one pass.
  void moments() {
    static const std::vector<DType> types = {lathe::kF32, lathe::kF64};
    dtype_ = random_.pick(types);
    Shaped x = matrix();
    const Size m = x.shape[0], n = x.shape[1];
    auto w = fold({m}, {n}, lathe::welford_reducer(dtype_), [&](const Axes& at, const Axes& r) {
      AnyExpr one = lathe::make_const(dtype_, 1), zero = lathe::make_const(dtype_, 0);
      return std::vector<AnyExpr>{one, x(at[0], r[0]), zero};
    });
    if (random_.chance(50))
      map({m, n}, [&](const Axes& at) {
        AnyExpr variance = w[2](at[0]) / w[0](at[0]);
        return (x(at[0], at[1]) - w[1](at[0])) / call(CallOp::sqrt, variance + 1);
      });
  }
  void log_sum_exp() {
    static const std::vector<DType> types = {lathe::kF32, lathe::kF64};
    dtype_ = random_.pick(types);
    Shaped x = matrix();
    const Size m = x.shape[0], n = x.shape[1];
    auto pair =
        fold({m}, {n}, lathe::log_sum_exp_reducer(dtype_), [&](const Axes& at, const Axes& r) {
          return std::vector<AnyExpr>{x(at[0], r[0]), lathe::make_const(dtype_, 1)};
        });
    map({m}, [&](const Axes& at) { return pair[0](at[0]) + call(CallOp::log, pair[1](at[0])); });
  }
  /// A mask, what it lets through, and how many.
  void mask() {
    only_numbers();
    Shaped x = matrix();
    const Size m = x.shape[0], n = x.shape[1];
    Shaped y = input({n}, lathe::kBool);
    Shaped inside = map({m, n}, [&](const Axes& at) {
      return lathe::logical_and(x(at[0], at[1]) > number(dtype_), y(at[1]));
    });
    fold_one({m}, {n}, random_.chance(50) ? lathe::any_reducer() : lathe::all_reducer(),
             InRow{inside});
    fold_one({n}, {m}, lathe::sum_reducer(lathe::kI32),
             [&](const Axes& at, const Axes& r) { return cast(lathe::kI32, inside(r[0], at[0])); });
    map({m, n}, [&](const Axes& at) {
      return either(inside(at[0], at[1]), x(at[0], at[1]), number(dtype_));
    });
  }
  /// and, or, xor of rows; how many bits are set.
  void bits() {
    static const std::vector<DType> types = {lathe::kI8,  lathe::kU8,  lathe::kI16, lathe::kU16,
                                             lathe::kI32, lathe::kU32, lathe::kI64, lathe::kU64,
                                             lathe::kI4,  lathe::kU4};
    dtype_ = random_.pick(types);
    Shaped x = matrix();
    const Size m = x.shape[0], n = x.shape[1];
    Shaped row = fold_one({m}, {n}, bit_reducer(), InRow{x});
    map({m}, [&](const Axes& at) { return call(CallOp::popcount, row(at[0])); });
    sum({m}, {n}, [&](const Axes& at, const Axes& r) {
      return call(CallOp::popcount, make_binary(BinaryOp::bit_xor, x(at[0], r[0]), row(at[0])));
    });
  }

 private:
  Shaped matrix() { return input({size(17), size(33)}, dtype_); }
  Shaped rows_of(const Shaped& x) { return sum({x.shape[0]}, {x.shape[1]}, InRow{x}); }
  lathe::ReducerRef bit_reducer() {
    static const std::vector<std::pair<BinaryOp, int>> ops = {
        {BinaryOp::bit_and, -1}, {BinaryOp::bit_or, 0}, {BinaryOp::bit_xor, 0}};
    const auto [op, identity] = random_.pick(ops);
    AnyExpr start = lathe::make_int(dtype_, lathe::detail::wrap_int(dtype_, identity));
    return lathe::make_reducer(
        "bits", {start},
        [op = op](std::span<const lathe::VarRef> l, std::span<const lathe::VarRef> r) {
          return std::vector<AnyExpr>{lathe::make_binary(op, l[0], r[0])};
        });
  }
};

}  // namespace fuzz
