#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/runtime/llvm.hpp>
#include <string>
#include <support/skip.hpp>
#include <support/text.hpp>

#include "../schedule/run.hpp"

namespace lt = lathe;
using test::count_of;

namespace {

/// What is fetched, in order, once hints are placed; the loops as they are.
std::string placed(const lt::Schedule& s, const lt::Target& target = lt::Target("x86-64-v4")) {
  lt::Program p = lt::lower_blocks(s.program());
  return lt::place_prefetches(p, target).str();
}

}  // namespace

TEST_CASE("a hint on an outer loop is spread over the innermost ones, a line at a time") {
  lt::Input<float, 2> X("X", {34, 258});
  auto Y = lt::compute("Y", {32, 256}, [&](lt::Var i, lt::Var j) {
    return X(i, j) + X(i, j + 2) + X(i + 1, j + 1) + X(i + 2, j + 1);
  });
  lt::Schedule s(Y);
  auto [i, j] = s.loops<2>(Y);
  auto [io, ii] = s.split(i, {lt::infer, 4});
  auto [jo, ji] = s.split(j, {lt::infer, 16});
  s.reorder({io, jo, ii, ji});
  s.unroll(ii);
  s.vectorize(ji);
  s.prefetch(X, io, 1, 2);
  const std::string text = placed(s);
  CAPTURE(text);
  // Six rows are read, and two of them are this iteration's too.
  CHECK(count_of(text, "prefetch(") == 4);
  CHECK(text.find("for jo in 0..16:\n      eval prefetch(X[") != std::string::npos);
}

TEST_CASE("what iterations of a loop in between all read, they fetch in turn") {
  lt::Input<float, 2> A("A", {24, 32});
  lt::Input<float, 3> P("P", {6, 32, 16});
  lt::Reduce r("r", 32);
  auto C = lt::compute("C", {24, 96}, [&](lt::Var i, lt::Var j) {
    return lt::sum(A(i, r) * P(lt::floordiv(j, 16), r, lt::floormod(j, 16)), r);
  });
  auto fetches = [&](std::int64_t rows, bool parallel) {
    lt::Schedule s(C);
    auto [i, j, k] = s.loops<3>(C);
    auto [io, ii] = s.split(i, {lt::infer, rows});
    auto [jo, ji] = s.split(j, {lt::infer, 16});
    s.reorder({jo, io, k, ii, ji});
    s.vectorize(ji);
    s.unroll(ii);
    s.prefetch(P, jo, 1, 2);
    if (parallel) s.parallel(io);
    const lt::Program p = lt::simplify_program(
        lt::place_prefetches(lt::lower_blocks(s.program()), lt::Target("x86-64-v4")));
    CHECK(test::run(p) == test::run(s.program()));
    return p.str();
  };
  const std::string eight = fetches(3, false);
  CAPTURE(eight);
  CHECK(eight.find("for r in 0..4:\n        eval prefetch(P[jo + 1, io * 4 + r, 0], 2)\n"
                   "        for r_1 in 0..8:\n") != std::string::npos);
  // Six rounds and 32 steps: two parts, which every second round fetches again.
  const std::string six = fetches(4, false);
  CAPTURE(six);
  CHECK(six.find("eval prefetch(P[jo + 1, floormod(io, 2) * 16 + r, 0], 2)") != std::string::npos);
  // Threads may not share the cache.
  CHECK(fetches(3, true).find("for r in 0..32:\n        eval prefetch(P[jo + 1, r, 0], 2)") !=
        std::string::npos);
}

TEST_CASE("copies of an unrolled body have their hints in front") {
  lt::Input<float, 2> X("X", {64, 64});
  auto Y = lt::compute("Y", {64, 64}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2.0f; });
  lt::Schedule s(Y);
  auto [i, j] = s.loops<2>(Y);
  s.prefetch(X, i, 1);
  s.unroll(j, 4);
  const std::string text =
      lt::unroll_loops(lt::place_prefetches(lt::lower_blocks(s.program()), lt::Target("znver4")))
          .str();
  CAPTURE(text);
  CHECK(count_of(text, "prefetch(") == 4);
  CHECK(text.rfind("prefetch(") < text.find("Y[i"));
}

TEST_CASE("lanes of several lines are fetched line by line, and what does not move is not") {
  lt::Input<float, 1> X("X", {4096}), W("W", {64});
  auto Y = lt::compute("Y", {4096}, [&](lt::Var i) { return X(i) * W(i % 64); });
  lt::Schedule s(Y);
  auto [io, ii] = s.split(s.loops(Y).front(), {lt::infer, 64});
  s.vectorize(ii);
  s.prefetch(X, io, 2);
  CHECK(count_of(placed(s), "prefetch(") == 4);
  CHECK(count_of(placed(s, lt::Target("apple-m1")), "prefetch(") == 2);
  lt::Schedule t(Y);
  auto [to, ti] = t.split(t.loops(Y).front(), {lt::infer, 64});
  t.prefetch(W, to, 2);
  (void)ti;
  CHECK(count_of(placed(t), "prefetch(") <= 1);
}

TEST_CASE("what is fetched is told apart from other buffers, so that sums stay in registers") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Input<float, 2> A("A", {8, 64}), B("B", {64, 48});
  lt::Reduce r("r", 64);
  auto C = lt::compute("C", {8, 48},
                       [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  lt::Schedule s(C);
  s.decompose_reduction(C, s.loops(C)[2]);
  s.prefetch(B, s.loops(C)[2], 4);
  const std::string ir = lt::jit_any({s}, {}).llvm_ir();
  const std::size_t at = ir.find("call void @llvm.prefetch");
  REQUIRE(at != std::string::npos);
  CHECK(ir.substr(at, ir.find('\n', at) - at).find("!noalias") != std::string::npos);
}
