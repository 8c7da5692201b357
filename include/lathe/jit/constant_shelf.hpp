// What schedules compute of constants alone, kept for the kernels of a context that need the same.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/jit/kernel_code.hpp>
#include <lathe/support/context.hpp>
#include <lathe/support/function.hpp>
#include <lathe/support/vec.hpp>
#include <memory>
#include <mutex>

namespace lathe {

/// Which results: those of an equal program, by equal code, on equal elements.
struct ResultKey {
  Program program;
  Vec<ContentHash> inputs;
  Target target;
  CodeKind kind;
};

namespace detail {

/// Results that kernels share: a block of the context's memory for each output.
struct SharedResults {
  explicit SharedResults(ResultKey its_key) : key(std::move(its_key)) {}
  ResultKey key;
  int holders = 0;  ///< under the shelf's mutex
  std::mutex making;
  bool made = false;  ///< under `making`
  Vec<void*> blocks;
};

/// All results of a context. Kernels keep it alive, and may end after the context, which takes the
/// memory with it.
struct ResultList {
  explicit ResultList(const Context& its_context) : context(&its_context) {}
  std::shared_ptr<SharedResults> find(const ResultKey& key) const;
  void release_blocks(SharedResults& results) const;

  std::mutex mutex;
  const Context* context;  ///< null: it has ended
  Vec<std::shared_ptr<SharedResults>> all;
};

}  // namespace detail

/// A kernel's hold on results; the last one gives their memory back.
class HeldResults : public RefCounted {
 public:
  explicit HeldResults(std::shared_ptr<detail::ResultList> list) : list_(std::move(list)) {}
  ~HeldResults() override;
  /// Of an output of the program, in their order.
  const void* block(std::size_t output) const { return results_->blocks[output]; }

 private:
  friend class ConstantShelf;
  std::shared_ptr<detail::ResultList> list_;
  std::shared_ptr<detail::SharedResults> results_;
};

/// Thread-safe.
class ConstantShelf : public RefCounted {
 public:
  explicit ConstantShelf(const Context& context);
  ~ConstantShelf() override;
  static ConstantShelf& of(const Context& context);

  /// Results of that key: those of another kernel, or `make(blocks)` fills memory for them, while
  /// others who need the same wait. What it throws comes out, and the next to ask tries again.
  /// L0406 no memory
  Ref<HeldResults> get(ResultKey key, FunctionRef<void(void* const* blocks)> make, Location where);
  /// How many there are.
  std::size_t size() const;

 private:
  void fill(detail::SharedResults& results, FunctionRef<void(void* const* blocks)> make,
            Location where);

  std::shared_ptr<detail::ResultList> list_;
};

}  // namespace lathe
