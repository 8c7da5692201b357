#include <lathe/lower/pipeline.hpp>

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

TEST_CASE("cache_write: each result of a block gets a copy, and one block takes all out") {
  lt::Input<float, 2> X("X", {50, 20});
  lt::Reduce r("r", 50);
  auto best = lt::compute("best", {20}, [&](lt::Var j) { return lt::argmax(X(r, j), r); });
  lt::Schedule start(best), s = start;
  auto loops = s.loops(s.block("best"));
  auto parts = s.split<2>(loops[0], {lt::infer, 16});
  s.reorder({parts[0], loops[1], parts[1]});
  lt::BlockRef out = s.cache_write("best", lt::Scope::reg);
  s.reverse_compute_at(out, parts[0]);
  s.decompose_reduction("best", loops[1]);
  s.vectorize(parts[1]);
  check_kept(start, s);
  CHECK(s.str().find("alloc best_0_cache: f32[20] scope register") != std::string::npos);
  CHECK(s.str().find("best_1[vi] = best_1_cache[vi]") != std::string::npos);
  // A store under a condition is none that can be copied.
  lt::Schedule odd(lt::parse(R"(program p(in X: f32[8], out Y: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i):
      if X[v] > 0.0:
        Y[v] = X[v]
)"));
  CHECK(refused_id(odd, [](lt::Schedule& u) { u.cache_write("Y", lt::Scope::global); }) == "L0217");
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

TEST_CASE("cache_write: a new buffer has a name that no parameter has") {
  lt::Input<float, 1> X("C_cache", {8});
  auto C = lt::compute("C", {8}, [&](lt::Var i) { return X(i) * 2.0f; });
  lt::Schedule start(C), s = start;
  s.cache_write(C, lt::Scope::local);
  CHECK_NOTHROW(s.set_scope("C_cache_1", lt::Scope::global));
  CHECK(lt::structurally_equal(lt::parse(s.str()), s.program()));
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

namespace {

// What lowering makes of a schedule computes the same, down to one index an access.
lt::Program flattened(const lt::Schedule& start, const lt::Schedule& s, const Dims& dims = {}) {
  lt::Program flat = lt::lower_until("simplify_flat", s.program(), lt::host());
  INFO(flat.str());
  CHECK(run(flat, dims, false) == run(start.program(), dims));
  return flat;
}
bool has(const lt::Program& p, const std::string& text) {
  INFO(p.str());
  return p.str().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("storage_align: rows of a temporary, in the program's text and in the lowered one") {
  lt::Input<float, 3> A("A", {2, 5, 6});
  auto T = lt::compute("T", {2, 5, 6},
                       [&](lt::Var i, lt::Var j, lt::Var k) { return A(i, j, k) * 2.0f; });
  auto Z = lt::compute("Z", {2, 5, 6},
                       [&](lt::Var i, lt::Var j, lt::Var k) { return T(1 - i, j, k) + 1.0f; });
  lt::Schedule start(Z), s = start;
  s.storage_align(T, 1, 8);
  CHECK(s.str().find("alloc T: f32[2, 5, 6] aligned [1, 8, 0]\n") != std::string::npos);
  check_kept(start, s);
  CHECK(has(flattened(start, s), "alloc T: f32[80]"));
  s.storage_align(T, 0, 16, 3);
  check_kept(start, s);
  CHECK(has(flattened(start, s), "alloc T: f32[102]"));  // rows of 8, planes of 51
  s.storage_align("T", 1, 1);
  CHECK(s.str().find("aligned [0, 16, 3]\n") != std::string::npos);
  check_kept(start, s);
  CHECK(has(flattened(start, s), "alloc T: f32[70]"));
  s.set_scope("T", lt::Scope::local);
  CHECK(s.str().find("alloc T: f32[2, 5, 6] scope local aligned [0, 16, 3]") != std::string::npos);
}

TEST_CASE("storage_align: what a temporary shrinks to has the stride that was asked for") {
  for (std::int64_t n : {0, 1, 8, 13}) {
    Gemm k(6, n, 5);
    lt::Schedule start(k.D), s = start;
    lt::BlockRef b = s.cache_read(k.C, k.B, lt::Scope::local);
    auto [i, j, r] = s.loops<3>(k.C);
    auto [jo, ji] = s.split(j, {lt::infer, 4});
    s.reorder({jo, i, r, ji});
    s.storage_align("B_cache", 0, 16, 1);  // before it moves
    s.compute_at(b, jo);
    check_kept(start, s);
    lt::Program flat = flattened(start, s);
    if (n >= 4) CHECK(has(flat, "alloc B_cache: f32[85] scope local align 64"));  // 5 rows of 17
    if (n >= 4) CHECK(has(flat, "B_cache[68] = "));
  }
}

TEST_CASE("storage_align: symbolic extents") {
  lt::Dim m("m"), n("n");
  Gemm k(m, n, 4);
  lt::Schedule start(k.D), s = start;
  s.storage_align(k.C, 0, 8, 2);
  for (std::int64_t rows : {0, 1, 5})
    for (std::int64_t columns : {0, 1, 2, 3, 10, 16}) {
      Dims dims{{"m", rows}, {"n", columns}};
      check_kept(start, s, dims);
      flattened(start, s, dims);
    }
}

TEST_CASE("storage_align: a temporary with a copy for each lane") {
  lt::Input<float, 2> A("A", {8, 18});
  auto P = lt::compute("P", {8, 18}, [&](lt::Var i, lt::Var j) { return A(i, j) * 2.0f; });
  lt::Reduce r("r", 3), q("q", 3);
  auto C = lt::compute("C", {6, 16},
                       [&](lt::Var i, lt::Var j) { return lt::sum(P(i + r, j + q), r, q); });
  lt::Schedule start(C), s = start;
  auto loops = s.loops(C);
  auto [jo, ji] = s.split(loops[1], {lt::infer, 8});
  s.compute_at(P, ji);
  s.storage_align(P, 0, 32);
  s.vectorize(ji);
  check_kept(start, s);
  CHECK(has(flattened(start, s), "alloc P: f32[96]"));  // 3 rows of 3 * 8, rounded up to 32
}

TEST_CASE("storage_align: refusals") {
  Gemm k(6, 8, 5);
  lt::Schedule s(k.D);
  auto why = [&](const char* buffer, std::int64_t dim, std::int64_t factor, std::int64_t offset) {
    std::string text =
        refused(s, [&](lt::Schedule& t) { t.storage_align(buffer, dim, factor, offset); });
    return text.substr(0, text.find('\n'));
  };
  CHECK(refused(s, [&](lt::Schedule& t) { t.storage_align(k.D, 0, 8); }) ==
        R"(error[L0239] storage_align: buffer 'D' is a parameter
  at storage_test.cpp:#
  help: its strides are those of the caller's view: align a copy of it, of cache_read or cache_write)");
  CHECK(refused(s, [&](lt::Schedule& t) { t.storage_align(k.C, 1, 8); }) ==
        R"(error[L0239] storage_align: buffer 'C' has no stride of choice for dimension 1
  at storage_test.cpp:#
  help: dimensions 0 to 0 have one; that of the last is 1)");
  CHECK(why("C", -1, 8, 0) ==
        "error[L0239] storage_align: buffer 'C' has no stride of choice for dimension -1");
  CHECK(why("C", std::int64_t{1} << 32, 8, 0).substr(0, 12) == "error[L0239]");
  for (auto [factor, offset] : {std::pair{0, 0}, {-1, 0}, {8, 8}, {8, -1}, {(1 << 20) + 1, 0}})
    CHECK(why("C", 0, factor, offset) ==
          "error[L0239] storage_align: offset " + std::to_string(offset) + " and factor " +
              std::to_string(factor) + " are none: 0 <= offset < factor <= 2^20");
  s.storage_align("C", 0, 8);
  CHECK(refused(s, [&](lt::Schedule& t) {
          t.transform_layout("C", [](lt::Index a, lt::Index b) { return lt::layout(b, a); });
        }) == R"(error[L0221] transform_layout: buffer 'C' has aligned strides
  at storage_test.cpp:#
  help: transform_layout before storage_align)");
}
