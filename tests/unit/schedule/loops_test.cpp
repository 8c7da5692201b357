#include "kernels.hpp"

using namespace test;

TEST_CASE("fuse: one loop over both, and back") {
  Gemm k(6, 10, 4);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  lt::LoopRef f = s.fuse(i, j);
  CHECK(s.str().find("for i_j in 0..60:\n    block D(vi in 0..6 = floordiv(i_j, 10), vj in 0..10 = "
                     "floormod(i_j, 10)):") != std::string::npos);
  s.split(f, {lt::infer, 7});
  auto [ci, cj, cr] = s.loops<3>(k.C);
  s.fuse(ci, cj, cr);
  check_kept(start, s);
}

TEST_CASE("fuse: extents 0, 1 and symbolic") {
  for (std::int64_t m : {0, 1, 5})
    for (std::int64_t n : {0, 1, 7}) {
      lt::Dim dm("m"), dn("n");
      Gemm k(dm, dn, 3);
      lt::Schedule start(k.D), s = start;
      auto [i, j] = s.loops<2>(k.D);
      s.split(s.fuse(i, j), {lt::infer, 4});
      check_kept(start, s, {{"m", m}, {"n", n}});
    }
}

TEST_CASE("fuse: refusals") {
  Gemm k(6, 10, 4);
  lt::Schedule s(k.D);
  auto i_j_r_loops = s.loops<3>(k.C);
  lt::LoopRef i = i_j_r_loops[0], j = i_j_r_loops[1], r = i_j_r_loops[2];
  CHECK(refused(s, [&](lt::Schedule& t) { t.fuse(i, r); }) ==
        R"(error[L0205] fuse: loop 'r'(4) is not directly and alone inside loop 'i'(6)
  at loops_test.cpp:#
  loops of 'C': i(6) j(10) r:reduce(4)
    for i in 0..6:
      for j in 0..10:
        for r in 0..4:
            ^
          block C(vi in 0..6 = i, vj in 0..10 = j, reduce vr in 0..4 = r) reduce sum init:
            C[vi, vj] sum= A[vi, vr] * B[vr, vj]
  help: loop 'j'(10) is: name it too, or reorder first)");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.fuse({i}); }) == "L0202");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.fuse(j, i); }) == "L0205");
  lt::Input<float, 2> X("X", {8, 8});
  auto T = lt::compute("T", {8}, [&](lt::Var i) {
    lt::Reduce k("k", i + 1);
    return lt::sum(X(i, k), k);
  });
  lt::Schedule t(T);
  auto ti_tk_loops = t.loops<2>(T);
  lt::LoopRef ti = ti_tk_loops[0], tk = ti_tk_loops[1];
  CHECK(refused_id(t, [&](lt::Schedule& u) { u.fuse(ti, tk); }) == "L0206");
  CHECK(refused_id(t, [&](lt::Schedule& u) { u.reorder({tk, ti}); }) == "L0206");
}

TEST_CASE("fuse: a reduction of one term that a loop repeats") {
  lt::Schedule s(lt::parse(R"(program P(inout C: i16[4], in A: i16[4, 1]):
  for i in 0..4:
    for r in 0..1:
      for t in 0..3:
        block C(v in 0..4 = i, reduce w in 0..1 = r) reduce sum init:
          C[v] sum= A[v, w]
)"));
  const auto loops = s.loops(s.block("C"));
  CHECK(refused_id(s, [&](lt::Schedule& x) { x.fuse({loops[0], loops[1], loops[2]}); }) == "L0229");
  lt::Schedule t = s;
  t.fuse({loops[1], loops[2]});
  check_kept(s, t);
}

TEST_CASE("fuse: a spatial loop with a reduction that may be empty") {
  lt::Dim n("n");
  RowSum empty(3, 0), one(3, 1), any(3, n);
  lt::Schedule s(empty.S), t(one.S), u(any.S);
  auto e = s.loops(empty.S), o = t.loops(one.S), a = u.loops(any.S);
  CHECK(refused_id(s, [&](lt::Schedule& x) { x.fuse(e[0], e[1]); }) == "L0229");
  CHECK(refused_id(u, [&](lt::Schedule& x) { x.fuse(a[0], a[1]); }) == "L0229");
  t.fuse(o[0], o[1]);
  check_kept(lt::Schedule(one.S), t);
  u.decompose_reduction(any.S, a[0]);
  u.fuse(a[0], a[1]);
}

TEST_CASE("reorder: any order of a reduction's loops") {
  Gemm k(6, 10, 4);
  lt::Schedule start(k.D);
  auto [i, j, r] = start.loops<3>(k.C);
  std::vector<std::vector<lt::LoopRef>> orders{{i, r, j}, {j, i, r}, {j, r, i}, {r, i, j},
                                               {r, j, i}, {r, i},    {j, i}};
  for (const auto& order : orders) {
    lt::Schedule s = start;
    s.reorder(order);
    CHECK(s.numerics().empty());
    check_kept(start, s);
  }
  lt::Schedule s = start;
  s.reorder({r, i});
  CHECK(s.str().find("for r in 0..4:\n    for j in 0..10:\n      for i in 0..6:") !=
        std::string::npos);
}

TEST_CASE("reorder: swapped reduce loops are listed as reassociating, and refused under strict") {
  RowSum k(4, 12);
  lt::Schedule start(k.S), s = start;
  auto [i, r] = s.loops<2>(k.S);
  auto [ro, ri] = s.split(r, {4, 3});
  s.reorder({ri, ro});
  REQUIRE(s.numerics().size() == 1);
  CHECK(s.numerics()[0] == "reorder: the reduce loops of 'S' run in another order");
  check_kept(start, s);
  lt::Schedule strict(k.S, {.strict = true});
  auto [a, b] = strict.loops<2>(k.S);
  auto bo_bi_loops = strict.split(b, {4, 3});
  lt::LoopRef bo = bo_bi_loops[0], bi = bo_bi_loops[1];
  strict.reorder({bo, a, bi});
  const std::string text = refused(strict, [&](lt::Schedule& t) { t.reorder({bi, bo}); });
  CHECK(text.substr(0, text.find('\n')) ==
        "error[L0226] reorder: may change the rounding of floating-point results: the reduce loops "
        "of 'S' run in another order");
}

TEST_CASE("reorder: refusals") {
  Gemm k(6, 10, 4);
  lt::Schedule s(k.D);
  auto i_j_r_loops = s.loops<3>(k.C);
  lt::LoopRef i = i_j_r_loops[0], j = i_j_r_loops[1], r = i_j_r_loops[2];
  auto di_dj_loops = s.loops<2>(k.D);
  lt::LoopRef di = di_dj_loops[0], dj = di_dj_loops[1];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.reorder({i, dj}); }) == "L0205");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.reorder({i, i}); }) == "L0202");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.reorder({i}); }) == "L0202");
}

TEST_CASE("tile: two splits and a reorder, all or nothing") {
  for (std::int64_t m : {1, 8, 13}) {
    Gemm k(m, 10, 4);
    lt::Schedule start(k.D), s = start;
    auto i_j_loops = s.loops<2>(k.D);
    lt::LoopRef i = i_j_loops[0], j = i_j_loops[1];
    auto [io, jo, ii, ji] = s.tile(i, j, 4, 3);
    CHECK(s.loops(k.D) == std::vector<lt::LoopRef>{io, jo, ii, ji});
    check_kept(start, s);
  }
  Gemm k(6, 10, 4);
  lt::Schedule s(k.D);
  auto i_j_r_loops = s.loops<3>(k.C);
  lt::LoopRef i = i_j_r_loops[0], j = i_j_r_loops[1], r = i_j_r_loops[2];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.tile(i, j, 4, 0); }) == "L0203");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.tile(i, i, 4, 2); }) == "L0202");
  lt::LoopRef elsewhere = s.loops(k.D)[1];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.tile(i, elsewhere, 4, 2); }) == "L0205");
  s.tile(i, r, 4, 2);
}

TEST_CASE("loops: a wrong number of them") {
  Gemm k(6, 10, 4);
  lt::Schedule s(k.D);
  CHECK(refused_id(s, [&](lt::Schedule& t) { (void)t.loops<2>(k.C); }) == "L0202");
  CHECK(refused_id(s, [&](lt::Schedule& t) { (void)t.loops("nothing"); }) == "L0201");
  CHECK(refused_id(s, [&](lt::Schedule& t) { (void)t.loops(k.A); }) == "L0201");
}

TEST_CASE("add_unit_loop: above loops and blocks of every kind") {
  test::Gemm k(5, 4, 3);
  lt::Schedule start(k.D), s = start;
  auto [i, j, r] = s.loops<3>(k.C);
  lt::LoopRef top = s.add_unit_loop(i), inner = s.add_unit_loop(k.C);
  CHECK(s.loops(k.C).size() == 5);
  CHECK(s.loops(k.C).front() == top);
  CHECK(s.loops(k.C).back() == inner);
  s.parallel(i);
  s.vectorize(j);
  lt::LoopRef middle = s.add_unit_loop(j);
  CHECK(s.loops(k.C)[2] == middle);
  CHECK(s.loops(k.C)[3] == j);
  test::check_kept(start, s);
  s.fuse(top, s.add_unit_loop(i));
  s.reverse_compute_at(k.D, i);
  test::check_kept(start, s);
}

TEST_CASE("add_unit_loop: a block without loops") {
  lt::Input<float, 1> X("X", {4});
  lt::Reduce r("r", 4);
  auto Y = lt::compute("Y", {}, [&] { return lt::sum(X(r), r); });
  lt::Schedule start(Y), s = start;
  auto Z = s.loops(Y);
  lt::LoopRef u = s.add_unit_loop(Z[0]);
  s.parallel(u);
  test::check_kept(start, s);
}
