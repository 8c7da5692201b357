#pragma once

#include <algorithm>
#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/settle_terms.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

struct MergePlan {
  Vec<LoopSite> sites;
  Facts facts;                   ///< what holds around the loops
  Vec<Buffer> written;           ///< below any of them
  LoopHead head;                 ///< of the merged loop
  Vec<ForRef> parts;             ///< the merged loop, each with one of the bodies
  Vec<Vec<AccessSite>> touched;  ///< below each part

  bool changes(const LoadedBuffers& loads) const {
    for (const auto& b : loads.found)
      if (contains(written, b)) return true;
    return false;
  }
};

// "loop 'j'(4)", "block 'C'".
inline std::string loop_or_block_text(const Stmt& s) {
  if (const auto* loop = s.as<ForNode>()) return "loop " + describe(*loop);
  if (const auto* block = s.as<BlockNode>()) return "block " + in_quotes(block->name());
  return "another statement";
}

// The statements from one loop to another that comes later in its sequence; empty if it does not.
inline Vec<Stmt> from_to(const LoopSite& first, const LoopSite& last) {
  Vec<Stmt> out;
  if (first.path.size() < 2) return out;
  const auto* seq = first.path[first.path.size() - 2].as<SeqNode>();
  if (!seq) return out;
  for (const Stmt& s : seq->stmts) {
    if (out.empty() && !s.same_as(first.path.back())) continue;
    out.push_back(s);
    if (s.same_as(last.path.back())) return out;
  }
  return {};
}

inline constexpr const char* kPassedHelp =
    "between merged loops may stand what touches nothing of the later one";

// What a statement between the loops would see too early, or too late, if the second one went to
// the first.
inline Verdict check_passed(const LoopSite& loop, const Stmt& between) {
  const Stmt& moved = loop.path.back();
  const Vec<Buffer> written = buffers_written(moved), read = buffers_read(moved),
                    written_between = buffers_written(between);
  const auto clash = [&](const Buffer& b, std::string_view what) {
    return refusal_at(loop.loop->var, "L0230",
                      "loop " + describe(*loop.loop) + " can't move past " +
                          loop_or_block_text(between) + ", which " + std::string(what) + ' ' +
                          in_quotes(b->name),
                      kPassedHelp);
  };
  for (const auto& b : written_between)
    if (contains(written, b) || contains(read, b)) return clash(b, "writes");
  for (const auto& b : buffers_read(between))
    if (contains(written, b)) return clash(b, "reads");
  if (any_statement(between, [](const Stmt& s) { return s.kind() == StmtKind::Assert; }))
    return refusal_at(loop.loop->var, "L0230",
                      "loop " + describe(*loop.loop) + " can't move past an assert", kPassedHelp);
  return {};
}

inline std::string bounds_text(const ForNode& loop) {
  return extent_text(loop.min) + ".." + extent_text(simplify(fold_add(loop.min, loop.extent)));
}

inline Verdict find_siblings(const Program& program, const Vec<Arg>& loops, MergePlan& plan) {
  if (loops.size() < 2) return refusal("L0202", "needs at least two loops");
  for (std::size_t k = 0; k < loops.size(); ++k) {
    for (std::size_t other = 0; other < k; ++other)
      if (loops[other].loop == loops[k].loop)
        return refusal_at(loops[k].loop, "L0202",
                          "loop " + in_quotes(loops[k].loop->name) + " is named twice");
    plan.sites.push_back(find_loop(program->body, loops[k].loop));
    const ForNode& loop = *plan.sites[k].loop;
    if (auto no = check_serial_change(loop, Change::replace)) return no;
    if (k == 0) continue;
    if (from_to(plan.sites[k - 1], plan.sites[k]).empty())
      return refusal_at(loop.var, "L0230",
                        "loop " + describe(loop) + " does not come after loop " +
                            describe(*plan.sites[k - 1].loop) + " in one sequence",
                        "name loops of one sequence, in their order");
    for (const Stmt& between : from_to(plan.sites[0], plan.sites[k])) {
      bool merged = between.same_as(plan.sites[k].path.back());
      for (const auto& site : plan.sites) merged = merged || between.same_as(site.path.back());
      if (merged) continue;
      if (auto no = check_passed(plan.sites[k], between)) return no;
    }
  }
  return {};
}

inline Verdict check_same_bounds(const MergePlan& plan) {
  const ForNode& first = *plan.sites[0].loop;
  for (const auto& site : plan.sites)
    if (!prove_eq(site.loop->min, first.min, plan.facts) ||
        !prove_eq(site.loop->extent, first.extent, plan.facts))
      return refusal_at(site.loop->var, "L0230",
                        "the bounds " + bounds_text(*site.loop) + " of loop " +
                            in_quotes(site.loop->var->name) + " are not proven to be those of " +
                            in_quotes(first.var->name) + ", " + bounds_text(first),
                        "compute_at and reverse_compute_at need no equal bounds");
  return {};
}

// What the order of accesses does not tell: an assert ends the kernel, and a bound that is read
// from memory is no number to compare indices by.
inline Verdict check_held(const MergePlan& plan) {
  for (const auto& site : plan.sites) {
    std::string why;
    any_statement(site.path.back(), [&](const Stmt& s) {
      if (s.kind() == StmtKind::Assert) why = "holds an assert, which ends the kernel";
      if (const auto* loop = s.as<ForNode>()) {
        LoadedBuffers loads;
        loads.expr(loop->min), loads.expr(loop->extent);
        if (plan.changes(loads))
          why = "holds or has a bound that is read from memory which is written below";
      }
      return !why.empty();
    });
    if (!why.empty())
      return refusal_at(site.loop->var, "L0230", "loop " + describe(*site.loop) + " " + why);
  }
  return {};
}

inline void plan_parts(MergePlan& plan) {
  Vec<std::string> used;
  for (const auto& site : plan.sites)
    for (auto& name : names_around(site)) used.push_back(std::move(name));
  const ForNode& first = *plan.sites[0].loop;
  plan.head = {make_var(loop_name(first.var->name, used)), first.min, first.extent};
  for (const auto& site : plan.sites) {
    Stmt part = wrap_loops({plan.head},
                           substitute(site.loop->body, {{site.loop->var, AnyExpr(plan.head.var)}}));
    plan.touched.push_back(accesses(part, AccessTerms::loops, plan.facts));
    plan.parts.emplace_back(part.as<ForNode>());
  }
  // Each part meets what the others write.
  Vec<Stmt> all;
  for (const auto& part : plan.parts) all.push_back(Stmt(part));
  const Stmt both = make_seq(std::move(all));
  for (auto& part : plan.touched) SettleTerms(both).run(part);
}

// The init of a reduction that the merged loop feeds will stand before the loop, and so before the
// bodies that were done by then.
inline Verdict check_moved_inits(const MergePlan& plan) {
  for (std::size_t k = 1; k < plan.parts.size(); ++k)
    for (const auto& below : blocks_below(plan.parts[k]->body)) {
      const BlockNode& block = *below.block;
      bool outside = !block.init;
      for (const auto& outer : plan.sites[k].loops)
        outside = outside || feeds(*outer, block, IterKind::reduce);
      if (outside || !feeds(*plan.parts[k], block, IterKind::reduce)) continue;
      for (std::size_t before = 0; before < k; ++before)
        for (const auto& access : plan.touched[before])
          for (const auto* store : stores_of(block))
            if (access.buffer == store->buffer)
              return refusal_at(block.tag, "L0230",
                                "loop " + describe(*plan.sites[k].loop) +
                                    " feeds the reduction of block " + in_quotes(block.name()) +
                                    ", whose init would move before what loop " +
                                    describe(*plan.sites[before].loop) + " does with " +
                                    in_quotes(store->buffer->name),
                                "decompose the reduction first");
    }
  return {};
}

// An init runs also where the loops of the reduction run nothing: as if they ran at least once. It
// needs none of the conditions of an update.
inline AccessSite init_of(const AccessSite& update) {
  AccessSite init = update;
  init.kind = AccessKind::write;
  init.condition = {};
  for (std::size_t k = 1; k < init.loops.size(); ++k) {
    const ForNode& f = *init.loops[k];
    AnyExpr extent = simplify(fold_max(f.extent, AnyExpr(1)));
    init.loops[k] = ForRef(make_for(f.var, f.min, extent, f.body).as<ForNode>());
  }
  return init;
}

// Reductions whose loops lie below the merged one have their inits there.
inline void add_inits(MergePlan& plan) {
  for (std::size_t k = 0; k < plan.parts.size(); ++k) {
    Vec<AccessSite>& all = plan.touched[k];
    for (std::size_t at = 0, count = all.size(); at < count; ++at) {
      if (!all[at].is_write || !all[at].block || !all[at].block->init) continue;
      bool outside = feeds(*plan.parts[k], *all[at].block, IterKind::reduce);
      for (const auto& outer : plan.sites[k].loops)
        outside = outside || feeds(*outer, *all[at].block, IterKind::reduce);
      if (!outside) all.push_back(init_of(all[at]));
    }
  }
}

// How many iterations the first access comes after the second where both touch one element; 0 if
// that is not one number.
inline std::int64_t iterations_late(const AccessSite& a, const AccessSite& b, const ForNode& loop) {
  auto step = [&](const AnyExpr& index) {
    AnyExpr next = substitute(index, {{loop.var, fold_add(AnyExpr(loop.var), AnyExpr(1))}});
    return const_int(fold_sub(next, index));
  };
  for (std::size_t d = 0; d < a.indices.size() && d < b.indices.size(); ++d) {
    bool alone = true;
    for (const auto* site : {&a, &b})
      for (const auto& f : site->loops)
        alone = alone && (f->var == loop.var || !uses_var(site->indices[d], f->var));
    if (!alone) continue;
    auto by = step(a.indices[d]), other = step(b.indices[d]);
    auto gap = const_int(fold_sub(b.indices[d], a.indices[d]));
    if (by && other && gap && *by == *other && *by != 0 && *gap % *by == 0) return *gap / *by;
  }
  return 0;
}

inline Refusal out_of_order(const AccessSite& a, const AccessSite& b, bool proven,
                            const MergePlan& plan, std::size_t first, std::size_t second) {
  const ForNode &loop = *plan.sites[first].loop, &other = *plan.sites[second].loop;
  std::int64_t late = iterations_late(a, b, *plan.parts[0]);
  std::string when = proven ? " in an iteration before " : " maybe in an iteration before ";
  if (late > 0)
    when = " " + std::to_string(late) + (late == 1 ? " iteration before " : " iterations before ");
  return refusal_at(other.var, "L0207",
                    "loops " + describe(loop) + " and " + describe(other) +
                        " can't run in turn: " + describe(b) + when + describe(a),
                    a.is_write && b.reads() ? "compute_at computes in each iteration what it needs"
                                            : "keep the loops apart");
}

// Whatever an earlier body touches in a later iteration has to come before the later body does.
inline Verdict check_merged_order(const MergePlan& plan) {
  const Vec<ForRef> loop{plan.parts[0]};
  for (std::size_t second = 1; second < plan.parts.size(); ++second)
    for (std::size_t first = 0; first < second; ++first)
      for (const auto& a : plan.touched[first])
        for (const auto& b : plan.touched[second]) {
          if (a.buffer != b.buffer || (!a.is_write && !b.is_write)) continue;
          DependenceVectors found = dependence(a, b, loop, plan.facts);
          for (const auto& v : found.vectors)
            if ((v[0] & Direction::gt) != Direction::none)
              return out_of_order(a, b, found.answer == Answer::yes, plan, first, second);
        }
  return {};
}

inline Program merged_program(const Program& program, const MergePlan& plan) {
  Vec<Stmt> bodies, path = plan.sites[0].path, children;
  for (const auto& part : plan.parts) bodies.push_back(part->body);
  Stmt merged = wrap_loops({plan.head}, make_seq(std::move(bodies)));
  path.pop_back();
  for (const auto& s : seq_of(path.back())) {
    bool gone = false;
    for (const auto& site : plan.sites) gone = gone || s.same_as(site.path.back());
    if (s.same_as(plan.sites[0].path.back())) children.push_back(merged);
    if (!gone) children.push_back(s);
  }
  return program.with(replace_at(path, make_seq(std::move(children))));
}

inline Verdict run_merge(const Program& program, const Args& args, Edit* edit) {
  MergePlan plan;
  if (auto no = find_siblings(program, args[0].list, plan)) return no;
  plan.facts = facts_on(plan.sites[0].path, program_facts(program));
  if (auto no = check_same_bounds(plan)) return no;
  for (const auto& site : plan.sites)
    for (const auto& b : buffers_written(site.loop->body)) plan.written.push_back(b);
  if (auto no = check_held(plan)) return no;
  plan_parts(plan);
  if (auto no = check_moved_inits(plan)) return no;
  if (!runs_at_most_once(*plan.parts[0])) {
    add_inits(plan);
    if (auto no = check_merged_order(plan)) return no;
  }
  if (!edit) return {};
  edit->program = merged_program(program, plan);
  for (const auto& site : plan.sites)
    edit->consumed.push_back({site.loop->var, "was merged into " + plan.head.var->name});
  edit->results.push_back(LoopRef(plan.head.var));
  return {};
}

LATHE_DECL const Primitive& primitive_merge() {
  static const Primitive record{"merge",
                                1,
                                {{"loops", ArgKind::list, {}, ArgKind::loop}},
                                "loops of one sequence become one with all their bodies",
                                run_merge,
                                ArgKind::loop,
                                Results::one};
  return record;
}

}  // namespace lathe::detail
