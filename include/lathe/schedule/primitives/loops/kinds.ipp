#pragma once

#include <algorithm>
#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

inline constexpr std::int64_t kMaxLanes = 1024;
inline constexpr std::int64_t kMaxUnroll = 4096;

inline bool touched_outside(const Program& program, const ForNode& loop, const Buffer& buffer) {
  return any_use_of({buffer}, program->body,
                    [&](const BufferUse& use) { return !use.is_below(loop.var); });
}

// The program with every buffer that belongs to one iteration of the loop allocated inside it.
inline Stmt with_private_buffers(const Program& program, const VarRef& var) {
  Stmt root = program->body;
  Facts facts = program_facts(program);
  LoopSite site = find_loop(root, var);
  for (const auto& buffer : buffers_written(site.loop->body)) {
    if (is_param(program, buffer) || is_private(site.loop->body, buffer)) continue;
    if (is_thread_axis(site.loop->loop_kind) && buffer->scope == Scope::shared) continue;
    if (touched_outside(program, *site.loop, buffer) ||
        !filled_each_iteration(program, buffer, *site.loop, facts))
      continue;
    root = remove_alloc(root, buffer);
    LoopSite now = find_loop(root, var);
    const ForNode& f = *now.loop;
    root = replace_at(now.path, make_for(f.var, f.min, f.extent, make_alloc(buffer, f.body),
                                         f.loop_kind, f.attributes));
  }
  return root;
}

// A buffer of one iteration that the schedule wants above the loop or one around it, where all
// threads or lanes would share it.
inline Verdict check_not_hoisted(const Program& program, const LoopSite& site) {
  Vec<ForRef> loops = site.loops;
  loops.push_back(site.loop);
  loops.erase_if([](const ForRef& loop) { return !loop->attributes.has<HoistAttr>(); });
  if (loops.empty()) return {};
  for (const auto& buffer : buffers_written(site.loop->body))
    for (const auto& outer : loops)
      if (outer->attributes.has(HoistAttr{buffer->name}) &&
          !touched_outside(program, *site.loop, buffer))
        return refusal_at(site.loop->var, "L0240",
                          "buffer " + in_quotes(buffer->name) + " is allocated above loop " +
                              in_quotes(outer->var->name) + ", so iterations of loop " +
                              describe(*site.loop) + " would share it",
                          "hoist it above a loop inside this one");
  return {};
}

// A reduce iterator that the loop feeds, which neither threads nor lanes may share.
inline Verdict check_no_reduction(const ForNode& loop, const char* what) {
  for (const auto& site : blocks_below(loop.body)) {
    // Without a reducer the dependences between its accesses say all.
    if (!site.block->reducer || !feeds(loop, *site.block, IterKind::reduce)) continue;
    return refusal_at(
        loop.var, "L0208",
        "loop " + describe(loop) + " feeds the reduction of block " +
            in_quotes(site.block->name()) +
            ": its iterations update the same elements and can't be " + what,
        "rfactor " + in_quotes(loop.var->name) + " first, or take a loop over spatial axes");
  }
  return {};
}

class FindImpure : public Visitor {
 public:
  std::string found;
  void stmt(const Stmt& s) override {
    if (s.kind() == StmtKind::While) found = "a while loop";
    if (s.kind() == StmtKind::Assert) found = "an assert";
    if (s.kind() == StmtKind::Atomic) found = "an atomic update";
    descend(s);
  }
};

// Of blocks that were tensorized and are now part of a larger one.
class FindVectors : public Visitor {
 public:
  bool found = false;
  void expr(const AnyExpr& e) override {
    found = found || e.dtype().is_vector();
    if (!found) descend(e);
  }
};

LATHE_DECL Verdict check_parallel(const Program& program, const VarRef& var) {
  const LoopSite site = find_loop(program->body, var);
  const ForRef& loop = site.loop;
  if (auto no = check_no_reduction(*loop, "parallel")) return no;
  if (auto no = check_not_hoisted(program, site)) return no;
  if (runs_at_most_once(*loop)) return {};
  auto bad = carried_by(with_private_buffers(program, var), var, program_facts(program));
  if (!bad) return {};
  return refusal_at(var, "L0207", "iterations of loop " + describe(*loop) + " " + bad->text(),
                    "make another loop parallel, or move the producer inside with compute_at");
}

// What loops inside would have to do for all lanes at once.
inline Verdict check_loops_below(const ForNode& loop) {
  Verdict no;
  Vec<VarRef> differ{loop.var};  // between lanes: iterators inside blocks stand for the loop
  auto differs = [&](const AnyExpr& e) {
    for (const auto& v : differ)
      if (uses_var(e, v)) return true;
    return loads_written(e, loop.body);
  };
  any_statement(loop.body, [&](const Stmt& s) {
    if (const auto* block = s.as<BlockNode>())
      for (const auto& it : block->iters)
        if (differs(it.binding)) differ.push_back(it.var);
    const auto* inner = s.as<ForNode>();
    if (!inner) return false;
    if (differs(inner->min) || differs(inner->extent))
      no = refusal_at(inner->var, "L0209",
                      "the bound of loop " + in_quotes(inner->var->name) +
                          " differs between the lanes of " + in_quotes(loop.var->name));
    else if (inner->loop_kind != ForKind::serial && inner->loop_kind != ForKind::unrolled)
      no = refusal_at(inner->var, "L0209",
                      "loop " + describe(*inner) + " lies inside loop " + in_quotes(loop.var->name),
                      "vectorize one loop of a nest, the innermost");
    return no.has_value();
  });
  return no;
}

inline Verdict check_lanes(const Program& program, const ForNode& loop) {
  const std::optional<std::int64_t> lanes = const_int(loop.extent);
  if (!lanes)
    return refusal_at(loop.var, "L0209", "loop " + describe(loop) + " has no constant extent",
                      "split it by a number of lanes and vectorize the inner loop");
  if (*lanes > kMaxLanes)
    return refusal_at(
        loop.var, "L0209",
        "loop " + describe(loop) + " has more than " + std::to_string(kMaxLanes) + " iterations",
        "split it by a number of lanes and vectorize the inner loop");
  FindImpure impure;
  impure.stmt(loop.body);
  if (!impure.found.empty())
    return refusal_at(
        loop.var, "L0209",
        "loop " + describe(loop) + " holds " + impure.found + ", which has no vector form");
  for (const auto& site : blocks_below(loop.body)) {
    if (classify(*site.block).kind == BlockClass::opaque && !site.block->writes.empty())
      return refusal_at(
          site.block->tag, "L0209",
          "block " + in_quotes(site.block->name()) + " is opaque and has no vector form");
  }
  FindVectors vectors;
  vectors.stmt(loop.body);
  if (vectors.found)
    return refusal_at(loop.var, "L0209",
                      "loop " + describe(loop) + " holds vectors already, those of an intrinsic");
  if (auto no = check_loops_below(loop)) return no;
  for (const auto& outer : find_loop(program->body, loop.var).loops)
    if (outer->loop_kind == ForKind::vectorized)
      return refusal_at(loop.var, "L0209",
                        "loop " + describe(*outer) + " around loop " + in_quotes(loop.var->name) +
                            " is vectorized already");
  return {};
}

// Two lanes that store to one element, which a scatter in one instruction has no order for.
inline Verdict check_lane_stores(const Stmt& root, const ForNode& loop, const Facts& facts) {
  LoopSite site = find_loop(root, loop.var);
  Vec<ForRef> loops = site.loops;
  loops.push_back(site.loop);
  for (const auto& access : accesses_below(site)) {
    if (!access.is_write || is_private(site.loop->body, access.buffer)) continue;
    if (!meet_along_last(access, access, loops, facts)) continue;
    const bool proven = surely_meet(access, access, loops, facts);
    return refusal_at(loop.var, "L0207",
                      "two lanes of loop " + describe(loop) +
                          (proven ? " store to one element of " : " may store to one element of ") +
                          in_quotes(access.buffer->name) +
                          (proven ? "" : ", which could not be excluded"));
  }
  return {};
}

LATHE_DECL Verdict check_vectorized(const Program& program, const VarRef& var) {
  const LoopSite site = find_loop(program->body, var);
  const ForRef& loop = site.loop;
  if (auto no = check_no_reduction(*loop, "lanes")) return no;
  if (auto no = check_not_hoisted(program, site)) return no;
  if (auto no = check_lanes(program, *loop)) return no;
  if (runs_at_most_once(*loop)) return {};
  Stmt root = with_private_buffers(program, var);
  Facts facts = program_facts(program);
  if (auto no = check_lane_stores(root, *loop, facts)) return no;
  auto bad = lockstep_violation(root, var, facts);
  if (!bad) return {};
  return refusal_at(var, "L0207", "lanes of loop " + describe(*loop) + " " + bad->text(),
                    "vectorize another loop");
}

// Copies of what is innermost that unrolled loops make, those inside of blocks too; beyond the most
// that may be, any number.
inline std::int64_t unrolled_copies(const Stmt& s) {
  std::int64_t most = 1;
  any_child(s, [&](const Stmt& child) {
    most = std::max(most, unrolled_copies(child));
    return most > kMaxUnroll;
  });
  const auto* f = s.as<ForNode>();
  const std::int64_t* n =
      f && f->loop_kind == ForKind::unrolled ? as_const_int(f->extent) : nullptr;
  return n && most <= kMaxUnroll ? most * std::clamp<std::int64_t>(*n, 1, kMaxUnroll + 1) : most;
}

LATHE_DECL Verdict check_unrolled(const Program& program, const VarRef& var) {
  ForRef loop = find_loop(program->body, var).loop;
  const std::int64_t* copies = as_const_int(loop->extent);
  if (!copies)
    return refusal_at(var, "L0210", "loop " + describe(*loop) + " has no constant extent",
                      "split it, or give unroll a factor");
  const std::int64_t total = *copies > kMaxUnroll ? *copies : *copies * unrolled_copies(loop->body);
  if (total <= kMaxUnroll) return {};
  return refusal_at(var, "L0210",
                    "unrolling loop " + describe(*loop) + " gives " + std::to_string(total) +
                        " copies, more than " + std::to_string(kMaxUnroll),
                    "split it and unroll the inner loop");
}

LATHE_DECL Verdict check_kind(const Program& program, const ForNode& loop) {
  if (loop.loop_kind == ForKind::parallel || is_bound(loop.loop_kind))
    return check_parallel(program, loop.var);
  if (loop.loop_kind == ForKind::vectorized) return check_vectorized(program, loop.var);
  if (loop.loop_kind == ForKind::unrolled) return check_unrolled(program, loop.var);
  return {};
}

inline void set_kind(const Program& program, const VarRef& var, ForKind kind,
                     const Attributes& more, Edit& edit) {
  LoopSite site = find_loop(program->body, var);
  const ForNode& f = *site.loop;
  Attributes all = f.attributes;
  for (const auto& a : more) all.set(a);
  edit.program =
      program.with(replace_at(site.path, make_for(f.var, f.min, f.extent, f.body, kind, all)));
}

inline Verdict run_parallel(const Program& program, const Args& args, Edit* edit) {
  const ForRef loop = find_loop(program->body, args[0].loop).loop;
  if (auto no = check_serial_change(*loop, Change::spread)) return no;
  std::int64_t threads = args[1].number;
  if (threads < 0)
    return refusal("L0202", "max_threads is " + std::to_string(threads), "0 means no limit");
  if (auto no = check_parallel(program, args[0].loop)) return no;
  if (edit)
    set_kind(program, args[0].loop, ForKind::parallel,
             threads ? Attributes{MaxThreadsAttr{threads}} : Attributes{}, *edit);
  return {};
}

inline Verdict run_vectorize(const Program& program, const Args& args, Edit* edit) {
  if (auto no = check_serial_change(*find_loop(program->body, args[0].loop).loop, Change::unfold))
    return no;
  if (auto no = check_vectorized(program, args[0].loop)) return no;
  if (edit) set_kind(program, args[0].loop, ForKind::vectorized, {}, *edit);
  return {};
}

inline Verdict run_unroll(const Program& program, const Args& args, Edit* edit) {
  if (auto no = check_serial_change(*find_loop(program->body, args[0].loop).loop, Change::unfold))
    return no;
  std::int64_t factor = args[1].number;
  if (factor < 0 || factor > kMaxUnroll)
    return refusal_at(
        args[0].loop, "L0210",
        "factor " + std::to_string(factor) + " is not between 0 and " + std::to_string(kMaxUnroll),
        "0 unrolls the whole loop");
  if (factor > 0) {
    if (edit) set_kind(program, args[0].loop, ForKind::serial, {UnrollAttr{factor}}, *edit);
    return {};
  }
  if (auto no = check_unrolled(program, args[0].loop)) return no;
  if (edit) set_kind(program, args[0].loop, ForKind::unrolled, {}, *edit);
  return {};
}

LATHE_DECL const Primitive& primitive_parallel() {
  static const Primitive record{"parallel",
                                1,
                                {{"loop", ArgKind::loop}, {"max_threads", ArgKind::number, "0"}},
                                "iterations run on many threads",
                                run_parallel};
  return record;
}
LATHE_DECL const Primitive& primitive_vectorize() {
  static const Primitive record{
      "vectorize", 1, {{"loop", ArgKind::loop}}, "iterations run as lanes", run_vectorize};
  return record;
}
LATHE_DECL const Primitive& primitive_unroll() {
  static const Primitive record{"unroll",
                                1,
                                {{"loop", ArgKind::loop}, {"factor", ArgKind::number, "0"}},
                                "iterations become copies of the body",
                                run_unroll};
  return record;
}

}  // namespace lathe::detail
