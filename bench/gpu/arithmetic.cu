// One operation at a time: which give the bits of Lathe's evaluator, on which inputs not?
//     nvcc -std=c++20 -O2 --extended-lambda --fmad=false -diag-suppress 549 -I../../include
//          -gencode=arch=compute_90a,code=sm_90a -o arithmetic arithmetic.cu -lcuda
// A NaN counts as equal to any other; how often the bits of NaNs differ is a column of its own.
#include <lathe/ir/impl/expr.ipp>
#include <lathe/ir/impl/scalar.ipp>
#include <lathe/support/impl/error.ipp>
#include <random>

#include "arithmetic_operations.hpp"
#include "common.hpp"

namespace {

using namespace lathe;
using detail::Scalar;

// ---- inputs -------------------------------------------------------------------------------------

std::vector<u64> special_bits(DType t) {
  std::vector<u64> out;
  if (!t.is_float()) {
    const u64 top = u64{1} << (t.bits - 1);
    return {0, 1, 2, top - 1, top, top + 1, 2 * top - 1, (u64{1} << 24) + 1, (u64{1} << 53) + 1};
  }
  const detail::FloatFormat f =
      t.bits == 64 ? detail::FloatFormat{11, 52, false} : detail::float_format(t);
  const u64 sign = u64{1} << (t.bits - 1), one = u64{1} << f.mantissa_bits;
  const u64 top = (u64{1} << f.exponent_bits) - 1, bias = top >> 1;
  for (u64 s : {u64{0}, sign})
    for (u64 magnitude :
         {u64{0}, u64{1}, one - 1, one, one + 1, bias * one, bias * one + 1, (bias - 1) * one,
          top * one - 1, top * one, top * one + one / 2, top * one + 1})
      out.push_back((s | magnitude) & (sign + (sign - 1)));
  return out;
}

// Of floats a third have any exponent, a third one near 0, and a third few bits set.
u64 random_bits(DType t, std::mt19937_64& random) {
  const u64 mask = t.bits == 64 ? ~u64{0} : (u64{1} << t.bits) - 1;
  const u64 any = random();
  if (!t.is_float()) return (any >> (random() % static_cast<unsigned>(t.bits))) & mask;
  if (any % 3 == 0) return (any >> 1) * 0x9E3779B97F4A7C15 & mask;
  const auto fraction =
      static_cast<double>(static_cast<std::int64_t>(random()) >> (any % 3 == 1 ? 0 : 52));
  const double value = std::ldexp(fraction, static_cast<int>(random() % 140) - 130);
  return detail::scalar_bits(t, detail::scalar_of(t, 0, value));
}

using Arguments = std::vector<u64>;  // three a case

Arguments make_arguments(DType t, int arity, std::size_t count) {
  std::mt19937_64 random(1);
  const std::vector<u64> special = special_bits(t);
  Arguments out;
  if (t.bits <= 16 && arity == 1)
    for (u64 x = 0; x < u64{1} << t.bits; ++x) out.insert(out.end(), {x, 0, 0});
  for (u64 x : special)
    for (u64 y : special)
      for (u64 z : {special.front(), special.back(), special[special.size() / 2], x})
        out.insert(out.end(), {x, y, z});
  while (out.size() < 3 * count) out.push_back(random_bits(t, random));
  return out;
}

// Every upper half of an f32, with lower halves around each place where 16, 13 or 20 bits end.
Arguments make_conversion_arguments() {
  Arguments out;
  for (u64 high = 0; high < 65536; ++high)
    for (u64 low : {0x0000, 0x0001, 0x0FFF, 0x1000, 0x1001, 0x1FFF, 0x2000, 0x3000, 0x3001, 0x5555,
                    0x7FFF, 0x8000, 0x8001, 0xAAAA, 0xF000, 0xFFFF})
      out.insert(out.end(), {high << 16 | low, 0, 0});
  return out;
}

// ---- comparison ---------------------------------------------------------------------------------

template <class Operation>
__global__ void run(Operation operation, const u64* arguments, u64* results, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count)
    results[i] = operation(arguments[3 * i], arguments[3 * i + 1], arguments[3 * i + 2]);
}

bool is_nan_bits(DType t, u64 bits) {
  if (!t.is_float()) return false;
  const Scalar value = detail::scalar_from_bits(t, bits);
  return t.bits == 64 ? value.f != value.f : value.s != value.s;
}

struct Outcome {
  std::size_t wrong = 0, nan_bits = 0;
  std::size_t first = 0;  ///< of the wrong ones
};

template <class Reference>
Outcome compare(DType out, const Arguments& in, const std::vector<u64>& results,
                const Reference& reference) {
  Outcome outcome;
  const u64 mask = out.bits == 64 ? ~u64{0} : (u64{1} << out.bits) - 1;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const u64 want = reference(&in[3 * i]) & mask, got = results[i] & mask;
    if (want == got) continue;
    if (is_nan_bits(out, want) && is_nan_bits(out, got))
      ++outcome.nan_bits;
    else if (outcome.wrong++ == 0)
      outcome.first = i;
  }
  return outcome;
}

template <class Operation, class Reference>
void check_case(const char* name, DType out, const Arguments& in, Operation operation,
                const Reference& reference) {
  const std::size_t count = in.size() / 3;
  const DeviceArray<u64> arguments(in);
  DeviceArray<u64> results(count);
  run<<<(count + 255) / 256, 256>>>(operation, arguments.data(), results.data(), count);
  CHECK(cudaGetLastError());
  const std::vector<u64> got = results.to_host();
  const Outcome outcome = compare(out, in, got, reference);
  std::printf("%-28s %8zu cases, %6zu wrong, %6zu NaNs with other bits", name, count, outcome.wrong,
              outcome.nan_bits);
  if (outcome.wrong) {
    const u64* x = &in[3 * outcome.first];
    std::printf("; first: %llx %llx %llx gives %llx, evaluator %llx",
                static_cast<unsigned long long>(x[0]), static_cast<unsigned long long>(x[1]),
                static_cast<unsigned long long>(x[2]),
                static_cast<unsigned long long>(got[outcome.first]),
                static_cast<unsigned long long>(reference(x)));
  }
  std::printf("\n");
}

auto binary(BinaryOp op, DType t) {
  return [=](const u64* x) {
    return detail::scalar_bits(t, detail::scalar_binary(op, t, detail::scalar_from_bits(t, x[0]),
                                                        detail::scalar_from_bits(t, x[1])));
  };
}
auto call(CallOp op, DType t) {
  return [=](const u64* x) {
    const Scalar arguments[] = {detail::scalar_from_bits(t, x[0]),
                                detail::scalar_from_bits(t, x[1]),
                                detail::scalar_from_bits(t, x[2])};
    return detail::scalar_bits(t, detail::scalar_call(op, t, arguments));
  };
}
auto cast(DType to, DType from) {
  return [=](const u64* x) {
    return detail::scalar_bits(to,
                               detail::scalar_cast(to, from, detail::scalar_from_bits(from, x[0])));
  };
}

#define DEVICE(expression) [] __device__(u64 a, u64 b, u64 c) -> u64 { return expression; }

constexpr std::size_t kCount = 400'000;

void check_f32() {
  const Arguments in = make_arguments(kF32, 3, kCount);
  check_case("f32 a + b", kF32, in, DEVICE(bits_of(f32(a) + f32(b))), binary(BinaryOp::add, kF32));
  check_case("f32 a - b", kF32, in, DEVICE(bits_of(f32(a) - f32(b))), binary(BinaryOp::sub, kF32));
  check_case("f32 a * b", kF32, in, DEVICE(bits_of(f32(a) * f32(b))), binary(BinaryOp::mul, kF32));
  check_case("f32 a / b", kF32, in, DEVICE(bits_of(f32(a) / f32(b))), binary(BinaryOp::div, kF32));
  check_case("f32 fmodf", kF32, in, DEVICE(bits_of(fmodf(f32(a), f32(b)))),
             binary(BinaryOp::mod, kF32));
  check_case("f32 sqrtf", kF32, in, DEVICE(bits_of(sqrtf(f32(a)))), call(CallOp::sqrt, kF32));
  check_case("f32 __fmaf_rn", kF32, in, DEVICE(bits_of(__fmaf_rn(f32(a), f32(b), f32(c)))),
             call(CallOp::fma, kF32));
  check_case("f32 floorf", kF32, in, DEVICE(bits_of(floorf(f32(a)))), call(CallOp::floor, kF32));
  check_case("f32 rintf", kF32, in, DEVICE(bits_of(rintf(f32(a)))), call(CallOp::round, kF32));
  check_case("f32 min.NaN", kF32, in, DEVICE(min_nan_f32(a, b)), binary(BinaryOp::min, kF32));
  check_case("f32 max.NaN", kF32, in, DEVICE(max_nan_f32(a, b)), binary(BinaryOp::max, kF32));
  check_case("f32 a < b ? a : b", kF32, in, DEVICE(f32(a) < f32(b) ? a : b),
             binary(BinaryOp::fast_min, kF32));
  check_case("f32 copysign(b, a)", kF32, in, DEVICE(copysign_f32(b, a)),
             call(CallOp::copysign, kF32));
}

void check_f64() {
  const Arguments in = make_arguments(kF64, 3, kCount);
  check_case("f64 a + b", kF64, in, DEVICE(bits_of(f64(a) + f64(b))), binary(BinaryOp::add, kF64));
  check_case("f64 a * b", kF64, in, DEVICE(bits_of(f64(a) * f64(b))), binary(BinaryOp::mul, kF64));
  check_case("f64 a / b", kF64, in, DEVICE(bits_of(f64(a) / f64(b))), binary(BinaryOp::div, kF64));
  check_case("f64 fmod", kF64, in, DEVICE(bits_of(fmod(f64(a), f64(b)))),
             binary(BinaryOp::mod, kF64));
  check_case("f64 sqrt", kF64, in, DEVICE(bits_of(sqrt(f64(a)))), call(CallOp::sqrt, kF64));
  check_case("f64 __fma_rn", kF64, in, DEVICE(bits_of(__fma_rn(f64(a), f64(b), f64(c)))),
             call(CallOp::fma, kF64));
  check_case("f64 min by select", kF64, in, DEVICE(min_f64(a, b)), binary(BinaryOp::min, kF64));
  check_case("f64 max by select", kF64, in, DEVICE(max_f64(a, b)), binary(BinaryOp::max, kF64));
  check_case("f64 fmin", kF64, in, DEVICE(bits_of(fmin(f64(a), f64(b)))),
             binary(BinaryOp::min, kF64));
}

void check_narrow_floats() {
  const Arguments half = make_arguments(kF16, 3, kCount), brain = make_arguments(kBF16, 3, kCount);
  check_case("f16 add.rn", kF16, half, DEVICE(add_f16(a, b)), binary(BinaryOp::add, kF16));
  check_case("f16 mul.rn", kF16, half, DEVICE(mul_f16(a, b)), binary(BinaryOp::mul, kF16));
  check_case("f16 fma.rn", kF16, half, DEVICE(fma_f16(a, b, c)), call(CallOp::fma, kF16));
  check_case("f16 fma in f32, rounded", kF16, half, DEVICE(fma_then_f16(a, b, c)),
             call(CallOp::fma, kF16));
  check_case("f16 min.NaN", kF16, half, DEVICE(min_nan_f16(a, b)), binary(BinaryOp::min, kF16));
  check_case("f16 max.NaN", kF16, half, DEVICE(max_nan_f16(a, b)), binary(BinaryOp::max, kF16));
  check_case("bf16 add.rn", kBF16, brain, DEVICE(add_bf16(a, b)), binary(BinaryOp::add, kBF16));
  check_case("bf16 mul.rn", kBF16, brain, DEVICE(mul_bf16(a, b)), binary(BinaryOp::mul, kBF16));
  check_case("bf16 fma.rn", kBF16, brain, DEVICE(fma_bf16(a, b, c)), call(CallOp::fma, kBF16));
  check_case("bf16 fma in f32, rounded", kBF16, brain, DEVICE(fma_then_bf16(a, b, c)),
             call(CallOp::fma, kBF16));
  check_case("bf16 min.NaN", kBF16, brain, DEVICE(min_nan_bf16(a, b)),
             binary(BinaryOp::min, kBF16));
  check_case("bf16 max.NaN", kBF16, brain, DEVICE(max_nan_bf16(a, b)),
             binary(BinaryOp::max, kBF16));
}

void check_to_integers() {
  const Arguments single = make_arguments(kF32, 1, kCount), wide = make_arguments(kF64, 1, kCount),
                  half = make_arguments(kF16, 1, 0);
  check_case("f32 to i8, cvt alone", kI8, single, DEVICE(f32_to_s8(a)), cast(kI8, kF32));
  check_case("f32 to u8, cvt alone", kU8, single, DEVICE(f32_to_u8(a)), cast(kU8, kF32));
  check_case("f32 to i16, cvt alone", kI16, single, DEVICE(f32_to_s16(a)), cast(kI16, kF32));
  check_case("f32 to u16, cvt alone", kU16, single, DEVICE(f32_to_u16(a)), cast(kU16, kF32));
  check_case("f32 to i32, cvt alone", kI32, single, DEVICE(f32_to_s32(a)), cast(kI32, kF32));
  check_case("f32 to u32, cvt alone", kU32, single, DEVICE(f32_to_u32(a)), cast(kU32, kF32));
  check_case("f32 to i64, cvt alone", kI64, single, DEVICE(f32_to_s64(a)), cast(kI64, kF32));
  check_case("f32 to u64, cvt alone", kU64, single, DEVICE(f32_to_u64(a)), cast(kU64, kF32));
  check_case("f32 to i64, NaN chosen", kI64, single, DEVICE(or_zero(isnan(f32(a)), f32_to_s64(a))),
             cast(kI64, kF32));
  check_case("f32 to u64, NaN chosen", kU64, single, DEVICE(or_zero(isnan(f32(a)), f32_to_u64(a))),
             cast(kU64, kF32));
  check_case("f64 to i16, cvt alone", kI16, wide, DEVICE(f64_to_s16(a)), cast(kI16, kF64));
  check_case("f64 to i32, cvt alone", kI32, wide, DEVICE(f64_to_s32(a)), cast(kI32, kF64));
  check_case("f64 to u32, cvt alone", kU32, wide, DEVICE(f64_to_u32(a)), cast(kU32, kF64));
  check_case("f64 to i32, NaN chosen", kI32, wide, DEVICE(or_zero(isnan(f64(a)), f64_to_s32(a))),
             cast(kI32, kF64));
  check_case("f64 to i64, cvt alone", kI64, wide, DEVICE(f64_to_s64(a)), cast(kI64, kF64));
  check_case("f64 to i64, NaN chosen", kI64, wide, DEVICE(or_zero(isnan(f64(a)), f64_to_s64(a))),
             cast(kI64, kF64));
  check_case("f64 to u64, NaN chosen", kU64, wide, DEVICE(or_zero(isnan(f64(a)), f64_to_u64(a))),
             cast(kU64, kF64));
  check_case("f16 to i32, cvt alone", kI32, half, DEVICE(f16_to_s32(a)), cast(kI32, kF16));
  check_case("f16 to i64, cvt alone", kI64, half, DEVICE(f16_to_s64(a)), cast(kI64, kF16));
}

void check_to_floats() {
  const Arguments single = make_conversion_arguments(), wide = make_arguments(kF64, 1, kCount),
                  half = make_arguments(kF16, 1, 0), byte = make_arguments(kE4M3, 1, 0),
                  integer = make_arguments(kI64, 1, kCount), word = make_arguments(kI32, 1, kCount);
  check_case("f16 to f32", kF32, half, DEVICE(f16_to_f32(a)), cast(kF32, kF16));
  check_case("bf16 to f32, shifted", kF32, half, DEVICE(a << 16), cast(kF32, kBF16));
  check_case("bf16 to f32, cvt", kF32, half, DEVICE(bf16_to_f32(a)), cast(kF32, kBF16));
  check_case("f32 to f16", kF16, single, DEVICE(f32_to_f16(a)), cast(kF16, kF32));
  check_case("f32 to bf16", kBF16, single, DEVICE(f32_to_bf16(a)), cast(kBF16, kF32));
  check_case("f64 to f32", kF32, wide, DEVICE(bits_of(static_cast<float>(f64(a)))),
             cast(kF32, kF64));
  check_case("f64 to f16", kF16, wide, DEVICE(f64_to_f16(a)), cast(kF16, kF64));
  check_case("f64 to bf16", kBF16, wide, DEVICE(f64_to_bf16(a)), cast(kBF16, kF64));
  check_case("i64 to f32", kF32, integer,
             DEVICE(bits_of(static_cast<float>(static_cast<long long>(a)))), cast(kF32, kI64));
  check_case("u64 to f32", kF32, integer, DEVICE(bits_of(static_cast<float>(a))), cast(kF32, kU64));
  check_case("i64 to f64", kF64, integer,
             DEVICE(bits_of(static_cast<double>(static_cast<long long>(a)))), cast(kF64, kI64));
  check_case("i64 to f16", kF16, integer, DEVICE(s64_to_f16(a)), cast(kF16, kI64));
  check_case("i64 to bf16", kBF16, integer, DEVICE(s64_to_bf16(a)), cast(kBF16, kI64));
  check_case("u64 to bf16", kBF16, integer, DEVICE(u64_to_bf16(a)), cast(kBF16, kU64));
  check_case("i32 to bf16", kBF16, word, DEVICE(s32_to_bf16(a)), cast(kBF16, kI32));
  check_case("e4m3 to f32", kF32, byte, DEVICE(e4m3_to_f32(a)), cast(kF32, kE4M3));
  check_case("e5m2 to f32", kF32, byte, DEVICE(e5m2_to_f32(a)), cast(kF32, kE5M2));
  check_case("f32 to e4m3, cvt alone", kE4M3, single, DEVICE(saturate_e4m3(a)), cast(kE4M3, kF32));
  check_case("f32 to e4m3, NaN chosen", kE4M3, single, DEVICE(f32_to_e4m3(a)), cast(kE4M3, kF32));
  check_case("f32 to e5m2, cvt alone", kE5M2, single, DEVICE(saturate_e5m2(a)), cast(kE5M2, kF32));
  check_case("f32 to e5m2, inf chosen", kE5M2, single, DEVICE(f32_to_e5m2(a)), cast(kE5M2, kF32));
}

void check_shifts() {
  const Arguments in = make_arguments(kU32, 2, kCount);
  check_case("u32 shl.b32", kU32, in, DEVICE(shl_b32(a, b)), binary(BinaryOp::shl, kU32));
  check_case("u32 shl, count masked", kU32, in, DEVICE(shl_b32(a, b & 31)),
             binary(BinaryOp::shl, kU32));
}

// ---- all pairs of 16-bit floats: native, or in f32 and rounded ----------------------------------

template <class Native, class Rounded>
__global__ void compare_pairs(Native native, Rounded rounded, u32 infinity,
                              unsigned long long* differ) {
  const u32 a = blockIdx.x;
  unsigned count = 0;
  for (u32 b = threadIdx.x; b < 65536; b += blockDim.x) {
    const u64 x = native(a, b), y = rounded(a, b);
    const bool both_nan = (x & 0x7FFF) > infinity && (y & 0x7FFF) > infinity;
    count += x != y && !both_nan;
  }
  if (count) atomicAdd(differ, count);
}

template <class Native, class Rounded>
void check_pairs(const char* name, u32 infinity, Native native, Rounded rounded) {
  DeviceArray<unsigned long long> differ(1);
  differ.clear();
  compare_pairs<<<65536, 256>>>(native, rounded, infinity, differ.data());
  CHECK(cudaGetLastError());
  std::printf("%-28s 2^32 pairs, %llu differ from f32 and rounding\n", name, differ.to_host()[0]);
}

#define DEVICE2(expression) [] __device__(u64 a, u64 b) -> u64 { return expression; }

void check_all_pairs() {
  check_pairs("f16 add.rn", 0x7C00, DEVICE2(add_f16(a, b)),
              DEVICE2(f32_to_f16(bits_of(f32(f16_to_f32(a)) + f32(f16_to_f32(b))))));
  check_pairs("f16 mul.rn", 0x7C00, DEVICE2(mul_f16(a, b)),
              DEVICE2(f32_to_f16(bits_of(f32(f16_to_f32(a)) * f32(f16_to_f32(b))))));
  check_pairs("bf16 add.rn", 0x7F80, DEVICE2(add_bf16(a, b)),
              DEVICE2(f32_to_bf16(bits_of(f32(a << 16) + f32(b << 16)))));
  check_pairs("bf16 mul.rn", 0x7F80, DEVICE2(mul_bf16(a, b)),
              DEVICE2(f32_to_bf16(bits_of(f32(a << 16) * f32(b << 16)))));
}

}  // namespace

int main() {
  print_device();
  check_f32();
  check_f64();
  check_narrow_floats();
  check_to_integers();
  check_to_floats();
  check_shifts();
  check_all_pairs();
}
