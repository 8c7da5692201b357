#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/codegen/llvm/emitter.hpp>

namespace lathe::detail {

// Whether a mask of these lanes may be made in a general register. LLVM 17 to 19 can loop for ever
// over two such masks under "or": one rule of the DAG combiner moves the "or" before the bitcasts,
// another behind them (llvm-project issue 123333).
inline bool llvm_word_masks(const LlvmModule& module, int lanes) {
  const bool loops = module.major >= 17 && module.major <= 19;
  return !loops && module.target.has("avx512f") && lanes >= 8 && lanes <= 32 &&
         (lanes & (lanes - 1)) == 0;
}

// Lanes 0 to count - 1 of a mask, where count may be any i64.
LATHE_DECL LlvmValue LlvmEmitter::first_lanes(const LlvmValue& count, int lanes) {
  LlvmValue least = f_.intrinsic("smax", {count, f_.integer(kI64, 0)});
  LlvmValue n = f_.intrinsic("umin", {least, f_.integer(kI64, lanes)});
  DType mask = kBool.with_lanes(lanes);
  if (llvm_word_masks(module_, lanes)) {
    // A mask register is an integer: all ones, shifted out and turned around.
    LlvmValue above = f_.binary("shl", f_.integer(kI64, -1), n);
    LlvmValue below = f_.binary("xor", above, f_.integer(kI64, -1));
    std::string bits = cat("i", lanes);
    LlvmValue word = f_.op(kI64, "trunc i64 ", below.text, " to ", bits);
    return f_.op(mask, "bitcast ", bits, " ", word.text, " to ", llvm_type(mask));
  }
  // AVX-512 compares bytes into a mask register; before it a mask is as wide as what it masks.
  const bool bytes = module_.target.has("avx512bw") && lanes <= 64;
  LlvmValue wide = f_.splat(f_.convert("trunc", n, bytes ? kI8 : kI32), lanes);
  return f_.compare("icmp slt", llvm_iota(wide.dtype, 1), wide);
}

LATHE_DECL Facts LlvmEmitter::note_let(const VarRef& var, const AnyExpr& value) {
  Facts around = facts_;
  if (value.dtype() == kI64) Simplifier(around).note_let(var, value, facts_);
  return around;
}

// A comparison of two indices that step evenly from lane to lane: the lanes where it holds are the
// first or the last ones, and a scalar says how many. Empty if the operands are anything else, or
// may wrap from one lane to the next.
LATHE_DECL LlvmValue LlvmEmitter::lane_mask(const BinaryNode& n) {
  bool order = n.op >= BinaryOp::lt && n.op <= BinaryOp::ge, less = n.op <= BinaryOp::le;
  std::int64_t left = 0, right = 0;
  DType t = n.a.dtype();
  if (!order || t.lanes == 1 || t.scalar() != kI64) return {};
  if (!llvm_lane_stride(n.a, left) || !llvm_lane_stride(n.b, right)) return {};
  // As a < b (or a <= b): a - b in lane l is d + step * l.
  const AnyExpr &a = less ? n.a : n.b, &b = less ? n.b : n.a;
  Simplifier engine(facts_);
  if (!engine.safe(n.a) || !engine.safe(n.b)) return {};
  std::int64_t step = less ? left - right : right - left;
  if (step < -1 || step > 1) return {};
  bool equal = n.op == BinaryOp::le || n.op == BinaryOp::ge;
  LlvmValue x = lane_base(a), y = lane_base(b);
  if (step == 0) return f_.splat(f_.compare(equal ? "icmp sle" : "icmp slt", x, y), t.lanes);
  LlvmValue one = f_.integer(kI64, 1);
  if (step == 1) {
    LlvmValue count = f_.intrinsic("ssub.sat", {y, x});
    return first_lanes(equal ? f_.intrinsic("sadd.sat", {count, one}) : count, t.lanes);
  }
  LlvmValue skip = f_.intrinsic("ssub.sat", {x, y});
  if (!equal) skip = f_.intrinsic("sadd.sat", {skip, one});
  LlvmValue before = first_lanes(skip, t.lanes);
  return f_.binary("xor", before, f_.integer(before.dtype, 1));
}

}  // namespace lathe::detail
