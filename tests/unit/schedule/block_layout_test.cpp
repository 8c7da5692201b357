// transform_block_layout: a block over other iterators, in loops of their own.
#include <support/errors.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using test::check_kept;
using test::error_of;
using test::Gemm;
using test::refused;

namespace {

lt::Tensor<float, 2> scaled(const lt::Input<float, 2>& A, lt::Extent n, lt::Extent m) {
  return lt::compute("T", {n, m}, [&](lt::Var i, lt::Var j) { return A(i, j) * 2.0f; });
}

lt::LayoutMap tiles_of_columns() {
  return lt::layout_map([](lt::Index i, lt::Index j) { return lt::layout(j / 4, i, j % 4); });
}
lt::LayoutMap one_row(std::int64_t columns) {
  return lt::layout_map(
      [&](lt::Index i, lt::Index j) { return lt::layout(i * lt::Index(columns) + j); });
}

}  // namespace

TEST_CASE("transform_block_layout: tiles, with the program as text") {
  lt::Input<float, 2> A("A", {5, 8});
  auto T = scaled(A, 5, 8);
  lt::Schedule start(T), s = start;
  lt::LoopRef i = s.loops(T)[0];
  s.transform_block_layout(T, tiles_of_columns());
  CHECK(s.str() == R"(program T(in A: f32[5, 8], out T: f32[5, 8]) scheduled:
  for j in 0..2:
    for i in 0..5:
      for j_1 in 0..4:
        block T(vj in 0..2 = j, vi in 0..5 = i, vj_1 in 0..4 = j_1):
          T[vi, vj * 4 + vj_1] = A[vi, vj * 4 + vj_1] * 2.0
)");
  CHECK(s.numerics().empty());
  check_kept(start, s);
  s.vectorize(s.loops(T)[2]);
  s.parallel(s.loops(T)[0]);
  check_kept(start, s);
  CHECK(error_of([&] { s.vectorize(i); }).substr(0, 78) ==
        "L0201 vectorize: loop 'i' was replaced with the loops of block 'T' at block_la");
}

TEST_CASE("transform_block_layout: panels of an operand are indices of their own afterwards") {
  lt::Input<float, 2> P("P", {3, 4});
  auto T = lt::compute("T", {12},
                       [&](lt::Var j) { return P(lt::floordiv(j, 4), lt::floormod(j, 4)) * 2.0f; });
  lt::Schedule start(T), s = start;
  s.transform_block_layout(T, [](lt::Index j) { return lt::layout(j / 4, j % 4); });
  const std::string text = s.str();
  CAPTURE(text);
  CHECK(text.find("T[vi * 4 + vi_1] = P[vi, vi_1] * 2.0") != std::string::npos);
  check_kept(start, s);
}

TEST_CASE("transform_block_layout: prime, unit, empty and symbolic domains") {
  for (std::int64_t n : {0, 1, 7})
    for (std::int64_t m : {0, 1, 5, 8}) {
      lt::Input<float, 2> A("A", {n, m});
      auto T = scaled(A, n, m);
      lt::Schedule start(T), s = start;
      s.transform_block_layout(
          T, [](lt::Index i, lt::Index j) { return lt::layout(j, lt::Index(0), i); });
      CHECK(s.loops(T).size() == 3);
      check_kept(start, s);
      s.transform_block_layout(T, [](lt::Index j, lt::Index, lt::Index i) {
        return lt::layout(-i, j);  // a domain that begins below 0
      });
      check_kept(start, s);
      if (m == 0) continue;
      s = start;
      s.transform_block_layout(T, one_row(m));
      CHECK(s.loops(T).size() == 1);
      check_kept(start, s);
    }
  lt::Dim n("n"), m("m", {.multiple_of = 4});
  lt::Input<float, 2> A("A", {n, m});
  auto T = scaled(A, n, m);
  lt::Schedule start(T), s = start;
  s.transform_block_layout(T, tiles_of_columns());
  for (std::int64_t rows : {0, 1, 5})
    for (std::int64_t columns : {0, 4, 12}) check_kept(start, s, {{"n", rows}, {"m", columns}});
}

TEST_CASE("transform_block_layout: a reduction, its loops swapped, fused and cut") {
  for (std::int64_t m : {0, 1, 5})
    for (std::int64_t depth : {0, 1, 6}) {
      Gemm k(m, 8, depth);
      lt::Schedule start(k.D), s = start;
      s.transform_block_layout(k.C, [](lt::Index i, lt::Index j, lt::Index r) {
        return lt::layout(j / 4, r, i, j % 4);
      });
      CHECK(s.numerics().empty());
      check_kept(start, s);
      s.decompose_reduction(k.C, s.loops(k.C)[0]);
      s.transform_block_layout(k.C, [](lt::Index jo, lt::Index r, lt::Index i, lt::Index ji) {
        return lt::layout(i, jo * 4 + ji, r);
      });
      s.transform_block_layout(
          "C_init", [](lt::Index jo, lt::Index i, lt::Index ji) { return lt::layout(ji, i, jo); });
      check_kept(start, s);
    }
}

TEST_CASE("transform_block_layout: another order of a float reduction is reported") {
  test::RowSum k(3, 6);
  lt::Schedule start(k.S), s = start, strict(k.S, {.strict = true});
  auto reversed =
      lt::layout_map([](lt::Index i, lt::Index r) { return lt::layout(i, r % 2, r / 2); });
  s.transform_block_layout(k.S, reversed);
  REQUIRE(s.numerics().size() == 1);
  CHECK(s.numerics()[0] ==
        "transform_block_layout: the reduce iterators of 'S' run in another order");
  check_kept(start, s);
  CHECK(error_of([&] { strict.transform_block_layout(k.S, reversed); }) ==
        "L0226 transform_block_layout: may change the rounding of floating-point results: the "
        "reduce iterators of 'S' run in another order");
  strict.transform_block_layout(
      k.S, [](lt::Index i, lt::Index r) { return lt::layout(r / 2, i, r % 2); });
  check_kept(start, strict);
}

TEST_CASE("transform_block_layout: two outputs, a stencil, a block among others") {
  lt::Input<float, 2> X("X", {6, 9});
  lt::Reduce r("r", 9);
  auto best = lt::compute("best", {6}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  lt::Schedule both(lt::outputs(best.get<0>(), best.get<1>())), s = both;
  s.transform_block_layout(s.blocks()[0], [](lt::Index i, lt::Index k) {
    return lt::layout(k / 3, i / 2, i % 2, k % 3);
  });
  check_kept(both, s);

  test::Blur b(12);
  lt::Schedule start(b.C), t = start;
  auto [x] = t.loops<1>(b.C);
  auto [xo, xi] = t.split(x, {lt::infer, 4});
  t.transform_block_layout(b.P, [](lt::Index p) { return lt::layout(p % 7, p / 7); });
  t.transform_block_layout(b.C, [](lt::Index p) { return lt::layout(p % 3, p / 3); });
  check_kept(start, t);
}

TEST_CASE(
    "transform_block_layout: loops that were split and fused, as far as they cover the domain") {
  for (std::int64_t n : {12, 13}) {
    lt::Input<float, 2> A("A", {n, 8});
    auto T = scaled(A, n, 8);
    lt::Schedule start(T), s = start;
    auto [i, j] = s.loops<2>(T);
    auto [io, ii] = s.split(i, {lt::infer, 4});
    auto [jo, ji] = s.split(j, {2, 4});
    s.reorder({jo, io, ji, ii});
    s.add_unit_loop(ji);
    s.transform_block_layout(T, one_row(8));
    CHECK(s.loops(T).size() == 1);
    check_kept(start, s);
  }
}

TEST_CASE("transform_block_layout: inside the loops of others") {
  Gemm k(6, 8, 3);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  s.compute_at(k.C, i);
  CHECK(error_of([&] {
          s.transform_block_layout(
              k.C, [](lt::Index a, lt::Index b, lt::Index r) { return lt::layout(a, b, r); });
        }) == "L0238 transform_block_layout: block 'C' is not alone inside loop 'i'(6)");
}

TEST_CASE("transform_block_layout: a block in no loop") {
  lt::Input<float, 0> X("X", {});
  auto Y = lt::compute("Y", {}, [&] { return X() + 1.0f; });
  lt::Schedule start(Y), s = start;
  s.transform_block_layout(Y, [] { return lt::layout(lt::Index(0)); });
  CHECK(s.loops(Y).size() == 1);
  check_kept(start, s);
  s.transform_block_layout(Y, [](lt::Index) { return lt::layout(); });
  CHECK(s.loops(Y).empty());
  check_kept(start, s);
}

TEST_CASE("transform_block_layout: a predicate goes on sparing the init") {
  lt::Schedule start(lt::parse(R"(program p(in A: f32[4, 5], out S: f32[4]):
  for i in 0..4:
    for r in 0..1:
      for k in 0..5:
        block S(vi in 0..4 = i, reduce vr in 0..1 = r, reduce vk in 0..5 = k) where vi + vr < 3 reduce sum init:
          S[vi] sum= A[vi, vk]
)"));
  lt::Schedule s = start;
  s.transform_block_layout(
      "S", [](lt::Index i, lt::Index r, lt::Index k) { return lt::layout(k, i, r); });
  CHECK(s.str().find("reduce vr in 0..1 = r) where vi + vr < 3 reduce") != std::string::npos);
  check_kept(start, s);
  CHECK(error_of([&] {
          lt::Schedule(start).transform_block_layout(
              "S", [](lt::Index i, lt::Index r, lt::Index k) { return lt::layout(i, r * 5 + k); });
        }) ==
        "L0238 transform_block_layout: block 'S' would lose iterator 'vr', which its "
        "predicate names");

  // Partial results that no term belongs to.
  lt::Input<float, 2> A("A", {4, 9});
  lt::Reduce r("r", 9);
  auto S = lt::compute("S", {4}, [&](lt::Var i) { return lt::sum(A(i, r), r).where(r < 7); });
  lt::Schedule parts(S), t = parts;
  lt::BlockRef part = t.rfactor(t.loops(S)[1]);
  t.transform_block_layout(
      part, [](lt::Index i, lt::Index x, lt::Index zero) { return lt::layout(x, i, zero); });
  check_kept(parts, t);
}

TEST_CASE("transform_block_layout: refusals") {
  Gemm k(6, 8, 3);
  lt::Schedule s(k.D);
  CHECK(
      refused(s,
              [&](lt::Schedule& t) {
                t.transform_block_layout(k.C, [](lt::Index i, lt::Index j, lt::Index r) {
                  return lt::layout(i, j + r);
                });
              }) ==
      R"(error[L0238] transform_block_layout: block 'C' would get an iterator that mixes 'vj', which is spatial, and 'vr', which is reduce
  at block_layout_test.cpp:#
  loops of 'C': i(6) j(8) r:reduce(3)
    for i in 0..6:
      for j in 0..8:
        for r in 0..3:
          block C(vi in 0..6 = i, vj in 0..8 = j, reduce vr in 0..3 = r) reduce sum init:
                ^
            C[vi, vj] sum= A[vi, vr] * B[vr, vj])");
  auto why = [&](const char* block, const auto& map) {
    return error_of([&] { s.transform_block_layout(block, map); });
  };
  CHECK(why("D", [](lt::Index i) { return lt::layout(i); }) ==
        "L0238 transform_block_layout: block 'D' has 2 iterators, but the map takes 1");
  CHECK(
      why("D", [](lt::Index i, lt::Index j) { return lt::layout(i, j / 2); }) ==
      "L0238 transform_block_layout: block 'D' is not proved to have as many instances as the map "
      "gives it: the indices don't determine every iterator");
  CHECK(
      why("D", [](lt::Index i, lt::Index j) { return lt::layout(i, j * 2); }) ==
      "L0238 transform_block_layout: block 'D' is not proved to have as many instances as the map "
      "gives it: an index leaves gaps");
  CHECK(
      why("D", [](lt::Index i, lt::Index j) { return lt::layout(i / 4, i % 4, j); }) ==
      "L0238 transform_block_layout: block 'D' is not proved to have as many instances as the map "
      "gives it: the parts of an iterator overlap or don't divide it");
  CHECK(why("D", [](lt::Index i, lt::Index j) { return lt::layout(i + j); }).substr(0, 5) ==
        "L0238");
  CHECK(why("D", lt::LayoutMap{}) ==
        "L0238 transform_block_layout: the map is empty, or gives something else than i64 indices");
  lt::VarRef a = lt::make_var("a"), b = lt::make_var("b"), c = lt::make_var("c");
  CHECK(why("D", lt::make_ref<lt::LayoutMapNode>(lt::Vec<lt::VarRef>{a, b},
                                                 lt::Vec<lt::AnyExpr>{a, b, c})) ==
        "L0238 transform_block_layout: the map names 'c', which is neither an iterator nor a Dim");
  lt::Schedule marked(k.D);
  marked.parallel(marked.loops(k.D)[0]);
  CHECK(error_of([&] { marked.transform_block_layout(k.D, one_row(8)); }) ==
        "L0204 transform_block_layout: loop 'i' is parallel, not serial");
}

TEST_CASE("transform_block_layout: refusals of blocks with an order, and of those in parts") {
  lt::Program parts = lt::parse(R"(program p(in A: f32[12], out T: f32[12]):
  for i in 0..5:
    block T_0(vi in 0..12 = i):
      T[vi] = A[vi]
  for i in 0..7:
    block T_1(vi in 0..12 = i + 5):
      T[vi] = A[vi]
)");
  lt::Schedule s(parts);
  CHECK(error_of([&] {
          s.transform_block_layout("T_0", [](lt::Index i) { return lt::layout(i % 4, i / 4); });
        }) ==
        "L0238 transform_block_layout: block 'T_0' is not proved to run each of its instances once "
        "in loops of its own");

  test::RowSum k(3, 1);
  lt::Schedule unit(k.S);
  CHECK(error_of([&] {
          unit.transform_block_layout(k.S, [](lt::Index i, lt::Index) { return lt::layout(i); });
        }) == "L0238 transform_block_layout: block 'S' would have no reduce iterator any more");

  lt::Program scan = lt::parse(R"(program p(inout X: f32[4, 6]):
  for i in 0..4:
    for j in 0..6:
      block X(vi in 0..4 = i, vj in 0..6 = j):
        X[vi, vj] = X[vi, vj] + X[3 - vi, vj]
)");
  lt::Schedule ordered(scan);
  ordered.transform_block_layout("X", one_row(6));
  check_kept(lt::Schedule(scan), ordered);
  CHECK(error_of([&] {
          ordered.transform_block_layout("X", [](lt::Index x) { return lt::layout(x % 6, x / 6); });
        }) ==
        "L0238 transform_block_layout: block 'X' would run its instances in another order, which "
        "matters: it reads what it writes");
}
