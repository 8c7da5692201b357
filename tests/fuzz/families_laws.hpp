// Families of reductions with conditions, with laws of all kinds, and with several results.
#pragma once

#include <lathe/dsl/statistics.hpp>

#include "family.hpp"

namespace fuzz {

class LawFamilies : public Family {
 public:
  explicit LawFamilies(Random& random) : Family(random) { only_numbers(); }

  /// `where` on each kind of reduction, over sizes that no vector divides.
  void masked_fold() {
    if (random_.chance(35)) dtype_ = lathe::kF32;
    const bool vector = random_.chance(40);
    const Size n = odd_size(vector ? 1001 : 130), m = vector ? fixed(1) : size(9);
    const std::vector<Size> kept = vector ? std::vector<Size>{} : std::vector<Size>{m};
    std::vector<Size> full = kept;
    full.push_back(n);
    Shaped x = input(full, dtype_), y = input({n}, near_number()), mask = input(full, lathe::kBool);
    Shaped lengths = input(vector ? std::vector<Size>{fixed(1)} : kept, lathe::kI64);
    if (random_.chance(20)) y = map({n}, [&](const Axes& at) { return y(at[0]); });
    sources_ = {x};
    auto all = compute(kept, [&](const Axes& at) {
      AnyValue v;
      Axes r{reduce_axis(n, v.axes)};
      Index place = places(at);
      const AnyExpr row = vector ? AnyExpr(0) : at[0].at;
      place.push_back(r[0]);
      const AnyExpr value = x.tensor.at(place);
      fold_of(v, value, r[0]);
      v.predicate = condition(y(r[0]), mask.tensor.at(place), lengths(row), r[0], value);
      if (random_.chance(30))
        v.predicate = lathe::logical_and(
            v.predicate, condition(y(r[0]), mask.tensor.at(place), lengths(row), r[0], value));
      return v;
    });
    if (random_.chance(40)) epilogue(all[0], 1);
  }
  /// Of the user's, whose laws are left open or said truthfully.
  void laws() {
    static const std::vector<DType> types = {lathe::kI32, lathe::kI32, lathe::kI8, lathe::kU8,
                                             lathe::kI16, lathe::kI64, lathe::kU32};
    dtype_ = random_.pick(types);
    const bool vector = random_.chance(50);
    const Size n = random_.chance(50) ? odd_size(130) : size(33);
    const std::vector<Size> kept = vector ? std::vector<Size>{} : std::vector<Size>{size(9)};
    std::vector<Size> full = kept;
    full.push_back(n);
    Shaped x = input(full, dtype_), y = input({n}, dtype_);
    const int kind = random_.below(12);
    auto all = compute(kept, [&](const Axes& at) {
      AnyValue v;
      Axes r{reduce_axis(n, v.axes)};
      Index place = places(at);
      place.push_back(r[0]);
      const AnyExpr a = x.tensor.at(place), b = y(r[0]);
      law(v, kind, random_.chance(25) ? a + b : a, b);
      if (random_.chance(20)) v.predicate = b > lathe::make_const(dtype_, 2);
      return v;
    });
    if (random_.chance(40)) epilogue(all.back(), 1);
  }
  /// Several, of which some are read, by one or by several.
  void results() {
    if (random_.chance(50)) dtype_ = random_.chance(50) ? lathe::kF32 : lathe::kF64;
    const Size m = size(17), n = size(33);
    Shaped x = input({m, n}, dtype_);
    if (random_.chance(30)) {
      Shaped first = x;
      x = map({m, n}, [&](const Axes& at) { return first(at[0], at[1]) + number(dtype_); });
    }
    auto all = compute({m}, [&](const Axes& at) {
      AnyValue v;
      Axes r{reduce_axis(n, v.axes)};
      several(v, x(at[0], r[0]), r[0]);
      return v;
    });
    const Shaped one = random_.pick(all), other = random_.pick(all);
    if (random_.chance(50)) {
      map({m, n},
          [&](const Axes& at) { return plus(x(at[0], at[1]), as_type(dtype_, one(at[0]))); });
    } else if (random_.chance(50)) {
      map({m}, [&](const Axes& at) { return as_type(dtype_, one(at[0])); });
    } else {
      compute({}, [&](const Axes&) {
        AnyValue v;
        Axes r{reduce_axis(m, v.axes)};
        v.values = {as_type(dtype_, one(r[0]))}, v.reducer = lathe::max_reducer(dtype_);
        return v;
      });
    }
    if (random_.chance(50))
      map({m}, [&](const Axes& at) {
        return as_type(dtype_, random_.chance(50) ? other(at[0]) : one(at[0]));
      });
    outputs_percent_ = 10;
  }

 private:
  using Operands = std::span<const lathe::VarRef>;
  using Values = std::vector<AnyExpr>;

  Size odd_size(std::int64_t largest) {
    static const std::vector<std::int64_t> values = {1, 5, 13, 31, 37, 61, 65, 97, 127, 257, 1001};
    std::int64_t value = random_.pick(values);
    while (value > largest) value = random_.pick(values);
    return random_.chance(80) ? fixed(value) : size_of(value);
  }
  DType near_number() {
    DType t = near_dtype();
    return t.is_bool() ? dtype_ : t;
  }
  AnyExpr condition(const AnyExpr& y, const AnyExpr& mask, const AnyExpr& length, const AnyExpr& r,
                    const AnyExpr& x) {
    switch (random_.below(6)) {
      case 0:
        return mask;
      case 1:
        return r < length;
      case 2:
        return x > number(dtype_);
      case 3:
        return lathe::logical_or(mask, r >= length - 1);
      default:
        return make_binary(random_.chance(50) ? BinaryOp::gt : BinaryOp::le, y, number(y.dtype()));
    }
  }
  void fold_of(AnyValue& v, const AnyExpr& x, const AnyExpr& at) {
    const int kind = random_.below(9);
    auto one = [&](lathe::ReducerRef reducer, const AnyExpr& term) {
      v.reducer = std::move(reducer), v.values = {term};
    };
    if (kind < 3) return one(lathe::sum_reducer(dtype_), x);
    if (kind == 3) return one(lathe::prod_reducer(dtype_), x);
    if (kind == 4) return one(lathe::max_reducer(dtype_), x);
    if (kind == 5) return one(lathe::min_reducer(dtype_), x);
    if (kind == 6)
      return one(random_.chance(50) ? lathe::any_reducer() : lathe::all_reducer(),
                 x > number(dtype_));
    if (kind == 7) return several(v, x, at);
    if (dtype_.is_float()) return one(lathe::sum_reducer(dtype_), x);
    law(v, random_.below(12), x, x);
  }

  // A law: what combines, whether it is associative, and whether it commutes.
  struct Law {
    Values identity;
    bool associative = false, commutative = false;
  };
  AnyExpr k(int value) const { return lathe::make_const(dtype_, value); }
  static AnyExpr op(BinaryOp o, const AnyExpr& a, const AnyExpr& b) { return make_binary(o, a, b); }

  template <class Combine>
  void set(AnyValue& v, const Law& is, Values terms, Combine combine) {
    lathe::Vec<AnyExpr> identity(is.identity.begin(), is.identity.end());
    auto both = [&](Operands l, Operands r) {
      const Values all = combine(Values(l.begin(), l.end()), Values(r.begin(), r.end()));
      return lathe::Vec<AnyExpr>(all.begin(), all.end());
    };
    v.reducer = random_.chance(50) ? lathe::make_reducer("law", std::move(identity), both)
                                   : lathe::make_reducer("law", std::move(identity), both,
                                                         is.associative, is.commutative);
    for (const auto& t : terms) v.values.push_back(t);
  }
  void law(AnyValue& v, int kind, const AnyExpr& x, const AnyExpr& y) {
    switch (kind) {
      case 0:
        return set(v, {{k(0)}}, {x}, [&](auto a, auto b) { return Values{a[0] * k(3) + b[0]}; });
      case 1:
        return set(v, {{k(0)}}, {x}, [&](auto a, auto b) {
          return Values{op(BinaryOp::max, op(BinaryOp::min, a[0] + b[0], k(5)),
                           dtype_.is_unsigned() ? k(1) : k(-3))};
        });
      case 2:
        return set(v, {{lathe::min_reducer(dtype_)->identity[0]}}, {x},
                   [&](auto a, auto b) { return Values{op(BinaryOp::min, a[0], b[0]) + k(1)}; });
      case 3:
        return set(v, {{k(0)}}, {x}, [&](auto a, auto b) { return Values{a[0] - b[0]}; });
      case 4:
        return set(v, {{k(0)}}, {x}, [&](auto a, auto b) {
          return Values{op(BinaryOp::max, a[0], b[0] * k(0) + k(2))};
        });
      case 5:
        return set(v, {{k(1), k(0), k(0), k(1)}, true, false}, {x, y, k(1), k(0)},
                   [&](auto a, auto b) {
                     return Values{a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                   a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
                   });
      case 6:
        return set(v, {{k(1), k(0)}, true, false}, {x, y}, [&](auto a, auto b) {
          return Values{a[0] * b[0], a[1] * b[0] + b[1]};
        });
      case 7:
        return set(v, {{k(0)}, true, true}, {x},
                   [&](auto a, auto b) { return Values{a[0] + b[0] + a[0] * b[0]}; });
      case 8:
        return set(v, {{k(0)}, true, false}, {x}, [&](auto a, auto b) {
          return Values{either(lathe::eq(b[0], k(0)), a[0], b[0])};
        });
      case 9:
        return set(v, {{k(0)}, true, true}, {x},
                   [&](auto a, auto b) { return Values{op(BinaryOp::bit_xor, a[0], b[0])}; });
      default: {
        const int from = random_.below(3);
        return set(v, {{k(from)}}, {x},
                   [&](auto a, auto b) { return Values{some(a[0], b[0], 1 + random_.below(2))}; });
      }
    }
  }
  /// Some expression of both.
  AnyExpr some(const AnyExpr& a, const AnyExpr& b, int depth) {
    static const std::vector<BinaryOp> ops = {
        BinaryOp::add,     BinaryOp::sub,     BinaryOp::mul,    BinaryOp::min, BinaryOp::max,
        BinaryOp::bit_xor, BinaryOp::bit_and, BinaryOp::bit_or, BinaryOp::shr};
    const AnyExpr l = depth > 1 ? some(a, b, depth - 1) : a;
    const AnyExpr r = random_.chance(30) ? some(b, k(1 + random_.below(3)), 1) : b;
    return make_binary(random_.pick(ops), l, r);
  }
  /// Values and a position, moments, or two of the user's.
  void several(AnyValue& v, const AnyExpr& x, const AnyExpr& at) {
    const int kind = random_.below(5);
    if (kind < 2) {
      v.reducer = kind ? lathe::argmax_reducer(dtype_) : lathe::argmin_reducer(dtype_);
      v.values = {x, at};
      return;
    }
    if (kind == 2 && (dtype_ == lathe::kF32 || dtype_ == lathe::kF64)) {
      v.reducer = lathe::welford_reducer(dtype_), v.values = {k(1), x, k(0)};
      return;
    }
    if (kind == 3) {
      v.reducer = extremes_reducer(dtype_), v.values = {x, x};
      return;
    }
    // A sum, and what a term before the last was.
    set(v, {{k(0), k(0)}}, {x, x * k(2)}, [&](auto a, auto b) {
      return Values{a[0] + b[0], op(BinaryOp::max, a[1], b[0])};
    });
  }
};

}  // namespace fuzz
