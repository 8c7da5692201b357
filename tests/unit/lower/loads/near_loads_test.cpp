// Loads whose lanes are known numbers apart become dense loads and shuffles.
#include <lathe/ir/visit.hpp>

#include "strided_loads.hpp"

using namespace lathe;
using namespace test;

namespace {

/// y[l] = x[index[l]], and for each index the loads that it becomes.
struct OneLoad {
  Build b;
  Buffer x, y;

  explicit OneLoad(DType t = kF32, int elements = 4096)
      : x(b.buffer("x", t, Access::in, AnyExpr(elements))), y(b.output("y", t)) {}
  Program of(const AnyExpr& index, int active = 0) {
    const int lanes = index.dtype().lanes;
    AnyExpr mask;
    if (active > 0) mask = ramp(AnyExpr(0), 1, lanes) < make_broadcast(AnyExpr(active), lanes);
    return b.done(make_store(y, {ramp(AnyExpr(0), 1, lanes)}, make_load(x, {index}, mask)));
  }
};

AnyExpr lanes_from(std::int64_t first, int lanes) { return ramp(AnyExpr(first), 1, lanes); }
AnyExpr all(std::int64_t value, int lanes) { return make_broadcast(AnyExpr(value), lanes); }

AnyExpr larger(const AnyExpr& a, const AnyExpr& b) { return make_binary(BinaryOp::max, a, b); }
AnyExpr smaller(const AnyExpr& a, const AnyExpr& b) { return make_binary(BinaryOp::min, a, b); }

// Loads of vectors that are no ramps.
std::size_t loads_of_lanes(const Program& p) {
  struct Loads : Visitor {
    std::size_t count = 0;
    void expr(const AnyExpr& e) override {
      const auto* n = e.as<LoadNode>();
      if (n && n->dtype.lanes > 1 && n->indices[0].kind() != ExprKind::Ramp) ++count;
      descend(e);
    }
  } loads;
  loads.stmt(p->body);
  return loads.count;
}

std::string text(const Program& p) { return near_loads(p, host()).str(); }

}  // namespace

TEST_CASE("a border that repeats the outermost element is two dense loads and a shuffle") {
  const std::string left = text(OneLoad().of(larger(lanes_from(-1, 8), all(0, 8))));
  CHECK(left.find("shuffle(x[ramp(0, 1, 4)], x[ramp(3, 1, 4)]; 0, 0, 1, 2, 3, 5, 6, 7)") !=
        std::string::npos);
  // Wherever they begin.
  const std::string near = text(OneLoad().of(larger(lanes_from(-1, 8), all(0, 8)) + all(5, 8)));
  CHECK(near.find("x[ramp(5, 1, 4)]") != std::string::npos);
  const std::string right = text(OneLoad().of(smaller(lanes_from(10, 8), all(13, 8))));
  CHECK(right.find("shuffle(x[ramp(10, 1, 4)]; 0, 1, 2, 3, 3, 3, 3, 3)") != std::string::npos);
}

TEST_CASE("a border that goes on at the other side is two groups") {
  const std::string wrapped = text(OneLoad().of(floormod(lanes_from(99, 8), all(100, 8))));
  INFO(wrapped);
  CHECK(wrapped.find("broadcast(x[99], 8)") != std::string::npos);
  CHECK(wrapped.find("x[ramp(0, 1, 4)]") != std::string::npos);
}

TEST_CASE("lanes without a number, far apart in three places, or in order stay as they are") {
  OneLoad one;
  const VarRef n = make_var("n");
  const Program unknown = one.of(smaller(lanes_from(0, 8), make_broadcast(AnyExpr(n), 8)));
  CHECK(text(unknown) == unknown.str());
  OneLoad two;
  const Program far = two.of(floormod(lanes_from(0, 8), all(3, 8)) * all(1000, 8));
  CHECK(text(far) == far.str());
  OneLoad three;
  const Program dense = three.of(lanes_from(3, 8));
  CHECK(text(dense) == dense.str());
}

TEST_CASE("known lanes are what the evaluator loads, and none reads further") {
  Vec<Target> targets{Target("x86-64-v2"), Target("x86-64-v3"), host()};
  for (const Target& target : targets) {
    if (!target.runs_on(host())) continue;
    CAPTURE(target.name);
    for (DType t : {kF32, kF64, kU8, kI16, kBool})
      for (int lanes : {2, 4, 8, 16, 32, 64})
        for (int active : {0, 1, lanes - 1})
          for (int kind = 0; kind < 4; ++kind) {
            CAPTURE(lanes);
            CAPTURE(active);
            CAPTURE(kind);
            const std::int64_t last = lanes + 2;  // of the elements
            const AnyExpr index =
                kind == 0   ? larger(lanes_from(-2, lanes), all(0, lanes))
                : kind == 1 ? smaller(lanes_from(last - lanes / 2, lanes), all(last, lanes))
                : kind == 2 ? floormod(lanes_from(last - 1, lanes), all(last + 1, lanes))
                            : larger(floordiv(lanes_from(0, lanes), all(3, lanes)) - all(1, lanes),
                                     all(0, lanes));
            OneLoad one(t, lanes + 3);
            const Program p = one.of(index, active), near = near_loads(p, host());
            const std::vector<Bytes> data{elements(t, lanes + 3), zeros(t, lanes)};
            CHECK(loads_of_lanes(near) == 0);
            CHECK(evaluated(near, data)[1].data == evaluated(p, data)[1].data);
            check_against_evaluator(p, data, {}, target);
          }
  }
}

TEST_CASE("lanes that a call counts load no element but theirs") {
  for (const char* name : {"x86-64-v3", "x86-64-v4", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    CAPTURE(name);
    for (DType t : {kF32, kU8, kI16})
      for (int lanes : {4, 16, 64})
        for (int kind = 0; kind < 3; ++kind) {
          CAPTURE(lanes);
          CAPTURE(kind);
          const AnyExpr lane = lanes_from(0, lanes);
          const AnyExpr index = kind == 0   ? floordiv(lane, all(2, lanes))
                                : kind == 1 ? floormod(lane, all(3, lanes))
                                            : all(lanes, lanes) - floordiv(lane, all(3, lanes));
          OneLoad one(t, lanes + 1);
          const AnyExpr n(one.b.dim("n"));
          const Program p = one.b.done(
              make_store(one.y, {lane}, make_load(one.x, {index}, first_lanes_below(n, lanes))));
          const Program near = near_loads(count_lanes(p, target), target);
          CHECK((loads_of_lanes(near) == 0) ==
                (t.element_bytes() >= TargetCaps(target).masked_bytes));
          for (int count : {0, 1, 2, lanes - 1, lanes}) {
            CAPTURE(count);
            const std::vector<Bytes> data{elements(t, lanes + 1), zeros(t, lanes)};
            check_against_evaluator(p, data, {static_cast<std::uint64_t>(count)}, target);
          }
        }
  }
}
