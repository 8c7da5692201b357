#include <support/errors.hpp>

#include "kernels.hpp"

using namespace test;

TEST_CASE("split: divisors need no guard, infer guards the tail") {
  Add k(100);
  lt::Schedule start(k.Y), s = start;
  auto [i] = s.loops<1>(k.Y);
  auto [io, ii] = s.split(i, {10, 10});
  CHECK(s.str() == R"(program Y(in X: f32[100], out Y: f32[100]) scheduled:
  for io in 0..10:
    for ii in 0..10:
      block Y(vi in 0..100 = io * 10 + ii):
        Y[vi] = X[vi] + 1.0
)");
  auto [a, b] = s.split<2>(ii, {lt::infer, 4});
  CHECK(s.str() == R"(program Y(in X: f32[100], out Y: f32[100]) scheduled:
  for io in 0..10:
    for iio in 0..3:
      for iii in 0..4 @tail="guard":
        block Y(vi in 0..100 = io * 10 + (iio * 4 + iii), vii in 0..10 = iio * 4 + iii) @guards=1:
          Y[vi] = X[vi] + 1.0
)");
  check_kept(start, s);
}

TEST_CASE("split: every extent against every factor") {
  for (std::int64_t n : {0, 1, 2, 7, 8, 9, 13, 16, 31})
    for (std::int64_t f : {1, 2, 3, 7, 8, 32}) {
      Add k(n);
      lt::Schedule start(k.Y), s = start;
      auto [i] = s.loops<1>(k.Y);
      s.split(i, {lt::infer, f});
      check_kept(start, s);
      lt::Schedule t = start;
      t.split(i, {f, lt::infer});
      check_kept(start, t);
      lt::Schedule m = start;
      m.split(i, {2, lt::infer, f});
      check_kept(start, m);
    }
}

TEST_CASE("split: nested guarded splits of a reduction add every term once") {
  for (std::int64_t n : {1, 5, 13})
    for (std::int64_t f : {2, 3, 5}) {
      RowSum k(3, n);
      lt::Schedule start(k.S), s = start;
      auto [i, r] = s.loops<2>(k.S);
      auto [ro, ri] = s.split(r, {lt::infer, 4});
      auto [rio, rii] = s.split(ri, {lt::infer, f});
      auto [a, b] = s.split(rii, {lt::infer, 2});
      auto [io, ii] = s.split(i, {lt::infer, 2});
      s.split(ii, {lt::infer, 3});
      check_kept(start, s);
    }
}

TEST_CASE("split: symbolic extents") {
  lt::Dim n("n"), c("c", {.min = 0, .max = 4096, .multiple_of = 8});
  Add k(n), e(c);
  lt::Schedule start(k.Y), s = start;
  auto [i] = s.loops<1>(k.Y);
  s.split(i, {lt::infer, 8});
  for (std::int64_t v : {0, 1, 7, 8, 9, 17}) check_kept(start, s, {{"n", v}});
  lt::Schedule start2(e.Y), t = start2;
  auto [j] = t.loops<1>(e.Y);
  auto [jo, ji] = t.split(j, {lt::infer, 8}, lt::Tail::exact);
  CHECK(t.str().find("guard") == std::string::npos);
  for (std::int64_t v : {0, 8, 24}) check_kept(start2, t, {{"c", v}});
}

TEST_CASE("split: refusals") {
  Gemm k(100, 64, 64);
  lt::Schedule s(k.D);
  auto i_j_r_loops = s.loops<3>(k.C);
  lt::LoopRef i = i_j_r_loops[0], j = i_j_r_loops[1], r = i_j_r_loops[2];
  std::string text = refused(s, [&](lt::Schedule& t) { t.split(i, {2, 48}); });
  CHECK(text ==
        R"(error[L0203] split: factors {2, 48} give 96, but loop 'i' of block 'C' has extent 100
  at split_test.cpp:#
  loops of 'C': i(100) j(64) r:reduce(64)
    for i in 0..100:
        ^
      for j in 0..64:
        for r in 0..64:
          block C(vi in 0..100 = i, vj in 0..64 = j, reduce vr in 0..64 = r) reduce sum init:
  help: write lt::infer for one factor (the tail is guarded), or use divisors of 100: 1 2 4 5 10 20 25 50 100)");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.split(i, {lt::infer, 0}); }) == "L0203");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.split(i, {lt::infer, lt::infer}); }) == "L0203");
  CHECK(refused_id(s, [&](lt::Schedule& t) {
          t.split(i, {lt::infer, 48}, lt::Tail::exact);
        }) == "L0203");
  CHECK(refused_id(s, [&](lt::Schedule& t) {
          t.split(i, {INT64_MAX / 2, 8}, lt::Tail::guard);
        }) == "L0203");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.split(i, {1, 8}, lt::Tail::guard); }) == "L0203");
  CHECK(refused_id(s, [&](lt::Schedule& t) {
          t.split(i, {lt::infer, 8}, lt::Tail::round_up);
        }) == "L0224");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.split_any(i, {}); }) == "L0203");
  auto io_ii_loops = s.split(i, {lt::infer, 8});
  lt::LoopRef io = io_ii_loops[0], ii = io_ii_loops[1];
  CHECK(refused(s, [&](lt::Schedule& t) {
          t.split(i, {lt::infer, 2});
        }) == R"(error[L0201] split: loop 'i' was split into io, ii at split_test.cpp:#
  at split_test.cpp:#
  help: use the references that this step gave)");
  s.vectorize(ii);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.split(ii, {lt::infer, 2}); }) == "L0204");
  lt::Schedule other(k.D);
  CHECK(refused_id(other, [&](lt::Schedule& t) { t.split(ii, {lt::infer, 2}); }) == "L0201");
  CHECK(refused_id(other, [&](lt::Schedule& t) {
          t.split(lt::LoopRef(), {lt::infer, 2});
        }) == "L0201");
}

TEST_CASE("split: what is legal where an extent depends on a loop around") {
  lt::Input<float, 2> A("A", {8, 8});
  auto folded = [&](bool ragged) {
    return lt::compute("R", {8}, [&](lt::Var i) {
      if (!ragged) {
        lt::Reduce r("r", 8);
        return lt::sum(A(i, r), r).where(r <= i);
      }
      lt::Reduce r("r", i + 1);
      return lt::sum(A(i, r), r);
    });
  };
  auto R = folded(true), M = folded(false);
  lt::Schedule start(R), s = start, masked_start(M), masked = masked_start;
  // What the loop runs over is the domain of its iterator, which leaves out the tail.
  lt::Schedule inner = start;
  auto [ro, ri] = inner.split(inner.loops<2>(R)[1], {lt::infer, 3});
  inner.unroll(ri);
  check_kept(start, inner);
  inner = start;
  inner.split(inner.loops<2>(R)[1], {lt::infer, 3});
  inner.decompose_reduction(R, inner.loops<3>(R)[1]);
  inner.split(inner.loops<3>(R)[0], {lt::infer, 3});
  check_kept(start, inner);
  s.split(s.loops<2>(R)[0], {lt::infer, 3});
  check_kept(start, s);
  masked.split(masked.loops<2>(M)[1], {lt::infer, 3});
  check_kept(masked_start, masked);
  lt::Schedule wider(lt::parse(R"(program P(in A: f32[8, 8], inout C: f32[8, 8]):
  for i in 0..8:
    for j in 0..i + 1:
      block C(vi in 0..8 = i, vj in 0..8 = j):
        C[vi, vj] = A[vi, vj]
)"));
  CHECK(
      refused(wider,
              [&](lt::Schedule& t) {
                t.split(t.loops<2>("C")[1], {lt::infer, 3});
              }) ==
      R"(error[L0224] split: the tail of loop 'j' of block 'C' can't be guarded, as its bound depends on loop 'i'
  at split_test.cpp:#
  loops of 'C': i(8) j(i + 1)
    for i in 0..8:
      for j in 0..i + 1:
          ^
        block C(vi in 0..8 = i, vj in 0..8 = j):
          C[vi, vj] = A[vi, vj]
  help: split loop 'i', or this one before a step makes its bound depend on that)");
}

TEST_CASE("split: a copy of a schedule keeps the references") {
  Add k(16);
  lt::Schedule s(k.Y);
  auto [i] = s.loops<1>(k.Y);
  lt::Schedule copy = s;
  auto io_ii_loops = s.split(i, {4, 4});
  lt::LoopRef io = io_ii_loops[0], ii = io_ii_loops[1];
  copy.split(i, {8, 2});
  CHECK(refused_id(copy, [&](lt::Schedule& t) { t.vectorize(ii); }) == "L0201");
  s.vectorize(ii);
}

TEST_CASE("split: factors far beyond the loop are refused") {
  Add k(5);
  lt::Schedule s(k.Y);
  auto [i] = s.loops<1>(k.Y);
  CHECK(
      test::error_of([&, i = i] {
        s.split(i, {lt::infer, std::int64_t{1} << 32});
      }) ==
      "L0203 split: factors {infer, 4294967296} multiply to 4294967296, but loop 'i' of block 'Y' "
      "runs at most 5 iterations: the rest would be run through for nothing");
  s.split(i, {lt::infer, 2048});
  const lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var v) { return X(v) + 1.0f; });
  lt::Schedule t(Y);
  auto [j] = t.loops<1>(Y);
  CHECK(test::error_of([&, j = j] {
          t.split(j, {std::int64_t{1} << 32, lt::infer});
        }).substr(0, 5) == "L0203");
  t.split(j, {lt::infer, 1 << 20});
}
