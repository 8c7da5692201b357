// What jit has found out about programs that nobody scheduled, for the next who ask for them.
#pragma once

#include <lathe/jit/jit.hpp>
#include <lathe/jit/kernel_code.hpp>
#include <lathe/jit/kernel_constants.hpp>
#include <lathe/jit/open_code.hpp>
#include <lathe/jit/source.hpp>
#include <lathe/support/vec.hpp>
#include <mutex>
#include <optional>

namespace lathe {

class Llvm;

/// A program, and all else that decides what becomes of it.
struct RecipeKey {
  Program program;
  Target target;
  CodeKind kind;
  Strides strides = Strides::late;
  bool require_compiled = false;  ///< of code that first calls make
  const Llvm* llvm = nullptr;

  std::uint64_t hash() const;
  /// Names count: what runs once, and messages, have those of the program. The elements of
  /// constants don't.
  bool operator==(const RecipeKey& other) const;
};

/// From which a kernel is put together without planning or lowering, whatever elements its
/// constants have: it holds none.
struct KernelRecipe : RefCounted {
  explicit KernelRecipe(RecipeKey its_key) : key(std::move(its_key)) {}
  RecipeKey key;
  Ref<KernelCode> code;
  Program described;   ///< what OpenCode is made of, if calls choose strides
  Ref<OpenCode> open;  ///< compiled ahead (Strides::both): serves any kernel
  Vec<OnceRun> once;
  Vec<int> unread;  ///< parameters of the program: constants that kernels forget

  /// The program, if it may be planned by itself for other views than the code is for.
  Program unplanned() const;
};

/// What jit was given, which stays alive and so keeps its identity, and what it found out.
struct KnownCall : RefCounted {
  OutputList outputs;
  Program program;
  Vec<ProgramParam> params;
  std::optional<Target> target;
  CodeKind kind;
  Strides strides = Strides::late;
  bool require_compiled = false;
  UnreadInputs unread_inputs = UnreadInputs::refuse;
  const Llvm* llvm = nullptr;
  detail::BoundProgram bound;
  Ref<Binding> binding;
  Ref<KernelRecipe> recipe;

  KnownCall(const Source& source, const Vec<ProgramParam>& its_params, const Llvm& its_llvm);
  bool is_of(const Source& source, const Vec<ProgramParam>& params, const Llvm& llvm) const;
};

/// The latest of either sort. Thread-safe.
class RecipeCache {
 public:
  static constexpr std::size_t kPrograms = 256;
  /// Fewer: they keep what they were given, which whoever builds programs anew never gives again.
  static constexpr std::size_t kCalls = 32;

  /// Of an equal program, or none.
  Ref<KernelRecipe> find(std::uint64_t hash, const RecipeKey& key);
  void add(std::uint64_t hash, Ref<KernelRecipe> recipe);
  /// Of the same tensors, or the same program, or none.
  Ref<KnownCall> find(const Source& source, const Vec<ProgramParam>& params, const Llvm& llvm);
  /// Not for a program that owns constants: their elements would stay in memory.
  void add(const Source& source, Ref<KnownCall> call);

  /// How many programs are known, and how many calls.
  std::size_t programs() const;
  std::size_t calls() const;
  void clear();

 private:
  struct Entry {
    std::uint64_t hash = 0, used = 0;
    Ref<RefCounted> node;
  };
  /// One after the other in memory: most hashes that a look-up compares are of other entries.
  using Entries = Vec<Entry>;
  template <class T, class Fits>
  Ref<T> find_in(Entries& entries, std::uint64_t hash, Fits fits);
  template <class T, class Fits>
  void add_to(Entries& entries, std::size_t most, std::uint64_t hash, Ref<T> node, Fits fits);

  mutable std::mutex mutex_;
  std::uint64_t clock_ = 0;
  Entries programs_, calls_;
};

}  // namespace lathe
