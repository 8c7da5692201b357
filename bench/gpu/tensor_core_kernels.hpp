// Tiles multiplied by mma and wgmma: operands in memory as rows of 128 bytes, sums as bits.
#pragma once

#include <cstdint>

#include "wgmma_descriptor.hpp"

using u32 = std::uint32_t;

/// A tile is D = A·B + C of 64 x 8: A has 64 rows and B 8 columns of 128 bytes, which are up to
/// four steps of one instruction's k (32 bytes each).
constexpr int kRows = 64, kColumns = 8, kWords = 32, kStepWords = 8;

#define MMA(type, text)                                                                 \
  struct type {                                                                         \
    static __device__ void run(u32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {     \
      asm volatile("mma.sync.aligned." text                                             \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
                   : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                     \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
    }                                                                                   \
  };
MMA(MmaF16, "m16n8k16.row.col.f32.f16.f16.f32")
MMA(MmaBf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
MMA(MmaTf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
MMA(MmaE4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
MMA(MmaE5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32")
MMA(MmaS8, "m16n8k32.row.col.s32.s8.s8.s32")

#define WGMMA(type, text, scales)                                                           \
  struct type {                                                                             \
    static __device__ void run(u32 (&d)[4], std::uint64_t a, std::uint64_t b) {             \
      asm volatile(                                                                         \
          "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"                                       \
          "wgmma.mma_async.sync.aligned." text " {%0, %1, %2, %3}, %4, %5, p" scales ";\n}" \
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                  \
          : "l"(a), "l"(b), "r"(1));                                                        \
    }                                                                                       \
  };
WGMMA(WgmmaF16, "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0")
WGMMA(WgmmaBf16, "m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0")
WGMMA(WgmmaTf32, "m64n8k8.f32.tf32.tf32", ", 1, 1")
WGMMA(WgmmaE4m3, "m64n8k32.f32.e4m3.e4m3", ", 1, 1")
WGMMA(WgmmaE5m2, "m64n8k32.f32.e5m2.e5m2", ", 1, 1")
WGMMA(WgmmaS8, "m64n8k32.s32.s8.s8", "")

// Lane 4g + q of warp w has rows 16w + g and 8 below, columns 2q and 2q + 1 of D.
inline __device__ int row_of(int element) {
  return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + 8 * (element / 2);
}
inline __device__ int column_of(int element) { return threadIdx.x % 4 * 2 + element % 2; }

inline __device__ void move_accumulators(u32 (&d)[4], const u32* from) {
  for (int e = 0; e < 4; ++e) d[e] = from[row_of(e) * kColumns + column_of(e)];
}
inline __device__ void store_accumulators(const u32 (&d)[4], u32* to) {
  for (int e = 0; e < 4; ++e) to[row_of(e) * kColumns + column_of(e)] = d[e];
}

// A's register r has row g + 8 (r % 2) and word q + 4 (r / 2), B's column g and word q + 4 r.
inline __device__ void load_a(u32 (&a)[4], const u32* tile, int step) {
  const int q = threadIdx.x % 4;
  for (int r = 0; r < 4; ++r)
    a[r] = tile[row_of(2 * (r % 2)) * kWords + step * kStepWords + q + 4 * (r / 2)];
}
inline __device__ void load_b(u32 (&b)[2], const u32* tile, int step) {
  const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
  for (int r = 0; r < 2; ++r) b[r] = tile[g * kWords + step * kStepWords + q + 4 * r];
}

template <class Instruction>
__global__ void mma_tiles(const u32* a, const u32* b, const u32* c, u32* d, int steps) {
  u32 left[4], right[2], sum[4];
  move_accumulators(sum, c + blockIdx.x * kRows * kColumns);
  for (int step = 0; step < steps; ++step) {
    load_a(left, a + blockIdx.x * kRows * kWords, step);
    load_b(right, b + blockIdx.x * kColumns * kWords, step);
    Instruction::run(sum, left, right);
  }
  store_accumulators(sum, d + blockIdx.x * kRows * kColumns);
}

inline __device__ void copy_swizzled(char* shared, const u32* tile, int words) {
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    const int offset = 4 * i;
    *reinterpret_cast<u32*>(shared + (offset ^ ((offset >> 7) & 7) << 4)) = tile[i];
  }
}

template <class Instruction>
__global__ void wgmma_tiles(const u32* a, const u32* b, const u32* c, u32* d, int steps) {
  __shared__ alignas(1024) char left[kRows * 128];
  __shared__ alignas(1024) char right[kColumns * 128];
  copy_swizzled(left, a + blockIdx.x * kRows * kWords, kRows * kWords);
  copy_swizzled(right, b + blockIdx.x * kColumns * kWords, kColumns * kWords);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  u32 sum[4];
  move_accumulators(sum, c + blockIdx.x * kRows * kColumns);
  for (int step = 0; step < steps; ++step) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    Instruction::run(sum, wgmma_descriptor(left) + 2 * step, wgmma_descriptor(right) + 2 * step);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  store_accumulators(sum, d + blockIdx.x * kRows * kColumns);
}

// A from registers: the layout of mma's A, 16 rows a warp.
static __global__ void wgmma_register_tiles(const u32* a, const u32* b, const u32* c, u32* d,
                                            int steps) {
  __shared__ alignas(1024) char right[kColumns * 128];
  copy_swizzled(right, b + blockIdx.x * kColumns * kWords, kColumns * kWords);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  u32 sum[4], left[4];
  move_accumulators(sum, c + blockIdx.x * kRows * kColumns);
  for (int step = 0; step < steps; ++step) {
    load_a(left, a + blockIdx.x * kRows * kWords, step);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "%8, p, 1, 1, 0;\n}\n"
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]),
          "l"(wgmma_descriptor(right) + 2 * step), "r"(1)
        : "memory");
  }
  store_accumulators(sum, d + blockIdx.x * kRows * kColumns);
}
