#pragma once

#include <algorithm>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/partition.hpp>
#include <lathe/analysis/shift.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/describe.hpp>

namespace lathe::detail {

LATHE_DECL bool is_shifted(const ForNode& loop) { return tail_of(loop) == Tail::shift; }

LATHE_DECL Vec<VarRef> shifted_loops(const Stmt& s) {
  Vec<VarRef> loops;
  any_statement_in(
      s, [](const Stmt& below) { return !has_contents(below) || contents_of(below).marks; },
      [&](const Stmt& below) {
        if (const auto* f = below.as<ForNode>(); f && is_shifted(*f)) loops.push_back(f->var);
        return false;
      });
  return loops;
}

// Whether statements name variables anywhere but in the bindings of blocks.
class NamesApartFromBindings : public Visitor {
 public:
  explicit NamesApartFromBindings(const Vec<VarRef>& vars) : vars_(vars) {}
  bool found = false;
  void expr(const AnyExpr& e) override {
    for (const auto& v : vars_) found |= e.get() == v.get();
    descend(e);
  }
  void stmt(const Stmt& s) override {
    const auto* block = s.as<BlockNode>();
    if (!block) return descend(s);
    BlockNode unbound = *block;
    for (auto& it : unbound.iters) it.binding = AnyExpr(0);
    descend(make_block(std::move(unbound)));
  }

 private:
  const Vec<VarRef>& vars_;
};

// An iterator whose domain the tiles cover: binding = start of the tile + loop.
class ShiftPlanner {
 public:
  ShiftPlanner(const Program& program, const LoopSite& site)
      : program_(program),
        site_(site),
        blocks_(blocks_below(site.loop->body)),
        facts_(facts_on(site.path, program_facts(program))) {
    facts_.keep_unit_vars();
  }

  ShiftPlan run() {
    if (!as_const_int(site_.loop->extent)) return refuse("its tiles have no constant extent");
    if (!is_plain_nest(site_.loop->body)) return refuse("it holds more than loops and blocks");
    for (const auto& site : blocks_)
      for (const auto& it : site.block->iters)
        if (covers(it)) return checked();
    return refuse("its tiles are not proven to cover one range of all blocks in it");
  }

 private:
  ShiftPlan refuse(std::string why) const {
    ShiftPlan out;
    out.why = std::move(why);
    return out;
  }

  // Fills the plan for this iterator, if what the loop does depends on start + loop alone.
  bool covers(const IterVar& it) {
    auto map = affine_of(it.binding, {site_.loop->var}, facts_);
    if (!map || map->coef(0) != 1) return false;
    plan_ = {};
    tiles_.clear();
    plan_.start = simplify(fold_add(map->rest, site_.loop->min), facts_);
    plan_.end = fold_add(it.min, it.extent);
    return over_dims(program_, plan_.end) && find_tiles() && first_tile() && one_range(map->rest);
  }

  // The loops around that the start of a tile names.
  bool find_tiles() {
    Vec<VarRef> names = free_vars(plan_.start);
    for (const auto& loop : site_.loops)
      if (contains(names, loop->var)) tiles_.push_back(loop);
    for (const auto& name : names)
      if (!is_dim(program_, name) && !below(tiles_, name)) return false;
    for (const auto& tile : tiles_) {
      if (is_shifted(*tile)) return false;
      for (const auto& other : tiles_)
        if (uses_var(tile->min, other->var) || uses_var(tile->extent, other->var)) return false;
    }
    if (!tiles_.empty()) plan_.nest = tiles_[0]->var;
    return !tiles_.empty();
  }

  // Neither tile leaves a gap to the one before, and where the first one starts.
  bool first_tile() {
    Vec<VarRef> vars = vars_of(tiles_);
    auto map = affine_of(plan_.start, vars, facts_);
    if (!map) return false;
    AnyExpr first = map->rest;
    Vec<std::pair<std::int64_t, const ForNode*>> strides;
    for (std::size_t k = 0; k < vars.size(); ++k) {
      auto stride = map->coef(k);
      if (!stride || *stride < 1) return false;
      first = fold_add(first, fold_mul(AnyExpr(*stride), tiles_[k]->min));
      strides.push_back({*stride, tiles_[k].get()});
    }
    // Of loops that step equally far, the one of unknown extent counts the others.
    std::stable_sort(strides.begin(), strides.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first
                                : as_const_int(a.second->extent) && !as_const_int(b.second->extent);
    });
    std::int64_t reach = *as_const_int(site_.loop->extent);
    for (std::size_t k = 0; k < strides.size(); ++k) {
      const auto [stride, loop] = strides[k];
      if (stride > reach) return false;
      const std::int64_t* count = as_const_int(loop->extent);
      if (!count && k + 1 < strides.size()) return false;
      std::int64_t more = 0;
      if (count && (__builtin_mul_overflow(stride, std::max<std::int64_t>(*count - 1, 0), &more) ||
                    __builtin_add_overflow(reach, more, &reach)))
        return false;
    }
    if (!over_dims(program_, first)) return false;
    plan_.fits = simplify(fold_add(first, site_.loop->extent), facts_) <= plan_.end;
    return true;
  }

  // Every block's instance depends on the position start + loop alone, not on which tile it is
  // reached in; and none exists at or past the end.
  bool one_range(const AnyExpr& rest) {
    VarRef position = make_var("position");
    Substitution at{{site_.loop->var, fold_sub(AnyExpr(position), rest)}};
    Vec<VarRef> outer = vars_of(tiles_), names = outer;
    names.push_back(position);
    NamesApartFromBindings named(names);
    named.stmt(substitute(site_.loop->body, at));
    if (named.found) return false;
    for (const auto& site : blocks_) {
      Facts past = facts_.with(AnyExpr(position) >= plan_.end);
      for (const auto& inner : site.loops) past.bind(*inner);
      bool dead = false;
      for (const auto& it : site.block->iters) {
        AnyExpr value = simplify(substitute(it.binding, at), facts_);
        for (const auto& tile : outer)
          if (uses_var(value, tile)) return false;
        dead |= uses_var(value, position) && (prove_le(fold_add(it.min, it.extent), value, past) ||
                                              prove_lt(value, it.min, past));
      }
      if (!dead) return false;
    }
    return true;
  }

  ShiftPlan checked() const {
    for (const auto& site : blocks_) {
      BlockInfo info = info_of(program_, site.block->tag);
      if (info.is_complete()) continue;
      return refuse("block " + in_quotes(site.block->name()) +
                    " can't run twice: " + (info.is_reduction() ? "it is a reduction" : info.why));
    }
    if (std::string why = shared_tiles(); !why.empty()) return refuse(why);
    if (std::string why = rolled_rows(); !why.empty()) return refuse(why);
    LoopSite nest = find_loop(program_->body, plan_.nest);
    std::string why;
    any_use(nest.path.back(), [&](const BufferUse& use) { return !(why = touched(use)).empty(); });
    return why.empty() ? plan_ : refuse(why);
  }

  // Neighbouring tiles store the same elements.
  std::string shared_tiles() const {
    bool inside = false;
    for (const auto& loop : site_.loops) {
      inside |= loop->var == plan_.nest;
      if (inside && loop->loop_kind != ForKind::serial && loop->loop_kind != ForKind::unrolled)
        return "loop " + describe(*loop) + " would store the elements of two tiles at a time";
    }
    return {};
  }

  // Rows of several iterations of a loop around share what holds them.
  std::string rolled_rows() const {
    for (const auto& site : blocks_)
      for (const auto& loop : site_.loops)
        if (loop->attributes.has(RollingAttr{site.block->name()}))
          return "loop " + describe(*loop) + " keeps rows of block " +
                 in_quotes(site.block->name());
    return {};
  }

  // What a tile reads, and what it stored, must be the same when it runs again after others.
  std::string touched(const BufferUse& use) const {
    bool stored = false, read = false;
    any_use(site_.loop->body, [&](const BufferUse& own) {
      if (own.buffer != use.buffer) return false;
      (own.is_write ? stored : read) = true;
      return false;
    });
    const bool own = use.is_below(site_.loop->var);
    if (!(stored && (use.reads() || !own)) && !(read && use.is_write)) return {};
    if (stored && read) return "a tile both stores and reads buffer " + in_quotes(use.buffer->name);
    return "buffer " + in_quotes(use.buffer->name) + " is " + (use.is_write ? "written" : "read") +
           (use.block ? " by block " + in_quotes(use.block->name()) : std::string()) +
           " between two runs of a tile that " + (stored ? "stores" : "reads") + " it";
  }

  const Program& program_;
  const LoopSite& site_;
  Vec<BlockSite> blocks_;
  Facts facts_;
  ShiftPlan plan_;
  Vec<ForRef> tiles_;  ///< outermost first
};

LATHE_DECL ShiftPlan plan_shift(const Program& program, const VarRef& loop) {
  const LoopSite site = find_loop(program->body, loop);
  return ShiftPlanner(program, site).run();
}

}  // namespace lathe::detail
