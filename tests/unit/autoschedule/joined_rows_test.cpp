// Rows that lie behind each other are one loop: where that is so, and where it must not be.
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/pipeline.hpp>

#include "checked_plan.hpp"
#include "one_core.hpp"

namespace lt = lathe;

namespace {

using Index = lt::Var;

std::string planned(const lt::Program& program) {
  return lt::default_schedule(program, test::one_core()).program().str();
}
bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }
/// Whether one loop runs over all of h x w.
bool joins(const std::string& text) { return has(text, "floormod(i_jo"); }

/// Y[i, j] = f(i, j), over sizes that calls tell.
template <class F>
lt::Program of_any_size(const F& f) {
  lt::Dim h("h"), w("w");
  return lt::program_of(f(h, w));
}

}  // namespace

TEST_CASE("rows of any size that lie behind each other are one loop of vectors") {
  const lt::Program p = of_any_size([](const lt::Dim& h, const lt::Dim& w) {
    lt::Input<std::uint8_t, 3> X("X", {h, w, 3});
    lt::Input<std::uint8_t, 2> T("T", {h, w});
    return lt::compute("Y", {h, w}, [&](Index i, Index j) {
      return lt::cast<std::uint8_t>(lt::max(X(i, j, 0), X(i, j, 2)) >> 1) + T(i, j);
    });
  });
  const std::string text = planned(p);
  INFO(text);
  CHECK(joins(text));
  // The one test of a place is that of the loop: no quotient is left.
  const lt::Target target = test::one_core();
  const std::string lowered =
      lt::lower(lt::default_schedule(p, target).program(), target, {.dense = true}).str();
  INFO(lowered);
  CHECK(has(lowered, "< h * w"));
  CHECK_FALSE(has(lowered, " / "));
  CHECK_FALSE(has(lowered, " % "));
}

TEST_CASE("rows of three axes become one, channel by channel") {
  const std::string text = planned(of_any_size([](const lt::Dim& h, const lt::Dim& w) {
    lt::Input<float, 3> X("X", {h, w, 3});
    return lt::compute("Y", {h, w, 3},
                       [&](Index i, Index j, Index c) { return X(i, j, c) * 2.0f; });
  }));
  INFO(text);
  CHECK(has(text, "for i_j_ko in 0..floordiv(h * w * 3"));
}

TEST_CASE("what is loaded for an index may differ from place to place") {
  const std::string text = planned(of_any_size([](const lt::Dim& h, const lt::Dim& w) {
    lt::Input<std::uint8_t, 2> X("X", {h, w});
    lt::Input<float, 1> T("T", {256});
    return lt::compute("Y", {h, w},
                       [&](Index i, Index j) { return T(lt::cast<std::int64_t>(X(i, j))); });
  }));
  INFO(text);
  CHECK(joins(text));
}

TEST_CASE("rows stay where something is read along them alone, differs, or is shared") {
  const auto bias = [](const lt::Dim& h, const lt::Dim& w) {
    lt::Input<float, 2> X("X", {h, w});
    lt::Input<float, 1> B("B", {w});
    return lt::compute("Y", {h, w}, [&](Index i, Index j) { return X(i, j) + B(j); });
  };
  const auto place = [](const lt::Dim& h, const lt::Dim& w) {
    lt::Input<float, 2> X("X", {h, w});
    return lt::compute("Y", {h, w},
                       [&](Index i, Index j) { return lt::select(j < i, X(i, j), 0.0f); });
  };
  const auto wider = [](const lt::Dim& h, const lt::Dim& w) {
    lt::Input<float, 2> X("X", {h, w + 1});
    return lt::compute("Y", {h, w}, [&](Index i, Index j) { return X(i, j + 1); });
  };
  const auto window = [](const lt::Dim& h, const lt::Dim& w) {
    lt::Input<float, 2> X("X", {h + 2, w});
    return lt::compute("Y", {h, w},
                       [&](Index i, Index j) { return X(i, j) + X(i + 1, j) + X(i + 2, j); });
  };
  const auto turned = [](const lt::Dim& h, const lt::Dim& w) {
    lt::Input<float, 2> X("X", {w, h});
    return lt::compute("Y", {h, w}, [&](Index i, Index j) { return X(j, i); });
  };
  for (const lt::Program& p : {of_any_size(bias), of_any_size(place), of_any_size(wider),
                               of_any_size(window), of_any_size(turned)}) {
    const std::string text = planned(p);
    INFO(text);
    CHECK_FALSE(joins(text));
  }
}

TEST_CASE("rows with gaps stay, but for those of pixels") {
  const lt::Program p = of_any_size([](const lt::Dim& h, const lt::Dim& w) {
    lt::Input<float, 3> X("X", {h, w, 3});
    return lt::compute("Y", {h, w, 3},
                       [&](Index i, Index j, Index c) { return X(i, j, c) * 2.0f; });
  });
  const std::string rows = planned(lt::open_strides(p)),
                    pixels = planned(lt::open_strides(p, lt::Gaps::pixels));
  INFO(rows);
  CHECK_FALSE(has(rows, "floormod"));
  INFO(pixels);
  CHECK(has(pixels, "for j_ko in 0..floordiv(w * 3"));
}

TEST_CASE("a row of known length is joined where its last vector would not be full") {
  const auto text_of = [](int w) {
    lt::Input<float, 2> X("X", {40, w});
    const lt::Program p = lt::program_of(
        lt::compute("Y", {40, w}, [&](Index i, Index j) { return lt::sqrt(X(i, j)); }));
    return test::checked_plan(p, {"x86-64-v4"}).program().str();
  };
  for (const int w : {5, 17, 100}) CHECK(has(text_of(w), "floormod"));
  for (const int w : {16, 96, 301}) CHECK_FALSE(has(text_of(w), "floormod"));
}
