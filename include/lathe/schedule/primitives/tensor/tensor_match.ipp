#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/ir/describe.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/schedule/primitives/tensor/intrinsic.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

/// An operand of an intrinsic, and the buffer of a block that takes its part.
struct Bound {
  std::size_t operand;
  Buffer buffer;
  Vec<AnyExpr> indices;  ///< over the block's iterators
};

/// Compares what a description computes with what a block does: equal up to the names of variables
/// and buffers and to the order of commutative operands. Of factors that are alike in all but their
/// places the first takes the part of the first, if not `turned`.
class TensorMatch {
 public:
  TensorMatch(const Intrinsic& intrinsic, const BlockNode& block, bool turned = false)
      : intrinsic_(intrinsic), block_(block), turned_(turned) {}

  Vec<Bound> bound;        ///< by first use in the description
  std::string difference;  ///< the first one; empty if there is none

  void run(const StoreNode& store) {
    const StoreNode& wanted = *intrinsic_.store;
    if (!same_reducer()) return;
    if (wanted.buffer->dtype != store.buffer->dtype)
      return differ("stores " + wanted.buffer->dtype.str(), "stores " + store.buffer->dtype.str());
    bind(wanted.buffer, store.buffer, store.indices);
    if (!same(wanted.value, store.value)) return;
    for (std::size_t k = 1; k < bound.size(); ++k)
      if (bound[k].buffer == store.buffer && bound[k].operand != bound[0].operand)
        differ("reads another buffer than it writes", "reads " + in_quotes(store.buffer->name));
  }

 private:
  static std::string reducer_text(const ReducerRef& r) {
    if (!r) return "stores without a reducer";
    return "reduces by " + r->name + " of " +
           join(r->lhs, ", ", [](const VarRef& v) { return v->dtype.str(); });
  }
  bool same_reducer() {
    const ReducerRef &a = intrinsic_.block->reducer, &b = block_.reducer;
    if (a && b ? structurally_equal(a, b) : !a && !b) return true;
    differ(reducer_text(a), reducer_text(b));
    return false;
  }
  void differ(const std::string& wanted, const std::string& is) {
    if (difference.empty())
      difference = "the description " + wanted + "; block " + in_quotes(block_.name()) + " " + is;
  }
  bool differ(const AnyExpr& p, const AnyExpr& e) {
    auto text = [](const AnyExpr& x) { return "has " + str(x) + " of " + x.dtype().str(); };
    differ(text(p), text(e));
    return false;
  }

  bool bind(const Buffer& described, const Buffer& buffer, const Vec<AnyExpr>& indices) {
    std::size_t at = 0;
    while (intrinsic_.operands[at].described != described) ++at;
    for (const auto& b : bound) {
      if (b.operand != at) continue;
      bool equal = b.buffer == buffer;
      for (std::size_t d = 0; equal && d < indices.size(); ++d)
        equal = structurally_equal(b.indices[d], indices[d]);
      return equal;
    }
    bound.push_back({at, buffer, indices});
    return true;
  }

  bool same(const AnyExpr& p, const AnyExpr& e) {
    if (p.dtype() != e.dtype() || p.kind() != e.kind()) return differ(p, e);
    switch (p.kind()) {
      case ExprKind::Load: {
        const auto *x = p.as<LoadNode>(), *y = e.as<LoadNode>();
        return (!x->mask.get() && !y->mask.get() && bind(x->buffer, y->buffer, y->indices)) ||
               differ(p, e);
      }
      case ExprKind::Binary:
        return same_binary(*p.as<BinaryNode>(), *e.as<BinaryNode>()) || differ(p, e);
      case ExprKind::Unary:
        return p.as<UnaryNode>()->op == e.as<UnaryNode>()->op
                   ? same(p.as<UnaryNode>()->a, e.as<UnaryNode>()->a)
                   : differ(p, e);
      case ExprKind::Cast:
        return same(p.as<CastNode>()->value, e.as<CastNode>()->value);
      case ExprKind::Select: {
        const auto *x = p.as<SelectNode>(), *y = e.as<SelectNode>();
        return same(x->condition, y->condition) && same(x->yes, y->yes) && same(x->no, y->no);
      }
      case ExprKind::Call: {
        const auto *x = p.as<CallNode>(), *y = e.as<CallNode>();
        if (x->op != y->op) return differ(p, e);
        for (std::size_t k = 0; k < x->args.size(); ++k)
          if (!same(x->args[k], y->args[k])) return false;
        return true;
      }
      default:
        return structurally_equal(p, e) || differ(p, e);
    }
  }

  // Where both orders differ, the one as written is what is told.
  bool same_binary(const BinaryNode& p, const BinaryNode& e) {
    if (p.op != e.op) return false;
    const Vec<Bound> before = bound;
    const bool commutes = is_commutative(p.op);
    if (turned_ && commutes) {
      if (same(p.a, e.b) && same(p.b, e.a)) return true;
      difference.clear(), bound = before;
    }
    if (same(p.a, e.a) && same(p.b, e.b)) return true;
    if (!commutes || turned_) return false;
    const std::string straight = std::exchange(difference, "");
    bound = before;
    if (same(p.a, e.b) && same(p.b, e.a)) return true;
    difference = straight;
    return false;
  }

  const Intrinsic& intrinsic_;
  const BlockNode& block_;
  const bool turned_;
};

}  // namespace lathe::detail
