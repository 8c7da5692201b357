#pragma once

#include <lathe/ir/tensor_intrin.hpp>

namespace lathe {
namespace detail {

inline constexpr const char* kVpdpbusd = R"(
program vpdpbusd(in A: u8[4], in B: i8[16, 4], inout C: i32[16]):
  for j in 0..16:
    for k in 0..4:
      block dot(vj in 0..16 = j, reduce vk in 0..4 = k) reduce sum:
        C[vj] sum= i32(A[vk]) * i32(B[vj, vk])
)";
inline constexpr const char* kVpdpbusdCode = R"(
program vpdpbusd(in A: u8[4], in B: i8[16, 4], inout C: i32[16]):
  C[ramp(0, 1, 16)] = dot4(C[ramp(0, 1, 16)], broadcast(A[ramp(0, 1, 4)], 16),
    B[ramp(broadcast(0, 4), 1, 16), broadcast(ramp(0, 1, 4), 16)])
)";

inline constexpr const char* kVdpbf16ps = R"(
program vdpbf16ps(in A: bf16[2], in B: bf16[16, 2], inout C: f32[16]):
  for j in 0..16:
    for k in 0..2:
      block dot(vj in 0..16 = j, reduce vk in 0..2 = k) reduce sum:
        C[vj] sum= f32(A[vk]) * f32(B[vj, vk])
)";
inline constexpr const char* kVdpbf16psCode = R"(
program vdpbf16ps(in A: bf16[2], in B: bf16[16, 2], inout C: f32[16]):
  C[ramp(0, 1, 16)] = dot2(C[ramp(0, 1, 16)], broadcast(A[ramp(0, 1, 2)], 16),
    B[ramp(broadcast(0, 2), 1, 16), broadcast(ramp(0, 1, 2), 16)])
)";

}  // namespace detail

LATHE_DECL const Vec<TensorIntrin>& tensor_intrins() {
  static const Vec<TensorIntrin> rows{
      {"vpdpbusd", detail::kVpdpbusd, detail::kVpdpbusdCode, "", {"avx512vnni"}, 1},
      {"vdpbf16ps",
       detail::kVdpbf16ps,
       detail::kVdpbf16psCode,
       "two products are added at a time, the second first, and subnormal numbers are zeros",
       {"avx512bf16"},
       2},
  };
  return rows;
}

LATHE_DECL const TensorIntrin* find_tensor_intrin(std::string_view name) {
  for (const TensorIntrin& row : tensor_intrins())
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace lathe
