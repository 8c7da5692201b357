#include <support/capture.hpp>

#include "kernels.hpp"

using namespace test;

TEST_CASE("parallel, vectorize, unroll: marks on loops") {
  Gemm k(16, 32, 4);
  lt::Schedule start(k.D), s = start;
  auto [i, j, r] = s.loops<3>(k.C);
  auto [jo, ji] = s.split(j, {lt::infer, 8});
  s.reorder({i, jo, r, ji});
  s.parallel(i, 4);
  s.vectorize(ji);
  s.unroll(r);
  auto [di, dj] = s.loops<2>(k.D);
  s.parallel(s.fuse(di, dj));
  CHECK(s.str().find("parallel for i in 0..16 @max_threads=4:") != std::string::npos);
  CHECK(s.str().find("unrolled for r in 0..4:") != std::string::npos);
  CHECK(s.str().find("vectorized for ji in 0..8:") != std::string::npos);
  check_kept(start, s);
}

TEST_CASE("parallel and vectorize: a reduce loop is refused") {
  Gemm k(6, 8, 4);
  lt::Schedule s(k.D);
  auto i_j_r_loops = s.loops<3>(k.C);
  lt::LoopRef i = i_j_r_loops[0], j = i_j_r_loops[1], r = i_j_r_loops[2];
  CHECK(
      refused(s, [&](lt::Schedule& t) { t.parallel(r); }) ==
      R"(error[L0208] parallel: loop 'r'(4) feeds the reduction of block 'C': its iterations update the same elements and can't be parallel
  at kinds_test.cpp:#
  loops of 'C': i(6) j(8) r:reduce(4)
    for i in 0..6:
      for j in 0..8:
        for r in 0..4:
            ^
          block C(vi in 0..6 = i, vj in 0..8 = j, reduce vr in 0..4 = r) reduce sum init:
            C[vi, vj] sum= A[vi, vr] * B[vr, vj]
  help: rfactor 'r' first, or take a loop over spatial axes)");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.vectorize(r); }) == "L0208");
  lt::LoopRef f = s.fuse(j, r);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.parallel(f); }) == "L0208");
  s.parallel(i);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.parallel(i); }) == "L0204");
}

TEST_CASE("parallel and vectorize: tiles with guarded tails") {
  for (std::int64_t m : {1, 8, 13}) {
    Gemm k(m, m, 4);
    lt::Schedule start(k.D), s = start;
    auto [i, j, r] = s.loops<3>(k.C);
    auto [io, jo, ii, ji] = s.tile(i, j, 4, 8);
    s.reorder({io, jo, r, ii, ji});
    s.vectorize(ji);
    s.unroll(ii);
    s.parallel(s.fuse(io, jo));
    check_kept(start, s);
  }
}

TEST_CASE("parallel: a split of an inner tile stays parallel") {
  Gemm k(13, 8, 4);
  lt::Schedule start(k.D), s = start;
  auto [i, j, r] = s.loops<3>(k.C);
  auto [io, ii] = s.split(i, {lt::infer, 8});
  auto [iio, iii] = s.split(ii, {lt::infer, 3});
  s.parallel(io);
  s.vectorize(j);
  check_kept(start, s);
}

TEST_CASE("parallel: a carried dependence is refused") {
  lt::Program p = lt::parse(R"(program p(in X: f32[16], out Y: f32[17]):
  for i in 0..16:
    block Y(vi in 0..16 = i):
      Y[vi + 1] = Y[vi] + X[vi]
)");
  lt::Schedule s(p);
  auto i_loops = s.loops<1>("Y");
  lt::LoopRef i = i_loops[0];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.parallel(i); }) == "L0207");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.vectorize(i); }) == "L0207");
}

TEST_CASE("parallel and vectorize: iterations that store the same element are refused") {
  lt::Program p = lt::parse(R"(program p(in X: f32[16], out Y: f32[8]):
  for i in 0..16:
    block Y(vi in 0..16 = i):
      Y[floordiv(vi, 2)] = X[vi]
)");
  lt::Schedule s(p);
  auto i_loops = s.loops<1>("Y");
  lt::LoopRef i = i_loops[0];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.parallel(i); }) == "L0207");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.vectorize(i); }) == "L0207");
}

TEST_CASE("vectorize and unroll: extents that have no such form") {
  lt::Dim n("n");
  Add k(n), big(5000);
  lt::Schedule s(k.Y), t(big.Y);
  auto i_loops = s.loops<1>(k.Y);
  lt::LoopRef i = i_loops[0];
  auto j_loops = t.loops<1>(big.Y);
  lt::LoopRef j = j_loops[0];
  CHECK(refused_id(s, [&](lt::Schedule& u) { u.vectorize(i); }) == "L0209");
  CHECK(refused_id(s, [&](lt::Schedule& u) { u.unroll(i); }) == "L0210");
  CHECK(refused_id(t, [&](lt::Schedule& u) { u.vectorize(j); }) == "L0209");
  CHECK(refused_id(t, [&](lt::Schedule& u) { u.unroll(j); }) == "L0210");
  CHECK(refused_id(t, [&](lt::Schedule& u) { u.unroll(j, -1); }) == "L0210");
  s.unroll(i, 4);
  CHECK(s.str().find("@unroll_explicit=4") != std::string::npos);
}

TEST_CASE("vectorize: one loop of a nest") {
  Gemm k(8, 8, 4);
  lt::Schedule s(k.D);
  auto i_j_loops = s.loops<2>(k.D);
  lt::LoopRef i = i_j_loops[0], j = i_j_loops[1];
  s.vectorize(j);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.vectorize(i); }) == "L0209");
}

TEST_CASE("vectorize: what has no form for lanes is named") {
  for (const auto& [statement, what] : {std::pair{"assert v < 9, \"small\"", "an assert"},
                                        {"atomic Y[v] += 1i32", "an atomic update"}}) {
    LATHE_CAPTURE(what);
    lt::Schedule s(lt::parse(std::string("program o(in X: i32[8], inout Y: i32[8]):\n"
                                         "  for i in 0..8:\n    block Y(v in 0..8 = i):\n      ") +
                             statement + "\n      Y[v] = X[v]\n"));
    const std::string why =
        refused(s, [](lt::Schedule& t) { t.vectorize(t.loops(t.block("Y"))[0]); });
    CHECK(why.find("error[L0209] vectorize: loop 'i'(8) holds " + std::string(what)) == 0);
  }
}

TEST_CASE("annotate: known keys are checked, free ones are kept") {
  Gemm k(8, 8, 4);
  lt::Schedule start(k.D), s = start;
  auto i_j_loops = s.loops<2>(k.D);
  lt::LoopRef i = i_j_loops[0], j = i_j_loops[1];
  s.annotate(i, "unroll_explicit", 4);
  s.annotate(j, "user.note", "x \"y\"");
  s.annotate(k.D, "stream", 1);
  s.annotate(s.block("C"), "user.weight", 3);
  check_kept(start, s);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.annotate(i, "unrol", 4); }) == "L0223");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.annotate(i, "unroll_explicit", "x"); }) == "L0223");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.annotate(i, "max_threads", 4); }) == "L0223");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.annotate(k.C, "stream", 1); }) == "L0223");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.split(i, {lt::infer, 2}); }) == "L0204");
}

TEST_CASE("prefetch: a hint on the loop") {
  Gemm k(8, 8, 4);
  lt::Schedule start(k.D), s = start;
  auto i_j_r_loops = s.loops<3>(k.C);
  lt::LoopRef i = i_j_r_loops[0], j = i_j_r_loops[1], r = i_j_r_loops[2];
  s.prefetch(k.B, r, 2);
  s.prefetch("A", r, 4, 0);
  CHECK(s.str().find("@prefetch(buffer=\"B\", distance=2, locality=3) "
                     "@prefetch(buffer=\"A\", distance=4, locality=0)") != std::string::npos);
  check_kept(start, s);
  auto di_dj_loops = s.loops<2>(k.D);
  lt::LoopRef di = di_dj_loops[0], dj = di_dj_loops[1];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.prefetch(k.B, di, 2); }) == "L0222");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.prefetch(k.B, r, 0); }) == "L0222");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.prefetch("Z", r, 1); }) == "L0201");
}
