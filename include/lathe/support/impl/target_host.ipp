#pragma once

#include <fcntl.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include <lathe/support/cache_share.hpp>
#include <lathe/support/context.hpp>
#include <lathe/support/impl/target.ipp>

namespace lathe {
namespace detail {

inline std::string read_small_file(const std::string& path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char buffer[256];
  auto n = ::read(file, buffer, sizeof buffer);
  ::close(file);
  while (n > 0 && buffer[n - 1] == '\n') --n;
  return std::string(buffer, static_cast<std::size_t>(n > 0 ? n : 0));
}

/// "48K" and "32M" in bytes; 0 if it is not that.
inline std::int64_t parse_cache_size(std::string_view text) {
  int shift = 0;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'M')) {
    shift = text.back() == 'K' ? 10 : 20;
    text.remove_suffix(1);
  }
  std::int64_t n = 0;
  return parse_int(text, n) ? n << shift : 0;
}

inline void detect_caches(Target& t) {
  for (int i = 0; i < 8; ++i) {
    auto folder = cat("/sys/devices/system/cpu/cpu0/cache/index", i, "/");
    auto level = read_small_file(folder + "level");
    auto bytes = parse_cache_size(read_small_file(folder + "size"));
    if (level.empty()) break;
    if (!bytes || read_small_file(folder + "type") == "Instruction") continue;
    if (level == "1") t.l1_bytes = bytes;
    if (level == "2") t.l2_bytes = bytes;
    if (level == "3")
      t.l3_bytes = reachable_cache(bytes, read_small_file(folder + "shared_cpu_list"));
    if (auto line = parse_cache_size(read_small_file(folder + "coherency_line_size")))
      t.line_bytes = static_cast<int>(line);
  }
}

#if defined(__x86_64__)

struct Cpuid {
  unsigned reg[4] = {};  // eax ebx ecx edx
  Cpuid(unsigned leaf, unsigned subleaf) {
    __get_cpuid_count(leaf, subleaf, &reg[0], &reg[1], &reg[2], &reg[3]);
  }
};

/// Which register states the system saves (XCR0).
inline unsigned enabled_states() {
  constexpr unsigned osxsave = 1u << 27;
  if (!(Cpuid(1, 0).reg[2] & osxsave)) return 0;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

struct CpuidBit {
  std::string_view name;
  unsigned leaf, subleaf;
  int reg, bit;
  unsigned states;  // XCR0 bits that it needs
};

// Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E.
inline constexpr unsigned ymm = 0x6, zmm = 0xE6, tile_state = 0x60000;
inline constexpr CpuidBit cpuid_bits[] = {
    {"sse3", 1, 0, 2, 0, 0},
    {"pclmul", 1, 0, 2, 1, 0},
    {"ssse3", 1, 0, 2, 9, 0},
    {"fma", 1, 0, 2, 12, ymm},
    {"cx16", 1, 0, 2, 13, 0},
    {"sse4.1", 1, 0, 2, 19, 0},
    {"sse4.2", 1, 0, 2, 20, 0},
    {"movbe", 1, 0, 2, 22, 0},
    {"popcnt", 1, 0, 2, 23, 0},
    {"aes", 1, 0, 2, 25, 0},
    {"avx", 1, 0, 2, 28, ymm},
    {"f16c", 1, 0, 2, 29, ymm},
    {"bmi", 7, 0, 1, 3, 0},
    {"avx2", 7, 0, 1, 5, ymm},
    {"bmi2", 7, 0, 1, 8, 0},
    {"avx512f", 7, 0, 1, 16, zmm},
    {"avx512dq", 7, 0, 1, 17, zmm},
    {"avx512ifma", 7, 0, 1, 21, zmm},
    {"avx512cd", 7, 0, 1, 28, zmm},
    {"avx512bw", 7, 0, 1, 30, zmm},
    {"avx512vl", 7, 0, 1, 31, zmm},
    {"avx512vbmi", 7, 0, 2, 1, zmm},
    {"avx512vbmi2", 7, 0, 2, 6, zmm},
    {"gfni", 7, 0, 2, 8, 0},
    {"vaes", 7, 0, 2, 9, ymm},
    {"vpclmulqdq", 7, 0, 2, 10, ymm},
    {"avx512vnni", 7, 0, 2, 11, zmm},
    {"avx512bitalg", 7, 0, 2, 12, zmm},
    {"avx512vpopcntdq", 7, 0, 2, 14, zmm},
    {"avx512fp16", 7, 0, 3, 23, zmm},
    {"amx-bf16", 7, 0, 3, 22, tile_state},
    {"amx-tile", 7, 0, 3, 24, tile_state},
    {"amx-int8", 7, 0, 3, 25, tile_state},
    {"avxvnni", 7, 1, 0, 4, ymm},
    {"avx512bf16", 7, 1, 0, 5, zmm},
    {"avxifma", 7, 1, 0, 23, ymm},
    {"avxvnniint8", 7, 1, 3, 4, ymm},
    {"avxneconvert", 7, 1, 3, 5, ymm},
    {"lzcnt", 0x80000001, 0, 2, 5, 0},
};

inline void detect_features(Target& t) {
  unsigned states = enabled_states();
  for (const CpuidBit& row : cpuid_bits) {
    bool present = (Cpuid(row.leaf, row.subleaf).reg[row.reg] >> row.bit) & 1;
    if (present && (states & row.states) == row.states) t.features.emplace_back(row.name);
  }
  std::sort(t.features.begin(), t.features.end());
  // What an odd hypervisor leaves half-enabled is treated as absent.
  for (const FeatureRow& row : feature_table) {
    if (row.arch != Arch::x86_64 || !t.has(row.name)) continue;
    for_each_word(row.implies, [&](std::string_view word) {
      if (!t.has(word)) remove_feature(t, row.name);
    });
  }
}

inline std::string_view amd_model(unsigned family, unsigned model) {
  if (family == 0x1A) return "znver5";
  if (family == 0x19) {
    bool zen4 =
        (model >= 0x10 && model <= 0x1F) || (model >= 0x60 && model <= 0x7F) || model >= 0xA0;
    return zen4 ? "znver4" : "znver3";
  }
  if (family == 0x17) return model < 0x30 ? "znver1" : "znver2";
  return "";
}

struct IntelRow {
  unsigned model;
  std::string_view name;
};
inline constexpr IntelRow intel_models[] = {
    {0x3C, "haswell"},        {0x3F, "haswell"},        {0x45, "haswell"},
    {0x46, "haswell"},        {0x3D, "broadwell"},      {0x47, "broadwell"},
    {0x4F, "broadwell"},      {0x56, "broadwell"},      {0x4E, "skylake"},
    {0x5E, "skylake"},        {0x8E, "skylake"},        {0x9E, "skylake"},
    {0xA5, "skylake"},        {0xA6, "skylake"},        {0x55, "skylake-avx512"},
    {0x6A, "icelake-server"}, {0x6C, "icelake-server"}, {0x7D, "icelake-client"},
    {0x7E, "icelake-client"}, {0x8C, "tigerlake"},      {0x8D, "tigerlake"},
    {0xA7, "rocketlake"},     {0x8F, "sapphirerapids"}, {0xCF, "emeraldrapids"},
    {0xAD, "graniterapids"},  {0xAE, "graniterapids"},  {0x97, "alderlake"},
    {0x9A, "alderlake"},      {0xB7, "alderlake"},      {0xBA, "alderlake"},
    {0xBF, "alderlake"},
};

inline std::string_view intel_model(unsigned model, const Target& t) {
  // Three generations share one number.
  if (model == 0x55 && t.has("avx512bf16")) return "cooperlake";
  if (model == 0x55 && t.has("avx512vnni")) return "cascadelake";
  for (const IntelRow& row : intel_models) {
    if (row.model == model) return row.name;
  }
  return "";
}

inline std::string_view detect_model(const Target& t) {
  unsigned signature = Cpuid(1, 0).reg[0];
  unsigned family = (signature >> 8) & 15, model = (signature >> 4) & 15;
  if (family == 15) family += (signature >> 20) & 255;
  if (family >= 6) model += ((signature >> 16) & 15) << 4;
  unsigned vendor = Cpuid(0, 0).reg[1];
  constexpr unsigned amd = 0x68747541, intel = 0x756E6547;  // "Auth", "Genu"
  std::string_view known = vendor == amd                    ? amd_model(family, model)
                           : vendor == intel && family == 6 ? intel_model(model, t)
                                                            : std::string_view();
  if (!known.empty()) return known;
  for (std::string_view level : {"x86-64-v4", "x86-64-v3", "x86-64-v2"}) {
    bool all = true;
    for_each_word(implied_features("x86_64", level),
                  [&](std::string_view word) { all &= t.has(word); });
    if (all) return level;
  }
  return "x86-64";
}

#elif defined(__aarch64__)

inline void detect_features(Target& t) {
  t.features = {"neon"};
#if defined(__linux__)
  // Bits of AT_HWCAP and AT_HWCAP2: linux/arch/arm64/include/uapi/asm/hwcap.h.
  unsigned long caps = ::getauxval(AT_HWCAP), caps2 = ::getauxval(AT_HWCAP2);
  if (caps >> 8 & 1) add_feature(t, "lse");
  if (caps >> 10 & 1) add_feature(t, "fullfp16");
  if (caps >> 20 & 1) add_feature(t, "dotprod");
  if (caps >> 22 & 1) add_feature(t, "sve");
  if (caps2 >> 1 & 1) add_feature(t, "sve2");
  if (caps2 >> 13 & 1) add_feature(t, "i8mm");
  if (caps2 >> 14 & 1) add_feature(t, "bf16");
#endif
}
inline std::string_view detect_model(const Target&) { return "aarch64"; }

#else

inline void detect_features(Target&) {}
inline std::string_view detect_model(const Target& t) { return t.cpu; }

#endif

LATHE_DECL Target detect_host() {
  Target t;
  t.name = "host";
  t.features.clear();
  detect_features(t);
  t.cpu = detect_model(t);
  if (auto* model = find_row(model_table, t.cpu)) {
    Target guess;
    add_model_features(guess, *model);
    t.l1_bytes = guess.l1_bytes, t.l2_bytes = guess.l2_bytes, t.l3_bytes = guess.l3_bytes;
  }
  derive_registers(t);
  detect_caches(t);
  t.cores = usable_processors();
  return t;
}

}  // namespace detail
}  // namespace lathe
