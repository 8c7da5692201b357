// The machine code that a context has made already.
#pragma once

#include <lathe/jit/kernel_code.hpp>
#include <lathe/jit/recipe_cache.hpp>
#include <lathe/support/vec.hpp>
#include <mutex>

namespace lathe {

/// Code by program, target, kind and LLVM, shared by equal kernels; keeps the latest `kKept`
/// alive.
class CodeCache : public RefCounted {
 public:
  static constexpr std::size_t kKept = 256;

  static CodeCache& of(const Context& context);
  /// The code of an equal program, or none.
  Ref<KernelCode> find(std::uint64_t hash, const Program& scheduled, const Target& target,
                       CodeKind kind, int llvm_major);
  /// Adds code, unless another thread was first: then that one.
  Ref<KernelCode> add(std::uint64_t hash, Ref<KernelCode> code);
  std::size_t size() const;
  /// Forgets recipes, too.
  void clear();
  /// By what programs were before they were scheduled: to be asked first.
  RecipeCache& recipes() { return recipes_; }

 private:
  struct Entry {
    std::uint64_t hash;
    Ref<KernelCode> code;
  };
  mutable std::mutex mutex_;
  Vec<Entry> entries_;  ///< oldest use first
  RecipeCache recipes_;
};

}  // namespace lathe
