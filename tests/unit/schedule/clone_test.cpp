// clone: some readers of a block get a private copy of what it computes.
#include <lathe/lower/pipeline.hpp>
#include <support/errors.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

namespace lt = lathe;
using namespace test;

namespace {

/// P = X * 2 over n, read by C and by D.
struct Fork {
  lt::Input<float, 1> X;
  lt::Tensor<float, 1> P, C, D;
  explicit Fork(lt::Extent n)
      : X("X", {n}),
        P(lt::compute("P", {n}, [&](lt::Var i) { return X(i) * 2.0f; })),
        C(lt::compute("C", {n}, [&](lt::Var i) { return P(i) + 1.0f; })),
        D(lt::compute("D", {n}, [&](lt::Var i) { return P(i) * P(i); })) {}
  lt::Schedule schedule() const { return lt::Schedule(lt::outputs(C, D)); }
};

std::string why(lt::Schedule& s, const char* block, const std::vector<lt::BlockName>& consumers) {
  return error_of([&] { s.clone(block, consumers); });
}

}  // namespace

TEST_CASE("clone: each reader places its own") {
  Fork k(13);
  const lt::Schedule start = k.schedule();
  lt::Schedule s = start;
  lt::BlockRef copy = s.clone(k.P, {k.D});
  CHECK(s.str() == R"(program C(in X: f32[13], out C: f32[13], out D: f32[13]) scheduled:
  alloc P: f32[13]
  alloc P_clone: f32[13]
  for i in 0..13:
    block P(vi in 0..13 = i):
      P[vi] = X[vi] * 2.0
  for i in 0..13:
    block P_clone(vi in 0..13 = i):
      P_clone[vi] = X[vi] * 2.0
  for i in 0..13:
    block C(vi in 0..13 = i):
      C[vi] = P[vi] + 1.0
  for i in 0..13:
    block D(vi in 0..13 = i):
      D[vi] = P_clone[vi] * P_clone[vi]
)");
  CHECK(copy.name() == "P_clone");
  CHECK(s.numerics().empty());
  check_lowered(start, s);
  CHECK(s.trace().cpp().find("auto b2 = s.clone(b0, {b1});") == std::string::npos);
  s.compute_at(k.P, s.loops(k.C)[0]);
  s.compute_inline(copy);
  check_lowered(start, s);
  CHECK(s.trace().cpp() == R"(auto b0 = s.block("P");
auto b1 = s.block("D");
auto b2 = s.clone(b0, {b1});
auto b3 = s.block("C");
auto [l0] = s.loops<1>(b3);
s.compute_at(b0, l0);
s.compute_inline(b2);
)");
}

TEST_CASE("clone: extents prime, 1, 0 and symbolic; before and after its loops are marked") {
  lt::Dim n("n");
  for (lt::Extent extent : {lt::Extent(7), lt::Extent(1), lt::Extent(0), lt::Extent(n)})
    for (std::int64_t size : {0, 1, 13}) {
      Fork k(extent);
      const lt::Schedule start = k.schedule();
      lt::Schedule s = start;
      auto [io, ii] = s.split<2>(s.loops(k.P)[0], {lt::infer, 4});
      s.vectorize(ii);
      s.parallel(io);
      lt::BlockRef copy = s.clone(k.P, {k.C});
      const auto loops = s.loops(copy);
      CHECK(loops.size() == 2);
      CHECK(!(loops[0] == io));
      CHECK(lt::find_loop(s.program()->body, loops[0].var).loop->loop_kind ==
            lt::ForKind::parallel);
      CHECK(lt::find_loop(s.program()->body, loops[1].var).loop->loop_kind ==
            lt::ForKind::vectorized);
      check_lowered(start, s, {{"n", size}});
    }
}

TEST_CASE("clone: tails that shift") {
  Fork k(13);
  const lt::Schedule start = k.schedule();
  lt::Schedule s = start;
  s.split<2>(s.loops(k.P)[0], {lt::infer, 4}, lt::Tail::shift);
  lt::BlockRef copy = s.clone(k.P, {k.C});
  check_lowered(start, s);
  s.vectorize(s.loops(copy)[1]);
  check_lowered(start, s);
}

TEST_CASE("clone: a reduction, all of it") {
  for (std::int64_t depth : {5, 1, 0}) {
    lt::Input<float, 2> A("A", {6, depth}), B("B", {depth, 7});
    lt::Reduce r("r", depth);
    auto C = lt::compute("C", {6, 7},
                         [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
    auto D = lt::compute("D", {6, 7}, [&](lt::Var i, lt::Var j) { return C(i, j) + 1.0f; });
    auto E = lt::compute("E", {7, 6}, [&](lt::Var i, lt::Var j) { return C(j, i) * 2.0f; });
    const lt::Schedule start(lt::outputs(D, E));
    lt::Schedule s = start;
    lt::BlockRef copy = s.clone(C, {E});
    s.compute_at(C, s.loops(D)[0]);
    s.compute_at(copy, s.loops(E)[1]);
    check_lowered(start, s);
    s.decompose_reduction(copy, s.loops(copy).back());
    check_lowered(start, s);
  }
}

TEST_CASE("clone: several outputs of a block") {
  lt::Input<float, 2> X("X", {5, 7});
  lt::Reduce r("r", 7);
  auto best = lt::compute("best", {5}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  auto value = best.get<0>();
  auto at = best.get<1>();
  auto Y = lt::compute("Y", {5}, [&](lt::Var i) { return value(i) + 1.0f; });
  auto Z = lt::compute("Z", {5}, [&](lt::Var i) { return value(i) * lt::cast<float>(at(i)); });
  const lt::Schedule start(lt::outputs(Y, Z));
  lt::Schedule s = start;
  s.clone(s.block("best"), {Z});
  check_lowered(start, s);
  CHECK(lt::buffers_read(lt::find_block(s.program()->body, Y.tag()).block->body)[0]->name ==
        value.name());
  for (const auto& b : lt::buffers_read(lt::find_block(s.program()->body, Z.tag()).block->body))
    CHECK(b->name.find("_clone") != std::string::npos);
}

TEST_CASE("clone: what writes an output, and what lies inside a loop of others") {
  // Of a parameter: the copy is private.
  lt::Input<float, 1> X("X", {9});
  auto P = lt::compute("P", {9}, [&](lt::Var i) { return X(i) * 2.0f; });
  auto Q = lt::compute("Q", {9}, [&](lt::Var i) { return P(8 - i) + X(i); });
  const lt::Schedule start(lt::outputs(P, Q));
  lt::Schedule s = start;
  s.clone(P, {Q});
  CHECK(s.str().find("alloc P_clone: f32[9]") != std::string::npos);
  check_lowered(start, s);

  // Under a loop that other blocks share, where each iteration has its own tile.
  lt::Input<float, 1> A("A", {18});
  auto S = lt::compute("S", {18}, [&](lt::Var i) { return A(i) + 1.0f; });
  auto T = lt::compute("T", {16}, [&](lt::Var i) { return S(i) + S(i + 2); });
  auto U = lt::compute("U", {16}, [&](lt::Var i) { return S(i + 1) * T(i); });
  const lt::Schedule whole(U);
  lt::Schedule tiled = whole;
  auto [io, ii] = tiled.split<2>(tiled.loops(U)[0], {lt::infer, 5});
  tiled.compute_at(T, io);
  tiled.compute_at(S, io);
  lt::BlockRef copy = tiled.clone(S, {T});
  CHECK(tiled.loops(copy)[0] == io);
  check_lowered(whole, tiled);
  tiled.compute_at(copy, tiled.loops(T)[1]);
  tiled.parallel(io);
  check_lowered(whole, tiled);
}

TEST_CASE("clone: what an output may leave to the caller") {
  const char* text = R"(program P(in X: f32[8], inout T: f32[9], out Y: f32[9]):
  for i in 0..8:
    block T(v in 0..8 = i):
      T[v] = X[v] + 1.0
  for x in 0..9:
    block Y(v in 0..9 = x):
      Y[v] = T[v]
)";
  lt::Schedule s(lt::parse(text));
  CHECK(why(s, "T", {"Y"}) ==
        "L0250 clone: block 'T' may leave out what block 'Y' reads of 'T': not all elements of 'T' "
        "that are read are surely written before");
  std::string less = text;
  for (std::size_t at; (at = less.find("0..9")) != std::string::npos;) less.replace(at, 4, "0..8");
  const lt::Schedule start(lt::parse(less));
  lt::Schedule t = start;
  t.clone("T", {"Y"});
  check_lowered(start, t);
}

TEST_CASE("clone: refusals") {
  Fork k(8);
  lt::Schedule s = k.schedule();
  CHECK(refused(s, [&](lt::Schedule& t) { t.clone(k.C, {k.D}); }) ==
        R"(error[L0250] clone: block 'C' is not read by block 'D'
  at clone_test.cpp:#
  loops of 'C': i(8)
    for i in 0..8:
      block C(vi in 0..8 = i):
            ^
        C[vi] = P[vi] + 1.0
  help: nothing reads it)");
  CHECK(refused(s, [&](lt::Schedule& t) { t.clone(k.P, {k.P}); }) ==
        R"(error[L0250] clone: block 'P' is not read by block 'P'
  at clone_test.cpp:#
  loops of 'P': i(8)
    for i in 0..8:
      block P(vi in 0..8 = i):
            ^
        P[vi] = X[vi] * 2.0
  help: its readers: 'C', 'D')");
  CHECK(why(s, "P", {}) == "L0250 clone: block 'P' is to be cloned for nobody");
  CHECK(why(s, "P", {"C", "C"}) == "L0202 clone: block 'C' is named twice");
  CHECK(why(s, "P", {"C", "D"}) ==
        "L0250 clone: block 'P' has no other readers than those named: they have it to themselves");
  CHECK(why(s, "P", {"Q"}) == "L0201 clone: no block is called 'Q'");

  RowSum sum(4, 6);
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return sum.S(i) + 1.0f; });
  lt::Schedule apart(lt::outputs(sum.S, Y));
  apart.decompose_reduction(sum.S, apart.loops(sum.S)[1]);
  CHECK(why(apart, "S", {"Y"}) == "L0250 clone: block 'S' was separated from its init");
  CHECK(why(apart, "S_init", {"Y"}) ==
        "L0250 clone: block 'S_init' is not the only writer of its output");

  auto of = [](const std::string& text) { return lt::Schedule(lt::parse(text)); };
  lt::Schedule scan = of(R"(program P(in X: f32[8], out Y: f32[8], out Z: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = X[v] + select(v > 0, Y[v - 1], 0.0)
  for i in 0..8:
    block Z(v in 0..8 = i):
      Z[v] = Y[v]
)");
  CHECK(why(scan, "Y", {"Z"}) == "L0250 clone: block 'Y' can't be cloned: it reads what it writes");
  lt::Schedule whole = of(R"(program P(in X: f32[8], out Y: f32[8], out Z: f32[8], out W: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = X[v]
  for i in 0..8:
    block Z(opaque v in 0..8 = i) reads Y[0..8] writes Z[0..8]:
      Z[v] = Y[v]
  for i in 0..8:
    block W(v in 0..8 = i):
      W[v] = Y[v]
)");
  CHECK(why(whole, "Y", {"Z"}) ==
        "L0250 clone: block 'Y' is read by block 'Z' as a whole, not by loads");
  lt::Schedule next = of(R"(program P(in X: f32[8], out Y: f32[8], out Z: f32[8]):
  for i in 0..8:
    block Z(v in 0..8 = i):
      Z[v] = select(v > 0, Y[v - 1], 0.0)
    block Y(v in 0..8 = i):
      Y[v] = X[v]
)");
  CHECK(why(next, "Y", {"Z"}) ==
        "L0250 clone: block 'Y' comes after block 'Z', which reads what earlier iterations wrote");
  lt::Schedule held = of(R"(program P(in X: f32[8], out Y: f32[8], out Z: f32[8]):
  for i in 0..8:
    if X[i] > 0.0:
      block Y(v in 0..8 = i):
        Y[v] = X[v]
  for i in 0..8:
    block Z(v in 0..8 = i):
      Z[v] = X[v]
  for i in 0..8:
    if X[i] > 0.0:
      block W(v in 0..8 = i):
        Z[v] = Z[v] + 1.0
)");
  CHECK(why(held, "Y", {"Z"}) ==
        "L0250 clone: block 'Y' stands under a condition or inside another block");
  lt::Schedule under = of(R"(program P(in X: f32[8], out Y: f32[8], out Z: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = X[v]
  for i in 0..8:
    if X[i] > 0.0:
      block Z(v in 0..8 = i):
        Z[v] = Y[v]
)");
  CHECK(why(under, "Y", {"Z"}) ==
        "L0250 clone: block 'Y' is read by block 'Z', which stands under a condition or inside "
        "another block");
}
