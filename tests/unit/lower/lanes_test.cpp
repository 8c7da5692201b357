// What loops over lanes become.
#include <algorithm>
#include <lathe/autoschedule/default_schedule.hpp>

#include "../../support/golden.hpp"
#include "stages.hpp"

namespace lt = lathe;

TEST_CASE("a rest of lanes is one masked vector, or powers of two where masks cost") {
  lt::Input<float, 1> X("X", {13});
  auto Y = lt::compute("Y", {13}, [&](lt::Var i) { return X(i) + 1.0f; });
  lt::Schedule s(Y);
  s.vectorize(s.loops<1>(Y)[0]);
  std::string masked = test::check_stages(s.program(), {}, lt::Target("x86-64-v4")).str();
  std::string pieces = test::check_stages(s.program(), {}, lt::Target("x86-64-v2")).str();
  CHECK(masked.find("where") != std::string::npos);
  CHECK(pieces.find("where") == std::string::npos);
}

TEST_CASE("many lanes of which a call tells how many there are compare bytes") {
  for (const int lanes : {16, 64}) {
    CAPTURE(lanes);
    const std::string l = std::to_string(lanes);
    const lt::Program p = lt::parse(
        "program p<n in 1..=100>(in X: u8[n], out Y: u8[n]):\n"
        "  for jo in 0..floordiv(n + " +
        l + " - 1, " + l +
        "):\n"
        "    vectorized for ji in 0.." +
        l +
        " @tail=\"mask\":\n"
        "      if jo * " +
        l +
        " + ji < n:\n"
        "        Y[jo * " +
        l + " + ji] = X[jo * " + l + " + ji]\n");
    for (const std::int64_t n : {1, 15, 16, 63, 64, 65, 100}) test::check_stages(p, {{"n", n}});
    const std::string text = lt::lower_until("count_lanes", p, lt::Target("x86-64-v4")).str();
    INFO(text);
    CHECK((text.find("ramp(0i8, 1i8, 64) <") != std::string::npos) == (lanes == 64));
    CHECK(text.find("ramp(0i32, 1i32, 64)") == std::string::npos);
  }
}

TEST_CASE("a store of whole lines is one vector, of as many registers as fill a line") {
  lt::Input<float, 1> A("A", {100});
  auto B = lt::compute("B", {100}, [&](lt::Var i) { return A(i); });
  for (auto how : {lt::Streaming::any, lt::Streaming::lines}) {
    lt::Schedule s(B);
    s.annotate(s.block("B"), "stream", static_cast<std::int64_t>(how));
    s.vectorize(s.loops("B")[0]);
    test::check_stages(s.program(), {}, lt::Target("x86-64-v3"));
    const std::string text =
        lt::lower_until("vectorize", s.program(), lt::Target("x86-64-v3")).str();
    CAPTURE(text);
    const bool lines = how == lt::Streaming::lines;
    CHECK((text.find("B[ramp(i_v * 16, 1, 16)]") != std::string::npos) == lines);
    CHECK((text.find("B[ramp(i_v * 8, 1, 8)]") != std::string::npos) == !lines);
  }
}

TEST_CASE("a loop over lanes stays one where a temporary's size or a loop's length differs in it") {
  const lt::Target target("x86-64-v4");
  for (const char* text : {R"(program p(in A: f32[8], out B: f32[8]):
  vectorized for i in 0..8:
    alloc T: f32[i + 1]
    T[i] = A[i] * 2.0
    B[i] = T[i]
)",
                           R"(program p(in A: f32[8], out B: f32[8]):
  vectorized for i in 0..8:
    B[i] = 0.0
    for j in 0..i + 1:
      B[i] = B[i] + A[j]
)"}) {
    const lt::Program loops = lt::lower_until("lower_blocks", lt::parse(text), target);
    const lt::Program lanes = lt::vectorize_loops(loops, target);
    INFO(lanes.str());
    CHECK(lt::verify_reason(lanes, lt::Stage::loops) == "");
    CHECK(test::evaluate_stage(lanes, loops) == test::evaluate_stage(loops, loops));
  }
}

TEST_CASE("vectors inside of a padding have a version that asks no lane") {
  const lt::Target target("x86-64-v4");
  lt::Program p = lt::parse(R"(program p(in X: f32[62], out P: f32[128]):
  for io in 0..8:
    vectorized for ii in 0..16:
      block P(v in 0..128 = io * 16 + ii):
        P[v] = select(v >= 33 && v < 95, X[v - 33], 0.0)
)");
  const std::string text = lt::lower_until("hoist_guards", p, target).str();
  INFO(text);
  CHECK(text.find("    if io > 2 && io < 5:\n") != std::string::npos);
  CHECK(lt::lower_until("simplify_flat", p, target).str().find("P[ramp(io * 16, 1, 16)] = X[") !=
        std::string::npos);
  test::check_stages(p);
}
