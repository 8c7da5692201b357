#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/marks.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/lower/blocks/marked_loops.ipp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

/// A block that keeps rows along a loop.
struct Rolling {
  VarRef loop;
  RollPlan plan;
};

// What the marks of a program ask for.
inline Vec<Rolling> rolls_of(const Program& program) {
  Vec<Rolling> out;
  for (const auto& loop : loops_marked<RollingAttr>(program)) {
    const LoopSite site = find_loop(program->body, loop);
    for (const auto& a : site.loop->attributes) {
      const auto* mark = a.as<RollingAttr>();
      if (!mark) continue;
      const std::string why = why_not_honoured(program, site, a);
      if (!why.empty()) refuse_mark(*site.loop, a, why);
      out.push_back({loop, plan_roll(program, block_named(program->body, mark->block), loop)});
    }
  }
  return out;
}

// All of the window in the first iteration, the new rows in the others: as many of the kept ones
// are left out as iterations have computed. Without a case distinction, so that it has bounds.
inline Program skip_kept_rows(const Program& program, const Rolling& roll) {
  const ForNode& loop = *find_loop(program->body, roll.loop).loop;
  const LoopSite site = find_loop(program->body, roll.plan.rows->var);
  const AnyExpr kept(roll.plan.length - roll.plan.step);
  const AnyExpr skipped =
      make_binary(BinaryOp::min, fold_mul(fold_sub(AnyExpr(loop.var), loop.min), kept), kept);
  LoopHead head = head_of(*site.loop);
  head.extent = fold_sub(head.extent, skipped);
  if (roll.plan.upward) head.min = fold_add(head.min, skipped);
  return program.with(replace_at(site.path, wrap_loops({head}, site.loop->body)));
}

class FoldRows : public MoveAccesses {
 public:
  FoldRows(const Buffer& from, const Buffer& to, std::size_t axis)
      : MoveAccesses(from, to), axis_(axis) {}

 private:
  Vec<AnyExpr> place(const Vec<AnyExpr>& indices) override {
    Vec<AnyExpr> out = indices;
    out[axis_] = fold_floormod(out[axis_], to_->shape[axis_]);
    return out;
  }
  std::size_t axis_;
};

inline Program fold_rows(const Program& program, const Rolling& roll, const Buffer& buffer,
                         std::size_t axis) {
  BufferNode node = *buffer;
  node.shape[axis] = AnyExpr(roll.plan.length);
  node.strides.clear();
  const Buffer folded(new BufferNode(std::move(node)));
  Program out = program.with(remove_alloc(program->body, buffer));
  out = out.with(FoldRows(buffer, folded, axis).stmt(out->body));
  return with_alloc(out, roll.loop, folded, false);
}

}  // namespace detail

LATHE_DECL Program roll_buffers(const Program& program) {
  Program out = program;
  for (const auto& roll : detail::rolls_of(program)) {
    out = detail::skip_kept_rows(out, roll);
    for (const auto& [buffer, axis] : roll.plan.outputs)
      out = detail::fold_rows(out, roll, buffer, axis);
  }
  for (const auto& loop : detail::loops_marked<RollingAttr>(program))
    out = detail::without_marks<RollingAttr>(out, loop);
  return out;
}

}  // namespace lathe
