// Object files linked into this process as functions, and taken out again.
#pragma once

#include <cstdint>
#include <lathe/runtime/abi.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/context.hpp>
#include <lathe/support/vec.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace lathe {

class Jit;

/// Code in memory. The last reference frees it; nobody may be inside it then.
class LoadedKernel {
 public:
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  const std::string& symbol() const { return symbol_; }
  void* address() const { return address_; }
  KernelEntry entry() const { return reinterpret_cast<KernelEntry>(address_); }
  std::size_t object_bytes() const { return object_bytes_; }

 private:
  friend class Jit;
  LoadedKernel() = default;

  Ref<Jit> jit_;
  std::string symbol_;
  void* address_ = nullptr;
  std::size_t object_bytes_ = 0;
  std::uint64_t hash_ = 0;
};

/// An LLJIT with one JITDylib, whose only external symbols are runtime_symbols() and what define()
/// adds.
class Jit : public RefCounted {
 public:
  /// `perf`: name loaded functions in /tmp/perf-<pid>.map.
  static Ref<Jit> make(const Llvm& llvm, bool perf = false);
  LATHE_DECL ~Jit() override;

  /// The jit of a context: made on first use with the LLVM that its options name. L0410 if there is
  /// none.
  static const Jit& of(const Context& context, Location where = Location::here());

  const Llvm& llvm() const { return llvm_; }

  /// Links an object and looks its symbol up. An object that is loaded already is shared; two
  /// different objects under one symbol, an object for another machine, or one that needs unknown
  /// symbols is an InternalError.
  std::shared_ptr<const LoadedKernel> load(const Vec<char>& object,
                                           const std::string& symbol) const;

  /// Gives objects loaded later one more external function. The name must be new.
  void define(const std::string& name, void* address) const;

  /// Kernels that are loaded now.
  int loaded() const;

 private:
  friend class LoadedKernel;
  struct State;
  Jit(const Llvm& llvm, bool perf);

  const Llvm& llvm_;
  const bool perf_;
  State* state_;
};

}  // namespace lathe
