// decompose_padding: a constant fill, and what lies inside of a box.
#include <functional>
#include <lathe/lower/pipeline.hpp>
#include <support/errors.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

namespace lt = lathe;
using namespace test;

namespace {

/// Y[v] = value over 8 elements, from 8.
lt::Schedule stores(const std::string& value) {
  return schedule_of(
      "program P(in X: f32[8], in a: f32, out Y: f32[8]):\n"
      "  for i in 0..8:\n"
      "    block Y(v in 0..8 = i):\n"
      "      Y[v] = " +
      value + "\n");
}

/// Y = X with a border of width around it, and what is added up of three neighbours.
struct Bordered {
  lt::Input<float, 2> X;
  lt::Tensor<float, 2> P, Y;
  template <class N, class M>
  Bordered(const N& n, const M& m)
      : X("X", {n, m}),
        P(lt::compute("P", {n + 2, m + 3},
                      [&](lt::Var i, lt::Var j) { return lt::pad(X, 7.0f)(i - 1, j - 2); })),
        Y(lt::compute("Y", {n, m + 3},
                      [&](lt::Var i, lt::Var j) { return P(i, j) + P(i + 1, j) + P(i + 2, j); })) {}
};

}  // namespace

TEST_CASE("decompose_padding: a border, as two nests") {
  Bordered k(5, 4);
  const lt::Schedule start(k.Y);
  lt::Schedule s = start;
  auto [i, j] = s.loops<2>(k.P);
  lt::BlockRef fill = s.decompose_padding(k.P, i);
  CHECK(s.str() == R"(program Y(in X: f32[5, 4], out Y: f32[5, 7]) scheduled:
  alloc P: f32[7, 7]
  for i in 0..7:
    for j in 0..7:
      block P_fill(vi in 0..7 = i, vj in 0..7 = j):
        P[vi, vj] = 7.0
  for i in 1..6:
    for j in 2..6:
      block P(vi in 1..6 = i, vj in 2..6 = j):
        P[vi, vj] = X[vi - 1, vj - 2]
  for i in 0..5:
    for j in 0..7:
      block Y(vi in 0..5 = i, vj in 0..7 = j):
        Y[vi, vj] = P[vi, vj] + P[vi + 1, vj] + P[vi + 2, vj]
)");
  CHECK(fill.name() == "P_fill");
  CHECK(s.loops(k.P) == std::vector<lt::LoopRef>{i, j});
  CHECK(s.numerics().empty());
  CHECK(s.trace().cpp() == R"(auto b0 = s.block("P");
auto [l0, unused0] = s.loops<2>(b0);
s.decompose_padding(b0, l0);
)");
  check_lowered(start, s);
  s.parallel(i);
  s.vectorize(j);
  s.vectorize(s.loops(fill)[1]);
  check_lowered(start, s);
}

TEST_CASE("decompose_padding: inside a loop, extents prime, 1, 0 and symbolic") {
  lt::Dim n("n"), m("m");
  auto check = [](const Bordered& k, std::initializer_list<std::int64_t> sizes) {
    for (std::size_t at : {0, 1})
      for (std::int64_t size : sizes) {
        const lt::Schedule start(k.Y);
        lt::Schedule s = start;
        s.decompose_padding(k.P, s.loops(k.P)[at]);
        check_lowered(start, s, {{"n", size}, {"m", size}});
      }
  };
  check(Bordered(7, 5), {1});
  check(Bordered(1, 1), {1});
  check(Bordered(0, 3), {1});
  check(Bordered(3, 0), {1});
  check(Bordered(n, m), {0, 1, 13});
  check(Bordered(n, 4), {0, 1, 7});
}

TEST_CASE("decompose_padding: loops that are split, reordered and marked before") {
  for (std::size_t at : {0, 1, 2, 3}) {
    Bordered k(9, 6);
    const lt::Schedule start(k.Y);
    lt::Schedule s = start;
    auto [i, j] = s.loops<2>(k.P);
    auto [io, jo, ii, ji] = s.tile(i, j, 4, 5);
    s.vectorize(ji);
    s.unroll(ii);
    s.parallel(io);
    s.decompose_padding(k.P, s.loops(k.P)[at]);
    check_lowered(start, s);
  }
}

TEST_CASE("decompose_padding: under a loop of its consumer") {
  Bordered k(9, 6);
  const lt::Schedule start(k.Y);
  for (std::size_t at : {1, 2}) {
    lt::Schedule s = start;
    auto [i, j] = s.loops<2>(k.Y);
    s.compute_at(k.P, i);
    s.decompose_padding(k.P, s.loops(k.P)[at]);
    check_lowered(start, s);
    s.parallel(i);
    s.split(j, {lt::infer, 4});
    check_lowered(start, s);
  }
}

TEST_CASE("decompose_padding: boxes of all forms") {
  struct Form {
    const char* value;
    const char* copy;  ///< the lines of the copy
  };
  const Form forms[] = {
      {"select(v >= 1, X[v - 1], 0.0)",
       "  for i in 1..8:\n    block Y(v in 1..8 = i):\n      Y[v] = X[v - 1]\n"},
      {"select(v < 1, a, X[v - 1])",
       "  for i in 1..8:\n    block Y(v in 1..8 = i):\n      Y[v] = X[v - 1]\n"},
      {"select(v < 1 || 6 <= v, 0.0, X[v + 1])",
       "  for i in 1..6:\n    block Y(v in 1..6 = i):\n      Y[v] = X[v + 1]\n"},
      {"select(!(v < 2), X[v - 2], 0.0)",
       "  for i in 2..8:\n    block Y(v in 2..8 = i):\n      Y[v] = X[v - 2]\n"},
      {"select(7 - v * 2 > 0, X[v * 2], 0.0)",
       "  for i in 0..4:\n    block Y(v in 0..4 = i):\n      Y[v] = X[v * 2]\n"},
      {"select(v * 3 >= 4, X[v], 0.0)",
       "  for i in 2..8:\n    block Y(v in 2..8 = i):\n      Y[v] = X[v]\n"},
      {"select(v == 3, X[v], 0.0)",
       "  for i in 3..4:\n    block Y(v in 3..4 = i):\n      Y[v] = X[v]\n"},
      {"select(v != 3, 0.0, X[v])",
       "  for i in 3..4:\n    block Y(v in 3..4 = i):\n      Y[v] = X[v]\n"},
      {"select(v < 20, X[v], 0.0)",
       "  for i in 0..8:\n    block Y(v in 0..8 = i):\n      Y[v] = X[v]\n"},
      {"select(v > 20, X[v - 20], 0.0)",
       "  for i in 21..21:\n    block Y(v in 21..21 = i):\n      Y[v] = X[v - 20]\n"},
      {"select(v > 2, select(v < 5, X[v], 1.0), 1.0)",
       "  for i in 3..5:\n    block Y(v in 3..5 = i):\n      Y[v] = X[v]\n"},
      {"select(v > 2, select(v < 5, X[v], 2.0), 1.0)",
       "  for i in 3..8:\n    block Y(v in 3..8 = i):\n      Y[v] = select(v < 5, X[v], 2.0)\n"},
      {"select(v > 2, 1.0, 0.0)",
       "  for i in 3..8:\n    block Y(v in 3..8 = i):\n      Y[v] = 1.0\n"},
      {"select(v > 2 || v < 1, 1.0, 0.0)",
       "  for i in 1..3:\n    block Y(v in 1..3 = i):\n      Y[v] = 0.0\n"},
  };
  for (const Form& form : forms) {
    CAPTURE(form.value);
    const lt::Schedule start = stores(form.value);
    lt::Schedule s = start;
    s.decompose_padding("Y", s.loops("Y")[0]);
    const std::string text = s.str();
    CHECK(text.substr(text.find("  for i", text.find("Y_fill"))) == form.copy);
    check_lowered(start, s);
  }
}

TEST_CASE("decompose_padding: a fill inside a loop that repeats") {
  const lt::Schedule start = schedule_of(R"(program P(in X: f32[8], out Y: f32[12]):
  for o in 0..3:
    for i in 0..6:
      block Y(v in 0..12 = o * 3 + i):
        Y[v] = select(v >= 2 && v < 10, X[v - 2], 0.0)
)");
  for (std::size_t at : {0, 1}) {
    lt::Schedule s = start;
    s.decompose_padding("Y", s.loops("Y")[at]);
    check_lowered(start, s);
  }
}

TEST_CASE("decompose_padding: steps that want one writer refuse both") {
  Bordered k(5, 4);
  const lt::Schedule start(k.Y);
  lt::Schedule s = start;
  lt::BlockRef fill = s.decompose_padding(k.P, s.loops(k.P)[0]);
  const lt::LoopRef row = s.loops(k.Y)[0];
  for (lt::BlockRef block : {fill, s.block(k.P)}) {
    for (auto& step : std::initializer_list<std::function<void()>>{
             [&] { s.compute_at(block, row); }, [&] { s.compute_inline(block); },
             [&] { s.cache_write(block, lt::Scope::global); }, [&] { s.reindex(block, "P"); },
             [&] { s.clone(block, {k.Y}); }, [&] { s.reverse_compute_inline(k.Y); }})
      CHECK(error_of(step) != "");
  }
  s.reindex(k.P, "X");
  s.cache_read(k.Y, "P", lt::Scope::global);
  s.transform_layout("P", [](lt::Index i, lt::Index j) { return lt::layout(j, i); });
  check_lowered(start, s);
}

TEST_CASE("decompose_padding: refusals") {
  auto why = [](const std::string& value) {
    lt::Schedule s = stores(value);
    return error_of([&] { s.decompose_padding("Y", s.loops("Y")[0]); });
  };
  CHECK(why("X[v]") ==
        "L0251 decompose_padding: block 'Y' does not store select(condition, value, constant)");
  CHECK(why("select(v > 1, X[v], X[0])") ==
        "L0251 decompose_padding: block 'Y' does not store select(condition, value, constant)");
  CHECK(why("select(v > 1 || v < 0, X[v], 0.0)") ==
        "L0251 decompose_padding: block 'Y' stores a constant where v > 1 || v < 0 decides, which "
        "is not proven to be a box of its iterators");
  for (const char* condition : {"X[v] > 0.0", "floormod(v, 2) == 0", "v * v > 3", "v != 3",
                                "i32(v) > i32(1)", "a > 1.0", "v * 4611686018427387904 < 4"})
    CHECK(why("select(" + std::string(condition) + ", X[v], 0.0)").find("is not proven to be") !=
          std::string::npos);

  lt::Schedule two = schedule_of(R"(program P(in X: f32[8, 8], out Y: f32[8, 8], out Z: f32[8, 8]):
  for i in 0..8:
    for j in 0..8:
      block Y(vi in 0..8 = i, vj in 0..8 = j):
        Y[vi, vj] = select(vi + vj < 8, X[vi, vj], 0.0)
  for i in 0..8:
    for j in 0..8:
      block Z(vi in 0..8 = i, vj in 0..8 = j):
        Z[vi, vj] = select(vi < 7, Y[vi, vj], 0.0)
)");
  CHECK(
      refused(two, [](lt::Schedule& s) { s.decompose_padding("Y", s.loops("Y")[1]); }) ==
      R"(error[L0251] decompose_padding: block 'Y' stores a constant where vi + vj < 8 decides, which is not proven to be a box of its iterators
  at decompose_padding_test.cpp:#
  loops of 'Y': i(8) j(8)
    for i in 0..8:
      for j in 0..8:
        block Y(vi in 0..8 = i, vj in 0..8 = j):
              ^
          Y[vi, vj] = select(vi + vj < 8, X[vi, vj], 0.0)
  help: a box compares one iterator at a time with numbers and Dims)");
  CHECK(error_of([&] { two.decompose_padding("Z", two.loops("Y")[0]); }) ==
        "L0251 decompose_padding: loop 'i'(8) is not above block 'Z'");
  lt::Schedule part = schedule_of(R"(program P(in X: f32[8], in M: bool[8], inout Y: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i) where M[v]:
      Y[v] = select(v < 7, X[v], 0.0)
)");
  CHECK(error_of([&] { part.decompose_padding("Y", part.loops("Y")[0]); }) ==
        "L0251 decompose_padding: block 'Y' has a predicate, outside which it stores nothing");
  RowSum sum(4, 6);
  lt::Schedule reduced(sum.S);
  CHECK(error_of([&] { reduced.decompose_padding(sum.S, reduced.loops(sum.S)[0]); }) ==
        "L0251 decompose_padding: block 'S' is not a complete block of one store");

  lt::Schedule shared = schedule_of(R"(program P(in X: f32[8], out Y: f32[8], out Z: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = select(v < 7, X[v], 0.0)
    block Z(v in 0..8 = i):
      Z[v] = select(v > 0, Y[v - 1], 1.0)
)");
  CHECK(error_of([&] { shared.decompose_padding("Y", shared.loops("Y")[0]); }) ==
        "L0251 decompose_padding: inside loop 'i'(8) also block 'Z' touches 'Y'");
  shared.decompose_padding("Z", shared.loops("Y")[0]);
}
