#include "phrase.hpp"

namespace docs {

static Phrases algorithm() {
  return {"What is computed",
          {{"`Func f; f(x, y) = in(x, y) * 2;`",
            LATHE_PHRASE(auto F = lt::compute(
                             "F", {64, 64}, [&](lt::Var v, lt::Var w) { return A(v, w) * 2.0f; });),
            "extents are part of the definition; indices are named slowest first, as in memory, "
            "not fastest first"},
           {"`ImageParam in(Float(32), 2)`",
            LATHE_PHRASE(lt::Input<float, 2> X("X", {64, lt::Dim("n")});),
            "extents are numbers, or Dims that each call sets"},
           {"`RDom r(0, 64); f(x) += in(x, r)`",
            LATHE_PHRASE(
                auto S = lt::compute("S", {64}, [&](lt::Var v) { return lt::sum(A(v, r), r); });),
            "a reduction is a tensor's whole definition; there are no further update definitions"},
           {"`f(x) = Tuple(…)`, `argmax(…)`",
            LATHE_PHRASE(auto M = lt::compute(
                             "M", {64}, [&](lt::Var v) { return lt::reduce_max(A(v, r), r); });),
            "`argmax` and reducers of one's own fold several values at once (docs/guide.md)"},
           {"`BoundaryConditions::repeat_edge(in)`",
            LATHE_PHRASE(
                auto F = lt::compute(
                    "F", {64, 64}, [&](lt::Var v, lt::Var w) { return lt::clamp(A)(v - 1, w); });),
            "also of stages between; no copy is made"},
           {"`BoundaryConditions::constant_exterior(in, 0)`",
            LATHE_PHRASE(auto F = lt::compute(
                             "F", {64, 64},
                             [&](lt::Var v, lt::Var w) { return lt::pad(A, 0.0f)(v - 1, w); });),
            "a read that is surely outside of a tensor is refused where it is written"},
           {"`select(c, a, b)`",
            LATHE_PHRASE(auto F = lt::compute("F", {64, 64},
                                              [&](lt::Var v, lt::Var w) {
                                                return lt::select(v > 0, A(v - 1, w), 0.0f);
                                              });),
            "lazy: the arm that is not taken reads nothing, so it may guard a read"},
           {"`cast<uint8_t>(e)`",
            LATHE_PHRASE(auto F = lt::compute("F", {64, 64},
                                              [&](lt::Var v, lt::Var w) {
                                                return lt::cast<std::uint8_t>(A(v, w));
                                              });),
            "floats to integers truncate and saturate; nothing converts by itself"},
           {"`f.realize({64, 64})`", LATHE_PHRASE(auto f = lt::evaluate(D, A, B, D); (void)f;),
            "`jit` takes the same arguments and compiles; views of your memory are passed to each "
            "call"}}};
}

static Phrases loops() {
  return {
      "How: loops",
      {{"`f.split(x, xo, xi, 8)`", LATHE_PHRASE(auto [xo, xi] = s.split<2>(x, {lt::infer, 8});),
        "loops are values, not names. The default tail is a guard, which computes nothing twice "
        "and nothing "
        "outside; a split that must divide is `{8, 8}`"},
       {"`f.tile(x, y, xo, yo, xi, yi, 8, 8)`",
        LATHE_PHRASE(auto [xo, yo, xi, yi] = s.tile(x, y, 8, 8);), "outer loops first"},
       {"`f.reorder(y, x)`", LATHE_PHRASE(s.reorder({x, y});),
        "outermost first, Halide names the innermost first; refused where a dependence forbids it"},
       {"`f.split(x, xo, xi, 24, TailStrategy::ShiftInwards)`",
        LATHE_PHRASE(s.split(x, {lt::infer, 24}, lt::Tail::shift);),
        "also `guard`, `mask` (`Predicate`), `peel` and `round_up`; refused where computing twice "
        "would show"},
       {"`f.fuse(x, y, xy)`", LATHE_PHRASE(auto xy = s.fuse(x, y);),
        "`x` and `y` are consumed: a later use of them is refused, and says by which step"},
       {"`f.parallel(x)`, `f.parallel(x, 8)`",
        LATHE_PHRASE(s.parallel(s.split<2>(x, {lt::infer, 8})[0]);),
        "proved free of races, or refused; mark loops last"},
       {"`f.vectorize(y, 16)`", LATHE_PHRASE(s.vectorize(s.split<2>(y, {lt::infer, 16})[1]);),
        "the extent need not be the machine's"},
       {"`f.gpu_blocks(x).gpu_threads(y)`",
        LATHE_PHRASE(s.bind(x, "blockIdx.x"); s.bind(y, "threadIdx.x");),
        "proved like `parallel`; processors run them as loops, split at barriers"},
       {"`f.unroll(y, 4)`", LATHE_PHRASE(s.unroll(y, 4);),
        "without a factor the whole loop, whose extent is then a number"},
       {"`f.update().rfactor(r, u)`", LATHE_PHRASE(lt::BlockRef partial = s.rfactor(q);),
        "gives the block of partial results; listed by `s.numerics()`, refused under `strict`"},
       {"`f.update().atomic().vectorize(r, 64)`", LATHE_PHRASE(s.fold_lanes(q, 64);),
        "64 partial results in registers, folded by a tree; listed and refused as `rfactor` is"},
       {"`f.specialize(…)`, loop partitioning",
        LATHE_PHRASE(auto parts = s.loop_partition(x, {1, 63});),
        "at points that you name: borders apart from what lies between"},
       {"`f.partition(x, Partition::Always)`",
        LATHE_PHRASE(auto [vo, vi] = s.split(x, {lt::infer, 24});
                     s.partition(vo, lt::Partition::always);),
        "refused where nothing below depends on the loop"},
       {"`f.prefetch(in, x, 2)`", LATHE_PHRASE(s.prefetch(B, i, 2);),
        "spread over the loops inside"}}};
}

static Phrases places() {
  return {
      "How: places and storage",
      {{"`f.compute_root()`", LATHE_NO_PHRASE("nothing to write"),
        "what every stage does until it is moved or inlined; a Func is inlined unless told "
        "otherwise"},
       {"`c.compute_inline()`", LATHE_PHRASE(s.compute_inline(P);),
        "refused for reductions, and where what it reads changes in between"},
       {"`c.compute_at(d, x)`", LATHE_PHRASE(s.compute_at(C, x);),
        "every reader must be inside the loop, or it is refused, with the loops that would do"},
       {"`c.store_at(d, x)`", LATHE_NO_PHRASE("nothing to write"),
        "lowering keeps of a buffer what the innermost loop around its uses needs"},
       {"`p.hoist_storage(c, i)`", LATHE_PHRASE(s.compute_at(P, q); s.hoist_storage(P, i);),
        "the same"},
       {"`d.compute_with(c, x)`", LATHE_PHRASE(auto [xo, yo] = s.loops<2>(D); s.merge(i, xo);),
        "loops that follow each other and have equal bounds"},
       {"`b.in(c)`", LATHE_PHRASE(lt::BlockRef copy = s.cache_read(C, B, lt::Scope::local);),
        "then `s.compute_at(copy, loop)`"},
       {"`c.in()`", LATHE_PHRASE(lt::BlockRef store = s.cache_write(C, lt::Scope::local);),
        "sums in registers, stored by a block of its own"},
       {"`c.store_in(MemoryType::Stack)`", LATHE_PHRASE(s.set_scope(C, lt::Scope::local);),
        "the same"},
       {"`c.reorder_storage(y, x)`",
        LATHE_PHRASE(
            s.transform_layout(C, [](lt::Index v, lt::Index w) { return lt::layout(w, v); });),
        "any map that is proved to keep elements apart"},
       {"`p.compile_to_lowered_stmt(\"p.html\", …)`", LATHE_PHRASE(std::string page = s.html();),
        "the schedule with footprints; `s.str()` is the program as text, which `lt::parse` reads"},
       {"`p.apply_autoscheduler(…)`", LATHE_PHRASE(auto f = lt::jit(D, A, B, D); (void)f;),
        "a tensor without a schedule gets an analytic one"}}};
}

std::vector<Phrases> from_halide() { return {algorithm(), loops(), places()}; }

}  // namespace docs
