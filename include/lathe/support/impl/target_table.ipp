// Which processors and instruction sets Lathe knows, and since which LLVM each has its name.
// Sources: llvm/lib/Target/X86/X86.td and AArch64Processors.td of LLVM 16 to 22; the x86-64 psABI
// for the levels.
#pragma once

#include <cstdint>
#include <string_view>

namespace lathe {
namespace detail {

enum class Arch : std::uint8_t { x86_64, aarch64 };

struct FeatureRow {
  Arch arch;
  std::string_view name;
  int since;                 // first LLVM major that knows the name
  std::string_view implies;  // blank-separated, direct implications among the rows
  // Last LLVM major that gets it, 0: all do. A later code generator is better off without it.
  int until = 0;

  constexpr bool known_to(int llvm_major) const {
    return since <= llvm_major && (until == 0 || llvm_major <= until);
  }
};

inline constexpr FeatureRow feature_table[] = {
    {Arch::x86_64, "sse3", 1, ""},
    {Arch::x86_64, "ssse3", 1, "sse3"},
    {Arch::x86_64, "sse4.1", 1, "ssse3"},
    {Arch::x86_64, "sse4.2", 1, "sse4.1"},
    {Arch::x86_64, "popcnt", 1, ""},
    {Arch::x86_64, "cx16", 1, ""},
    {Arch::x86_64, "aes", 1, ""},
    {Arch::x86_64, "pclmul", 1, ""},
    {Arch::x86_64, "avx", 1, "sse4.2"},
    {Arch::x86_64, "f16c", 1, "avx"},
    {Arch::x86_64, "fma", 1, "avx"},
    {Arch::x86_64, "avx2", 1, "avx"},
    {Arch::x86_64, "bmi", 1, ""},
    {Arch::x86_64, "bmi2", 1, ""},
    {Arch::x86_64, "lzcnt", 1, ""},
    {Arch::x86_64, "movbe", 1, ""},
    {Arch::x86_64, "avxvnni", 12, "avx2"},
    {Arch::x86_64, "avxifma", 16, "avx2"},
    {Arch::x86_64, "avxneconvert", 16, "avx2"},
    {Arch::x86_64, "avxvnniint8", 16, "avx2"},
    {Arch::x86_64, "avx512f", 1, "avx2 f16c fma"},
    {Arch::x86_64, "avx512cd", 1, "avx512f"},
    {Arch::x86_64, "avx512bw", 1, "avx512f"},
    {Arch::x86_64, "avx512dq", 1, "avx512f"},
    {Arch::x86_64, "avx512vl", 1, "avx512f"},
    {Arch::x86_64, "avx512ifma", 1, "avx512f"},
    // 22.1 may lower a permute of 64 bytes, some unused, without end (llvm-project issue 224266).
    {Arch::x86_64, "avx512vbmi", 1, "avx512bw", 19},
    {Arch::x86_64, "avx512vbmi2", 1, "avx512bw"},
    {Arch::x86_64, "avx512bitalg", 1, "avx512bw"},
    {Arch::x86_64, "avx512vnni", 1, "avx512f"},
    {Arch::x86_64, "avx512vpopcntdq", 1, "avx512f"},
    {Arch::x86_64, "avx512bf16", 9, "avx512bw"},
    {Arch::x86_64, "avx512fp16", 14, "avx512bw avx512vl avx512dq"},
    {Arch::x86_64, "gfni", 1, ""},
    {Arch::x86_64, "vaes", 1, "avx aes"},
    {Arch::x86_64, "vpclmulqdq", 1, "avx pclmul"},
    {Arch::x86_64, "amx-tile", 11, ""},
    {Arch::x86_64, "amx-int8", 11, "amx-tile"},
    {Arch::x86_64, "amx-bf16", 11, "amx-tile"},
    {Arch::aarch64, "neon", 1, ""},
    {Arch::aarch64, "fullfp16", 1, "neon"},
    {Arch::aarch64, "dotprod", 1, "neon"},
    {Arch::aarch64, "i8mm", 1, "neon"},
    {Arch::aarch64, "bf16", 1, "neon"},
    {Arch::aarch64, "lse", 1, ""},
    {Arch::aarch64, "sve", 1, "fullfp16"},
    {Arch::aarch64, "sve2", 1, "sve"},
};

struct ModelRow {
  std::string_view name;
  Arch arch;
  int since;                // first LLVM major that knows the name
  std::string_view parent;  // whose features it has; also what an older LLVM is told
  std::string_view adds;    // features beyond the parent's
  std::int64_t l1, l2, l3;  // KiB of data cache; 0: the parent's
  // Bytes of one load or store where that is less than a vector; 0: the parent's, or a vector.
  // AMD's Software Optimization Guides for families 17h (2.1), 19h (2.11) and 1Ah.
  int load = 0;
  int line = 0;  // bytes of a cache line; 0: the parent's
  // Where the last cache is: far, behind a mesh that a whole socket shares, or near, on a ring or
  // in a core complex. Intel's and Arm's optimization guides.
  enum Last : std::int8_t { as_parent, near, far } last = as_parent;
};

inline constexpr ModelRow model_table[] = {
    {"x86-64", Arch::x86_64, 1, "", "", 32, 512, 8192, 0, 64},
    {"x86-64-v2", Arch::x86_64, 12, "x86-64", "sse4.2 popcnt cx16", 0, 0, 0},
    {"x86-64-v3", Arch::x86_64, 12, "x86-64-v2", "avx2 bmi bmi2 f16c fma lzcnt movbe", 0, 0, 0},
    {"x86-64-v4", Arch::x86_64, 12, "x86-64-v3", "avx512bw avx512cd avx512dq avx512vl", 0, 1024, 0},
    {"haswell", Arch::x86_64, 1, "x86-64-v3", "aes pclmul", 32, 256, 0},
    {"broadwell", Arch::x86_64, 1, "haswell", "", 0, 0, 0},
    {"skylake", Arch::x86_64, 1, "broadwell", "", 0, 0, 0},
    {"alderlake", Arch::x86_64, 12, "skylake", "avxvnni gfni vaes vpclmulqdq", 48, 1280, 30720},
    {"skylake-avx512", Arch::x86_64, 1, "x86-64-v4", "aes pclmul", 32, 1024, 16384, 0, 0,
     ModelRow::far},
    {"cascadelake", Arch::x86_64, 1, "skylake-avx512", "avx512vnni", 0, 0, 0},
    {"cooperlake", Arch::x86_64, 9, "cascadelake", "avx512bf16", 0, 0, 0},
    {"icelake-client", Arch::x86_64, 1, "cascadelake",
     "avx512ifma avx512vbmi avx512vbmi2 avx512bitalg avx512vpopcntdq gfni vaes vpclmulqdq", 48, 512,
     8192, 0, 0, ModelRow::near},
    {"icelake-server", Arch::x86_64, 1, "icelake-client", "", 48, 1280, 32768, 0, 0, ModelRow::far},
    {"tigerlake", Arch::x86_64, 10, "icelake-client", "", 48, 1280, 12288},
    {"rocketlake", Arch::x86_64, 13, "icelake-client", "", 48, 512, 16384},
    {"sapphirerapids", Arch::x86_64, 12, "icelake-server",
     "avx512bf16 avx512fp16 avxvnni amx-tile amx-int8 amx-bf16", 48, 2048, 32768},
    {"emeraldrapids", Arch::x86_64, 16, "sapphirerapids", "", 0, 0, 0},
    {"graniterapids", Arch::x86_64, 16, "sapphirerapids", "", 0, 0, 0},
    {"znver1", Arch::x86_64, 4, "x86-64-v3", "aes pclmul", 32, 512, 8192, 16},
    {"znver2", Arch::x86_64, 9, "znver1", "", 32, 512, 16384, 32},
    {"znver3", Arch::x86_64, 12, "znver2", "vaes vpclmulqdq", 32, 512, 32768},
    {"znver4", Arch::x86_64, 16, "znver3",
     "avx512bw avx512cd avx512dq avx512vl avx512vnni avx512ifma avx512vbmi avx512vbmi2 "
     "avx512bitalg "
     "avx512vpopcntdq avx512bf16 gfni",
     32, 1024, 32768},
    {"znver5", Arch::x86_64, 20, "znver4", "avxvnni", 48, 1024, 32768, 64},
    {"aarch64", Arch::aarch64, 1, "", "neon", 32, 512, 4096, 0, 64},
    {"cortex-a72", Arch::aarch64, 1, "aarch64", "", 0, 0, 0},
    {"cortex-a76", Arch::aarch64, 1, "aarch64", "fullfp16 dotprod lse", 64, 512, 4096},
    {"neoverse-n1", Arch::aarch64, 1, "cortex-a76", "", 64, 1024, 32768, 0, 0, ModelRow::far},
    {"neoverse-v1", Arch::aarch64, 1, "neoverse-n1", "sve bf16 i8mm", 64, 1024, 32768},
    {"neoverse-n2", Arch::aarch64, 1, "neoverse-v1", "sve2", 64, 1024, 32768},
    {"neoverse-v2", Arch::aarch64, 16, "neoverse-n2", "", 64, 2048, 32768},
    {"apple-m1", Arch::aarch64, 1, "aarch64", "fullfp16 dotprod lse", 128, 4096, 8192, 0, 128},
    {"apple-m2", Arch::aarch64, 16, "apple-m1", "bf16 i8mm", 128, 4096, 8192},
};

/// Short names that stand for the level in which the instruction set became common.
struct AliasRow {
  std::string_view name, model;
};
inline constexpr AliasRow alias_table[] = {
    {"sse2", "x86-64"},      {"sse4.2", "x86-64-v2"},  {"avx2", "x86-64-v3"},
    {"avx512", "x86-64-v4"}, {"avx512f", "x86-64-v4"}, {"neon", "aarch64"},
    {"x86_64", "x86-64"},    {"x86-64-v1", "x86-64"},
};

/// CUDA architectures: multiprocessors of the largest part, KiB of shared memory a block may use,
/// MiB of L2.
struct CudaRow {
  std::string_view name;
  int multiprocessors;
  std::int64_t shared_kib, l2_mib;
};
inline constexpr CudaRow cuda_table[] = {
    {"sm_70", 80, 96, 6},      {"sm_75", 72, 64, 6},    {"sm_80", 108, 163, 40},
    {"sm_86", 84, 99, 6},      {"sm_89", 142, 99, 96},  {"sm_90", 132, 227, 50},
    {"sm_100", 148, 227, 126}, {"sm_120", 170, 99, 96},
};

}  // namespace detail
}  // namespace lathe
