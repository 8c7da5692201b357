#pragma once

#include <lathe/codegen/common/captures.hpp>
#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

inline int llvm_words(DType t) { return (memory_type(t).bytes() + 7) / 8; }

LATHE_DECL LlvmEmitter::Capture LlvmEmitter::capture(const ForNode& n) {
  Capture c;
  const LoopCaptures used = captures_of(n);
  for (const auto& b : used.buffers) c.buffers.emplace_back(b, place(b));
  c.words = static_cast<int>(c.buffers.size());
  for (const auto& v : used.vars) {
    c.values.emplace_back(v, variable(*v));
    c.words += llvm_words(v->dtype);
  }
  c.min = index64(n.min);
  if (!c.min.is_const()) ++c.words;
  return c;
}

LATHE_DECL void LlvmEmitter::store_capture(const Capture& c, const std::string& closure) {
  int word = 0;
  auto put = [&](std::string_view type, std::string_view text, int words) {
    LlvmPlace frame{closure, 0, 8, false};
    std::string where = address(frame, kI64, f_.integer(kI64, word), true);
    f_.line("store ", type, " ", text, ", ptr ", where, ", align 8");
    word += words;
  };
  for (const auto& entry : c.buffers) put("ptr", entry.second.pointer, 1);
  for (const auto& entry : c.values) {
    LlvmValue stored = to_memory(entry.second);
    put(llvm_type(stored.dtype), stored.text, llvm_words(stored.dtype));
  }
  if (!c.min.is_const()) put("i64", c.min.text, 1);
}

LATHE_DECL void LlvmEmitter::parallel_loop(const ForNode& n) {
  LlvmValue count = index64(n.extent);
  Capture c = capture(n);
  std::string body = cat(state_.kernel.symbol, ".body", state_.bodies++);
  LlvmEmitter inner(state_, body);
  inner.emit_loop_body(n, c, *this);
  std::string closure = f_.frame(cat("[", c.words ? c.words : 1, " x i64]"), 8);
  store_capture(c, closure);
  const auto* threads = n.attributes.find<MaxThreadsAttr>();
  module_.declare_external("i32", "lathe_parallel_for", "ptr, i64, i64, ptr, ptr");
  LlvmValue status =
      f_.op(kI32, "call i32 @lathe_parallel_for(ptr %rt, i64 ", count.text, ", i64 ",
            format_int(threads ? threads->count : 0), ", ptr @", body, ", ptr ", closure, ")");
  fail_unless_zero(status);
}

LATHE_DECL void LlvmEmitter::emit_loop_body(const ForNode& loop, const Capture& c,
                                            const LlvmEmitter& outer) {
  multiples_ = outer.multiples_;
  int word = 0;
  auto get = [&](DType t, std::string_view type, int words) {
    LlvmPlace frame{"%closure", 0, 8, false};
    std::string where = address(frame, kI64, f_.integer(kI64, word), true);
    word += words;
    return f_.op(t, "load ", type, ", ptr ", where, ", align 8, !invariant.load !0");
  };
  for (const auto& [buffer, at] : c.buffers) {
    LlvmPlace mine = at;
    mine.pointer = get(kI64, "ptr", 1).text;
    places_[buffer.get()] = mine;
  }
  for (const auto& [var, v] : c.values) {
    DType stored = memory_type(v.dtype);
    vars_[var.get()] = from_memory(get(stored, llvm_type(stored), llvm_words(stored)), v.dtype);
  }
  LlvmValue min = c.min.is_const() ? c.min : get(kI64, "i64", 1);
  LlvmValue from{kI64, "%begin"}, end{kI64, "%end"};
  multiples_[loop.var.get()] = 1, task_ = loop.var.get();
  if (min.text != "0") from = f_.binary("add", from, min), end = f_.binary("add", end, min);
  counted(loop.var, from, end, false, loop.body);
  finish("ptr %closure, i64 %begin, i64 %end, ptr %rt");
}

}  // namespace lathe::detail
