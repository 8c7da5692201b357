// Products whose operands both lie along the terms: A B'.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"
#include "one_core.hpp"

using namespace test;
namespace {

template <class T>
lt::Tensor<T, 2> product(std::int64_t m, std::int64_t n, std::int64_t k, bool constant = false) {
  lt::Input<T, 2> A("A", {m, k}), B("B", {n, k}, {.constant = constant});
  lt::Reduce r("r", k);
  return lt::compute("C", {m, n},
                     [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(j, r), r); });
}

std::string planned(const lt::AnyTensor& C, lt::ScheduleOptions options = {}) {
  return lt::default_schedule(lt::program_of(C), one_core(), options).str();
}

}  // namespace

TEST_CASE("few rows by a transposed matrix fold tiles of rows and columns, without a copy") {
  const std::string text = planned(product<float>(16, 256, 768));
  CHECK(has(text, "block C_lanes"));
  CHECK(has(text, "for ii in 0..4"));
  CHECK(has(text, "for ji in 0..4"));
  CHECK(!has(text, "alloc B"));
}

TEST_CASE("rows that read a copy often enough, or short terms, take a register tile") {
  const std::string many = planned(product<float>(128, 256, 768));
  CHECK(!has(many, "C_lanes"));
  CHECK(has(many, "alloc B"));
  CHECK(!has(planned(product<float>(16, 256, 32)), "C_lanes"));
  CHECK(!has(planned(product<float>(16, 256, 768), {.strict = true}), "C_lanes"));
}

TEST_CASE("constants are turned ahead, which costs no call anything") {
  CHECK(!has(planned(product<float>(16, 256, 768, true)), "C_lanes"));
}

TEST_CASE("tiles of folds compute what the program says, with tails of all loops") {
  const auto C = product<std::int32_t>(5, 23, 403);
  lt::Schedule s = lt::default_schedule(lt::program_of(C), lt::Target("x86-64-v4"));
  CHECK(has(s.str(), "C_lanes"));
  CHECK(test::run(s.program()) == test::run(lt::program_of(C)));
}
