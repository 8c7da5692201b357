// The LLVM of this process, and the way from LLVM IR text to an object file.
#pragma once

#include <cstdint>
#include <lathe/runtime/llvm_c.hpp>
#include <lathe/support/error.hpp>
#include <lathe/support/target.hpp>
#include <lathe/support/vec.hpp>
#include <string>
#include <string_view>

namespace lathe {

/// A loaded libLLVM. Never unloaded; every use is thread-safe.
class Llvm {
 public:
  static constexpr int oldest = 16, newest = 22;

  /// The library that `choice` names: "" (what LATHE_LLVM names, else of those in range that take
  /// the most instruction sets of this machine the newest), "off", a major version or a path. Null
  /// if there is none, and why in `reason`. The same choice gives the same object, for the
  /// process's life.
  static const Llvm* find(const std::string& choice = {}, std::string* reason = nullptr);
  /// find(), but L0410 if there is none.
  static const Llvm& get(const std::string& choice = {}, Location where = Location::here());

  int major() const { return version_[0]; }
  /// "19.1.7"
  std::string version() const;
  const std::string& path() const { return path_; }
  const detail::llvm_c::Api& api() const { return api_; }

  /// False while the process exits and LLVM's own globals may be gone: nothing of LLVM may be
  /// called then.
  static bool alive();

 private:
  Llvm() = default;
  static const Llvm* load(const std::string& file, std::string& reason);
  bool resolve(class DynamicLibrary& library, std::string& reason);

  detail::llvm_c::Api api_;
  int version_[3] = {};
  std::string path_;
};

struct LlvmOptions {
  /// Passes in the syntax of `opt -passes`; empty: default_passes().
  std::string passes{};
  /// Level of the code generator: 0 none, 1 less, 2 default, 3 aggressive. Text with tens of
  /// thousands of lines between two branches gets level 0: instruction selection and scheduling
  /// take time quadratic in that, minutes at 44,000 lines.
  int codegen_level = 2;
  /// Check the text with LLVM's verifier before anything else.
  bool verify = true;
  /// Compile in a child process: what makes LLVM abort or hang is then an InternalError (times stay
  /// 0).
  bool isolate = false;
  double isolate_seconds = 30;
};

/// What a compilation cost.
struct LlvmTimes {
  double parse_seconds = 0, passes_seconds = 0, emit_seconds = 0;
};

/// Lathe's own pass list: the text is vectorised and unrolled already, so LLVM only tidies up. Text
/// of many hundred loops keeps its invariants where they are: moving them can take LLVM time
/// exponential in the number of loops (MemorySSAUpdater::getPreviousDefRecursive).
std::string default_passes(int llvm_major, std::string_view text = {});

/// The object file of a module given as text. The text needs neither triple nor data layout.
/// InternalError if LLVM refuses the text, quoting its line; L0411 if this LLVM has no back end for
/// the target.
Vec<char> compile_to_object(const Llvm& llvm, std::string_view text, const Target& target,
                            const LlvmOptions& options = {}, LlvmTimes* times = nullptr);
/// The same as assembly.
std::string compile_to_assembly(const Llvm& llvm, std::string_view text, const Target& target,
                                const LlvmOptions& options = {});

}  // namespace lathe
