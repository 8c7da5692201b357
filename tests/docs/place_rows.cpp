#include "row.hpp"

namespace docs {

std::vector<Row> place_rows() {
  return {
      {.name = "compute_at",
       .meaning =
           "The block computes there just what its consumers need in one iteration, some of it "
           "again in the next one. All readers of what it writes must be inside the loop.",
       .references = "the block stays; its loops are consumed: `s.loops(block)` gives the new ones",
       .rounding = kNever,
       .refusals = "L0204 L0211 L0212",
       .halide = "`compute_at`; `store_at` is where lowering finds that all uses lie",
       .tvm = "`compute_at`",
       .program = kChain,
       .steps = LATHE_STEPS(auto [xo, xi] = s.loops<2>("C"); s.compute_at("P", xo);)},
      {.name = "reverse_compute_at",
       .meaning = "The block handles there what one iteration has finished. No loop at or above "
                  "that one may feed a reduction of its producers.",
       .references = "the block stays; its loops are consumed: `s.loops(block)` gives the new ones",
       .rounding = kNever,
       .refusals = "L0204 L0212 L0213",
       .halide = "none: move the producer with `compute_at`",
       .tvm = "`reverse_compute_at`",
       .program = kPair,
       .steps = LATHE_STEPS(auto [i] = s.loops<1>("P"); s.reverse_compute_at("C", i);)},
      {.name = "compute_inline",
       .meaning = "Complete blocks only: no reductions. What is read several times is computed "
                  "several times.",
       .references = "the block and its loops are consumed",
       .rounding = kNever,
       .refusals = "L0214",
       .halide = "`compute_inline`, which is what a Func does unless told otherwise",
       .tvm = "`compute_inline`",
       .program = kPair,
       .steps = LATHE_STEPS(s.compute_inline("P");)},
      {.name = "reverse_compute_inline",
       .meaning = "The producer then stores the block's output. It must be complete, and the block "
                  "must read each of its elements at one place.",
       .references = "the block and its loops are consumed; the producer stays",
       .rounding = kNever,
       .refusals = "L0215",
       .halide = "none",
       .tvm = "`reverse_compute_inline`",
       .program = kPair,
       .steps = LATHE_STEPS(s.reverse_compute_inline("C");)},
      {.name = "decompose_reduction",
       .meaning = "The init stands right before the loop, which must lie outside all loops that "
                  "feed the reduction; the block stays as the update.",
       .references = "all stay; the block of the init is returned",
       .rounding = kNever,
       .refusals = "L0218",
       .halide = "pure and update definitions are apart from the beginning",
       .tvm = "`decompose_reduction`",
       .program = kSum,
       .steps = LATHE_STEPS(auto [i, r] = s.loops<2>("S"); s.decompose_reduction("S", r);)},
      {.name = "rfactor",
       .meaning = "Each iteration has one, in a new dimension at `axis` of a new buffer; the block "
                  "combines them. So a reduction becomes parallel, or one of vectors.",
       .references =
           "the block stays; its loops are consumed; the block of the partial results is returned",
       .rounding = "where the sum or product is one of floating-point numbers",
       .refusals = "L0204 L0219",
       .halide = "`rfactor`",
       .tvm = "`rfactor`",
       .program = R"(program S(in X: f32[80], out S: f32[]):
  for ro in 0..10:
    for ri in 0..8:
      block S(reduce vr in 0..80 = ro * 8 + ri) reduce sum init:
        S[] sum= X[vr]
)",
       .steps = LATHE_STEPS(auto [ro, ri] = s.loops<2>("S"); s.rfactor(ri);)},
  };
}

}  // namespace docs
