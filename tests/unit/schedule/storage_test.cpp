#include "kernels.hpp"

using namespace test;

TEST_CASE("cache_read: a copy before the consumer's nest, moved and laid out") {
  for (std::int64_t n : {8, 11}) {
    Gemm k(6, n, 5);
    lt::Schedule start(k.D), s = start;
    lt::BlockRef b = s.cache_read(k.C, k.B, lt::Scope::global);
    CHECK(b.name() == "B_cache");
    check_kept(start, s);
    auto [i, j, r] = s.loops<3>(k.C);
    auto [jo, ji] = s.split(j, {lt::infer, 4});
    auto [ro, ri] = s.split(r, {lt::infer, 2});
    s.reorder({jo, ro, i, ri, ji});
    s.transform_layout(b, [](lt::Index r, lt::Index j) { return lt::layout(j / 4, r, j % 4); });
    check_kept(start, s);
    s.compute_at(b, ro);
    CHECK(s.str().find("for i_1 in 0..2:\n        for j in 0..4:\n          block B_cache") !=
          std::string::npos);
    check_kept(start, s);
  }
}

TEST_CASE("cache_read: a window of an intermediate") {
  Blur k(9);
  lt::Schedule start(k.C), s = start;
  lt::BlockRef b = s.cache_read(k.C, k.P, lt::Scope::local);
  auto [x] = s.loops<1>(k.C);
  auto [xo, xi] = s.split(x, {lt::infer, 4});
  s.compute_at(b, xo);
  check_kept(start, s);
  lt::BlockRef c = s.cache_read(b, k.P, lt::Scope::global);
  CHECK(c.name() == "P_cache_1");
  check_kept(start, s);
}

TEST_CASE("cache_read: refusals") {
  Gemm k(6, 8, 5);
  lt::Schedule s(k.D);
  CHECK(refused(s, [&](lt::Schedule& t) { t.cache_read(k.D, k.B, lt::Scope::global); }) ==
        R"(error[L0216] cache_read: block 'D' does not read 'B'
  at storage_test.cpp:#
  loops of 'D': i(6) j(8)
    for i in 0..6:
      for j in 0..8:
        block D(vi in 0..6 = i, vj in 0..8 = j):
              ^
          D[vi, vj] = max(C[vi, vj], 0.0)
  help: it reads C)");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.cache_read(k.C, "Z", lt::Scope::global); }) ==
        "L0201");
}

TEST_CASE("cache_write: an accumulator, copied out after the reduction") {
  for (std::int64_t m : {6, 7}) {
    Gemm k(m, 8, 5);
    lt::Schedule start(k.D), s = start;
    lt::BlockRef out = s.cache_write(k.C, lt::Scope::local);
    CHECK(out.name() == "C_copy");
    check_kept(start, s);
    auto [i, j, r] = s.loops<3>(k.C);
    auto [io, jo, ii, ji] = s.tile(i, j, 2, 8);
    s.reorder({io, jo, r, ii, ji});
    s.reverse_compute_at(out, jo);
    s.reverse_compute_at(k.D, jo);
    s.set_scope("C_cache", lt::Scope::reg);
    s.vectorize(ji);
    s.unroll(ii);
    s.decompose_reduction(k.C, r);
    s.parallel(io);
    check_kept(start, s);
    CHECK(s.str().find("scope register") != std::string::npos);
  }
}

TEST_CASE("cache_write: inside a consumer's loop") {
  Gemm k(7, 8, 5);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  s.compute_at(k.C, i);
  s.cache_write(k.C, lt::Scope::local);
  check_kept(start, s);
}

TEST_CASE("cache_write: refusals") {
  Gemm k(6, 8, 5);
  lt::Schedule s(k.D);
  auto [i, j, r] = s.loops<3>(k.C);
  s.decompose_reduction(k.C, r);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.cache_write(k.C, lt::Scope::local); }) == "L0217");
}

TEST_CASE("set_scope: memory of a thread is not used outside") {
  Gemm k(6, 8, 5);
  lt::Schedule s(k.D);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.set_scope(k.D, lt::Scope::local); }) == "L0220");
  auto [i, j, r] = s.loops<3>(k.C);
  s.parallel(i);
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.set_scope(k.C, lt::Scope::local); }) == "L0220");
}

TEST_CASE("transform_layout: tiles, swaps, gaps") {
  for (std::int64_t m : {1, 8, 9}) {
    Gemm k(m, 10, 3);
    lt::Schedule start(k.D), s = start;
    s.transform_layout(k.C, [](lt::Index a, lt::Index b) { return lt::layout(a / 4, b, a % 4); });
    check_kept(start, s);
    s.transform_layout(
        k.C, [](lt::Index a, lt::Index b, lt::Index c) { return lt::layout(c, a, b * 2); });
    check_kept(start, s);
    s.transform_layout(
        k.C, [](lt::Index a, lt::Index b, lt::Index c) { return lt::layout(-(-a), b, c); });
    check_kept(start, s);
    s.transform_layout("C", [](lt::Index a, lt::Index b, lt::Index c) {
      return lt::layout((a * 40 + b) * 20 + c);
    });
    check_kept(start, s);
  }
}

TEST_CASE("transform_layout: refusals") {
  Gemm k(8, 8, 3);
  lt::Schedule s(k.D);
  CHECK(refused_id(s, [&](lt::Schedule& t) {
          t.transform_layout(k.D, [](lt::Index a, lt::Index b) { return lt::layout(b, a); });
        }) == "L0221");
  CHECK(refused_id(s, [&](lt::Schedule& t) {
          t.transform_layout(k.C, [](lt::Index a, lt::Index b) { return lt::layout(a / 2, b); });
        }) == "L0221");
  CHECK(refused_id(s, [&](lt::Schedule& t) {
          t.transform_layout(k.C, [](lt::Index a, lt::Index b) { return lt::layout(a + b); });
        }) == "L0221");
  CHECK(refused_id(s, [&](lt::Schedule& t) {
          t.transform_layout(k.C, [](lt::Index a) { return lt::layout(a); });
        }) == "L0221");
}
