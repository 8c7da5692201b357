// Families that are about how stages depend on each other.
#pragma once

#include "family.hpp"

namespace fuzz {

class GraphFamilies : public Family {
 public:
  using Family::Family;

  void dag() {
    std::vector<Size> pool = shape(3);
    auto some_shape = [&] {
      std::vector<Size> out;
      for (int k = random_.below(4); k > 0; --k) out.push_back(random_.pick(pool));
      std::int64_t count = 1;
      for (const auto& s : out) count *= std::max<std::int64_t>(1, s.value);
      while (count > 4000) count /= std::max<std::int64_t>(1, out.back().value), out.pop_back();
      return out;
    };
    for (int k = 1 + random_.below(2); k > 0; --k)
      sources_.push_back(input(some_shape(), near_dtype()));
    for (int k = 2 + random_.below(6); k > 0; --k) {
      DType t = random_.chance(85) ? dtype_ : random_.pick(all_dtypes());
      bool reduce = random_.chance(35);
      auto made = compute(some_shape(), [&](const Axes& at) {
        return reduce ? reduced(t, at, {random_.pick(pool)}, 2) : AnyValue(value(t, at, 2));
      });
      for (const auto& x : made) sources_.push_back(x);
    }
  }
  /// Stages that look at others at an offset, at a scale, or through a window.
  void windowed_dag() {
    Size n = positive_size(33);
    std::vector<Shaped> all{input({n}, dtype_)};
    for (int k = 3 + random_.below(6); k > 0; --k) {
      Shaped a = all.back(), b = random_.pick(all);
      Size next = random_.chance(70) ? n : positive_size(33);
      if (random_.chance(35)) {
        all.push_back(
            sum({next}, {fixed(1 + random_.below(3))}, [&](const Axes& at, const Axes& r) {
              return times(seen(a, at[0].at + r[0].at), seen(b, at[0]));
            }));
        continue;
      }
      all.push_back(map({next}, [&](const Axes& at) {
        return random_.chance(50) ? plus(seen(a, at[0]), seen(b, at[0]))
                                  : times(seen(a, at[0]), seen(b, at[0]));
      }));
    }
  }
  /// Two outputs, or more, of one producer.
  void shared_producer() {
    std::vector<Size> full = shape(1 + random_.below(2));
    sources_ = {input(full, near_dtype())};
    Shaped producer = producer_of(full);
    sources_.push_back(producer);
    for (int k = 2 + random_.below(2); k > 0; --k)
      map(full, [&](const Axes& at) {
        return plus(producer.tensor.at(places(at)), value(dtype_, at, 2));
      });
    outputs_percent_ = 60;
  }
  /// By one consumer at many places, or by a row of consumers.
  void ten_uses() {
    Size n = positive_size(17);
    sources_ = {input({n}, near_dtype())};
    Shaped producer = producer_of({n}), last = producer;
    if (random_.chance(50)) {
      map({n}, [&](const Axes& at) {
        AnyExpr all = producer(at[0]);
        for (int k = 1; k < 10; ++k) all = plus(all, seen(producer, at[0]));
        return all;
      });
      return;
    }
    for (int k = 0; k < 10; ++k)
      last = map({n}, [&](const Axes& at) { return plus(last(at[0]), seen(producer, at[0])); });
  }
  /// Two sizes, and the smaller of them.
  void two_dims() {
    symbolic_ = random_.chance(80);
    Size n = size(17), m = size(17), both = smaller(n, m);
    Shaped x = input({n, m}, dtype_), y = input({m, n}, dtype_);
    Shaped diagonal =
        map({both}, [&](const Axes& at) { return times(x(at[0], at[0]), y(at[0], at[0])); });
    if (random_.chance(50))
      sum({n}, {both},
          [&](const Axes& at, const Axes& r) { return plus(y(r[0], at[0]), diagonal(r[0])); });
    if (random_.chance(50))
      map({n, m}, [&](const Axes& at) {
        return either(lathe::eq(at[0], at[1]), diagonal(at[0]), x(at[0], at[1]));
      });
    if (random_.chance(30))
      sum({}, {both}, [&](const Axes&, const Axes& r) { return diagonal(r[0]); });
  }

 private:
  Shaped producer_of(const std::vector<Size>& full) {
    return map(full, [&](const Axes& at) { return value(dtype_, at, 2); });
  }
  /// The element of a row at i * scale + offset, kept inside or with a value outside.
  AnyExpr seen(const Shaped& x, const AnyExpr& i) {
    AnyExpr at = i;
    if (random_.chance(30)) at = random_.chance(50) ? at * 2 : lathe::floordiv(at, AnyExpr(2));
    at = at + (random_.below(7) - 3);
    return random_.chance(50) ? padded(x, {at}, number(dtype_))
                              : lathe::clamp_any(x.tensor, Index{at});
  }
};

}  // namespace fuzz
