// Reductions in lanes that a tree folds.
#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

TEST_CASE("fold_lanes: the form of the program") {
  RowSum k(3, 16);
  lt::Schedule s(k.S);
  auto [i, r] = s.loops<2>(k.S);
  lt::BlockRef part = s.fold_lanes(r, 8);
  CHECK(part.name() == "S_lanes");
  CHECK(s.str() == R"(program S(in X: f32[3, 16], out S: f32[3]) scheduled:
  alloc S_part: f32[3, 8] scope register
  alloc S_part_1: f32[3, 4] scope register
  alloc S_part_2: f32[3, 2] scope register
  for i in 0..3:
    for ro in 0..2:
      vectorized for ri in 0..8:
        block S_lanes(vi in 0..3 = i, vri in 0..8 = ri, reduce vro in 0..2 = ro) reduce sum init:
          S_part[vi, vri] sum= X[vi, vro * 8 + vri]
    vectorized for ri in 0..4:
      block S_fold4(vi in 0..3 = i, vri in 0..4 = ri):
        S_part_1[vi, vri] = S_part[vi, vri] + S_part[vi, vri + 4]
    vectorized for ri in 0..2:
      block S_fold2(vi in 0..3 = i, vri in 0..2 = ri):
        S_part_2[vi, vri] = S_part_1[vi, vri] + S_part_1[vi, vri + 2]
    for ri in 0..2:
      block S(vi in 0..3 = i, reduce vri in 0..2 = ri) reduce sum init:
        S[vi] sum= S_part_2[vi, vri]
)");
  CHECK(s.numerics() == std::vector<std::string>{"fold_lanes: 'S' sums partial results over 'r'"});
  CHECK(s.trace().str().find("fold_lanes(l0, 8)") != std::string::npos);
  CHECK(s.trace().cpp().find("s.fold_lanes(l0, 8);") != std::string::npos);
  CHECK(s.loops(part)[0] == i);
}

TEST_CASE("fold_lanes: rows of each length to beyond three times the lanes, with each tail") {
  for (lt::Tail tail : {lt::Tail::peel, lt::Tail::guard, lt::Tail::mask})
    for (int lanes : {2, 4})
      for (std::int64_t depth = 0; depth <= 3 * lanes + 1; ++depth) {
        RowSum k(3, depth);
        lt::Schedule start(k.S), s = start;
        s.fold_lanes(s.loops(k.S)[1], lanes, tail);
        check_lowered(start, s);
      }
  RowSum k(3, 100);
  lt::Schedule start(k.S), s = start;
  s.fold_lanes(s.loops(k.S)[1], 64);
  check_lowered(start, s);
}

TEST_CASE("fold_lanes: no row, a symbolic number of rows and columns") {
  RowSum none(0, 9);
  lt::Schedule start(none.S), s = start;
  s.fold_lanes(s.loops(none.S)[1], 4);
  check_lowered(start, s);
  lt::Dim m("m"), n("n");
  RowSum k(m, n);
  lt::Schedule symbolic(k.S), t = symbolic;
  t.fold_lanes(t.loops(k.S)[1], 8);
  for (std::int64_t columns : {0, 1, 7, 8, 9, 24, 25})
    check_lowered(symbolic, t, {{"m", 3}, {"n", columns}});
}

TEST_CASE("fold_lanes: one result, rows in turn inside of the fold, several loops of a reduction") {
  lt::Input<float, 3> X("X", {5, 3, 10});
  lt::Reduce p("p", 3), q("q", 10);
  auto all = lt::compute("all", {}, [&] { return lt::sum(X(1, p, q), {p, q}); });
  lt::Schedule start(all), s = start;
  auto [lp, lq] = s.loops<2>(all);
  lt::BlockRef part = s.fold_lanes(lq, 4);
  // The other loop of the reduction stays.
  CHECK(s.loops(part)[0] == lp);
  check_lowered(start, s);

  auto rows = lt::compute("rows", {5}, [&](lt::Var i) { return lt::sum(X(i, p, q), {p, q}); });
  lt::Schedule begin(rows), t = begin;
  auto [i, rp, rq] = t.loops<3>(rows);
  auto [io, ii] = t.split<2>(i, {lt::infer, 2});
  t.reorder({io, rp, rq, ii});
  part = t.fold_lanes(rq, 8);
  CHECK(t.loops(part).size() == 5);
  CHECK(t.loops(part)[0] == io);
  check_lowered(begin, t);
  t.parallel(io);
  check_lowered(begin, t);
}

TEST_CASE("fold_lanes: several results, ties, integers") {
  lt::Input<float, 2> X("X", {3, 21});
  lt::Input<std::int32_t, 2> I("I", {3, 21});
  lt::Reduce r("r", 21), q("q", 21), u("u", 21);
  auto best = lt::compute("best", {3}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  lt::Schedule start(lt::outputs(best.get<0>(), best.get<1>())), s = start;
  s.fold_lanes(s.loops("best")[1], 8);
  CHECK(s.numerics().empty());
  check_lowered(start, s);
  auto prod = lt::compute("prod", {3}, [&](lt::Var i) { return lt::prod(I(i, q), q); });
  lt::Schedule exact(prod, {.strict = true}), t = exact;
  t.fold_lanes(t.loops(prod)[1], 4);
  CHECK(t.numerics().empty());
  check_lowered(exact, t);
}

TEST_CASE("fold_lanes: results of different ranks") {
  const lt::Schedule start = doubled_argmax();
  lt::Schedule s = start;
  s.transform_layout("best_0", [](lt::Index i) { return lt::layout(i / 2, i % 2); });
  s.fold_lanes(s.loops("best")[1], 4);
  check_lowered(start, s);
}

namespace {

using I = lt::Expr<std::int32_t>;

/// Products of complex numbers of integers, in any order, or of matrices of 2 x 2, in theirs.
template <class Factor, class Product>
lt::Schedule products(Factor identity, Product product, bool commutative, std::int64_t n) {
  lt::Input<std::int32_t, 2> X("X", {2, n});
  lt::Reduce r("r", n);
  auto join =
      lt::reducer("join", identity, product, {.associative = true, .commutative = commutative});
  auto P = lt::compute("P", {2}, [&](lt::Var i) {
    const I x = X(i, r);
    if constexpr (std::tuple_size_v<Factor> == 2)
      return join(Factor{x, x + 1}, r);
    else
      return join(Factor{x, x + 1, x - 2, x * 3}, r);
  });
  if constexpr (std::tuple_size_v<Factor> == 2)
    return lt::Schedule(lt::outputs(P.template get<0>(), P.template get<1>()));
  else
    return lt::Schedule(lt::outputs(P.template get<0>(), P.template get<1>(), P.template get<2>(),
                                    P.template get<3>()));
}

}  // namespace

TEST_CASE("fold_lanes: a reducer of one's own, of two results that depend on each other") {
  using Complex = std::tuple<I, I>;
  const auto product = [](Complex a, Complex b) {
    auto [ar, ai] = a;
    auto [br, bi] = b;
    return Complex{ar * br - ai * bi, ar * bi + ai * br};
  };
  for (std::int64_t n = 0; n <= 13; ++n) {
    lt::Schedule start = products(Complex{1, 0}, product, true, n), s = start;
    s.fold_lanes(s.loops("P")[1], 4);
    CHECK(s.numerics().empty());
    check_lowered(start, s);
  }
}

TEST_CASE("fold_lanes: products of matrices keep their order, in pieces that follow each other") {
  using Matrix = std::tuple<I, I, I, I>;
  const auto product = [](Matrix a, Matrix b) {
    auto [a0, a1, a2, a3] = a;
    auto [b0, b1, b2, b3] = b;
    return Matrix{a0 * b0 + a1 * b2, a0 * b1 + a1 * b3, a2 * b0 + a3 * b2, a2 * b1 + a3 * b3};
  };
  for (std::int64_t n = 1; n <= 13; ++n) {
    lt::Schedule start = products(Matrix{1, 0, 0, 1}, product, false, n), s = start;
    const lt::LoopRef r = s.loops("P")[1];
    CHECK(refused_line(s, [&](lt::Schedule& t) { t.fold_lanes(r, 4); }) ==
          "error[L0260] fold_lanes: lanes take every 4th term, but reducer 'join' of 'P' is not "
          "commutative");
    auto [piece, term] = s.split<2>(r, {4, lt::infer});
    s.rfactor(piece, -1);
    check_lowered(start, s);
  }
}

TEST_CASE("fold_lanes: halves that join are partial results to who reads the text") {
  lt::Input<float, 2> X("X", {3, 21});
  lt::Reduce r("r", 21);
  auto w = lt::compute("w", {3}, [&](lt::Var i) { return lt::welford(X(i, r), r); });
  lt::Schedule s(lt::outputs(w.get<0>(), w.get<1>(), w.get<2>()));
  s.fold_lanes(s.loops("w")[1], 4);
  std::string text = s.str();
  CHECK(lt::parse(text).str() == text);
  // Other numbers in their place are what no fold gives.
  const std::string joined = "w_0_part_1[vi, vri] = ";
  const std::size_t at = text.find(joined);
  REQUIRE(at != std::string::npos);
  text.insert(at + joined.size(), "0.5 - ");
  CHECK_THROWS_AS(lt::parse(text), lt::UserError);
}

TEST_CASE("fold_lanes: refusals") {
  RowSum k(3, 9);
  lt::Schedule s(k.S);
  const lt::LoopRef i = s.loops(k.S)[0], r = s.loops(k.S)[1];
  CHECK(refused(s, [&](lt::Schedule& t) { t.fold_lanes(r, 12); }) ==
        R"(error[L0260] fold_lanes: the number of lanes is 12, which is no power of 2 from 2 on
  at fold_lanes_test.cpp:#
  loops of 'S': i(3) r:reduce(9)
    for i in 0..3:
      for r in 0..9:
          ^
        block S(vi in 0..3 = i, reduce vr in 0..9 = r) reduce sum init:
          S[vi] sum= X[vi, vr]
  help: take a multiple of a register's lanes, such as 16 or 64)");
  for (int lanes : {-4, 0, 1, 3})
    CHECK(refused_id(s, [&](lt::Schedule& t) { t.fold_lanes(r, lanes); }) == "L0260");
  CHECK(refused_line(s, [&](lt::Schedule& t) { t.fold_lanes(i, 4); }) ==
        "error[L0219] fold_lanes: loop 'i'(3) feeds no reduction");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.fold_lanes(r, 2048); }) == "L0209");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.fold_lanes(r, 1 << 20); }) == "L0203");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.fold_lanes(r, 4, lt::Tail::shift); }) == "L0224");
  lt::Schedule strict(k.S, {.strict = true});
  const lt::LoopRef inner = strict.loops(k.S)[1];
  CHECK(refused_id(strict, [&](lt::Schedule& t) { t.fold_lanes(inner, 4); }) == "L0226");
  // A loop that is lanes already, around those of the fold.
  s.reorder({r, i});
  s.vectorize(i);
  CHECK(refused_line(s, [&](lt::Schedule& t) { t.fold_lanes(r, 4); }) ==
        "error[L0209] fold_lanes: loop 'i'(3, vectorized) around loop 'ri' is vectorized already");
  s = lt::Schedule(k.S);
  const lt::LoopRef whole = s.fuse(s.loops(k.S)[0], s.loops(k.S)[1]);
  // The loop that the step would have made is new: the place is the loop that was given.
  CHECK(refused(s, [&](lt::Schedule& t) { t.fold_lanes(whole, 4); }) ==
        R"(error[L0219] fold_lanes: loop 'i_ro'(7) feeds both spatial and reduce iterators of 'S'
  at fold_lanes_test.cpp:#
  loops of 'S': i_r:reduce(27)
    for i_r in 0..27:
        ^^^
      block S(vi in 0..3 = floordiv(i_r, 9), reduce vr in 0..9 = floormod(i_r, 9)) reduce sum init:
        S[vi] sum= X[vi, vr]
  help: rfactor before fusing)");
  const auto bare = schedule_of(R"(program p(in X: f32[4, 8], out Y: f32[], out Z: f32[4]):
  for q in 0..4:
    Z[q] = 0.0
    for r in 0..8:
      block S(reduce vq in 0..4 = q, reduce vr in 0..8 = r) reduce sum init:
        Y[] sum= X[vq, vr]
)");
  s = bare;
  CHECK(refused_line(s, [&](lt::Schedule& t) { t.fold_lanes(t.loops("S")[1], 4); }) ==
        "error[L0219] fold_lanes: the reduction of 'S' shares loop 'q'(4) with statements in no "
        "block");
}

TEST_CASE("rfactor, fold_lanes: a spatial loop that ends where one of the reduction says") {
  lt::Schedule s = schedule_of(R"(program p(in X: f32[4, 4, 8], out S: f32[4]):
  for q in 0..4:
    for i in 0..q + 1:
      for r in 0..8:
        block S(vi in 0..4 = i, reduce vq in 0..4 = q, reduce vr in 0..8 = r) reduce sum init:
          S[vi] sum= X[vi, vq, vr]
)");
  const lt::LoopRef r = s.loops("S")[2];
  CHECK(refused_line(s, [&](lt::Schedule& t) { t.rfactor(r); }) ==
        "error[L0219] rfactor: the bound of loop 'i'(q + 1) depends on loop 'q'");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.fold_lanes(r, 4); }) == "L0219");
}
