// Reductions with fewer results than threads.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"

using namespace test;
namespace {

lt::Schedule for_cores(const lt::OutputList& out, int cores, lt::ScheduleOptions options = {}) {
  lt::Target target("x86-64-v4");
  target.cores = cores;
  return lt::default_schedule(lt::program_of(out), target, options);
}

template <class T>
lt::Tensor<T, 0> sum_of_squares(std::int64_t n) {
  lt::Input<T, 1> X("X", {n});
  lt::Reduce r("r", n);
  return lt::compute("S", {}, [&] { return lt::sum(X(r) * X(r), r); });
}

}  // namespace

TEST_CASE("threads share the terms of a long sum, in equal parts where there are such") {
  const auto one = sum_of_squares<float>(1 << 20);
  CHECK(has(for_cores(lt::outputs(one), 2).str(), "parallel for ro in 0..8:"));
  CHECK(!has(for_cores(lt::outputs(one), 1).str(), "S_rf"));
  CHECK(has(for_cores(lt::outputs(sum_of_squares<float>(9 << 17)), 3).str(),
            "parallel for ro in 0..12:"));
  CHECK(!has(for_cores(lt::outputs(sum_of_squares<float>(10000)), 2).str(), "S_rf"));
}

TEST_CASE("strict keeps the order of a float's terms, but not of an integer's") {
  CHECK(!has(for_cores(lt::outputs(sum_of_squares<float>(1 << 20)), 2, {.strict = true}).str(),
             "S_rf"));
  CHECK(
      has(for_cores(lt::outputs(sum_of_squares<std::int32_t>(1 << 20)), 2, {.strict = true}).str(),
          "S_rf"));
}

TEST_CASE("sums with many results stay whole") {
  lt::Input<float, 2> X("X", {512, 4096});
  lt::Reduce r("r", 4096);
  auto rows = lt::compute("S", {512}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  CHECK(!has(for_cores(lt::outputs(rows), 8).str(), "S_rf"));
}

TEST_CASE("shared terms give the sums that they had: of no equal parts, of columns, of positions") {
  lt::Input<std::int32_t, 2> X("X", {50021, 3});
  lt::Reduce r("r", 50021);
  const auto columns = lt::compute(
      "S", {3}, [&](lt::Var c) { return lt::sum(X(r, c) * lt::cast<std::int32_t>(r), r); });
  lt::Input<float, 1> Y("Y", {500009});
  lt::Reduce i("i", 500009);
  const auto least = lt::compute("S", {}, [&] { return lt::argmin(Y(i), i); }).get<1>();
  for (const lt::OutputList& out : {lt::outputs(columns), lt::outputs(least)}) {
    const lt::Schedule s = for_cores(out, 64);
    CHECK(has(s.str(), "S_rf"));
    CHECK(test::run(s.program()) == test::run(lt::program_of(out)));
  }
}
