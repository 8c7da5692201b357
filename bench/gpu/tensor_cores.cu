// How tensor cores add: layouts of fragments, which sums are exact, and the model of bits kept,
// grouping and rounding that gives the device's bits on random data.
//     nvcc -std=c++20 -O2 -diag-suppress 549 -I../../include
//          -gencode=arch=compute_90a,code=sm_90a -o tensor_cores tensor_cores.cu -lcuda
#include <bit>
#include <lathe/ir/narrow.hpp>
#include <random>
#include <string>

#include "common.hpp"
#include "tensor_core_kernels.hpp"
#include "tensor_core_model.hpp"

namespace {

using lathe::detail::FloatFormat;

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

// ---- search -------------------------------------------------------------------------------------

int mismatches(const Model& model, int k, const std::vector<Dot>& dots, const std::vector<u32>& got,
               std::size_t most) {
  int wrong = 0;
  for (std::size_t i = 0; i < std::min(most, dots.size()); ++i)
    wrong += std::bit_cast<u32>(evaluate(model, dots[i], k)) != got[i];
  return wrong;
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
