// Columns fewer than the lanes of a vector, folded over rows.
#include <support/text.hpp>

#include "checked_plan.hpp"

using namespace test;

namespace {

lt::Schedule planned(const lt::Program& program, int cores = 1) {
  return checked_plan(program, {.cores = cores});
}

/// Sums over the places of images with few channels, which lie side by side.
lt::Program channel_sums(int images, int places, int channels) {
  lt::Input<std::int32_t, 4> X("X", {images, places, 5, channels});
  lt::Reduce p("p", places), q("q", 5);
  return lt::program_of(lt::compute("Y", {images, channels}, [&](lt::Var n, lt::Var c) {
    return lt::sum(X(n, p, q, c), {p, q});
  }));
}

}  // namespace

TEST_CASE("rows of few columns fill whole vectors, whose places have results of their own") {
  // Four vectors at least: 16 rows of three columns are six of AVX2.
  CHECK(has(planned(channel_sums(1, 40, 3)).str(), "Y_part: i32[16, 1, 3] scope register"));
  CHECK(has(planned(channel_sums(3, 40, 3)).str(), "Y_part: i32[16, 3, 3] scope register"));
  CHECK(has(planned(channel_sums(1, 40, 4)).str(), "Y_part: i32[8, 1, 4] scope register"));
  CHECK(has(planned(channel_sums(1, 41, 7)).str(), "Y_part: i32[8, 1, 7] scope register"));
  for (int columns : {2, 5, 6}) planned(channel_sums(2, 43, columns));
  CHECK_FALSE(has(planned(channel_sums(1, 40, 8)).str(), "Y_part"));  // a vector is a row
  CHECK_FALSE(has(planned(channel_sums(1, 3, 3)).str(), "Y_part"));   // 15 rows
  planned(channel_sums(1, 20000, 3), 4);
  planned(channel_sums(2, 40, 0));

  lt::Dim n("n");
  lt::Input<float, 2> X("X", {n, 3}), W("W", {n, 2});
  lt::Reduce r("r", n);
  const auto largest =
      lt::program_of(lt::compute("Y", {3}, [&](lt::Var c) { return lt::reduce_max(X(r, c), r); }));
  CHECK(has(lt::default_schedule(largest, lt::Target("x86-64-v3")).str(),
            "Y_part: f32[16, 3] scope register"));
  // Another operand has no three columns.
  const auto weighted = lt::program_of(
      lt::compute("Y", {3}, [&](lt::Var c) { return lt::sum(X(r, c) * W(r, 0), r); }));
  CHECK_FALSE(has(lt::default_schedule(weighted, lt::Target("x86-64-v3")).str(), "Y_part"));
}

TEST_CASE("a column alone folds along its rows") {
  CHECK(has(planned(channel_sums(1, 40, 1)).str(), "Y_lanes"));
}

TEST_CASE("sums of columns stay in vectors beside a value that all columns share") {
  lt::Input<std::int32_t, 3> X("X", {8, 100, 64});
  lt::Input<std::int32_t, 1> W("W", {8});
  lt::Reduce p("p", 100);
  auto S = lt::compute("S", {8, 64}, [&](lt::Var z, lt::Var j) { return lt::sum(X(z, p, j), p); });
  auto Y = lt::compute("Y", {8, 64}, [&](lt::Var z, lt::Var j) { return S(z, j) * W(z); });
  const std::string text = planned(lt::program_of(Y)).str();
  INFO(text);
  CHECK_FALSE(has(text, "S_lanes"));
  CHECK(has(text, "vectorized for j_1"));
}
