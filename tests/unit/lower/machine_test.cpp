// The last passes: masks by counting, masks of arms, guards of operators. What they write means the
// same, and is what Stage::machine allows on the target.
#include <cmath>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/pipeline.hpp>

#include "../codegen/against.hpp"
#include "support/golden.hpp"

using namespace lathe;
using namespace test;

namespace {

Program flat(const std::string& params, const std::string& body) {
  return parse("program k<n>(" + params + ") stage flat:\n" + body);
}

std::vector<Target> targets() {
  return {Target("x86-64"), Target("x86-64-v3"), Target("x86-64-v4")};
}

/// Tails of 8 lanes under lazy choices, and reads through an index.
Program choices() {
  return flat("in X: f32[n + 64], in I: i64[64], out Y: f32[64]",
              "  for i in 0..8:\n"
              "    Y[ramp(i * 8, 1, 8) where ramp(i * 8, 1, 8) < broadcast(n, 8)] = "
              "select(ramp(i * 8, 1, 8) >= broadcast(n - 20, 8), "
              "X[I[ramp(i * 8, 1, 8)]] + broadcast(X[i * 8 + 7], 8), X[ramp(i * 8 + 7, -1, 8)])\n");
}

}  // namespace

TEST_CASE("a comparison of even steps counts its lanes") {
  check_golden("machine/count_lanes", count_lanes(choices(), Target("x86-64-v3")).str());
  check_golden("machine/count_lanes_words", count_lanes(choices(), Target("x86-64-v4")).str());
}

TEST_CASE("a comparison of wider steps counts its lanes where all are multiples of them") {
  const auto counted = [](const std::string& mask) {
    const Program p = parse(
        "program k<n, m>(in X: f32[n], out Y: f32[n]):\n  for i in 0..m:\n"
        "    Y[ramp(i * 16, 2, 8)] = X[ramp(i * 16, 2, 8) where " +
        mask + "]\n");
    return count_lanes(p, Target("x86-64-v4")).str();
  };
  const std::string even = counted("ramp(i * 16, 2, 8) < broadcast(n * 2, 8)"),
                    odd = counted("ramp(i * 16 + 1, 2, 8) < broadcast(n * 2, 8)");
  CHECK(even.find("first < n") != std::string::npos);
  CHECK(even == odd);
  // 2 x + 1 <= 2 n is x < n, and 2 x <= 2 n is x < n + 1.
  CHECK(counted("ramp(i * 16 + 1, 2, 8) <= broadcast(n * 2, 8)").find("i * 8") !=
        std::string::npos);
  CHECK(counted("ramp(i * 16, 2, 8) <= broadcast(n * 2, 8)") !=
        counted("ramp(i * 16 + 1, 2, 8) <= broadcast(n * 2, 8)"));
  CHECK(counted("ramp(i * 16, 2, 8) < broadcast(n * 3, 8)").find("first") == std::string::npos);
}

TEST_CASE("arms of a select by lanes get its lanes as masks of their loads") {
  const Program p = choices(), masked = mask_arms(p);
  check_golden("machine/mask_arms", masked.str());
  CHECK(verify_reason(p.with(p->body, Stage::machine), Stage::machine) ==
        "a load of all lanes in the arm of a select by lanes at stage machine: "
        "I[ramp(i * 8, 1, 8)]");
  CHECK(verify_reason(masked.with(masked->body, Stage::machine), Stage::machine) == "");
}

TEST_CASE("an arm loads what its condition has loaded without a mask") {
  const auto masks = [](const std::string& value) {
    const std::string loop = "  vectorized for i in 0..16:\n    Y[i] = ";
    const Program p =
        parse("program k(in X: f32[64], in Z: f32[64], out Y: f32[64]):\n" + loop + value + "\n");
    const Program lowered = lower(p, Target("x86-64-v4"));
    CHECK(verify_reason(lowered, Stage::machine) == "");
    const std::string text = lowered.str();
    int found = 0;
    for (auto at = text.find(" where "); at != text.npos; at = text.find(" where ", at + 1))
      ++found;
    return found;
  };
  CHECK(masks("select(X[i] < 0.25, X[i] * 4.0, select(X[i] < 0.5, 1.25 - X[i], X[i] * X[i]))") ==
        0);
  CHECK(masks("select(X[i] < 0.25, Z[i] * 4.0, select(Z[i] < 0.5, Z[i], X[i] * Z[i]))") > 0);
  // Arms of one select do not load for each other, nor for what follows.
  CHECK(masks("select(X[i] < 0.25, Z[i], 1.0) + select(X[i] > 0.5, Z[i], 2.0)") == 2);
  CHECK(masks("select(X[i] < 0.25, Z[i], Z[i] * 2.0)") == 2);
}

TEST_CASE("choices of lanes mean the same on each target") {
  std::vector<float> x;
  std::vector<std::int64_t> at;
  for (int k = 0; k < 64; ++k) x.push_back(static_cast<float>(k)), at.push_back(63 - k);
  const std::vector<Bytes> in{Bytes::of(x), Bytes::of(at), Bytes::of(std::vector<float>(64, -1))};
  for (const Target& target : targets())
    for (std::int64_t n : {0, 1, 7, 8, 41, 64, 100}) {
      CAPTURE(target.name);
      CAPTURE(n);
      const Program legal = guard_operators(mask_arms(count_lanes(choices(), target)), target);
      CHECK(verify_reason(legal, Stage::machine, target) == "");
      const auto wanted = evaluated(choices(), in, {to_slot(n)});
      CHECK(wanted[2].data == evaluated(legal, in, {to_slot(n)})[2].data);
      if (target.runs_on(host())) check_against_evaluator(legal, in, {to_slot(n)}, target);
    }
}

TEST_CASE("guarded operators are what each target has") {
  for (const Target& target : targets()) {
    CAPTURE(target.name);
    const Program p = flat("in X: i32[n + 64], in F: f32[64], out Y: i32[64]",
                           "  for i in 0..64:\n"
                           "    Y[i] = floordiv(X[i], X[63 - i]) + (X[i] << X[63 - i]) % X[i] + "
                           "i32(max(F[i], F[63 - i]))\n");
    const Program legal = guard_operators(legalize_ops(p, target), target);
    CHECK(verify_reason(legal, Stage::machine, target) == "");
    std::vector<std::int32_t> x;
    std::vector<float> f;
    for (int k = 0; k < 64; ++k) {
      x.push_back(k % 7 == 0    ? 0
                  : k % 5 == 0  ? -1
                  : k % 11 == 0 ? INT32_MIN
                                : (k * 7919) % 100 - 50);
      f.push_back(k % 9 == 0    ? -0.0f
                  : k % 8 == 0  ? NAN
                  : k % 13 == 0 ? 1e20f
                                : static_cast<float>(k) - 20);
    }
    const std::vector<Bytes> in{Bytes::of(x), Bytes::of(f),
                                Bytes::of(std::vector<std::int32_t>(64))};
    const auto wanted = evaluated(p, in, {64}), got = evaluated(legal, in, {64});
    CHECK(wanted[2].data == got[2].data);
    if (target.runs_on(host())) check_against_evaluator(legal, in, {64}, target);
  }
}

TEST_CASE("one lane that a constant mask keeps is stored by itself") {
  Build b;
  auto x = b.buffer("x", kI64), y = b.output("y", kI32);
  const auto stored = [&](int kept) {
    const AnyExpr value = make_cast(kI32.with_lanes(8), make_load(x, {ramp(0, 1, 8)}));
    const AnyExpr mask =
        make_binary(BinaryOp::lt, make_ramp(make_int(kI32, 0), make_int(kI32, 1), 8),
                    make_broadcast(make_int(kI32, kept), 8));
    const Program p = b.done(make_store(y, {ramp(16, 1, 8)}, value, mask));
    return guard_operators(p, Target("znver4")).str();
  };
  CHECK(stored(1).find("y[16] = ") != std::string::npos);
  CHECK(stored(2).find("y[ramp(16, 1, 8) where ") != std::string::npos);
}

TEST_CASE("the range of a loop is computed where it runs nothing too") {
  const Program p = parse(R"(program P(out Y: i64[4]) stage flat:
  for i in 0..4:
    Y[i] = 1
    for j in 0..floordiv(i * -1, 28) + 1:
      Y[i] = Y[i] + 2
)");
  const std::string text = lower(p, Target("x86-64-v4")).str();
  INFO(text);
  CHECK(text.find("i * -1 / 28") == std::string::npos);
}
