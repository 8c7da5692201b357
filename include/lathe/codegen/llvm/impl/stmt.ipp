#pragma once

#include <lathe/codegen/common/frame.hpp>
#include <lathe/codegen/llvm/early_allocs.hpp>
#include <lathe/codegen/llvm/emitter.hpp>

namespace lathe::detail {

LATHE_DECL void LlvmEmitter::let_stmt(const LetStmtNode& n) {
  LlvmValue v = value(n.value);
  LlvmValue outer = std::exchange(vars_[n.var.get()], std::move(v));
  multiples_[n.var.get()] = multiple_of(n.value);
  stmt(n.body);
  vars_[n.var.get()] = std::move(outer);
}

LATHE_DECL void LlvmEmitter::loop(const ForNode& n) {
  if (n.loop_kind == ForKind::parallel) return parallel_loop(n);
  invariant(n.loop_kind == ForKind::serial, "codegen: a vectorized or unrolled loop is left");
  const std::int64_t* extent = as_const_int(n.extent);
  if (extent && *extent <= 0) return;
  LlvmValue min = value(n.min);
  if (extent && *extent == 1) {
    vars_[n.var.get()] = min;
    multiples_[n.var.get()] = multiple_of(n.min);
    return stmt(n.body);
  }
  LlvmValue count = value(n.extent);
  multiples_[n.var.get()] = 1;
  if (min.text == "0") return counted(n.var, min, count, extent, n.body);
  if (extent) return counted(n.var, min, f_.binary("add", min, count), true, n.body);
  // min + extent may wrap when the extent is negative: the extent itself decides.
  std::string run = f_.block("loop"), done = f_.block("done");
  f_.branch(f_.compare("icmp sgt", count, llvm_zero(count.dtype)), run, done);
  f_.start(run);
  counted(n.var, min, f_.binary("add", min, count), true, n.body);
  f_.start(done);
}

// for (var = from; var < end; ++var), tested at the end; `runs` if it is known to run at all.
LATHE_DECL void LlvmEmitter::counted(const VarRef& var, const LlvmValue& from, const LlvmValue& end,
                                     bool runs, const Stmt& body) {
  Vec<Buffer> early = early_allocs(var, body, state_.frame_bytes);
  early.erase_if([&](const Buffer& b) { return contains(on_heap_, b); });
  if (early.empty()) return iterate(var, from, end, runs, body);
  const std::string enter = f_.block("enter"), done = f_.block("done");
  f_.branch(f_.compare("icmp slt", from, end), enter, done);
  f_.start(enter);
  with_heap(early, 0, [&] { iterate(var, from, end, true, body); });
  f_.jump(done);
  f_.start(done);
}

LATHE_DECL void LlvmEmitter::iterate(const VarRef& var, const LlvmValue& from, const LlvmValue& end,
                                     bool runs, const Stmt& body) {
  std::string head = f_.block("loop"), done = f_.block("done"), before = f_.current();
  if (runs)
    f_.jump(head);
  else
    f_.branch(f_.compare("icmp slt", from, end), head, done);
  f_.start(head);
  std::string type = llvm_type(from.dtype), next = f_.fresh("%t");
  std::string latch = f_.block("next");
  const LlvmValue at = f_.op(from.dtype, "phi ", type, " [ ", from.text, ", %", before, " ], [ ",
                             next, ", %", latch, " ]");
  vars_[var.get()] = var.get() == task_ ? opaque(at) : at;
  stmt(body);
  f_.start(latch);
  f_.line(next, " = add nsw ", type, " ", at.text, ", 1");
  LlvmValue more = f_.compare("icmp slt", {from.dtype, next}, end);
  f_.branch(more, head, done, cat(", !llvm.loop !", module_.loop_metadata()));
  f_.start(done);
}

// A value of which LLVM knows nothing, but that it is made of the other alone: what does not depend
// on it leaves the loop.
LATHE_DECL LlvmValue LlvmEmitter::opaque(const LlvmValue& v) {
  const std::string type = llvm_type(v.dtype);
  const char* constraint = v.dtype.is_vector() ? "=v,0" : "=r,0";
  return f_.op(v.dtype, "call ", type, " asm \"\", \"", constraint, "\"(", type, " ", v.text,
               ") nounwind willreturn memory(none)");
}

LATHE_DECL void LlvmEmitter::branch(const IfNode& n) {
  LlvmValue condition = value(n.condition);
  std::string then = f_.block("then"), done = f_.block("done");
  std::string other = n.else_body ? f_.block("else") : done;
  f_.branch(condition, then, other);
  f_.start(then);
  stmt(n.then_body);
  if (n.else_body) {
    if (!f_.ended()) f_.jump(done);
    f_.start(other);
    stmt(n.else_body);
  }
  f_.start(done);
}

LATHE_DECL void LlvmEmitter::while_loop(const WhileNode& n) {
  std::string head = f_.block("while"), body = f_.block("body"), done = f_.block("done");
  f_.start(head);
  forget(0);
  f_.branch(value(n.condition), body, done);
  f_.start(body);
  stmt(n.body);
  f_.jump(head);
  f_.start(done);
}

LATHE_DECL void LlvmEmitter::check(const AssertNode& n) {
  int status = 16 + static_cast<int>(state_.kernel.messages.size());
  state_.kernel.messages.push_back(n.message);
  std::string bad = f_.block("assert"), good = f_.block("holds");
  f_.branch(value(n.condition), good, bad);
  f_.start(bad);
  if (!n.values.empty()) {
    module_.declare_external("void", "lathe_report", "ptr, i64, i64");
    auto report = [&](std::size_t k, const std::string& value) {
      f_.line("call void @lathe_report(ptr %rt, i64 ", format_int(static_cast<std::int64_t>(k)),
              ", i64 ", value, ")");
    };
    report(0, format_int(status));
    for (std::size_t k = 0; k < n.values.size(); ++k) report(k + 1, index64(n.values[k]).text);
  }
  fail(format_int(status));
  f_.start(good);
}

LATHE_DECL void LlvmEmitter::evaluate(const EvaluateNode& n) {
  const auto* call = n.call.as<CallNode>();
  if (call && call->op == CallOp::prefetch) return prefetch(*call);
  if (call && call->op == CallOp::tile_configure) return configure_tiles(*call);
  value(n.call);
}

// With the tags of a load: sums in memory would not stay in registers beside a call that may read
// them.
LATHE_DECL void LlvmEmitter::prefetch(const CallNode& n) {
  const auto* from = n.args[0].as<LoadNode>();
  const std::int64_t* locality = as_const_int(n.args[1]);
  invariant(from && locality, "codegen: prefetch wants a load and a constant");
  const LlvmPlace& at = place(from->buffer);
  if (at.is_register) return;
  LlvmValue index = from->indices.empty() ? f_.integer(kI64, 0) : index64(from->indices[0]);
  module_.declare("void", "llvm.prefetch.p0", "ptr, i32, i32, i32");
  std::int64_t level = *locality < 0 ? 0 : *locality > 3 ? 3 : *locality;
  f_.line("call void @llvm.prefetch.p0(ptr ", address(at, from->dtype, f_.extract(index, 0), false),
          ", i32 0, i32 ", format_int(level), ", i32 1)", module_.alias_tags(at.scope));
}

LATHE_DECL void LlvmEmitter::alloc(const AllocNode& n) {
  const BufferNode& b = *n.buffer;
  LlvmPlace at;
  if (b.tile >= 0 || contains(on_heap_, n.buffer)) return stmt(n.body);
  if (b.rank() == 0) {
    at.is_register = true;
    at.alignment = b.dtype.bytes() >= 64 ? 64 : b.dtype.element_bytes();
    std::string type = llvm_type(b.dtype);
    at.pointer = f_.frame(type, at.alignment);
    // Lanes that a mask leaves out are read with the others; a defined value keeps branches on them
    // defined.
    f_.line("store ", type, " ", llvm_zero(b.dtype).text, ", ptr ", at.pointer, ", align ",
            format_int(at.alignment));
    places_[&b] = at;
    return stmt(n.body);
  }
  at.alignment = b.alignment > 64 ? b.alignment : 64;
  const std::int64_t bytes = frame_bytes(b, state_.frame_bytes);
  if (bytes < 0) return with_heap(Vec<Buffer>{n.buffer}, 0, [&] { stmt(n.body); });
  state_.frame_bytes += bytes;
  at.pointer =
      f_.frame(cat("[", *as_const_int(b.shape[0]), " x ", llvm_type(memory_type(b.dtype)), "]"),
               at.alignment);
  at.scope = module_.alias_scope(b.name);
  places_[&b] = at;
  stmt(n.body);
}

// Those from number `from` on, each around the ones behind it.
LATHE_DECL void LlvmEmitter::with_heap(const Vec<Buffer>& buffers, std::size_t from,
                                       FunctionRef<void()> inside) {
  if (from == buffers.size()) return inside();
  const BufferNode& b = *buffers[from];
  LlvmPlace at;
  at.alignment = b.alignment > 64 ? b.alignment : 64;
  module_.declare_external("ptr", "lathe_alloc", "ptr, i64, i64");
  module_.declare_external("void", "lathe_free", "ptr, ptr");
  LlvmValue bytes = index64(b.shape[0]);
  if (b.dtype.bytes() != 1) bytes = f_.binary("mul", bytes, f_.integer(kI64, b.dtype.bytes()));
  at.pointer = f_.op(kI64, "call ptr @lathe_alloc(ptr %rt, i64 ", bytes.text, ", i64 ",
                     format_int(at.alignment), ")")
                   .text;
  std::string good = f_.block("holds"), bad = f_.block("memory");
  LlvmValue none = f_.op(kBool, "icmp eq ptr ", at.pointer, ", null");
  f_.branch(none, bad, good);
  f_.start(bad);
  fail("1");
  f_.start(good);
  at.scope = module_.alias_scope(b.name);
  places_[&b] = at;
  fails_.push_back({at.pointer, f_.block("fail"), false});
  on_heap_.push_back(buffers[from]);
  with_heap(buffers, from + 1, inside);
  on_heap_.pop_back();
  FailLevel level = fails_.back();
  fails_.pop_back();
  std::string release = cat("call void @lathe_free(ptr %rt, ptr ", at.pointer, ")");
  f_.line(release);
  if (!level.used) return;
  std::string done = f_.block("done");
  f_.jump(done);
  f_.start(level.label);
  f_.line(release);
  f_.jump(fail_label());
  f_.start(done);
}

// Error paths: the status is kept, then each level frees what it allocated.
LATHE_DECL std::string LlvmEmitter::fail_label() {
  fails_.back().used = true;
  return fails_.back().label;
}

LATHE_DECL void LlvmEmitter::fail(std::string_view status) {
  f_.line("store i32 ", status, ", ptr %status, align 4");
  f_.jump(fail_label());
}

LATHE_DECL void LlvmEmitter::fail_unless_zero(const LlvmValue& status) {
  std::string bad = f_.block("failed"), good = f_.block("holds");
  f_.branch(f_.op(kBool, "icmp eq i32 ", status.text, ", 0"), good, bad);
  f_.start(bad);
  fail(status.text);
  f_.start(good);
}

}  // namespace lathe::detail
