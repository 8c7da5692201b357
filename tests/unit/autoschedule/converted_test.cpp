// Default schedules of products whose operands are converted when they are read: copies hold what
// the machine computes with.
#include <random>
#include <support/text.hpp>

#include "../schedule/intrinsics.hpp"
#include "checked_plan.hpp"

namespace lt = lathe;
using test::checked_plan;
using test::has;

namespace {

template <class A, class B, class S>
lt::Tensor<S, 2> product_of(std::int64_t m, std::int64_t n, std::int64_t k, bool turned = false) {
  const lt::Input<A, 2> a("A", {m, k});
  const lt::Input<B, 2> b("B", {k, n});
  lt::Reduce r("r", k);
  return lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    const auto x = lt::cast<S>(a(i, r)), y = lt::cast<S>(b(r, j));
    return lt::sum(turned ? y * x : x * y, r);
  });
}

template <class A, class B, class S>
std::string plan_of(const test::PlanFor& what, std::int64_t m, std::int64_t n, std::int64_t k,
                    bool turned = false) {
  return checked_plan(lt::program_of(product_of<A, B, S>(m, n, k, turned)), what).str();
}

/// Of plans for sizes from `least` to `most`, drawn and checked, how many have a text in them.
template <class A, class B, class S>
int plans_of_sizes(const test::PlanFor& what, std::int64_t least, std::int64_t most,
                   const std::string& part) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> size(least, most);
  int found = 0;
  for (int k = 0; k < 10; ++k) {
    const std::int64_t m = size(random), n = size(random), d = size(random);
    INFO(m, " ", n, " ", d);
    found += has(plan_of<A, B, S>(what, m, n, d, k % 2 == 1), part);
  }
  return found;
}

}  // namespace

TEST_CASE("bytes and words are multiplied in pairs of words") {
  using u8 = std::uint8_t;
  using i8 = std::int8_t;
  using i16 = std::int16_t;
  using i32 = std::int32_t;
  for (const char* target : {"x86-64-v3", "skylake-avx512"}) {
    const test::PlanFor what{target};
    const bool wide = what.target == std::string("skylake-avx512");
    const char* call =
        wide ? "dot_words(C_cache[vi, ramp(vj, 1, 16)]" : "dot_words(C_cache[vi, ramp(vj, 1, 8)]";
    for (const bool turned : {false, true}) {
      CHECK(has(plan_of<u8, i8, i32>(what, 24, 96, 64, turned), call));
      CHECK(has(plan_of<i8, i8, i32>(what, 24, 96, 64, turned), call));
      CHECK(has(plan_of<u8, u8, i32>(what, 24, 96, 64, turned), call));
      CHECK(has(plan_of<i16, i16, i32>(what, 24, 96, 64, turned), call));
      CHECK(has(plan_of<i16, u8, i32>(what, 24, 96, 64, turned), call));
    }
  }
  const std::string text = plan_of<u8, i8, i32>({}, 24, 96, 64);
  CHECK(has(text, "alloc A_cache: i16["));
  CHECK(has(text, "alloc B_cache: i16["));
  // Words that are not signed do not fit, and sums in i64 are another instruction's.
  CHECK(!has(plan_of<std::uint16_t, i8, i32>({}, 24, 96, 64), "dot_words("));
  CHECK(!has(plan_of<i16, i16, std::int64_t>({}, 24, 96, 64), "dot_words("));
  // Where bytes are multiplied in fours they are not converted: of either sign, as what is added to
  // those of the other is known from the sums of rows.
  CHECK(has(plan_of<u8, i8, i32>({"znver4"}, 24, 96, 64), "dot4("));
  for (const bool turned : {false, true}) {
    CHECK(!has(plan_of<i8, u8, i32>({"znver4"}, 24, 96, 64, turned), "C_sum"));
    for (const auto& text : {plan_of<i8, i8, i32>({"znver4"}, 24, 96, 64, turned),
                             plan_of<u8, u8, i32>({"znver4"}, 24, 96, 64, turned)}) {
      CHECK(has(text, "dot4(C_terms[vi, ramp(vj, 1, 16)]"));
      CHECK(has(text, "C_terms[vi, vj] - C_sum[vi] * 128") !=
            has(text, "C_terms[vi, vj] + C_sum[vi] * 128"));
      CHECK(!has(text, "dot_words("));
    }
  }
}

TEST_CASE("weights of bytes that memory holds stay bytes for one row") {
  lt::Target target("x86-64-v3");
  target.cores = 1;
  for (const std::int64_t rows : {1, 4}) {
    const lt::Input<std::uint8_t, 2> A("A", {rows, 4096});
    const lt::Input<std::int8_t, 2> B("B", {4096, 4096}, {.constant = true});
    lt::Reduce r("r", 4096);
    const auto C = lt::compute("C", {rows, 4096}, [&](lt::Var i, lt::Var j) {
      return lt::sum(lt::cast<std::int32_t>(A(i, r)) * lt::cast<std::int32_t>(B(r, j)), r);
    });
    const std::string text = lt::default_schedule(lt::program_of(C), target).str();
    CHECK(has(text, "dot_words(") == (rows > 1));
  }
}

TEST_CASE("products in pairs of words of any size") {
  CHECK(plans_of_sizes<std::uint8_t, std::int8_t, std::int32_t>({}, 0, 40, "dot_words(") > 2);
  CHECK(plans_of_sizes<std::int16_t, std::int16_t, std::int32_t>({"skylake-avx512"}, 0, 40,
                                                                 "dot_words(") > 2);
}

TEST_CASE("copies of narrow floats hold floats where they are read often enough") {
  lt::Target target("x86-64-v3");
  target.cores = 1;
  const std::string large =
      lt::default_schedule(lt::program_of(product_of<lt::f16, lt::f16, float>(96, 200, 300)),
                           target)
          .str();
  CHECK(has(large, "alloc A_cache: f32["));
  CHECK(has(large, "alloc B_cache: f32["));
  // Of few rows panels stay as narrow as they are in memory.
  const std::string few = plan_of<lt::bf16, lt::bf16, float>({}, 18, 100, 90);
  CHECK(!has(few, "alloc B_cache: f32["));
  // What is computed in f16 is rounded after each step.
  const lt::Input<lt::f16, 2> A("A", {64, 90}), B("B", {90, 80});
  lt::Reduce r("r", 90);
  const auto C = lt::compute("C", {64, 80},
                             [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  CHECK(!has(checked_plan(lt::program_of(C)).str(), "alloc A_cache: f32["));
}

TEST_CASE("rows that lie along the reduction's other operand are converted where they are read") {
  const lt::Input<lt::bf16, 2> A("A", {40, 33}), B("B", {40, 100});
  lt::Reduce r("r", 40);
  const auto C = lt::compute("C", {33, 100}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<float>(A(r, i)) * lt::cast<float>(B(r, j)), r);
  });
  for (const char* target : {"x86-64-v3", "skylake-avx512"})
    CHECK(has(checked_plan(lt::program_of(C), {target}).str(), "scope register"));
}

TEST_CASE("copies that are converted and set apart are so by what they hold") {
  const lt::Program large = lt::program_of(product_of<lt::bf16, lt::bf16, float>(512, 512, 2048));
  lt::Target target("x86-64-v3");
  target.cores = 1;
  CHECK(has(lt::default_schedule(large, target).str(),
            "alloc A_cache: f32[512, 2048] aligned [0, 1024, 16]"));
  CHECK(has(plan_of<lt::bf16, lt::bf16, float>({}, 64, 80, 90), "alloc A_cache: f32[64, 90]\n"));
}

TEST_CASE("padded images of narrow floats are converted as they are copied") {
  const lt::Input<lt::f16, 3> X("X", {9, 11, 16});
  const lt::Input<lt::f16, 4> W("W", {3, 3, 16, 24});
  lt::Reduce a("a", 3), b("b", 3), c("c", 16);
  const auto at = lt::pad(X, lt::cast<lt::f16>(lt::Expr<int>(0)));
  const auto Y = lt::compute("Y", {9, 11, 24}, [&](lt::Var i, lt::Var j, lt::Var o) {
    return lt::sum(lt::cast<float>(at(i + a - 1, j + b - 1, c)) * lt::cast<float>(W(a, b, c, o)),
                   {a, b, c});
  });
  for (const char* target : {"x86-64-v3", "skylake-avx512"})
    CHECK(has(checked_plan(lt::program_of(Y), {target}).str(), "alloc X_padded: f32["));
}

TEST_CASE("products of narrow floats of any size") {
  CHECK(plans_of_sizes<lt::f16, lt::bf16, float>({}, 40, 80, "_cache: f32[") > 2);
  CHECK(plans_of_sizes<lt::bf16, float, float>({"skylake-avx512"}, 40, 80, "_cache: f32[") > 2);
}
