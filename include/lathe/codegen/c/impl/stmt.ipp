#pragma once

#include <lathe/codegen/c/emitter.hpp>
#include <lathe/codegen/common/captures.hpp>
#include <lathe/codegen/common/frame.hpp>

namespace lathe::detail {

LATHE_DECL void CEmitter::stmt(const Stmt& s) {
  // A store may have changed what a remembered load read.
  forget(0);
  switch (s.kind()) {
    case StmtKind::For:
      return loop(*s.as<ForNode>());
    case StmtKind::Block:
      unreachable("codegen: a block was not lowered");
    case StmtKind::Alloc:
      return alloc(*s.as<AllocNode>());
    case StmtKind::Store:
      return store(*s.as<StoreNode>());
    case StmtKind::Atomic:
      return atomic(*s.as<AtomicNode>());
    case StmtKind::LetStmt: {
      const auto* n = s.as<LetStmtNode>();
      vars_[n->var.get()] = named(value(n->value), n->var->dtype, n->var->name);
      return stmt(n->body);
    }
    case StmtKind::Seq:
      for (const auto& child : s.as<SeqNode>()->stmts) stmt(child);
      return;
    case StmtKind::If: {
      const auto* n = s.as<IfNode>();
      body_of(n->then_body, cat("if (", value(n->condition), ") {"));
      if (n->else_body) body_of(n->else_body, "else {");
      return;
    }
    case StmtKind::While: {
      const auto* n = s.as<WhileNode>();
      line("for (;;) {");
      ++depth_;
      line("if (!", value(n->condition), ") break;");
      stmt(n->body);
      --depth_;
      return line("}");
    }
    case StmtKind::Assert:
      return check(*s.as<AssertNode>());
    case StmtKind::Evaluate:
      return evaluate(*s.as<EvaluateNode>());
  }
}

LATHE_DECL void CEmitter::body_of(const Stmt& s, std::string_view opening) {
  line(opening);
  ++depth_;
  stmt(s);
  --depth_;
  line("}");
}

LATHE_DECL void CEmitter::loop(const ForNode& n) {
  if (n.loop_kind == ForKind::parallel) return parallel_loop(n);
  invariant(n.loop_kind == ForKind::serial, "codegen: a vectorized or unrolled loop is left");
  const std::string own = type(n.var->dtype), name = unique(n.var->name);
  const Text min = simple(value(n.min), n.var->dtype),
             count = simple(value(n.extent), n.var->dtype);
  vars_[n.var.get()] = name;
  // min + extent may wrap when the extent is negative: the extent itself decides.
  const Text end = is_const(n.min, 0)
                       ? count
                       : named(cat("(", count, " > 0 ? ", min, " + ", count, " : ", min, ")"),
                               n.var->dtype, "end");
  body_of(n.body,
          cat("for (", own, " ", name, " = ", min, "; ", name, " < ", end, "; ++", name, ") {"));
}

LATHE_DECL void CEmitter::parallel_loop(const ForNode& n) {
  const std::string symbol = cat(state_.symbol, "_body", state_.bodies++);
  LoopCaptures captures = captures_of(n);
  const VarRef min = make_var("min");
  vars_[min.get()] = value(n.min);
  captures.vars.push_back(min);
  std::string fields, filled;
  int number = 0;
  const auto field = [&](std::string_view its_type, const Text& v) {
    append(fields, "  ", its_type, number, ";\n");
    append(filled, number++ > 0 ? ", " : "", v);
  };
  for (const auto& b : captures.buffers)
    field(cat(stored_type(b, place(b).is_register), " *f"),
          cat(place(b).is_register ? "&" : "", place(b).text));
  for (const auto& v : captures.vars) field(cat(type(v->dtype), " f"), vars_[v.get()]);
  unit_.function(cat("struct ", symbol, " {\n", fields, "};\n"));
  CEmitter(state_).loop_body(n, symbol, captures, *this);
  const Text count = value(n.extent), closure = unique("captured");
  line("struct ", symbol, " ", closure, " = {", filled, "};");
  const auto* threads = n.attributes.find<MaxThreadsAttr>();
  const Text result = named(cat("lathe_for(rt, ", count, ", ", threads ? threads->count : 0, ", ",
                                symbol, ", &", closure, ")"),
                            kI32, "result");
  line("if (", result, " != 0) ", failing(result));
}

LATHE_DECL void CEmitter::loop_body(const ForNode& n, const std::string& symbol,
                                    const LoopCaptures& captures, const CEmitter& outer) {
  line("const struct ", symbol, " *const captured = closure;");
  int number = 0;
  for (const auto& b : captures.buffers) {
    const bool is_register = outer.place(b).is_register;
    const std::string name = unique(b->name);
    line(stored_type(b, is_register), is_register ? " *" : " *restrict ", name, " = captured->f",
         number++, ";");
    places_[b.get()] = {is_register ? cat("(*", name, ")") : name, is_register};
  }
  for (const auto& v : captures.vars)
    vars_[v.get()] = named(cat("captured->f", number++), v->dtype, v->name);
  const std::string name = unique(n.var->name), min = vars_[captures.vars.back().get()];
  vars_[n.var.get()] = name;
  body_of(n.body, cat("for (int64_t ", name, " = ", min, " + begin; ", name, " < ", min,
                      " + end; ++", name, ") {"));
  finish(cat("static int32_t ", symbol,
             "(void *closure, int64_t begin, int64_t end, lathe_runtime *rt)"));
}

LATHE_DECL std::string CEmitter::stored_type(const Buffer& b, bool is_register) {
  return is_register ? type(b->dtype) : std::string(c_memory_type(b->dtype));
}

LATHE_DECL void CEmitter::alloc(const AllocNode& n) {
  const BufferNode& b = *n.buffer;
  const std::string name = unique(b.name);
  places_[&b] = {name, b.rank() == 0};
  if (b.rank() == 0) {
    line(type(b.dtype), " ", name, b.dtype.lanes > 1 ? " = {0};" : " = 0;");
    return stmt(n.body);
  }
  if (const std::int64_t bytes = frame_bytes(b, state_.frame_bytes); bytes >= 0) {
    state_.frame_bytes += bytes;
    // There are no arrays of no elements.
    const std::int64_t extent = *as_const_int(b.shape[0]);
    line("_Alignas(", b.alignment > 64 ? b.alignment : 64, ") ", c_memory_type(b.dtype), " ", name,
         "[", extent > 0 ? extent : 1, "];");
    return stmt(n.body);
  }
  heap_alloc(n, name);
}

LATHE_DECL void CEmitter::heap_alloc(const AllocNode& n, const std::string& name) {
  const BufferNode& b = *n.buffer;
  line(c_memory_type(b.dtype), " *restrict ", name, " = lathe_get(rt, ",
       value(b.shape[0] * b.dtype.bytes()), ", ", b.alignment > 64 ? b.alignment : 64, ");");
  line("if (!", name, ") ", failing("1"));
  fails_.push_back({unique("fail"), false});
  stmt(n.body);
  const FailLevel level = fails_.back();
  fails_.pop_back();
  line("lathe_put(rt, ", name, ");");
  if (!level.used) return;
  line("if (0) {");
  line(level.label, ":");
  line("  lathe_put(rt, ", name, ");");
  fails_.back().used = true;
  line("  goto ", fails_.back().label, ";");
  line("}");
}

// The status is kept, then each level frees what it allocated.
LATHE_DECL CEmitter::Text CEmitter::failing(std::string_view status) {
  fails_.back().used = fails_.front().used = true;
  return cat("{ status = ", status, "; goto ", fails_.back().label, "; }");
}

LATHE_DECL void CEmitter::check(const AssertNode& n) {
  const int status = 16 + static_cast<int>(state_.messages.size());
  state_.messages.push_back(n.message);
  line("if (!", value(n.condition), ") {");
  ++depth_;
  if (!n.values.empty()) line("lathe_tell(rt, 0, ", status, ");");
  for (std::size_t k = 0; k < n.values.size(); ++k)
    line("lathe_tell(rt, ", k + 1, ", ", value(n.values[k]), ");");
  line(failing(cat(status)));
  --depth_;
  line("}");
}

LATHE_DECL void CEmitter::evaluate(const EvaluateNode& n) {
  const auto* call = n.call.as<CallNode>();
  const auto* from = call && call->op == CallOp::prefetch ? call->args[0].as<LoadNode>() : nullptr;
  if (!from) return line("(void)", value(n.call), ";");
  const Place& at = place(from->buffer);
  if (at.is_register) return;
  const AnyExpr index = from->indices.empty() ? AnyExpr(0) : from->indices[0];
  const std::int64_t level = *as_const_int(call->args[1]);
  line("__builtin_prefetch(", at.text, " + ", value(index), index.dtype().lanes > 1 ? "[0]" : "",
       ", 0, ",
       level < 0   ? 0
       : level > 3 ? 3
                   : level,
       ");");
}

}  // namespace lathe::detail
