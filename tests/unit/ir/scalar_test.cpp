#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/scalar.hpp>
#include <limits>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/jit/impl/layer.ipp>
#endif

namespace lt = lathe;
using lt::BinaryOp;
using lt::CallOp;
using lt::DType;
using lt::detail::Scalar;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Scalar number(DType t, double value) {
  return lt::detail::scalar_of(t, static_cast<std::int64_t>(value), value);
}
Scalar integer(std::int64_t i) { return Scalar{i}; }
double real(DType t, Scalar a) { return t.bits == 64 ? a.f : static_cast<double>(a.s); }

std::int64_t on_ints(BinaryOp op, DType t, std::int64_t a, std::int64_t b) {
  return lt::detail::scalar_binary(op, t, integer(a), integer(b)).i;
}
double on_floats(BinaryOp op, DType t, double a, double b) {
  return real(t, lt::detail::scalar_binary(op, t, lt::detail::scalar_of(t, 0, a),
                                           lt::detail::scalar_of(t, 0, b)));
}
std::int64_t to_int(DType to, DType from, double value) {
  return lt::detail::scalar_cast(to, from, lt::detail::scalar_of(from, 0, value)).i;
}

}  // namespace

TEST_CASE("integers wrap and divide by anything") {
  CHECK(on_ints(BinaryOp::add, lt::kI8, 127, 1) == -128);
  CHECK(on_ints(BinaryOp::sub, lt::kU8, 0, 1) == 255);
  CHECK(on_ints(BinaryOp::mul, lt::kI4, 7, 3) == 5);
  CHECK(on_ints(BinaryOp::add, lt::kI64, INT64_MAX, 1) == INT64_MIN);
  CHECK(on_ints(BinaryOp::div, lt::kI32, -7, 2) == -3);
  CHECK(on_ints(BinaryOp::mod, lt::kI32, -7, 2) == -1);
  CHECK(on_ints(BinaryOp::floordiv, lt::kI32, -7, 2) == -4);
  CHECK(on_ints(BinaryOp::floormod, lt::kI32, -7, 2) == 1);
  CHECK(on_ints(BinaryOp::floormod, lt::kI32, 7, -2) == -1);
  CHECK(on_ints(BinaryOp::floordiv, lt::kI64, 6, -2) == -3);
  for (BinaryOp op : {BinaryOp::div, BinaryOp::mod, BinaryOp::floordiv, BinaryOp::floormod}) {
    CHECK(on_ints(op, lt::kI32, 5, 0) == 0);
    CHECK(on_ints(op, lt::kU64, -1, 0) == 0);
  }
  CHECK(on_ints(BinaryOp::div, lt::kI64, INT64_MIN, -1) == INT64_MIN);
  CHECK(on_ints(BinaryOp::mod, lt::kI64, INT64_MIN, -1) == 0);
  CHECK(on_ints(BinaryOp::div, lt::kI8, -128, -1) == -128);
  CHECK(on_ints(BinaryOp::floordiv, lt::kI32, INT32_MIN, -1) == INT32_MIN);
  CHECK(on_ints(BinaryOp::div, lt::kU64, -1, 2) == INT64_MAX);
}

TEST_CASE("shift counts are taken modulo the width; unsigned types compare as such") {
  CHECK(on_ints(BinaryOp::shl, lt::kI32, 1, 33) == 2);
  CHECK(on_ints(BinaryOp::shl, lt::kU8, 1, 7) == 128);
  CHECK(on_ints(BinaryOp::shl, lt::kI8, 1, 7) == -128);
  CHECK(on_ints(BinaryOp::shr, lt::kI8, -128, 7) == -1);
  CHECK(on_ints(BinaryOp::shr, lt::kU64, -1, 63) == 1);
  CHECK(on_ints(BinaryOp::shr, lt::kI64, -8, -63) == -4);
  CHECK(on_ints(BinaryOp::lt, lt::kU64, -1, 1) == 0);
  CHECK(on_ints(BinaryOp::lt, lt::kI64, -1, 1) == 1);
  CHECK(on_ints(BinaryOp::max, lt::kU64, -1, 1) == -1);
  CHECK(on_ints(BinaryOp::min, lt::kI8, -1, 1) == -1);
}

TEST_CASE("min and max propagate NaN and order zeros; the fast ones are a comparison") {
  for (DType t : {lt::kF32, lt::kF64, lt::kF16, lt::kBF16}) {
    CHECK(std::isnan(on_floats(BinaryOp::min, t, kNan, 1)));
    CHECK(std::isnan(on_floats(BinaryOp::max, t, 1, kNan)));
    CHECK(std::signbit(on_floats(BinaryOp::min, t, 0.0, -0.0)));
    CHECK(std::signbit(on_floats(BinaryOp::min, t, -0.0, 0.0)));
    CHECK(!std::signbit(on_floats(BinaryOp::max, t, 0.0, -0.0)));
    CHECK(!std::signbit(on_floats(BinaryOp::max, t, -0.0, 0.0)));
    CHECK(on_floats(BinaryOp::fast_max, t, kNan, 1) == 1);
    CHECK(std::isnan(on_floats(BinaryOp::fast_max, t, 1, kNan)));
    CHECK(std::signbit(on_floats(BinaryOp::fast_max, t, 0.0, -0.0)));
    CHECK(lt::detail::scalar_binary(BinaryOp::ne, t, number(t, kNan), number(t, kNan)).i == 1);
  }
}

TEST_CASE("floats round once per operation, to their own type") {
  CHECK(on_floats(BinaryOp::add, lt::kF32, 16777216, 1) == 16777216);
  CHECK(on_floats(BinaryOp::add, lt::kF64, 16777216, 1) == 16777217);
  CHECK(on_floats(BinaryOp::add, lt::kF16, 2048, 1) == 2048);
  CHECK(on_floats(BinaryOp::add, lt::kBF16, 256, 3) ==
        260);  // 259 lies between 258 and 260: to even
  CHECK(on_floats(BinaryOp::mul, lt::kF16, 300, 300) == kInf);
  CHECK(std::isnan(on_floats(BinaryOp::mul, lt::kE4M3, 448, 2)));
  CHECK(on_floats(BinaryOp::mul, lt::kE5M2, 57344, 2) == kInf);
}

TEST_CASE("float to integer truncates and saturates") {
  CHECK(to_int(lt::kI32, lt::kF32, -2.9) == -2);
  CHECK(to_int(lt::kI8, lt::kF32, 1e9) == 127);
  CHECK(to_int(lt::kI8, lt::kF32, -1e9) == -128);
  CHECK(to_int(lt::kU8, lt::kF64, -3) == 0);
  CHECK(to_int(lt::kU64, lt::kF64, kInf) == -1);
  CHECK(to_int(lt::kI64, lt::kF64, kInf) == INT64_MAX);
  CHECK(to_int(lt::kI64, lt::kF64, -kInf) == INT64_MIN);
  CHECK(to_int(lt::kI64, lt::kF64, 9223372036854775808.0) == INT64_MAX);
  CHECK(to_int(lt::kI32, lt::kF64, kNan) == 0);
  CHECK(to_int(lt::kI4, lt::kF32, 9) == 7);
  CHECK(to_int(lt::kBool, lt::kF32, 0.25) == 1);
}

TEST_CASE("integer to float rounds once") {
  auto cast = [](DType to, DType from, std::int64_t i) {
    return real(to, lt::detail::scalar_cast(to, from, integer(i)));
  };
  CHECK(cast(lt::kF32, lt::kI32, 16777217) == 16777216);
  CHECK(cast(lt::kF64, lt::kU64, -1) == 18446744073709551616.0);
  CHECK(cast(lt::kF32, lt::kU64, -1) == 18446744073709551616.0);
  // Just above the middle between two neighbours: by way of f64 it would land on the middle and
  // then on the even one.
  const std::int64_t above_middle = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  CHECK(cast(lt::kBF16, lt::kI64, above_middle) == std::ldexp(1.0, 62) + std::ldexp(1.0, 55));
  CHECK(cast(lt::kBF16, lt::kI64, -above_middle) == -std::ldexp(1.0, 62) - std::ldexp(1.0, 55));
  CHECK(cast(lt::kF16, lt::kI32, 65520) == kInf);
  CHECK(cast(lt::kF16, lt::kI32, 65519) == 65504);
}

TEST_CASE("calls") {
  auto call = [](CallOp op, DType t, double x, double y = 0, double z = 0) {
    Scalar args[] = {lt::detail::scalar_of(t, 0, x), lt::detail::scalar_of(t, 0, y),
                     lt::detail::scalar_of(t, 0, z)};
    return real(t, lt::detail::scalar_call(op, t, args));
  };
  CHECK(call(CallOp::exp, lt::kF32, 1) == static_cast<double>(static_cast<float>(std::exp(1.0))));
  CHECK(call(CallOp::round, lt::kF32, 2.5) == 2);
  CHECK(call(CallOp::round, lt::kF64, -3.5) == -4);
  CHECK(call(CallOp::trunc, lt::kF64, -3.5) == -3);
  CHECK(call(CallOp::copysign, lt::kF32, 3, -0.0) == -3);
  const double one_up = 1 + std::ldexp(1, -23);
  CHECK(call(CallOp::fma, lt::kF32, one_up, one_up, -1 - std::ldexp(1, -22)) == std::ldexp(1, -46));
  CHECK(call(CallOp::scalb, lt::kF32, 1.5, -149) == std::ldexp(1.0, -148));
  CHECK(call(CallOp::scalb, lt::kF32, 1.5, -148.5) == std::ldexp(1.0, -148));
  CHECK(call(CallOp::scalb, lt::kF64, -3, 1e300) == -HUGE_VAL);
  CHECK(call(CallOp::scalb, lt::kF64, 3, -HUGE_VAL) == 0);
  CHECK(std::isnan(call(CallOp::scalb, lt::kF64, 0, HUGE_VAL)));
  CHECK(std::isnan(call(CallOp::scalb, lt::kF32, 2, NAN)));
  Scalar many[] = {integer(-1)};
  CHECK(lt::detail::scalar_call(CallOp::popcount, lt::kI8, many).i == 8);
  CHECK(lt::detail::scalar_call(CallOp::abs, lt::kI8, std::array<Scalar, 1>{integer(-128)}.data())
            .i == -128);
  Scalar nan[] = {number(lt::kF16, kNan)};
  CHECK(lt::detail::scalar_call(CallOp::is_nan, lt::kF16, nan).i == 1);
}

TEST_CASE("elements keep their bits in memory") {
  char bytes[8] = {};
  lt::detail::write_element(lt::kI4, bytes, integer(-3));
  CHECK(bytes[0] == static_cast<char>(0xFD));
  CHECK(lt::detail::read_element(lt::kI4, bytes).i == -3);
  lt::detail::write_element(lt::kBF16, bytes, number(lt::kBF16, -1.5));
  CHECK(static_cast<unsigned char>(bytes[1]) == 0xBF);
  CHECK(lt::detail::read_element(lt::kBF16, bytes).s == -1.5f);
  bytes[0] = 2;
  CHECK(lt::detail::read_element(lt::kBool, bytes).i == 1);
  for (DType t : {lt::kF16, lt::kBF16, lt::kE4M3, lt::kE5M2}) {
    for (std::uint64_t bits = 0; bits < (1u << t.bits); ++bits) {
      Scalar value = lt::detail::scalar_from_bits(t, bits);
      if (value.s == value.s) REQUIRE(lt::detail::scalar_bits(t, value) == bits);
    }
  }
}
