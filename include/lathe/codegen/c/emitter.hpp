// The emitter of one C function from statements and expressions at Stage::machine.
#pragma once

#include <lathe/codegen/c/c_source.hpp>
#include <lathe/codegen/common/captures.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

/// What the functions of one kernel share.
struct CKernelState {
  CUnit& unit;
  std::string symbol;
  Vec<std::string> messages{};
  int bodies = 0;                ///< parallel loops outlined so far
  std::int64_t frame_bytes = 0;  ///< of temporaries in stack frames
};

class CEmitter {
 public:
  explicit CEmitter(CKernelState& state) : state_(state), unit_(state.unit) {
    fails_.push_back({"fail", false});
  }
  void emit_entry(const Program& program);

 private:
  /// A C expression: a name, a number, a call, or in parentheses. Lane l of a vector is text[l].
  using Text = std::string;
  /// Where a buffer's elements are: a pointer, or the variable that a register is.
  struct Place {
    Text text;
    bool is_register = false;
  };

  // Text: text.ipp
  template <class... Parts>
  void line(const Parts&... parts) {
    code_.append(static_cast<std::size_t>(2 * depth_), ' ');
    append(code_, parts..., "\n");
  }
  std::string type(DType t);
  std::string unique(std::string_view name);
  Text named(const Text& value, DType t, std::string_view name = "t");
  Text simple(const Text& value, DType t);
  Text lanes(DType t, int count, std::string_view lane);
  void finish(std::string_view head);

  // Expressions: expr.ipp, operators.ipp
  Text value(const AnyExpr& e);
  Text compute(const AnyExpr& e);
  Text let(const LetNode& n);
  Text select(const SelectNode& n);
  Text branches(const Text& condition, const SelectNode& n);
  Text broadcast(const BroadcastNode& n);
  Text ramp(const RampNode& n);
  Text shuffle(const ShuffleNode& n);
  Text splat(const Text& scalar, DType t);
  Text binary(BinaryOp op, DType t, Text a, Text b);
  Text unary(const UnaryNode& n);
  Text cast(const CastNode& n);
  Text call(const CallNode& n);
  Text reinterpret(DType from, DType to, const Text& bits);
  void forget(std::size_t mark);

  // Memory and statements: memory.ipp, stmt.ipp
  const Place& place(const Buffer& buffer) const;
  Text element(const Buffer& b, const AnyExpr& index);
  Text elements(const Buffer& b, const AnyExpr& index);
  Text load(const LoadNode& n);
  void store(const StoreNode& n);
  void atomic(const AtomicNode& n);
  void atomic_element(const AtomicNode& n, const Text& at, const Text& by);
  void stmt(const Stmt& s);
  void body_of(const Stmt& s, std::string_view opening);
  void loop(const ForNode& n);
  void parallel_loop(const ForNode& n);
  void loop_body(const ForNode& n, const std::string& symbol, const LoopCaptures& captures,
                 const CEmitter& outer);
  std::string stored_type(const Buffer& b, bool is_register);
  void alloc(const AllocNode& n);
  void heap_alloc(const AllocNode& n, const std::string& name);
  void check(const AssertNode& n);
  void evaluate(const EvaluateNode& n);
  Text failing(std::string_view status);

  CKernelState& state_;
  CUnit& unit_;
  std::string code_;
  int depth_ = 1, names_ = 0;
  NodeMap<Text> vars_;
  NodeMap<Place> places_;
  NodeMap<Text> memo_;  ///< of shared nodes, within one statement and what dominates the place
  Vec<AnyExpr> order_;
  struct FailLevel {
    std::string label;
    bool used = false;
  };
  Vec<FailLevel> fails_;
};

/// Lanes of the C type: GCC has vectors of powers of two only. What is in the lanes past the last
/// is never stored.
int c_lanes(DType t);
/// Of an element in memory, and of a scalar.
std::string_view c_memory_type(DType t);
std::string_view c_scalar_type(DType t);

}  // namespace lathe::detail
