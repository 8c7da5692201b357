// Tail::round_up: tiles of temporaries compute past the end, into room that nothing else uses.
#include <support/errors.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

namespace {

/// P[i] = A[min(i, n - 1)] * 2, Q[i] = P[i] + i, C[i] = Q[n - 1 - i].
struct Chain {
  lt::Input<float, 1> A;
  lt::Tensor<float, 1> P, Q, C;
  explicit Chain(const lt::Expr<std::int64_t>& n)
      : A("A", {n}),
        P(lt::compute("P", {n}, [&](lt::Var i) { return A(lt::min(i, n - 1)) * 2.0f; })),
        Q(lt::compute("Q", {n}, [&](lt::Var i) { return P(i) + lt::cast<float>(i); })),
        C(lt::compute("C", {n}, [&](lt::Var i) { return Q(n - 1 - i); })) {}
};

std::array<lt::LoopRef, 2> round_up(lt::Schedule& s, const lt::BlockName& block, int factor,
                                    std::size_t loop = 0) {
  return s.split(s.loops(block)[loop], {lt::infer, factor}, lt::Tail::round_up);
}

}  // namespace

TEST_CASE("round_up: a chain of temporaries, of which each reads the one before past its end") {
  for (std::int64_t n : {1, 7, 8, 13}) {
    Chain k{lt::Expr<std::int64_t>(n)};
    lt::Schedule start(k.C), s = start;
    round_up(s, k.P, 8);
    check_lowered(start, s);
    auto [io, ii] = round_up(s, k.Q, 8);
    if (n == 13)
      CHECK(s.str() == R"(program C(in A: f32[13], out C: f32[13]) scheduled:
  alloc P: f32[16]
  alloc Q: f32[16]
  for io in 0..2:
    for ii in 0..8:
      block P(vi in 0..16 = io * 8 + ii):
        P[vi] = A[min(vi, 13 - 1)] * 2.0
  for io in 0..2:
    for ii in 0..8:
      block Q(vi in 0..16 = io * 8 + ii):
        Q[vi] = P[vi] + f32(vi)
  for i in 0..13:
    block C(vi in 0..13 = i):
      C[vi] = Q[13 - 1 - vi]
)");
    check_lowered(start, s);
    s.vectorize(ii);
    s.parallel(io);
    check_lowered(start, s);
    CHECK(lt::lower_until("simplify_flat", s.program(), lt::host()).str().find(" if ") ==
          std::string::npos);
  }
}

TEST_CASE("round_up: symbolic extents") {
  lt::Dim n("n", {.min = 1});
  Chain k(n);
  lt::Schedule start(k.C), s = start;
  round_up(s, k.P, 8);
  auto [io, ii] = round_up(s, k.Q, 8);
  s.vectorize(ii);
  CHECK(s.str().find("alloc P: f32[8 * floordiv(n + 7, 8)]") != std::string::npos);
  for (std::int64_t size : {1, 3, 4, 5, 7, 8, 9, 16, 17}) check_lowered(start, s, {{"n", size}});
}

TEST_CASE("round_up: spatial loops of a reduction, in two dimensions; none that feeds it") {
  lt::Dim m("m"), n("n");
  auto T = lt::compute("T", {m, n}, [&](lt::Var i, lt::Var j) { return lt::cast<float>(i - j); });
  lt::Reduce r("r", 5);
  auto U = lt::compute(
      "U", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(T(i, j) * lt::cast<float>(r), r); });
  auto V = lt::compute("V", {n, m}, [&](lt::Var i, lt::Var j) { return U(j, i); });
  lt::Schedule start(V), s = start;
  auto tile = [&](const lt::BlockName& block) {
    auto loops = s.loops(block);
    return s.tile(loops[0], loops[1], 4, 8, lt::Tail::round_up);
  };
  CHECK(refused_line(s, [&](lt::Schedule& t) { round_up(t, U, 4); }) ==
        "error[L0224] split: tail 'round_up' is not available for loop 'i' of block 'U': block 'U' "
        "reads 'T', which ends where it did: round the loop of its producer up first");
  tile(T);
  auto [io, jo, ii, ji] = tile(U);
  CHECK(refused_line(s, [&](lt::Schedule& t) { round_up(t, U, 2, 4); }) ==
        "error[L0224] split: tail 'round_up' is not available for loop 'r' of block 'U': it feeds "
        "the reduction of block 'U'");
  const lt::LoopRef q = s.loops(U)[4];
  s.vectorize(ji);
  s.decompose_reduction(U, q);
  for (std::int64_t rows : {0, 1, 4, 5})
    for (std::int64_t columns : {0, 7, 8, 9})
      check_lowered(start, s, {{"m", rows}, {"n", columns}});
}

TEST_CASE("round_up: refusals") {
  Chain k{lt::Expr<std::int64_t>(13)};
  lt::Schedule s(k.C);
  CHECK(
      refused(s, [&](lt::Schedule& t) { round_up(t, k.C, 8); }) ==
      R"(error[L0224] split: tail 'round_up' is not available for loop 'i' of block 'C': block 'C' stores to buffer 'C', which is a parameter and has no room past its end
  at round_up_test.cpp:#
  loops of 'C': i(13)
    for i in 0..13:
        ^
      block C(vi in 0..13 = i):
        C[vi] = Q[13 - 1 - vi]
  help: use Tail::guard, mask, peel or shift; for a parameter, cache_write first and split the loops of the private result)");
  auto why = [](const std::string& text, const char* block) {
    lt::Schedule t = schedule_of(text);
    const std::string line = refused_line(t, [&](lt::Schedule& u) { round_up(u, block, 4); });
    return line.substr(std::min(line.size(), line.find(": ", 20) + 2));
  };
  CHECK(why(R"(program p(in A: f32[9], out B: f32[9]):
  alloc T: f32[9]
  for i in 0..9:
    block T(vi in 0..9 = i):
      T[vi] = A[vi]
  for i in 0..9:
    block B(vi in 0..9 = i):
      B[vi] = T[vi]
)",
            "T") == "block 'T' reads 'A', which is not proven to reach past the end");
  // The bound of a loop would be read past the end, by the loop or by what follows from it.
  const char* const bounded[] = {"for r in 0..i64(K[i] & 7u8):",
                                 "for j in i..i + 1:\n      for r in 0..i64(K[j] & 7u8):"};
  for (const std::string loops : bounded) {
    const std::string indent(loops.find('\n') == loops.npos ? 6 : 8, ' ');
    CHECK(why("program p(in K: u8[6], in X: i32[64], out Y: i32[6]):\n  alloc T: i32[6]\n"
              "  for i in 0..6:\n    " +
                  loops + "\n" + indent +
                  "block T(v in 0..6 = i, reduce w in 0..16 = r) reduce sum init:\n" + indent +
                  "  T[v] sum= X[v * 8 + w]\n  for i in 0..6:\n    block Y(v in 0..6 = i):\n"
                  "      Y[v] = T[v]\n",
              "T") == "past its end there is nothing to read the bound of a loop below from");
  }
  // Elements past the end of a part are those of another.
  CHECK(why(R"(program p(out B: f32[10]):
  alloc T: f32[10]
  for i in 0..5:
    block T(vi in 0..5 = i):
      T[vi] = 1.0
  for i in 0..5:
    block U(vi in 0..5 = i):
      T[vi + 5] = 2.0
  for i in 0..10:
    block B(vi in 0..10 = i):
      B[vi] = T[vi]
)",
            "T") == "others write what block 'T' writes");
  CHECK(why(R"(program p(out B: f32[5]):
  alloc T: f32[10]
  for i in 0..5:
    block T(vi in 0..5 = i):
      T[vi] = 1.0
  for i in 0..5:
    block B(vi in 0..5 = i):
      B[vi] = T[vi]
)",
            "T") ==
        "what block 'T' stores past its end in buffer 'T' is not proven to lie past the end of one "
        "of its dimensions");
  CHECK(why(R"(program p(out B: f32[5]):
  alloc T: f32[5]
  for i in 0..5:
    T[i] = 1.0
  for i in 0..5:
    block B(vi in 0..5 = i):
      B[vi] = T[vi]
)",
            "B") ==
        "block 'B' stores to buffer 'B', which is a parameter and has no room past its end");
  CHECK(why(R"(program p(out B: f32[5]):
  alloc T: f32[5]
  for i in 0..5:
    block T(vi in 0..5 = 4 - i):
      T[vi] = 1.0
  for i in 0..5:
    block B(vi in 0..5 = i):
      B[vi] = T[vi]
)",
            "T") == "block 'T' has no iterator that is this loop, over all of its domain");
  CHECK(why(R"(program p(out B: f32[5]):
  alloc T: f32[5]
  alloc U: f32[8]
  for i in 0..5:
    block U(vi in 0..5 = i):
      U[vi] = 1.0
  for i in 0..5:
    block T(vi in 0..5 = i):
      T[vi] = U[vi]
  for i in 0..5:
    block B(vi in 0..5 = i):
      B[vi] = T[vi]
)",
            "T") == "block 'T' reads 'U' past the end, where nothing was stored");
  CHECK(why(R"(program p(out B: f32[5]):
  alloc T: f32[5]
  for i in 0..5:
    block T(vi in 0..5 = i) where vi < 4:
      T[vi] = 1.0
  for i in 0..4:
    block B(vi in 0..4 = i):
      B[vi] = T[vi]
)",
            "T") == "block 'T' has a predicate or a guard");
}

TEST_CASE("round_up: what is past an end is nowhere seen, whatever steps follow") {
  Chain k{lt::Expr<std::int64_t>(13)};
  lt::Schedule start(k.C), s = start;
  round_up(s, k.P, 8);
  auto [io, ii] = round_up(s, k.Q, 8);
  auto with = [&](auto step) {
    lt::Schedule t = s;
    step(t);
    check_lowered(start, t);
  };
  with([&](lt::Schedule& t) { t.cache_write(k.Q, lt::Scope::local); });
  with([&](lt::Schedule& t) { t.cache_read(k.C, "Q", lt::Scope::local); });
  with([&](lt::Schedule& t) { t.cache_read(k.Q, "P", lt::Scope::local); });
  with([&](lt::Schedule& t) { t.compute_inline(k.P); });
  with([&](lt::Schedule& t) { t.compute_inline(k.Q); });
  with([&, io = io](lt::Schedule& t) { t.compute_at(k.P, io); });
  with([&, ii = ii, io = io](lt::Schedule& t) { t.compute_at(k.P, ii), t.parallel(io); });
  with([&](lt::Schedule& t) {
    auto [x] = t.loops<1>(k.C);
    auto [xo, xi] = t.split(x, {lt::infer, 4});
    t.compute_at(k.Q, xo);
    t.compute_at(k.P, xo);
  });
  with([&, io = io](lt::Schedule& t) { t.merge(t.loops(k.P)[0], io); });
  with([&](lt::Schedule& t) {
    t.transform_layout("P", [](lt::Index a) { return lt::layout(a % 4, a / 4); });
  });
  with([&, ii = ii, io = io](lt::Schedule& t) { t.fuse(io, ii); });
  with([&](lt::Schedule& t) { t.set_scope("Q", lt::Scope::local); });
  with([&](lt::Schedule& t) { t.reverse_compute_inline(k.Q); });

  // Two blocks in one loop, of which one reads the other.
  lt::Schedule both = start;
  lt::LoopRef i = both.merge(both.loops(k.P)[0], both.loops(k.Q)[0]);
  both.split(i, {lt::infer, 8}, lt::Tail::round_up);
  CHECK(both.str().find("alloc P: f32[16]") != std::string::npos);
  check_lowered(start, both);
}
