#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/schedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// The number c of an index floormod(var, c); 0 if there is none.
class FindPanel : public Visitor {
 public:
  explicit FindPanel(const VarRef& var) : var_(var) {}
  std::int64_t width = 0;

  void expr(const AnyExpr& e) override {
    const auto* n = e.as<BinaryNode>();
    const auto* number = n && n->op == BinaryOp::floormod ? as_const_int(n->b) : nullptr;
    if (number && n->a.get() == var_.get()) width = *number;
    if (width == 0) descend(e);
  }

 private:
  const VarRef& var_;
};

// An operand in panels, read at floordiv(j, c) and floormod(j, c): the block runs over panels and
// columns of one, which are iterators with steps of their own then.
class CutPanels : NestSteps {
 public:
  using NestSteps::NestSteps;

  void run(const BlockRef& ref) {
    const BlockSite at = site(ref);
    for (const auto& it : at.block->iters) {
      const std::int64_t width = it.kind == IterKind::spatial ? panel_width(*at.block, it) : 0;
      if (width > 1 && attempt([&] { s_.transform_block_layout(ref, cut(*at.block, it, width)); }))
        return;
    }
  }

 private:
  static std::int64_t panel_width(const BlockNode& block, const IterVar& it) {
    const auto* extent = as_const_int(it.extent);
    FindPanel panel(it.var);
    for (const auto& read : reads_of(block))
      for (const auto& index : read.indices) panel.expr(index);
    return extent && panel.width > 0 && *extent % panel.width == 0 ? panel.width : 0;
  }

  static LayoutMap cut(const BlockNode& block, const IterVar& it, std::int64_t width) {
    Vec<VarRef> from;
    Vec<AnyExpr> to;
    for (const auto& each : block.iters) {
      from.push_back(make_var(each.var->name));
      const AnyExpr index(from.back());
      if (each.var == it.var)
        to.append({floordiv(index, width), floormod(index, width)});
      else
        to.push_back(index);
    }
    return make_ref<LayoutMapNode>(from, to);
  }
};

}  // namespace detail
}  // namespace lathe
