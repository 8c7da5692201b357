// Random expressions that keep verify()'s rules and use every node.
#pragma once

#include <cmath>
#include <cstdint>
#include <lathe/ir/machine_form.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/stmt.hpp>
#include <limits>
#include <string>
#include <vector>

#include "random.hpp"

namespace test {

/// Over the variables and buffers in scope. Names repeat on purpose and some need quoting.
class RandomExpr {
 public:
  explicit RandomExpr(std::uint64_t seed) : random_(seed) {}

  /// An expression over constants only.
  lathe::AnyExpr closed_expr() { return expr(dtype(), 4); }

 protected:
  using AnyExpr = lathe::AnyExpr;
  using DType = lathe::DType;

  static const std::vector<DType>& dtypes() {
    static const std::vector<DType> all = {
        lathe::kBool, lathe::kI4,  lathe::kU4,   lathe::kI8,   lathe::kU8,  lathe::kI16,
        lathe::kU16,  lathe::kI32, lathe::kU32,  lathe::kI64,  lathe::kU64, lathe::kF16,
        lathe::kF32,  lathe::kF64, lathe::kBF16, lathe::kE4M3, lathe::kE5M2};
    return all;
  }
  DType dtype() {
    if (random_.chance(40)) return random_.chance(50) ? lathe::kF32 : lathe::kI64;
    DType t = random_.pick(dtypes());
    while (stage_ == lathe::Stage::machine && lathe::detail::is_narrow(t))
      t = random_.pick(dtypes());
    return t;
  }
  /// A node as the stage allows it.
  AnyExpr legal(AnyExpr e) const {
    if (stage_ < lathe::Stage::machine || lathe::detail::machine_problem(e, {}).empty()) return e;
    if (const auto* n = e.as<lathe::BinaryNode>())
      return lathe::detail::machine_binary(n->op, n->a, n->b);
    if (const auto* n = e.as<lathe::CastNode>())
      return lathe::detail::machine_conversion(n->dtype, n->value);
    return lathe::detail::machine_abs(e.as<lathe::CallNode>()->args[0]);
  }
  std::string name() {
    static const std::vector<std::string> names = {
        "i",   "i",        "j", "A",  "A",  "i_1",      "x.s0", "for",     "max", "f32", "",
        "a b", "conv/1:0", "`", "\\", "\n", "\xc3\xa4", "inf",  "f64.nan", "_",   "9a"};
    return random_.pick(names);
  }

  std::vector<AnyExpr> indices(int count, int depth) {
    std::vector<AnyExpr> list;
    for (int k = 0; k < count; ++k) list.push_back(expr(lathe::kI64, depth));
    return list;
  }
  std::vector<AnyExpr> indices_of(const lathe::Buffer& b, int depth) {
    int count =
        stage_ >= lathe::Stage::flat && (b->rank() > 0 || random_.chance(30)) ? 1 : b->rank();
    return indices(count, depth);
  }

  AnyExpr constant(DType t) {
    if (t.is_vector()) return lathe::make_broadcast(constant(t.scalar()), t.lanes);
    if (!t.is_float()) {
      auto value = static_cast<std::int64_t>(random_.bits());
      return lathe::make_int(t, random_.chance(60) ? value % 10 : value);
    }
    static const std::vector<double> special = {0.0,  -0.0,  1.0,    -1.5,    0.1,     1e-7,
                                                3e38, 1e300, 5e-324, 65504.0, 1.0 / 3, 1e22};
    double inf = std::numeric_limits<double>::infinity();
    switch (random_.below(8)) {
      case 0:
        return t == lathe::kE4M3 ? lathe::make_float(t, 448)
                                 : lathe::make_float(t, random_.chance(50) ? inf : -inf);
      case 1:
        return lathe::make_float(t, std::copysign(std::numeric_limits<double>::quiet_NaN(),
                                                  random_.chance(50) ? 1 : -1));
      case 2:
        return lathe::make_float(
            t, std::ldexp(static_cast<double>(random_.bits() >> 11), random_.below(60) - 80));
      default:
        return lathe::make_float(t, random_.pick(special));
    }
  }

  AnyExpr leaf(DType t) {
    std::vector<lathe::VarRef> fits;
    for (const auto* list : {&fixed_, &iters_, &locals_})
      for (const auto& v : *list)
        if (v->dtype == t) fits.push_back(v);
    if (!fits.empty() && random_.chance(60)) return random_.pick(fits);
    return constant(t);
  }

  AnyExpr load(DType t, int depth) {
    std::vector<lathe::Buffer> fits;
    for (const auto& b : buffers_)
      if (b->dtype == t.scalar() &&
          (!t.is_vector() || stage_ >= lathe::Stage::flat || b->rank() > 0))
        fits.push_back(b);
    if (fits.empty()) return leaf(t);
    lathe::Buffer b = random_.pick(fits);
    std::vector<AnyExpr> at = indices_of(b, depth);
    if (t.is_vector()) {
      if (at.empty()) return leaf(t);
      at[0] = vector_index(t.lanes, depth);
    }
    return lathe::make_load(
        b, at, random_.chance(20) ? expr(lathe::kBool.with_lanes(t.lanes), depth) : AnyExpr());
  }
  AnyExpr vector_index(int lanes, int depth) {
    return lathe::make_ramp(expr(lathe::kI64, depth), expr(lathe::kI64, 0), lanes);
  }

  AnyExpr binary(DType t, int depth) {
    using lathe::BinaryOp;
    static const std::vector<BinaryOp> bools = {BinaryOp::and_, BinaryOp::or_, BinaryOp::bit_xor,
                                                BinaryOp::max};
    static const std::vector<BinaryOp> ints = {
        BinaryOp::add,     BinaryOp::sub,    BinaryOp::mul,     BinaryOp::div,
        BinaryOp::mod,     BinaryOp::shl,    BinaryOp::shr,     BinaryOp::floordiv,
        BinaryOp::bit_and, BinaryOp::bit_or, BinaryOp::bit_xor, BinaryOp::floormod,
        BinaryOp::min};
    static const std::vector<BinaryOp> floats = {
        BinaryOp::add, BinaryOp::sub, BinaryOp::mul,      BinaryOp::div,
        BinaryOp::min, BinaryOp::max, BinaryOp::fast_min, BinaryOp::fast_max};
    if (t.is_bool() && random_.chance(60)) {
      DType operand = dtype().with_lanes(t.lanes);
      auto op = static_cast<BinaryOp>(static_cast<int>(BinaryOp::eq) + random_.below(6));
      return lathe::make_binary(op, expr(operand, depth), expr(operand, depth));
    }
    const BinaryOp op = random_.pick(t.is_bool() ? bools : t.is_float() ? floats : ints);
    return legal(lathe::make_binary(op, expr(t, depth), expr(t, depth)));
  }

  AnyExpr unary(DType t, int depth) {
    lathe::UnaryOp op = t.is_bool() ? lathe::UnaryOp::not_ : lathe::UnaryOp::neg;
    if (t.is_int() && random_.chance(40)) op = lathe::UnaryOp::bit_not;
    return lathe::make_unary(op, expr(t, depth));
  }

  AnyExpr call(DType t, int depth) {
    using lathe::CallOp;
    if (t.is_bool())
      return lathe::make_call(CallOp::is_nan, {expr(lathe::kF32.with_lanes(t.lanes), depth)});
    if (t.is_int() && random_.chance(30))
      return lathe::make_call(CallOp::popcount, {expr(t, depth)});
    if (t.is_int()) return legal(lathe::make_call(CallOp::abs, {expr(t, depth)}));
    if (t == lathe::kF32 && random_.chance(20))
      return lathe::make_reinterpret(t, expr(lathe::kU32, depth));
    static const std::vector<CallOp> machine = {CallOp::sqrt, CallOp::floor, CallOp::round,
                                                CallOp::fma, CallOp::copysign};
    static const std::vector<CallOp> any = {
        CallOp::exp,  CallOp::tanh,  CallOp::pow,         CallOp::scalb, CallOp::fma,
        CallOp::erf,  CallOp::logb,  CallOp::significand, CallOp::expm1, CallOp::log1p,
        CallOp::atan, CallOp::atan2, CallOp::cbrt};
    CallOp op = random_.pick(stage_ == lathe::Stage::machine ? machine : any);
    // No infinite exponents: of what they make of NaN nothing is said.
    if (op == CallOp::scalb)
      return lathe::make_call(
          op, {expr(t, depth), lathe::make_cast(t, expr(lathe::kI8.with_lanes(t.lanes), depth))});
    std::vector<AnyExpr> args;
    for (int k = lathe::op_arity(op); k > 0; --k) args.push_back(expr(t, depth));
    return lathe::make_call(op, args);
  }

  AnyExpr let(DType t, int depth) {
    lathe::VarRef v = lathe::make_var(name(), dtype());
    AnyExpr value = expr(v->dtype, depth);
    locals_.push_back(v);
    AnyExpr body = expr(t, depth);
    locals_.pop_back();
    return lathe::make_let(v, value, body);
  }

  AnyExpr vector(DType t, int depth) {
    int inner = t.lanes % 2 == 0 && t.lanes > 2 && random_.chance(30) ? 2 : 1;
    if (random_.chance(40))
      return lathe::make_broadcast(expr(t.with_lanes(inner), depth), t.lanes / inner);
    if (t.is_int() && random_.chance(40))
      return lathe::make_ramp(expr(t.with_lanes(inner), depth), expr(t.scalar(), depth),
                              t.lanes / inner);
    std::vector<int> lanes;
    for (int k = 0; k < t.lanes; ++k) lanes.push_back(random_.below(5));
    return lathe::make_shuffle({expr(t.with_lanes(4), depth), expr(t.scalar(), depth)}, lanes);
  }

  AnyExpr expr(DType t, int depth) {
    if (depth <= 0) return leaf(t);
    --depth;
    switch (random_.below(t.is_vector() ? 11 : 9)) {
      case 0:
        return leaf(t);
      case 1:
        return load(t, depth);
      case 2:
        return call(t, depth);
      case 3:
        return unary(t, depth);
      case 4:
        return legal(lathe::make_cast(t, expr(dtype().with_lanes(t.lanes), depth)));
      case 5:
        return lathe::make_select(expr(lathe::kBool, depth), expr(t, depth), expr(t, depth));
      case 6:
        return let(t, depth);
      case 7:
      case 8:
        return binary(t, depth);
      default:
        return vector(t, depth);
    }
  }

  Random random_;
  lathe::Stage stage_ = lathe::Stage::blocks;
  std::vector<lathe::VarRef> fixed_, iters_, locals_;
  std::vector<lathe::Buffer> buffers_;
};

}  // namespace test
