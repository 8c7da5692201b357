// The emitter of one LLVM function from statements and expressions at Stage::machine.
#pragma once

#include <cstdint>
#include <lathe/codegen/common/node_emitter.hpp>
#include <lathe/codegen/llvm/builder.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/function.hpp>
#include <lathe/support/kernel.hpp>
#include <lathe/support/vec.hpp>
#include <string>
#include <utility>

namespace lathe::detail {

/// Where a buffer's elements are.
struct LlvmPlace {
  std::string pointer;
  int scope = 0;             ///< alias scope; 0: none
  int alignment = 0;         ///< bytes that the pointer is a multiple of
  bool is_register = false;  ///< one whole value in the frame, no index
};

/// What the functions of one kernel share.
struct LlvmKernelState {
  LlvmModule& module;
  LlvmKernel& kernel;
  int bodies = 0;                ///< parallel loops outlined so far
  std::int64_t frame_bytes = 0;  ///< of temporaries in stack frames
};

/// A vector index whose lanes are base + lane * stride.
struct LlvmStrided {
  LlvmValue base;             ///< scalar, i64
  std::int64_t stride = 0;    ///< in elements
  std::int64_t multiple = 1;  ///< what base is known to be a multiple of; 0 if it is 0
};

class LlvmEmitter : private NodeEmitter<LlvmEmitter, LlvmValue, LlvmPlace> {
 public:
  LlvmEmitter(LlvmKernelState& state, const std::string& symbol);

  /// The kernel's entry: unpacks the slots, then the body.
  void emit_entry(const Program& program);
  /// The body of a parallel loop over [begin, end) of its iterations.
  struct Capture {
    Vec<std::pair<VarRef, LlvmValue>> values;
    Vec<std::pair<Buffer, LlvmPlace>> buffers;
    LlvmValue min;
    int words = 0;
  };
  void emit_loop_body(const ForNode& loop, const Capture& capture, const LlvmEmitter& outer);

  /// Appends the finished function to the module.
  void finish(std::string_view params);

 private:
  friend class NodeEmitter<LlvmEmitter, LlvmValue, LlvmPlace>;
  using Lanes = Vec<int>;

  // Statements: stmt.ipp, parallel.ipp
  void loop(const ForNode& n);
  void parallel_loop(const ForNode& n);
  void counted(const VarRef& var, const LlvmValue& from, const LlvmValue& end, bool runs,
               const Stmt& body);
  void iterate(const VarRef& var, const LlvmValue& from, const LlvmValue& end, bool runs,
               const Stmt& body);
  LlvmValue opaque(const LlvmValue& v);
  Capture capture(const ForNode& n);
  void store_capture(const Capture& c, const std::string& closure);
  void alloc(const AllocNode& n);
  void with_heap(const Vec<Buffer>& buffers, std::size_t from, FunctionRef<void()> inside);
  void branch(const IfNode& n);
  void let_stmt(const LetStmtNode& n);
  void while_loop(const WhileNode& n);
  void check(const AssertNode& n);
  void evaluate(const EvaluateNode& n);
  void prefetch(const CallNode& n);
  void bind_slots(const Program& program);
  void fail(std::string_view status);
  void fail_unless_zero(const LlvmValue& status);
  std::string fail_label();

  // Memory: address.ipp, load.ipp, store.ipp, atomic.ipp
  LlvmValue index64(const AnyExpr& e);
  LlvmValue widen_index(LlvmValue v);
  std::string address(const LlvmPlace& at, DType element, const LlvmValue& index, bool inbounds);
  LlvmStrided strided(const AnyExpr& e, std::int64_t stride);
  LlvmStrided shifted(LlvmStrided at, std::int64_t elements);
  std::int64_t multiple_of(const AnyExpr& e) const;
  int alignment(const LlvmPlace& at, DType element, std::int64_t multiple) const;
  LlvmValue load(const LoadNode& n);
  LlvmValue load_scalar(const LoadNode& n, const LlvmPlace& at, const LlvmValue& mask);
  LlvmValue load_element(const LlvmPlace& at, DType t, const LlvmStrided& index, LlvmValue mask,
                         bool inbounds = true);
  LlvmValue load_vector(const LlvmPlace& at, DType t, const AnyExpr& index, const LlvmValue& mask);
  LlvmValue load_strided(const LlvmPlace& at, DType t, const LlvmStrided& i, const LlvmValue& mask);
  LlvmValue load_pieces(const LlvmPlace& at, DType t, const RampNode& ramp, std::int64_t stride,
                        const LlvmValue& mask);
  LlvmValue load_dense(const LlvmPlace& at, DType t, const LlvmStrided& index,
                       const LlvmValue& mask);
  LlvmValue load_anywhere(const LlvmPlace& at, DType t, const AnyExpr& index,
                          const LlvmValue& mask);
  LlvmValue load_elements(const LlvmPlace& at, DType t, const LlvmValue& index);
  LlvmValue gather(const LlvmPlace& at, DType t, const LlvmValue& index, const LlvmValue& mask);
  std::string lane_addresses(const LlvmPlace& at, DType t, const LlvmValue& index);
  LlvmValue from_memory(const LlvmValue& stored, DType t);
  LlvmValue to_memory(const LlvmValue& v);
  void store(const StoreNode& n);
  void store_register(const StoreNode& n, const LlvmPlace& at, LlvmValue v, const LlvmValue& mask);
  void store_element(const LlvmPlace& at, const LlvmStrided& index, const LlvmValue& v,
                     const LlvmValue& mask);
  void store_vector(const LlvmPlace& at, const AnyExpr& index, const LlvmValue& v,
                    const LlvmValue& mask, Streaming streaming);
  void store_dense(const LlvmPlace& at, const LlvmStrided& index, const LlvmValue& v,
                   const LlvmValue& mask, Streaming streaming);
  void store_streaming(const LlvmValue& v, const std::string& pointer, int known, bool lines,
                       std::string_view tags);
  void store_pieces(const LlvmValue& v, const std::string& pointer, int piece_bytes, int align,
                    std::string_view hints);
  void scatter(const LlvmPlace& at, const LlvmValue& index, const LlvmValue& v,
               const LlvmValue& mask);
  void store_when(const LlvmValue& mask, const LlvmPlace& at, const LlvmStrided& index,
                  const LlvmValue& v);
  // narrow_masks.ipp
  void define_moves();
  LlvmValue load_narrow(const std::string& pointer, DType stored, const LlvmValue& mask);
  void store_narrow(const std::string& pointer, const LlvmValue& stored, const LlvmValue& mask);
  void store_bytes(const std::string& to, const LlvmValue& bytes, const LlvmValue& mask);
  // tiles.ipp
  void tile_call(std::string_view name, std::string_view params, std::string_view args);
  void store_tile(const StoreNode& n);
  void move_tile(std::string_view name, const Buffer& reg, const Buffer& memory,
                 const AnyExpr& index, int rows);
  void multiply_tiles(const CallNode& n);
  void configure_tiles(const CallNode& n);
  void atomic(const AtomicNode& n);
  void atomic_element(BinaryOp op, const std::string& pointer, const LlvmValue& v, int align);
  void atomic_loop(BinaryOp op, const std::string& pointer, const LlvmValue& v, int align);

  // Expressions: expr.ipp
  LlvmValue kept(LlvmValue v, const AnyExpr&, bool) { return v; }
  LlvmValue constant(const ConstNode& n);
  LlvmValue let(const LetNode& n);
  LlvmValue select(const SelectNode& n);
  LlvmValue select_scalar(const SelectNode& n, const LlvmValue& condition);
  LlvmValue ramp(const RampNode& n);
  LlvmValue broadcast(const BroadcastNode& n);
  LlvmValue shuffle(const ShuffleNode& n);
  LlvmValue merged_bytes(const LlvmValue& a, const LlvmValue& b, const Vec<int>& lanes);
  template <class Emit>
  LlvmValue when(const LlvmValue& condition, const LlvmValue& otherwise, Emit emit);

  // Operators: ops.ipp, avx512_calls.ipp, cast.ipp
  LlvmValue binary(BinaryOp op, DType t, const LlvmValue& a, const LlvmValue& b);
  LlvmValue compare(BinaryOp op, const LlvmValue& a, const LlvmValue& b);
  LlvmValue unary(const UnaryNode& n);
  LlvmValue call(const CallNode& n);
  LlvmValue avx512_call(CallOp op, const Vec<LlvmValue>& args);
  LlvmValue to_nearest(const CallNode& round, DType to);
  LlvmValue dot(const CallNode& n);
  LlvmValue permute(const LlvmValue& v, const LlvmValue& lanes);
  LlvmValue cast(const CastNode& n);

  LlvmKernelState& state_;
  LlvmModule& module_;
  LlvmFunction f_;
  std::string symbol_;
  NodeMap<std::int64_t> multiples_;
  struct FailLevel {
    std::string pointer, label;
    bool used = false;
  };
  Vec<FailLevel> fails_;
  Vec<Buffer> on_heap_;  ///< whose allocation is around what is being emitted
  // The loop of a parallel body. LLVM reduces the strength of addresses over all loops around them;
  // over this one nothing is gained, and a convolution took 127 ms to compile, not 88.
  const VarNode* task_ = nullptr;
  bool streamed_ = false;
  bool uses_tiles_ = false;
};

/// first, first + step, …: count lanes.
Vec<int> llvm_lane_range(int first, int count, int step = 1);
/// <0, step, 2 * step, …>
LlvmValue llvm_iota(DType t, std::int64_t step);
/// "add", "fadd", … for an operator that is one instruction.
std::string_view llvm_arithmetic(BinaryOp op, DType t);

}  // namespace lathe::detail
