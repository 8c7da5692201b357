// cache_padded: what a block pads, clamps or converts by the place of a load alone.
#include <support/errors.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using test::check_kept;
using test::error_of;

namespace {

/// Y[i, j] = sum over a, b of X at (i * stride + a * dilation - 1, j + b - 1) times W, zeros
/// around.
lt::Tensor<float, 2> padded(lt::Extent rows, lt::Extent columns, lt::Extent image_rows,
                            std::int64_t stride, std::int64_t dilation) {
  lt::Input<float, 2> X("X", {image_rows, columns}), W("W", {3, 3});
  lt::Reduce a("a", 3), b("b", 3);
  const auto at = lt::pad(X, 0.0f);
  return lt::compute("Y", {rows, columns}, [&](lt::Var i, lt::Var j) {
    return lt::sum(at(i * stride + a * dilation - 1, j + b - 1) * W(a, b), {a, b});
  });
}

std::string copy_of(const lt::Schedule& s) {
  const std::string text = s.str();
  const std::size_t at = text.find("        X_padded[");
  return at == std::string::npos ? "none" : text.substr(at + 8, text.find('\n', at) - at - 8);
}

}  // namespace

TEST_CASE("cache_padded: strides and dilations of a padded convolution") {
  for (const std::int64_t stride : {1, 2, 3})
    for (const std::int64_t dilation : {1, 2}) {
      const auto Y = padded(5, 7, 5 * stride, stride, dilation);
      lt::Schedule start(Y), s = start;
      CHECK(s.cache_padded(Y, "X").tag->name == "X_padded");
      CHECK(copy_of(s) == "X_padded[vi + 1, vj + 1] = select(vi >= 0 && vi < " +
                              std::to_string(5 * stride) +
                              " && (vj >= 0 && vj < 7), X[vi, vj], 0.0)");
      const std::string text = s.str();
      CHECK(text.find("select", text.find("block Y(")) == std::string::npos);
      check_kept(start, s);
    }
}

TEST_CASE("cache_padded: the copy moves to a loop and shrinks to what an iteration reads") {
  const auto Y = padded(12, 9, 12, 1, 1);
  lt::Schedule start(Y), s = start;
  const auto loops = s.loops(Y);
  const auto [io, ii] = s.split(loops[0], {lt::infer, 5});
  const lt::BlockRef copy = s.cache_padded(Y, "X");
  s.compute_at(copy, io);
  check_kept(start, s);
  s.vectorize(s.loops(copy).back());
  s.parallel(io);
  check_kept(start, s);
}

TEST_CASE("cache_padded: clamped places, several of them, and a conversion before the choice") {
  lt::Input<std::uint8_t, 2> X("X", {6, 8});
  const auto near = lt::clamp(X);
  auto C = lt::compute("C", {6, 8}, [&](lt::Var i, lt::Var j) {
    return lt::cast<std::int32_t>(near(i - 1, j)) - lt::cast<std::int32_t>(near(i + 2, j - 3));
  });
  lt::Schedule start(C), s = start;
  s.cache_padded(C, "X");
  CHECK(s.str().find("alloc X_padded: u8[9, 11]") != std::string::npos);
  check_kept(start, s);

  auto Z = lt::compute("Z", {6, 8}, [&](lt::Var i, lt::Var j) {
    return lt::select(lt::in_bounds(X, i - 2, j), lt::cast<float>(X(i - 2, j)), 0.5f);
  });
  lt::Schedule before(Z), converted = before;
  converted.cache_padded(Z, "X");
  CHECK(converted.str().find("alloc X_padded: f32[6, 8]") != std::string::npos);
  check_kept(before, converted);
}

TEST_CASE("cache_padded: a group in the index, a reversed axis and a fixed one") {
  lt::Input<float, 3> X("X", {7, 8, 2});
  const auto at = lt::pad(X, 0.0f);
  lt::Reduce r("r", 4), a("a", 3);
  auto Y = lt::compute("Y", {7, 6}, [&](lt::Var i, lt::Var f) {
    return lt::sum(at(7 - i - a, (f / 3) * 4 + r, 1), {r, a});
  });
  lt::Schedule start(Y), s = start;
  s.cache_padded(Y, "X");
  check_kept(start, s);
}

TEST_CASE("cache_padded: extents of Dims, of 1 and of 0") {
  lt::Dim m("m"), n("n");
  const auto Y = padded(m, n, m, 2, 1);
  lt::Schedule start(Y), s = start;
  s.cache_padded(Y, "X");
  for (std::int64_t rows : {0, 1, 5})
    for (std::int64_t columns : {1, 6}) check_kept(start, s, {{"m", rows}, {"n", columns}});
  for (std::int64_t rows : {0, 1}) {
    const auto fixed = padded(rows, 4, rows, 1, 1);
    lt::Schedule before(fixed), after = before;
    after.cache_padded(fixed, "X");
    check_kept(before, after);
  }
}

// Where the block has an instance its extents are above 0, and what it knew by that is no condition
// of it any more.
TEST_CASE("cache_padded: a border of an image that may have no rows") {
  lt::Dim m("m"), n("n");
  lt::Input<std::uint8_t, 2> X("X", {m, n});
  lt::Reduce a("a", 3), b("b", 3);
  const auto at = lt::clamp(X);
  auto Y = lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::reduce_max(at(i + a - 1, j + b - 1), {a, b});
  });
  lt::Schedule start(Y), s = start;
  s.resolve_selects(Y);
  CHECK(s.str().find("select(") == std::string::npos);
  s.cache_padded(Y, "X");
  CHECK(copy_of(s) ==
        "X_padded[vi + 1, vj + 1] = select(0 < m && 0 < n, "
        "X[max(min(vi, m - 1), 0), max(min(vj, n - 1), 0)], 0u8)");
  for (std::int64_t rows : {0, 1, 5})
    for (std::int64_t columns : {0, 1, 6}) check_kept(start, s, {{"m", rows}, {"n", columns}});
}

TEST_CASE("cache_padded: a domain that another iterator bounds") {
  lt::Schedule start(
      lt::parse("program Y<n>(in X: u8[n, 40], out Y: u8[n, 40]):\n"
                "  for i in 0..n:\n    for j in 0..40:\n      for a in 0..i + 1:\n"
                "        block Y(vi in 0..n = i, vj in 0..40 = j, reduce va in 0..vi + 1 = a) "
                "reduce max init:\n"
                "          Y[vi, vj] max= X[max(min(vi + va - 1, n - 1), 0), "
                "max(min(vj - 1, 39), 0)]\n")),
      s = start;
  s.cache_padded("Y", "X");
  CHECK(copy_of(s).find("select(0 < n, ") != std::string::npos);
  for (const std::int64_t n : {0, 1, 6}) check_kept(start, s, {{"n", n}});
}

TEST_CASE("cache_padded: refusals") {
  lt::Input<float, 2> X("X", {6, 6});
  // What is chosen depends on the row of the result, not on the place.
  auto T = lt::compute("T", {6, 6},
                       [&](lt::Var i, lt::Var j) { return lt::select(j <= i, X(j, 0), 0.0f); });
  lt::Schedule triangle(T);
  const lt::Program before = triangle.program();
  CHECK(error_of([&] { triangle.cache_padded(T, "X"); }) ==
        "L0261 cache_padded: block 'T' reads 'X' in select(vj <= vi, X[vj, 0], 0.0), which its "
        "place alone does not determine");
  CHECK(triangle.program() == before);

  const auto zeros = lt::pad(X, 0.0f), ones = lt::pad(X, 1.0f);
  auto D = lt::compute("D", {6, 6},
                       [&](lt::Var i, lt::Var j) { return zeros(i - 1, j) + ones(i, j + 1); });
  CHECK(error_of([&] {
          lt::Schedule(D).cache_padded(D, "X");
        }).starts_with("L0261 cache_padded: block 'D' pads 'X' in two ways: select("));

  // The block's own condition keeps the load inside; the copy has none.
  lt::Schedule guarded(
      lt::parse("program P(in X: f32[4], out Y: f32[8]):\n"
                "  for i in 0..8:\n"
                "    block Y(v in 0..8 = i) where v >= 4:\n"
                "      Y[v] = X[min(v - 4, 3)]\n"));
  CHECK(error_of([&] { guarded.cache_padded("Y", "X"); }) ==
        "L0261 cache_padded: block 'Y' is not proved to read 'X' inside of it in X[min(vi, 3)]");

  lt::Input<std::int64_t, 1> I("I", {4});
  auto G = lt::compute("G", {4}, [&](lt::Var i) { return lt::clamp(X)(I(i), 0); });
  CHECK(error_of([&] { lt::Schedule(G).cache_padded(G, "X"); }).starts_with("L0261"));
}
