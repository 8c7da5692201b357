#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// What a value takes beyond the load that it becomes, in plain operations. Places and conditions
// are those of borders, which other rules handle.
class HoistedCost : public Visitor {
 public:
  HoistedCost(const BlockNode& block, bool gathers) : gathers_(gathers) {
    for (const auto& it : block.iters) iters_.push_back(it.var);
  }
  double ops = 0;

  void expr(const AnyExpr& e) override {
    if (const auto* load = e.as<LoadNode>()) {
      for (const auto& index : load->indices)
        ops += gathers_ && !affine_of(index, iters_) ? kGather : 0;
      return;
    }
    if (e.dtype().is_bool() || e.dtype() == kIndex) return;
    const auto* call = e.as<CallNode>();
    const auto* binary = e.as<BinaryNode>();
    if (call && is_transcendental(call->op))
      ops += kMathCost;
    else if ((call && call->op == CallOp::sqrt) ||
             (binary && binary->op == BinaryOp::div && e.dtype().is_float()))
      ops += kDivide;
    else
      ops += call || binary || e.kind() == ExprKind::Select;
    descend(e);
  }

 private:
  // Cycles for a vector beside 1 of a sum: x86-64 divides and takes roots in one unit, which is not
  // pipelined; a gather loads its lanes one by one.
  static constexpr double kDivide = 6, kGather = 4;
  const bool gathers_;
  Vec<VarRef> iters_;
};

// Values that a nest computes again in each iteration of an outer loop, along the one that becomes
// vectors: 1 / sqrt(v[c]) for each place of a picture, cos(t * f[j]) for each head. LLVM moves what
// stays the same in its innermost loop, and no others.
class HoistInvariants : NestSteps {
 public:
  using NestSteps::NestSteps;

  void run() {
    for (const auto& block : s_.blocks()) {
      const BlockSite at = site(block);
      if (!at.block || kept(block) || cost_of(*at.block, *at.block) < kWorth) continue;
      for (const auto& loop : at.loops)
        while (hoist(block, LoopRef(loop->var))) continue;
    }
  }

 private:
  static constexpr double kWorth = 4;
  // Instances of the block for each of the value, at least.
  static constexpr double kReuse = 4;

  // In what `reader` computes: loops of reductions are split where an index divides.
  static double cost_of(const BlockNode& block, const BlockNode& reader) {
    HoistedCost cost(block, !reader.reducer);
    cost.stmt(block.body);
    return cost.ops;
  }

  bool hoist(const BlockRef& block, const LoopRef& loop) {
    if (s_.check(primitive_hoist_invariant(), {block, loop})) return false;
    return attempt([&] { return pays(s_.hoist_invariant(block, loop), block); });
  }

  bool pays(const BlockRef& hoisted, const BlockRef& block) const {
    const BlockSite value = site(hoisted), reader = site(block);
    const double instances = volume(value.loops), cost = cost_of(*value.block, *reader.block);
    if (cost < kWorth || instances * kReuse > volume(reader.loops)) return false;
    const Buffer buffer = writes_of(*value.block)[0].buffer;
    const double bytes = instances * buffer->dtype.element_bytes();
    const double room = static_cast<double>(cost < kMathCost ? target_.l2_bytes : target_.l3_bytes);
    return bytes <= room && stands_in_vectors(nest_of(reader), buffer);
  }

  // Along lanes, or along terms: the loops that copies of vectors run along.
  bool stands_in_vectors(const DefaultNest& nest, const Buffer& buffer) const {
    for (const auto& read : nest.reads) {
      if (read.buffer != buffer) continue;
      if (nest.unit.var && step_of(read.indices, nest.unit.var) != Step::none) return true;
      for (const auto& loop : nest.reduce)
        if (step_of(read.indices, loop.var) != Step::none) return true;
    }
    return false;
  }
};

}  // namespace detail
}  // namespace lathe
