#include "row.hpp"

namespace docs {

std::vector<Row> memory_rows() {
  return {
      {.name = "cache_read",
       .meaning = "The copy stands before the nest of the block; `compute_at` moves it to where it "
                  "is small. Other readers keep reading the buffer itself.",
       .references = "all stay; the block that copies is returned",
       .rounding = kNever,
       .refusals = "L0216 L0220",
       .halide = "`in`",
       .tvm = "`cache_read`",
       .program = kRows,
       .steps = LATHE_STEPS(s.cache_read("Y", "X", lt::Scope::local);)},
      {.name = "cache_write",
       .meaning =
           "The block that copies the result out stands after the nest; "
           "`reverse_compute_at` moves it to where tiles are finished. A tile in scope "
           "`local` of constant size becomes registers, also where its rows are no multiple of "
           "a vector: lowering lays them as far apart as vectors along them reach.",
       .references = "all stay; the block that copies out is returned",
       .rounding = kNever,
       .refusals = "L0217 L0220",
       .halide = "`in`, on the producer",
       .tvm = "`cache_write`",
       .program = kSum,
       .steps = LATHE_STEPS(s.cache_write("S", lt::Scope::local);)},
      {.name = "cache_padded",
       .meaning = "Values that depend on the iterators through the place of a load alone, such as "
                  "those of `pad` and `clamp`, are computed once for each place, borders included. "
                  "A reduction that reads them again and again, as a convolution does, reads "
                  "memory without a condition so.",
       .references = "all stay; the block that copies is returned",
       .rounding = "never",
       .refusals = "L0261",
       .halide = "`BoundaryConditions`, `compute_root`",
       .tvm = "none; a pad is a stage there",
       .program = R"(program Y(in X: f32[16], in W: f32[3], out Y: f32[16]):
  for i in 0..16:
    for r in 0..3:
      block Y(vi in 0..16 = i, reduce vr in 0..3 = r) reduce sum init:
        Y[vi] sum= select(0 <= vi + vr - 1 && vi + vr - 1 < 16, X[vi + vr - 1], 0.0) * W[vr]
)",
       .steps = LATHE_STEPS(s.cache_padded("Y", "X");)},
      {.name = "reindex",
       .meaning = "The copy has an axis for each iterator that the index names where the block "
                  "reads, for each spatial one where it writes. A convolution's operand takes the "
                  "form of a matrix so.",
       .references = "all stay; the block that copies is returned",
       .rounding = kNever,
       .refusals = "L0232",
       .halide = "none",
       .tvm = "`reindex`",
       .program = R"(program Y(in X: f32[40], in W: f32[3], out Y: f32[16]):
  for i in 0..16:
    for r in 0..3:
      block Y(vi in 0..16 = i, reduce vr in 0..3 = r) reduce sum init:
        Y[vi] sum= X[vi * 2 + vr] * W[vr]
)",
       .steps = LATHE_STEPS(s.reindex("Y", "X");)},
      {.name = "hoist_invariant",
       .meaning =
           "The largest value, by its nodes, that no iteration of the loop changes becomes a "
           "stage of its own, over those iterators of the block that it names; called "
           "again, the next one. Where it stands behind a condition, it is computed "
           "wherever that is proved to read inside of its buffers.",
       .references = "all stay; the block that computes it is returned",
       .rounding = kNever,
       .refusals = "L0264",
       .halide = "none: write the value as a Func",
       .tvm = "none",
       .program = R"(program Y(in X: f32[8, 16], in v: f32[16], out Y: f32[8, 16]):
  for i in 0..8:
    for j in 0..16:
      block Y(vi in 0..8 = i, vj in 0..16 = j):
        Y[vi, vj] = X[vi, vj] / sqrt(v[vj] + 1.0)
)",
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.hoist_invariant("Y", i);)},
      {.name = "set_scope",
       .meaning = "Scopes: `global`, `shared`, `local`, `register`. All but the first exist once "
                  "an iteration of the parallel loops around them.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0220",
       .halide = "`store_in`",
       .tvm = "`set_scope`",
       .program = kPair,
       .steps = LATHE_STEPS(s.set_scope("P", lt::Scope::local);)},
      {.name = "transform_layout",
       .meaning = "The map gives each element its new place, and must be proved injective on the "
                  "buffer's shape. New places that no element moves to are never read.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0221",
       .halide = "`reorder_storage`, `align_storage`, `fold_storage`",
       .tvm = "`transform_layout`",
       .program = kPair,
       .steps = LATHE_STEPS(
           s.transform_layout("P", [](lt::Index a) { return lt::layout(a % 8, a / 8); });)},
      {.name = "storage_align",
       .meaning = "The stride of a dimension, in elements, is `offset` modulo `factor`, also when "
                  "lowering has made the buffer smaller. A factor of 1 takes that back. "
                  "Rows of a local or register tile need none to become registers.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0220 L0239",
       .halide = "`align_storage`",
       .tvm = "`storage_align`",
       .program = R"(program Y(in X: f32[60, 80], out Y: f32[60, 80]):
  alloc T: f32[60, 80]
  for i in 0..60:
    for j in 0..80:
      block T(vi in 0..60 = i, vj in 0..80 = j):
        T[vi, vj] = X[vi, vj]
  for i in 0..60:
    for j in 0..80:
      block Y(vi in 0..60 = i, vj in 0..80 = j):
        Y[vi, vj] = T[59 - vi, vj]
)",
       .steps = LATHE_STEPS(s.storage_align("T", 0, 64, 16);)},
      {.name = "change_type",
       .meaning =
           "Of a temporary of integers, to `i8` … `i64`, `u8` … `u32`; of one of floats that no "
           "reduction adds up, to a wider `f32` or `f64`. Stores cast, loads cast "
           "back, and sums are added up in the new type, which takes more lanes if it is narrower. "
           "What is stored must be proved to fit: elements of inputs are anything that their type "
           "holds, a sum is its terms times how many there are. The least, the largest and "
           "positions of either are compared in the new type, in which another number stands for "
           "the "
           "identity. An `offset` is added to each number, and taken off where it is read: copies "
           "of `i8` as `u8` with 128 more, for an instruction that takes those.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0253",
       .halide = "none",
       .tvm = "none",
       .program = R"(program Y(in A: u8[64, 2], in W: i8[2], out Y: i32[64]):
  alloc S: i32[64]
  for i in 0..64:
    for r in 0..2:
      block S(vi in 0..64 = i, reduce vr in 0..2 = r) reduce sum init:
        S[vi] sum= i32(min(A[vi, vr], 100u8)) * i32(W[vr])
  for i in 0..64:
    block Y(vi in 0..64 = i):
      Y[vi] = S[vi] * 3i32
)",
       .steps = LATHE_STEPS(s.change_type("S", lt::kI16);)},
      {.name = "hoist_storage",
       .meaning = "The buffer keeps the size that one iteration needs. The loop is not split or "
                  "marked after that.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0204 L0220 L0240",
       .halide = "`hoist_storage`",
       .tvm = "none",
       .program = kTilesOfAStencil,
       .steps = LATHE_STEPS(auto [xo, xi] = s.loops<2>("C"); s.hoist_storage("P", xo);)},
      {.name = "double_buffer",
       .meaning =
           "The buffer has the size that one iteration needs, twice, and is allocated above "
           "the loop; iteration `i` takes version `i % 2`. Lowering does that, so bindings "
           "and indices stay as they are. The loop is not split, moved or marked after that.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0204 L0220 L0245",
       .halide = "`ring_buffer`",
       .tvm = "`double_buffer_scope` annotations",
       .program = kTilesOfAStencil,
       .steps = LATHE_STEPS(auto [xo, xi] = s.loops<2>("C"); s.double_buffer("P", xo);)},
      {.name = "rolling_buffer",
       .meaning =
           "The window of rows that the block computes in an iteration moves on by less than "
           "it holds; the others are kept, in a buffer of one window. The first iteration of "
           "each entry of the loop computes the whole window. Lowering does that, so bindings "
           "and indices stay as they are. The loop is not split, moved or marked after that.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0204 L0220 L0246",
       .halide = "`store_at` above `compute_at`, and `fold_storage`",
       .tvm = "`rolling_buffer`",
       .program = R"(program C(in A: f32[66, 80], out C: f32[64, 80]):
  alloc P: f32[66, 80]
  for y in 0..64:
    for r in 0..3:
      for x in 0..80:
        block P(v in 0..66 = y + r, vx in 0..80 = x):
          P[v, vx] = A[v, vx] * 2.0
    for x in 0..80:
      block C(v in 0..64 = y, vx in 0..80 = x):
        C[v, vx] = P[v, vx] + P[v + 2, vx]
)",
       .steps = LATHE_STEPS(auto [y, x] = s.loops<2>("C"); s.rolling_buffer("P", y);)},
      {.name = "software_pipeline",
       .meaning =
           "Statement `k` runs in step `t` for iteration `t - stages[k]`, in the order of "
           "`orders` within a step. Buffers that an iteration fills for itself get as many "
           "versions as iterations are under way. Lowering makes the first steps, the steady "
           "loop and the last steps, so bindings and indices stay as they are. The loop is "
           "not split, moved or marked after that.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0204 L0220 L0247",
       .halide = "none",
       .tvm = "`software_pipeline_stage` and `software_pipeline_order` annotations",
       .program = R"(program C(in A: f32[64, 80], out C: f32[64, 80]):
  alloc P: f32[64, 80]
  for y in 0..64:
    for x in 0..80:
      block P(v in 0..64 = y, vx in 0..80 = x):
        P[v, vx] = A[v, vx] * 2.0
    for x in 0..80:
      block C(v in 0..64 = y, vx in 0..80 = x):
        C[v, vx] = P[v, 79 - vx]
)",
       .steps =
           LATHE_STEPS(auto [y, x] = s.loops<2>("C"); s.software_pipeline(y, {0, 1}, {0, 1});)},
      {.name = "prefetch",
       .meaning =
           "What the loop reads of the buffer `distance` iterations ahead, spread over the loops "
           "inside and once a cache line. Locality is 0 (used once), 2 (second cache) or 3 (keep).",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0222",
       .halide = "`prefetch`",
       .tvm = "none; `software_pipeline` annotations on GPUs",
       .program = kRows,
       .steps = LATHE_STEPS(auto [i, j] = s.loops<2>("Y"); s.prefetch("X", i, 2);)},
  };
}

}  // namespace docs
