// How far floating-point results may lie apart when sums are reordered or products contracted.
//
// The program of magnitudes has the same loops with every x + y and x - y replaced by |x| + |y|,
// and so on; run on the magnitudes of the inputs it gives, for each element, a bound M on the sum
// of the absolute values of all terms. Two orders of evaluation then differ by at most 4 n u M: u
// is the unit roundoff of the coarsest type in the program, n the number of operations that one
// element can depend on (nodes of all blocks times their reduce points; times all points of the
// loops, where a block reads what it or a later one stored). A product in another order
// may overflow on its way to a number that M does not show; the product of the factors from 1 up
// bounds every part of it, and where that is not finite there is no bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/dsl/any.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/visit.hpp>
#include <utility>
#include <vector>

#include "block_uses.hpp"

namespace fuzz {

/// Rewrites a program of blocks into that of magnitudes, and says what kind of program it is.
class Magnitudes : public lathe::Mutator {
 public:
  enum class Products { whole, parts };
  /// Of products: all factors, or a bound on what any of them give together.
  explicit Magnitudes(const lathe::Stmt& body, Products which = Products::whole)
      : which_(which), in_order_(reads_earlier_iterations(body)) {}

  bool products = false;  ///< reduces floats by their product
  bool bounded = true;  ///< false: a comparison, a rounding or a division of data makes errors jump
  bool ring_only = true;  ///< only + - * min max of data, so that small integers stay exact
  bool math = false;      ///< has calls that lowering expands
  double operations = 0;
  double roundoff = 0;

  using lathe::Mutator::stmt;

  lathe::AnyExpr expr(const lathe::AnyExpr& e) override {
    using lathe::ExprKind;
    note(e);
    if (!e.dtype().is_float()) return other(e);
    switch (e.kind()) {
      case ExprKind::Const:
        return constant(*e.as<lathe::ConstNode>());
      case ExprKind::Binary:
        return binary(*e.as<lathe::BinaryNode>());
      case ExprKind::Unary:
        return expr(e.as<lathe::UnaryNode>()->a);
      case ExprKind::Call:
        return call(*e.as<lathe::CallNode>());
      case ExprKind::Cast:
        return cast(*e.as<lathe::CastNode>());
      case ExprKind::Select: {
        const auto* n = e.as<lathe::SelectNode>();
        check_condition(n->condition);
        return lathe::make_select(n->condition, expr(n->yes), expr(n->no));
      }
      default:
        return descend(e);
    }
  }

  lathe::Stmt stmt(const lathe::Stmt& s) override {
    if (const auto* loop = s.as<lathe::ForNode>()) return under(*loop, s);
    if (const auto* n = s.as<lathe::IfNode>()) check_condition(n->condition);
    if (const auto* n = s.as<lathe::WhileNode>()) check_condition(n->condition), points_ *= 64;
    const auto* block = s.as<lathe::BlockNode>();
    if (!block) return descend(s);
    points_ = in_order_ ? iterations_ : 1;
    for (const auto& it : block->iters)
      if (it.kind == lathe::IterKind::reduce) points_ *= points_of(it.extent);
    lathe::BlockNode next = *block;
    if (block->predicate) check_condition(block->predicate);
    if (block->reducer) next.reducer = reducer(block->reducer);
    next.body = descend(block->body);
    return lathe::make_block(std::move(next));
  }

 private:
  void note(const lathe::AnyExpr& e) {
    operations += points_;
    lathe::DType t = e.dtype();
    if (!t.is_float()) return;
    double u = std::ldexp(1.0, t == lathe::kF64    ? -53
                               : t == lathe::kF32  ? -24
                               : t == lathe::kF16  ? -11
                               : t == lathe::kBF16 ? -8
                               : t == lathe::kE4M3 ? -4
                                                   : -3);
    roundoff = std::max(roundoff, u);
  }
  void jumps() { bounded = ring_only = false; }

  // An integer or bool: exact, unless it comes from a float.
  lathe::AnyExpr other(const lathe::AnyExpr& e) {
    if (e.kind() == lathe::ExprKind::Cast && e.as<lathe::CastNode>()->value.dtype().is_float())
      jumps();
    if (e.kind() == lathe::ExprKind::Binary && e.as<lathe::BinaryNode>()->a.dtype().is_float())
      jumps();
    if (e.kind() == lathe::ExprKind::Call && e.as<lathe::CallNode>()->args[0].dtype().is_float())
      jumps();
    return descend(e);
  }
  // The condition stays as it is: it must not depend on floats.
  void check_condition(const lathe::AnyExpr& e) {
    Magnitudes inner({});
    inner.expr(e);
    if (!inner.bounded || inner.roundoff > 0) jumps();
  }
  // Products by 0.21, which a mutated text may have, are rounded; those by 0.25 are not.
  lathe::AnyExpr constant(const lathe::ConstNode& n) {
    const double sixteenths = n.f * 16;
    if (sixteenths != std::floor(sixteenths)) ring_only = false;
    return lathe::make_float(n.dtype, std::fabs(n.f));
  }
  lathe::AnyExpr binary(const lathe::BinaryNode& n) {
    using lathe::BinaryOp;
    lathe::AnyExpr a = expr(n.a), b = expr(n.b);
    switch (n.op) {
      case BinaryOp::add:
      case BinaryOp::sub:
        return a + b;
      case BinaryOp::mul:
        return a * b;
      case BinaryOp::min:
      case BinaryOp::max:
        return lathe::make_binary(BinaryOp::max, a, b);
      case BinaryOp::div:
        break;
      default:
        return jumps(), a;
    }
    ring_only = false;
    const auto* number = n.b.as<lathe::ConstNode>();
    if (number && number->f != 0) return a / b;
    // a / (|b| + 1): the derivative by b is at most |a|.
    const auto* sum = n.b.as<lathe::BinaryNode>();
    bool safe = sum && sum->op == BinaryOp::add && sum->a.as<lathe::CallNode>() &&
                sum->a.as<lathe::CallNode>()->op == lathe::CallOp::abs;
    if (!safe) jumps();
    return a * b;
  }
  lathe::AnyExpr call(const lathe::CallNode& n) {
    using lathe::CallOp;
    lathe::Vec<lathe::AnyExpr> args;
    for (const auto& a : n.args) args.push_back(expr(a));
    if (n.op == CallOp::abs) return args[0];
    if (n.op == CallOp::scalb) return lathe::make_call(n.op, {args[0], n.args[1]});
    if (n.op == CallOp::fma) return args[0] * args[1] + args[2];
    ring_only = false;
    switch (n.op) {
      case CallOp::sin:
      case CallOp::cos:
      case CallOp::tanh:
      case CallOp::erf:
      case CallOp::atan:
        return math = true, args[0] + args[0] + lathe::make_float(n.dtype, 1);
      case CallOp::exp:
      case CallOp::exp2:
      case CallOp::log:
      case CallOp::log2:
      case CallOp::tan:
      case CallOp::pow:
      case CallOp::expm1:
      case CallOp::log1p:
      case CallOp::atan2:
      case CallOp::cbrt:
        math = true;
        [[fallthrough]];
      default:
        return jumps(), args[0];
    }
  }
  lathe::AnyExpr cast(const lathe::CastNode& n) {
    if (n.value.dtype().is_float()) return lathe::make_cast(n.dtype, expr(n.value));
    if (n.value.dtype().bits > 8) ring_only = false;
    Magnitudes inner({});
    inner.expr(n.value);
    if (!inner.bounded || inner.roundoff > 0) jumps();
    lathe::AnyExpr wide = lathe::make_cast(n.dtype, n.value);
    return lathe::make_call(lathe::CallOp::abs, {wide});
  }
  lathe::ReducerRef reducer(const lathe::ReducerRef& r) {
    lathe::DType t = r->identity[0].dtype();
    if (!t.is_float()) return r;
    if (r->name == "prod") {
      ring_only = false, products = true;
      return which_ == Products::whole ? r : from_one_up(*r);
    }
    if (r->name == "sum" && r->identity.size() == 1) return r;
    bool extreme = (r->name == "min" || r->name == "max") && r->identity.size() == 1;
    if (!extreme) return jumps(), r;
    lathe::ReducerNode next = *r;
    next.identity = {lathe::make_float(t, 0)};
    next.combine = {lathe::make_binary(lathe::BinaryOp::max, next.lhs[0], next.rhs[0])};
    return lathe::make_ref<lathe::ReducerNode>(std::move(next));
  }

  static lathe::ReducerRef from_one_up(const lathe::ReducerNode& prod) {
    lathe::ReducerNode next = prod;
    lathe::AnyExpr one = lathe::make_float(prod.rhs[0]->dtype, 1);
    next.combine = {prod.lhs[0] * lathe::make_binary(lathe::BinaryOp::max, prod.rhs[0], one)};
    return lathe::make_ref<lathe::ReducerNode>(std::move(next));
  }

  static double points_of(const lathe::AnyExpr& extent) {
    const auto* number = lathe::as_const_int(extent);
    return number ? std::max<double>(1, static_cast<double>(*number)) : 40;
  }
  lathe::Stmt under(const lathe::ForNode& loop, const lathe::Stmt& s) {
    const double outside = iterations_;
    iterations_ *= points_of(loop.extent);
    lathe::Stmt out = descend(s);
    iterations_ = outside;
    return out;
  }
  static bool reads_earlier_iterations(const lathe::Stmt& body) {
    std::vector<BlockUse> uses = block_uses(body);
    for (std::size_t k = 0; k < uses.size(); ++k)
      for (std::size_t later = k; later < uses.size(); ++later)
        if (share(uses[k].loads, uses[later].stores)) return true;
    return false;
  }

  Products which_;
  bool in_order_;
  double points_ = 1, iterations_ = 1;
};

}  // namespace fuzz
