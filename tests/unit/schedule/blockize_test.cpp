// blockize: a nest becomes one block, which later steps take as a unit and leave as it is.
#include <lathe/jit/jit.hpp>

#include "excerpt.hpp"
#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

namespace {

/// A product in tiles of ti × tj, cut along k by tk; the loops io jo ro ri ii ji.
struct TiledGemm {
  Gemm k;
  lt::Schedule start, s;
  lt::LoopRef io, ii, jo, ji, ro, ri;
  TiledGemm(lt::Extent m, lt::Extent n, lt::Extent d, int ti, int tj, int tk)
      : k(std::move(m), std::move(n), std::move(d)), start(k.D), s(start) {
    auto [i, j, r] = s.loops<3>("C");
    std::tie(io, ii) = pair(s.split<2>(i, {lt::infer, ti}));
    std::tie(jo, ji) = pair(s.split<2>(j, {lt::infer, tj}));
    std::tie(ro, ri) = pair(s.split<2>(r, {lt::infer, tk}));
    s.reorder({io, jo, ro, ri, ii, ji});
  }

 private:
  static std::pair<lt::LoopRef, lt::LoopRef> pair(const std::array<lt::LoopRef, 2>& two) {
    return {two[0], two[1]};
  }
};

}  // namespace

TEST_CASE("blockize: the tile of a product, with its vectors") {
  TiledGemm t(32, 48, 12, 8, 16, 4);
  t.s.decompose_reduction("C", t.ro);
  t.s.vectorize(t.ji);
  t.s.unroll(t.ii);
  lt::Schedule plain = t.s;
  t.s.blockize(t.ri);
  CHECK(part(t.s, "block C(") ==
        R"(        block C(vio in 0..4 = io, vjo in 0..3 = jo, reduce vro in 0..3 = ro):
          for ri in 0..4:
            unrolled for ii in 0..8:
              vectorized for ji in 0..16:
                C[vio * 8 + ii, vjo * 16 + ji] = C[vio * 8 + ii, vjo * 16 + ji] + A[vio * 8 + ii, vro * 4 + ri] * B[vro * 4 + ri, vjo * 16 + ji]
)");
  CHECK(t.s.trace().str().find("\nblockize(") != std::string::npos);
  CHECK(t.s.trace().cpp().find("s.blockize(l8);") != std::string::npos);
  CHECK(t.s.numerics().empty());
  CHECK(t.s.loops("C").size() == 3);
  check_lowered(t.start, t.s);
  // Blocks are gone when code is made: it is the same code.
  CHECK(lt::lower(t.s.program(), lt::host()).str() == lt::lower(plain.program(), lt::host()).str());
  t.s.parallel(t.io);
  CHECK(refused_line(t.s, [&](lt::Schedule& s) { s.parallel(t.ro); })
            .starts_with("error[L0207] parallel: iterations of loop 'ro'(3) depend on each other: "
                         "block 'C' reads C"));
  check_lowered(t.start, t.s);
}

TEST_CASE("blockize: the init and the updates of a tile are one block") {
  TiledGemm t(16, 12, 6, 4, 4, 3);
  lt::BlockRef init = t.s.decompose_reduction("C", t.ro);
  t.s.blockize(t.jo);
  CHECK(part(t.s, "for io") == R"(  for io in 0..4:
    block C(vio in 0..4 = io):
      for jo in 0..3:
        for ii in 0..4:
          for ji in 0..4:
            C[vio * 4 + ii, jo * 4 + ji] = 0.0
        for ro in 0..2:
          for ri in 0..3:
            for ii in 0..4:
              for ji in 0..4:
                C[vio * 4 + ii, jo * 4 + ji] = C[vio * 4 + ii, jo * 4 + ji] + A[vio * 4 + ii, ro * 3 + ri] * B[ro * 3 + ri, jo * 4 + ji]
)");
  check_lowered(t.start, t.s);
  const std::string gone = refused(t.s, [&](lt::Schedule& s) { s.loops(init); });
  CHECK(gone.find("block 'C_init' became a part of 'C' at blockize_test.cpp:#") != gone.npos);
  // Loops inside still split and fuse, but not with those outside.
  auto [j0, j1] = t.s.split<2>(t.jo, {lt::infer, 2});
  t.s.unroll(j1);
  t.s.vectorize(t.ji);
  CHECK(refused_id(t.s, [&, j0 = j0](lt::Schedule& s) { s.fuse(t.io, j0); }) == "L0205");
  CHECK(refused_id(t.s, [&, j0 = j0](lt::Schedule& s) { s.reorder({j0, t.io}); }) == "L0205");
  t.s.parallel(t.io);
  check_lowered(t.start, t.s);
  CHECK(refused_help(t.s, [&](lt::Schedule& s) { s.blockize(t.io); }) ==
        "error[L0204] blockize: loop 'io' is parallel\n"
        "  help: threads share whole blocks: blockize a loop inside it");
}

TEST_CASE("blockize: steps on the block take it as a unit") {
  TiledGemm t(24, 24, 6, 4, 8, 3);
  t.s.decompose_reduction("C", t.ro);
  t.s.blockize(t.ri);
  lt::Schedule outer = t.s;
  auto [io, im] = outer.split<2>(t.io, {lt::infer, 4});
  CHECK(
      part(outer, "block C(") ==
      R"(          block C(vio in 0..6 = ioo * 4 + ioi, vjo in 0..3 = jo, reduce vro in 0..2 = ro):
            for ri in 0..3:
              for ii in 0..4:
                for ji in 0..8:
                  C[vio * 4 + ii, vjo * 8 + ji] = C[vio * 4 + ii, vjo * 8 + ji] + A[vio * 4 + ii, vro * 3 + ri] * B[vro * 3 + ri, vjo * 8 + ji]
)");
  check_lowered(t.start, outer);
  outer.parallel(io);
  check_lowered(t.start, outer);
  lt::Schedule placed = t.s;  // producers move above it
  placed.compute_at(placed.cache_read("C", "B", lt::Scope::local), t.ro);
  placed.compute_at(placed.cache_read("C", "A", lt::Scope::local), t.ro);
  CHECK(placed.str().find("block B_cache(vi in 0..6 = ro * 3 + i, vj in 0..24 = jo * 8 + j)") !=
        std::string::npos);
  check_lowered(t.start, placed);
  CHECK(refused_id(t.s, [](lt::Schedule& s) { s.cache_write("C", lt::Scope::local); }) == "L0217");
  CHECK(refused_id(t.s, [&](lt::Schedule& s) { s.rfactor(t.ro); }) == "L0219");
  CHECK(refused_id(t.s, [&](lt::Schedule& s) { s.decompose_reduction("C", t.ro); }) == "L0218");
  CHECK(refused_id(t.s, [&](lt::Schedule& s) { s.reverse_compute_at("D", t.jo); }) == "L0212");
  CHECK(refused_line(t.s, [&](lt::Schedule& s) { s.blockize(t.ii); }) ==
        "error[L0257] blockize: loop 'ii'(4) stands inside a block already");
}

TEST_CASE("blockize: producers and consumers around a complete block") {
  auto A = lt::Input<float, 1>("A", {64});
  auto P = lt::compute("P", {64}, [&](lt::Var x) { return A(x) * 2.0f; });
  auto Q = lt::compute("Q", {64}, [&](lt::Var x) { return P(x) + 1.0f; });
  auto R = lt::compute("R", {64}, [&](lt::Var x) { return Q(x) + 3.0f; });
  lt::Schedule start(R), s = start;
  auto [x] = s.loops<1>("Q");
  auto [xo, xi] = s.split<2>(x, {lt::infer, 8});
  s.blockize(xi);
  for (const char* block : {"P", "R"}) {
    CHECK(refused_id(s, [&, xi = xi](lt::Schedule& t) {
            block[0] == 'P' ? t.compute_at(block, xi) : t.reverse_compute_at(block, xi);
          }) == (block[0] == 'P' ? "L0211" : "L0213"));
    lt::Schedule t = s;
    block[0] == 'P' ? t.compute_at(block, xo) : t.reverse_compute_at(block, xo);
    check_lowered(start, t);
    t.parallel(xo);
    check_lowered(start, t);
  }
  lt::Schedule inlined = s;  // what the block reads
  inlined.compute_inline("P");
  CHECK(part(inlined, "Q[") == "        Q[vio * 8 + ii] = A[vio * 8 + ii] * 2.0 + 1.0\n");
  check_lowered(start, inlined);
  CHECK(refused_id(s, [](lt::Schedule& t) { t.compute_inline("Q"); }) == "L0214");
  CHECK(refused_id(s, [](lt::Schedule& t) { t.reverse_compute_inline("R"); }) == "L0215");
  CHECK(refused_id(s, [](lt::Schedule& t) { t.reverse_compute_inline("Q"); }) == "L0215");
  CHECK(refused_id(s, [](lt::Schedule& t) { t.clone("Q", {"R"}); }) == "L0250");
  CHECK(refused_id(s, [](lt::Schedule& t) { t.pad("Q", {3}); }) == "L0252");
  lt::Schedule cut = s;
  cut.loop_partition(xo, {3});
  check_lowered(start, cut);
  lt::Schedule lanes = s;  // of whole tiles
  lanes.vectorize(xo);
  check_lowered(start, lanes);
  lanes = s;
  lanes.vectorize(xi);
  CHECK(refused_id(lanes, [&, xo = xo](lt::Schedule& t) { t.vectorize(xo); }) == "L0209");
  check_lowered(start, lanes);
}

TEST_CASE("blockize: one iteration outside, one inside, none, and a whole nest") {
  for (std::int64_t n : {1, 7, 16})
    for (int tile : {1, 7, 16}) {
      Add k(n);
      lt::Schedule start(k.Y), s = start;
      auto [i] = s.loops<1>("Y");
      auto [io, ii] = s.split<2>(i, {lt::infer, tile});
      if (n % tile == 0) {
        s.blockize(ii);
        CHECK(s.loops("Y").size() == 1);
        s.add_unit_loop(io);
      } else {
        CHECK(refused_id(s, [&, ii = ii](lt::Schedule& t) { t.blockize(ii); }) == "L0257");
      }
      check_lowered(start, s);
    }
  Gemm empty(4, 6, 0);
  lt::Schedule start(empty.D), s = start;
  auto [i, j, r] = s.loops<3>("C");
  s.decompose_reduction("C", r);
  s.blockize(j);
  CHECK(s.loops("C").size() == 1);
  check_lowered(start, s);
  s.blockize(i);
  CHECK(part(s, "block C") == R"(  block C():
    for i in 0..4:
      for j in 0..6:
        C[i, j] = 0.0
        for r in 0..0:
          C[i, j] = C[i, j] + A[i, r] * B[r, j]
)");
  check_lowered(start, s);
  // A unit loop stays an iterator.
  Add one(8);
  lt::Schedule unit(one.Y);
  auto [x] = unit.loops<1>("Y");
  auto [xo, xi] = unit.split<2>(x, {1, 8});
  unit.blockize(xi);
  CHECK(unit.str().find("block Y(vio in 0..1 = io):") != std::string::npos);
  check_lowered(lt::Schedule(one.Y), unit);
}

TEST_CASE("blockize: extents known at the call") {
  lt::Dim n("n"), m("m", {.multiple_of = 8});
  Add any(n), whole(m);
  lt::Schedule s(any.Y);
  auto [i] = s.loops<1>("Y");
  auto [io, ii] = s.split<2>(i, {lt::infer, 8});
  CHECK(refused_help(s, [&, ii = ii](lt::Schedule& t) { t.blockize(ii); }) ==
        "error[L0257] blockize: block 'Y' has iterator 'vi' = io * 8 + ii in 0..n, a guard that "
        "cuts through tiles\n"
        "  help: pad the block, or take the full tiles apart with loop_partition");
  Add some(21);
  lt::Schedule rest(some.Y);
  auto [a] = rest.loops<1>("Y");
  auto [ao, ai] = rest.split<2>(a, {lt::infer, 8});
  rest.loop_partition(ao, {2});
  rest.blockize(rest.loops("Y_0")[1]);
  CHECK(rest.str().find("block Y_0(vio in 0..2 = io0):") != std::string::npos);
  check_lowered(lt::Schedule(some.Y), rest);

  lt::Schedule start(whole.Y), t = start;
  auto [x] = t.loops<1>("Y");
  auto [xo, xi] = t.split<2>(x, {lt::infer, 8});
  t.blockize(xi);
  CHECK(t.str().find("block Y(vio in 0..floordiv(m, 8) = io):") != std::string::npos);
  t.vectorize(xi);
  t.split<2>(xo, {lt::infer, 3});
  t.parallel(t.loops("Y")[0]);
  for (std::int64_t size : {0, 8, 40}) check_lowered(start, t, {{"m", size}});

  // A tile of symbolic size.
  lt::Dim b("b", {.min = 1});
  lt::Input<float, 1> X("X", {b * 6}), W("W", {b});
  auto Y = lt::compute("Y", {b * 6}, [&](lt::Var v) { return X(v) + W(0); });
  lt::Schedule symbolic(Y), u = symbolic;
  auto [y] = u.loops<1>("Y");
  auto [yo, yi] = u.split<2>(y, {6, b});
  u.blockize(yi);
  CHECK(part(u, "block Y") ==
        "    block Y(vio in 0..6 = io):\n      for ii in 0..b:\n"
        "        Y[vio * b + ii] = X[vio * b + ii] + W[0]\n");
  for (std::int64_t size : {1, 5}) check_lowered(symbolic, u, {{"b", size}});
}

TEST_CASE("blockize: what it refuses") {
  TiledGemm t(8, 8, 4, 4, 4, 2);
  CHECK(refused(t.s, [&](lt::Schedule& s) { s.blockize(t.ii); }) ==
        R"(error[L0257] blockize: block 'C' is a reduction that sets its identity itself
  at blockize_test.cpp:#
  loops of 'C': io(2) jo(2) ro:reduce(2) ri:reduce(2) ii(4) ji(4)
    for ri in 0..2:
      for ii in 0..4:
        for ji in 0..4:
          block C(vi in 0..8 = io * 4 + ii, vj in 0..8 = jo * 4 + ji, reduce vr in 0..4 = ro * 2 + ri) reduce sum init:
                ^
            C[vi, vj] sum= A[vi, vr] * B[vr, vj]
  help: decompose_reduction it first)");
  lt::Schedule mixed = schedule_of(R"(program mixed(in x: f32[10], out y: f32[10], inout z: f32[4]):
  for a in 0..2:
    for b in 0..5:
      block y(vi in 0..10 = (a + b) % 2 * 5 + b):
        y[vi] = x[vi]
  for c in 0..2:
    for d in 0..2:
      z[c * 2 + d] = 1.0
)");
  CHECK(
      refused_help(mixed, [](lt::Schedule& s) { s.blockize(s.loop("b")); }) ==
      "error[L0257] blockize: block 'y' has iterator 'vi' = (a + b) % 2 * 5 + b, which mixes loops "
      "of the nest with loops around it\n"
      "  help: split and reorder so that it is a multiple of the outer ones plus the inner ones");
  CHECK(refused_help(mixed, [](lt::Schedule& s) { s.blockize(s.loop("d")); }) ==
        "error[L0257] blockize: loop 'd'(2) holds more than loops and blocks\n"
        "  help: give its statements blocks of their own");

  Blur k(16);
  lt::Schedule s(k.C);
  auto [x] = s.loops<1>("C");
  auto [xo, xi] = s.split<2>(x, {lt::infer, 4});
  s.compute_at("P", xo);
  lt::Schedule marked = s;
  marked.double_buffer("P", xo);
  CHECK(refused_help(marked, [&, xo = xo](lt::Schedule& t) { t.blockize(xo); }) ==
        "error[L0204] blockize: loop 'io' carries the annotation 'double_buffer'\n"
        "  help: annotate loops last");
  lt::Schedule inside = marked;
  inside.blockize(inside.loops("P")[1]);
  check_lowered(lt::Schedule(k.C), inside);
  marked = s;
  marked.prefetch("P", xi, 1);
  CHECK(refused_id(marked, [&, xi = xi](lt::Schedule& t) { t.blockize(xi); }) == "L0204");
  lt::Schedule shifted(k.P);
  auto [p] = shifted.loops<1>("P");
  auto [po, pi] = shifted.split<2>(p, {lt::infer, 4}, lt::Tail::shift);
  CHECK(
      refused_help(shifted, [&, pi = pi](lt::Schedule& t) { t.blockize(pi); }) ==
      "error[L0204] blockize: the tail of loop 'ii' moves inward, which needs the iterators of the "
      "blocks below\n  help: split it with Tail::guard");
}

TEST_CASE("blockize: marks of blocks stay, and unrolled loops inside count") {
  Add k(64);
  lt::Schedule start(k.Y), s = start;
  auto [i] = s.loops<1>("Y");
  auto [io, im, ii] = s.split<3>(i, {lt::infer, 4, 8});
  s.annotate("Y", "stream", 1);
  s.vectorize(ii);
  s.unroll(im);
  s.blockize(im);
  CHECK(head(s, "block Y") == "block Y(vio in 0..2 = i0) @`stream`=1:");
  CHECK(s.str().find("\n      unrolled for i1 in 0..4:\n") != std::string::npos);
  check_lowered(start, s);
  Add large(8192 * 4);
  lt::Schedule u(large.Y);
  auto [x] = u.loops<1>("Y");
  auto [xo, xi] = u.split<2>(x, {lt::infer, 4096});
  u.unroll(xi);
  u.blockize(xi);
  CHECK(refused_id(u, [&, xo = xo](lt::Schedule& t) { t.unroll(xo); }) == "L0210");
}

TEST_CASE("blockize: compiled") {
  TiledGemm t(20, 24, 10, 5, 8, 5);
  t.s.decompose_reduction("C", t.ro);
  t.s.vectorize(t.ji);
  t.s.unroll(t.ii);
  t.s.blockize(t.ri);
  t.s.blockize(t.jo);
  t.s.parallel(t.io);
  std::vector<float> a(20 * 10), b(10 * 24), plain(20 * 24), tiled(20 * 24);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = std::sin(static_cast<float>(k));
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = std::cos(static_cast<float>(k));
  const lt::View<const float, 2> A(a.data(), {20, 10}), B(b.data(), {10, 24});
  lt::View<float, 2> P(plain.data(), {20, 24}), T(tiled.data(), {20, 24});
  lt::jit(t.start, t.k.A, t.k.B, t.k.D)(A, B, P);
  lt::jit(t.s, t.k.A, t.k.B, t.k.D)(A, B, T);
  CHECK(std::memcmp(plain.data(), tiled.data(), sizeof(float) * plain.size()) == 0);
}
