// A summary of what occurs in a statement, kept with it: who looks for one block, loop or buffer
// passes over the statements that do not hold it.
#pragma once

#include <atomic>
#include <cstdint>
#include <lathe/support/ref.hpp>
#include <string>

namespace lathe {
namespace detail {

/// Sets of names as bits of their hashes: a bit that is missing says that the name does not occur.
struct Contents {
  std::uint64_t blocks = 0;   ///< by name
  std::uint64_t loops = 0;    ///< by variable
  std::uint64_t buffers = 0;  ///< by name: loads, stores, allocs and declared regions
  std::uint32_t block_count = 0;
  bool allocs = false;    ///< some buffer is allocated
  bool inits = false;     ///< some block sets an identity first
  bool promises = false;  ///< some loop is not serial
  bool axes = false;      ///< some loop is bound
  bool marks = false;     ///< some loop carries an attribute

  static std::uint64_t bit(const std::string& name);
  static std::uint64_t bit(const void* node);
  void add(const Contents& other);
};

/// The contents of one node. Nodes do not change once they are shared, copies may: a copy starts
/// anew. Threads that come at once find the same.
class ContentsMemo {
 public:
  ContentsMemo() = default;
  ContentsMemo(const ContentsMemo&) noexcept {}
  ContentsMemo& operator=(const ContentsMemo&) = delete;

  bool is_set() const { return flags_.load(std::memory_order_acquire) != 0; }
  void set(const Contents& contents) const;
  /// Of one that is set.
  Contents get() const;
  std::uint64_t blocks() const { return blocks_.load(std::memory_order_relaxed); }
  std::uint64_t loops() const { return loops_.load(std::memory_order_relaxed); }
  std::uint64_t buffers() const { return buffers_.load(std::memory_order_relaxed); }

 private:
  mutable std::atomic<std::uint64_t> blocks_{0}, loops_{0}, buffers_{0};
  mutable std::atomic<std::uint32_t> block_count_{0};
  mutable std::atomic<std::uint32_t> flags_{0};  ///< written last
};

/// What one analysis found of a node, kept with it as long as it lives.
class AnalysisMemo {
 public:
  AnalysisMemo() = default;
  AnalysisMemo(const AnalysisMemo&) noexcept {}
  AnalysisMemo& operator=(const AnalysisMemo&) = delete;
  ~AnalysisMemo() {
    if (const RefCounted* found = get()) found->release();
  }

  /// Null: not known yet.
  const RefCounted* get() const { return found_.load(std::memory_order_acquire); }
  /// Of threads that come at once the first one's is kept; gives that.
  const RefCounted* set(const RefCounted* found) const {
    const RefCounted* before = nullptr;
    found->retain();
    if (found_.compare_exchange_strong(before, found, std::memory_order_acq_rel)) return found;
    found->release();
    return before;
  }

 private:
  mutable std::atomic<const RefCounted*> found_{nullptr};
};

}  // namespace detail
}  // namespace lathe
