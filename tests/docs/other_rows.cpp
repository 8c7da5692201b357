#include <lathe/dsl/expr.hpp>

#include "row.hpp"

namespace docs {

std::vector<Row> other_rows() {
  return {
      {.name = "block",
       .meaning = "Of the schedule's program as it is now. A tensor is found by `s.block(T)`.",
       .references = "all stay; the block is returned",
       .rounding = kNever,
       .refusals = "none",
       .halide = "the `Func` itself",
       .tvm = "`get_block`",
       .program = kAdd,
       .steps = LATHE_STEPS(s.block("Y");)},
      {.name = "loops",
       .meaning = "Outermost first; `s.loops<2>(block)` gives an array to bind names to.",
       .references = "all stay; the loops are returned",
       .rounding = kNever,
       .refusals = "none",
       .halide = "none: loops are named by `Var`s",
       .tvm = "`get_loops`",
       .program = kRows,
       .steps = LATHE_STEPS(s.loops<2>("Y");)},
      {.name = "loop",
       .meaning = "Of all loops of the program exactly one must have it.",
       .references = "all stay; the loop is returned",
       .rounding = kNever,
       .refusals = "L0201",
       .halide = "none: loops are named by `Var`s",
       .tvm = "none",
       .program = kRows,
       .steps = LATHE_STEPS(s.loop("j");)},
      {.name = "loop_at",
       .meaning = "Counted from 0 in the order of the text, for loops that hold no block and share "
                  "their name.",
       .references = "all stay; the loop is returned",
       .rounding = kNever,
       .refusals = "none",
       .halide = "none",
       .tvm = "none",
       .program = kRows,
       .steps = LATHE_STEPS(s.loop_at(1);)},
      {.name = "annotate",
       .meaning = "Keys: `unroll_explicit` (loop), `max_threads` (parallel loop), `stream` (block: "
                  "1 stores past the caches, 2 only where whole cache lines are filled), and free "
                  "ones that start with `user.`.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0223",
       .halide = "none",
       .tvm = "`annotate`",
       .program = kAdd,
       .steps = LATHE_STEPS(auto [i] = s.loops<1>("Y"); s.annotate(i, "unroll_explicit", 4);)},
      {.name = "unannotate",
       .meaning = "Keys are those of `annotate` and of the marks that steps set: `prefetch`, "
                  "`partition`, `hoist_storage`, `double_buffer`, `rolling_buffer`, "
                  "`software_pipeline`; all buffers or blocks of one are forgotten.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0223",
       .halide = "none",
       .tvm = "`unannotate`",
       .program = kAdd,
       .steps = LATHE_STEPS(auto [i] = s.loops<1>("Y"); s.prefetch("X", i, 4);
                            s.unannotate(i, "prefetch");)},
      {.name = "sample_perfect_tile",
       .meaning = "The innermost factor lies from min_inner to max_inner. The factors stay symbols "
                  "in later steps of the trace; a replay draws none, it takes the decision that "
                  "was recorded, or another one that it is given.",
       .references = "all stay; the sampled numbers are returned",
       .rounding = kNever,
       .refusals = "L0233",
       .halide = "none",
       .tvm = "`sample_perfect_tile`",
       .program = kRows,
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.sample_perfect_tile<2>(j, 16);)},
      {.name = "sample_categorical",
       .meaning =
           "All weigh alike if no weights are given. The decision is the position of the value.",
       .references = "all stay; the sampled number is returned",
       .rounding = kNever,
       .refusals = "L0233",
       .halide = "none",
       .tvm = "`sample_categorical`",
       .program = kAdd,
       .steps = LATHE_STEPS(s.sample_categorical({4, 8, 16});)},
      {.name = "sample_compute_location",
       .meaning =
           "`root` leaves the block where it is, `inline` is compute_inline, `C:1` is compute_at "
           "with the second loop above block C. The decision is the place itself.",
       .references = "as for the step that the decision stands for: loops of the block are "
                     "consumed where it moves",
       .rounding = kNever,
       .refusals = "L0201 L0211 L0212 L0214 L0233",
       .halide = "none",
       .tvm = "`sample_compute_location`",
       .program = kPair,
       .steps = LATHE_STEPS(s.sample_compute_location("P");)},
      {.name = "assume",
       .meaning =
           "A least value, a largest one and a factor of each Dim, which calls check (L0304). "
           "`lathe::versions` puts schedules with different assumptions behind one kernel.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0243",
       .halide = "`specialize`, `set_min`, `set_extent`",
       .tvm = "none",
       .program = R"(program Y<n>(in X: f32[n], out Y: f32[n]):
  for i in 0..n:
    block Y(v in 0..n = i):
      Y[v] = X[v] + 1.0
)",
       .steps = LATHE_STEPS(lt::Expr<std::int64_t> n(s.program()->dims[0]->var);
                            s.assume(n % 8 == 0 && n >= 64);)},
  };
}

}  // namespace docs
