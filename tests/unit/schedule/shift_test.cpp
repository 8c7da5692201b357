// split with Tail::shift: the last tile moves inward and recomputes, so that no tile has a mask.
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <support/text.hpp>

#include "../../support/golden.hpp"
#include "../lower/stages.hpp"
#include "kernels.hpp"

namespace lt = lathe;
using namespace test;

namespace {

void check_shifted(const lt::Schedule& start, const lt::Schedule& s, const Dims& dims = {}) {
  check_kept(start, s, dims);
  check_stages(s.program(), dims);
}

std::string vector_code(const lt::Schedule& s) {
  return lt::lower_until("vectorize", s.program(), lt::Target("x86-64-v3")).str();
}

/// Splits by f, and gives the loops.
std::array<lt::LoopRef, 2> shifted(lt::Schedule& s, const lt::LoopRef& loop, std::int64_t f) {
  return s.split<2>(loop, {lt::infer, f}, lt::Tail::shift);
}

}  // namespace

TEST_CASE("shift: every extent against every factor, with and without lanes") {
  for (std::int64_t n : {0, 1, 2, 7, 8, 9, 13, 16, 31})
    for (std::int64_t f : {1, 2, 3, 7, 8, 32}) {
      CAPTURE(n);
      CAPTURE(f);
      Add k(n);
      lt::Schedule start(k.Y), s = start;
      auto [io, ii] = shifted(s, s.loops<1>(k.Y)[0], f);
      check_shifted(start, s);
      s.vectorize(ii);
      check_shifted(start, s);
      if (n < f) continue;
      CHECK_FALSE(has(vector_code(s), "where"));
      CHECK_FALSE(has(vector_code(s), "if "));
    }
}

TEST_CASE("shift: the loop over tiles has one body, without masks or a remainder") {
  Blur k(100);
  lt::Schedule s(k.C);
  s.compute_inline(k.P);
  s.vectorize(shifted(s, s.loops<1>(k.C)[0], 8)[1]);
  CHECK(vector_code(s) ==
        R"(program C(in A: f32[102] strides [1], out C: f32[100] strides [1]) stage loops:
  for io in 0..13:
    C[ramp(min(io * 8, 92), 1, 8)] = A[ramp(min(io * 8, 92), 1, 8)] * broadcast(2.0, 8) + A[ramp(min(io * 8, 92) + 1, 1, 8)] * broadcast(2.0, 8) + A[ramp(min(io * 8, 92) + 2, 1, 8)] * broadcast(2.0, 8)
)");
}

TEST_CASE("shift: a Dim may be less than a tile, so there is a version with guards") {
  lt::Dim n("n");
  Add k(n);
  lt::Schedule start(k.Y), s = start;
  auto [io, ii] = shifted(s, s.loops<1>(k.Y)[0], 8);
  s.vectorize(ii);
  check_golden("lower/shifted_tail", vector_code(s));
  for (std::int64_t v : {0, 1, 7, 8, 9, 13, 16, 31}) check_shifted(start, s, {{"n", v}});
  lt::Schedule large = s;
  large.assume(n >= 8);
  CHECK_FALSE(has(vector_code(large), "else"));
  CHECK_FALSE(has(vector_code(large), "where"));
  for (std::int64_t v : {8, 9, 23}) check_shifted(start, large, {{"n", v}});
}

TEST_CASE("shift: tiles of two loops, and under a parallel one") {
  for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{7, 19}, {4, 8}, {3, 19}, {7, 5}}) {
    lt::Dim rows("rows");
    lt::Input<float, 2> X("X", {rows, n});
    auto Y = lt::compute("Y", {rows, n},
                         [&](lt::Var i, lt::Var j) { return X(i, j) * lt::cast<float>(j); });
    lt::Schedule start(Y), s = start, t = start;
    auto [i, j] = s.loops<2>(Y);
    auto tiles = s.tile(i, j, 4, 8, lt::Tail::shift);
    s.vectorize(tiles[3]);
    s.unroll(tiles[2]);
    check_shifted(start, s, {{"rows", m}});
    t.vectorize(shifted(t, j, 8)[1]);
    t.parallel(i);
    check_shifted(start, t, {{"rows", m}});
  }
}

TEST_CASE("shift: a tile of a tile, of three factors, and where tiles lie past the end") {
  for (std::int64_t n : {1, 9, 10, 25, 40, 47}) {
    CAPTURE(n);
    Add k(n);
    lt::Schedule start(k.Y), nested = start, three = start, spare = start;
    auto [io, ii] = nested.split<2>(nested.loops<1>(k.Y)[0], {lt::infer, 10});
    nested.vectorize(shifted(nested, ii, 4)[1]);
    check_shifted(start, nested);
    auto loops = three.split<3>(three.loops<1>(k.Y)[0], {lt::infer, 3, 4}, lt::Tail::shift);
    three.vectorize(loops[2]);
    check_shifted(start, three);
    auto more = spare.split<2>(spare.loops<1>(k.Y)[0], {15, 4}, lt::Tail::shift);
    spare.vectorize(more[1]);
    check_shifted(start, spare);
  }
}

// The order of loops that step equally far was that of their addresses.
TEST_CASE("shift: a factor of 1 inside an outer loop of unknown extent") {
  lt::Schedule start(lt::parse(R"(program P<n>(in X: f32[n], out Y: f32[n]):
  for i in 0..n:
    block Y(vi in 0..n = i):
      Y[vi] = X[vi] * 2.0
)"));
  for (int k = 0; k < 8; ++k) {
    lt::Schedule s = start;
    CHECK_NOTHROW(s.split<3>(s.loops("Y")[0], {lt::infer, 1, 4}, lt::Tail::shift));
  }
}

TEST_CASE("shift: the halo of a tile, whole rows of stages, several outputs") {
  for (std::int64_t n : {1, 8, 21, 32}) {
    CAPTURE(n);
    Blur k(n);
    lt::Schedule start(k.C), s = start;
    auto [xo, xi] = s.split<2>(s.loops<1>(k.C)[0], {lt::infer, 8});
    s.compute_at(k.P, xo);
    s.vectorize(shifted(s, s.loops(k.P).back(), 4)[1]);
    // What the tile reads is written outside of the loops that the tail is about.
    auto [a, b] = s.split<2>(xi, {4, 2});
    shifted(s, a, 3);
    check_shifted(start, s);

    lt::Input<float, 1> X("X", {n});
    auto D = lt::compute("D", {n}, [&](lt::Var i) { return X(i) * 2.0f; });
    auto E = lt::compute("E", {n}, [&](lt::Var i) { return X(i) + D(i); });
    lt::Schedule both(lt::outputs(D, E)), t = both;
    for (const auto& block : t.blocks()) t.vectorize(shifted(t, t.loops(block)[0], 8)[1]);
    check_shifted(both, t);
  }
}

TEST_CASE("shift: an index reversed, strided or through another axis") {
  for (std::int64_t n : {5, 16, 19}) {
    CAPTURE(n);
    lt::Input<float, 1> X("X", {2 * n});
    auto R = lt::compute("R", {n}, [&](lt::Var i) { return X(n - 1 - i) - X(2 * i + 1); });
    lt::Schedule start(R), s = start;
    s.vectorize(shifted(s, s.loops<1>(R)[0], 8)[1]);
    check_shifted(start, s);
    lt::Schedule pairs = start;
    auto [po, pi] = pairs.split<2>(pairs.loops<1>(R)[0], {lt::infer, 2});
    shifted(pairs, po, 3);
    check_shifted(start, pairs);
    CHECK(has(pairs.str(), "@guards") == (n > 5));  // three pairs are one tile
  }
}

TEST_CASE("shift: refused where a tile can't run twice") {
  RowSum sum(10, 10);
  lt::Schedule r(sum.S);
  CHECK(
      refused(r, [&](lt::Schedule& t) { shifted(t, t.loops<2>(sum.S)[0], 4); }) ==
      R"(error[L0224] split: tail 'shift' is not available for loop 'i' of block 'S': block 'S' can't run twice: it is a reduction
  at shift_test.cpp:#
  loops of 'S': i(10) r:reduce(10)
    for i in 0..10:
        ^
      for r in 0..10:
        block S(vi in 0..10 = i, reduce vr in 0..10 = r) reduce sum init:
          S[vi] sum= X[vi, vr]
  help: use Tail::guard)");
  CHECK(refused_id(r, [&](lt::Schedule& t) { shifted(t, t.loops<2>(sum.S)[1], 4); }) == "L0224");
  shifted(r, r.loops<2>(sum.S)[1], 5);  // divides: no tail

  Blur k(20);
  lt::Schedule merged(k.C);
  lt::BlockRef out = merged.cache_write(k.C, lt::Scope::global);
  auto both = merged.merge({merged.loops("C")[0], merged.loops(out)[0]});
  CHECK(
      refused(merged, [&](lt::Schedule& t) { shifted(t, both, 8); }) ==
      R"(error[L0224] split: tail 'shift' is not available for loop 'i' of block 'C': a tile both stores and reads buffer 'C_cache'
  at shift_test.cpp:#
  loops of 'C': i(20)
    for i in 0..20:
        ^
      block C(vi in 0..20 = i):
        C_cache[vi] = P[vi] + P[vi + 1] + P[vi + 2]
      block C_copy(vi in 0..20 = i):
  help: use Tail::guard)");

  lt::Dim n("n");
  Add sized(n);
  lt::Schedule symbolic(sized.Y);
  CHECK(
      refused(symbolic,
              [&](lt::Schedule& t) {
                t.split<2>(t.loops<1>(sized.Y)[0], {4, lt::infer}, lt::Tail::shift);
              }) ==
      R"(error[L0224] split: tail 'shift' is not available for loop 'i' of block 'Y': its tiles have no constant extent
  at shift_test.cpp:#
  loops of 'Y': i(n)
    for i in 0..n:
        ^
      block Y(vi in 0..n = i):
        Y[vi] = X[vi] + 1.0
  help: use Tail::guard)");

  lt::Input<float, 1> X("X", {20});
  auto Z = lt::compute("Z", {20}, [&](lt::Var i) { return X(i) * 2.0f; });
  lt::Schedule in_place(lt::inout(X, Z));
  CHECK(
      refused(in_place, [&](lt::Schedule& t) { shifted(t, t.loops<1>(Z)[0], 8); }) ==
      R"(error[L0224] split: tail 'shift' is not available for loop 'i' of block 'Z': block 'Z' can't run twice: it reads what it writes
  at shift_test.cpp:#
  loops of 'Z': i(20)
    for i in 0..20:
        ^
      block Z(vi in 0..20 = i):
        X[vi] = X[vi] * 2.0
  help: use Tail::guard)");
}

TEST_CASE("shift: later steps that a tile which runs twice forbids") {
  Blur k(20);
  lt::Schedule s(k.C);
  auto [io, ii] = shifted(s, s.loops<1>(k.C)[0], 8);
  CHECK(
      refused(s, [&, o = io](lt::Schedule& t) { t.parallel(o); }) ==
      R"(error[L0225] parallel: would break what the tail 'shift' of loop 'ii' promises: loop 'io'(3, parallel) would store the elements of two tiles at a time
  at shift_test.cpp:#
  help: split it with Tail::guard)");
  CHECK(
      refused(s, [&, o = io](lt::Schedule& t) { t.compute_at(k.P, o); }) ==
      R"(error[L0225] compute_at: would break what the tail 'shift' of loop 'ii' promises: buffer 'P' is written by block 'P' between two runs of a tile that reads it
  at shift_test.cpp:#
  help: split it with Tail::guard)");
  CHECK(
      refused(s,
              [&, o = io, i = ii](lt::Schedule& t) {
                t.reorder({i, o});
              }) ==
      R"(error[L0225] reorder: would break what the tail 'shift' of loop 'ii' promises: its tiles are not proven to cover one range of all blocks in it
  at shift_test.cpp:#
  help: split it with Tail::guard)");
  lt::BlockRef out = s.cache_write("C", lt::Scope::global);
  CHECK(
      refused(s, [&, o = s.loops("C")[0]](lt::Schedule& t) { t.reverse_compute_at(out, o); }) ==
      R"(error[L0225] reverse_compute_at: would break what the tail 'shift' of loop 'ii' promises: buffer 'C_cache' is read by block 'C_copy' between two runs of a tile that stores it
  at shift_test.cpp:#
  help: split it with Tail::guard)");
  s.parallel(ii);
  check_kept(lt::Schedule(k.C), s);
}

TEST_CASE("shift: cutting the loop over tiles leaves both parts right") {
  for (std::int64_t at : {1, 2, 3}) {
    Add k(30);
    lt::Schedule start(k.Y), s = start;
    auto [io, ii] = shifted(s, s.loops<1>(k.Y)[0], 8);
    s.loop_partition(io, {at});
    check_shifted(start, s);
    lt::Schedule t = start;
    auto again = shifted(t, t.loops<1>(k.Y)[0], 8);
    t.split<2>(again[0], {lt::infer, 3});
    check_shifted(start, t);
  }
}

TEST_CASE("shift: a mark that is not legal in a text is refused") {
  lt::Program p = lt::parse(R"(program Y(inout X: f32[20]):
  for io in 0..3:
    for ii in 0..8 @tail="shift":
      block Y(vi in 0..20 = io * 8 + ii):
        X[vi] = X[vi] + 1.0
)");
  const std::string why = "block 'Y' can't run twice: it reads what it writes";
  CHECK(error_of([&] { lt::lower(p, lt::host()); }) ==
        "L0603 lower: the annotation @tail=\"shift\" of loop 'ii'(8) can't be honoured: " + why);
  CHECK(error_of([&] { lt::Schedule s(p); }) == "L0224 schedule: " + why);
}

TEST_CASE("shift: kernels give the bits of the default, also with sizes below a tile") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return lt::exp(X(i)) + 1.0f; });
  lt::Schedule s(Y);
  s.vectorize(shifted(s, s.loops<1>(Y)[0], 16)[1]);
  lt::Schedule guarded(Y);
  guarded.vectorize(guarded.split<2>(guarded.loops<1>(Y)[0], {lt::infer, 16})[1]);
  auto f = lt::jit(s, X, Y), g = lt::jit(guarded, X, Y);
  for (std::size_t size : {0u, 1u, 15u, 16u, 17u, 37u, 1003u}) {
    CAPTURE(size);
    std::vector<float> x(size), y(size + 32, 7), wanted(size + 32, 7);
    for (std::size_t k = 0; k < size; ++k) x[k] = static_cast<float>(k % 19) * 0.25f;
    auto extent = static_cast<std::int64_t>(size);
    f(x, lt::View<float, 1>(y.data(), {extent}));
    g(x, lt::View<float, 1>(wanted.data(), {extent}));
    CHECK(y == wanted);
  }
}
