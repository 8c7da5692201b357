// Tiles of results whose windows overlap.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"

namespace lt = lathe;
using test::count_of;
using test::has;

namespace {

struct Window {
  std::int64_t taps = 3, stride = 1, dilation = 1, pad = 1;
};

/// Of images of `side` x `side` x channels, each channel for itself; i32, so that order is free.
lt::Program depthwise(std::int64_t images, std::int64_t side, std::int64_t channels,
                      const Window& w = {}) {
  lt::Input<std::int32_t, 4> X("X", {images, side, side, channels});
  lt::Input<std::int32_t, 3> K("K", {w.taps, w.taps, channels});
  const auto P = lt::pad(X, 0);
  lt::Reduce a("a", w.taps), b("b", w.taps);
  const std::int64_t out = (side + 2 * w.pad - w.dilation * (w.taps - 1) - 1) / w.stride + 1;
  return lt::program_of(lt::compute(
      "Y", {images, out, out, channels}, [&](lt::Var m, lt::Var i, lt::Var j, lt::Var c) {
        const auto y = i * w.stride + a * w.dilation - w.pad,
                   x = j * w.stride + b * w.dilation - w.pad;
        return lt::sum((w.pad > 0 ? P(m, y, x, c) : X(m, y, x, c)) * K(a, b, c), {a, b});
      }));
}

/// Largest of boxes of 3 x 3 x 3 at every place of a volume; lanes lie along what slides.
lt::Program largest(std::int64_t side) {
  lt::Input<std::int32_t, 3> X("X", {side, side, side});
  lt::Reduce a("a", 3), b("b", 3), c("c", 3);
  return lt::program_of(
      lt::compute("Y", {side - 2, side - 2, side - 2}, [&](lt::Var i, lt::Var j, lt::Var k) {
        return lt::reduce_max(X(i + a, j + b, k + c), {a, b, c});
      }));
}

lt::Schedule planned(const lt::Program& program, int cores = 1) {
  lt::Target target("x86-64-v4");
  target.cores = cores;
  return lt::default_schedule(program, target);
}

}  // namespace

TEST_CASE("windows that overlap are computed in tiles of rows and columns") {
  const std::string text = planned(depthwise(1, 24, 64)).str();
  CHECK(has(text, "unrolled for b in 0..3"));
  CHECK(has(text, "unrolled for ji"));
  CHECK(has(text, "unrolled for ki"));
  // Inside of the image nothing asks for the border.
  CHECK(count_of(text, "@partition=\"always\"") == 2);
  CHECK(count_of(planned(depthwise(1, 24, 64, {.pad = 0})).str(), "@partition") == 0);
}

TEST_CASE("windows that share nothing, or have too many taps, have no such tiles") {
  lt::Input<std::int32_t, 3> X("X", {24, 24, 64});
  lt::Reduce a("a", 2), b("b", 2);
  CHECK_FALSE(has(planned(lt::program_of(lt::compute(
                              "Y", {12, 12, 64},
                              [&](lt::Var i, lt::Var j, lt::Var c) {
                                return lt::reduce_max(X(2 * i + a, 2 * j + b, c), {a, b});
                              })))
                      .str(),
                  "unrolled for ji"));
  CHECK_FALSE(has(planned(depthwise(1, 40, 64, {.taps = 100, .pad = 50})).str(), "unrolled for b"));
}

TEST_CASE("threads get rows before borders run apart") {
  const lt::Program one = depthwise(1, 24, 256), many = depthwise(32, 24, 256);
  const std::string alone = planned(one, 8).str(), batch = planned(many, 8).str();
  CHECK(has(alone, "parallel for"));
  CHECK(has(batch, "parallel for i in 0..32"));
  CHECK(count_of(batch, "@partition=\"always\"") > count_of(alone, "@partition=\"always\""));
}

TEST_CASE("tiles of windows compute what the program says") {
  for (const Window& w : {Window{}, Window{.stride = 2}, Window{.dilation = 2, .pad = 2},
                          Window{.pad = 0}, Window{.taps = 5, .stride = 2, .pad = 2},
                          Window{.taps = 7, .pad = 3}, Window{.taps = 2, .pad = 1}})
    for (const std::int64_t side : {8, 13}) {
      CAPTURE(w.taps);
      CAPTURE(side);
      const lt::Program program = depthwise(2, side, 21, w);
      for (const int cores : {1, 8})
        CHECK(test::run(planned(program, cores).program()) == test::run(program));
    }
  const lt::Program volume = largest(11);
  CHECK(test::run(planned(volume).program()) == test::run(volume));
}
