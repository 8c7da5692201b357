// Loads of lanes that run through pixels, of which those beyond a border are the outermost one.
#include "strided_loads.hpp"

using namespace lathe;
using namespace test;

namespace {

/// y[l] = x[base + clamp(floordiv(f, c) + shift - 5, low, high) * c + floormod(f, c)] where
/// f = first - 40 + l, in the first `count` lanes.
struct Pixels {
  Build b;
  Buffer x, y;
  AnyExpr base, first, shift, low, high, count;
  int lanes;
  std::int64_t channels;

  Pixels(DType t, int its_lanes, std::int64_t its_channels)
      : lanes(its_lanes), channels(its_channels) {
    x = b.buffer("x", t), y = b.output("y", t);
    base = AnyExpr(b.dim("base")), first = AnyExpr(b.dim("first"));
    shift = AnyExpr(b.dim("shift")), low = AnyExpr(b.dim("low"));
    high = AnyExpr(b.dim("high")), count = AnyExpr(b.dim("count"));
  }
  AnyExpr all(const AnyExpr& e) const { return make_broadcast(e, lanes); }
  AnyExpr lane() const { return make_ramp(first - 40, AnyExpr(1), lanes); }
  AnyExpr pixel() const {
    return make_binary(BinaryOp::floordiv, lane(), all(AnyExpr(channels))) + all(shift - 5);
  }
  AnyExpr channel() const {
    return make_binary(BinaryOp::floormod, lane(), all(AnyExpr(channels)));
  }
  AnyExpr clamped(bool low_end = true, bool high_end = true) const {
    AnyExpr e = pixel();
    if (high_end) e = make_binary(BinaryOp::min, e, all(high));
    return low_end ? make_binary(BinaryOp::max, e, all(low)) : e;
  }
  Program of(const AnyExpr& index) {
    const AnyExpr load = make_load(x, {index}, first_lanes_below(count, lanes));
    return b.done(make_store(y, {ramp(AnyExpr(0), 1, lanes)}, load));
  }
  Program usual() { return of(clamped() * all(AnyExpr(channels)) + channel() + all(base)); }
};

std::string apart(const Program& p, const char* target = "x86-64-v4") {
  return pixel_borders(p, Target(target)).str();
}
bool taken(const Program& p, const char* target = "x86-64-v4") {
  return apart(p, target) != p.str();
}

}  // namespace

TEST_CASE("pixels inside are a dense load, those beyond an end one pixel") {
  Pixels rgb(kU8, 32, 3);
  const std::string text = apart(rgb.usual());
  CAPTURE(text);
  CHECK(count_of(text, "let inside = x[ramp(") + count_of(text, " let inside = x[ramp(") >= 1);
  CHECK(count_of(text, "x[broadcast(") == 6);
  CHECK(count_of(text, "x[") == 7);
  CHECK(count_of(text, "floordiv") == 0);
  Pixels one_end(kF32, 16, 2);
  const AnyExpr two = one_end.all(AnyExpr(2));
  CHECK(count_of(apart(one_end.of(one_end.channel() + one_end.clamped(true, false) * two)), "x[") ==
        3);
}

TEST_CASE("other places stay") {
  Pixels rgb(kU8, 32, 3);
  const AnyExpr three = rgb.all(AnyExpr(3)), four = rgb.all(AnyExpr(4));
  // No end, another number of channels, another lane, a channel twice.
  CHECK_FALSE(taken(rgb.of(rgb.clamped(false, false) * three + rgb.channel())));
  CHECK_FALSE(taken(rgb.of(rgb.clamped() * four + rgb.channel())));
  const AnyExpr other = make_binary(BinaryOp::floormod, rgb.lane() + rgb.all(AnyExpr(1)), three);
  CHECK_FALSE(taken(rgb.of(rgb.clamped() * three + other)));
  CHECK_FALSE(taken(rgb.of(rgb.clamped() * three + rgb.channel() + rgb.channel())));
  CHECK_FALSE(taken(rgb.of(rgb.clamped() * three)));
  Pixels many(kF32, 16, 5);
  CHECK_FALSE(taken(many.usual()));
  // Bytes under a mask are loaded one by one here.
  CHECK_FALSE(taken(rgb.usual(), "x86-64-v2"));
  CHECK(taken(rgb.usual()));
}

TEST_CASE("pixels are what the evaluator loads, and none is read beyond the ends") {
  on_targets({"x86-64-v2", "x86-64-v3", "host"}, [](const Target& target) {
    for (const DType t : {kU8, kF32, kI16})
      for (const int lanes : {4, 16, 32})
        for (const std::int64_t channels : {2, 3, 4}) {
          CAPTURE(lanes);
          CAPTURE(channels);
          Pixels pixels(t, lanes, channels);
          const Program program = pixels.usual();
          const Compared both(program, target);
          const Program parts = pixel_borders(program, target);
          for (const std::uint64_t first : {20, 38, 40, 41, 60})
            for (const std::uint64_t shift : {3, 5, 6})
              // Of ends that cross each other the lowest one is taken.
              for (const std::pair<int, int>& ends : {std::pair(0, 0), {0, 1}, {2, 7}, {3, 1}})
                for (const int count : {0, 3, lanes}) {
                  CAPTURE(first);
                  CAPTURE(shift);
                  const int low = ends.first, high = ends.second;
                  CAPTURE(low);
                  CAPTURE(high);
                  CAPTURE(count);
                  const int size = 2 + static_cast<int>(channels) * (std::max(low, high) + 1);
                  check_pieces(
                      both, program, parts, {elements(t, size), zeros(t, lanes)},
                      {2, first, shift, static_cast<std::uint64_t>(low),
                       static_cast<std::uint64_t>(high), static_cast<std::uint64_t>(count)});
                }
        }
  });
}

TEST_CASE("a pixel whose last channels are not there is not read as a whole") {
  on_targets({"x86-64-v4", "host"}, [](const Target& target) {
    Pixels pixels(kU8, 4, 3);
    const Program program = pixels.usual();
    const Program parts = pixel_borders(program, target);
    CHECK(taken(program));
    // One lane, channel 0 of pixel 2, with which x ends.
    check_pieces(Compared(program, target), program, parts, {elements(kU8, 7), zeros(kU8, 4)},
                 {0, 52, 5, 0, 2, 1});
  });
}
