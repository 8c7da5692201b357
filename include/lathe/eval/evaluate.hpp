// The evaluator: an interpreter for every stage that follows the semantics of ir/expr.hpp and
// ir/stmt.hpp exactly.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/context.hpp>

namespace lathe {

struct EvaluatorOptions {
  /// Report elements that are read before anything was stored in them. Outputs count as never
  /// stored to at the start.
  bool find_uninitialized = false;
};

/// A program made ready to be interpreted; immutable, cheap to copy, usable by many threads at
/// once. Loops run one after the other, on the calling thread. It is the reference that machine
/// code is compared with. L0409: an access outside of a buffer, names the buffer and the indices
/// (InternalError where a pass has made the indices: at a later stage than blocks) · L0407: an
/// assertion that fails.
class Evaluator {
 public:
  Evaluator() = default;
  explicit Evaluator(const Program& program, EvaluatorOptions options = {});

  /// Slots as slot_layout(program) says: what machine code is called with.
  void run(const std::uint64_t* slots, const Context& context = Context::default_context(),
           Location where = Location::here()) const;
  const Program& program() const { return program_; }

 private:
  Program program_;
  Ref<RefCounted> tree_;  ///< a detail::EvalTree
};

}  // namespace lathe
