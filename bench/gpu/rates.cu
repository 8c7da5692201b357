// How fast the device copies, answers and calculates: the limits that cost models count with.
//     nvcc -std=c++20 -O2 -gencode=arch=compute_90a,code=sm_90a -o rates rates.cu -lcuda
#include <numeric>
#include <random>

#include "common.hpp"
#include "wgmma_descriptor.hpp"

namespace {

using u32 = std::uint32_t;
using u64 = unsigned long long;

int multiprocessors() {
  int count = 0;
  CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

__global__ void fill(u32* words, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    words[i] = static_cast<u32>(i) * 2654435761u;
}

// ---- copies -------------------------------------------------------------------------------------

enum class Load { plain, no_allocate };
enum class Store { plain, streaming };

template <Load How>
__device__ uint4 load(const uint4* at) {
  uint4 v;
  if (How == Load::plain)
    v = *at;
  else
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at));
  return v;
}

template <Store How>
__device__ void store(uint4* at, const uint4& value) {
  if (How == Store::plain)
    *at = value;
  else
    __stcs(at, value);
}

// A block has one tile, or, where there are fewer blocks than tiles, several.
template <int Unroll, int Threads, Load From, Store To>
__global__ void copy(const uint4* __restrict__ from, uint4* __restrict__ to, int tiles) {
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::size_t first = tile * std::size_t{Unroll * Threads} + threadIdx.x;
    uint4 values[Unroll];
#pragma unroll
    for (int i = 0; i < Unroll; ++i) values[i] = load<From>(from + first + i * Threads);
#pragma unroll
    for (int i = 0; i < Unroll; ++i) store<To>(to + first + i * Threads, values[i]);
  }
}

struct CopyWay {
  const char* name;
  void (*run)(const uint4* from, uint4* to, std::size_t bytes);
};

template <int Unroll, int Threads = 256, Load From = Load::plain, Store To = Store::plain,
          int BlocksEach = 0>
void run_copy(const uint4* from, uint4* to, std::size_t bytes) {
  const auto tiles = static_cast<int>(bytes / (16 * Unroll * Threads));
  const int blocks = BlocksEach ? BlocksEach * multiprocessors() : tiles;
  copy<Unroll, Threads, From, To><<<blocks, Threads>>>(from, to, tiles);
}

const CopyWay kCopyWays[] = {
    {"cudaMemcpy",
     [](const uint4* from, uint4* to, std::size_t bytes) {
       CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
     }},
    {"16 B a thread, 128 threads", run_copy<1, 128>},
    {"16 B a thread, 256 threads", run_copy<1>},
    {"16 B a thread, 512 threads", run_copy<1, 512>},
    {"16 B a thread, 1024 threads", run_copy<1, 1024>},
    {"32 B a thread", run_copy<2>},
    {"64 B a thread", run_copy<4>},
    {"128 B a thread", run_copy<8>},
    {"16 B a thread, st.cs", run_copy<1, 256, Load::plain, Store::streaming>},
    {"64 B a thread, st.cs", run_copy<4, 256, Load::plain, Store::streaming>},
    {"16 B a thread, no_allocate", run_copy<1, 256, Load::no_allocate>},
    {"64 B a thread, no_allocate", run_copy<4, 256, Load::no_allocate>},
    {"64 B a thread, 8 blocks a multiprocessor", run_copy<4, 256, Load::plain, Store::plain, 8>},
    {"16 B a thread, 8 blocks a multiprocessor", run_copy<1, 256, Load::plain, Store::plain, 8>},
};

void measure_copies() {
  const std::size_t sizes[] = {std::size_t{8} << 20, std::size_t{256} << 20, std::size_t{4} << 30};
  constexpr std::size_t ways = std::size(kCopyWays);
  DeviceArray<u32> from(std::size_t{1} << 30), to(std::size_t{1} << 30);
  fill<<<1024, 256>>>(from.data(), from.size());
  for (std::size_t bytes : sizes) {
    std::vector<double> times[ways];
    EventPair events;
    for (int round = 0; round < 15; ++round)
      for (std::size_t i = 0; i < ways; ++i)
        times[i].push_back(events.time_ms([&] {
          kCopyWays[i].run(reinterpret_cast<const uint4*>(from.data()),
                           reinterpret_cast<uint4*>(to.data()), bytes);
        }));
    CHECK(cudaGetLastError());
    std::printf("copies of %zu MiB, TB/s read and written\n", bytes >> 20);
    for (std::size_t i = 0; i < ways; ++i)
      std::printf("  %-44s %.2f\n", kCopyWays[i].name, 2e-9 * bytes / median(times[i]));
  }
}

__global__ void read_repeatedly(const uint4* from, std::size_t count, int times, u32* out) {
  u32 sum = 0;
  for (int round = 0; round < times; ++round)
#pragma unroll 8
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
         i += std::size_t{gridDim.x} * blockDim.x) {
      const uint4 v = __ldcg(from + i);
      sum ^= v.x ^ v.y ^ v.z ^ v.w;
    }
  if (sum == 1) *out = sum;
}

void measure_cache() {
  constexpr std::size_t most = std::size_t{256} << 20;
  DeviceArray<u32> from(most / 4), out(1);
  fill<<<1024, 256>>>(from.data(), from.size());
  for (std::size_t mib : {4, 8, 16, 24, 32, 40, 48, 64, 128, 256}) {
    const std::size_t bytes = mib << 20;
    const int times = static_cast<int>(4096 / mib);
    const double ms = median_ms(5, [&] {
      read_repeatedly<<<multiprocessors() * 2, 1024>>>(reinterpret_cast<uint4*>(from.data()),
                                                       bytes / 16, times, out.data());
    });
    std::printf("reading %3zu MiB again and again: %.2f TB/s\n", mib, 1e-9 * bytes * times / ms);
  }
}

// ---- latencies ----------------------------------------------------------------------------------

// Goes on where the last launch ended.
template <bool FirstLevel>
__global__ void chase(const u32* next, int steps, u64* cycles, u32* end) {
  u32 at = *end;
  for (int i = 0; i < steps; ++i) at = FirstLevel ? __ldca(next + at) : __ldcg(next + at);
  const u64 begin = clock64();
  for (int i = 0; i < steps; ++i) at = FirstLevel ? __ldca(next + at) : __ldcg(next + at);
  *cycles = clock64() - begin;
  *end = at;
}

// A cycle through all lines of 128 bytes in random order.
std::vector<u32> random_cycle(std::size_t bytes) {
  std::vector<u32> order(bytes / 128), next(bytes / 4);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
  for (std::size_t i = 0; i < order.size(); ++i)
    next[order[i] * 32] = order[(i + 1) % order.size()] * 32;
  return next;
}

template <bool FirstLevel>
void measure_latency(const char* name, std::size_t bytes, int steps) {
  const DeviceArray<u32> next(random_cycle(bytes));
  DeviceArray<u64> cycles(1);
  DeviceArray<u32> end(1);
  end.clear();
  std::vector<double> each;
  for (int round = 0; round < 5; ++round) {
    chase<FirstLevel><<<1, 1>>>(next.data(), steps, cycles.data(), end.data());
    each.push_back(static_cast<double>(cycles.to_host()[0]) / steps);
  }
  std::printf("latency of %s: %.0f cycles\n", name, median(each));
}

// ---- instructions -------------------------------------------------------------------------------

#define INSTRUCTION(type, value, r, mnemonic, operands)                                          \
  struct type {                                                                                  \
    using Value = value;                                                                         \
    static constexpr const char* name = mnemonic;                                                \
    static __device__ void run(Value& x) { asm volatile(mnemonic " " operands ";" : "+" r(x)); } \
  };
INSTRUCTION(FmaF32, float, "f", "fma.rn.f32", "%0, %0, %0, %0")
INSTRUCTION(FmaF64, double, "d", "fma.rn.f64", "%0, %0, %0, %0")
INSTRUCTION(AddF16, u32, "r", "add.rn.f16x2", "%0, %0, %0")
INSTRUCTION(FmaBf16, u32, "r", "fma.rn.bf16x2", "%0, %0, %0, %0")
INSTRUCTION(MinNan, float, "f", "min.NaN.f32", "%0, %0, 0f3F800000")
INSTRUCTION(MultiplyInt, u32, "r", "mad.lo.u32", "%0, %0, %0, %0")
INSTRUCTION(Shuffle, u32, "r", "shfl.sync.bfly.b32", "%0, %0, 1, 31, 0xFFFFFFFF")
INSTRUCTION(Exp2, float, "f", "ex2.approx.f32", "%0, %0")
INSTRUCTION(Exp2Flushed, float, "f", "ex2.approx.ftz.f32", "%0, %0")
INSTRUCTION(Exp2F16, u32, "r", "ex2.approx.f16x2", "%0, %0")
INSTRUCTION(Log2, float, "f", "lg2.approx.f32", "%0, %0")
INSTRUCTION(ReciprocalRoot, float, "f", "rsqrt.approx.f32", "%0, %0")
INSTRUCTION(Tanh, float, "f", "tanh.approx.f32", "%0, %0")
INSTRUCTION(ToInteger, u32, "r", "cvt.rzi.s32.f32", "%0, %0")

template <class Instruction>
__global__ void repeat(int times, u64* cycles, typename Instruction::Value* out) {
  constexpr int chains = 8;
  typename Instruction::Value values[chains];
  for (int i = 0; i < chains; ++i)
    values[i] = static_cast<typename Instruction::Value>(threadIdx.x + i);
  __syncthreads();
  const u64 begin = clock64();
  for (int round = 0; round < times; ++round)
#pragma unroll
    for (int i = 0; i < chains; ++i) Instruction::run(values[i]);
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - begin;
  for (int i = 0; i < chains; ++i) out[i * blockDim.x + threadIdx.x] = values[i];
}

template <class... Instructions>
void measure_instructions() {
  DeviceArray<u64> cycles(1);
  const auto measure = [&](auto instruction) {
    using Instruction = decltype(instruction);
    DeviceArray<typename Instruction::Value> out(8 * 1024);
    std::vector<double> rates;
    for (int round = 0; round < 5; ++round) {
      repeat<Instruction><<<1, 1024>>>(2000, cycles.data(), out.data());
      rates.push_back(2000.0 * 8 * 1024 / static_cast<double>(cycles.to_host()[0]));
    }
    std::printf("%-20s %6.1f lanes a cycle and multiprocessor\n", Instruction::name, median(rates));
  };
  (measure(Instructions()), ...);
}

// ---- tensor cores -------------------------------------------------------------------------------

/// Of one block: how long it ran by both clocks.
struct Span {
  u64 cycles, nanoseconds;
};

__device__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

constexpr int kMmaTiles = 16;

__global__ void repeat_mma(int times, u32 mask, Span* span, float* out) {
  u32 a[4], b[2];
  float d[kMmaTiles][4] = {};
  for (u32& word : a) word = (0x3F003F00 ^ threadIdx.x * 2654435761u) & 0xBFFFBFFF & mask;
  for (u32& word : b) word = (0x3F003F00 ^ threadIdx.x * 2246822519u) & 0xBFFFBFFF & mask;
  const u64 begin = clock64(), since = nanoseconds();
  for (int round = 0; round < times; ++round)
#pragma unroll
    for (auto& tile : d)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
          "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(tile[0]), "+f"(tile[1]), "+f"(tile[2]), "+f"(tile[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if (blockIdx.x == 0 && threadIdx.x == 0) *span = {clock64() - begin, nanoseconds() - since};
  float sum = 0;
  for (const auto& tile : d) sum += tile[0] + tile[1] + tile[2] + tile[3];
  if (sum == 12345) *out = sum;
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)

__device__ void wgmma_n128(float (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0;\n}"
      : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
      : "l"(a), "l"(b), "r"(1));
}

// Two warpgroups, each with 64 rows of its own; four steps of k in shared memory, again and again.
__global__ __launch_bounds__(256, 1) void repeat_wgmma(int times, u32 mask, Span* span,
                                                       float* out) {
  __shared__ alignas(1024) char left[2][64 * 128];
  __shared__ alignas(1024) char right[128 * 128];
  for (int i = threadIdx.x; i < 4096; i += 256) {
    reinterpret_cast<u32*>(left)[i] = (0x3F003F00 ^ (i + 1) * 2654435761u) & 0xBFFFBFFF & mask;
    reinterpret_cast<u32*>(right)[i] = (0x3F003F00 ^ (i + 1) * 2246822519u) & 0xBFFFBFFF & mask;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const std::uint64_t a = wgmma_descriptor(left[threadIdx.x / 128]), b = wgmma_descriptor(right);
  float d[64] = {};
  const u64 begin = clock64(), since = nanoseconds();
  for (int round = 0; round < times; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < 4; ++step) wgmma_n128(d, a + 2 * step, b + 2 * step);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *span = {clock64() - begin, nanoseconds() - since};
  float sum = 0;
  for (float value : d) sum += value;
  if (sum == 12345) *out = sum;
}

template <class Kernel>
void measure_products(const char* name, Kernel kernel, int times, double flop, u32 mask) {
  DeviceArray<Span> span(1);
  DeviceArray<float> out(1);
  const int blocks = multiprocessors();
  const auto launch = [&] { kernel<<<blocks, 256>>>(times, mask, span.data(), out.data()); };
  for (int warm = 0; warm < 3; ++warm) launch();
  const double ms = median_ms(7, launch);
  const Span s = span.to_host()[0];
  std::printf("%-24s %6.1f TFLOP/s in %.1f ms at %.0f MHz, %.0f FLOP a cycle and multiprocessor\n",
              name, flop * blocks * 1e-9 / ms, ms,
              1e3 * static_cast<double>(s.cycles) / s.nanoseconds,
              flop / static_cast<double>(s.cycles));
}

void measure_tensor_cores() {
  constexpr int mma_times = 500'000, wgmma_times = 300'000;
  const double mma_flop = 2.0 * 16 * 8 * 16 * kMmaTiles * 8 * mma_times;
  const double wgmma_flop = 2.0 * 64 * 128 * 64 * 2 * wgmma_times;
  for (int turn = 0; turn < 2; ++turn) {
    measure_products("mma bf16, random", repeat_mma, mma_times, mma_flop, 0xFFFFFFFF);
    measure_products("mma bf16, zeros", repeat_mma, mma_times, mma_flop, 0);
    measure_products("wgmma bf16, random", repeat_wgmma, wgmma_times, wgmma_flop, 0xFFFFFFFF);
    measure_products("wgmma bf16, zeros", repeat_wgmma, wgmma_times, wgmma_flop, 0);
  }
}

}  // namespace

int main() {
  print_device();
  measure_copies();
  measure_cache();
  measure_latency<true>("L1", 32 << 10, 1000);
  measure_latency<false>("L2, 8 MiB", 8 << 20, 70'000);
  measure_latency<false>("memory, 1 GiB", std::size_t{1} << 30, 20'000);
  measure_instructions<FmaF32, FmaF64, AddF16, FmaBf16, MinNan, MultiplyInt, Shuffle, Exp2,
                       Exp2Flushed, Exp2F16, Log2, ReciprocalRoot, Tanh, ToInteger>();
  measure_tensor_cores();
}
