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
    return piecewise_loads(one.of(index), target).str();
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
  CHECK(count_of(piecewise_loads(bytes.of(bytes.between(1)), Target("x86-64-v2")).str(),
                 "select(") == 0);
}

namespace {

AnyExpr compared(BinaryOp op, const AnyExpr& a, const AnyExpr& b) { return make_binary(op, a, b); }

/// Places before 0 and from `high` on, turned back at these ends: the outermost element is there
/// once, or twice.
AnyExpr turned_back(const Border& one, bool twice) {
  const AnyExpr lane = make_ramp(one.first - 40, AnyExpr(1), one.lanes);
  const AnyExpr last = one.all(one.high * 2 - (twice ? 1 : 2));
  if (twice) {
    const AnyExpr below =
        make_select(compared(BinaryOp::lt, lane, one.all(0)),
                    make_ramp(AnyExpr(39) - one.first, AnyExpr(-1), one.lanes), lane);
    return make_select(compared(BinaryOp::lt, lane, one.all(one.high)), below, last - lane);
  }
  const AnyExpr size = make_call(CallOp::abs, {lane});
  return make_select(compared(BinaryOp::lt, size, one.all(one.high)), size, last - size);
}

}  // namespace

TEST_CASE("lanes that turn back at an end are dense loads of both directions") {
  for (bool twice : {false, true}) {
    Border one(kF32, 8);
    const std::string text =
        piecewise_loads(one.of(turned_back(one, twice)), Target("x86-64-v4")).str();
    CAPTURE(text);
    CHECK(count_of(text, " = x[ramp(") == (twice ? 3 : 4));
    CHECK(count_of(text, "-1, 8)") >= 2);
    CHECK(count_of(text, "abs(") == 0);
  }
  // More pieces than loads should be, and lanes that are no pieces.
  Border many(kF32, 8);
  AnyExpr index = turned_back(many, false);
  index = make_binary(BinaryOp::min, index, many.all(many.low));
  CHECK(count_of(piecewise_loads(many.of(index), Target("x86-64-v4")).str(), "part") == 0);
  Border apart(kF32, 8);
  const AnyExpr even = make_ramp(apart.first, AnyExpr(2), 8);
  CHECK(
      count_of(piecewise_loads(apart.of(make_call(CallOp::abs, {even})), Target("x86-64-v4")).str(),
               "part") == 0);
}

TEST_CASE("lets of an index or a mask are renewed where these are written several times") {
  Border one(kF32, 8);
  const VarRef row = make_var("row", kIndex), end = make_var("end", kIndex);
  const auto bound = [](const VarRef& var, const AnyExpr& value) {
    return make_let({{var, value * value}}, AnyExpr(var) * AnyExpr(var));
  };
  for (const AnyExpr& lanes : {one.between(1), turned_back(one, true)}) {
    const AnyExpr index = lanes + one.all(bound(row, one.base));
    const AnyExpr load = make_load(one.x, {index}, first_lanes_below(bound(end, one.count), 8));
    Border again = one;
    const Program p = again.b.done(make_store(one.y, {ramp(AnyExpr(0), 1, 8)}, load));
    const Program out = piecewise_loads(p, Target("x86-64-v4"));
    CAPTURE(out.str());
    CHECK(count_of(out.str(), "let row") >= 3);
    CHECK(verify_reason(out, Stage::machine) == "");
  }
}

TEST_CASE("places that turn back are what the evaluator loads") {
  on_targets({"x86-64-v2", "x86-64-v3", "host"}, [](const Target& target) {
    for (DType t : {kF32, kU8})
      for (int lanes : {4, 16, 32})
        for (bool twice : {false, true}) {
          CAPTURE(lanes);
          CAPTURE(twice);
          Border one(t, lanes);
          const Program program = one.of(turned_back(one, twice));
          const Compared both(program, target);
          const Program parts = piecewise_loads(program, target);
          for (std::uint64_t first : {10, 39, 40, 45})
            for (int high : {40, 60}) {
              CAPTURE(first);
              CAPTURE(high);
              check_pieces(both, program, parts, {elements(t, 1 + high), zeros(t, lanes)},
                           {1, first, 0, static_cast<std::uint64_t>(high),
                            static_cast<std::uint64_t>(lanes)});
            }
        }
  });
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
