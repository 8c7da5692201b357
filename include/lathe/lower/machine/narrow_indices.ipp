#pragma once

#include <lathe/ir/lane_stride.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/vector/narrow_lanes.hpp>

namespace lathe {
namespace detail {

/// The terms of an index: those that are the same in all lanes, and the others.
class IndexTerms {
 public:
  explicit IndexTerms(const AnyExpr& index) { add(index, false); }

  AnyExpr same, other;  ///< a scalar and a vector; empty: no terms

 private:
  void add(const AnyExpr& e, bool minus) {
    const auto* n = e.as<BinaryNode>();
    if (n && n->op == BinaryOp::add) return add(n->a, minus), add(n->b, minus);
    if (n && n->op == BinaryOp::sub) return add(n->a, minus), add(n->b, !minus);
    if (const auto* broadcast = e.as<BroadcastNode>(); broadcast && is_scalar(broadcast->value))
      return put(same, broadcast->value, minus);
    if (const auto* ramp = e.as<RampNode>(); ramp && is_scalar(ramp->base)) {
      put(same, ramp->base, minus);
      const AnyExpr from_zero =
          make_ramp(make_int(ramp->base.dtype(), 0), ramp->stride, ramp->lanes);
      return put(other, from_zero, minus);
    }
    put(other, e, minus);
  }
  static bool is_scalar(const AnyExpr& e) { return e.dtype().lanes == 1; }
  static void put(AnyExpr& sum, const AnyExpr& term, bool minus) {
    if (sum)
      sum = make_binary(minus ? BinaryOp::sub : BinaryOp::add, sum, term);
    else
      sum = minus ? make_unary(UnaryOp::neg, term) : term;
  }
};

class NarrowIndices : public SharingMutator {
 public:
  Stmt stmt(const Stmt& s) override {
    lanes_ = NarrowLanes(bounds_);
    return SharingMutator::stmt(s);
  }

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    const AnyExpr narrow = n && n->indices.size() == 1 ? narrowed(n->indices[0]) : AnyExpr();
    return narrow ? descend(make_load(n->buffer, {narrow}, n->mask)) : descend(e);
  }

  /// The index as a scalar and 32 bits a lane; empty if it isn't one of lanes anywhere, or it takes
  /// more bits.
  AnyExpr narrowed(const AnyExpr& index) {
    std::int64_t stride = 0;
    if (index.dtype().lanes == 1 || index.dtype().scalar() != kI64 || lane_stride(index, stride) ||
        index.kind() == ExprKind::Ramp)
      return {};
    const IndexTerms terms(index);
    if (!terms.other || !lanes_.is_exact_in(terms.other, kI32)) return {};
    AnyExpr out = make_cast(index.dtype(), lanes_.in(terms.other, kI32));
    if (terms.same) out = out + make_broadcast(terms.same, index.dtype().lanes);
    return out.same_as(index) ? AnyExpr() : out;
  }

  LoadBounds bounds_;
  NarrowLanes lanes_{bounds_};
};

}  // namespace detail

LATHE_DECL Program narrow_indices(const Program& program) {
  return program.with(detail::NarrowIndices().stmt(program->body));
}

}  // namespace lathe
