#include <fuzz/random_schedule.hpp>
#include <support/lowering.hpp>
#include <support/random.hpp>
#include <support/sanitized.hpp>

#include "kernels.hpp"

using namespace test;

// The fuzzer's random steps on small programs: whatever a schedule accepts keeps the outputs, bit
// for bit (the data are small integers, so that sums are exact in any order); whatever it refuses
// leaves it as it was.
namespace {

/// Stages of lowering that have to agree as well. Once loops are vectors, a load may fetch lanes
/// that nothing uses and nothing stored.
struct LoweredStage {
  const char* pass;
  bool find_uninitialized;
};
constexpr LoweredStage kLowered[] = {{"lower_blocks", true},
                                     {"compact_buffers", true},
                                     {"hoist_guards", true},
                                     {"unroll", false},
                                     {"simplify_flat", false}};

int accepted_steps(const fuzz::Counts& counts) {
  int all = 0;
  for (const auto& [primitive, outcomes] : counts.by_primitive)
    for (const auto& [outcome, count] : outcomes)
      if (outcome == "accepted") all += count;
  return all;
}

/// Runs random steps, each of which must keep the results; gives how many were accepted.
int random_schedule(const lt::Schedule& start, std::uint64_t seed, const Dims& dims = {}) {
  Random random(seed);
  fuzz::Counts counts;
  const std::vector<std::string> no_focus;
  fuzz::ScheduleMaker maker(random, counts, dims, no_focus);
  lt::Schedule s = start;
  auto expected = run(start.program(), dims);
  const int steps = 1 + random.below(12);
  for (int k = 0; k < steps; ++k) {
    const lt::Program before = s.program();
    INFO("seed " << seed << "\nbefore:\n" << before.str());
    REQUIRE_NOTHROW(maker.step(s));
    if (s.program() == before) continue;
    INFO("after:\n" << s.str() << "\n" << s.trace().str());
    REQUIRE(run(s.program(), dims) == expected);
    REQUIRE(run(backwards(s.program()), dims) == expected);
  }
  for (const auto& [primitive, outcomes] : counts.by_primitive)
    for (const auto& [outcome, count] : outcomes)
      if (outcome != "accepted") check_documented(primitive, outcome);
  lt::Trace trace = lt::parse_trace(s.trace().str());
  INFO("seed " << seed << "\n" << s.trace().str() << s.str());
  Lowering lowering(s.program());
  for (const LoweredStage& stage : kLowered) {
    INFO(stage.pass);
    const lt::Program lowered = lowering.until(stage.pass);
    REQUIRE(run(lowered, dims, stage.find_uninitialized) == expected);
  }
  REQUIRE(lt::structurally_equal(lt::replay(trace, start).program(), s.program()));
  // Drawing the page asks for the footprint of each loop.
  const std::string page = s.html();
  REQUIRE(page.substr(page.size() - 8) == "</html>\n");
  return accepted_steps(counts);
}

// Most steps are refused; with fewer accepted ones the generator would test nothing.
const int all_rounds = rounds(60), least_accepted = 2 * all_rounds;

}  // namespace

TEST_CASE("random schedules: matrix product with an epilogue") {
  int accepted = 0;
  for (int seed = 0; seed < all_rounds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 1000);
    Gemm k(random.pick<std::int64_t>({1, 5, 8, 9}), random.pick<std::int64_t>({1, 4, 7}),
           random.pick<std::int64_t>({0, 1, 3, 6}));
    accepted += random_schedule(lt::Schedule(k.D), static_cast<std::uint64_t>(seed));
  }
  CHECK(accepted >= least_accepted);
}

TEST_CASE("random schedules: symbolic matrix product") {
  lt::Dim m("m"), n("n");
  Gemm k(m, n, 4);
  lt::Schedule start(k.D);
  int accepted = 0;
  for (int seed = 0; seed < all_rounds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 2000);
    accepted += random_schedule(start, static_cast<std::uint64_t>(seed),
                                {{"m", random.pick<std::int64_t>({0, 1, 5, 8})},
                                 {"n", random.pick<std::int64_t>({1, 3, 6})}});
  }
  CHECK(accepted >= least_accepted);
}

TEST_CASE("random schedules: stencils") {
  lt::Input<float, 2> A("A", {9, 13});
  auto P = lt::compute("P", {9, 13}, [&](lt::Var i, lt::Var j) { return A(i, j) * 2.0f; });
  auto Q =
      lt::compute("Q", {8, 11}, [&](lt::Var i, lt::Var j) { return P(i, j) + P(i + 1, j + 2); });
  auto R = lt::compute("R", {4, 11},
                       [&](lt::Var i, lt::Var j) { return Q(2 * i, 10 - j) + Q(2 * i + 1, j); });
  auto S = lt::compute("S", {4, 11}, [&](lt::Var i, lt::Var j) {
    return lt::select(i > 0, R(lt::max(i - 1, 0), j), 0.0f) + Q(i, j / 2);
  });
  lt::Schedule start(S);
  int accepted = 0;
  for (int seed = 0; seed < all_rounds; ++seed)
    accepted += random_schedule(start, static_cast<std::uint64_t>(seed));
  CHECK(accepted >= least_accepted);
}

TEST_CASE("random schedules: normalisation of rows") {
  lt::Input<float, 2> X("X", {5, 7});
  lt::Reduce r("r", 7), q("q", 7);
  auto top = lt::compute("top", {5}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto T = lt::compute("T", {5, 7}, [&](lt::Var i, lt::Var j) { return X(i, j) - top(i); });
  auto sum = lt::compute("sum", {5}, [&](lt::Var i) { return lt::sum(T(i, q), q); });
  auto Y = lt::compute("Y", {5, 7}, [&](lt::Var i, lt::Var j) { return T(i, j) + sum(i); });
  lt::Schedule start(Y);
  int accepted = 0;
  for (int seed = 0; seed < all_rounds; ++seed)
    accepted += random_schedule(start, static_cast<std::uint64_t>(seed));
  CHECK(accepted >= least_accepted);
}

TEST_CASE("random schedules: positions of the largest, and two outputs that share a producer") {
  lt::Input<float, 2> X("X", {6, 9});
  lt::Reduce r("r", 9);
  auto P = lt::compute("P", {6, 9}, [&](lt::Var i, lt::Var j) { return X(i, j) + 1.0f; });
  auto best = lt::compute("best", {6}, [&](lt::Var i) { return lt::argmax(P(i, r), r); });
  auto Z = lt::compute("Z", {9, 6}, [&](lt::Var i, lt::Var j) { return P(j, i) * 2.0f; });
  lt::Schedule start(lt::outputs(Z, best.get<0>(), best.get<1>()));
  int accepted = 0;
  for (int seed = 0; seed < all_rounds; ++seed)
    accepted += random_schedule(start, static_cast<std::uint64_t>(seed));
  CHECK(accepted >= least_accepted);
}
