// What kernels say of their cost, and the machine that is measured.
#include <doctest/doctest.h>

#include <cmath>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <support/skip.hpp>
#include <support/text.hpp>
#include <vector>

namespace lt = lathe;
using test::has;

namespace {

struct Product {
  explicit Product(int size) : n(size) {}
  int n;
  lt::Input<float, 2> A{"A", {n, n}}, B{"B", {n, n}};
  lt::Reduce k{"k", n};
  lt::Tensor<float, 2> D = lt::compute(
      "D", {n, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, k) * B(k, j), {k}); });
};

}  // namespace

TEST_CASE("a kernel without a schedule explains the default one") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Product p(64);
  const auto f = lt::jit(p.D, p.A, p.B, p.D);
  const lt::Explanation e = f.explain();
  REQUIRE(!e.stages.empty());
  CHECK(e.program == "D");
  CHECK(e.machine.str() == lt::Machine(lt::host()).str());
  CHECK(e.steps == lt::default_schedule(p.D).trace().cpp());
  CHECK(has(e.steps, "vectorize"));
  CHECK(e.operations() >= 2.0 * 64 * 64 * 64);
  CHECK(e.predicted() > 0);
  CHECK(e.share() <= 1.001);
  CHECK(has(e.str(), "steps\n  auto b0"));
  const lt::Plan plan = lt::default_plan(p.D);
  REQUIRE(e.plan.size() == plan.decisions.size());
  CHECK(e.plan[0] == plan.decisions[0].str());
  CHECK(has(e.str(), "decisions of the default schedule\n  D shape register_tile # "));
  CHECK(has(e.json(), "\"plan\": [\"D shape register_tile # "));
}

TEST_CASE("a kernel explains the schedule that it was given, for its target") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Product p(64);
  lt::Schedule s(p.D);
  const auto plain = lt::jit({s, {.target = lt::Target("x86-64")}}, p.A, p.B, p.D).explain();
  CHECK(plain.stages.at(0).lanes == 1);
  CHECK(plain.machine.name == "x86-64");
  CHECK(plain.steps.empty());
  s.vectorize(s.loops("D")[1]);
  const auto wide = lt::jit({s, {.target = lt::Target("x86-64")}}, p.A, p.B, p.D).explain();
  CHECK(wide.stages.at(0).lanes == 4);
  CHECK(wide.predicted() < plain.predicted());
}

TEST_CASE("kernels without code are explained too") {
  CHECK(lt::AnyKernel().explain().stages.empty());
  Product p(8);
  const auto none = lt::evaluate(p.D, p.A, p.B, p.D).explain();
  CHECK(none.stages.size() == 1);
  CHECK(has(none.str(), "the evaluator runs"));
}

TEST_CASE("a kernel is measured by calling it") {
  Product p(16);
  const auto f = lt::jit(p.D, p.A, p.B, p.D);
  std::vector<float> a(256, 1), b(256, 2), d(256);
  const lt::View<float, 2> A = lt::view(a, {16, 16}), B = lt::view(b, {16, 16}),
                           D = lt::view(d, {16, 16});
  const double seconds = f.measure(A, B, D);
  CHECK(seconds > 0);
  CHECK(seconds < 1);
  CHECK(d == std::vector<float>(256, 32.0f));
  const lt::Explanation e = f.explain({.measured = seconds});
  CHECK(e.share() == doctest::Approx(e.roof / seconds));
  CHECK(has(e.str(), "measured"));
  CHECK_THROWS_AS(f.measure(A, B, lt::view(d, {8, 16})), lt::UserError);
}

TEST_CASE("the machine is measured") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const lt::Machine m = lt::measure_machine();
  CHECK(m.source == "measured");
  CHECK(m.cores == lt::host().cores);
  CHECK(m.fmas > 0);
  CHECK(m.memory_speed > 1e8);
  CHECK(m.memory_speed_all >= m.memory_speed);
  CHECK(lt::Machine::parse(m.str()).str() == m.str());
  lt::Context off({.llvm = "off"});
  CHECK(lt::measure_machine(off).source == "table");
}
