// The applications of bench/apps: what a schedule by hand compiles to is what the description says.
#include <doctest/doctest.h>

#include <cmath>

#include "apps/lathe_app.hpp"

namespace {

using namespace bench;

std::vector<float> picture(std::int64_t size) {
  std::vector<float> out(static_cast<std::size_t>(size));
  std::uint32_t state = 1;
  for (float& value : out) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 24) / 255.0f;
  }
  return out;
}

double difference(const App& app) {
  const LatheApp made = make_lathe_app(app, 2);
  const AppShape shape = app_shape(app);
  const std::vector<float> in = picture(elements(shape.in));
  std::vector<float> want(static_cast<std::size_t>(elements(shape.out)), -1.0f), got = want;
  call_app(lt::evaluate_any({made.plain}, {}), app, in, want);
  // Without fma, so that no table is entered at another place.
  call_app(lt::jit_any({made.hand, {.strict = true}}, {}), app, in, got);
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double scale = std::max(1.0, std::abs(static_cast<double>(want[i])));
    const double apart = std::abs(static_cast<double>(got[i]) - want[i]) / scale;
    if (!(apart <= worst)) worst = apart;
  }
  return worst;
}

struct Sizes {
  App::Kind kind;
  std::int64_t h, w;
};

}  // namespace

TEST_CASE("an application's schedule computes what its description says") {
  using Kind = App::Kind;
  const Sizes all[] = {
      {Kind::harris, 37, 53},   {Kind::harris, 64, 128},        {Kind::unsharp, 37, 53},
      {Kind::unsharp, 1, 1},    {Kind::max_filter, 131, 71},    {Kind::max_filter, 1, 300},
      {Kind::iir_blur, 64, 96}, {Kind::bilateral_grid, 61, 75}, {Kind::bilateral_grid, 8, 16},
      {Kind::nl_means, 19, 70}, {Kind::local_laplacian, 33, 47}};
  for (const Sizes& sizes : all) {
    CAPTURE(app_row(sizes.kind).name);
    CAPTURE(sizes.h);
    CAPTURE(sizes.w);
    CHECK(difference({sizes.kind, sizes.h, sizes.w}) < 1e-5);
  }
}
