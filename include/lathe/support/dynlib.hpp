// Optional libraries (LLVM, the CUDA driver) and their functions, looked up at run time.
#pragma once

#include <lathe/support/config.hpp>
#include <string>
#include <string_view>

namespace lathe {

/// A library opened with RTLD_LOCAL | RTLD_LAZY. It is never closed: LLVM and CUDA do not survive
/// dlclose.
class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  /// The library, or an empty one and the loader's words in `reason`.
  static DynamicLibrary open(const std::string& name, std::string* reason = nullptr);

  explicit operator bool() const { return handle_ != nullptr; }
  /// Null if the library has no such symbol.
  void* symbol(const char* name) const;
  /// The file that was mapped for `symbol`; empty if unknown.
  static std::string file_of(const void* symbol);

 private:
  void* handle_ = nullptr;
};

}  // namespace lathe
