// Targets of machine code: architecture, instruction sets, vector width, caches, processors.
#pragma once

#include <cstdint>
#include <lathe/support/error.hpp>
#include <lathe/support/vec.hpp>
#include <string>
#include <string_view>

namespace lathe {

enum class TargetKind : std::uint8_t { cpu, cuda };

/// Plain data: change a field and code is made for that machine.
struct Target {
  TargetKind kind = TargetKind::cpu;
  std::string name;           ///< as asked for: "host", "x86-64-v3", "sm_90"
  std::string arch;           ///< "x86_64", "aarch64", "nvptx64"
  std::string cpu;            ///< LLVM's name of the model, "znver4"; a CUDA target's "sm_90"
  Vec<std::string> features;  ///< LLVM's names, sorted: "avx2", "fma", …
  int vector_bytes = 16;      ///< of the widest vector register
  int load_bytes = 16;        ///< that a core loads or stores at once: Zen 4 does 64 in two halves
  int line_bytes = 64;        ///< of a cache line
  int vector_registers = 16;
  std::int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20,
               l3_bytes = 8 << 20;  ///< data caches as seen by one core
  bool far_last_cache = false;      ///< behind a mesh that a whole socket shares
  int cores = 1;  ///< processors that this process may use; a CUDA target's multiprocessors

  /// The least machine of the architecture that this program was built for; for this machine itself
  /// see host().
  Target();
  /// A machine by name: a psABI level ("x86-64-v3"), a model ("znver4", "neoverse-v1"), an
  /// instruction set ("avx2"), "host", or a CUDA architecture ("sm_90"). L0404 for a name that is
  /// not in known_targets().
  explicit Target(std::string_view name, Location where = Location::here());

  bool has(std::string_view feature) const;
  /// The same machine with one instruction set more or less (what implies it goes too). L0405 for
  /// an unknown one.
  Target with(std::string_view feature, Location where = Location::here()) const;
  Target without(std::string_view feature, Location where = Location::here()) const;
  /// Lanes of a vector register for elements of this size.
  int lanes(int element_bytes) const {
    return element_bytes > 0 ? vector_bytes / element_bytes : 1;
  }
  /// Lanes that one load or store moves at once; at most lanes().
  int load_lanes(int element_bytes) const {
    const int bytes = load_bytes < vector_bytes ? load_bytes : vector_bytes;
    return element_bytes > 0 && bytes > element_bytes ? bytes / element_bytes : 1;
  }

  /// True if `machine` has what code for this target uses; else `reason` says what it lacks.
  bool runs_on(const Target& machine, std::string* reason = nullptr) const;

  /// For LLVM of this major version: the triple, a CPU that it knows, and "+a,-b" with features
  /// that it knows.
  std::string llvm_triple() const;
  std::string llvm_cpu(int llvm_major) const;
  std::string llvm_features(int llvm_major) const;
  /// The machine as this LLVM compiles for it: without what it does not know or must not get.
  Target for_llvm(int llvm_major) const;
  /// Everything that decides which code comes out; part of cache keys.
  std::string str() const;

  /// Whether str() is the same.
  friend bool operator==(const Target& a, const Target& b);
};

/// The machine that runs this program: instruction sets that processor and system both allow.
/// Detected once.
const Target& host();
/// A CUDA architecture, "sm_90".
Target cuda(std::string_view arch, Location where = Location::here());
/// Names that Target(name) knows, sorted.
Vec<std::string> known_targets();

}  // namespace lathe
