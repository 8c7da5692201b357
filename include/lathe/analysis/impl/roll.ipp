#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/analysis/impl/doubled.ipp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/ir/describe.hpp>

namespace lathe::detail {

// Indices of kept rows are counted in i64 from the first iteration on.
inline constexpr std::int64_t kMostRows = std::int64_t{1} << 20;

/// Looks for the window of a block below a loop. The tests say why there is none.
class RollPlanner {
 public:
  RollPlanner(const Program& program, const BlockTag& block, const VarRef& loop)
      : program_(program),
        loop_(find_loop(program->body, loop)),
        site_(find_block(program->body, block)),
        facts_(program_facts(program)) {}

  RollPlan run() {
    using Test = std::string (RollPlanner::*)();
    static constexpr Test kTests[] = {&RollPlanner::in_loop,      &RollPlanner::values,
                                      &RollPlanner::row_iterator, &RollPlanner::window,
                                      &RollPlanner::fixed_bounds, &RollPlanner::moves,
                                      &RollPlanner::output_axes,  &RollPlanner::storage};
    for (const Test& test : kTests)
      if (plan_.why = (this->*test)(); !plan_.why.empty()) break;
    return plan_;
  }

 private:
  const ForNode& loop() const { return *loop_.loop; }
  const BlockNode& block() const { return *site_.block; }
  std::string name() const { return "block " + in_quotes(block().name()); }
  std::string loop_text() const { return "loop " + describe(loop()); }

  std::string in_loop() {
    if (!below(site_.loops, loop().var))
      return name() + " is not inside " + loop_text() + ": compute it at that loop first";
    bool inside = false;
    for (std::size_t k = 0; k + 1 < site_.path.size(); ++k) {
      const Stmt& s = site_.path[k];
      const auto* f = s.as<ForNode>();
      if (f && inside) inner_.emplace_back(f);
      inside = inside || (f && f->var == loop().var);
      if (inside && !f && s.kind() != StmtKind::Seq && s.kind() != StmtKind::Alloc)
        return name() + " stands under a condition or inside another block";
    }
    return bound_written_inside(loop())
               ? "the bound of " + loop_text() + " is read from what is written inside it"
               : std::string();
  }

  // A row holds the same values whichever iteration computes it.
  std::string values() {
    const BlockInfo info = info_of(program_, block().tag);
    if (!info.is_complete() && !info.is_reduction())
      return name() + " can't leave out instances: " +
             (info.why.empty() ? std::string(to_text(info.kind)) : info.why);
    if (block().reducer && !block().init) return name() + " was separated from its init";
    if (!info.sole_writer) return name() + " is not the only writer of its output";
    if (stores_of(block()).empty()) return name() + " holds more than stores";
    return why_unsettled(program_, block());
  }

  // The one that moves with the loop.
  std::string row_iterator() {
    for (const auto& it : block().iters) {
      if (!uses_var(it.binding, loop().var)) continue;
      if (row_) return "two iterators of " + name() + " move with " + loop_text();
      row_ = &it;
    }
    if (!row_) return name() + " computes the same in each iteration of " + loop_text();
    if (row_->kind == IterKind::spatial) return {};
    return "iterator " + in_quotes(row_->var->name) + " of " + name() + " is no spatial one";
  }

  // Its binding is step * loop + row loop + what is the same in all iterations.
  std::string window() {
    const std::string what = "iterator " + in_quotes(row_->var->name) + " of " + name() + " is " +
                             extent_text(row_->binding);
    Vec<VarRef> vars{loop().var};
    for (const auto& f : inner_) vars.push_back(f->var);
    const auto sum = affine_of(row_->binding, vars, facts_);
    if (!sum || !sum->coef(0)) return what + ", which is not linear";
    std::int64_t rows_step = 0;
    for (std::size_t k = 1; k < vars.size(); ++k) {
      if (is_const(sum->coefs[k], 0)) continue;
      const auto coef = sum->coef(k);
      if (plan_.rows || !coef || (*coef != 1 && *coef != -1))
        return what + ": not " + in_quotes(loop().var->name) + " and one loop over rows";
      plan_.rows = inner_[k - 1];
      rows_step = *coef;
    }
    const std::int64_t step = *sum->coef(0);
    if (step < -kMostRows || step > kMostRows) return what + ", a step over the limit";
    plan_.step = step < 0 ? -step : step;
    plan_.upward = (step > 0) == (rows_step > 0);
    return plan_.rows ? std::string()
                      : name() + " computes one row in each iteration of " + loop_text();
  }

  // Which instances a row has does not depend on the iteration.
  std::string fixed_bounds() {
    const ForNode& rows = *plan_.rows;
    for (const auto& it : block().iters)
      if (&it != row_ && uses_var(it.binding, rows.var))
        return "two iterators of " + name() + " move with loop " + describe(rows);
    for (const auto& f : inner_)
      for (const auto* bound : {&f->min, &f->extent})
        if (uses_var(*bound, loop().var) || uses_var(*bound, rows.var))
          return "the bounds of loop " + describe(*f) + " differ between rows or iterations";
    if (rows.loop_kind != ForKind::serial || !rows.attributes.empty())
      return "loop " + describe(rows) + " over the rows of " + name() + " is marked";
    if (block_tags(rows.body).size() != 1)
      return "loop " + describe(rows) + " over the rows of " + name() + " holds other blocks too";
    return {};
  }

  std::string moves() {
    const ForNode& rows = *plan_.rows;
    const std::int64_t* length = as_const_int(rows.extent);
    if (!length || *length > kMostRows || !as_const_int(rows.min))
      return "loop " + describe(rows) + " over the rows of " + name() + " has no constant bounds";
    plan_.length = *length;
    if (plan_.step < plan_.length) return {};
    return "each iteration of " + loop_text() + " moves on by " + std::to_string(plan_.step) +
           " rows of " + name() + " and needs " + std::to_string(plan_.length) +
           ": there is none to keep";
  }

  std::string output_axes() {
    Vec<VarRef> iters;
    for (const auto& it : block().iters) iters.push_back(it.var);
    for (const auto* store : stores_of(block())) {
      const std::string output = "buffer " + in_quotes(store->buffer->name);
      std::optional<std::size_t> axis;
      for (std::size_t d = 0; d < store->indices.size(); ++d) {
        if (!uses_var(store->indices[d], row_->var)) continue;
        const auto sum = affine_of(store->indices[d], iters, facts_);
        bool row = sum && !axis;
        for (std::size_t k = 0; row && k < iters.size(); ++k)
          row = iters[k] == row_->var ? sum->coef(k) == 1 || sum->coef(k) == -1
                                      : is_const(sum->coefs[k], 0);
        if (!row) return "the rows of " + output + " are not along one of its axes";
        axis = d;
      }
      if (!axis) return "the rows of " + output + " are not along one of its axes";
      for (const auto& [other, at] : plan_.outputs)
        if (other == store->buffer) return name() + " stores twice to " + output;
      plan_.outputs.emplace_back(store->buffer, *axis);
    }
    return {};
  }

  // Nobody but an iteration sees its window.
  std::string storage() {
    for (const auto& [buffer, axis] : plan_.outputs) {
      const std::string output = "buffer " + in_quotes(buffer->name);
      if (!is_private(program_->body, buffer)) return output + " is a parameter";
      const UsePlaces uses(program_, buffer, loop().var);
      if (uses.outside) return output + " is used outside of " + loop_text() + " too";
      if (uses.opaque) return output + " is used by an opaque block";
      if (std::string why = why_not_sized_above(program_, loop_, buffer); !why.empty())
        return output + " " + why;
      if (const ForNode* inner = shared_by_iterations(loop(), buffer))
        return output + " belongs to one iteration of the " +
               std::string(to_text(inner->loop_kind)) + " loop " + in_quotes(inner->var->name);
      if (std::string other = other_mark(*buffer); !other.empty()) return output + other;
      if (!filled_each_iteration(program_, buffer, loop(), facts_))
        return "what an iteration of " + loop_text() + " reads of " + output +
               " is not proved to lie in the window that it computes";
    }
    return {};
  }

  // A version for each iteration of a loop that must see what others kept, or rows along two loops.
  std::string other_mark(const BufferNode& buffer) const {
    for (const auto& f : site_.loops) {
      const bool inside = f->var == loop().var || below(inner_, f->var);
      if (inside && f->attributes.has(DoubleBufferAttr{buffer.name}))
        return " has a version for each iteration of loop " + in_quotes(f->var->name);
      if (f->var != loop().var && f->attributes.has(RollingAttr{block().name()}))
        return " keeps rows along loop " + in_quotes(f->var->name);
    }
    return {};
  }

  const Program& program_;
  const LoopSite loop_;
  const BlockSite site_;
  const Facts facts_;
  Vec<ForRef> inner_;  ///< the loops between the loop and the block
  const IterVar* row_ = nullptr;
  RollPlan plan_;
};

LATHE_DECL RollPlan plan_roll(const Program& program, const BlockTag& block, const VarRef& loop) {
  return RollPlanner(program, block, loop).run();
}

}  // namespace lathe::detail
