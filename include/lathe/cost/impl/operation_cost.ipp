#pragma once

#include <algorithm>
#include <lathe/analysis/footprint.hpp>
#include <lathe/cost/operation_cost.hpp>
#include <lathe/ir/math_table.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

// Two roundings of a quotient's type: a division of f64 takes twice as long as one of f32, one of
// integers goes through floats or one element at a time.
class MixVisitor : public Visitor {
 public:
  OperationMix mix;

  LATHE_DECL void expr(const AnyExpr& e) override {
    note(e.dtype());
    if (e.kind() == ExprKind::Load || !seen_.insert(e.get(), true)) return;
    if (const auto* n = e.as<BinaryNode>()) binary(*n);
    if (const auto* n = e.as<UnaryNode>()) mix.simple += n->op != UnaryOp::not_;
    if (const auto* n = e.as<CallNode>()) call(*n);
    if (e.kind() == ExprKind::Select) mix.simple += 1;
    if (const auto* n = e.as<CastNode>())
      mix.simple += n->value.dtype().bits != e.dtype().bits || n->value.dtype().is_float();
    descend(e);
  }
  LATHE_DECL void stmt(const Stmt& s) override {
    const auto* n = s.as<StoreNode>();
    if (!n) return descend(s);
    note(n->buffer->dtype);
    mix.counted += static_cast<double>(value_cost(n->value));
    expr(n->value);
  }
  // A sum that folds one element: with a product before it, one operation.
  void fold(const BlockNode& block) {
    for (const auto& combine : block.reducer->combine) {
      mix.counted += static_cast<double>(value_cost(combine));
      const auto* n = combine.as<BinaryNode>();
      if (n && n->op == BinaryOp::add && n->a.dtype().is_float() && last_is_product(block))
        fuse();
      else
        expr(combine);
    }
  }

 private:
  static bool last_is_product(const BlockNode& block) {
    const auto* store = block.body.as<StoreNode>();
    return store && is_product(store->value);
  }
  static bool is_product(const AnyExpr& e) {
    const auto* n = e.as<BinaryNode>();
    return n && n->op == BinaryOp::mul && e.dtype().is_float();
  }
  void fuse() {
    mix.fused += 1, mix.simple -= 1;  // the product was counted, or will be
  }
  void binary(const BinaryNode& n) {
    const bool is_sum = n.op == BinaryOp::add || n.op == BinaryOp::sub;
    if (n.op == BinaryOp::div || n.op == BinaryOp::mod || n.op == BinaryOp::floordiv ||
        n.op == BinaryOp::floormod)
      return divide(n.a.dtype(), 1);
    if (is_sum && (is_product(n.a) || is_product(n.b))) return fuse();
    mix.simple += 1;
  }
  void divide(DType type, double times) {
    constexpr double kInteger = 3;
    mix.divides += times * (type.is_float() ? std::max(1, type.bits / 32) : kInteger);
  }
  void call(const CallNode& n) {
    if (n.op == CallOp::sqrt) return divide(n.dtype, 1.5);
    if (n.op == CallOp::fma) return void(mix.fused += 1);
    if (n.op == CallOp::reinterpret || n.op == CallOp::tile) return;
    // A product of tile registers, 16 x 16 x 64 bytes, takes 16 cycles (Intel's optimization
    // manual).
    if (is_dot(n.op)) return void(mix.fused += n.op == CallOp::tile_dot ? 16 : 1);
    mix.simple += is_transcendental(n.op) ? operations_of_function(n.op) : 1;
  }
  void note(DType t) {
    if (!t.is_bool()) mix.widest = std::max(mix.widest, t.element_bytes());
  }

  NodeMap<bool> seen_;
};

LATHE_DECL OperationMix operation_mix(const BlockNode& block) {
  MixVisitor visitor;
  visitor.stmt(block.body);
  if (block.reducer) visitor.fold(block);
  return visitor.mix;
}

}  // namespace lathe::detail
