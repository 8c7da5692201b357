#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

// How much an expression computes, and whether it touches memory that may not be there.
class LlvmWeight : public Visitor {
 public:
  static constexpr int limit = 48;
  int cost = 0;
  bool loads = false;

  void expr(const AnyExpr& e) override {
    if (cost >= limit) return;
    if (const auto* n = e.as<LoadNode>(); n && !n->indices.empty()) loads = true;
    if (e.kind() > ExprKind::Let) ++cost;
    descend(e);
  }
};

inline LlvmWeight llvm_weight(const AnyExpr& e) {
  LlvmWeight weight;
  weight.expr(e);
  return weight;
}

LATHE_DECL LlvmValue LlvmEmitter::constant(const ConstNode& n) {
  return n.dtype.is_float() ? f_.real(n.dtype, n.f) : f_.integer(n.dtype, n.i);
}

LATHE_DECL LlvmValue LlvmEmitter::let(const LetNode& n) {
  const std::size_t before = mark();
  for (const auto& b : n.bindings) {
    vars_[b.var.get()] = value(b.value);
    multiples_[b.var.get()] = multiple_of(b.value);
  }
  LlvmValue result = value(n.body);
  // The same body under another binding of the variables is another value.
  forget(before);
  return result;
}

template <class Emit>
LlvmValue LlvmEmitter::when(const LlvmValue& condition, const LlvmValue& otherwise, Emit emit) {
  std::string then = f_.block("then"), done = f_.block("done"), from = f_.current();
  f_.branch(condition, then, done);
  f_.start(then);
  const std::size_t before = mark();
  LlvmValue v = emit();
  // What was computed here does not dominate what follows.
  forget(before);
  std::string to = f_.current();
  f_.start(done);
  return f_.phi(v, to, otherwise, from);
}

LATHE_DECL LlvmValue LlvmEmitter::select(const SelectNode& n) {
  LlvmValue condition = value(n.condition);
  if (condition.dtype.lanes == 1) return select_scalar(n, condition);
  LlvmValue yes = value(n.yes), no = value(n.no);
  return f_.select(condition, yes, no);
}

LATHE_DECL LlvmValue LlvmEmitter::select_scalar(const SelectNode& n, const LlvmValue& condition) {
  // What is computed already costs nothing.
  auto weigh = [&](const AnyExpr& e) { return known(e) ? LlvmWeight() : llvm_weight(e); };
  LlvmWeight yes = weigh(n.yes), no = weigh(n.no);
  if (!yes.loads && !no.loads && yes.cost + no.cost < 24)
    return f_.select(condition, value(n.yes), value(n.no));
  std::string then = f_.block("then"), other = f_.block("else"), done = f_.block("done");
  f_.branch(condition, then, other);
  const std::size_t before = mark();
  auto in_block = [&](const std::string& label, const AnyExpr& e) {
    f_.start(label);
    LlvmValue v = value(e);
    forget(before);
    std::string from = f_.current();
    f_.jump(done);
    return std::pair(v, from);
  };
  auto [a, from_a] = in_block(then, n.yes);
  auto [b, from_b] = in_block(other, n.no);
  f_.start(done);
  return f_.phi(a, from_a, b, from_b);
}

LATHE_DECL LlvmValue LlvmEmitter::broadcast(const BroadcastNode& n) {
  int inner = n.value.dtype().lanes;
  const AnyExpr* core = &n.value;
  while (const auto* b = core->as<BroadcastNode>()) core = &b->value;
  if (const auto* c = core->as<ConstNode>())
    return c->dtype.is_float() ? f_.real(n.dtype, c->f) : f_.integer(n.dtype, c->i);
  LlvmValue v = value(n.value);
  if (inner == 1) return f_.splat(v, n.dtype.lanes);
  Lanes lanes;
  for (int l = 0; l < n.dtype.lanes; ++l) lanes.push_back(l % inner);
  return f_.shuffle(v, lanes);
}

LATHE_DECL LlvmValue LlvmEmitter::ramp(const RampNode& n) {
  int inner = n.base.dtype().lanes;
  std::string steps = "<";
  for (int l = 0; l < n.dtype.lanes; ++l)
    append(steps, l ? ", " : "", llvm_type(n.dtype.scalar()), " ", l / inner);
  LlvmValue lane{n.dtype, steps + ">"};
  Lanes map;
  for (int l = 0; l < n.dtype.lanes; ++l) map.push_back(l % inner);
  auto widen = [&](const AnyExpr& e) {
    if (const auto* c = e.as<ConstNode>()) return f_.integer(n.dtype, c->i);
    LlvmValue v = value(e);
    return inner == 1 ? f_.splat(v, n.dtype.lanes) : f_.shuffle(v, map);
  };
  LlvmValue base = widen(n.base);
  LlvmValue steps_taken = is_const(n.stride, 1) ? lane : f_.binary("mul", widen(n.stride), lane);
  if (base.text == "zeroinitializer") return steps_taken;
  return f_.binary("add", base, steps_taken);
}

/// Whether what takes bytes of two vectors, a shuffle in LLVM, would take longer than its parts.
inline bool llvm_merges_apart(const LlvmModule& module, DType t, const Vec<int>& lanes) {
  return module.caps.merges_bytes_slowly && t.element_bytes() == 1 && !t.is_bool() &&
         t.lanes == 16 && lanes.size() == 16;
}

LATHE_DECL LlvmValue LlvmEmitter::shuffle(const ShuffleNode& n) {
  const DType t = n.vectors[0].dtype();
  if (n.vectors.size() == 2 && t.lanes > 1 && n.lanes.size() > 1 && n.vectors[1].dtype() == t) {
    const LlvmValue a = value(n.vectors[0]), b = value(n.vectors[1]);
    return llvm_merges_apart(module_, t, n.lanes) ? merged_bytes(a, b, n.lanes)
                                                  : f_.shuffle(a, b, n.lanes);
  }
  LlvmValue all;
  int first = 0;
  for (const auto& vector : n.vectors) {
    LlvmValue v = value(vector);
    all = first == 0 ? v : f_.concat(all, v);
    first += vector.dtype().lanes;
  }
  if (n.lanes.size() == 1) return f_.extract(all, n.lanes[0]);
  if (first == 1) return f_.splat(all, static_cast<int>(n.lanes.size()));
  bool identity = static_cast<int>(n.lanes.size()) == first;
  for (int l = 0; identity && l < first; ++l) identity = n.lanes[static_cast<std::size_t>(l)] == l;
  return identity ? all : f_.shuffle(all, n.lanes);
}

}  // namespace lathe::detail
