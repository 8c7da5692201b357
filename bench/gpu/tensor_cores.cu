// How tensor cores add: layouts of fragments, which sums are exact, and the model of bits kept,
// grouping and rounding that gives the device's bits on random data.
//     nvcc -std=c++20 -O2 -diag-suppress 549 -I../../include
//          -gencode=arch=compute_90a,code=sm_90a -o tensor_cores tensor_cores.cu -lcuda
// A tile is D = A·B + C of 64 x 8: A has 64 rows and B 8 columns of 128 bytes, which are up to four
// steps of one instruction's k (32 bytes each).
#include <bit>
#include <lathe/ir/narrow.hpp>
#include <random>
#include <string>

#include "common.hpp"

namespace {

using lathe::detail::FloatFormat;
using u32 = std::uint32_t;

constexpr int kRows = 64, kColumns = 8, kWords = 32, kStepWords = 8;

// ---- the device's side --------------------------------------------------------------------------

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
__device__ int row_of(int element) {
  return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + 8 * (element / 2);
}
__device__ int column_of(int element) { return threadIdx.x % 4 * 2 + element % 2; }

__device__ void move_accumulators(u32 (&d)[4], const u32* from) {
  for (int e = 0; e < 4; ++e) d[e] = from[row_of(e) * kColumns + column_of(e)];
}
__device__ void store_accumulators(const u32 (&d)[4], u32* to) {
  for (int e = 0; e < 4; ++e) to[row_of(e) * kColumns + column_of(e)] = d[e];
}

// A's register r has row g + 8 (r % 2) and word q + 4 (r / 2), B's column g and word q + 4 r.
__device__ void load_a(u32 (&a)[4], const u32* tile, int step) {
  const int q = threadIdx.x % 4;
  for (int r = 0; r < 4; ++r)
    a[r] = tile[row_of(2 * (r % 2)) * kWords + step * kStepWords + q + 4 * (r / 2)];
}
__device__ void load_b(u32 (&b)[2], const u32* tile, int step) {
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

__device__ void copy_swizzled(char* shared, const u32* tile, int words) {
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    const int offset = 4 * i;
    *reinterpret_cast<u32*>(shared + (offset ^ ((offset >> 7) & 7) << 4)) = tile[i];
  }
}

// K-major rows of 128 bytes, swizzled by as many; eight rows are 1024 bytes apart.
__device__ std::uint64_t descriptor(const char* shared) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(shared));
  return (address & 0x3FFFF) >> 4 | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
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
    Instruction::run(sum, descriptor(left) + 2 * step, descriptor(right) + 2 * step);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  store_accumulators(sum, d + blockIdx.x * kRows * kColumns);
}

// A from registers: the layout of mma's A, 16 rows a warp.
__global__ void wgmma_register_tiles(const u32* a, const u32* b, const u32* c, u32* d, int steps) {
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
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(descriptor(right) + 2 * step),
          "r"(1)
        : "memory");
  }
  store_accumulators(sum, d + blockIdx.x * kRows * kColumns);
}

// ---- tiles on the host --------------------------------------------------------------------------

struct Format {
  FloatFormat bits;
  int bytes, unused_bits;  ///< below the number, in its storage
  int shift;               ///< probes are scaled by 2^(2 shift), for formats without small numbers
  int k() const { return 32 / bytes; }
  u32 encode(double value) const { return lathe::detail::encode_float(bits, value) << unused_bits; }
  double decode(u32 stored) const {
    return lathe::detail::decode_float(bits, stored >> unused_bits);
  }
};
constexpr Format kF16{{5, 10, false}, 2, 0, 0}, kBf16{{8, 7, false}, 2, 0, 0},
    kTf32{{8, 10, false}, 4, 13, 0}, kE4m3{{4, 3, true}, 1, 0, 6}, kE5m2{{5, 2, false}, 1, 0, 4};

using Kernel = void (*)(const u32*, const u32*, const u32*, u32*, int);
struct Unit {
  const char* name;
  Kernel kernel;
  Format format;
};
const Unit kUnits[] = {
    {"mma f16", mma_tiles<MmaF16>, kF16},
    {"wgmma f16", wgmma_tiles<WgmmaF16>, kF16},
    {"wgmma f16, A in registers", wgmma_register_tiles, kF16},
    {"mma bf16", mma_tiles<MmaBf16>, kBf16},
    {"wgmma bf16", wgmma_tiles<WgmmaBf16>, kBf16},
    {"mma tf32", mma_tiles<MmaTf32>, kTf32},
    {"wgmma tf32", wgmma_tiles<WgmmaTf32>, kTf32},
    {"mma e4m3", mma_tiles<MmaE4m3>, kE4m3},
    {"wgmma e4m3", wgmma_tiles<WgmmaE4m3>, kE4m3},
    {"mma e5m2", mma_tiles<MmaE5m2>, kE5m2},
    {"wgmma e5m2", wgmma_tiles<WgmmaE5m2>, kE5m2},
};

struct Tiles {
  std::vector<u32> a, b, c;
  explicit Tiles(int count)
      : a(count * kRows * kWords), b(count * kColumns * kWords), c(count * kRows * kColumns) {}
  int count() const { return static_cast<int>(c.size()) / (kRows * kColumns); }
};

void put(std::vector<u32>& words, int row, int k, int bytes, u32 bits) {
  const int at = k * bytes;
  words[row * kWords + at / 4] |= bits << 8 * (at % 4);
}
u32 get(const std::vector<u32>& words, int row, int k, int bytes) {
  const int at = k * bytes;
  const u32 word = words[row * kWords + at / 4] >> 8 * (at % 4);
  return bytes == 4 ? word : word & ((1u << 8 * bytes) - 1);
}

std::vector<u32> run(Kernel kernel, const Tiles& tiles, int steps) {
  const DeviceArray<u32> a(tiles.a), b(tiles.b), c(tiles.c);
  DeviceArray<u32> d(tiles.c.size());
  kernel<<<tiles.count(), 128>>>(a.data(), b.data(), c.data(), d.data(), steps);
  CHECK(cudaGetLastError());
  return d.to_host();
}

/// element(random) for all of A and B, start(random) for all of C.
template <class Element, class Start>
Tiles random_tiles(int count, const Format& format, const Element& element, const Start& start) {
  std::mt19937 random(1);
  Tiles tiles(count);
  const int width = 128 / format.bytes;
  for (int row = 0; row < count * kRows; ++row)
    for (int k = 0; k < width; ++k)
      put(tiles.a, row, k, format.bytes, format.encode(element(random)));
  for (int row = 0; row < count * kColumns; ++row)
    for (int k = 0; k < width; ++k)
      put(tiles.b, row, k, format.bytes, format.encode(element(random)));
  for (u32& c : tiles.c) c = std::bit_cast<u32>(static_cast<float>(start(random)));
  return tiles;
}

/// The operands of one element of D.
struct Dot {
  std::vector<double> a, b;
  float c;
};
Dot dot_at(const Tiles& tiles, const Format& format, int index, int steps) {
  const int tile = index / (kRows * kColumns), row = index / kColumns % kRows,
            column = index % kColumns;
  Dot dot;
  dot.c = std::bit_cast<float>(tiles.c[index]);
  for (int k = 0; k < steps * format.k(); ++k) {
    dot.a.push_back(format.decode(get(tiles.a, tile * kRows + row, k, format.bytes)));
    dot.b.push_back(format.decode(get(tiles.b, tile * kColumns + column, k, format.bytes)));
  }
  return dot;
}

// ---- models -------------------------------------------------------------------------------------

/// Products of `group` neighbours are exact. They and the sum so far are cut off `bits` below the
/// largest exponent and added; the result is cut off to `width` bits.
struct Model {
  int group, bits, width;
  bool paired;      ///< a group has every other pair of neighbours in k
  bool normalised;  ///< a product's exponent is its own, not the sum of its factors' exponents
  bool joined;      ///< the sum starts as C; else as 0, and C is added to the end's in f32
};

// Cut off `bits` below the exponent `top`.
double cut(double value, int top, int bits) {
  return std::ldexp(std::trunc(std::ldexp(value, bits - top)), top - bits);
}

double add_group(const Model& model, const Dot& dot, int step, int first, double sum) {
  const auto place = [&](int i) {
    return step + (model.paired ? i % model.group / 2 * 4 + i / model.group * 2 + i % 2 : i);
  };
  int top = sum == 0 ? -10000 : std::ilogb(sum);
  for (int i = first; i < first + model.group; ++i) {
    const double a = dot.a[place(i)], b = dot.b[place(i)];
    if (a * b == 0) continue;
    top = std::max(top, model.normalised ? std::ilogb(a * b) : std::ilogb(a) + std::ilogb(b));
  }
  double total = cut(sum, top, model.bits);
  for (int i = first; i < first + model.group; ++i)
    total += cut(dot.a[place(i)] * dot.b[place(i)], top, model.bits);
  return total == 0 ? 0 : cut(total, std::max(std::ilogb(total), -126), model.width - 1);
}

float evaluate(const Model& model, const Dot& dot, int k) {
  float sum = dot.c;
  for (int step = 0; step < static_cast<int>(dot.a.size()); step += k) {
    double partial = model.joined ? sum : 0;
    for (int first = 0; first < k; first += model.group)
      partial = add_group(model, dot, step, first, partial);
    sum = static_cast<float>(partial) + (model.joined ? 0 : sum);
  }
  return sum;
}

std::vector<Model> all_models(int k) {
  std::vector<Model> out;
  for (int group : {k, k / 2, k / 4})
    for (int bits = 11; bits <= 28; ++bits)
      for (int width : {std::min(bits + 1, 23), 24})
        for (bool paired : {false, true})
          for (bool normalised : {false, true})
            for (bool joined : {true, false})
              if (!paired || group == k / 2)
                out.push_back({group, bits, width, paired, normalised, joined});
  return out;
}

int mismatches(const Model& model, int k, const std::vector<Dot>& dots, const std::vector<u32>& got,
               std::size_t most) {
  int wrong = 0;
  for (std::size_t i = 0; i < std::min(most, dots.size()); ++i)
    wrong += std::bit_cast<u32>(evaluate(model, dots[i], k)) != got[i];
  return wrong;
}

std::string text_of(const Model& model) {
  return "groups of " + std::to_string(model.group) + (model.paired ? ", in pairs, " : ", ") +
         std::to_string(model.bits) + " bits, result of " + std::to_string(model.width) +
         (model.normalised ? ", normalised" : ", factors' exponents") +
         (model.joined ? ", C joined" : ", C added after");
}

std::vector<Dot> dots_of(const Tiles& tiles, const Format& format, int steps) {
  std::vector<Dot> out;
  for (std::size_t i = 0; i < tiles.c.size(); ++i)
    out.push_back(dot_at(tiles, format, static_cast<int>(i), steps));
  return out;
}

double spread_value(std::mt19937& random, int spread) {
  const double fraction = 1 + random() * 0x1p-32;
  const int exponent = static_cast<int>(random() % (2 * spread + 1)) - spread;
  return std::ldexp(random() % 2 ? fraction : -fraction, exponent);
}

using Ranked = std::pair<int, Model>;

std::vector<Ranked> rank(const std::vector<Model>& models, int k, const std::vector<Dot>& dots,
                         const std::vector<u32>& got, std::size_t most) {
  std::vector<Ranked> out;
  for (const Model& model : models) out.emplace_back(mismatches(model, k, dots, got, most), model);
  std::stable_sort(out.begin(), out.end(),
                   [](const Ranked& x, const Ranked& y) { return x.first < y.first; });
  return out;
}

// Of the models with the fewest mismatches after one instruction those that have the fewest after
// four.
void search_models(const Unit& unit) {
  const Tiles tiles = random_tiles(
      20, unit.format, [](auto& random) { return spread_value(random, 4); },
      [](auto& random) { return spread_value(random, 9); });
  const int k = unit.format.k();
  std::vector<Model> best;
  for (const auto& [wrong, model] :
       rank(all_models(k), k, dots_of(tiles, unit.format, 1), run(unit.kernel, tiles, 1), 1000))
    if (best.size() < 50) best.push_back(model);
  const std::vector<Dot> four = dots_of(tiles, unit.format, 4);
  const std::vector<Ranked> ranked = rank(best, k, four, run(unit.kernel, tiles, 4), four.size());
  for (int i = 0; i < 3; ++i)
    std::printf("  model %-76s %d of %zu differ after four steps\n",
                text_of(ranked[i].second).c_str(), ranked[i].first, four.size());
}

void check_integers(const Unit& unit) {
  const auto integer = [](int most) {
    return
        [most](std::mt19937& random) { return static_cast<int>(random() % (2 * most + 1)) - most; };
  };
  const Tiles tiles = random_tiles(40, unit.format, integer(4), integer(1000));
  const std::vector<u32> got = run(unit.kernel, tiles, 4);
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Dot dot = dot_at(tiles, unit.format, static_cast<int>(i), 4);
    double sum = dot.c;
    for (std::size_t k = 0; k < dot.a.size(); ++k) sum += dot.a[k] * dot.b[k];
    wrong += sum != std::bit_cast<float>(got[i]);
  }
  std::printf("  integers -4…4 in this layout, four steps: %d of %zu wrong\n", wrong, got.size());
}

// ---- probes: one dot product each, in row 0 and column 0 ----------------------------------------

struct Probe {
  std::vector<std::pair<int, std::pair<double, double>>> factors;  ///< where in k, which
  double c = 0;
};

std::vector<u32> run_probes(const Unit& unit, const std::vector<Probe>& probes) {
  Tiles tiles(static_cast<int>(probes.size()));
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const int tile = static_cast<int>(i), bytes = unit.format.bytes;
    for (const auto& [k, factors] : probes[i].factors) {
      put(tiles.a, tile * kRows, k, bytes, unit.format.encode(factors.first));
      put(tiles.b, tile * kColumns, k, bytes, unit.format.encode(factors.second));
    }
    tiles.c[tile * kRows * kColumns] = std::bit_cast<u32>(static_cast<float>(probes[i].c));
  }
  const std::vector<u32> all = run(unit.kernel, tiles, 1);
  std::vector<u32> out;
  for (std::size_t i = 0; i < probes.size(); ++i) out.push_back(all[i * kRows * kColumns]);
  return out;
}

std::pair<double, double> power(int exponent) {
  return {std::ldexp(1.0, exponent / 2), std::ldexp(1.0, exponent - exponent / 2)};
}
std::pair<double, double> minus(std::pair<double, double> factors) {
  return {-factors.first, factors.second};
}

// How far below 1 a product still counts beside 1 and -1.
int kept_bits(const Unit& unit, bool one_is_c) {
  const int base = 2 * unit.format.shift;
  std::vector<Probe> probes;
  for (int n = 8; n <= 28; ++n) {
    Probe probe{{{0, power(base)}, {2, power(base - n)}}};
    if (one_is_c)
      probe.c = -std::ldexp(1.0, base);
    else
      probe.factors.push_back({1, minus(power(base))});
    probes.push_back(probe);
  }
  int kept = 7;
  const std::vector<u32> got = run_probes(unit, probes);
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] << 1) kept = static_cast<int>(i) + 8;
  return kept;
}

// For each place in k: does a product that is too small beside 1 at place 0 count there?
std::string grouping(const Unit& unit, int too_small) {
  const int base = 2 * unit.format.shift;
  std::vector<Probe> probes;
  for (int k = 1; k < unit.format.k(); ++k)
    probes.push_back({{{0, power(base)}, {k, power(base - too_small)}}, -std::ldexp(1.0, base)});
  std::string out = "-";
  for (u32 bits : run_probes(unit, probes)) out += bits << 1 ? '1' : '0';
  return out;
}

void print_probe(const Unit& unit, const char* what, const Probe& probe) {
  const u32 bits = run_probes(unit, {probe})[0];
  std::printf("  %s: %.9g (%08x)\n", what, static_cast<double>(std::bit_cast<float>(bits)), bits);
}

void print_probes(const Unit& unit) {
  const int with_c = kept_bits(unit, true), alone = kept_bits(unit, false);
  std::printf("  bits kept below the largest: beside a product and c %d, beside two products %d\n",
              with_c, alone);
  std::printf("  a product one bit smaller counts at: %s\n", grouping(unit, with_c + 1).c_str());
  print_probe(unit, "c = -0, no products", {{}, -0.0});
  print_probe(unit, "c = -0, products -0", {{{0, {-0.0, 1}}}, -0.0});
  print_probe(unit, "c = 2^-149", {{}, 0x1p-149});
  print_probe(unit, "c = NaN", {{}, NAN});
  if (unit.format.bits.finite) return;
  print_probe(unit, "inf * 0", {{{0, {INFINITY, 0}}}});
  print_probe(unit, "inf - inf", {{{0, {INFINITY, 1}}, {1, {-INFINITY, 1}}}});
  if (unit.format.bits.exponent_bits == 5) {
    const double least = std::ldexp(1.0, -14 - unit.format.bits.mantissa_bits);
    print_probe(unit, "least subnormal, squared", {{{0, {least, least}}}});
    return;
  }
  print_probe(unit, "2^-130 * 1, subnormal operand", {{{0, {0x1p-130, 1}}}});
  print_probe(unit, "2^-75 * 2^-70, subnormal result", {{{0, {0x1p-75, 0x1p-70}}}});
  print_probe(unit, "c = largest, + 2^103", {{{0, {0x1p52, 0x1p51}}}, 0x1.FFFFFEp127});
  print_probe(unit, "c = largest, + 2^104", {{{0, {0x1p52, 0x1p52}}}, 0x1.FFFFFEp127});
  print_probe(unit, "2^100 * 2^100 - 2^100 * 2^100",
              {{{0, {0x1p100, 0x1p100}}, {1, {-0x1p100, 0x1p100}}}});
}

// ---- other types --------------------------------------------------------------------------------

void check_bytes(const char* name, Kernel kernel) {
  std::mt19937 random(1);
  Tiles tiles(40);
  for (auto* words : {&tiles.a, &tiles.b, &tiles.c})
    for (u32& word : *words) word = random();
  for (std::size_t i = 0; i < tiles.c.size(); i += 2) tiles.c[i] = 0x7FFFFFFF - random() % 1000;
  const std::vector<u32> got = run(kernel, tiles, 4);
  int wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t tile = i / (kRows * kColumns), row = i / kColumns % kRows;
    u32 sum = tiles.c[i];
    for (int k = 0; k < 128; ++k)
      sum += static_cast<u32>(
          static_cast<std::int8_t>(get(tiles.a, static_cast<int>(tile * kRows + row), k, 1)) *
          static_cast<std::int8_t>(
              get(tiles.b, static_cast<int>(tile * kColumns + i % kColumns), k, 1)));
    wrong += sum != got[i];
  }
  std::printf("%s, modulo 2^32: %d of %zu wrong\n", name, wrong, got.size());
}

// The 13 bits of an f32 below a tf32: cut off, or rounded?
void check_tf32_operands(const char* name, Kernel kernel) {
  std::mt19937 random(1);
  Tiles tiles(10);
  for (auto* words : {&tiles.a, &tiles.b})
    for (u32& word : *words) word = 0x3F800000 | (random() & 0x807FFFFF);
  const std::vector<u32> as_is = run(kernel, tiles, 4);
  for (auto* words : {&tiles.a, &tiles.b})
    for (u32& word : *words) word &= ~0x1FFFu;
  const std::vector<u32> cut = run(kernel, tiles, 4);
  std::printf("%s of f32 as they are and cut off to tf32: %s\n", name,
              as_is == cut ? "the same bits" : "other bits");
}

__global__ void mma_f64(const double* a, const double* b, const double* c, double* d) {
  const int lane = threadIdx.x, g = lane / 4, q = lane % 4;
  const double *left = a + blockIdx.x * 32, *right = b + blockIdx.x * 32;
  double sum[2] = {c[blockIdx.x * 64 + g * 8 + 2 * q], c[blockIdx.x * 64 + g * 8 + 2 * q + 1]};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(sum[0]), "+d"(sum[1])
               : "d"(left[g * 4 + q]), "d"(right[g * 4 + q]));
  for (int e = 0; e < 2; ++e) d[blockIdx.x * 64 + g * 8 + 2 * q + e] = sum[e];
}

// Is an f64 product a chain of fma in the order of k?
void check_f64() {
  constexpr int count = 1000;
  std::mt19937 random(1);
  std::vector<double> a(count * 32), b(count * 32), c(count * 64);
  for (auto* values : {&a, &b, &c})
    for (double& value : *values) value = spread_value(random, 8) * (1 + random() * 0x1p-60);
  const DeviceArray<double> left(a), right(b), start(c);
  DeviceArray<double> out(c.size());
  mma_f64<<<count, 32>>>(left.data(), right.data(), start.data(), out.data());
  CHECK(cudaGetLastError());
  const std::vector<double> got = out.to_host();
  int up = 0, down = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double *x = &a[i / 64 * 32 + i / 8 % 8 * 4], *y = &b[i / 64 * 32 + i % 8 * 4];
    double rising = c[i], falling = c[i];
    for (int k = 0; k < 4; ++k) rising = std::fma(x[k], y[k], rising);
    for (int k = 3; k >= 0; --k) falling = std::fma(x[k], y[k], falling);
    up += rising != got[i], down += falling != got[i];
  }
  std::printf("mma f64 m8n8k4: of %zu, %d differ from fma with k rising, %d with k falling\n",
              got.size(), up, down);
}

}  // namespace

int main() {
  print_device();
  for (const Unit& unit : kUnits) {
    std::printf("%s\n", unit.name);
    check_integers(unit);
    print_probes(unit);
    search_models(unit);
  }
  check_bytes("mma s8", mma_tiles<MmaS8>);
  check_bytes("wgmma s8", wgmma_tiles<WgmmaS8>);
  check_tf32_operands("mma", mma_tiles<MmaTf32>);
  check_tf32_operands("wgmma", wgmma_tiles<WgmmaTf32>);
  check_f64();
}
