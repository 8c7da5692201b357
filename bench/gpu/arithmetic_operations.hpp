// Operations of the device as functions from bits to bits.
#pragma once

#include <cstdint>

using u64 = std::uint64_t;
using u32 = std::uint32_t;
using u16 = std::uint16_t;

inline __device__ float f32(u64 bits) { return __uint_as_float(static_cast<u32>(bits)); }
inline __device__ double f64(u64 bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
inline __device__ u64 bits_of(float value) { return __float_as_uint(value); }
inline __device__ u64 bits_of(double value) {
  return static_cast<u64>(__double_as_longlong(value));
}

// One PTX instruction, its operands in registers of the kinds given.
#define PTX1(name, text, result, r, argument, a)                     \
  inline __device__ u64 name(u64 x) {                                \
    result out;                                                      \
    asm(text " %0, %1;" : "=" r(out) : a(static_cast<argument>(x))); \
    return static_cast<u64>(out);                                    \
  }
#define PTX2(name, text, type, r)                                                             \
  inline __device__ u64 name(u64 x, u64 y) {                                                  \
    type out;                                                                                 \
    asm(text " %0, %1, %2;" : "=" r(out) : r(static_cast<type>(x)), r(static_cast<type>(y))); \
    return static_cast<u64>(out);                                                             \
  }

PTX2(min_nan_f32, "min.NaN.f32", u32, "r")
PTX2(max_nan_f32, "max.NaN.f32", u32, "r")
PTX2(min_nan_f16, "min.NaN.f16", u16, "h")
PTX2(max_nan_f16, "max.NaN.f16", u16, "h")
PTX2(min_nan_bf16, "min.NaN.bf16", u16, "h")
PTX2(max_nan_bf16, "max.NaN.bf16", u16, "h")
PTX2(add_f16, "add.rn.f16", u16, "h")
PTX2(mul_f16, "mul.rn.f16", u16, "h")
PTX2(add_bf16, "add.rn.bf16", u16, "h")
PTX2(mul_bf16, "mul.rn.bf16", u16, "h")
PTX2(shl_b32, "shl.b32", u32, "r")
PTX2(copysign_f32, "copysign.f32", u32, "r")

PTX1(f16_to_f32, "cvt.f32.f16", u32, "r", u16, "h")
PTX1(bf16_to_f32, "cvt.f32.bf16", u32, "r", u16, "h")
PTX1(f32_to_f16, "cvt.rn.f16.f32", u16, "h", u32, "r")
PTX1(f32_to_bf16, "cvt.rn.bf16.f32", u16, "h", u32, "r")
PTX1(f64_to_f16, "cvt.rn.f16.f64", u16, "h", u64, "l")
PTX1(f64_to_bf16, "cvt.rn.bf16.f64", u16, "h", u64, "l")
PTX1(s64_to_f16, "cvt.rn.f16.s64", u16, "h", u64, "l")
PTX1(s64_to_bf16, "cvt.rn.bf16.s64", u16, "h", u64, "l")
PTX1(u64_to_bf16, "cvt.rn.bf16.u64", u16, "h", u64, "l")
PTX1(s32_to_bf16, "cvt.rn.bf16.s32", u16, "h", u32, "r")
PTX1(f32_to_s8, "cvt.rzi.s8.f32", u32, "r", u32, "r")
PTX1(f32_to_u8, "cvt.rzi.u8.f32", u32, "r", u32, "r")
PTX1(f32_to_s16, "cvt.rzi.s16.f32", u16, "h", u32, "r")
PTX1(f32_to_u16, "cvt.rzi.u16.f32", u16, "h", u32, "r")
PTX1(f32_to_s32, "cvt.rzi.s32.f32", u32, "r", u32, "r")
PTX1(f32_to_u32, "cvt.rzi.u32.f32", u32, "r", u32, "r")
PTX1(f32_to_s64, "cvt.rzi.s64.f32", u64, "l", u32, "r")
PTX1(f32_to_u64, "cvt.rzi.u64.f32", u64, "l", u32, "r")
PTX1(f64_to_s16, "cvt.rzi.s16.f64", u16, "h", u64, "l")
PTX1(f64_to_s32, "cvt.rzi.s32.f64", u32, "r", u64, "l")
PTX1(f64_to_u32, "cvt.rzi.u32.f64", u32, "r", u64, "l")
PTX1(f64_to_s64, "cvt.rzi.s64.f64", u64, "l", u64, "l")
PTX1(f64_to_u64, "cvt.rzi.u64.f64", u64, "l", u64, "l")
PTX1(f16_to_s32, "cvt.rzi.s32.f16", u32, "r", u16, "h")
PTX1(f16_to_s64, "cvt.rzi.s64.f16", u64, "l", u16, "h")
PTX1(e4m3_to_f16, "cvt.rn.f16x2.e4m3x2", u32, "r", u16, "h")
PTX1(e5m2_to_f16, "cvt.rn.f16x2.e5m2x2", u32, "r", u16, "h")

inline __device__ u64 e4m3_to_f32(u64 x) { return f16_to_f32(e4m3_to_f16(x)); }
inline __device__ u64 e5m2_to_f32(u64 x) { return f16_to_f32(e5m2_to_f16(x)); }

#define TO_FP8(name, text)                                         \
  inline __device__ u64 name(u64 x) {                              \
    u16 out;                                                       \
    asm(text " %0, %1, %2;" : "=h"(out) : "f"(0.0f), "f"(f32(x))); \
    return out & 0xFF;                                             \
  }
TO_FP8(saturate_e4m3, "cvt.rn.satfinite.e4m3x2.f32")
TO_FP8(saturate_e5m2, "cvt.rn.satfinite.e5m2x2.f32")

// What overflows saturates; the format's own overflow is chosen first. 464 and 61440 are halfway
// from the largest number to the one that would follow: the former is a tie that rounds down to
// 448, the latter one that rounds up.
inline __device__ u64 f32_to_e4m3(u64 x) {
  const u64 sign = (x >> 24) & 0x80;
  return fabsf(f32(x)) > 464.0f ? sign | 0x7F : saturate_e4m3(x);
}
inline __device__ u64 f32_to_e5m2(u64 x) {
  const u64 sign = (x >> 24) & 0x80;
  return fabsf(f32(x)) >= 61440.0f ? sign | 0x7C : saturate_e5m2(x);
}

inline __device__ u64 or_zero(bool is_nan, u64 value) { return is_nan ? 0 : value; }

// a, or NaN: a + b keeps a NaN; of equal numbers the sign bits decide, which `or` joins to the
// sign of a minimum and `and` to that of a maximum.
inline __device__ u64 min_f64(u64 a, u64 b) {
  const double x = f64(a), y = f64(b);
  if (isnan(x) || isnan(y)) return bits_of(x + y);
  return x == y ? a | b : x < y ? a : b;
}
inline __device__ u64 max_f64(u64 a, u64 b) {
  const double x = f64(a), y = f64(b);
  if (isnan(x) || isnan(y)) return bits_of(x + y);
  return x == y ? a & b : x > y ? a : b;
}

#define FMA16(name, text)                                                             \
  inline __device__ u64 name(u64 x, u64 y, u64 z) {                                   \
    u16 out;                                                                          \
    asm(text " %0, %1, %2, %3;" : "=h"(out) : "h"(u16(x)), "h"(u16(y)), "h"(u16(z))); \
    return out;                                                                       \
  }
FMA16(fma_f16, "fma.rn.f16")
FMA16(fma_bf16, "fma.rn.bf16")
inline __device__ u64 fma_then_f16(u64 x, u64 y, u64 z) {
  return f32_to_f16(bits_of(__fmaf_rn(f32(f16_to_f32(x)), f32(f16_to_f32(y)), f32(f16_to_f32(z)))));
}
inline __device__ u64 fma_then_bf16(u64 x, u64 y, u64 z) {
  return f32_to_bf16(bits_of(__fmaf_rn(f32(x << 16), f32(y << 16), f32(z << 16))));
}
