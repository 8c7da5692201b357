// C source of programs at Stage::machine: C11 with the vector extensions that GCC and clang share.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/vec.hpp>
#include <string>
#include <string_view>

namespace lathe {

/// One translation unit: kernels, and the types and functions that they share. A kernel is
///     int32_t symbol(const uint64_t *slots, lathe_runtime *rt);
/// as in LLVM IR. Where `rt` is null, loops run in turn and memory comes from the C library.
class CUnit {
 public:
  /// Adds a program that was lowered with Language::c, and gives the messages of its assertions.
  /// InternalError for one that asks more of a machine than TargetCaps says of C.
  Vec<std::string> add(const Program& program, std::string_view symbol);
  /// To be compiled with no option but those of speed, and linked with -lm.
  std::string text() const;

  /// For the emitter: a definition at the top, once for each name; functions, in order.
  void define(const std::string& name, std::string_view text) {
    if (!defined_.contains(name)) defined_.insert(name), definitions_ += text;
  }
  void function(std::string_view text) { functions_ += text; }

 private:
  NameSet defined_;
  std::string definitions_, functions_;
};

}  // namespace lathe
