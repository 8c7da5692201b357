#include "phrase.hpp"

namespace docs {

static Phrases tensors() {
  return {
      "Tensor expressions",
      {{"`te.var(\"n\")`", LATHE_PHRASE(lt::Dim n("n", {.min = 1, .max = 4096, .multiple_of = 8});),
        "bounds and divisibility are checked at each call, and proofs use them"},
       {"`te.placeholder((64, n))`", LATHE_PHRASE(lt::Input<float, 2> X("X", {64, lt::Dim("n")});),
        "rank and element type belong to the C++ type"},
       {"`te.compute((64, 64), lambda i, j: …)`",
        LATHE_PHRASE(auto F = lt::compute("F", {64, 64},
                                          [&](lt::Var v, lt::Var w) { return A(v, w) * 2.0f; });),
        "the same"},
       {"`te.reduce_axis((0, 64))`, `te.sum`",
        LATHE_PHRASE(lt::Reduce k("k", 64);
                     auto S =
                         lt::compute("S", {64}, [&](lt::Var v) { return lt::sum(A(v, k), k); });),
        "a reduction is the whole value"},
       {"`te.comm_reducer(…)`",
        LATHE_PHRASE(auto total =
                         lt::reducer("total", lt::Expr<float>(0.0f),
                                     [](lt::Expr<float> a, lt::Expr<float> b) { return a + b; });
                     (void)total;),
        "keeps the order of the fold, unless `{.associative = true, .commutative = true}` says "
        "otherwise, or its operator does"},
       {"`tvm.build(mod)`", LATHE_PHRASE(auto f = lt::evaluate(s, A, B, D); (void)f;),
        "`lt::jit(s, A, B, D)` compiles; both give a typed function"},
       {"`@T.prim_func`", LATHE_PHRASE(lt::Program p = lt::parse(s.str());),
        "the text form prints and parses back"}}};
}

static Phrases loops() {
  return {
      "Schedule: loops",
      {{"`tir.Schedule(mod)`", LATHE_PHRASE(lt::Schedule t(D);),
        "a value: copies go their own ways, and references made before the copy hold for both"},
       {"`sch.get_block(\"C\")`", LATHE_PHRASE(lt::BlockRef block = s.block("C");),
        "or the tensor itself, wherever a block is asked for"},
       {"`i, j, k = sch.get_loops(b)`", LATHE_PHRASE(auto [a, b, c] = s.loops<3>(C);), "the same"},
       {"`sch.split(i, [None, 8])`", LATHE_PHRASE(auto [io, ii] = s.split<2>(i, {lt::infer, 8});),
        "tails `guard`, `mask` and `peel`; without `infer` factors must multiply to the extent"},
       {"`sch.fuse(i, j)`", LATHE_PHRASE(lt::LoopRef ij = s.fuse(i, j);),
        "`i` and `j` are consumed, and say so when used again"},
       {"`sch.reorder(j, i)`", LATHE_PHRASE(s.reorder({j, i});),
        "a dependence test where kinds of iterators don't prove it"},
       {"`sch.parallel(i)`", LATHE_PHRASE(s.parallel(i, 8);),
        "at most 8 threads here; races are refused by proof"},
       {"`sch.vectorize(j)`, `sch.unroll(j)`", LATHE_PHRASE(s.vectorize(y); s.unroll(j, 4);),
        "the same"},
       {"`sch.bind(i, \"threadIdx.x\")`",
        LATHE_PHRASE(s.bind(x, "blockIdx.x"); s.bind(y, "threadIdx.x");),
        "processors run them as loops, split at barriers"},
       {"`sch.loop_partition(i, [1, 63])`",
        LATHE_PHRASE(auto parts = s.loop_partition(x, {1, 63});),
        "points may be over Dims; a reduction needs its init apart first"},
       {"`sch.merge(i, x)`", LATHE_PHRASE(lt::LoopRef both = s.merge(i, x);),
        "also where a body reads what the one before wrote in the same iteration"},
       {"`sch.add_unit_loop(b)`", LATHE_PHRASE(lt::LoopRef unit = s.add_unit_loop(C);),
        "the same"}}};
}

static Phrases blocks() {
  return {"Schedule: blocks and buffers",
          {{"`sch.compute_at(b, i)`", LATHE_PHRASE(s.compute_at(C, x);),
            "unit loops stay until lowering: there is no `preserve_unit_loops`"},
           {"`sch.reverse_compute_at(b, i)`", LATHE_PHRASE(s.reverse_compute_at(D, j);),
            "every instance finished exactly once, proved"},
           {"`sch.reverse_compute_inline(b)`",
            LATHE_PHRASE(s.cache_write(C, lt::Scope::local); s.reverse_compute_inline(D);),
            "refused unless the producer is proved to cover the block; `compute_inline` likewise"},
           {"`sch.cache_read(b, 0, \"local\")`",
            LATHE_PHRASE(lt::BlockRef copy = s.cache_read(C, B, lt::Scope::local);),
            "the buffer is named, not counted; of this block's reads only"},
           {"`sch.cache_write(b, 0, \"local\")`",
            LATHE_PHRASE(lt::BlockRef store = s.cache_write(C, lt::Scope::local);), "the same"},
           {"`sch.reindex(b, (\"read\", 0))`", LATHE_PHRASE(lt::BlockRef copy = s.reindex(C, B);),
            "the same"},
           {"`sch.decompose_reduction(b, k)`",
            LATHE_PHRASE(lt::BlockRef zero = s.decompose_reduction(C, q);), "the same"},
           {"`sch.rfactor(k, 0)`", LATHE_PHRASE(lt::BlockRef partial = s.rfactor(q, 0);),
            "`s.numerics()` says that rounding may change"},
           {"`sch.transform_layout(b, …, lambda i, j: …)`",
            LATHE_PHRASE(s.transform_layout(
                C, [](lt::Index v, lt::Index w) { return lt::layout(w / 16, v, w % 16); });),
            "padding that the map adds is never read: no `pad_value`"},
           {"`sch.blockize(i)`",
            LATHE_PHRASE(auto [xo, yo, xi, yi] = s.tile(x, y, 8, 8); s.blockize(xi);),
            "one block with plain loops in it: later steps take the tile as a unit"},
           {"`sch.pad_einsum(b, [16, 48, 16])`", LATHE_PHRASE(s.pad(C, {16, 48, 16});),
            "refused where what is padded would change a result"},
           {"`sch.storage_align(b, 0, 0, 32, 1)`", LATHE_PHRASE(s.storage_align(P, 0, 32, 1);),
            "holds on what lowering makes of the buffer"},
           {"`sch.annotate(i, \"double_buffer_scope\", 0)`",
            LATHE_PHRASE(s.compute_at(P, i); s.double_buffer(P, i);),
            "proved, and kept true by every later step; `software_pipeline` likewise"},
           {"`sch.set_scope(b, 0, \"local\")`", LATHE_PHRASE(s.set_scope(C, lt::Scope::local);),
            "the same"},
           {"`sch.annotate(k, \"pragma_auto_unroll_max_step\", 4)`",
            LATHE_PHRASE(s.annotate(q, "unroll_explicit", 4);),
            "known keys are checked; free ones start with `user.`"}}};
}

static Phrases traces() {
  return {"Traces and mistakes",
          {{"`sch.sample_perfect_tile(i, n=2)`",
            LATHE_PHRASE(auto [a, b] = s.sample_perfect_tile<2>(i, 16); s.split<2>(i, {a, b});),
            "symbols in the trace; a decision that does not fit is refused"},
           {"`sch.sample_compute_location(b)`", LATHE_PHRASE(s.sample_compute_location(P);),
            "the decision is the place by its name"},
           {"`sch.trace`, `sch.trace.apply_to_schedule(…)`",
            LATHE_PHRASE(lt::Schedule again = lt::replay(s.trace(), lt::Schedule(D));),
            "`trace().str()` reads back, `trace().cpp()` is code"},
           {"`sch.mod.show()`", LATHE_PHRASE(std::string text = s.str();),
            "`s.html()` draws it with footprints"},
           {"`except ScheduleError`",
            LATHE_PHRASE(
                try { s.parallel(q); } catch (const lt::UserError& e) { (void)e.id(); }),
            "ids, your line, the loop underlined, what would be legal; nothing has changed. Never "
            "an abort"}}};
}

std::vector<Phrases> from_tvm() { return {tensors(), loops(), blocks(), traces()}; }

}  // namespace docs
