// The emitter of one C function from statements and expressions at Stage::machine.
#pragma once

#include <bit>
#include <lathe/codegen/c/c_source.hpp>
#include <lathe/codegen/common/captures.hpp>
#include <lathe/codegen/common/node_emitter.hpp>

namespace lathe::detail {

/// Of an element in memory, and of a scalar.
std::string_view c_memory_type(DType t);
std::string_view c_scalar_type(DType t);
/// GCC has vectors of powers of two only. What is in the lanes past the last is never stored.
inline int c_lanes(DType t) { return static_cast<int>(std::bit_ceil(unsigned{t.lanes})); }

/// What the functions of one kernel share.
struct CKernelState {
  CUnit& unit;
  std::string symbol;
  Vec<std::string> messages{};
  int bodies = 0;                ///< parallel loops outlined so far
  std::int64_t frame_bytes = 0;  ///< of temporaries in stack frames
};

/// A C expression: a name, a number, a call, or in parentheses. Lane l of a vector is text[l].
using CText = std::string;
/// A pointer to a buffer's elements, or the variable that a register is.
struct CPlace {
  CText text;
  bool is_register = false;
};

class CEmitter : private NodeEmitter<CEmitter, CText, CPlace> {
 public:
  explicit CEmitter(CKernelState& state) : state_(state), unit_(state.unit) {}
  void emit_entry(const Program& program);

 private:
  friend class NodeEmitter<CEmitter, CText, CPlace>;

  // Text: unit.ipp
  template <class... Parts>
  void line(const Parts&... parts) {
    code_.append(static_cast<std::size_t>(2 * depth_), ' ');
    append(code_, parts..., "\n");
  }
  std::string type(DType t);
  std::string stored_type(DType t, bool is_register) {
    return is_register ? type(t) : std::string(c_memory_type(t));
  }
  std::string unique(std::string_view name);
  CText named(const CText& value, DType t, std::string_view name = "t");
  CText simple(const CText& value, DType t);
  CText lanes(DType t, int count, std::string_view lane);
  void finish(std::string_view head);

  // Expressions: expr.ipp
  CText kept(const CText& text, const AnyExpr& e, bool shared);
  CText constant(const ConstNode& n) const;
  CText let(const LetNode& n);
  CText select(const SelectNode& n);
  CText branches(const CText& condition, const SelectNode& n);
  CText broadcast(const BroadcastNode& n);
  CText ramp(const RampNode& n);
  CText shuffle(const ShuffleNode& n);
  CText binary(BinaryOp op, DType t, CText a, CText b);
  CText unary(const UnaryNode& n);
  CText cast(const CastNode& n);
  CText call(const CallNode& n);
  CText reinterpret(DType from, DType to, const CText& bits);

  // Memory and statements: stmt.ipp
  CText element(const Buffer& b, const AnyExpr& index, int lanes);
  CText load(const LoadNode& n);
  void store(const StoreNode& n);
  void atomic(const AtomicNode& n);
  void atomic_element(const AtomicNode& n, const CText& at, const CText& by);
  void body_of(const Stmt& s, std::string_view opening);
  void let_stmt(const LetStmtNode& n);
  void branch(const IfNode& n);
  void while_loop(const WhileNode& n);
  void loop(const ForNode& n);
  void parallel_loop(const ForNode& n);
  void loop_body(const ForNode& n, const std::string& symbol, const LoopCaptures& captures,
                 const CEmitter& outer);
  void alloc(const AllocNode& n);
  void check(const AssertNode& n);
  void evaluate(const EvaluateNode& n);
  CText failing(std::string_view status);

  CKernelState& state_;
  CUnit& unit_;
  std::string code_;
  int depth_ = 1, names_ = 0;
  struct FailLevel {
    std::string label;
    bool used = false;
  };
  Vec<FailLevel> fails_{{"fail"}};
};

}  // namespace lathe::detail
