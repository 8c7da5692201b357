// How large default schedules let programs become.
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lower/pipeline.hpp>

#include "../schedule/kernels.hpp"

namespace lt = lathe;

TEST_CASE("programs of hundreds of stages stay below the budget of nodes") {
  const lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  std::vector<lt::Tensor<float, 1>> all;
  for (int k = 0; k < 200; ++k)
    all.push_back(lt::compute("s" + std::to_string(k), {n}, [&](lt::Var i) -> lt::Expr<float> {
      if (k < 2) return X(i) * static_cast<float>(k + 2);
      return all[static_cast<std::size_t>(k - 1)](i) - all[static_cast<std::size_t>(k - 2)](i);
    }));
  const lt::Program p = lt::default_schedule(lt::program_of(all.back()), lt::host()).program();
  CHECK(p.str().find("@unroll_explicit") == std::string::npos);
}

TEST_CASE("terms with long functions are not written out sixteen times") {
  lt::Input<double, 2> A("A", {100, 200});
  lt::Reduce r("r", 200);
  const auto lowered = [&](auto f, const lt::ScheduleOptions& options) {
    const lt::Program p =
        lt::program_of(lt::compute("C", {100}, [&](lt::Var i) { return lt::sum(f(A(i, r)), r); }));
    const lt::Target target("x86-64");
    return lt::node_count(
        lt::lower(lt::default_schedule(p, target, options).program(), target)->body);
  };
  CHECK(lowered([](auto x) { return lt::tan(x); }, {.strict = true}) < 20000);
  CHECK(lowered([](auto x) { return lt::pow(lt::abs(x), x) + lt::tan(x); }, {.strict = true}) <
        20000);
  CHECK(lowered([](auto x) { return lt::exp(x); }, {.strict = true}) > 1000);  // rows are turned
}

TEST_CASE("terms in types that no machine computes with are not written out sixteen times") {
  const lt::Target target("x86-64-v4");
  const auto lowered = [&](const std::string& text) {
    const lt::Program p = lt::default_schedule(lt::parse(text), target, {.strict = true}).program();
    return lt::node_count(lt::lower(p, target, {.strict = true})->body);
  };
  const auto sum = [](const std::string& type, const std::string& term) {
    return "program p(in A: f64[64, 16], in X: i32[4, 16], out S: " + type + R"([32, 16, 4]):
  for i in 0..32:
    for j in 0..16:
      for k in 0..4:
        for r in 0..16:
          block S(vi in 0..32 = i, vj in 0..16 = j, vk in 0..4 = k, reduce vr in 0..16 = r) reduce sum init:
            S[vi, vj, vk] sum= )" +
           term + "\n";
  };
  CHECK(lowered(sum("f8e5m2", "f8e5m2(A[vj * 2, vk * 3]) / 3.0f8e5m2 - f8e5m2(X[3 - vk, vr])")) <
        20000);
  CHECK(lowered(sum("f64", "A[vj * 2, vk * 3] / 3.0f64 - f64(X[3 - vk, vr])")) > 1000);
}
