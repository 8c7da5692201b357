// Vectors of indices whose lanes are evenly apart.
#include <doctest/doctest.h>

#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/print.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/arith/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

std::string even(const AnyExpr& e, const Facts& facts = {}) {
  const AnyExpr out = even_lanes(e, facts);
  return out.get() ? str(out) : "none";
}

}  // namespace

TEST_CASE("quotient and remainder of a ramp are the ramp again where they meet") {
  const VarRef xv = make_var("x"), mv = make_var("m");
  const AnyExpr x(xv), m(mv);
  const auto wide = [](const AnyExpr& e) { return make_broadcast(e, 8); };
  const AnyExpr ramp = make_ramp(x * 8, AnyExpr(1), 8), by = wide(14);
  CHECK(even(floordiv(ramp, by) * by + floormod(ramp, by)) == "ramp(x * 8, 1, 8)");
  CHECK(even((floordiv(ramp, by) * by + floormod(ramp, by)) * wide(3) + wide(x)) ==
        "ramp(x * 25, 3, 8)");
  const AnyExpr rows = floormod(floordiv(ramp, by), wide(6));
  CHECK(even(floordiv(ramp, wide(84)) * wide(84) + rows * by + floormod(ramp, by)) ==
        "ramp(x * 8, 1, 8)");
  CHECK(even(floordiv(ramp, wide(8))) == "broadcast(x, 8)");
  CHECK(even(make_ramp(x, m, 8)) == "none");
  CHECK(even(floordiv(ramp, by) * wide(16) + floormod(ramp, by)) == "none");
  CHECK(even(floordiv(ramp, by)) == "none");
  CHECK(even(x) == "none");
  CHECK(even(make_broadcast(make_ramp(x, AnyExpr(1), 4), 2)) == "none");
}

TEST_CASE("a choice by lanes is numbers apart where each lane knows its arm") {
  const AnyExpr x(make_var("x"));
  const auto all = [](const AnyExpr& e) { return make_broadcast(e, 8); };
  const AnyExpr lane = make_ramp(AnyExpr(0), AnyExpr(1), 8), half = floordiv(lane, all(2));
  const AnyExpr odd = make_binary(BinaryOp::ne, floormod(lane, all(2)), all(0));
  const auto known = lane_offsets(make_select(odd, all(x * 4 + 1) + half, all(x * 4 - 1) + half));
  REQUIRE(known);
  CHECK(str(simplify(known->base + known->offsets[0])) == "x * 4 - 1");
  const Vec<std::int64_t> apart{0, 2, 1, 3, 2, 4, 3, 5};
  for (std::size_t l = 0; l < 8; ++l) CHECK(known->offsets[l] - known->offsets[0] == apart[l]);
  CHECK_FALSE(lane_offsets(make_select(odd, all(x), all(x * 2))));
  CHECK_FALSE(
      lane_offsets(make_select(make_binary(BinaryOp::lt, lane, all(x)), lane, lane + all(1))));
}

TEST_CASE("what one lane of a vector is, by its number") {
  const VarRef lane = make_var("lane"), xv = make_var("x"), v = make_var("v", kIndex.with_lanes(8));
  const AnyExpr x(xv);
  const auto all = [](const AnyExpr& e) { return make_broadcast(e, 8); };
  const AnyExpr ramp = make_ramp(x, AnyExpr(3), 8);
  const auto text = [&](const AnyExpr& e) {
    const AnyExpr out = in_lane(e, lane);
    return out.get() ? str(out) : "none";
  };
  CHECK(text(ramp * all(x)) == "(x + lane * 3) * x");
  CHECK(text(x * 2) == "x * 2");
  const Buffer b = make_buffer("b", kU8, {AnyExpr(100)});
  const AnyExpr mask = make_binary(BinaryOp::lt, ramp, all(x));
  CHECK(text(make_load(b, {ramp})) == "b[x + lane * 3]");
  CHECK(text(make_load(b, {ramp}, mask)) == "select(x + lane * 3 < x, b[x + lane * 3], 0u8)");
  CHECK(text(make_select(mask, make_cast(kF32.with_lanes(8), ramp),
                         make_float(kF32.with_lanes(8), 1))) ==
        "select(x + lane * 3 < x, f32(x + lane * 3), 1.0)");
  CHECK(text(make_let({{v, ramp}}, AnyExpr(v) + all(x))) == "(let v = x + lane * 3 in v + x)");
  const VarRef q = make_var("q");
  CHECK(text(make_let({{q, x * x}}, all(AnyExpr(q) + 1) + ramp)) ==
        "(let q = x * x in q + 1 + (x + lane * 3))");
  // Lanes that take from others, and vectors of vectors.
  CHECK(text(make_let({{v, ramp}}, all(make_shuffle({AnyExpr(v)}, {2})))) == "none");
  CHECK(text(make_shuffle({ramp}, {7, 6, 5, 4, 3, 2, 1, 0})) == "none");
  CHECK(text(ramp + make_shuffle({ramp}, {7, 6, 5, 4, 3, 2, 1, 0})) == "none");
  CHECK(text(make_shuffle({ramp}, {7, 6, 5, 4, 3, 2, 1, 0}) + ramp) == "none");
  CHECK(text(make_broadcast(make_ramp(x, AnyExpr(1), 4), 2)) == "none");
  CHECK(text(AnyExpr(v)) == "none");
}
