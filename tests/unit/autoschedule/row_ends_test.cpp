// Where rows end whose length a call tells: in a vector that begins inside, or under a mask.
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lower/pipeline.hpp>

#include "../lower/stages.hpp"
#include "one_core.hpp"

namespace lt = lathe;

namespace {

/// Y[i, j] = f(i, j) of rows of any size.
template <class F>
lt::Program rows(const F& f) {
  lt::Dim h("h"), w("w");
  lt::Input<float, 2> X("X", {h, w});
  lt::Input<float, 1> B("B", {w});
  return lt::program_of(
      lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) { return f(X, B, i, j); }));
}
lt::Program with_bias() {
  return rows([](auto& X, auto& B, lt::Var i, lt::Var j) {
    return lt::max(X(i, j) + B(j), 0.0f) * X(i, j);
  });
}

bool shifts(const lt::Program& p, const char* name, int cores = 1) {
  lt::Target target = test::one_core(name);
  target.cores = cores;
  std::vector<std::string> left_out;
  const std::string text = lt::default_schedule(p, target, {}, left_out).program().str();
  CHECK(left_out.empty());
  return text.find("@tail=\"shift\"") != text.npos;
}

}  // namespace

TEST_CASE("rows of any size end in a vector that begins inside where masks are no registers") {
  CHECK(shifts(with_bias(), "x86-64-v3"));
  CHECK(shifts(with_bias(), "x86-64-v2"));
  CHECK(shifts(with_bias(), "aarch64"));
  CHECK_FALSE(shifts(with_bias(), "x86-64-v4"));
}

TEST_CASE("no vector of a row that holds one has a mask") {
  const lt::Target target = test::one_core("x86-64-v3");
  const std::string text =
      lt::lower(lt::default_schedule(with_bias(), target).program(), target, {.dense = true}).str();
  INFO(text);
  const std::size_t whole = text.find("if w > 7:"), parts = text.find("else:", whole);
  REQUIRE(whole != text.npos);
  REQUIRE(parts != text.npos);
  const std::string rows = text.substr(whole, parts - whole);
  CHECK(rows.find(" where ") == rows.npos);
  CHECK(rows.find("select(") != rows.npos);
  CHECK(text.find(" where ", parts) != text.npos);
}

TEST_CASE("rows shorter than a vector and longer ones give what the program means") {
  for (const char* name : {"x86-64-v2", "x86-64-v3", "aarch64"}) {
    const lt::Target target = test::one_core(name);
    const lt::Program p = lt::default_schedule(with_bias(), target).program();
    for (std::int64_t w : {1, 3, 4, 7, 8, 9, 31, 32, 33, 41, 70}) {
      CAPTURE(name);
      CAPTURE(w);
      test::check_stages(p, {{"h", 3}, {"w", w}}, target);
    }
  }
}

TEST_CASE("borders along the row, and results that are inputs, keep their tails") {
  CHECK_FALSE(shifts(rows([](auto& X, auto&, lt::Var i, lt::Var j) {
                       return lt::clamp(X)(i, j - 1) + lt::clamp(X)(i, j + 1);
                     }),
                     "x86-64-v3"));
  lt::Dim h("h"), w("w");
  lt::Input<float, 2> X("X", {h, w});
  lt::Input<float, 1> B("B", {w});
  auto Y = lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) { return X(i, j) + B(j); });
  CHECK(shifts(lt::program_of(Y), "x86-64-v3"));
  CHECK_FALSE(shifts(lt::program_of(lt::outputs(lt::inout(X, Y))), "x86-64-v3"));
}

TEST_CASE("few rows keep a loop that threads share; rows without a tail have nothing to shift") {
  const auto rows_of = [](std::int64_t h, const lt::Dim& w) {
    lt::Input<float, 2> X("X", {h, w});
    lt::Input<float, 1> B("B", {w});
    return lt::program_of(
        lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) { return lt::exp(X(i, j) * B(j)); }));
  };
  CHECK(shifts(rows_of(64, lt::Dim("w")), "x86-64-v3", 16));
  CHECK_FALSE(shifts(rows_of(3, lt::Dim("w")), "x86-64-v3", 16));
  CHECK_FALSE(shifts(rows_of(1, lt::Dim("w")), "x86-64-v3", 2));
  CHECK_FALSE(shifts(rows_of(64, lt::Dim("w", {.multiple_of = 32})), "x86-64-v3"));
}

TEST_CASE("elements stored interleaved have no test of the end in the loop, but in joined rows") {
  const lt::Target target = test::one_core("x86-64-v3");
  lt::Dim h("h"), w("w");
  lt::Input<std::uint8_t, 2> X("X", {h, w});
  const auto doubled = lt::program_of(
      lt::compute("Y", {2 * h, 2 * w}, [&](lt::Var i, lt::Var j) { return X(i / 2, j / 2); }));
  const auto colours = lt::program_of(
      lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var) { return X(i, j); }));
  const std::string apart = lt::default_schedule(doubled, target).program().str(),
                    joined = lt::default_schedule(colours, target).program().str();
  INFO(apart);
  INFO(joined);
  CHECK(apart.find("@partition=\"always\"") != apart.npos);
  CHECK(joined.find("@partition=\"always\"") == joined.npos);
  // The places of pixels that are one row are told by the test of their end: loads are dense.
  for (const lt::Program& p : {doubled, colours}) {
    const std::string text =
        lt::lower(lt::default_schedule(p, target).program(), target, {.dense = true}).str();
    INFO(text);
    CHECK(text.find("X[ramp(") != text.npos);
    CHECK(text.find("floormod") == text.npos);
    CHECK(text.find(" % ") == text.npos);
  }
}
