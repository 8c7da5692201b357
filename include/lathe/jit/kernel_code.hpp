// Machine code of kernels.
#pragma once

#include <lathe/ir/kinds.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/runtime/abi.hpp>
#include <lathe/support/kernel.hpp>
#include <lathe/support/target.hpp>
#include <memory>
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
  ObjectId kept;           ///< the object's, where a folder has it
  Ref<RefCounted> origin;  ///< a LateCode, of code without versions, programs and text

  /// The same code with all of that.
  const KernelCode& whole() const;
  KernelNotes notes(std::string_view name) const {
    return {name, text.messages.data(), static_cast<int>(text.messages.size())};
  }
};

}  // namespace lathe
