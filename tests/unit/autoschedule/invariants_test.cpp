// Values that a nest would compute again in each iteration of an outer loop.
#include <support/text.hpp>

#include "checked_plan.hpp"

using namespace test;

namespace {

std::string planned(const lt::Program& program, int cores = 1) {
  return checked_plan(program, {.cores = cores}).str();
}

// Y[i, j] = X[i, j] * value(i, j).
template <class F>
std::string times(int rows, const F& value) {
  lt::Input<float, 2> X("X", {rows, 40});
  lt::Input<float, 1> v("v", {40}), w("w", {rows});
  return planned(lt::program_of(lt::compute(
      "Y", {rows, 40}, [&](lt::Var i, lt::Var j) { return X(i, j) * value(v, w, i, j); })));
}

}  // namespace

TEST_CASE("roots and functions along lanes are computed once for all rows") {
  CHECK(has(times(8, [](auto& v, auto&, auto, auto j) { return 1.0f / lt::sqrt(v(j)); }),
            "Y_hoisted[vj] = 1.0 / sqrt(v[vj])"));
  CHECK(has(times(8, [](auto& v, auto&, auto, auto j) { return lt::exp(v(j)); }),
            "Y_hoisted[vj] = exp(v[vj])"));
}

TEST_CASE("rows stay those that threads share") {
  lt::Input<float, 2> X("X", {600, 640});
  lt::Input<float, 1> v("v", {640});
  const std::string text =
      planned(lt::program_of(lt::compute(
                  "Y", {600, 640},
                  [&](lt::Var i, lt::Var j) { return X(i, j) / lt::sqrt(v(j) * v(j) + 1.0f); })),
              8);
  INFO(text);
  CHECK(has(text, "Y_hoisted"));
  CHECK(has(text, "parallel for"));
}

TEST_CASE("what few rows share, what is cheap, and what stays the same along lanes, stays") {
  const auto root = [](auto& v, auto&, auto, auto j) { return 1.0f / lt::sqrt(v(j)); };
  CHECK_FALSE(has(times(3, root), "hoisted"));
  CHECK_FALSE(
      has(times(8, [](auto& v, auto&, auto, auto j) { return v(j) * v(j) + v(j); }), "hoisted"));
  CHECK_FALSE(has(times(8, [](auto&, auto& w, auto i, auto) { return lt::exp(w(i)); }), "hoisted"));
}

TEST_CASE("groups of channels are read as channels") {
  lt::Input<float, 3> X("X", {2, 9, 24});
  lt::Input<float, 2> mean("mean", {2, 3}), variance("variance", {2, 3});
  const std::string text =
      planned(lt::program_of(lt::compute("Y", {2, 9, 24}, [&](lt::Var n, lt::Var p, lt::Var c) {
        return (X(n, p, c) - mean(n, c / 8)) / lt::sqrt(variance(n, c / 8) + 1.0f);
      })));
  INFO(text);
  CHECK(has(text, "(X[vi, vj, vk] - Y_hoisted_1[vi, vk]) / Y_hoisted[vi, vk]"));
}

TEST_CASE("a matrix by its formula is made once, and its products are those of a matrix") {
  lt::Input<float, 1> X("X", {400});
  lt::Reduce t("t", 64);
  const std::string text =
      planned(lt::program_of(lt::compute("S", {40, 24}, [&](lt::Var f, lt::Var k) {
        return lt::sum(X(f * 8 + t) * lt::exp(lt::cast<float>((k * t) % 3)), t);
      })));
  INFO(text);
  CHECK(has(text, "S_hoisted[vj, vt] = exp("));
}
