#pragma once

#include <algorithm>
#include <lathe/codegen/c/emitter.hpp>
#include <lathe/codegen/common/frame.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/machine_form.hpp>

namespace lathe::detail {

// One element, or element l of those that a vector index says.
LATHE_DECL CText CEmitter::element(const Buffer& b, const AnyExpr& index, int lanes) {
  std::int64_t stride = 0;
  if (lanes == 1) return cat(place(b).text, "[", value(index), "]");
  if (index.dtype().lanes > 1 && (!lane_stride(index, stride) || stride != 1))
    return cat(place(b).text, "[", simple(value(index), index.dtype()), "[l]]");
  const AnyExpr first = lane_base(index);
  return cat(place(b).text, "[", simple(value(first), first.dtype()), " + l]");
}

LATHE_DECL CText CEmitter::load(const LoadNode& n) {
  const DType t = n.dtype;
  const bool vector = t.lanes > 1;
  if (place(n.buffer).is_register) return place(n.buffer).text;
  const CText mask = n.mask ? simple(value(n.mask), n.mask.dtype()) : CText();
  CText text = element(n.buffer, n.indices.empty() ? AnyExpr(0) : n.indices[0], t.lanes);
  if (t.is_bool()) text = cat(vector ? "-" : "", "(", text, " != 0)");
  if (n.mask) text = cat("(", mask, vector ? "[l] ? " : " ? ", text, " : 0)");
  return vector ? lanes(t, t.lanes, text) : text;
}

LATHE_DECL void CEmitter::store(const StoreNode& n) {
  const CPlace& at = place(n.buffer);
  const AnyExpr index = n.indices.empty() ? AnyExpr(0) : n.indices[0];
  const int count = std::max({n.value.dtype().lanes, index.dtype().lanes, n.buffer->dtype.lanes});
  const auto one = [&](const AnyExpr& e) {
    const CText v = simple(value(e), e.dtype());
    const bool vector = e.dtype().lanes > 1, byte = vector && e.dtype().is_bool();
    return cat(byte ? "(" : "", v, vector ? "[l]" : "", byte ? " & 1)" : "");
  };
  const CText test = n.mask ? cat("if (", one(n.mask), ") ") : CText();
  if (count == 1) {
    const CText v = value(n.value);
    return line(test, at.is_register ? at.text : element(n.buffer, index, 1), " = ", v, ";");
  }
  if (at.is_register && !n.mask && n.value.dtype().lanes == count)
    return line(at.text, " = ", value(n.value), ";");
  const bool mask_lanes = at.is_register && n.buffer->dtype.is_bool();
  const CText v = mask_lanes ? cat("-", one(n.value)) : one(n.value);
  const CText to = at.is_register ? cat(at.text, "[l]") : element(n.buffer, index, count);
  line("for (int l = 0; l < ", count, "; ++l) ", test, to, " = ", v, ";");
}

LATHE_DECL void CEmitter::atomic(const AtomicNode& n) {
  const AnyExpr index = n.indices.empty() ? AnyExpr(0) : n.indices[0];
  const DType t = n.value.dtype();
  const CText at = simple(value(index), index.dtype()), by = simple(value(n.value), t);
  for (int l = 0; l < index.dtype().lanes; ++l)
    atomic_element(n, index.dtype().lanes == 1 ? at : cat(at, "[", l, "]"),
                   t.lanes == 1 ? by : cat("(", by, "[", l, "]", t.is_bool() ? " & 1)" : ")"));
}

// Computes with the value read and tries again if another thread was faster.
LATHE_DECL void CEmitter::atomic_element(const AtomicNode& n, const CText& at, const CText& by) {
  const DType t = n.value.dtype().scalar();
  const std::string word = cat("lt_word", t.element_bytes() * 8), stored(c_memory_type(t));
  unit_.define(word, cat("typedef uint", t.element_bytes() * 8, "_t ", word,
                         " __attribute__((may_alias));\n"));
  const VarRef old = make_var("old", t), other = make_var("by", t);
  vars_[old.get()] = t.is_bool() ? "(old != 0)" : "old", vars_[other.get()] = by;
  line("for (;;) {");
  line(word, " *const to = (", word, " *)(", place(n.buffer).text, " + ", at, ");");
  line(word, " seen = __atomic_load_n(to, __ATOMIC_RELAXED), next;");
  line(stored, " old, now;");
  line("memcpy(&old, &seen, sizeof old);");
  const std::size_t before = mark();
  line("now = ", value(machine_binary(n.op, old, other)), ";");
  forget(before);
  line("memcpy(&next, &now, sizeof next);");
  line("if (__atomic_compare_exchange_n(to, &seen, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))");
  line("  break;");
  line("}");
}

LATHE_DECL void CEmitter::let_stmt(const LetStmtNode& n) {
  vars_[n.var.get()] = named(value(n.value), n.var->dtype, n.var->name);
  stmt(n.body);
}

LATHE_DECL void CEmitter::branch(const IfNode& n) {
  body_of(n.then_body, cat("if (", value(n.condition), ") {"));
  if (n.else_body) body_of(n.else_body, "else {");
}

LATHE_DECL void CEmitter::while_loop(const WhileNode& n) {
  line("for (;;) {");
  line("  if (!", value(n.condition), ") break;");
  stmt(n.body);
  line("}");
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
  // The body may store to a register that a bound is, which C would read again each time.
  const auto settled = [&](const AnyExpr& bound) {
    const bool stays = bound.kind() == ExprKind::Const || bound.kind() == ExprKind::Var;
    return stays ? value(bound) : named(value(bound), n.var->dtype, "bound");
  };
  const CText min = settled(n.min), count = settled(n.extent);
  vars_[n.var.get()] = name;
  // min + extent may wrap when the extent is negative: the extent itself decides.
  const CText end = is_const(n.min, 0)
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
  const auto field = [&](std::string_view its_type, const CText& v) {
    append(fields, "  ", its_type, number, ";\n");
    append(filled, number++ > 0 ? ", " : "", v);
  };
  for (const auto& b : captures.buffers)
    field(cat(stored_type(b->dtype, place(b).is_register), " *f"),
          cat(place(b).is_register ? "&" : "", place(b).text));
  for (const auto& v : captures.vars) field(cat(type(v->dtype), " f"), vars_[v.get()]);
  unit_.function(cat("struct ", symbol, " {\n", fields, "};\n"));
  CEmitter(state_).loop_body(n, symbol, captures, *this);
  const CText count = value(n.extent), closure = unique("captured");
  line("struct ", symbol, " ", closure, " = {", filled, "};");
  const auto* threads = n.attributes.find<MaxThreadsAttr>();
  const CText result = named(cat("lathe_for(rt, ", count, ", ", threads ? threads->count : 0, ", ",
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
    line(stored_type(b->dtype, is_register), is_register ? " *" : " *restrict ", name,
         " = captured->f", number++, ";");
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
LATHE_DECL CText CEmitter::failing(std::string_view status) {
  fails_.back().used = fails_.front().used = true;
  return cat("{ status = ", status, "; goto ", fails_.back().label, "; }");
}

LATHE_DECL void CEmitter::check(const AssertNode& n) {
  const int status = 16 + static_cast<int>(state_.messages.size());
  state_.messages.push_back(n.message);
  line("if (!", value(n.condition), ") {");
  if (!n.values.empty()) line("  lathe_tell(rt, 0, ", status, ");");
  for (std::size_t k = 0; k < n.values.size(); ++k)
    line("  lathe_tell(rt, ", k + 1, ", ", value(n.values[k]), ");");
  line("  ", failing(cat(status)));
  line("}");
}

LATHE_DECL void CEmitter::evaluate(const EvaluateNode& n) {
  const auto* call = n.call.as<CallNode>();
  const auto* from = call && call->op == CallOp::prefetch ? call->args[0].as<LoadNode>() : nullptr;
  if (!from) return line("(void)", value(n.call), ";");
  const CPlace& at = place(from->buffer);
  if (at.is_register) return;
  const AnyExpr index = from->indices.empty() ? AnyExpr(0) : from->indices[0];
  const std::int64_t level = std::clamp<std::int64_t>(*as_const_int(call->args[1]), 0, 3);
  line("__builtin_prefetch(", at.text, " + ", value(index), index.dtype().lanes > 1 ? "[0]" : "",
       ", 0, ", level, ");");
}

}  // namespace lathe::detail
