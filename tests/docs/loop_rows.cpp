#include "row.hpp"

namespace docs {

std::vector<Row> loop_rows() {
  return {
      {.name = "split",
       .meaning =
           "The factors are numbers, sampled numbers or expressions over Dims, outer first. With "
           "`lt::infer` for one of them they cover the loop, and the tail says what happens where "
           "they don't divide its extent: `guard` (the default with `infer`) tests each instance, "
           "and lowering gives tiles at the border a version of their own where it takes that for "
           "worth it; `mask` keeps one version for all tiles, with masked lanes and tested copies, "
           "which is the least code; `peel` runs whole tiles in a loop without tests and what is "
           "left after it, if the loop around the tile is serial or parallel; `shift` moves the "
           "last tile inward, which recomputes a part of the one before it: a body without masks "
           "or a remainder, for blocks that may run twice, in loops that are not parallel, and "
           "with guards where a Dim is less than a tile; `round_up` computes past the end, into "
           "temporaries that become longer with their blocks' domains, where all that is read "
           "there exists. Without `infer` they must multiply to the "
           "extent (`exact`). A tail is a mark, which lowering realises; a later step that forbids "
           "`shift` is refused, and one that splits or fuses the loop drops the mark.",
       .references = "the loop is consumed; the new loops are returned, outer first",
       .rounding = kNever,
       .refusals = "L0203 L0204 L0206 L0224",
       .halide =
           "`split`; `shift` is `TailStrategy::ShiftInwards`, `round_up` is `RoundUp`, which reads "
           "past the end of inputs too",
       .tvm = "`split`, with guards only; `None` is `lt::infer`",
       .program = kAdd,
       .steps = LATHE_STEPS(auto [i] = s.loops<1>("Y"); s.split<2>(i, {lt::infer, 8});)},
      {.name = "fuse",
       .meaning = "Nothing may lie between them, and no bound may depend on a fused loop. Vectors "
                  "along the "
                  "fused loop are one run of a buffer whose rows follow each other without gaps.",
       .references = "the loops are consumed; the new one is returned",
       .rounding = kNever,
       .refusals = "L0204 L0205 L0206 L0229",
       .halide = "`fuse`",
       .tvm = "`fuse`",
       .program = kRows,
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.fuse(i, j);)},
      {.name = "loop_partition",
       .meaning =
           "Points are values of the loop, as numbers or over Dims; they rise, and a part is empty "
           "only where Dims make it so. Each new loop starts at 0 and has its own copy of the "
           "body. Blocks that together write a buffer don't move any more: place them before.",
       .references =
           "the loop and all loops and blocks below it are consumed; one loop a part is returned",
       .rounding = kNever,
       .refusals = "L0204 L0206 L0231",
       .halide = "`specialize`",
       .tvm = "`loop_partition`",
       .program = kAdd,
       .steps = LATHE_STEPS(auto [i] = s.loops<1>("Y"); s.loop_partition(i, {1, 99});)},
      {.name = "merge",
       .meaning =
           "They must run over the same bounds; each iteration runs the bodies in turn. Nests "
           "merge from outside in.",
       .references = "the loops are consumed; the new one is returned; blocks stay",
       .rounding = kNever,
       .refusals = "L0204 L0207 L0230",
       .halide = "`compute_with`",
       .tvm = "`merge`",
       .program = kPair,
       .steps =
           LATHE_STEPS(auto [i] = s.loops<1>("P"); auto [x] = s.loops<1>("C"); s.merge(i, x);)},
      {.name = "reorder",
       .meaning = "The loops are named outermost first. Loops of the chain that are not named keep "
                  "their place.",
       .references = "all stay",
       .rounding = "where two loops that feed one floating-point reduction swap",
       .refusals = "L0204 L0205 L0206 L0207",
       .halide = "`reorder`, which names the innermost first",
       .tvm = "`reorder`",
       .program = kRows,
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.reorder({j, i});)},
      {.name = "tile",
       .meaning = "In one step, all or nothing: outer i, outer j, inner i, inner j.",
       .references = "both loops are consumed; four loops are returned",
       .rounding = "where both loops feed one floating-point reduction",
       .refusals = "L0203 L0204 L0205 L0206 L0207 L0224",
       .halide = "`tile`",
       .tvm = "two `split`s and a `reorder`",
       .program = kRows,
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.tile(i, j, 4, 16);)},
      {.name = "add_unit_loop",
       .meaning = "Where a place for a mark or another step is needed.",
       .references = "all stay; the new loop is returned",
       .rounding = kNever,
       .refusals = "none",
       .halide = "none",
       .tvm = "`add_unit_loop`",
       .program = kAdd,
       .steps = LATHE_STEPS(auto [i] = s.loops<1>("Y"); s.add_unit_loop(i);)},
      {.name = "parallel",
       .meaning = "In any order; on at most max_threads if that is not 0. A buffer that is written "
                  "and read only inside belongs to the iteration, and each has its own.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0204 L0207 L0208 L0220",
       .halide = "`parallel`",
       .tvm = "`parallel`",
       .program = kRows,
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.parallel(i);)},
      {.name = "vectorize",
       .meaning = "In lockstep, statement by statement. The extent is a number of at most 1024; "
                  "the lanes of the machine need not divide it.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0204 L0207 L0208 L0209",
       .halide = "`vectorize`",
       .tvm = "`vectorize`",
       .program = kRows,
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.vectorize(j);)},
      {.name = "unroll",
       .meaning =
           "With a factor, only so many copies, in a loop; then the extent need not be a number.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0204 L0210",
       .halide = "`unroll`",
       .tvm = "`unroll`",
       .program = kRows,
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.unroll(j, 4);)},
      {.name = "partition",
       .meaning =
           "With `always` the iterations in which all comparisons below hold that the loop decides "
           "run apart from those before and after: tests for an end, clamped indices, selects on "
           "the position. With `never` comparisons that depend on the loop stay where they are, in "
           "one copy of the body. `automatic`, which takes either back, peels border tiles where "
           "that is cheap. It is a mark, which lowering realises; one that has nothing to peel "
           "when "
           "later steps are done is without effect.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0258",
       .halide = "`partition`",
       .tvm = "the pragma `loop_partition_hint`",
       .program = kEdges,
       .steps = LATHE_STEPS(auto [i] = s.loops<1>("Y"); s.partition(i, lt::Partition::always);)},
      {.name = "atomic",
       .meaning = "An update is `x = x op y`, written so or by a reducer without init, where the "
                  "order of `op` is free: then `parallel` and `bind` take loops in which two "
                  "iterations update one element, such as those of a histogram. Sums and products "
                  "of floats then depend on which thread comes first.",
       .references = "all stay",
       .rounding = "sums and products of floats, also from run to run",
       .refusals = "L0225 L0226 L0256",
       .halide = "`atomic`",
       .tvm = "none",
       .program = kCounts,
       .steps = LATHE_STEPS(s.atomic("H");)},
      {.name = "bind",
       .meaning =
           "The axis is `blockIdx` or `threadIdx` with `.x`, `.y` or `.z`. Threads of a block wait "
           "for each other where a loop over them ends, so that loops after each other hand values "
           "on through memory that they share. One loop an axis lies in another, `blockIdx` "
           "outside; loops of one axis below an outermost loop have one extent; threads are a "
           "number, at most 1024 in all. There is no code for GPUs yet: processors run the "
           "outermost loop over blocks as a parallel one, and the others as serial ones.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0204 L0207 L0208 L0220 L0240 L0255",
       .halide = "`gpu_blocks`, `gpu_threads`",
       .tvm = "`bind`",
       .program = kRows,
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.bind(i, "blockIdx.x");
                            s.bind(j, "threadIdx.x");)},
  };
}

}  // namespace docs
