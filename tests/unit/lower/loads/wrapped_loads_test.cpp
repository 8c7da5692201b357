// Loads that go on at the other end of a period.
#include "strided_loads.hpp"

using namespace lathe;
using namespace test;

namespace {

/// y[l] = x[base + (first - 40 + l * stride) mod period], in the first `count` lanes.
struct Ring {
  Build b;
  Buffer x, y;
  AnyExpr base, first, period, count;
  int lanes;

  Ring(DType t, int its_lanes) : lanes(its_lanes) {
    x = b.buffer("x", t), y = b.output("y", t);
    base = AnyExpr(b.dim("base")), first = AnyExpr(b.dim("first"));
    period = AnyExpr(b.dim("period")), count = AnyExpr(b.dim("count"));
  }
  AnyExpr all(const AnyExpr& e) const { return make_broadcast(e, lanes); }
  Program of(const AnyExpr& from, std::int64_t stride, bool masked = true) {
    const AnyExpr place =
        make_binary(BinaryOp::floormod, make_ramp(from, AnyExpr(stride), lanes), all(period));
    const AnyExpr index = place + all(base);
    const AnyExpr load =
        masked ? make_load(x, {index}, first_lanes_below(count, lanes)) : make_load(x, {index});
    return b.done(make_store(y, {ramp(AnyExpr(0), 1, lanes)}, load));
  }
};

std::string text_of(Ring& ring, std::int64_t stride) {
  return wrapped_loads(ring.of(ring.first - 40, stride)).str();
}

}  // namespace

TEST_CASE("lanes that wrap around are one dense load, or the ends of two") {
  Ring ring(kF32, 8);
  const std::string up = text_of(ring, 1);
  CAPTURE(up);
  CHECK(up.find("let start = floormod(first - 40, period)") != std::string::npos);
  CHECK(up.find("select(start + 7 < period, x[ramp(base + start, 1, 8)") != std::string::npos);
  CHECK(up.find("select(ramp(start, 1, 8) < broadcast(period, 8), ramp(start, 1, 8), "
                "ramp(start - period, 1, 8))") != std::string::npos);
  // As many lanes as are there must fit into the period.
  CHECK(up.find("select(min(8, count) <= period") != std::string::npos);
  Ring back(kF32, 8);
  CAPTURE(text_of(back, -1));
  CHECK(text_of(back, -1).find("ramp(start + period, -1, 8)") != std::string::npos);
  // Lanes further apart wrap around more than once, or are one load.
  Ring apart(kF32, 8);
  CHECK(count_of(text_of(apart, 2), "select(") == 1);
  // Numbers are shuffles; what may leave the integers is not what it looks like.
  Ring number(kF32, 8);
  const AnyExpr known =
      make_binary(BinaryOp::floormod, ramp(AnyExpr(6), 1, 8), number.all(AnyExpr(8)));
  CHECK(count_of(wrapped_loads(number.b.done(make_store(number.y, {ramp(AnyExpr(0), 1, 8)},
                                                        make_load(number.x, {known}))))
                     .str(),
                 "select(") == 0);
  Ring hash(kF32, 8);
  CHECK(count_of(wrapped_loads(hash.of(hash.first * AnyExpr(std::int64_t{1} << 61), 1)).str(),
                 "select(") == 0);
}

TEST_CASE("rings load what the evaluator loads, and none reads beyond them") {
  on_targets({"x86-64-v2", "x86-64-v3", "host"}, [](const Target& target) {
    for (DType t : {kF32, kU8, kF64})
      for (int lanes : {4, 16, 32})
        for (std::int64_t stride : {1, -1, 2}) {
          CAPTURE(lanes);
          CAPTURE(stride);
          Ring ring(t, lanes);
          const Program program = ring.of(ring.first - 40, stride);
          const Compared both(program, target);
          const Program parts = piecewise_loads(wrapped_loads(program), target);
          for (std::uint64_t first : {0, 39, 40, 47, 120})
            for (int period : {1, 3, 16, 61})
              for (int count : {0, 1, lanes}) {
                CAPTURE(first);
                CAPTURE(period);
                CAPTURE(count);
                // x ends with the period.
                check_pieces(both, program, parts, {elements(t, 1 + period), zeros(t, lanes)},
                             {1, first, static_cast<std::uint64_t>(period),
                              static_cast<std::uint64_t>(count)});
              }
        }
  });
}
