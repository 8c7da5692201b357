// Products whose operands both lie along the terms: A B'.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"

using namespace test;
namespace {

struct Product {
  lt::Input<float, 2> A, B;
  lt::Reduce r;
  lt::Tensor<float, 2> C;
  Product(std::int64_t m, std::int64_t n, std::int64_t k)
      : A("A", {m, k}),
        B("B", {n, k}),
        r("r", k),
        C(lt::compute("C", {m, n},
                      [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(j, r), r); })) {}
};

std::string planned(const lt::AnyTensor& C, lt::ScheduleOptions options = {}) {
  lt::Target target("x86-64-v4");
  target.cores = 1;
  return lt::default_schedule(lt::program_of(C), target, options).str();
}

}  // namespace

TEST_CASE("few rows by a transposed matrix fold tiles of rows and columns, without a copy") {
  const std::string text = planned(Product(16, 256, 768).C);
  CHECK(has(text, "block C_lanes"));
  CHECK(has(text, "for ii in 0..4"));
  CHECK(has(text, "for ji in 0..4"));
  CHECK(!has(text, "alloc B"));
}

TEST_CASE("rows that read a copy often enough, or short terms, take a register tile") {
  CHECK(!has(planned(Product(128, 256, 768).C), "C_lanes"));
  CHECK(!has(planned(Product(16, 256, 32).C), "C_lanes"));
  CHECK(!has(planned(Product(16, 256, 768).C, {.strict = true}), "C_lanes"));
}

TEST_CASE("tiles of folds compute what the program says, with tails of all loops") {
  lt::Input<std::int32_t, 2> A("A", {5, 403}), B("B", {23, 403});
  lt::Reduce r("r", 403);
  auto C = lt::compute("C", {5, 23},
                       [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(j, r), r); });
  lt::Schedule s = lt::default_schedule(lt::program_of(C), lt::Target("x86-64-v4"));
  CHECK(has(s.str(), "C_lanes"));
  CHECK(test::run(s.program()) == test::run(lt::program_of(C)));
}
