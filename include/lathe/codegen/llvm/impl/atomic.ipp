#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/ir/machine_form.hpp>

namespace lathe::detail {

// The atomicrmw that does an operator, or nothing.
inline std::string_view llvm_atomic_op(BinaryOp op, DType t) {
  bool f = t.is_float();
  switch (op) {
    case BinaryOp::add:
      return f ? (t.bits >= 32 ? "fadd" : "") : "add";
    case BinaryOp::sub:
      return f ? (t.bits >= 32 ? "fsub" : "") : "sub";
    case BinaryOp::min:
      return f ? "" : t.is_signed() ? "min" : "umin";
    case BinaryOp::max:
      return f ? "" : t.is_signed() ? "max" : "umax";
    case BinaryOp::bit_and:
      return "and";
    case BinaryOp::bit_or:
      return "or";
    case BinaryOp::bit_xor:
      return "xor";
    default:
      return "";
  }
}

LATHE_DECL void LlvmEmitter::atomic(const AtomicNode& n) {
  const LlvmPlace& at = place(n.buffer);
  LlvmValue v = value(n.value);
  int align = n.buffer->dtype.element_bytes();
  LlvmValue index = n.indices.empty() ? f_.integer(kI64, 0) : index64(n.indices[0]);
  int lanes = index.dtype.lanes;
  for (int l = 0; l < lanes; ++l) {
    std::string pointer = address(at, v.dtype, f_.extract(index, l), true);
    atomic_element(n.op, pointer, f_.extract(v, v.dtype.lanes == 1 ? 0 : l), align);
  }
}

LATHE_DECL void LlvmEmitter::atomic_element(BinaryOp op, const std::string& pointer,
                                            const LlvmValue& v, int align) {
  std::string_view name = v.dtype.is_bool() ? "" : llvm_atomic_op(op, v.dtype);
  if (name.empty()) return atomic_loop(op, pointer, v, align);
  f_.op(v.dtype, "atomicrmw ", name, " ptr ", pointer, ", ", llvm_type(v.dtype), " ", v.text,
        " monotonic, align ", format_int(align));
}

// Computes with the value read and tries again if another thread was faster.
LATHE_DECL void LlvmEmitter::atomic_loop(BinaryOp op, const std::string& pointer,
                                         const LlvmValue& v, int align) {
  DType bits{TypeCode::uint, static_cast<std::uint8_t>(v.dtype.element_bytes() * 8), 1, false};
  std::string type = llvm_type(bits), retry = f_.block("retry"), done = f_.block("done");
  LlvmValue first = f_.op(bits, "load ", type, ", ptr ", pointer, ", align ", format_int(align));
  std::string from = f_.current();
  f_.start(retry);
  std::string again = f_.fresh("%t");
  LlvmValue seen = f_.op(bits, "phi ", type, " [ ", first.text, ", %", from, " ], [ ", again, ", %",
                         retry, " ]");
  LlvmValue old = v.dtype.is_bool()  ? f_.compare("icmp ne", seen, llvm_zero(bits))
                  : v.dtype.is_int() ? LlvmValue{v.dtype, seen.text}
                                     : f_.convert("bitcast", seen, v.dtype);
  const VarRef before = make_var("old", v.dtype), by = make_var("value", v.dtype);
  vars_[before.get()] = old, vars_[by.get()] = v;
  const std::size_t before_update = mark();
  LlvmValue next = value(machine_binary(op, before, by));
  forget(before_update);
  LlvmValue stored = v.dtype.is_float() ? f_.convert("bitcast", next, bits) : to_memory(next);
  LlvmValue pair = f_.op(bits, "cmpxchg ptr ", pointer, ", ", type, " ", seen.text, ", ", type, " ",
                         stored.text, " monotonic monotonic, align ", format_int(align));
  f_.line(again, " = extractvalue { ", type, ", i1 } ", pair.text, ", 0");
  LlvmValue ok = f_.op(kBool, "extractvalue { ", type, ", i1 } ", pair.text, ", 1");
  f_.branch(ok, done, retry);
  f_.start(done);
}

}  // namespace lathe::detail
