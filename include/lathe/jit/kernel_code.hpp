// Machine code of kernels: one for arguments without gaps, and a second one where calls have gaps.
#pragma once

#include <atomic>
#include <lathe/eval/evaluate.hpp>
#include <lathe/ir/math_table.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/jit/strides.hpp>
#include <lathe/runtime/abi.hpp>
#include <lathe/support/context.hpp>
#include <lathe/support/kernel.hpp>
#include <lathe/support/target.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace lathe {

class LoadedKernel;

/// Which options decide what machine code does (JitOptions).
struct CodeKind {
  bool strict = false, checked = false;
  bool dense = false;  ///< LowerOptions::dense
  Math math = Math::normal;
  bool operator==(const CodeKind&) const = default;
};

/// Scheduled programs of one computation: the first whose Dims allow a call runs, else the last.
struct ProgramVersions {
  Vec<Program> before;
  Program last;
};

/// Machine code with what it was made from; shared by all kernels of equal programs.
struct KernelCode : RefCounted {
  ProgramVersions versions;
  Program scheduled, lowered;  ///< the versions as one program
  Target target;
  CodeKind kind;
  int llvm_major = 0;
  std::vector<std::string> numerics;  ///< what Math::fast has changed, in words
  LlvmKernel text;
  std::shared_ptr<const LoadedKernel> loaded;
  KernelEntry entry = nullptr;

  KernelNotes notes(std::string_view name) const {
    return {name, text.messages.data(), static_cast<int>(text.messages.size())};
  }
};

/// What a kernel does with views that its code is not for. Thread-safe.
class OpenCode : public RefCounted {
 public:
  /// `code`, for views without gaps, may be none: then the evaluator runs all calls.
  OpenCode(Program program, Ref<KernelCode> code, Strides strides, bool require_compiled)
      : program_(std::move(program)),
        dense_(std::move(code)),
        strides_(strides),
        require_compiled_(require_compiled) {}

  /// Code for any strides, compiled by the first caller while others wait; null: evaluator() stands
  /// in. `sparse` says what is not dense about the call. L0305 for Strides::dense; with
  /// require_compiled what compilation raises.
  const KernelCode* get(const Context& context, std::string_view sparse, Location where) const;
  const Evaluator& evaluator() const { return evaluator_; }

 private:
  enum class State : std::uint8_t { none, compiled, interpreted };
  void make(const Context& context, std::string_view sparse, Location where) const;

  Program program_;
  Ref<KernelCode> dense_;
  Strides strides_;
  bool require_compiled_;
  mutable std::mutex mutex_;
  mutable Ref<KernelCode> code_;
  mutable Evaluator evaluator_;
  mutable std::atomic<State> state_{State::none};  ///< what it names was written before
};

}  // namespace lathe
