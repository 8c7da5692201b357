#pragma once

#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/vector/narrow_lanes.hpp>

namespace lathe {
namespace detail {

class NarrowIntegers : public SharingMutator {
 public:
  explicit NarrowIntegers(LoadBounds& bounds) : bounds_(bounds), lanes_(bounds) {}

  Stmt stmt(const Stmt& s) override {
    lanes_ = NarrowLanes(bounds_);
    const auto* loop = s.as<ForNode>();
    const bool outer = in_lanes_;
    in_lanes_ = in_lanes_ || (loop && loop->loop_kind == ForKind::vectorized);
    Stmt out = SharingMutator::stmt(s);
    in_lanes_ = outer;
    return out;
  }

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    if (!in_lanes_) return descend(e);
    if (const auto* n = e.as<CastNode>(); n && n->dtype.is_int() && is_wide(n->value)) {
      const DType t = lanes_.for_bits(n->value, n->dtype.bits);
      if (t.bits < n->value.dtype().bits)
        return make_cast(n->dtype, descend(lanes_.in(n->value, t)));
    }
    if (const auto* n = e.as<BinaryNode>(); n && is_comparison(n->op) && is_wide(n->a)) {
      const DType t = lanes_.for_numbers(n->a, n->b);
      if (t.bits < n->a.dtype().bits)
        return make_binary(n->op, descend(lanes_.in(n->a, t)), descend(lanes_.in(n->b, t)));
    }
    return descend(e);
  }

  static bool is_wide(const AnyExpr& e) { return e.dtype().is_int() && e.dtype().bits >= 16; }

  LoadBounds& bounds_;
  NarrowLanes lanes_;
  bool in_lanes_ = false;
};

}  // namespace detail

LATHE_DECL Program narrow_integers(const Program& program) {
  detail::LoadBounds bounds;
  return program.with(detail::NarrowIntegers(bounds).stmt(program->body));
}

LATHE_DECL Program narrow_held_integers(const Program& program) {
  detail::LoadBounds bounds(program);
  if (bounds.none()) return program;
  return program.with(detail::NarrowIntegers(bounds).stmt(program->body));
}

}  // namespace lathe
