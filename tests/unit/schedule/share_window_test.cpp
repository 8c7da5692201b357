// share_window: partial results that the windows of a reduction share.
#include <support/errors.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using test::check_kept;
using test::error_of;

namespace {

/// Y[i, j] = sum over a, b of term(X at (i + a - 1, j + step * b - 2), b).
template <class Term>
lt::Tensor<std::int32_t, 2> boxes(lt::Extent h, lt::Extent w, std::int64_t step, Term term) {
  lt::Input<std::int32_t, 2> X("X", {h, w});
  lt::Reduce a("a", 3), b("b", 5);
  return lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::sum(term(lt::clamp(X)(i + a - 1, j + step * b - 2), b), {a, b});
  });
}
const auto alone = [](const auto& x, const auto&) { return x * x; };

std::string refusal(const lt::AnyTensor& Y, std::size_t loop) {
  lt::Schedule s(Y);
  const lt::Program before = s.program();
  const std::string text = error_of([&] { s.share_window(s.loops(Y)[loop]); });
  CHECK(s.program() == before);
  return text;
}

}  // namespace

TEST_CASE("share_window: along each loop, by steps of any sign, and empty images") {
  for (const std::int64_t step : {1, 2, -1, -3})
    for (const std::size_t loop : {2u, 3u}) {
      lt::Dim h("h"), w("w", {.min = std::abs(step) - 1});
      if (loop == 3 && std::abs(step) > 1) {
        CHECK(refusal(boxes(h, w, step, alone), loop)
                  .starts_with("L0268 share_window: block 'Y' has places between its windows"));
        w = lt::Dim("w", {.min = std::abs(step)});
      }
      const auto Y = boxes(h, w, step, alone);
      lt::Schedule start(Y), s = start;
      const lt::BlockRef places = s.share_window(s.loops(Y)[loop]);
      CHECK(s.loops(places).size() == 3);
      CHECK(s.loops(Y).size() == 3);
      for (const std::int64_t rows : {0, 1, 4})
        for (const std::int64_t columns : {0, 1, 3, 9})
          if (columns >= std::abs(step) || (columns == 0 && std::abs(step) == 1))
            check_kept(start, s, {{"h", rows}, {"w", columns}});
    }
}

TEST_CASE("share_window: both loops of a window of three, under a loop of the results") {
  lt::Input<std::uint8_t, 3> X("X", {5, 8, 9});
  lt::Reduce a("a", 3), b("b", 4), c("c", 5);
  auto Y = lt::compute("Y", {3, 5, 5}, [&](lt::Var i, lt::Var j, lt::Var k) {
    return lt::reduce_max(X(i + a, j + b, k + c), {a, b, c});
  });
  lt::Schedule start(Y), s = start;
  const auto loops = s.loops<6>(Y);
  const lt::BlockRef columns = s.share_window(loops[5]);
  const lt::BlockRef rows = s.share_window(s.loops(columns)[4]);
  CHECK(s.str().find("Y_window_window[vi, vj, vk] max= X[vi + va, vj, vk]") != std::string::npos);
  s.compute_at(columns, loops[0]);
  s.compute_at(rows, loops[0]);
  check_kept(start, s);
}

TEST_CASE("share_window: several results, in their order") {
  using I = lt::Expr<std::int32_t>;
  using Pair = std::tuple<I, I>;
  for (const bool commutative : {true, false}) {
    lt::Input<std::int32_t, 2> X("X", {6, 8});
    lt::Reduce a("a", 2), b("b", 3);
    auto product = lt::reducer(
        "product", Pair{1, 0},
        [](Pair p, Pair q) {
          return Pair{std::get<0>(p) * std::get<0>(q) - std::get<1>(p) * std::get<1>(q),
                      std::get<0>(p) * std::get<1>(q) + std::get<1>(p) * std::get<0>(q)};
        },
        {.associative = true, .commutative = commutative});
    auto Y = lt::compute("Y", {5, 6}, [&](lt::Var i, lt::Var j) {
      return product(Pair{X(i + a, j + b), X(i + a, j + b) + 1}, a, b);
    });
    lt::Schedule start(lt::outputs(Y.get<0>(), Y.get<1>())), s = start;
    const auto loops = s.loops<4>(s.blocks()[0]);
    if (!commutative)
      CHECK(error_of([&] { s.share_window(loops[3]); }).starts_with("L0268 share_window: reducer"));
    s.share_window(loops[commutative ? 3 : 2]);
    check_kept(start, s);
  }
}

TEST_CASE("share_window: sums of floats are listed, and refused by strict") {
  lt::Input<float, 2> X("X", {6, 8});
  lt::Reduce a("a", 2), b("b", 3);
  auto Y = lt::compute("Y", {5, 6}, [&](lt::Var i, lt::Var j) {
    return lt::sum(X(i + a, j + b), {a, b});
  });
  lt::Schedule s(Y);
  s.share_window(s.loops(Y)[3]);
  CHECK(s.numerics() ==
        std::vector<std::string>{"share_window: 'Y' sums partial results over 'b'"});
  lt::Schedule strict(Y, {.strict = true});
  CHECK(error_of([&] { strict.share_window(strict.loops(Y)[3]); }).starts_with("L0226"));
}

TEST_CASE("share_window: refusals") {
  const auto weighted = [](const auto& x, const auto& b) { return x * lt::cast<std::int32_t>(b); };
  CHECK(refusal(boxes(6, 8, 1, weighted), 3) ==
        "L0268 share_window: block 'Y' computes no term from the sum of one loop's iterator and "
        "multiples of 'vb' alone");
  CHECK(refusal(boxes(6, 8, 1, alone), 1).starts_with("L0268 share_window: loop 'j'"));

  lt::Input<std::int32_t, 1> X("X", {20});
  lt::Reduce r("r", 4), q("q", 3);
  auto row = lt::compute("Y", {17}, [&](lt::Var i) { return lt::sum(X(i + r), r); });
  CHECK(
      refusal(row, 1) ==
      "L0268 share_window: block 'Y' sums over loop 'r'(4) alone: places have no partial results");
  // Results whose windows do not begin at each place.
  auto pool = lt::compute("Y", {7}, [&](lt::Var i) { return lt::sum(X(2 * i + r + q), {r, q}); });
  CHECK(refusal(pool, 1).starts_with("L0268 share_window: block 'Y' computes no term"));
  // Places between the windows of few results are read by nobody.
  auto gaps = lt::compute("Y", {1}, [&](lt::Var i) {
    return lt::sum(X(lt::floormod(i + 2 * r, lt::Expr<std::int64_t>(2)) * 19 + q), {r, q});
  });
  CHECK(refusal(gaps, 1).starts_with("L0268"));

  // Quotients and places that no integer holds.
  for (const std::int64_t sign : {1, -1}) {
    auto far = lt::compute("Y", {4, 64}, [&](lt::Var i, lt::Var j) {
      return lt::sum(lt::clamp(X)(j * sign + q * INT64_MIN + i), {r, q});
    });
    CHECK(refusal(far, 3).starts_with("L0268"));
  }
  lt::Schedule ragged(
      lt::parse("program Y(in X: u8[9], out Y: u8[9, 9]):\n"
                "  for i in 0..9:\n    for j in 0..9:\n      for a in 0..2:\n"
                "        for b in 0..j + 1:\n"
                "          block Y(vi in 0..9 = i, vj in 0..9 = j, reduce va in 0..2 = a, "
                "reduce vb in 0..9 = b) reduce max init:\n"
                "            Y[vi, vj] max= X[min(vi + va, 8)]\n"));
  CHECK(error_of([&] { ragged.share_window(ragged.loops("Y")[2]); }).starts_with("L0268"));
  lt::Schedule split(boxes(6, 8, 1, alone));
  split.split(split.loops("Y")[3], {2, lt::infer});
  CHECK(error_of([&] {
          split.share_window(split.loops("Y").back());
        }).starts_with("L0268 share_window: block 'Y' has"));
}
