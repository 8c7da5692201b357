#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

TEST_CASE("merge: no one sees a sum before it is complete") {
  lt::Schedule s = schedule_of(R"(program P(in X: f32[8], out Y: f32[8]):
  alloc S: f32[1]
  for r in 0..8:
    block S(vi in 0..1 = 0, reduce vr in 0..8 = r) reduce sum init:
      S[vi] sum= X[vr]
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = X[v] * S[0]
)");
  CHECK(refused_line(s, [](lt::Schedule& t) { t.merge(outermost(t, "S"), outermost(t, "Y")); }) ==
        "error[L0207] merge: loops 'r'(8) and 'i'(8) can't run in turn: block 'Y' reads S[0] in an "
        "iteration before block 'S' updates S[0]");
}

TEST_CASE("merge: a producer and the reduction over it share the reduce loop") {
  for (const char* n : {"8", "1", "0", "n"}) {
    std::string text = R"(program P<n>(in X: f32[n], in Z: f32[n], out S: f32[1]):
  alloc T: f32[N]
  for i in 0..N:
    block T(v in 0..N = i):
      T[v] = X[v] * 2.0
  for r in 0..N:
    block S(vi in 0..1 = 0, reduce vr in 0..N = r) reduce sum init:
      S[vi] sum= T[vr]
)";
    for (std::size_t at = text.find('N'); at != std::string::npos; at = text.find('N'))
      text.replace(at, 1, n);
    lt::Schedule start = schedule_of(text), s = start;
    lt::LoopRef both = s.merge(outermost(s, "T"), outermost(s, "S"));
    for (std::int64_t size : {8, 13}) check_lowered(start, s, {{"n", size}});
    s.decompose_reduction("S", both);
    for (std::int64_t size : {8, 13}) check_lowered(start, s, {{"n", size}});
  }
}

TEST_CASE("merge: an init that would move before what the first loop does") {
  lt::Schedule start = schedule_of(R"(program P(inout S: f32[1], in X: f32[1], out T: f32[1]):
  for i in 0..1:
    block T(v in 0..1 = i):
      T[v] = S[v]
  for r in 0..1:
    block S(vi in 0..1 = 0, reduce vr in 0..1 = r) reduce sum init:
      S[vi] sum= X[vr]
)");
  lt::Schedule s = start;
  CHECK(
      refused(s, [](lt::Schedule& t) { t.merge(outermost(t, "T"), outermost(t, "S")); }) ==
      R"(error[L0230] merge: loop 'r'(1) feeds the reduction of block 'S', whose init would move before what loop 'i'(1) does with 'S'
  at merge_reduction_test.cpp:#
  loops of 'S': r:reduce(1)
    for r in 0..1:
      block S(vi in 0..1 = 0, reduce vr in 0..1 = r) reduce sum init:
            ^
        S[vi] sum= X[vr]
  help: decompose the reduction first)");
  s.decompose_reduction("S", outermost(s, "S"));
  check_kept(start, s);
}

TEST_CASE("merge: an init inside of the loop stays there") {
  lt::Schedule start = schedule_of(R"(program P(inout S: f32[4], in X: f32[4, 3], out T: f32[4]):
  for i in 0..4:
    block T(v in 0..4 = i):
      T[v] = S[v]
  for x in 0..4:
    for r in 0..3:
      block S(vx in 0..4 = x, reduce vr in 0..3 = r) reduce sum init:
        S[vx] sum= X[vx, vr]
)");
  lt::Schedule s = start;
  s.merge(outermost(s, "T"), outermost(s, "S"));
  check_lowered(start, s);
}

TEST_CASE("merge: loops of one iteration run in turn whatever they touch") {
  lt::Schedule start = schedule_of(R"(program P(in X: f32[3], out T: f32[1], out Y: f32[1]):
  for i in 0..1:
    for r in 0..3:
      block T(v in 0..1 = i, reduce q in 0..3 = r) reduce sum init:
        T[v] sum= X[q]
  for x in 0..1:
    block Y(v in 0..1 = x):
      Y[v] = T[0] + T[v]
)");
  lt::Schedule s = start;
  s.merge(outermost(s, "T"), outermost(s, "Y"));
  check_lowered(start, s);
}

TEST_CASE("merge: an init that stands before an outer loop stays there") {
  lt::Schedule start = schedule_of(R"(program P(in X: f32[8], out S: f32[1], out T: f32[1]):
  for o in 0..8:
    for i in 0..1:
      block T(v in 0..1 = i, reduce q in 0..8 = o) reduce max init:
        T[v] max= X[q]
    for r in 0..1:
      block S(vi in 0..1 = 0, reduce vr in 0..8 = o + r) reduce sum init:
        S[vi] sum= X[vr] * T[0]
)");
  lt::Schedule s = start;
  s.merge(s.loops("T")[1], s.loops("S")[1]);
  check_lowered(start, s);
}

TEST_CASE("merge: an empty reduction has a result, which the other loop may need") {
  for (const char* depth : {"0", "n"})
    for (const char* at : {"v", "7 - v"}) {
      std::string text = R"(program P<n>(in X: f32[8, n], out S: f32[8], out Y: f32[8]):
  for i in 0..8:
    for r in 0..DEPTH:
      block S(vi in 0..8 = i, reduce vr in 0..DEPTH = r) reduce sum init:
        S[vi] sum= X[vi, vr]
  for x in 0..8:
    block Y(v in 0..8 = x):
      Y[v] = S[AT]
)";
      for (auto [name, value] : {std::array{"DEPTH", depth}, std::array{"AT", at}})
        for (std::size_t where = text.find(name); where != std::string::npos;
             where = text.find(name))
          text.replace(where, std::string(name).size(), value);
      lt::Schedule start = schedule_of(text), s = start;
      auto merge = [](lt::Schedule& t) { t.merge(outermost(t, "S"), outermost(t, "Y")); };
      if (std::string(at) == "v") {
        merge(s);
        for (std::int64_t n : {0, 1, 3}) check_lowered(start, s, {{"n", n}});
      } else {
        CHECK(refused_id(s, merge) == "L0207");
      }
    }
}

TEST_CASE("merge: an init and its update come together again") {
  RowSum k(5, 3);
  lt::Schedule start(k.S), s = start;
  auto [i, r] = s.loops<2>(k.S);
  lt::BlockRef init = s.decompose_reduction(k.S, i);
  s.merge(s.loops(init)[0], i);
  CHECK(s.loops(init) == std::vector<lt::LoopRef>{s.loops(k.S)[0]});
  check_lowered(start, s);
  CHECK(refused_id(s, [&, r = r](lt::Schedule& t) { t.merge(t.loops(init)[0], r); }) == "L0230");
}
