// Random expressions and reductions over what a stage may read.
#pragma once

#include <lathe/dsl/boundary.hpp>

#include "program_pieces.hpp"

namespace fuzz {

class RandomValues : protected ProgramPieces {
 public:
  static const std::vector<DType>& all_dtypes() {
    static const std::vector<DType> all = {
        lathe::kBool, lathe::kI4,  lathe::kU4,  lathe::kI8,   lathe::kU8,  lathe::kI16,
        lathe::kU16,  lathe::kI32, lathe::kU32, lathe::kI64,  lathe::kU64, lathe::kF16,
        lathe::kBF16, lathe::kF32, lathe::kF64, lathe::kE4M3, lathe::kE5M2};
    return all;
  }

 protected:
  using Index = std::vector<AnyExpr>;

  explicit RandomValues(Random& random) : ProgramPieces(random) {}

  // Which NaN an operation gives is open, its sign too: nobody may look at it.
  AnyExpr without_nan(const AnyExpr& e) {
    return lathe::make_select(lathe::make_call(CallOp::is_nan, {e}), number(e.dtype()), e);
  }
  AnyExpr number(DType t) {
    if (t.is_bool()) return lathe::make_bool(random_.chance(50));
    return lathe::make_const(t, t.is_unsigned() ? 1 + random_.below(4) : random_.below(7) - 3);
  }
  AnyExpr limited(const AnyExpr& at, const Size& s) {
    AnyExpr low = lathe::make_binary(BinaryOp::max, at, AnyExpr(0));
    return lathe::make_binary(BinaryOp::min, low, s.any - 1);
  }
  /// Some index that lies inside an axis of this size (not 0).
  AnyExpr index_in(const Size& s, const std::vector<Axis>& axes) {
    std::vector<Axis> equal;
    for (const auto& a : axes)
      if (a.size.same(s)) equal.push_back(a);
    if (!equal.empty() && random_.chance(75)) {
      AnyExpr at = random_.pick(equal).at;
      if (random_.chance(80)) return at;
      return random_.chance(50) ? s.any - 1 - at : limited(at + (random_.below(5) - 2), s);
    }
    if (axes.empty() || random_.chance(20))
      return AnyExpr(random_.below(static_cast<int>(s.value)));
    AnyExpr at = random_.pick(axes).at;
    if (random_.chance(50)) return lathe::floormod(at * (1 + random_.below(3)), s.any);
    return limited(random_.chance(50) ? lathe::floordiv(at, AnyExpr(2)) : at, s);
  }
  AnyExpr read(const Shaped& x, const std::vector<Axis>& axes) {
    Index at, outside;
    bool empty = false;
    for (const auto& s : x.shape) {
      bool found = false;
      for (const auto& a : axes) found = found || a.size.same(s);
      empty = empty || (s.value == 0);
      at.push_back(s.value > 0 ? index_in(s, axes) : axes.empty() ? AnyExpr(0) : axes[0].at);
    }
    AnyExpr value = x.tensor.at(at);
    if (!empty) return value;
    return lathe::make_select(lathe::in_bounds_any(x.tensor, at), value, number(x.tensor.dtype()));
  }
  AnyExpr cast(DType t, const AnyExpr& e) { return lathe::make_cast(t, e); }

  AnyExpr some_condition(const std::vector<Axis>& axes, int depth) {
    if (!axes.empty() && (!wild_ || random_.chance(50))) {
      const Axis& a = random_.pick(axes);
      return a.at <
             AnyExpr(1 + random_.below(static_cast<int>(std::max<std::int64_t>(1, a.size.value))));
    }
    if (!wild_) return lathe::make_bool(random_.chance(50));
    auto op = static_cast<BinaryOp>(static_cast<int>(BinaryOp::eq) + random_.below(6));
    return lathe::make_binary(op, value(dtype_, axes, depth - 1), value(dtype_, axes, depth - 1));
  }

  AnyExpr int_value(DType t, const std::vector<Axis>& axes, int depth) {
    static const std::vector<BinaryOp> ops = {
        BinaryOp::add,    BinaryOp::sub,     BinaryOp::mul,      BinaryOp::min,
        BinaryOp::max,    BinaryOp::div,     BinaryOp::mod,      BinaryOp::bit_and,
        BinaryOp::bit_or, BinaryOp::bit_xor, BinaryOp::floordiv, BinaryOp::floormod,
        BinaryOp::shl,    BinaryOp::shr};
    AnyExpr a = value(t, axes, depth - 1);
    switch (random_.below(8)) {
      case 0:
        return lathe::make_unary(random_.chance(50) ? lathe::UnaryOp::neg : lathe::UnaryOp::bit_not,
                                 a);
      case 1:
        return lathe::make_call(random_.chance(50) ? CallOp::abs : CallOp::popcount, {a});
      default:
        return lathe::make_binary(random_.pick(ops), a, value(t, axes, depth - 1));
    }
  }
  AnyExpr bool_value(const std::vector<Axis>& axes, int depth) {
    AnyExpr a = value(lathe::kBool, axes, depth - 1);
    if (random_.chance(30)) return lathe::logical_not(a);
    static const std::vector<BinaryOp> ops = {BinaryOp::and_, BinaryOp::or_, BinaryOp::eq,
                                              BinaryOp::ne};
    return lathe::make_binary(random_.pick(ops), a, value(lathe::kBool, axes, depth - 1));
  }
  AnyExpr wild_float(DType t, const std::vector<Axis>& axes, int depth) {
    AnyExpr a = value(t, axes, depth - 1);
    static const std::vector<CallOp> calls = {
        CallOp::floor, CallOp::ceil,  CallOp::trunc, CallOp::round, CallOp::sqrt,
        CallOp::exp2,  CallOp::log,   CallOp::log2,  CallOp::tan,   CallOp::exp,
        CallOp::expm1, CallOp::log1p, CallOp::cbrt};
    static const std::vector<BinaryOp> ops = {BinaryOp::div, BinaryOp::fast_min,
                                              BinaryOp::fast_max};
    switch (random_.below(6)) {
      case 0:
        return lathe::make_binary(random_.pick(ops), a, value(t, axes, depth - 1));
      case 1:
        return lathe::make_call(CallOp::copysign, {a, without_nan(value(t, axes, depth - 1))});
      case 2:
        return lathe::make_select(lathe::make_call(CallOp::is_nan, {a}), number(t), a);
      case 3:
        return lathe::make_call(CallOp::scalb, {a, lathe::make_const(t, random_.below(9) - 4)});
      case 4:
        return lathe::make_call(CallOp::fma,
                                {a, value(t, axes, depth - 1), value(t, axes, depth - 1)});
      default:
        return lathe::make_call(random_.pick(calls), {a});
    }
  }
  AnyExpr float_value(DType t, const std::vector<Axis>& axes, int depth) {
    static const std::vector<BinaryOp> ops = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul,
                                              BinaryOp::min, BinaryOp::max};
    static const std::vector<CallOp> smooth = {CallOp::tanh, CallOp::sin,  CallOp::cos,
                                               CallOp::erf,  CallOp::atan, CallOp::abs};
    if (wild_ && random_.chance(30)) return wild_float(t, axes, depth);
    AnyExpr a = value(t, axes, depth - 1);
    switch (random_.below(10)) {
      case 0:
        return lathe::make_unary(lathe::UnaryOp::neg, a);
      case 1:
        return random_.chance(70) ? a : lathe::make_call(random_.pick(smooth), {a});
      case 2:
        return a / (lathe::make_call(CallOp::abs, {value(t, axes, depth - 1)}) + 1);
      case 3:
        return a * lathe::make_float(t, 0.25);
      default:
        return lathe::make_binary(random_.pick(ops), a, value(t, axes, depth - 1));
    }
  }
  /// An expression over what may be read at these axes.
  AnyExpr value(DType t, const std::vector<Axis>& axes, int depth) {
    if (depth <= 0 || random_.chance(15)) {
      if (sources_.empty() || random_.chance(10)) return number(t);
      return cast(t, read(random_.pick(sources_), axes));
    }
    if (random_.chance(12))
      return lathe::make_select(some_condition(axes, depth), value(t, axes, depth - 1),
                                value(t, axes, depth - 1));
    if (wild_ && random_.chance(5) && !axes.empty()) return cast(t, random_.pick(axes).at);
    return t.is_bool()    ? bool_value(axes, depth)
           : t.is_float() ? float_value(t, axes, depth)
                          : int_value(t, axes, depth);
  }

  // Reductions.
  lathe::ReducerRef single_reducer(DType t) {
    if (t.is_bool()) return random_.chance(50) ? lathe::any_reducer() : lathe::all_reducer();
    switch (random_.below(8)) {
      case 0:
        return lathe::prod_reducer(t);
      case 1:
        return lathe::min_reducer(t);
      case 2:
        return lathe::max_reducer(t);
      case 3:
        return random_.chance(50) ? fold_reducer(t) : xor_reducer(t);
      default:
        return lathe::sum_reducer(t);
    }
  }
  /// Neither associative nor commutative: the order of the axis is part of the result.
  lathe::ReducerRef fold_reducer(DType t) {
    return lathe::make_reducer(
        "fold", {lathe::make_const(t, 1)},
        [&](std::span<const lathe::VarRef> l, std::span<const lathe::VarRef> r) {
          return std::vector<AnyExpr>{AnyExpr(l[0]) * lathe::make_const(t, 2) - AnyExpr(r[0])};
        },
        false, false);
  }
  lathe::ReducerRef xor_reducer(DType t) {
    if (t.is_float()) return lathe::sum_reducer(t);
    return lathe::make_reducer(
        "xor", {lathe::make_const(t, 0)},
        [&](std::span<const lathe::VarRef> l, std::span<const lathe::VarRef> r) {
          return std::vector<AnyExpr>{lathe::make_binary(BinaryOp::bit_xor, l[0], r[0])};
        });
  }
  lathe::ReducerRef extremes_reducer(DType t) {
    AnyExpr low = lathe::min_reducer(t)->identity[0], high = lathe::max_reducer(t)->identity[0];
    return lathe::make_reducer(
        "extremes", {low, high},
        [&](std::span<const lathe::VarRef> l, std::span<const lathe::VarRef> r) {
          return std::vector<AnyExpr>{lathe::make_binary(BinaryOp::min, l[0], r[0]),
                                      lathe::make_binary(BinaryOp::max, l[1], r[1])};
        });
  }
  AnyValue reduced(DType t, std::vector<Axis> axes, const std::vector<Size>& over, int depth) {
    AnyValue v;
    for (const auto& s : over) axes.push_back(reduce_axis(s, v.axes));
    AnyExpr term = value(t, axes, depth);
    if (!t.is_bool() && random_.chance(20)) {
      bool arg = random_.chance(60);
      v.reducer = !arg                 ? extremes_reducer(t)
                  : random_.chance(50) ? lathe::argmax_reducer(t)
                                       : lathe::argmin_reducer(t);
      v.values = {term, arg ? lathe::reduce_position(v.axes) : term};
    } else {
      v.reducer = single_reducer(t);
      v.values = {term};
    }
    if (random_.chance(15)) v.predicate = axes.back().at < AnyExpr(random_.below(20));
    return v;
  }

  bool wild_ = false;
  DType dtype_ = lathe::kF32;
  std::vector<Shaped> sources_;
};

}  // namespace fuzz
