// Every operator on every type: what the evaluator says about the program as written, about the
// same program after lowering, and what machine code gives. The three agree bit for bit (any NaN
// equals any NaN), except that mathematical functions are expanded by lowering: there the last two
// agree bit for bit, and the first within a bound.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <limits>
#include <random>
#include <support/skip.hpp>

namespace lt = lathe;
using lt::AnyExpr;
using lt::BinaryOp;
using lt::CallOp;
using lt::DType;

namespace {

constexpr std::size_t kCount = 1024;

const std::vector<DType>& all_types() {
  static const std::vector<DType> types = {
      lt::kBool, lt::kI4,  lt::kU4,  lt::kI8,   lt::kU8,  lt::kI16, lt::kU16,  lt::kI32, lt::kU32,
      lt::kI64,  lt::kU64, lt::kF16, lt::kBF16, lt::kF32, lt::kF64, lt::kE4M3, lt::kE5M2};
  return types;
}

/// Elements of a type: limits, zeros, small numbers, and random bits of all magnitudes.
std::vector<char> samples(DType t, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> special = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 2,
                                 -2,
                                 0.5,
                                 3,
                                 -3,
                                 7,
                                 8,
                                 100,
                                 -100,
                                 127,
                                 128,
                                 255,
                                 256,
                                 1e10,
                                 -1e10,
                                 0.1,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(),
                                 1e-40,
                                 -1e-40,
                                 3e38,
                                 65504,
                                 2147483647.0,
                                 -2147483648.0,
                                 9223372036854775807.0,
                                 1e-7,
                                 6e-8};
  std::vector<char> bytes(kCount * static_cast<std::size_t>(t.element_bytes()));
  for (std::size_t k = 0; k < kCount; ++k) {
    lt::detail::Scalar value;
    // Two different strides through the special values, so that every pair meets.
    std::size_t pick = seed % 2 ? k % special.size() : k / special.size();
    if (k < special.size() * special.size() && pick < special.size()) {
      value =
          lt::detail::scalar_cast(t, lt::kF64, lt::detail::scalar_of(lt::kF64, 0, special[pick]));
      if (!t.is_float() && special[pick] == 1e-40)
        value.i = t.bits == 64 ? INT64_MIN : -(std::int64_t{1} << (t.bits - 1));
    } else {
      value = lt::detail::scalar_from_bits(t, random() >> (random() % 64));
    }
    if (!t.is_float()) value.i = lt::detail::wrap_int(t, value.i);
    lt::detail::write_element(t, bytes.data() + k * static_cast<std::size_t>(t.element_bytes()),
                              value);
  }
  return bytes;
}

struct Values {
  DType type;
  std::vector<char> bytes;
  lt::detail::Scalar at(std::size_t k) const {
    return lt::detail::read_element(
        type, bytes.data() + k * static_cast<std::size_t>(type.element_bytes()));
  }
  double number(std::size_t k) const {
    lt::detail::Scalar s = at(k);
    return type.is_float() ? (type.bits == 64 ? s.f : static_cast<double>(s.s))
                           : static_cast<double>(s.i);
  }
};

bool same(const Values& a, const Values& b, std::size_t k) {
  if (a.type.is_float() && std::isnan(a.number(k)) && std::isnan(b.number(k))) return true;
  return lt::detail::scalar_bits(a.type, a.at(k)) == lt::detail::scalar_bits(b.type, b.at(k));
}
/// How many representable numbers lie between, at most.
double distance(const Values& a, const Values& b, std::size_t k) {
  if (same(a, b, k)) return 0;
  double x = a.number(k), y = b.number(k);
  if (std::isnan(x) || std::isnan(y) || std::isinf(x) != std::isinf(y)) return 1e9;
  int bits = a.type.bits == 64     ? 52
             : a.type.bits == 32   ? 23
             : a.type == lt::kF16  ? 10
             : a.type == lt::kBF16 ? 7
             : a.type == lt::kE4M3 ? 3
                                   : 2;
  int least = a.type.bits == 64     ? -1022
              : a.type == lt::kF16  ? -14
              : a.type == lt::kE4M3 ? -6
              : a.type == lt::kE5M2 ? -14
                                    : -126;
  int exponent = std::max(std::ilogb(std::max(std::fabs(x), std::fabs(y))), least);
  return std::fabs(x - y) / std::ldexp(1.0, exponent - bits);
}

void run(const lt::AnyKernel& f, const std::vector<const Values*>& in, Values& out) {
  std::int64_t extents[] = {kCount}, strides[] = {1};
  std::vector<lt::CallArg> args;
  for (const Values* v : in)
    args.push_back({const_cast<char*>(v->bytes.data()), extents, strides, 0});
  args.push_back({out.bytes.data(), extents, strides, 0});
  f.call(args.data());
}

/// Runs body over inputs of these types in the three ways; gives the largest distance of the first
/// from the others.
template <class Body>
double compare(const std::string& name, const std::vector<DType>& types, Body body) {
  INFO(name);
  std::vector<lt::AnyTensor> tensors;
  std::vector<lt::ProgramParam> params;
  std::vector<Values> values;
  std::vector<const Values*> in;
  for (std::size_t k = 0; k < types.size(); ++k) {
    tensors.push_back(lt::make_input("X" + std::to_string(k), types[k], {lt::Extent(kCount)}));
    params.emplace_back(tensors[k]);
    values.push_back({types[k], samples(types[k], static_cast<unsigned>(k + 1))});
  }
  for (const auto& v : values) in.push_back(&v);
  auto Y = lt::compute_any("Y", {lt::Extent(kCount)}, [&](std::span<const lt::VarRef> at) {
    std::vector<AnyExpr> operands;
    for (auto& t : tensors) operands.push_back(t.at({AnyExpr(at[0])}));
    return lt::AnyValue(body(operands));
  });
  params.emplace_back(Y[0]);
  lt::Source source(lt::OutputList{Y}, {.strict = true, .unread_inputs = lt::UnreadInputs::allow});
  lt::AnyKernel machine = lt::jit_any(source, params), written = lt::evaluate_any(source, params),
                lowered = lt::evaluate_any(lt::Source(machine.lowered()), {});
  const std::size_t bytes = kCount * static_cast<std::size_t>(Y[0].dtype().element_bytes());
  Values a{Y[0].dtype(), std::vector<char>(bytes)}, b = a, c = a;
  run(written, in, a);
  run(lowered, in, b);
  run(machine, in, c);
  double worst = 0;
  std::size_t failures = 0;
  for (std::size_t k = 0; k < kCount; ++k) {
    double far = distance(a, b, k);
    worst = std::max(worst, far);
    bool exact = same(b, c, k);
    if ((!exact || far > 4) && ++failures < 4) {
      std::string operands;
      for (const auto& v : values) operands += " " + std::to_string(v.number(k));
      FAIL_CHECK(name << " of" << operands << ": written " << a.number(k) << ", lowered "
                      << b.number(k) << ", machine " << c.number(k));
    }
  }
  CHECK(failures == 0);
  return worst;
}

}  // namespace

TEST_CASE("binary operators") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (DType t : all_types()) {
    for (int k = 0; k <= static_cast<int>(BinaryOp::ge); ++k) {
      auto op = static_cast<BinaryOp>(k);
      const bool bits = op >= BinaryOp::bit_and && op <= BinaryOp::shr;
      if (lt::is_logic(op) != t.is_bool() && !lt::is_comparison(op)) continue;
      if (t.is_float() &&
          (bits || op == BinaryOp::mod || op == BinaryOp::floordiv || op == BinaryOp::floormod))
        continue;
      double worst =
          compare(t.str() + " " + std::string(lt::op_text(op)), {t, t},
                  [&](const std::vector<AnyExpr>& x) { return lt::make_binary(op, x[0], x[1]); });
      CHECK(worst == 0);
    }
  }
}

TEST_CASE("unary operators and exact calls") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (DType t : all_types()) {
    auto check = [&](const std::string& name, auto body) {
      CHECK(compare(t.str() + " " + name, {t, t, t}, body) == 0);
    };
    if (t.is_bool()) {
      check("!", [](auto& x) { return lt::make_unary(lt::UnaryOp::not_, x[0]); });
      check("select", [](auto& x) { return lt::make_select(x[0], x[1], x[2]); });
      continue;
    }
    check("-", [](auto& x) { return -x[0]; });
    check("select", [](auto& x) { return lt::make_select(x[0] < x[1], x[1], x[2]); });
    if (t.is_int()) check("~", [](auto& x) { return lt::make_unary(lt::UnaryOp::bit_not, x[0]); });
    if (t.is_int())
      check("popcount", [](auto& x) { return lt::make_call(CallOp::popcount, {x[0]}); });
    if (t.is_float() || t.is_signed())
      check("abs", [](auto& x) { return lt::make_call(CallOp::abs, {x[0]}); });
    if (!t.is_float()) continue;
    for (CallOp op :
         {CallOp::sqrt, CallOp::floor, CallOp::ceil, CallOp::trunc, CallOp::round, CallOp::is_nan})
      check(std::string(lt::op_text(op)), [op](auto& x) { return lt::make_call(op, {x[0]}); });
    check("copysign", [](auto& x) { return lt::make_call(CallOp::copysign, {x[0], x[1]}); });
    check("fma", [](auto& x) { return lt::make_call(CallOp::fma, {x[0], x[1], x[2]}); });
    check("logb", [](auto& x) { return lt::make_call(CallOp::logb, {x[0]}); });
    check("significand", [](auto& x) { return lt::make_call(CallOp::significand, {x[0]}); });
    check("scalb", [t](auto& x) {
      const AnyExpr is_nan = lt::make_call(CallOp::is_nan, {x[0]});
      return lt::make_call(CallOp::scalb,
                           {x[0], lt::make_select(is_nan, lt::make_float(t, 0), x[1])});
    });
  }
}

TEST_CASE("casts") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (DType from : all_types())
    for (DType to : all_types())
      CHECK(compare(from.str() + " to " + to.str(), {from},
                    [&](auto& x) { return lt::make_cast(to, x[0]); }) == 0);
}

TEST_CASE("mathematical functions") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (DType t : {lt::kF16, lt::kBF16, lt::kF32, lt::kF64}) {
    for (CallOp op : {CallOp::exp, CallOp::exp2, CallOp::log, CallOp::log2, CallOp::sin,
                      CallOp::cos, CallOp::tan, CallOp::tanh, CallOp::erf, CallOp::expm1,
                      CallOp::log1p, CallOp::atan, CallOp::cbrt}) {
      double worst = compare(t.str() + " " + std::string(lt::op_text(op)), {t},
                             [&](auto& x) { return lt::make_call(op, {x[0]}); });
      CHECK(worst <= 4);
    }
    CHECK(compare(t.str() + " atan2", {t, t}, [](auto& x) {
            return lt::make_call(CallOp::atan2, {x[0], x[1]});
          }) <= 4);
    CHECK(compare(t.str() + " pow", {t, t}, [](auto& x) {
            return lt::make_call(CallOp::pow, {x[0], x[1]});
          }) <= 4);
  }
}
