// bind: loops over the blocks and threads of a GPU, run here as loops.
#include <lathe/lower/pipeline.hpp>

#include "kernels.hpp"

using namespace test;

namespace {

void check_lowered(const lt::Schedule& start, const lt::Schedule& s, const Dims& dims = {}) {
  for (const char* pass : {"lower_bindings", "lower_blocks", "hoist_guards", "simplify_flat"}) {
    INFO(pass);
    lt::Program lowered = lt::lower_until(pass, s.program(), lt::host());
    INFO(lowered.str());
    CHECK(lowered.str().find("Idx.") == std::string::npos);
    CHECK(lt::verify_reason(lowered, lowered->stage) == "");
    CHECK(run(lowered, dims, false) == run(start.program(), dims));
  }
}

/// for bx: for tx: Y[…] = X[…] + 1 over n, 8 threads in a block.
struct Grid {
  Add k;
  lt::Schedule start, s;
  lt::LoopRef block, thread;
  explicit Grid(lt::Extent n) : k(n), start(k.Y), s(start) {
    auto [i] = s.loops<1>(k.Y);
    std::tie(block, thread) = two(s.split(i, {lt::infer, 8}));
    s.bind(block, "blockIdx.x");
  }
  static std::pair<lt::LoopRef, lt::LoopRef> two(std::array<lt::LoopRef, 2> loops) {
    return {loops[0], loops[1]};
  }
};

/// P[x] = A[x] * 2, then C[x] = P[x] + P[x + 1] + P[x + 2]: a block computes 6 of C, and 8 threads
/// fill what it needs of P.
struct Halo {
  Blur k;
  lt::Schedule start, s;
  lt::LoopRef block, fill, use;
  explicit Halo(std::int64_t n) : k(n), start(k.C), s(start) {
    auto [x] = s.loops<1>(k.C);
    std::tie(block, use) = Grid::two(s.split(x, {lt::infer, 6}));
    s.compute_at(k.P, block);
    fill = s.loops(k.P).back();
    use = s.split(use, {lt::infer, 8})[1];
  }
};

/// C = A·B in tiles: each block of threads fetches a part of A and B and adds their product.
lt::Schedule tiled_gemm(const Gemm& k, bool fetch_by_threads) {
  lt::Schedule s(k.D);
  auto [di, dj] = s.loops<2>(k.D);
  auto [io, jo, ii, ji] = s.tile(di, dj, 4, 8);
  s.compute_at(k.C, jo);
  auto loops = s.loops(k.C);
  auto [ro, ri] = s.split(loops[4], {lt::infer, 4});
  s.reorder({ro, loops[2], loops[3], ri});
  for (const char* operand : {"A", "B"}) {
    lt::BlockRef copy = s.cache_read(k.C, operand, lt::Scope::shared);
    s.compute_at(copy, ro);
  }
  lt::BlockRef init = s.decompose_reduction(k.C, ro);
  s.bind(io, "blockIdx.y");
  s.bind(jo, "blockIdx.x");
  s.bind(ii, "threadIdx.y");
  s.bind(ji, "threadIdx.x");
  s.bind(loops[2], "threadIdx.y");
  s.bind(loops[3], "threadIdx.x");
  auto zero = s.loops(init);
  s.bind(zero[2], "threadIdx.y");
  s.bind(zero[3], "threadIdx.x");
  for (const char* copy : {"A_cache", "B_cache"}) {
    if (!fetch_by_threads) continue;
    auto fetch = s.loops(copy);
    s.bind(s.split(s.fuse(fetch[3], fetch[4]), {lt::infer, 8})[1], "threadIdx.x");
  }
  return s;
}

}  // namespace

TEST_CASE("bind: blocks and threads, for extents around a block's") {
  for (std::int64_t n : {0, 1, 7, 8, 13, 64}) {
    Grid g(n);
    g.s.bind(g.thread, "threadIdx.x");
    CHECK(g.s.str().find("threadIdx.x for ii in 0..8") != std::string::npos);
    check_kept(g.start, g.s);
    check_lowered(g.start, g.s);
  }
}

TEST_CASE("bind: symbolic extents") {
  for (std::int64_t n : {0, 1, 8, 21}) {
    lt::Dim dim("n");
    Grid g(dim);
    g.s.bind(g.thread, "threadIdx.y");
    check_kept(g.start, g.s, {{"n", n}});
    check_lowered(g.start, g.s, {{"n", n}});
  }
}

TEST_CASE("bind: threads hand values on where a loop over them ends") {
  Halo h(19);
  h.s.bind(h.block, "blockIdx.x");
  h.s.bind(h.fill, "threadIdx.x");
  h.s.set_scope("P", lt::Scope::shared);
  h.s.bind(h.use, "threadIdx.x");
  check_kept(h.start, h.s);
  check_lowered(h.start, h.s);
}

TEST_CASE("bind: a matrix product by blocks of threads") {
  for (auto [m, n, r] : {std::array<int, 3>{8, 16, 8}, {5, 9, 3}, {4, 8, 0}, {4, 8, 7}}) {
    Gemm k(m, n, r);
    lt::Schedule s = tiled_gemm(k, m == 8);
    check_kept(lt::Schedule(k.D), s);
    check_lowered(lt::Schedule(k.D), s);
    if (m == 8) {
      const std::string text = lt::lower_until("lower_bindings", s.program(), lt::host()).str();
      CHECK(text.find("parallel for io in 0..2:\n    for jo in 0..2:") != std::string::npos);
      CHECK(s.html().find("class=\"loop bound\"") != std::string::npos);
    }
  }
}

TEST_CASE("bind: the loop over blocks runs in parallel, one in a serial loop too") {
  Grid g(64);
  g.s.bind(g.thread, "threadIdx.x");
  auto outer = g.s.add_unit_loop(g.block);
  CHECK(g.s.program()->body.as<lt::ForNode>()->var == outer.var);
  const std::string text = lt::lower_until("lower_bindings", g.s.program(), lt::host()).str();
  CHECK(text.find("for u in 0..1:\n    parallel for io in 0..8:\n      for ii in 0..8:") !=
        std::string::npos);
}

TEST_CASE("bind: a reduction, a dependence, a loop that is marked, no axis") {
  RowSum k(6, 8);
  lt::Schedule s(k.S);
  auto loops = s.loops(k.S);
  CHECK(
      refused(s, [&](lt::Schedule& t) { t.bind(loops[1], "threadIdx.x"); }) ==
      R"(error[L0208] bind: loop 'r'(8, threadIdx.x) feeds the reduction of block 'S': its iterations update the same elements and can't be parallel
  at bind_test.cpp:#
  loops of 'S': i(6) r:reduce(8)
    for i in 0..6:
      for r in 0..8:
          ^
        block S(vi in 0..6 = i, reduce vr in 0..8 = r) reduce sum init:
          S[vi] sum= X[vi, vr]
  help: rfactor 'r' first, or take a loop over spatial axes)");
  CHECK(refused(s, [&](lt::Schedule& t) { t.bind(loops[0], "threadIdx.w"); }) ==
        R"(error[L0255] bind: no axis is called 'threadIdx.w'
  at bind_test.cpp:#
  loops of 'S': i(6) r:reduce(8)
    for i in 0..6:
        ^
      for r in 0..8:
        block S(vi in 0..6 = i, reduce vr in 0..8 = r) reduce sum init:
          S[vi] sum= X[vi, vr]
  help: axes: blockIdx.x blockIdx.y blockIdx.z threadIdx.x threadIdx.y threadIdx.z)");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.bind(loops[0], "parallel"); }) == "L0255");
  s.bind(loops[0], "threadIdx.x");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.bind(loops[0], "threadIdx.y"); }) == "L0204");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.split(loops[0], {2, 3}); }) == "L0204");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.unroll(loops[0]); }) == "L0204");
  lt::Schedule scan(lt::parse(R"(program scan(inout X: f32[8]):
  for i in 0..7:
    block X(v in 0..7 = i):
      X[v + 1] = X[v + 1] + X[v]
)"));
  CHECK(refused_id(scan, [&](lt::Schedule& t) { t.bind(t.loops("X")[0], "blockIdx.x"); }) ==
        "L0207");
}

TEST_CASE("bind: which loops may lie in which") {
  Grid g(64);
  g.s.bind(g.thread, "threadIdx.x");
  auto inner = g.s.add_unit_loop(g.k.Y), outer = g.s.add_unit_loop(g.block);
  auto first = [&](const char* axis, const lt::LoopRef& loop) {
    std::string text = refused(g.s, [&](lt::Schedule& t) { t.bind(loop, axis); });
    return text.substr(0, text.find('\n'));
  };
  CHECK(first("threadIdx.x", inner) ==
        "error[L0255] bind: loop 'u'(1, threadIdx.x) lies inside loop 'ii'(8, threadIdx.x)");
  CHECK(first("blockIdx.y", inner) ==
        "error[L0255] bind: loop 'u'(1, blockIdx.y) lies inside loop 'ii'(8, threadIdx.x)");
  CHECK(first("threadIdx.y", outer) ==
        "error[L0255] bind: loop 'io'(8, blockIdx.x) lies inside loop 'u_1'(1, threadIdx.y)");
  CHECK(refused_id(g.s, [&](lt::Schedule& t) { t.parallel(outer); }) == "L0225");
  CHECK(refused_id(g.s, [&](lt::Schedule& t) { t.parallel(inner); }) == "L0225");
  CHECK(refused_id(g.s, [&](lt::Schedule& t) { t.vectorize(outer); }) == "L0209");
  g.s.vectorize(inner);
  g.s.unroll(outer);
  check_kept(g.start, g.s);
  check_lowered(g.start, g.s);
  lt::Schedule t = g.start;
  auto [io, ii] = t.split(t.loops(g.k.Y)[0], {lt::infer, 8});
  t.parallel(io);
  CHECK(refused_id(t, [&, ii = ii](lt::Schedule& u) { u.bind(ii, "threadIdx.x"); }) == "L0255");
}

TEST_CASE("bind: threads are a number, at most 1024 in all") {
  lt::Dim n("n");
  lt::Input<float, 2> X("X", {n, 4096});
  auto Y = lt::compute("Y", {n, 4096}, [&](lt::Var i, lt::Var j) { return X(i, j) + 1.0f; });
  lt::Schedule s(Y);
  auto [i, j] = s.loops<2>(Y);
  auto first = [&](const lt::LoopRef& loop, const char* axis) {
    std::string text = refused(s, [&](lt::Schedule& t) { t.bind(loop, axis); });
    return text.substr(0, text.find('\n'));
  };
  CHECK(first(i, "threadIdx.x") ==
        "error[L0255] bind: loop 'i'(n, threadIdx.x) has no constant extent");
  CHECK(first(j, "threadIdx.x") ==
        "error[L0255] bind: loop 'j'(4096, threadIdx.x) has more than 1024 threads");
  auto [jo, jm, ji] = s.split(j, {2, 64, 32});
  s.bind(ji, "threadIdx.x");
  CHECK(first(jm, "threadIdx.y") ==
        "error[L0255] bind: loop 'j2'(32, threadIdx.x) makes, with the other threadIdx loops of "
        "its kernel, more than 1024 threads");
  s.bind(jm, "blockIdx.x");
  s.bind(jo, "blockIdx.y");
  s.bind(i, "blockIdx.z");
  check_kept(lt::Schedule(Y), s, {{"n", 3}});
}

TEST_CASE("bind: one extent for each axis of a kernel") {
  Halo h(19);
  h.s.bind(h.block, "blockIdx.x");
  h.s.bind(h.fill, "threadIdx.x");
  auto [a, b] = h.s.split(h.use, {2, 4});
  CHECK(
      refused(h.s, [&, b = b](lt::Schedule& t) { t.bind(b, "threadIdx.x"); }) ==
      R"(error[L0255] bind: loop 'iiii'(4, threadIdx.x) is not proven to be as long as loop 'i'(8, threadIdx.x) of its kernel, the nest of loop 'io'
  at bind_test.cpp:#
  loops of 'C': io(4, blockIdx.x) iio(1) iiio(2) iiii(4)
    blockIdx.x for io in 0..4:
      ...
      for iio in 0..1:
        for iiio in 0..2:
          for iiii in 0..4:
              ^^^^
            block C(vi in 0..19 = io * 6 + (iio * 8 + (iiio * 4 + iiii)), vii in 0..6 = iio * 8 + (iiio * 4 + iiii)) @guards=1:
              C[vi] = P[vi] + P[vi + 1] + P[vi + 2]
  help: loops of one axis in an outermost loop have one extent)");
  h.s.bind(b, "threadIdx.y");
  check_kept(h.start, h.s);
}

TEST_CASE("set_scope: a trace may say any word") {
  Halo h(19);
  const std::string trace = "trace 1 program 0x0\nset_scope(\"P\", nowhere)\n";
  CHECK_THROWS_WITH_AS(lt::replay(lt::parse_trace(trace), h.s, true), doctest::Contains("L0220"),
                       lt::UserError);
}

TEST_CASE("bind: memory that the threads don't share") {
  Halo h(19);
  h.s.bind(h.fill, "threadIdx.x");
  h.s.bind(h.use, "threadIdx.x");
  auto scope = [&](lt::Scope to) {
    std::string text = refused(h.s, [&](lt::Schedule& t) { t.set_scope("P", to); });
    return text.substr(0, text.find('\n'));
  };
  CHECK(scope(lt::Scope::reg) ==
        "error[L0220] set_scope: buffer 'P' in scope register is used both inside and outside the "
        "threadIdx.x loop 'iii'");
  CHECK(scope(lt::Scope::local).substr(0, 12) == "error[L0220]");
  h.s.set_scope("P", lt::Scope::shared);
  h.s.bind(h.block, "blockIdx.x");
  check_kept(h.start, h.s);
  // Shared memory is one for all threads, also where each would do with one of its own.
  Blur k(19);
  lt::Schedule s(k.C);
  auto [x] = s.loops<1>(k.C);
  s.compute_at(k.P, x);
  s.bind(x, "threadIdx.x");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.set_scope("P", lt::Scope::shared); }) == "L0225");
  s.set_scope("P", lt::Scope::local);
  check_kept(lt::Schedule(k.C), s);
  check_lowered(lt::Schedule(k.C), s);
}

TEST_CASE("bind: later steps keep the promise") {
  Halo h(32);
  h.s.bind(h.block, "blockIdx.x");
  h.s.bind(h.fill, "threadIdx.x");
  h.s.bind(h.use, "threadIdx.x");
  CHECK(refused_id(h.s, [&](lt::Schedule& t) { t.hoist_storage("P", h.block); }) == "L0204");
  auto serial = h.s.add_unit_loop(h.use);
  CHECK(refused_id(h.s, [&](lt::Schedule& t) { t.annotate(h.use, "max_threads", 2); }) == "L0223");
  h.s.unroll(serial);
  check_kept(h.start, h.s);
  check_lowered(h.start, h.s);

  // A block that comes under a loop over threads brings no loop over the same axis.
  Gemm k(8, 8, 4);
  lt::Schedule s(k.D);
  auto [i, j] = s.loops<2>(k.D);
  auto [ci, cj, cr] = s.loops<3>(k.C);
  s.bind(i, "blockIdx.x");
  s.bind(j, "threadIdx.x");
  s.bind(ci, "blockIdx.x");
  CHECK(refused_id(s, [&, j = j](lt::Schedule& t) { t.compute_at(k.C, j); }) == "L0204");
  // The init takes over what its loops are bound to.
  s.bind(cj, "threadIdx.y");
  s.decompose_reduction(k.C, cj);
  INFO(s.str());
  CHECK(s.str().find("threadIdx.y for j in 0..8:\n      block C_init") != std::string::npos);
  check_kept(lt::Schedule(k.D), s);
  check_lowered(lt::Schedule(k.D), s);
}

TEST_CASE("bind: bounds that differ between threads, and conditions") {
  const std::string head = "program p(inout X: f32[8, 8]):\n";
  const std::string nest = R"(  for i in 0..8:
    for j in 0..i:
      for k in 0..1:
        block X(vi in 0..8 = i, vj in 0..8 = j + k):
          X[vi, vj] = 0.0
)";
  lt::Schedule ragged(lt::parse(head + nest));
  auto loops = ragged.loops("X");
  ragged.bind(loops[0], "threadIdx.x");
  std::string text = refused(ragged, [&](lt::Schedule& t) { t.bind(loops[2], "threadIdx.y"); });
  CHECK(text.substr(0, text.find('\n')) ==
        "error[L0255] bind: loop 'k'(1, threadIdx.y) lies inside loop 'j'(i), whose bounds differ "
        "between threads");
  lt::Schedule alike(lt::parse(head + nest));  // each thread runs 'j' as often as the others
  alike.bind(alike.loops("X")[2], "threadIdx.y");
  lt::Schedule blocks(lt::parse(head + R"(  for i in 0..8:
    for j in 0..i:
      block X(vi in 0..8 = i, vj in 0..8 = j):
        X[vi, vj] = 0.0
)"));
  text = refused(blocks, [&](lt::Schedule& t) { t.bind(t.loops("X")[1], "blockIdx.x"); });
  CHECK(text.substr(0, text.find('\n')) ==
        "error[L0255] bind: loop 'j'(i, blockIdx.x) runs over an extent that only the program "
        "knows when it runs");
  lt::Schedule branch(lt::parse(head + R"(  for i in 0..8:
    if X[i, 0] > 0.0:
      for j in 0..4:
        block X(vi in 0..8 = i, vj in 0..4 = j):
          X[vi, vj + 1] = 0.0
)"));
  text = refused(branch, [&](lt::Schedule& t) { t.bind(t.loops("X")[1], "threadIdx.x"); });
  CHECK(text.substr(0, text.find('\n')) ==
        "error[L0255] bind: loop 'j'(4, threadIdx.x) stands under a condition or inside a block");
}

TEST_CASE("bind: what verify says of bound loops, and a name that looks like an axis") {
  const std::string text = R"(program p(out X: f32[8, 8]):
  threadIdx.x for i in 0..8:
    threadIdx.x for j in 0..8:
      X[i, j] = 0.0
)";
  try {
    lt::parse(text);
    FAIL("read");
  } catch (const lt::UserError& error) {
    CHECK(error.id() == "L0506");
    CHECK(std::string(error.what()).find("loop 'j' is threadIdx.x, as a loop around it") !=
          std::string::npos);
  }
  lt::Program one = lt::parse(R"(program p(out `threadIdx.x`: f32[8]):
  blockIdx.z for i in 0..8:
    `threadIdx.x`[i] = 0.0
)");
  CHECK(lt::verify_reason(one, lt::Stage::blocks) == "");
  CHECK(lt::structurally_equal(lt::parse(one.str()), one));
  const auto* loop = one->body.as<lt::ForNode>();
  lt::Program other =
      one.with(lt::make_for(loop->var, loop->min, loop->extent, loop->body, lt::ForKind::block_y));
  CHECK(!lt::structurally_equal(one, other));
  CHECK(lt::structural_hash(one) != lt::structural_hash(other));
  CHECK(lt::verify_reason(one.with(one->body, lt::Stage::loops), lt::Stage::loops)
            .find("is blockIdx.z at stage loops") != std::string::npos);
}
