#pragma once

#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Loops become two where an index divides what they count: x[floordiv(f, 16), floormod(f, 16)] is
// linear in the parts of f, and so is what groups, panels and pixel shuffles read.
class SplitComposites : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run(const BlockRef& block) {
    const BlockSite at = site(block);
    if (!at.block) return;
    FindQuotients found;
    found.stmt(at.block->body);
    for (const auto& it : at.block->iters)
      for (const auto& loop : at.loops) {
        if (it.binding.get() != loop->var.get() || loop->loop_kind != ForKind::serial) continue;
        const std::int64_t part = found.part_of(it);
        if (part > 0) attempt([&] { s_.split_any(LoopRef(loop->var), {infer, part}); });
      }
  }

 private:
  class FindQuotients : public Visitor {
   public:
    void expr(const AnyExpr& e) override {
      const auto* n = e.as<BinaryNode>();
      if (n && (n->op == BinaryOp::floordiv || n->op == BinaryOp::floormod) &&
          n->a.kind() == ExprKind::Var)
        if (const std::int64_t* c = as_const_int(n->b)) divided_.push_back({n->a, *c});
      descend(e);
    }
    // The one number that divides the iterator; 0 if there is none, or another.
    std::int64_t part_of(const IterVar& it) const {
      const std::int64_t* extent = as_const_int(it.extent);
      std::int64_t part = 0;
      for (const auto& [var, by] : divided_) {
        if (var.get() != it.var.get()) continue;
        if (!extent || by < 2 || by >= *extent || (part > 0 && part != by)) return 0;
        part = by;
      }
      return part;
    }

   private:
    struct Divided {
      AnyExpr var;
      std::int64_t by;
    };
    Vec<Divided> divided_;
  };
};

}  // namespace detail
}  // namespace lathe
