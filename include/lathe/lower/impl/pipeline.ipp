#pragma once

#include <lathe/analysis/open_blocks.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

template <Program (*F)(const Program&)>
Program run_pass(const Program& p, const Target&, const LowerOptions&) {
  return F(p);
}
template <Program (*F)(const Program&, const Target&)>
Program run_pass(const Program& p, const Target& target, const LowerOptions&) {
  return F(p, target);
}
template <Program (*F)(const Program&, const TargetCaps&)>
Program run_pass(const Program& p, const Target& target, const LowerOptions& options) {
  return F(p, TargetCaps(target, options.language));
}
inline Program contract_unless_strict(const Program& p, const Target& target,
                                      const LowerOptions& options) {
  return options.strict ? p : contract(p, TargetCaps(target, options.language));
}

inline Program expand_to_accuracy(const Program& p, const Target& target,
                                  const LowerOptions& options) {
  return expand_math(p, TargetCaps(target, options.language), options.math, options.where,
                     options.changes);
}
inline Program use_reciprocals_if_fast(const Program& p, const Target&,
                                       const LowerOptions& options) {
  return options.math == Math::fast ? use_reciprocals(p, options.changes) : p;
}
inline Program use_estimates_if_fast(const Program& p, const Target& target,
                                     const LowerOptions& options) {
  return options.math == Math::fast
             ? use_estimates(p, TargetCaps(target, options.language), options.changes)
             : p;
}

inline Program place_tiles_of(const Program& p, const Target& target, const LowerOptions& options) {
  return place_tiles(p, TargetCaps(target, options.language), options.where);
}
inline Program check_if_asked(const Program& p, const Target&, const LowerOptions& options) {
  return options.checked ? check_accesses(p) : p;
}
inline Program open_unless_dense(const Program& p, const Target&, const LowerOptions& options) {
  return options.dense ? p : open_strides(p);
}
inline Program open_inner_blocks(const Program& p) { return open_blocks(p); }

inline constexpr Pass kCpuPipeline[] = {
    {"open_strides", open_unless_dense, Stage::blocks},
    // Of blocks in blocks nothing else knows.
    {"open_blocks", run_pass<open_inner_blocks>, Stage::blocks},
    // A statement is more than one when blocks are gone.
    {"stage_pipelines", run_pass<stage_pipelines>, Stage::blocks},
    // Blocks say what is surely written; so do the next three ask them.
    {"place_buffers", run_pass<place_buffers>, Stage::blocks},
    {"lower_bindings", run_pass<lower_bindings>, Stage::blocks},
    {"place_doubled", run_pass<place_doubled>, Stage::blocks},
    {"roll_buffers", run_pass<roll_buffers>, Stage::blocks},
    // Of loops nobody knows how many terms a sum has.
    {"narrow_held_integers", run_pass<narrow_held_integers>, Stage::blocks},
    {"lower_blocks", run_pass<lower_blocks>, Stage::loops},
    // Indices and shapes are still those that a user wrote.
    {"check_accesses", check_if_asked, Stage::loops},
    // Temporaries shrink while guards are still at the accesses.
    {"compact_buffers", run_pass<compact_buffers>, Stage::loops},
    {"hoist_storage", run_pass<hoist_storage>, Stage::loops},
    {"double_buffers", run_pass<double_buffers>, Stage::loops},
    {"software_pipelines", run_pass<software_pipelines>, Stage::loops},
    // Temporaries must have their final shape, or the addresses fetched would not be those read.
    {"place_prefetches", run_pass<place_prefetches>, Stage::loops},
    {"simplify_loops", run_pass<simplify_program>, Stage::loops},
    // Loops over tiles are still whole, and guards stand where they were written.
    {"shift_tiles", run_pass<shift_tiles>, Stage::loops},
    // Guards are still where they were written: borders are told from what is left of a loop.
    {"clip_loops", run_pass<clip_loops>, Stage::loops},
    // Tile loops must still be loops, so that a guard is proved for all of a tile at once.
    {"hoist_guards", run_pass<hoist_guards>, Stage::loops},
    // Which tile is the last one is what is left of a guard.
    {"solve_tails", run_pass<solve_tails>, Stage::loops},
    // Guards of specialised border tiles fold.
    {"simplify_borders", run_pass<simplify_program>, Stage::loops},
    // What stays the same in a loop of lanes is still told by its variable.
    {"use_reciprocals", use_reciprocals_if_fast, Stage::loops},
    // As many lanes as the widest element allows are taken at once.
    {"narrow_integers", run_pass<narrow_integers>, Stage::loops},
    // Which elements there are is told by the variables of loops.
    {"lift_loads", run_pass<lift_loads>, Stage::loops},
    // Vectorizing may leave loops over registers for the unroller.
    {"vectorize", run_pass<vectorize_loops>, Stage::loops},
    {"unroll", run_pass<unroll_loops>, Stage::vector},
    // A row is one dimension of its buffer, which says how long it is.
    {"whole_loads", run_pass<whole_loads>, Stage::vector},
    // Indices are constants where loops over rows are copies.
    {"align_rows", run_pass<align_rows>, Stage::vector},
    {"flatten", run_pass<flatten_buffers>, Stage::flat},
    // Indices must be folded to constants before registers can be recognised.
    {"simplify_flat", run_pass<simplify_program>, Stage::flat},
    {"place_tiles", place_tiles_of, Stage::flat},
    {"promote_registers", run_pass<promote_registers>, Stage::flat},
    // Indices are one sum each, and passes below look for sums in registers.
    {"promote_accumulators", run_pass<promote_accumulators>, Stage::flat},
    {"dot_sums", run_pass<dot_sums>, Stage::flat},
    {"rising_positions", run_pass<rising_positions>, Stage::flat},
    {"guess_extremes", run_pass<guess_extremes>, Stage::flat},
    // Contraction looks at what the program says, not at what the expansions below write.
    {"contract", contract_unless_strict, Stage::flat},
    // Quotients are those that the program has, not those of functions or of integers.
    {"use_estimates", use_estimates_if_fast, Stage::flat},
    {"expand_math", expand_to_accuracy, Stage::flat},
    // Quotients and remainders are still one operator.
    {"pixel_borders", run_pass<pixel_borders>, Stage::flat},
    {"wrapped_loads", run_pass<wrapped_loads>, Stage::flat},
    {"legalize_types", run_pass<legalize_types>, Stage::flat},
    {"legalize_ops", run_pass<legalize_ops>, Stage::flat},
    {"interleave_stores", run_pass<interleave_stores>, Stage::flat},
    // Which lanes are beyond a border is a comparison, which becomes a mask.
    {"piecewise_loads", run_pass<piecewise_loads>, Stage::flat},
    // Indices are still the sums that a mask is told from.
    {"count_lanes", run_pass<count_lanes>, Stage::flat},
    // Masks are counts, and no arm has one of its own.
    {"round_up_loads", run_pass<round_up_loads>, Stage::flat},
    // Masks are counts, and stores that become one end what loads can share once.
    {"zip_stores", run_pass<zip_stores>, Stage::flat},
    {"turn_stores", run_pass<turn_stores>, Stage::flat},
    // What an arm loads has no mask of single lanes yet.
    {"near_loads", run_pass<near_loads>, Stage::flat},
    {"deinterleave_loads", run_pass<deinterleave_loads>, Stage::flat},
    // All shuffles of loads and stores are written.
    {"order_lanes", run_pass<order_lanes>, Stage::flat},
    {"mask_arms", run_pass<mask_arms>, Stage::flat},
    // What is left of lanes that lie anywhere is gathered.
    {"narrow_indices", run_pass<narrow_indices>, Stage::flat},
    {"narrow_conversions", run_pass<narrow_conversions>, Stage::flat},
    // An arm that computes a quotient keeps it from LLVM, which would move it only where it is sure
    // to be computed, and not to fault.
    {"hoist_quotients", run_pass<hoist_quotients>, Stage::flat},
    // Every pass before may write operators as the IR means them.
    {"guard_operators", run_pass<guard_operators>, Stage::machine},
};

inline const Context& context_of(const LowerOptions& options) {
  return options.context ? *options.context : Context::default_context();
}

inline Program run_logged(const Pass& pass, const Program& program, const Target& target,
                          const LowerOptions& options) {
  const Context& context = context_of(options);
  const Stopwatch watch;
  Program out = pass.run(program, target, options);
  if (out->stage < pass.leaves) out = out.with(out->body, pass.leaves);
  const double us = watch.microseconds();
  if (context.logs(LogLevel::debug))
    context.log(LogLevel::debug,
                cat("pass ", pass.name, ": ", us, " us, ", node_count(out->body), " nodes"));
  if (context.dumps(pass.name)) {
    const std::string text = cat("after ", pass.name, ":\n", out.str());
    if (context.options().log)
      context.log(LogLevel::info, text);
    else
      say_on_stderr(text + "\n");
  }
#if !defined(NDEBUG)
  verify(out, out->stage, pass.name, TargetCaps(target, options.language));
#endif
  return out;
}

// LLVM's code generator takes time quadratic in the length of straight-line code: 630,000 nodes
// took it three minutes, 211,000 with 7000 loops one, this many take half a minute at worst.
inline constexpr std::size_t kLoweredBudget = 160000;

inline bool has_unrolled_loop(const Stmt& s) {
  if (const auto* f = s.as<ForNode>())
    if (f->loop_kind == ForKind::unrolled || f->attributes.has<UnrollAttr>()) return true;
  return any_child(s, [](const Stmt& child) { return has_unrolled_loop(child); });
}

inline void check_size(const Program& given, const Program& lowered, Location where) {
  const std::size_t nodes = node_count(lowered->body);
  if (nodes <= kLoweredBudget) return;
  const std::size_t before = node_count(given->body);
  const bool unrolled = has_unrolled_loop(given->body);
  throw UserError("L0601",
                  cat("lower: program '", lowered->name, "' of ", before, " nodes has become ",
                      nodes, " nodes of scalar and vector code, over the budget of ",
                      kLoweredBudget, unrolled ? ": it has unrolled loops" : ""),
                  where, {},
                  unrolled && before * 8 < nodes
                      ? "unroll less: split the loop and unroll the inner part only"
                      : "make several programs of it");
}

inline std::string pass_names() {
  return cat("passes are ", join(kCpuPipeline, ", ", [](const Pass& p) { return p.name; }));
}

/// Whether a pass has to run on a program of this stage: not if the program is past what the pass
/// leaves, nor there already if the pass is the one that goes there.
inline bool has_to_run(const Pass& pass, Stage stage) {
  // Loops may have been written without knowing how parameters lie in memory.
  if (&pass == kCpuPipeline) return stage < Stage::flat;
  if (pass.leaves <= stage && (&pass - 1)->leaves < pass.leaves) return false;
  return pass.leaves >= stage;
}

inline void check_dump(const LowerOptions& options) {
  const std::string& name = context_of(options).options().dump;
  if (name.empty() || name == "all") return;
  for (const Pass& pass : kCpuPipeline)
    if (pass.name == name) return;
  throw UserError("L0602",
                  cat("the context's dump (or LATHE_DUMP) is '", name, "', which is no pass"),
                  options.where, {}, cat("\"all\" dumps each; ", pass_names()));
}

}  // namespace detail

LATHE_DECL void check_math(bool strict, Math math, Location where) {
  if (!strict || math != Math::fast) return;
  throw UserError("L0604",
                  "math = fast changes the rounding of functions and divisions, and strict allows "
                  "no rounding that the program does not say",
                  where, {}, "leave one of them out; Math::accurate and strict go together");
}

LATHE_DECL std::span<const Pass> cpu_pipeline() { return detail::kCpuPipeline; }

LATHE_DECL Program lower(const Program& program, const Target& target,
                         const LowerOptions& options) {
  detail::check_dump(options);
  check_math(options.strict, options.math, options.where);
  const Deadline own(detail::context_of(options));
  const Deadline& deadline = options.deadline ? *options.deadline : own;
  Program out = program;
  for (const Pass& pass : cpu_pipeline()) {
    if (!detail::has_to_run(pass, program->stage)) continue;
    deadline.check(cat("pass ", pass.name), options.where);
    out = detail::run_logged(pass, out, target, options);
  }
  detail::check_size(program, out, options.where);
  return out;
}

LATHE_DECL Program lower_until(std::string_view name, const Program& program, const Target& target,
                               const LowerOptions& options) {
  Program out = program;
  for (const Pass& pass : cpu_pipeline()) {
    if (detail::has_to_run(pass, program->stage))
      out = detail::run_logged(pass, out, target, options);
    if (pass.name == name) return out;
  }
  throw UserError("L0602", cat("lower_until: no pass is named '", name, "'"), options.where, {},
                  detail::pass_names());
}

}  // namespace lathe
