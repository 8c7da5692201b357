// Whether lanes of vectors become other lanes.
#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

/// Whether lane l of an expression may need another lane of a variable, or of some vector variable
/// where none is given.
class MovedLanes : public Visitor {
 public:
  explicit MovedLanes(const AnyExpr& e, const VarNode* var = nullptr) : var_(var) { expr(e); }
  bool found() const { return found_; }

  void expr(const AnyExpr& e) override {
    if (found_ || !seen_[moved_].insert(e.get(), true)) return;
    const bool wanted = var_ ? e.get() == var_ : e.kind() == ExprKind::Var && e.dtype().is_vector();
    found_ = moved_ && wanted;
    const bool before = moved_;
    moved_ = moved_ || moves(e);
    descend(e);
    moved_ = before;
  }

 private:
  static bool moves(const AnyExpr& e) {
    const auto* b = e.as<BroadcastNode>();
    const auto* r = e.as<RampNode>();
    const auto* c = e.as<CallNode>();
    return e.kind() == ExprKind::Shuffle || (b && b->value.dtype().is_vector()) ||
           (r && r->base.dtype().is_vector()) || (c && crosses_lanes(c->op)) ||
           (c && c->op == CallOp::reinterpret && c->args[0].dtype().lanes != c->dtype.lanes);
  }

  const VarNode* var_;
  bool found_ = false, moved_ = false;
  NodeMap<bool> seen_[2];  ///< below nothing that moves lanes, and below something
};

}  // namespace lathe::detail
