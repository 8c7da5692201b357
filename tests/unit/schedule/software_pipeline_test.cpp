// software_pipeline: statements of a loop run for different iterations at a time.
#include <lathe/jit/jit.hpp>
#include <lathe/lower/pipeline.hpp>
#include <support/errors.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

namespace lt = lathe;
using namespace test;

namespace {

lt::Program staged(const lt::Schedule& s) {
  return lt::lower_until("software_pipelines", s.program(), lt::host());
}
void check_staged(const lt::Schedule& start, const lt::Schedule& s, const std::string& alloc,
                  const Dims& dims = {}) {
  CHECK(s.str().find("@software_pipeline(") != std::string::npos);
  check_lowered(start, s, dims);
  CHECK(staged(s).str().find(alloc) != std::string::npos);
  CHECK(staged(s).str().find("pipeline") == std::string::npos);
}

/// C[i] = Q[i] * 3, Q[i] = P[i] + 1, P[i] = A[i] * 2, computed in one loop.
struct Three {
  lt::Input<float, 2> A;
  lt::Tensor<float, 2> P, Q, C;
  lt::Schedule start, s;
  lt::LoopRef i;

  explicit Three(lt::Extent n)
      : A("A", {n, 4}),
        P(lt::compute("P", {n, 4}, [&](lt::Var i, lt::Var j) { return A(i, j) * 2.0f; })),
        Q(lt::compute("Q", {n, 4}, [&](lt::Var i, lt::Var j) { return P(i, 3 - j) + 1.0f; })),
        C(lt::compute("C", {n, 4}, [&](lt::Var i, lt::Var j) { return Q(i, j) * 3.0f; })),
        start(C),
        s(start),
        i(s.loops(C)[0]) {
    s.compute_at(Q, i);
    s.compute_at(P, i);
  }
};

}  // namespace

TEST_CASE("software_pipeline: a reduction without points still stores its identity") {
  const lt::Schedule start(lt::parse(R"(program p(in x: f32[3, 0], out t: f32[3], out y: f32[3]):
  for i in 0..3:
    for r in 0..0:
      block t(vi in 0..3 = i, reduce vr in 0..0 = r) reduce sum init:
        t[vi] sum= x[vi, vr]
    block y(vi in 0..3 = i):
      y[vi] = t[vi]
)"));
  lt::Schedule s = start;
  const lt::LoopRef i = s.loops("t")[0];
  CHECK(refused_line(s,
                     [&](lt::Schedule& t) {
                       t.software_pipeline(i, {0, 0}, {2, 1});
                     }) ==
        "error[L0247] software_pipeline: the statement of block 'y' would run before the statement "
        "of block 't', which touches 't' in the same iteration");
  s.software_pipeline(i, {0, 1}, {2, 1});
  check_lowered(start, s);
}

TEST_CASE("software_pipeline: three stages, extents below, at and above the depth") {
  for (std::int64_t n : {0, 1, 2, 3, 4, 9}) {
    INFO(n);
    Three t(n);
    t.s.software_pipeline(t.i, {0, 1, 2}, {0, 1, 2});
    check_staged(t.start, t.s, n > 0 ? "alloc P: f32[2, 1, 4]" : "");
    Three back(n);  // readers first: one version less
    back.s.software_pipeline(back.i, {0, 1, 2}, {2, 1, 0});
    check_staged(back.start, back.s, n > 0 ? "alloc P: f32[1, 4]" : "");
    Three far(n);
    far.s.software_pipeline(far.i, {0, 3, 3}, {0, 1, 2});
    check_staged(far.start, far.s, n > 0 ? "alloc P: f32[4, 1, 4]" : "");
    Three same(n);
    same.s.software_pipeline(same.i, {0, 0, 0}, {0, 1, 2});
    check_staged(same.start, same.s, "");
  }
}

TEST_CASE("software_pipeline: symbolic extents") {
  lt::Dim n("n");
  Three t(n);
  t.s.software_pipeline(t.i, {0, 1, 3}, {2, 1, 0});
  for (std::int64_t rows : {0, 1, 2, 3, 4, 5, 9})
    check_staged(t.start, t.s, "alloc Q: f32[2, 1, 4]", {{"n", rows}});
}

TEST_CASE("software_pipeline: what it becomes") {
  Three t(9);
  t.s.software_pipeline(t.i, {0, 1, 1}, {2, 0, 1});
  CHECK(
      staged(t.s).str() ==
      R"(program C(in A: f32[9, 4] strides [A.s0, 1], out C: f32[9, 4] strides [C.s0, 1]) stage loops:
  alloc P: f32[1, 4] align 64
  alloc Q: f32[1, 4] align 64
  for i in 0..1:
    if 0 <= i - 1 && i - 1 < 9:
      for i_1 in 0..1:
        for j_1 in 0..4:
          Q[0, j_1] = P[0, 3 - j_1] + 1.0
    if 0 <= i - 1 && i - 1 < 9:
      for j in 0..4:
        C[i - 1, j] = Q[0, j] * 3.0
    if 0 <= i && i < 9:
      for i_1 in 0..1:
        for j_2 in 0..4:
          P[0, j_2] = A[i, j_2] * 2.0
  for i in 1..9:
    for i_1 in 0..1:
      for j_1 in 0..4:
        Q[0, j_1] = P[0, 3 - j_1] + 1.0
    for j in 0..4:
      C[i - 1, j] = Q[0, j] * 3.0
    for i_1 in 0..1:
      for j_2 in 0..4:
        P[0, j_2] = A[i, j_2] * 2.0
  for i in 9..10:
    if 0 <= i - 1 && i - 1 < 9:
      for i_1 in 0..1:
        for j_1 in 0..4:
          Q[0, j_1] = P[0, 3 - j_1] + 1.0
    if 0 <= i - 1 && i - 1 < 9:
      for j in 0..4:
        C[i - 1, j] = Q[0, j] * 3.0
    if 0 <= i && i < 9:
      for i_1 in 0..1:
        for j_2 in 0..4:
          P[0, j_2] = A[i, j_2] * 2.0
)");
}

TEST_CASE("software_pipeline: reductions, ragged tiles, below a parallel loop, nested") {
  for (std::int64_t n : {5, 8, 13}) {
    INFO(n);
    Gemm k(n, 3, 6);
    lt::Schedule start(k.D), s = start;
    auto [i, j] = s.loops<2>(k.D);
    auto [io, ii] = s.split(i, {lt::infer, 4});
    s.compute_at(k.C, ii);
    s.software_pipeline(ii, {0, 1}, {1, 0});
    check_staged(start, s, "alloc C: f32[1, 3]");
    s.parallel(io);
    check_staged(start, s, "alloc C: f32[1, 3]");
    s.vectorize(j);
    check_staged(start, s, "alloc C: f32[1, 3]");
  }
}

TEST_CASE("software_pipeline: values that go from one iteration to the next") {
  lt::Schedule start(lt::parse(R"(program p(in A: f32[9], out B: f32[9], out D: f32[9]):
  alloc T: f32[10]
  block first():
    T[0] = 1.0
  for i in 0..9:
    block next(vi in 0..9 = i):
      T[vi + 1] = T[vi] + A[vi]
    block last(vi in 0..9 = i):
      B[vi] = T[vi]
    block more(vi in 0..9 = i):
      D[vi] = T[vi + 1]
)"));
  lt::LoopRef i = start.loops("last")[0];
  lt::Schedule s = start;
  s.software_pipeline(i, {0, 2, 1}, {0, 1, 2});
  check_staged(start, s, "alloc T: f32[10]");
  lt::Schedule t = start;
  CHECK(error_of([&] { t.software_pipeline(i, {2, 0, 2}, {0, 1, 2}); }).substr(0, 5) == "L0247");
  CHECK(error_of([&] {
          t.software_pipeline(i, {0, 1, 0}, {1, 2, 0});
        }) ==
        "L0247 software_pipeline: the statement of block 'more' would run before the statement of "
        "block 'next', which touches 'T' in the same iteration");
}

TEST_CASE("software_pipeline: what only some iterations fill is the next one's too") {
  const lt::Schedule start(lt::parse(R"(program p(in x: f32[8], out y: f32[8]):
  alloc t: f32[1]
  for i in 0..8:
    block t(vi in 0..8 = i) where floormod(vi, 3) == 0:
      t[0] = x[vi]
    block y(vi in 0..8 = i):
      y[vi] = t[0] * 2.0
)"));
  lt::Schedule s = start;
  const lt::LoopRef i = s.loops("t")[0];
  CHECK(refused_line(s,
                     [&](lt::Schedule& u) {
                       u.software_pipeline(i, {0, 1}, {0, 1});
                     }) ==
        "error[L0247] software_pipeline: the statement of block 't' would run before the statement "
        "of block 'y', which touches 't' in the iteration before");
  s.software_pipeline(i, {0, 0}, {0, 1});
  check_lowered(start, s);
}

TEST_CASE("software_pipeline: compiled") {
  Three t(9);
  t.s.software_pipeline(t.i, {0, 1, 3}, {0, 1, 2});
  std::vector<float> a(36), c(36), expected(36);
  for (std::size_t at = 0; at < a.size(); ++at) a[at] = static_cast<float>(at * 7 % 11);
  lt::jit(t.s, t.A, t.C)(lt::view(a, {9, 4}), lt::view(c, {9, 4}));
  lt::evaluate(t.C, t.A, t.C)(lt::view(a, {9, 4}), lt::view(expected, {9, 4}));
  CHECK(c == expected);
}

TEST_CASE("software_pipeline: a mark that is not legal in a text is refused") {
  for (const auto& [mark, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"(stages=[1, 0], orders=[0, 1])",
            "the statement of block 'last' would run before the statement of block 'next', which "
            "touches 'T' in the same iteration"},
           {"(stages=[0], orders=[0])", "loop 'i'(5) holds 2 statements, not 1"},
           {"(stages=[0, 1, 2], orders=[0, 1, 2])", "loop 'i'(5) holds 2 statements, not 3"},
           {"(stages=[99, 99], orders=[0, 1])", "stage 99 is not between 0 and 16"}}) {
    lt::Program p = lt::parse(R"(program p(in A: f32[5], out B: f32[5]):
  alloc T: f32[5]
  for i in 0..5 @software_pipeline)" +
                              std::string(mark) + R"(:
    block next(vi in 0..5 = i):
      T[vi] = A[vi]
    block last(vi in 0..5 = i):
      B[vi] = T[vi]
)");
    CHECK(error_of([&] { lt::lower(p, lt::host()); }) ==
          "L0603 lower: the annotation @software_pipeline" + std::string(mark) +
              " of loop 'i'(5) can't be honoured: " + why);
  }
}

TEST_CASE("software_pipeline: the loop stays as it is, and so does what it promises") {
  Three t(8);
  t.s.software_pipeline(t.i, {0, 1, 2}, {0, 1, 2});
  auto why = [&](auto&& step) {
    lt::Schedule s = t.s;
    return error_of([&] { step(s); });
  };
  const std::string carries = "loop 'i' carries the annotation 'software_pipeline'";
  CHECK(why([&](lt::Schedule& s) { s.parallel(t.i); }) == "L0204 parallel: " + carries);
  CHECK(why([&](lt::Schedule& s) { s.split(t.i, {2, 4}); }) == "L0204 split: " + carries);
  CHECK(why([&](lt::Schedule& s) { s.loop_partition(t.i, {2}); }) ==
        "L0204 loop_partition: " + carries);
  CHECK(why([&](lt::Schedule& s) { s.double_buffer(t.P, t.i); }) ==
        "L0204 double_buffer: " + carries);
  const std::string breaks =
      ": would break what the annotation 'software_pipeline' of loop 'i' promises: ";
  CHECK(why([&](lt::Schedule& s) { s.compute_inline(t.P); }) ==
        "L0225 compute_inline" + breaks + "loop 'i'(8) holds 2 statements, not 3");
  CHECK(why([&](lt::Schedule& s) { s.merge(s.loops(t.P)[1], s.loops(t.Q)[1]); }).substr(0, 5) ==
        "L0225");
  CHECK(why([&](lt::Schedule& s) { s.vectorize(s.loops(t.P).back()); }) == "none");
}

TEST_CASE("software_pipeline: statements that share nothing run in any order") {
  lt::Schedule start = schedule_of(R"(program p(in A: f32[9], out B: f32[9], out C: f32[9]):
  for i in 0..9:
    block B(v in 0..9 = i):
      B[v] = A[v]
    block C(v in 0..9 = i):
      C[v] = A[v] * 2.0
)");
  lt::Schedule s = start;
  s.software_pipeline(s.loops("B")[0], {1, 0}, {1, 0});
  check_staged(start, s, "");
}

TEST_CASE("software_pipeline: refusals") {
  Three t(8);
  auto why = [&](const std::vector<std::int64_t>& stages, const std::vector<std::int64_t>& orders) {
    return error_of([&] { t.s.software_pipeline(t.i, stages, orders); });
  };
  CHECK(why({0, 1}, {0, 1}) == "L0247 software_pipeline: loop 'i'(8) holds 3 statements, not 2");
  CHECK(why({0, 1}, {0, 1, 2}) == "L0247 software_pipeline: 2 stages and 3 orders");
  CHECK(why({0, 1, -1}, {0, 1, 2}) == "L0247 software_pipeline: stage -1 is not between 0 and 16");
  CHECK(why({0, 1, 1}, {0, 2, 2}) == "L0247 software_pipeline: two statements have the order 2");
  CHECK(why({1, 0, 1}, {0, 1, 2}) ==
        "L0247 software_pipeline: the statement of block 'Q' would run before the statement of "
        "block 'P', which touches 'P' in the same iteration");
  CHECK(why({0, 0, 1}, {1, 0, 2}).substr(0, 5) == "L0247");
  CHECK(error_of([&] { t.s.software_pipeline(t.s.loops(t.P).back(), {0}, {0}); }) ==
        "L0247 software_pipeline: loop 'j_2'(4) holds one statement");
  CHECK(
      refused(t.s,
              [&](lt::Schedule& s) {
                s.software_pipeline(t.i, {0, 1, 0}, {0, 1, 2});
              }) ==
      R"(error[L0247] software_pipeline: the statement of block 'C' would run before the statement of block 'Q', which touches 'Q' in the same iteration
  at software_pipeline_test.cpp:#
  loops of 'P': i(8) i_1(1) j_2(4)
    for i in 0..8:
        ^
      for i_1 in 0..1:
        for j_2 in 0..4:
          block P(vi in 0..8 = i + i_1, vj in 0..4 = j_2):
  help: a statement that uses what another made has a later stage, or the same one and a later order)");
}
