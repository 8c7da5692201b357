// Loads beyond a border, where only a call tells where it is.
#include "strided_loads.hpp"

using namespace lathe;
using namespace test;

namespace {

/// y[l] = x[base + the lanes from `first` on, one or two apart, of which none is below `low` or
/// above `high`], in the first `count` lanes.
struct Border {
  Build b;
  Buffer x, y;
  AnyExpr base, first, low, high, count;
  int lanes;

  Border(DType t, int its_lanes) : lanes(its_lanes) {
    x = b.buffer("x", t), y = b.output("y", t);
    base = AnyExpr(b.dim("base")), first = AnyExpr(b.dim("first")), low = AnyExpr(b.dim("low"));
    high = AnyExpr(b.dim("high")), count = AnyExpr(b.dim("count"));
  }
  AnyExpr all(const AnyExpr& e) const { return make_broadcast(e, lanes); }
  Program of(const AnyExpr& index) {
    const AnyExpr load = make_load(x, {all(base) + index}, first_lanes_below(count, lanes));
    return b.done(make_store(y, {ramp(AnyExpr(0), 1, lanes)}, load));
  }
  AnyExpr between(std::int64_t stride) const {
    const AnyExpr lane = make_ramp(first - 40, AnyExpr(stride), lanes);
    return make_binary(BinaryOp::max, make_binary(BinaryOp::min, lane, all(high)), all(low));
  }
};

}  // namespace

TEST_CASE("lanes up to an end are a dense load, and one element beyond it") {
  Border one(kF32, 8);
  const AnyExpr lane = make_ramp(one.first, AnyExpr(1), 8);
  const Target target("x86-64-v4");
  const auto text = [&](const AnyExpr& index) {
    return clamped_loads(one.of(index), target).str();
  };
  const std::string low = text(make_binary(BinaryOp::max, lane, one.all(one.low)));
  CHECK(low.find("let end = x[broadcast(base + low, 8)") != std::string::npos);
  CHECK(low.find("let inside = x[ramp(base + first, 1, 8)") != std::string::npos);
  CHECK(low.find("select(ramp(first, 1, 8) < broadcast(low, 8), end, inside)") !=
        std::string::npos);
  // Of two ends each has its choice.
  CHECK(count_of(text(one.between(1)), "select(") == 2);
  // Lanes that follow each other, or numbers: others say that.
  CHECK(count_of(text(lane), "select(") == 0);
  CHECK(count_of(text(make_binary(BinaryOp::max, ramp(AnyExpr(-1), 1, 8), one.all(AnyExpr(0)))),
                 "select(") == 0);
  // Bytes under a mask are loaded one by one here.
  Border bytes(kU8, 8);
  CHECK(count_of(clamped_loads(bytes.of(bytes.between(1)), Target("x86-64-v3")).str(), "select(") ==
        0);
}

TEST_CASE("borders load what the evaluator loads, and none reads further") {
  for (const char* name : {"x86-64-v2", "x86-64-v3", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    CAPTURE(name);
    for (DType t : {kF32, kU8, kF64})
      for (int lanes : {4, 16, 32})
        for (std::int64_t stride : {1, 2}) {
          CAPTURE(lanes);
          CAPTURE(stride);
          Border one(t, lanes);
          const Compared both(one.of(one.between(stride)), target);
          // Above both ends, across each, across both at once, below; ends that change places.
          for (int first : {0, 38, 40, 47, 120})
            for (int high : {0, 3, 60})
              for (int count : {0, 1, lanes}) {
                CAPTURE(first);
                CAPTURE(high);
                CAPTURE(count);
                const auto as = [](int v) { return static_cast<std::uint64_t>(v); };
                // x ends with the last element that a lane may take.
                const int low = 2, last = 1 + std::max(low, high);
                both.check({elements(t, last + 1), zeros(t, lanes)},
                           {as(1), as(first), as(low), as(high), as(count)});
              }
        }
  }
}
