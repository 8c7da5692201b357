// Families of products that are summed: matrices, vectors, attention.
#pragma once

#include "family.hpp"

namespace fuzz {

class ContractionFamilies : public Family {
 public:
  using Family::Family;

  void gemm() { product_of_matrices(false, random_.chance(30), random_.chance(25)); }
  void gemm_at() { product_of_matrices(true, random_.chance(30), random_.chance(25)); }
  /// One of the two may have no batch, or a batch of one.
  void batched_gemm() {
    Size batch = size(5), m = size(9), n = size(17), k = size(9);
    const int a_kind = random_.below(3), b_kind = random_.below(3);
    auto operand = [&](int kind, const Size& rows, const Size& columns) {
      if (kind == 0) return input({rows, columns}, near_dtype());
      return input({kind == 1 ? fixed(1) : batch, rows, columns}, near_dtype());
    };
    Shaped a = operand(a_kind, m, k), b = operand(b_kind, k, n);
    auto at_batch = [](const Shaped& x, int kind, const AnyExpr& p, const AnyExpr& i,
                       const AnyExpr& j) {
      return kind == 0 ? x(i, j) : x(kind == 1 ? AnyExpr(0) : p, i, j);
    };
    epilogue(sum({batch, m, n}, {k}, [&](const Axes& at, const Axes& r) {
      return times(cast(dtype_, at_batch(a, a_kind, at[0], at[1], r[0])),
                   cast(dtype_, at_batch(b, b_kind, at[0], r[0], at[2])));
    }));
  }
  void gemv() {
    Size m = size(33), n = size(33);
    const bool transposed = random_.chance(40);
    Shaped a = transposed ? input({n, m}, near_dtype()) : input({m, n}, near_dtype());
    Shaped x = input({n}, near_dtype());
    epilogue(sum({m}, {n}, [&](const Axes& at, const Axes& r) {
      return times(cast(dtype_, transposed ? a(r[0], at[0]) : a(at[0], r[0])),
                   cast(dtype_, x(r[0])));
    }));
  }
  void outer() {
    Size m = size(33), n = size(33);
    Shaped x = input({m}, near_dtype()), y = input({n}, near_dtype());
    const bool update = random_.chance(50);
    Shaped a = update ? input({m, n}, dtype_) : x;
    epilogue(map({m, n}, [&](const Axes& at) {
      AnyExpr v = times(cast(dtype_, x(at[0])), cast(dtype_, y(at[1])));
      return update ? plus(a(at[0], at[1]), v) : v;
    }));
  }
  /// A triangular matrix times another: the range of the sum, a predicate or a select ends it.
  void trmm() {
    Size m = size(17), n = size(17);
    Shaped a = input({m, m}, dtype_), b = input({m, n}, dtype_);
    const int form = random_.below(3);
    const bool upper = random_.chance(30);
    epilogue(compute({m, n}, [&](const Axes& at) {
      AnyValue v;
      v.axes.push_back(form > 0 ? lathe::make_reduce("r", 0, lathe::Extent(m.any))
                       : upper  ? lathe::make_reduce("r", lathe::Extent(at[0].at),
                                                     lathe::Extent(m.any - at[0].at))
                                : lathe::make_reduce("r", 0, lathe::Extent(at[0].at + 1)));
      AnyExpr r = v.axes[0].var, inside = upper ? r >= at[0].at : r <= at[0].at;
      AnyExpr x = a(at[0], r);
      if (form == 1) v.predicate = inside;
      if (form == 2) x = either(inside, x, lathe::make_const(dtype_, 0));
      v.values = {times(x, b(r, at[1]))}, v.reducer = total(dtype_);
      return v;
    })[0]);
  }
  /// Queries against keys, the rows made to weights, weights against values.
  void attention() {
    Size m = size(9), n = size(17), d = size(9), width = size(9);
    Shaped q = input({m, d}, dtype_), k = input({n, d}, dtype_), v = input({n, width}, dtype_);
    Shaped s = sum({m, n}, {d}, [&](const Axes& at, const Axes& r) {
      return times(q(at[0], r[0]), k(at[1], r[0]));
    });
    if (random_.chance(40))
      s = map({m, n}, [&](const Axes& at) {
        return either(at[1].at <= at[0].at, s(at[0], at[1]), lowest());
      });
    if (dtype_.is_float()) s = weights(s);
    sum({m, width}, {n},
        [&](const Axes& at, const Axes& r) { return times(s(at[0], r[0]), v(r[0], at[1])); });
  }
  /// u8 times s8 in i32, and back to eight bits.
  void quantised() {
    Size m = size(17), n = size(17), k = size(33);
    const bool packed = random_.chance(50);
    dtype_ = lathe::kI32;
    Shaped a = input({m, k}, lathe::kU8);
    Shaped b = packed ? input({n, k}, lathe::kI8) : input({k, n}, lathe::kI8);
    const int zero = random_.chance(50) ? 0 : random_.below(200);
    Shaped c = sum({m, n}, {k}, [&](const Axes& at, const Axes& r) {
      AnyExpr x = cast(lathe::kI32, a(at[0], r[0]));
      if (zero) x = x - lathe::make_int(lathe::kI32, zero);
      return x * cast(lathe::kI32, packed ? b(at[1], r[0]) : b(r[0], at[1]));
    });
    Shaped scale = input({n}, random_.chance(50) ? lathe::kF32 : lathe::kI32);
    Shaped bias = input({n}, lathe::kI32);
    map({m, n},
        [&](const Axes& at) { return eight_bits(c(at[0], at[1]) + bias(at[1]), scale(at[1])); });
  }
  /// What instructions for products of narrow numbers fit, with tails of all kinds.
  void narrow_product() {
    const std::pair<DType, DType> types[] = {{lathe::kU8, lathe::kI8},
                                             {lathe::kI8, lathe::kI8},
                                             {lathe::kI8, lathe::kU8},
                                             {lathe::kU8, lathe::kU8},
                                             {lathe::kBF16, lathe::kBF16}};
    const auto [first, second] = types[random_.below(5)];
    dtype_ = first == lathe::kBF16 ? lathe::kF32 : lathe::kI32;
    const auto some = [&](int least, int more) { return fixed(least + random_.below(more)); };
    Size m = some(1, 50), n = some(8, 60), k = some(4, 90);
    const bool ta = random_.chance(25), tb = random_.chance(40), window = random_.chance(25);
    Size taps = fixed(window ? 3 : 1), reach = fixed(static_cast<int>(m.value) + (window ? 2 : 0));
    // Terms that lie apart in A, or begin further in, in A or in B.
    const int step = random_.chance(15) ? 2 : 1, from = random_.chance(15),
              from_b = random_.chance(15);
    Size ka = fixed(step * static_cast<int>(k.value) + from);
    Size kb = fixed(static_cast<int>(k.value) + from_b);
    Shaped a = ta && !window ? input({ka, m}, first) : input({reach, ka}, first);
    Shaped b = tb ? input({taps, n, kb}, second) : input({taps, kb, n}, second);
    epilogue(sum({m, n}, {taps, k}, [&](const Axes& at, const Axes& r) {
      const AnyExpr ra = r[1].at * step + from, rb = r[1].at + from_b;
      const AnyExpr x = ta && !window ? a(ra, at[0]) : a(at[0].at + r[0].at, ra);
      return times(cast(dtype_, x), cast(dtype_, tb ? b(r[0], at[1], rb) : b(r[0], rb, at[1])));
    }));
  }
  /// Products of integers less what is the same for all terms, or others; squared distances.
  void offset_product() {
    const DType of[] = {lathe::kI32, lathe::kI32, lathe::kI64, lathe::kI16, lathe::kU8};
    const DType bytes[] = {lathe::kU8, lathe::kI8};
    focus_ = {"split_terms", "split_terms", "change_type", "cache_read", "compute_at", "split"};
    dtype_ = of[random_.below(5)];
    const auto some = [&](int least, int more) {
      return random_.chance(60) ? fixed(least + random_.below(more)) : size(least + more);
    };
    const Size m = some(1, 24), n = some(1, 40), k = some(1, 70);
    const bool tb = random_.chance(40), window = random_.chance(20);
    const Size taps = fixed(window ? 2 : 1), rows = window ? scaled(m, 1, 1) : m;
    Shaped a = input({rows, k}, bytes[random_.below(2)]);
    Shaped b = tb ? input({taps, n, k}, bytes[random_.below(2)])
                  : input({taps, k, n}, bytes[random_.below(2)]);
    Shaped za = input({rows}, dtype_), zb = input({n}, dtype_);
    const int kind = random_.below(6);
    epilogue(sum({m, n}, {taps, k}, [&](const Axes& at, const Axes& r) {
      const AnyExpr row = window ? at[0].at + r[0].at : at[0].at, z = za(row), w = zb(at[1]);
      const AnyExpr x = cast(dtype_, a(row, r[1])),
                    y = cast(dtype_, tb ? b(r[0], at[1], r[1]) : b(r[0], r[1], at[1])),
                    c = lathe::make_const(dtype_, 100);
      if (kind == 0) return (x - c) * y;
      if (kind == 1) return (x - z) * (y - w);
      if (kind == 2) return (x - y) * (y - x);
      if (kind == 3) return (x - c) * (y + c) * w + z;
      if (kind == 4) return x * y + c * (x - w) - y;
      return (x - z) * y;
    }));
  }

 private:
  void product_of_matrices(bool ta, bool tb, bool batched) {
    Size m = size(17), n = size(33), k = size(17);
    std::vector<Size> batch;
    if (batched) batch.push_back(size(3));
    auto with = [&](const Size& rows, const Size& columns) {
      std::vector<Size> all = batch;
      all.push_back(rows), all.push_back(columns);
      return all;
    };
    Shaped a = input(ta ? with(k, m) : with(m, k), near_dtype());
    Shaped b = input(tb ? with(n, k) : with(k, n), near_dtype());
    epilogue(sum(with(m, n), {k}, [&](const Axes& at, const Axes& r) {
      auto element = [&](const Shaped& x, const AnyExpr& i, const AnyExpr& j) {
        return cast(dtype_, batched ? x(at[0], i, j) : x(i, j));
      };
      const Axis &i = at[at.size() - 2], &j = at.back();
      return times(ta ? element(a, r[0], i) : element(a, i, r[0]),
                   tb ? element(b, j, r[0]) : element(b, r[0], j));
    }));
  }
  AnyExpr lowest() {
    return dtype_.is_bool() ? lathe::make_bool(false) : lathe::max_reducer(dtype_)->identity[0];
  }
  Shaped weights(const Shaped& s) {
    const Size m = s.shape[0], n = s.shape[1];
    Shaped top = fold_one({m}, {n}, lathe::max_reducer(dtype_), InRow{s});
    Shaped e = map({m, n},
                   [&](const Axes& at) { return call(CallOp::exp, s(at[0], at[1]) - top(at[0])); });
    Shaped all = sum({m}, {n}, InRow{e});
    return map({m, n}, [&](const Axes& at) { return e(at[0], at[1]) / all(at[0]); });
  }
  AnyExpr eight_bits(const AnyExpr& c, const AnyExpr& scale) {
    AnyExpr v;
    if (scale.dtype().is_float())
      v = cast(lathe::kI32, call(CallOp::round, cast(lathe::kF32, c) * scale));
    else
      v = make_binary(BinaryOp::shr, c * scale + lathe::make_int(lathe::kI32, 128),
                      lathe::make_int(lathe::kI32, 8));
    const bool sign = random_.chance(50);
    v = make_binary(BinaryOp::max, v, lathe::make_int(lathe::kI32, sign ? -128 : 0));
    v = make_binary(BinaryOp::min, v, lathe::make_int(lathe::kI32, sign ? 127 : 255));
    return cast(sign ? lathe::kI8 : lathe::kU8, v);
  }
};

}  // namespace fuzz
