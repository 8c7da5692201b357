// rolling_buffer: windows at random keep what a program computes.
#include <support/random.hpp>
#include <support/sanitized.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

namespace lt = lathe;
using namespace test;

namespace {

/// Windows, steps, tiles and places at random; gives whether rows were kept.
bool roll_at_random(test::Random& random) {
  const int step = random.pick(std::vector<int>{1, 1, 2, 3}), far = random.below(4),
            side = random.below(3);
  const std::int64_t n = 1 + random.below(9), m = random.pick(std::vector<int>{1, 4, 5});
  const bool down = random.below(3) == 0;
  lt::Input<float, 2> A("A", {n * step + 4, m + 3});
  auto P =
      lt::compute("P", {n * step + 4, m + 3}, [&](lt::Var y, lt::Var x) { return A(y, x) * 2.0f; });
  auto C = lt::compute("C", {n, m}, [&](lt::Var y, lt::Var x) {
    auto at = [&](int row, int column) {
      return down ? P((n - 1 - y) * step + row, x + column) : P(y * step + row, x + column);
    };
    return at(0, side) - at(far, 0) * 3.0f + at(far / 2, 1);
  });
  lt::Schedule start(C), s = start;
  auto any = [&](const auto& block) {
    auto loops = s.loops(block);
    return loops[static_cast<std::size_t>(random.below(static_cast<int>(loops.size())))];
  };
  auto attempt = [](auto&& take) {
    try {
      take();
      return true;
    } catch (const lt::UserError&) {
      return false;
    }
  };
  for (int k = random.below(3); k > 0; --k)
    attempt([&] { s.split(any(C), {lt::infer, random.pick(std::vector<int>{2, 3, 4})}); });
  attempt([&] { s.reorder({any(C), any(C)}); });
  attempt([&] { s.compute_at(P, any(C)); });
  bool kept = false;
  for (const auto& loop : s.loops(P)) kept = kept || attempt([&] { s.rolling_buffer(P, loop); });
  for (int k = 0; k < 2; ++k) attempt([&] { s.parallel(any(C)); });
  attempt([&] { s.split(any(P), {lt::infer, 2}); });
  attempt([&] { s.vectorize(any(random.below(2) ? P : C)); });
  INFO(s.str(), s.trace().str());
  const auto expected = run(start.program());
  Lowering lowering(s.program());
  for (const char* pass : {"roll_buffers", "compact_buffers", "hoist_guards", "simplify_flat"}) {
    const lt::Program lowered = lowering.until(pass);
    REQUIRE(run(lowered, {}, std::string(pass) != "simplify_flat") == expected);
    if (std::string(pass) == "roll_buffers") REQUIRE(run(backwards(lowered)) == expected);
  }
  return kept;
}

}  // namespace

TEST_CASE("rolling_buffer: windows at random") {
  const int all_rounds = rounds(200);
  int kept = 0;
  for (int seed = 0; seed < all_rounds; ++seed) {
    test::Random random(static_cast<std::uint64_t>(seed));
    INFO(seed);
    kept += roll_at_random(random);
  }
  CHECK(kept >= all_rounds / 5);
}
