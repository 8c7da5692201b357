// One run of the evaluator: the values of variables and the memory of buffers.
#pragma once

#include <lathe/eval/tree.hpp>
#include <lathe/support/call_report.hpp>

namespace lathe::detail {

/// Memory of the context, given back with the frame.
class EvalBlock {
 public:
  EvalBlock() = default;
  EvalBlock(EvalBlock&& other) noexcept
      : context_(std::exchange(other.context_, nullptr)),
        start_(other.start_),
        bytes_(other.bytes_) {}
  ~EvalBlock() {
    if (context_) context_->deallocate(start_);
  }
  /// At least so many bytes, or null where there are none left.
  char* reserve(const Context& context, std::int64_t bytes);

 private:
  const Context* context_ = nullptr;
  char* start_ = nullptr;
  std::int64_t bytes_ = -1;
};

struct EvalMemory {
  char* base = nullptr;
  Vec<std::int64_t> shape, strides;
  int rank = 0;
  std::int64_t low = 0, count = 0;  ///< offsets of elements are in [low, low + count)
  int element_bytes = 1;            ///< of all lanes
  bool too_large = false;           ///< no 64 bits hold the number of elements
  EvalBlock owned;
  std::vector<bool> stored;  ///< by offset - low; empty: not tracked
};

/// How far a run has come: 0, or the status that a kernel would return.
using EvalStatus = std::int32_t;

class EvalFrame {
 public:
  EvalFrame(const EvalTree& tree, const std::uint64_t* slots, CallReport& call, Location where);

  Scalar& var(int slot) { return vars_[static_cast<std::size_t>(slot)]; }
  EvalStatus run(const EvalStmt& s);
  /// The element that a load or store names in one lane.
  Scalar load(const EvalExpr& e, int lane);

 private:
  EvalStatus run_loop(const EvalStmt& s);
  EvalStatus run_block(const EvalStmt& s);
  EvalStatus run_alloc(const EvalStmt& s);
  EvalStatus run_check(const EvalStmt& s);
  void run_store(const EvalStmt& s);
  void run_let(const EvalStmt& s);

  std::int64_t offset(int buffer, const Vec<const EvalExpr*>& indices, int lane);
  char* address(int buffer, std::int64_t offset, int lane);
  void store(const EvalStmt& s, std::int64_t offset, int lane, Scalar value);
  void lay_out(int buffer);
  [[noreturn]] void fail(int buffer, const Vec<const EvalExpr*>& indices, int lane,
                         const char* what);
  [[noreturn]] void fail_outside(int buffer, const Vec<const EvalExpr*>& indices, int lane);
  std::string list_indices(const Vec<const EvalExpr*>& indices, int lane);
  std::string list_shape(int buffer) const;

  const EvalTree& tree_;
  CallReport& call_;
  const Context& context_;
  Location where_;
  Vec<Scalar> vars_;
  Vec<EvalMemory> memory_;
};

}  // namespace lathe::detail
