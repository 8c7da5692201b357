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
       .refusals = "L0214 L0220",
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
      {.name = "clone",
       .meaning =
           "The second block stands right after the nest that holds the first one alone, in "
           "a copy of its loops, and stores to a buffer of its own. Each of both can then be "
           "placed by itself: one inlined, the other computed ahead.",
       .references = "all stay; the block of the copy is returned",
       .rounding = kNever,
       .refusals = "L0250",
       .halide = "`clone_in`",
       .tvm = "none",
       .program = R"(program C(in A: f32[64], out C: f32[64], out D: f32[64]):
  alloc P: f32[64]
  for i in 0..64:
    block P(v in 0..64 = i):
      P[v] = A[v] * 2.0
  for x in 0..64:
    block C(v in 0..64 = x):
      C[v] = P[v] + 1.0
  for y in 0..64:
    block D(v in 0..64 = y):
      D[v] = P[63 - v] * P[v]
)",
       .steps = LATHE_STEPS(s.clone("P", {"C"});)},
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
      {.name = "decompose_padding",
       .meaning = "The block stores `select(condition, value, constant)`, where the condition is a "
                  "box of its iterators. The fill covers all that the block reaches inside the "
                  "loop; the block keeps the box. Steps that want one writer of a buffer refuse "
                  "both: place, inline and cache the block before.",
       .references = "all stay; the block of the fill is returned",
       .rounding = kNever,
       .refusals = "L0251",
       .halide = "none; loops are partitioned where a `boundary_condition` holds",
       .tvm = "`decompose_padding`",
       .program = R"(program C(in A: f32[64], out C: f32[64]):
  alloc P: f32[66]
  for i in 0..66:
    block P(v in 0..66 = i):
      P[v] = select(v > 0 && v < 65, A[v - 1], 0.0)
  for x in 0..64:
    block C(v in 0..64 = x):
      C[v] = P[v] + P[v + 2]
)",
       .steps = LATHE_STEPS(auto [i] = s.loops<1>("P"); s.decompose_padding("P", i);)},
      {.name = "pad",
       .meaning =
           "One multiple for each iterator; 1 leaves it as it is. The block reads copies of "
           "its operands that are 0 in the padding, and writes one that is copied out "
           "without it. In a sum of products of such copies the zeros add nothing; any other "
           "reduction takes its identity in the padding, by a condition. Intrinsics and "
           "exact splits then fit.",
       .references = "all stay; the blocks that copy are returned",
       .rounding = "never; a sum of products that lowering contracts to `fma` may give 0 for -0",
       .refusals = "L0204 L0252",
       .halide = "none: `RoundUp` tails compute past the end",
       .tvm = "`pad_einsum`, which fills with 0 whatever the reduction is",
       .program = R"(program C(in A: f32[30, 9], in B: f32[9], out C: f32[30]):
  for i in 0..30:
    for r in 0..9:
      block C(vi in 0..30 = i, reduce vr in 0..9 = r) reduce sum init:
        C[vi] sum= A[vi, vr] * B[vr]
)",
       .steps = LATHE_STEPS(s.pad("C", {16, 4});)},
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
      {.name = "share_window",
       .meaning =
           "Terms that depend on a spatial iterator and that of the reduce loop through one place "
           "alone, as `i + r`, have a partial result over the other reduce loops at each place, "
           "which all windows over it read. A box of 5 x 5 takes 5 + 5 terms so, not 25.",
       .references =
           "the block stays; its other reduce loops are consumed; the block of the partial results "
           "is returned",
       .rounding = "where the sum or product is one of floating-point numbers",
       .refusals = "L0204 L0268",
       .halide = "none: written as two functions",
       .tvm = "none",
       .program = R"(program Y(in X: u8[12, 34], out Y: u8[10, 30]):
  for i in 0..10:
    for j in 0..30:
      for a in 0..3:
        for b in 0..5:
          block Y(vi in 0..10 = i, vj in 0..30 = j, reduce va in 0..3 = a, reduce vb in 0..5 = b) reduce max init:
            Y[vi, vj] max= X[vi + va, vj + vb]
)",
       .steps = LATHE_STEPS(auto [i, j, a, b] = s.loops<4>("Y"); s.share_window(b);)},
      {.name = "split_terms",
       .meaning =
           "A sum of integers whose terms are sums of products is multiplied out, by the "
           "distributive law, which holds where integers wrap. The block keeps the products that "
           "name all of its iterators; each other product has a sum over the iterators that it "
           "names, computed once for all that the others repeat, and a block adds them all up. So "
           "products less zero points and squared distances are products, which instructions "
           "compute.",
       .references = "the block and its loops stay; the blocks of the other sums, and that of the "
                     "result, are returned",
       .rounding = kNever,
       .refusals = "L0216 L0217 L0269",
       .halide = "none: written as several functions",
       .tvm = "none",
       .program = R"(program C(in A: u8[40, 64], in B: i8[64, 30], in z: i32, out C: i32[40, 30]):
  for i in 0..40:
    for j in 0..30:
      for r in 0..64:
        block C(vi in 0..40 = i, vj in 0..30 = j, reduce vr in 0..64 = r) reduce sum init:
          C[vi, vj] sum= (i32(A[vi, vr]) - z) * i32(B[vr, vj])
)",
       .steps = LATHE_STEPS(s.split_terms("C");)},
      {.name = "fold_lanes",
       .meaning =
           "Each lane has a partial result in registers, of every `lanes`-th term; then one half "
           "of "
           "them joins the other, by one shuffle and one vector operation each time, and the block "
           "joins the last two. The number is a power of 2, better that of several registers: 64 "
           "for "
           "f32 with AVX-512. Lanes without a term hold the identity. Any associative and "
           "commutative reducer, also of several results. It is `split`, `rfactor`, `compute_at` "
           "and a tree of further `rfactor`s in one.",
       .references = "the block stays; the loop is consumed, other loops stay; the block of the "
                     "partial results is returned",
       .rounding = "where the sum or product is one of floating-point numbers",
       .refusals = "L0203 L0204 L0206 L0207 L0209 L0219 L0224 L0260",
       .halide = "none in one step: `rfactor` and `vectorize`, or `atomic` with `vectorize` of the "
                 "reduction",
       .tvm = "none",
       .program = R"(program S(in X: f32[50, 80], out S: f32[50]):
  for i in 0..50:
    for r in 0..80:
      block S(vi in 0..50 = i, reduce vr in 0..80 = r) reduce sum init:
        S[vi] sum= X[vi, vr]
)",
       .steps = LATHE_STEPS(auto [i, r] = s.loops<2>("S"); s.fold_lanes(r, 8);)},
      {.name = "transform_block_layout",
       .meaning =
           "The map is proved to take the block's domain to a box without gaps. An index may "
           "cut, fuse, swap and reverse iterators, of one kind each.",
       .references = "the block stays, its loops are consumed; loops(block) gives the new ones",
       .rounding = "where reduce iterators of floats come in another order",
       .refusals = "L0204 L0220 L0238",
       .halide = "none",
       .tvm = "`transform_block_layout`",
       .program = kRows,
       .steps = LATHE_STEPS(s.transform_block_layout(
           "Y", [](lt::Index i, lt::Index j) { return lt::layout(j / 16, i, j % 16); });)},
      {.name = "resolve_selects",
       .meaning =
           "Only what the iterators' domains prove counts. Lowering does the same in the end; "
           "before it, `tensorize` sees the expression that is computed.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0263",
       .halide = "none; it simplifies while it lowers",
       .tvm = "none; it simplifies while it lowers",
       .program = R"(program Y(in X: f32[16], in W: f32[4], out Y: f32[16]):
  for i in 0..16:
    for r in 0..4:
      block Y(vi in 0..16 = i, reduce vr in 0..4 = r) reduce sum init:
        Y[vi] sum= select(0 <= vi && vi < 16, X[vi], 0.0) * W[vr]
)",
       .steps = LATHE_STEPS(s.resolve_selects("Y");)},
      {.name = "box_domain",
       .meaning =
           "Each reduce iterator whose domain depends on others gets the smallest range over "
           "Dims that holds all of its values, and the block a predicate. Steps that copy, "
           "tile or fold lanes take boxes only; lowering ends loops where nothing is left.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0204 L0265",
       .halide = "`RDom::where`, in the algorithm",
       .tvm = "none",
       .program = R"(program Y(in X: f32[16], out Y: f32[16]):
  for i in 0..16:
    for r in 0..i:
      block Y(vi in 0..16 = i, reduce vr in 0..vi = r) reduce sum init:
        Y[vi] sum= X[vr]
)",
       .steps = LATHE_STEPS(s.box_domain("Y");)},
      {.name = "select_to_predicate",
       .meaning = "Terms that a choice replaces by what changes nothing are left out: loops run "
                  "past them, and lowering lifts what is tested of them to the loops that it "
                  "names, and ends loops where nothing is left of them. Sums of floats that begin "
                  "at zero stay as they are to the last bit.",
       .references = "all stay",
       .rounding = kNever,
       .refusals = "L0262",
       .halide = "`RDom::where`, in the algorithm",
       .tvm = "none",
       .program = R"(program Y(in X: f32[16], in W: f32[4], out Y: f32[32]):
  for i in 0..32:
    for r in 0..4:
      block Y(vi in 0..32 = i, reduce vr in 0..4 = r) reduce sum init:
        Y[vi] sum= select(floormod(vi - vr, 2) == 0 && vr <= vi, X[floordiv(vi - vr, 2)] * W[vr], 0.0)
)",
       .steps = LATHE_STEPS(s.select_to_predicate("Y");)},
      {.name = "blockize",
       .meaning =
           "Bindings are outer loops times what the inner ones span, plus inner loops: the first "
           "part counts the tiles, the second goes inside. Loops inside keep their kinds, and "
           "steps "
           "that name them; no block enters and no loop crosses the border. Steps that rewrite "
           "what "
           "one store says, such as `cache_write` or `rfactor`, come before; a reduction comes "
           "without its init, or together with the block that `decompose_reduction` makes of it.",
       .references = "the block stays, of several the last; loops inside are no longer in "
                     "`s.loops(block)`",
       .rounding = kNever,
       .refusals = "L0204 L0257",
       .halide = "none",
       .tvm = "`blockize`, which nests blocks",
       .program = R"(program C(in A: f32[64, 64], out C: f32[64, 64]):
  for io in 0..8:
    for jo in 0..4:
      for ii in 0..8:
        for ji in 0..16:
          block C(vi in 0..64 = io * 8 + ii, vj in 0..64 = jo * 16 + ji):
            C[vi, vj] = A[vj, vi]
)",
       .steps = LATHE_STEPS(auto [io, jo, ii, ji] = s.loops<4>("C"); s.blockize(ii);)},
      {.name = "tensorize",
       .meaning =
           "The description of the intrinsic and the loops must compute the same, up to names, "
           "the order of loops and of commutative operands. A reduction needs its init apart "
           "first. Steps that look into blocks come before. Rows: those of "
           "`lt::tensor_intrins()`, by their names, and those of a program's own, "
           "`s.tensorize(loop, row)`.",
       .references = "the loops are consumed; the block stays",
       .rounding = "where the row says so",
       .refusals = "L0204 L0235 L0236",
       .halide = "none: instructions are selected from patterns",
       .tvm = "`tensorize`",
       .program = R"(program C(in A: u8[64], in B: i8[16, 64], inout C: i32[16]):
  for k in 0..16:
    for j in 0..16:
      for b in 0..4:
        block C(vj in 0..16 = j, reduce vk in 0..64 = k * 4 + b) reduce sum:
          C[vj] sum= i32(A[vk]) * i32(B[floordiv(vk, 4), vj * 4 + floormod(vk, 4)])
)",
       .steps = LATHE_STEPS(auto [k, j, b] = s.loops<3>("C"); s.tensorize(j, "vpdpbusd");)},
  };
}

}  // namespace docs
