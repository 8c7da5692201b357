#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

TEST_CASE("decompose_reduction: the init stands before the loop, with the loops that it needs") {
  Gemm k(4, 8, 5);
  lt::Schedule start(k.C), s = start;
  auto [i, j, r] = s.loops<3>(k.C);
  s.reorder({i, r, j});
  lt::BlockRef init = s.decompose_reduction(k.C, r);
  CHECK(s.str() == R"(program C(in A: f32[4, 5], in B: f32[5, 8], out C: f32[4, 8]) scheduled:
  for i in 0..4:
    for j in 0..8:
      block C_init(vi in 0..4 = i, vj in 0..8 = j):
        C[vi, vj] = 0.0
    for r in 0..5:
      for j in 0..8:
        block C(vi in 0..4 = i, vj in 0..8 = j, reduce vr in 0..5 = r) reduce sum:
          C[vi, vj] sum= A[vi, vr] * B[vr, vj]
)");
  check_kept(start, s);
  auto [ii, ij] = s.loops<2>(init);
  s.vectorize(ij);
  s.vectorize(j);
  s.parallel(i);
  check_kept(start, s);
}

TEST_CASE("decompose_reduction: every legal loop, tails, an empty reduction") {
  for (std::int64_t n : {1, 6, 7})
    for (std::int64_t depth : {0, 1, 5}) {
      RowSum k(n, depth);
      lt::Schedule start(k.S);
      for (int at : {0, 1, 2}) {
        lt::Schedule s = start;
        auto [i, r] = s.loops<2>(k.S);
        auto [io, ii] = s.split(i, {lt::infer, 4});
        auto [iio, iii] = s.split(ii, {lt::infer, 3});
        s.decompose_reduction(k.S, at == 0 ? io : at == 1 ? iio : r);
        check_kept(start, s);
      }
    }
}

TEST_CASE("decompose_reduction: refusals") {
  RowSum k(4, 6);
  lt::Schedule s(k.S);
  auto [i, r] = s.loops<2>(k.S);
  auto ro_ri_loops = s.split(r, {2, 3});
  lt::LoopRef ro = ro_ri_loops[0], ri = ro_ri_loops[1];
  CHECK(
      refused(s, [&](lt::Schedule& t) { t.decompose_reduction(k.S, ri); }) ==
      R"(error[L0218] decompose_reduction: loop 'ro'(2) around loop 'ri' feeds the reduction of block 'S'
  at reduction_test.cpp:#
  loops of 'S': i(4) ro:reduce(2) ri:reduce(3)
    for i in 0..4:
      for ro in 0..2:
        for ri in 0..3:
            ^^
          block S(vi in 0..4 = i, reduce vr in 0..6 = ro * 3 + ri) reduce sum init:
            S[vi] sum= X[vi, vr]
  help: the init stands before all loops that feed it: take loop 'ro' or one outside)");
  s.decompose_reduction(k.S, ro);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.decompose_reduction(k.S, ro); }) == "L0218");
  Add a(4);
  lt::Schedule u(a.Y);
  auto x_loops = u.loops<1>(a.Y);
  lt::LoopRef x = x_loops[0];
  CHECK(refused_id(u, [&](lt::Schedule& t) { t.decompose_reduction(a.Y, x); }) == "L0218");
}

TEST_CASE("rfactor: partial sums over the inner or the outer loop, with tails") {
  for (std::int64_t depth : {0, 1, 6, 7, 8})
    for (int outer : {0, 1})
      for (int axis : {0, 1, -1}) {
        RowSum k(3, depth);
        lt::Schedule start(k.S), s = start;
        auto [i, r] = s.loops<2>(k.S);
        auto [ro, ri] = s.split(r, {lt::infer, 4});
        lt::BlockRef part = s.rfactor(outer ? ro : ri, axis);
        CHECK(part.name() == "S_rf");
        REQUIRE(s.numerics().size() == 1);
        check_kept(start, s);
        // The factored loop is spatial in the partial block: lanes.
        auto loops = s.loops(part);
        REQUIRE(loops.size() == 3);
        if (!outer) {
          s.reorder({loops[1], loops[2]});
          s.vectorize(loops[2]);
        } else {
          s.parallel(loops[1]);
        }
        check_kept(start, s);
      }
}

TEST_CASE("rfactor: the only reduce loop, with points outside its domain") {
  RowSum k(3, 7);
  lt::Schedule start(k.S), s = start;
  auto [i, r] = s.loops<2>(k.S);
  auto [ro, ri] = s.split(r, {lt::infer, 4});
  s.rfactor(s.fuse(ro, ri));
  check_kept(start, s);
}

TEST_CASE("rfactor: the form of the program") {
  RowSum k(3, 8);
  lt::Schedule s(k.S);
  auto [i, r] = s.loops<2>(k.S);
  auto [ro, ri] = s.split(r, {lt::infer, 4});
  s.rfactor(ri);
  CHECK(s.str() == R"(program S(in X: f32[3, 8], out S: f32[3]) scheduled:
  alloc S_part: f32[4, 3]
  for i in 0..3:
    for ro in 0..2:
      for ri in 0..4:
        block S_rf(vi in 0..3 = i, vri in 0..4 = ri, reduce vro in 0..2 = ro) reduce sum init:
          S_part[vri, vi] sum= X[vi, vro * 4 + vri]
  for i in 0..3:
    for ri in 0..4:
      block S(vi in 0..3 = i, reduce vri in 0..4 = ri) reduce sum init:
        S[vi] sum= S_part[vri, vi]
)");
}

TEST_CASE("rfactor: argmax with ties, integer product, twice") {
  lt::Input<float, 2> X("X", {3, 11});
  lt::Input<std::int32_t, 2> I("I", {3, 11});
  lt::Reduce r("r", 11), q("q", 11);
  auto best = lt::compute("best", {3}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  auto prod = lt::compute("prod", {3}, [&](lt::Var i) { return lt::prod(I(i, q), q); });
  {
    lt::Schedule start(lt::outputs(best.get<0>(), best.get<1>())), s = start;
    auto loops = s.loops("best");
    auto [ro, ri] = s.split(loops[1], {lt::infer, 4});
    s.rfactor(ri);
    check_kept(start, s);
  }
  lt::Schedule start(prod), s = start;
  auto [i, l] = s.loops<2>(prod);
  auto [lo, li] = s.split(l, {lt::infer, 4});
  auto [lio, lii] = s.split(li, {lt::infer, 2});
  s.rfactor(lii);
  CHECK(s.numerics().empty());
  check_kept(start, s);
  s.rfactor(lii);
  check_kept(start, s);
}

TEST_CASE("rfactor: outputs of different ranks") {
  const lt::Schedule start = doubled_argmax();
  lt::Schedule s = start;
  s.transform_layout("best_0", [](lt::Index i) { return lt::layout(i / 2, i % 2); });
  auto [ro, ri] = s.split(s.loops("best")[1], {lt::infer, 4});
  CHECK(refused_id(s, [&, inner = ri](lt::Schedule& t) { t.rfactor(inner, 2); }) == "L0219");
  s.rfactor(ri, -1);
  check_kept(start, s);
}

TEST_CASE("rfactor: refusals") {
  RowSum k(3, 8);
  lt::Schedule s(k.S);
  auto i_r_loops = s.loops<2>(k.S);
  lt::LoopRef i = i_r_loops[0], r = i_r_loops[1];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.rfactor(i); }) == "L0219");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.rfactor(r, 2); }) == "L0219");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.rfactor(r, -3); }) == "L0219");
  lt::LoopRef f = s.fuse(i, r);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.rfactor(f); }) == "L0219");
  lt::Schedule strict(k.S, {.strict = true});
  auto i2_r2_loops = strict.loops<2>(k.S);
  lt::LoopRef i2 = i2_r2_loops[0], r2 = i2_r2_loops[1];
  CHECK(refused_id(strict, [&](lt::Schedule& t) { t.rfactor(r2); }) == "L0226");
}

TEST_CASE("rfactor: a condition on data is not asked where there may be no term") {
  const auto schedule = [](const std::string& extent, const std::string& where) {
    return lt::Schedule(
        lt::parse("program P<n>(in X: i32[4, n], inout Y: i32[4]):\n"
                  "  for i in 0..4:\n"
                  "    for j in 0.." +
                  extent +
                  ":\n"
                  "      block Y(v in 0..4 = i, reduce w in 0.." +
                  extent + " = j) where " + where +
                  " reduce sum:\n"
                  "        Y[v] sum= X[v, w]\n"));
  };
  const auto loop_of = [](lt::Schedule& s, bool lanes) {
    const lt::LoopRef j = s.loops("Y")[1];
    return lanes ? j : s.split_any(j, {lt::infer, 8})[1];
  };
  const auto factored = [](lt::Schedule& s, const lt::LoopRef& loop, bool lanes) {
    lanes ? s.fold_lanes(loop, 8) : s.rfactor(loop);
  };
  for (const bool lanes : {false, true}) {
    // n may be 0, or X[v, 0] be asked of no w.
    for (const auto& [extent, where] : std::vector<std::pair<std::string, std::string>>{
             {"n", "X[v, 0] > 1i32"}, {"16", "w < n && X[v, 0] > 1i32"}}) {
      lt::Schedule s = schedule(extent, where);
      const lt::LoopRef loop = loop_of(s, lanes);
      CHECK(refused_id(s, [&](lt::Schedule& t) { factored(t, loop, lanes); }) == "L0219");
    }
    for (const auto& [extent, where] : std::vector<std::pair<std::string, std::string>>{
             {"16", "X[v, 0] > 1i32"}, {"n", "X[v, w] > 1i32"}, {"n", "v < 3"}}) {
      lt::Schedule start = schedule(extent, where), s = start;
      factored(s, loop_of(s, lanes), lanes);
      for (const std::int64_t n : {16, 17}) check_lowered(start, s, {{"n", n}});
    }
  }
}
