// partition: iterations in which a condition holds run apart from the others, or do not.
#include <support/errors.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

namespace {

// Loops and tests of the program when guards were hoisted, as indented there.
std::string frame(const lt::Schedule& s) {
  const std::string text = lt::lower_until("simplify_borders", s.program(), lt::host()).str();
  std::string out;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1) {
    const std::string line = text.substr(at, end - at);
    for (const char* word : {"for ", "if ", "else", "select"})
      if (line.find(word) != std::string::npos) {
        out += line.substr(2) + "\n";
        break;
      }
  }
  return out;
}

/// B[i] = A[i - 1] + A[i + 1] with 0 before the first and the last one again behind it.
struct Edges {
  lt::Input<float, 1> A;
  lt::Tensor<float, 1> B;
  explicit Edges(const lt::Expr<std::int64_t>& n)
      : A("A", {n}), B(lt::compute("B", {n}, [&](lt::Var i) {
          return lt::select(i > 0, A(i - 1), 0.0f) + A(lt::min(i + 1, n - 1));
        })) {}
};

}  // namespace

TEST_CASE("partition: full tiles run apart from the last one, or do not") {
  Add k(10);
  lt::Schedule start(k.Y), s = start;
  auto [i] = s.loops<1>(k.Y);
  auto [io, ii] = s.split(i, {lt::infer, 4});
  const std::string automatic = frame(s);
  CHECK(automatic.find("else") != std::string::npos);
  s.partition(io, lt::Partition::always);
  CHECK(s.str().find("for io in 0..3 @partition=\"always\":") != std::string::npos);
  CHECK(frame(s) ==
        "for io in 0..2:\n  for ii in 0..4:\n"
        "for ii in 0..2:\n");
  check_lowered(start, s);
  const char* const together =
      "for io in 0..3:\n  for ii in 0..4:\n"
      "    if io * 4 + ii < 10:\n";
  s.partition(io, lt::Partition::never);
  CHECK(frame(s) == together);
  check_lowered(start, s);
  s.unannotate(io, "partition");
  CHECK(frame(s) == automatic);
  s.partition(io, lt::Partition::never);
  s.partition(io, lt::Partition::automatic);
  CHECK(frame(s) == automatic);
  s.partition(ii, lt::Partition::never);  // the test names this loop too
  CHECK(frame(s).find("else") == std::string::npos);
  check_lowered(start, s);
}

TEST_CASE("partition: extents") {
  for (std::int64_t n : {0, 1, 3, 4, 5, 8, 13}) {
    Add k(n);
    lt::Schedule start(k.Y), s = start;
    auto [i] = s.loops<1>(k.Y);
    auto [io, ii] = s.split(i, {lt::infer, 4});
    INFO(n);
    if (n > 4 && n % 4 != 0) {
      s.partition(io, lt::Partition::always);
      check_lowered(start, s);
      s.vectorize(ii);
      check_lowered(start, s);
    } else {  // one kind of tiles
      CHECK(refused_id(s, [&, io = io](lt::Schedule& t) {
              t.partition(io, lt::Partition::always);
            }) == "L0258");
    }
  }
  lt::Dim n("n");
  Add k(n);
  lt::Schedule start(k.Y), s = start;
  auto [i] = s.loops<1>(k.Y);
  auto [io, ii] = s.split(i, {lt::infer, 4});
  s.partition(io, lt::Partition::always);
  for (std::int64_t size : {0, 1, 3, 4, 5, 8, 13}) check_lowered(start, s, {{"n", size}});
  s.parallel(s.add_unit_loop(io));
  for (std::int64_t size : {0, 5, 8}) check_lowered(start, s, {{"n", size}});
}

TEST_CASE("partition: edges of a stencil lose their clamp and their test") {
  lt::Dim n("n", {.min = 1});
  Edges k(n);
  lt::Schedule start(k.B), s = start;
  CHECK(frame(s).find("select") != std::string::npos);
  auto [i] = s.loops<1>(k.B);
  s.partition(i, lt::Partition::always);
  const std::string text = lt::lower_until("simplify_borders", s.program(), lt::host()).str();
  CHECK(text.substr(text.find('\n') + 1) == R"(  B[0] = 0.0 + A[min(1, n - 1)]
  for i in 1..+max(n - 2, 0):
    B[i] = A[i - 1] + A[i + 1]
  for i in max(n - 1, 1)..+min(1, n - 1):
    B[i] = A[i - 1] + A[n - 1]
)");
  for (std::int64_t size : {1, 2, 3, 7}) check_lowered(start, s, {{"n", size}});
}

TEST_CASE("partition: borders run as the steady part does") {
  lt::Input<float, 2> X("X", {9, 21});
  lt::Reduce q("q", 3);
  auto Y = lt::compute("Y", {9, 19}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::select(i > 0, X(i - 1, j + q), 0.0f), q);
  });
  lt::Schedule start(Y), s = start;
  auto [i, j, r] = s.loops<3>(Y);
  auto [jo, ji] = s.split(j, {lt::infer, 4});
  s.annotate(r, "unroll_explicit", 3);
  s.partition(i, lt::Partition::always);
  // The copy for the first row is unrolled, and its full tiles have no test either.
  CHECK(frame(s) ==
        "for jo in 0..5:\n  if jo < 4:\n    for ji in 0..4:\n      for q in 0..3 "
        "@unroll_explicit=3:\n"
        "  else:\n    for ji in 0..4:\n      if ji < 3:\n      if ji < 3:\n        for q in 0..3:\n"
        "for i in 1..9:\n  for jo in 0..5:\n    if jo < 4:\n      for ji in 0..4:\n"
        "        for q in 0..3 @unroll_explicit=3:\n    else:\n      for ji in 0..4:\n"
        "        if ji < 3:\n        if ji < 3:\n          for q in 0..3:\n");
  check_lowered(start, s);
  s.partition(jo, lt::Partition::never);
  CHECK(frame(s) ==
        "for jo in 0..5:\n  for ji in 0..4:\n    if jo * 4 + ji < 19:\n    if jo * 4 + ji < 19:\n"
        "      for q in 0..3 @unroll_explicit=3:\nfor i in 1..9:\n  for jo in 0..5:\n"
        "    for ji in 0..4:\n      if jo * 4 + ji < 19:\n      if jo * 4 + ji < 19:\n"
        "        for q in 0..3 @unroll_explicit=3:\n");
  check_lowered(start, s);
}

TEST_CASE("partition: what lies inside two loops' borders") {
  lt::Input<float, 2> X("X", {6, 9});
  auto Y = lt::compute("Y", {6, 9}, [&](lt::Var i, lt::Var j) {
    return lt::select(i < 1 || j < 1 || i >= 5 || j >= 8, 0.0f, X(i - 1, j - 1) + X(i + 1, j + 1));
  });
  lt::Schedule start(Y), s = start;
  auto [i, j] = s.loops<2>(Y);
  s.parallel(i);
  s.partition(i, lt::Partition::always);
  s.partition(j, lt::Partition::always);
  CHECK(frame(s) ==
        "for j in 0..9:\nparallel for i in 1..5:\n  for j in 1..8:\n"
        "for j in 0..9:\n");
  check_lowered(start, s);
  CHECK(s.trace().cpp("s").find("s.partition(l0, lathe::Partition::always);") != std::string::npos);
  CHECK(s.trace().str().find("partition(l0, always)") != std::string::npos);

  // Of two conditions that never hold at a time the first counts; its edge has none left.
  auto Z = lt::compute("Z", {9}, [&](lt::Var x) {
    return lt::select(x < 3, X(0, x), 1.0f) + lt::select(x > 5, X(1, x), 2.0f);
  });
  lt::Schedule apart(Z), t = apart;
  t.partition(t.loops(Z)[0], lt::Partition::always);
  CHECK(frame(t).find("for i in 0..3:") == 0);
  CHECK(frame(t).find("i < 3") == std::string::npos);
  check_lowered(apart, t);
}

TEST_CASE("partition: below a reduction, below other loops, and where a test can't be decided") {
  RowSum k(5, 7);
  lt::Schedule start(k.S), s = start;
  auto [i, q] = s.loops<2>(k.S);
  auto [qo, qi] = s.split(q, {lt::infer, 3});
  s.partition(qo, lt::Partition::always);
  CHECK(frame(s) == "for i in 0..5:\n  for ro in 0..2:\n    for ri in 0..3:\n");
  check_lowered(start, s);
  s.reorder({qo, i});
  check_lowered(start, s);

  // In a triangle the inner loop's end moves with the outer one.
  lt::Schedule triangle(lt::parse(R"(program p(in A: f32[8, 8], out B: f32[8, 8]):
  for i in 0..8:
    for j in 0..8:
      block B(vi in 0..8 = i, vj in 0..8 = j):
        B[vi, vj] = select(vj < vi, A[vi, vj], 0.0)
)"));
  lt::Schedule t = triangle;
  auto [a, b] = t.loops<2>("B");
  t.partition(b, lt::Partition::always);
  CHECK(frame(t) == "for i in 0..8:\n  for j in 0..i:\n  for j in i..8:\n");
  check_lowered(triangle, t);

  lt::Schedule loaded(lt::parse(R"(program p(in N: i64[1], in A: f32[8], out B: f32[8]):
  for i in 0..8:
    block B(vi in 0..8 = i):
      B[vi] = select(vi < N[0], A[vi], 0.0) + select(vi * vi < 9, A[vi], 0.0)
)"));
  CHECK(refused_id(loaded, [](lt::Schedule& u) {
          u.partition(u.loops("B")[0], lt::Partition::always);
        }) == "L0258");
  lt::Schedule wraps = schedule_of(R"(program P(in A: f32[8], out B: f32[8]):
  for i in 0..8:
    block B(vi in 0..8 = i):
      B[vi] = select(vi * 4611686018427387904 < 4, A[vi], 0.0)
)");
  CHECK(refused_id(wraps, [](lt::Schedule& u) {
          u.partition(u.loops("B")[0], lt::Partition::always);
        }) == "L0258");
}

TEST_CASE("partition: temporaries of both parts are their own") {
  Blur k(13);
  lt::Schedule start(k.C), s = start;
  auto [x] = s.loops<1>(k.C);
  auto [xo, xi] = s.split(x, {lt::infer, 4});
  s.compute_at(k.P, xo);
  s.partition(xo, lt::Partition::always);
  check_lowered(start, s);
  s.vectorize(xi);
  check_lowered(start, s);
}

TEST_CASE("partition: later steps") {
  Gemm k(6, 10, 3);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  auto [jo, ji] = s.split(j, {lt::infer, 4});
  s.partition(jo, lt::Partition::always);
  CHECK(error_of([&, jo = jo] {
          s.split(jo, {lt::infer, 2});
        }) == "L0204 split: loop 'jo' carries the annotation 'partition'");
  CHECK(error_of([&, jo = jo] { s.parallel(jo); }).substr(0, 5) == "L0204");
  s.compute_at(k.C, jo);
  check_lowered(start, s);

  // A mark that has nothing to peel any more is without effect.
  lt::Dim n("n");
  Add a(n);
  lt::Schedule whole(a.Y), t = whole;
  auto [xo, xi] = t.split(t.loops(a.Y)[0], {lt::infer, 4});
  t.partition(xo, lt::Partition::always);
  t.assume(n % 4 == 0);
  CHECK(frame(t).find("if") == std::string::npos);
  for (std::int64_t size : {0, 4, 12}) check_lowered(whole, t, {{"n", size}});
}

TEST_CASE("partition: refusals") {
  Add k(8);
  lt::Schedule s(k.Y);
  auto [i] = s.loops<1>(k.Y);
  CHECK(
      refused(s, [&, i = i](lt::Schedule& t) { t.partition(i, lt::Partition::always); }) ==
      R"(error[L0258] partition: no condition below loop 'i'(8) is affine in it and holds in some of its iterations only
  at partition_test.cpp:#
  loops of 'Y': i(8)
    for i in 0..8:
        ^
      block Y(vi in 0..8 = i):
        Y[vi] = X[vi] + 1.0
  help: split a loop with a guarded tail, or partition another loop)");
  CHECK(refused(s, [&, i = i](lt::Schedule& t) {
          t.apply(*lt::find_primitive("partition"), {i, lt::Arg::of_word("often")});
        }).substr(0, 52) == "error[L0258] partition: no policy is called 'often'\n");
  s.partition(i, lt::Partition::never);  // of what may come
  s.partition(i, lt::Partition::automatic);
  s.vectorize(i);
  CHECK(refused_line(s, [&, i = i](lt::Schedule& t) { t.partition(i, lt::Partition::always); }) ==
        "error[L0258] partition: iterations of loop 'i'(8, vectorized) can't run apart");
}
