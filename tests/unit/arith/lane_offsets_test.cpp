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
