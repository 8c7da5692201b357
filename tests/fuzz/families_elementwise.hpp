// Families that compute each element from few others: element-wise, moving, gathering.
#pragma once

#include "family.hpp"

namespace fuzz {

class ElementwiseFamilies : public Family {
 public:
  using Family::Family;

  void elementwise() {
    std::vector<Size> full = shape(random_.below(4));
    for (int k = 1 + random_.below(3); k > 0; --k) {
      std::vector<Size> some;
      for (const auto& s : full)
        if (random_.chance(70)) some.push_back(s);
      sources_.push_back(input(random_.chance(60) ? full : some, near_dtype()));
    }
    for (int k = 1 + random_.below(3); k > 0; --k)
      sources_.push_back(map(full, [&](const Axes& at) { return value(dtype_, at, 3); }));
  }
  /// Values in which parts stand at many places: in arms of selects, in indices, and in each other.
  void shared_parts() {
    static const std::vector<DType> types = {lathe::kI32, lathe::kI64, lathe::kU8,  lathe::kI8,
                                             lathe::kU16, lathe::kF32, lathe::kF64, lathe::kF16};
    dtype_ = random_.pick(types);
    std::vector<Size> full = shape(1 + random_.below(3));
    Shaped x = input(full, dtype_), table = input({fixed(16)}, dtype_);
    const auto body = [&](const AnyExpr& first) {
      std::vector<AnyExpr> all = {first, number(dtype_), table(0)};
      for (int k = 5 + random_.below(40); k > 0; --k) all.push_back(shared_step(all, table));
      return all.back();
    };
    Shaped last = map(full, [&](const Axes& at) { return body(x.tensor.at(places(at))); });
    if (random_.chance(30))
      last = fold_one({full[0]}, {size(9)}, lathe::max_reducer(dtype_),
                      [&](const Axes& at, const Axes& r) {
                        Index index = {at[0].at};
                        for (std::size_t d = 1; d < full.size(); ++d) index.push_back(r[0].at);
                        return body(padded(last, index, number(dtype_)));
                      });
    epilogue(last, 1);
  }
  void casts() {
    std::vector<Size> full = shape(1 + random_.below(2));
    Shaped last = input(full, random_.pick(all_dtypes()));
    for (int k = 1 + random_.below(4); k > 0; --k) {
      DType t = random_.pick(all_dtypes());
      last = map(full, [&](const Axes& at) {
        AnyExpr x = last.tensor.at(places(at));
        if (random_.chance(30) && !x.dtype().is_bool()) x = x + number(x.dtype());
        return cast(t, x);
      });
    }
  }
  /// Axes of extent 1 and tensors without any, spread over the others.
  void broadcast() {
    std::vector<Size> full = shape(1 + random_.below(3));
    auto thin = [&] {
      std::vector<Size> out = full;
      for (auto& s : out)
        if (random_.chance(50)) s = size_of(1);
      return random_.chance(25) ? std::vector<Size>{} : out;
    };
    std::vector<Shaped> all;
    for (int k = 1 + random_.below(2); k > 0; --k) all.push_back(input(thin(), dtype_));
    auto spread = [&](const Shaped& x, const Axes& at) {
      Index index;
      for (std::size_t d = 0; d < x.shape.size(); ++d)
        index.push_back(d < at.size() && at[d].size.same(x.shape[d]) ? at[d].at : AnyExpr(0));
      return padded_if_empty(x, index);
    };
    for (int k = 2 + random_.below(3); k > 0; --k) {
      Shaped a = random_.pick(all), b = all.back();
      all.push_back(map(k == 1 ? full : thin(), [&](const Axes& at) {
        AnyExpr x = spread(a, at), y = spread(b, at);
        return random_.chance(50) ? plus(x, y) : times(x, y);
      }));
    }
  }
  void transpose() {
    Size m = size(33), n = size(33);
    Shaped x = input({m, n}, dtype_);
    epilogue(map({n, m}, [&](const Axes& at) { return x(at[1], at[0]); }), 1);
  }
  void permute() {
    std::vector<Size> from = shape(2 + random_.below(2)), to = from;
    for (std::size_t k = to.size() - 1; k > 0; --k)
      std::swap(to[k], to[static_cast<std::size_t>(random_.below(static_cast<int>(k) + 1))]);
    sources_.push_back(input(from, dtype_));
    sources_.push_back(map(to, [&](const Axes& at) { return value(dtype_, at, 1); }));
  }
  void reverse() {
    std::vector<Size> full = shape(1 + random_.below(3));
    Shaped last = input(full, dtype_);
    for (int k = 1 + random_.below(2); k > 0; --k) {
      const auto axis = static_cast<std::size_t>(random_.below(static_cast<int>(full.size())));
      last = map(full, [&](const Axes& at) {
        Index index = places(at);
        index[axis] = at[axis].size.any - 1 - index[axis];
        return last.tensor.at(index);
      });
    }
  }
  /// All elements in one axis, then in other axes.
  void reshape() {
    std::vector<Size> from = shape(2 + random_.below(2));
    Shaped x = input(from, dtype_);
    if (random_.chance(50)) x = map(from, [&](const Axes& at) { return x.tensor.at(places(at)); });
    Size flat = from[0];
    for (std::size_t k = 1; k < from.size(); ++k) flat = product(flat, from[k]);
    Shaped row = map({flat}, [&](const Axes& at) {
      Index index;
      AnyExpr rest = at[0];
      for (std::size_t k = from.size(); k-- > 0;) {
        index.insert(index.begin(), k == 0 ? rest : lathe::floormod(rest, from[k].any));
        rest = lathe::floordiv(rest, from[k].any);
      }
      return x.tensor.at(index);
    });
    if (random_.chance(40)) return;
    Size inner = from[0], outer = from[1];
    if (from.size() == 3) outer = product(outer, from[2]);
    map({outer, inner}, [&](const Axes& at) { return row(at[0].at * inner.any + at[1].at); });
  }
  void concat() {
    Size n = size(17), m = size(17), width = size(9);
    Shaped a = input({n, width}, dtype_), b = input({m, width}, dtype_);
    Size both{n.symbolic() || m.symbolic() ? n.any + m.any : AnyExpr(n.value + m.value),
              n.value + m.value};
    epilogue(map({both, width},
                 [&](const Axes& at) {
                   return either(at[0].at < n.any, a(at[0], at[1]), b(at[0].at - n.any, at[1]));
                 }),
             1);
  }
  void slice() {
    Size count = size(17), width = size(9);
    const int step = 1 + random_.below(3), first = random_.below(3);
    Shaped x = input({scaled(count, step, first), width}, dtype_);
    epilogue(map({count, width}, [&](const Axes& at) { return x(at[0].at * step + first, at[1]); }),
             1);
  }
  void gather() {
    Size rows = positive_size(17), columns = size(17), picked = size(17);
    Shaped table = input({rows, columns}, dtype_), index = input({picked}, index_type());
    auto row = [&](const AnyExpr& at) { return limited(cast(lathe::kI64, index(at)), rows); };
    if (random_.chance(30)) {  // a bag of rows
      epilogue(sum({columns}, {picked},
                   [&](const Axes& at, const Axes& r) { return table(row(r[0]), at[0]); }));
      return;
    }
    Shaped y = map({picked, columns}, [&](const Axes& at) { return table(row(at[0]), at[1]); });
    sources_ = {y, table};
    if (random_.chance(60))
      map({picked, columns}, [&](const Axes& at) { return value(dtype_, at, 2); });
  }
  // i64 arithmetic from indices and data that wraps, decides and addresses.
  void hash() {
    Size rows = size(17), seeds = size(40);
    Shaped table = input({rows}, dtype_), seed = input({seeds}, random_.pick(all_dtypes()));
    Shaped mixed = map({seeds}, [&](const Axes& at) {
      AnyExpr start = random_.chance(50) ? at[0].at : cast(lathe::kI64, seed(at[0]));
      return scrambled(random_.chance(30) ? start + at[0].at : start);
    });
    sources_ = {map({seeds}, [&](const Axes& at) {
      const AnyExpr h = random_.chance(50) ? scrambled(at[0]) : mixed(at[0]);
      const AnyExpr near = random_.chance(50) ? make_binary(BinaryOp::shr, h, AnyExpr(60)) : h;
      return either(lathe::logical_and(near >= 0, near < rows.any), table(near), number(dtype_));
    })};
    if (random_.chance(60))
      map({seeds}, [&](const Axes& at) { return cast(dtype_, scrambled(mixed(at[0]))); });
  }

 private:
  DType index_type() {
    static const std::vector<DType> types = {lathe::kI32, lathe::kI64, lathe::kU8, lathe::kI16};
    return random_.pick(types);
  }
  AnyExpr padded_if_empty(const Shaped& x, const Index& at) {
    for (const auto& s : x.shape)
      if (s.value == 0) return padded(x, at, number(x.tensor.dtype()));
    return x.tensor.at(at);
  }
  /// Of floats only what is exact in each order: parts meet in many ways.
  AnyExpr shared_step(const std::vector<AnyExpr>& all, const Shaped& table) {
    const int near = std::min(static_cast<int>(all.size()), random_.chance(80) ? 4 : 30);
    const auto one = [&] {
      return all[all.size() - 1 - static_cast<std::size_t>(random_.below(near))];
    };
    const bool exact = dtype_.is_float();
    const AnyExpr a = one(), b = one(), at = cast(lathe::kI64, one());
    switch (random_.below(6)) {
      case 0:
        return exact ? lathe::make_binary(BinaryOp::max, a, b) : a * b + one();
      case 1:
        return exact ? -a : a - b;
      case 2:
        return either(a < b, one(), one());
      case 3:
        return padded(table, {at}, one());
      case 4:
        return lathe::make_binary(exact ? BinaryOp::min : BinaryOp::bit_xor, a,
                                  table(lathe::floormod(at, AnyExpr(16))));
      default:
        return either(at < 3, lathe::make_binary(BinaryOp::min, a, b), b);
    }
  }
  AnyExpr scrambled(AnyExpr h) {
    static const std::vector<std::int64_t> numbers = {
        6364136223846793005,   INT64_MAX, INT64_MIN, -2654435761, std::int64_t{1} << 62,
        std::int64_t{1} << 33, 1000,      7,         4,           -1};
    static const std::vector<BinaryOp> ops = {
        BinaryOp::mul, BinaryOp::mul, BinaryOp::mul,      BinaryOp::add,
        BinaryOp::sub, BinaryOp::div, BinaryOp::floordiv, BinaryOp::floormod,
        BinaryOp::mod, BinaryOp::min, BinaryOp::max,      BinaryOp::bit_xor};
    for (int k = 1 + random_.below(4); k > 0; --k) {
      if (random_.chance(20))
        h = make_binary(random_.chance(50) ? BinaryOp::shr : BinaryOp::shl, h,
                        AnyExpr(1 + random_.below(62)));
      else
        h = make_binary(random_.pick(ops), h, AnyExpr(random_.pick(numbers)));
    }
    return random_.chance(20) ? cast(lathe::kI64, h < AnyExpr(random_.pick(numbers))) : h;
  }
};

}  // namespace fuzz
