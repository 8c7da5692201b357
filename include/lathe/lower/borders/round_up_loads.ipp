#pragma once

#include <algorithm>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/machine_form.hpp>
#include <lathe/lower/borders/lane_pieces.hpp>
#include <lathe/lower/borders/mutator_in_loops.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

class RoundUpLoads : public MutatorInLoops {
 public:
  RoundUpLoads(const Program& program, const TargetCaps& caps)
      : MutatorInLoops(program), caps_(caps) {}

  Stmt stmt(const Stmt& s) override {
    const auto* alloc = s.as<AllocNode>();
    if (!alloc || !can_grow(*alloc->buffer)) return MutatorInLoops::stmt(s);
    spare_[alloc->buffer.get()] = 0;
    const Stmt body = stmt(alloc->body);
    const int lanes = spare_[alloc->buffer.get()];
    if (lanes == 0) return body.same_as(alloc->body) ? s : make_alloc(alloc->buffer, body);
    BufferNode larger = *alloc->buffer;
    larger.shape[0] = fold_add(larger.shape[0], AnyExpr(lanes));
    const auto buffer = make_ref<BufferNode>(std::move(larger));
    return make_alloc(buffer, replace_buffer(body, alloc->buffer, buffer));
  }

 private:
  bool can_grow(const BufferNode& b) const {
    return b.scope <= Scope::local && b.rank() == 1 && b.dtype.lanes == 1 &&
           caps_.masks_by_parts(b.dtype.element_bytes());
  }

  AnyExpr rewritten(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    if (!n || !n->mask || !n->dtype.is_vector()) return descend(e);
    std::int64_t stride = 0;
    if (!spare_.contains(n->buffer.get()) || !lane_stride(n->indices[0], stride) || stride != 1 ||
        !is_of_first(n->mask))
      return descend(e);
    int& spare = spare_[n->buffer.get()];
    spare = std::max<int>(spare, n->dtype.lanes);
    const AnyExpr first = in_memory(lane_base(expr(n->indices[0])), n->buffer->shape[0]);
    const AnyExpr mask = expr(n->mask);
    return with_value(
        "all", make_load(n->buffer, {make_ramp(first, AnyExpr(1), n->dtype.lanes)}),
        [&](const AnyExpr& all) { return make_select(mask, all, make_const(n->dtype, 0)); });
  }

  /// Whether the mask takes the first lane if it takes any.
  static bool is_of_first(const AnyExpr& mask) {
    const auto* n = mask.as<BinaryNode>();
    if (n && n->op == BinaryOp::and_) return is_of_first(n->a) && is_of_first(n->b);
    return is_uniform(mask) || count_of_first_lanes(mask).get();
  }

  /// Where no lane is taken the place may be any.
  AnyExpr in_memory(const AnyExpr& first, const AnyExpr& size) const {
    const bool after = prove_le(AnyExpr(0), first, facts_), before = prove_le(first, size, facts_);
    const AnyExpr ended = before ? first : fold_min(first, size);
    return after ? ended : fold_max(ended, AnyExpr(0));
  }

  const TargetCaps& caps_;
  NodeMap<int> spare_;  ///< of the temporaries around: elements behind the last one that are loaded
};

}  // namespace detail

LATHE_DECL Program round_up_loads(const Program& program, const TargetCaps& caps) {
  return program.with(detail::RoundUpLoads(program, caps).stmt(program->body));
}

}  // namespace lathe
