// How far apart in memory a loop's iterations are: of numbers, and of sizes that only a call tells.
#include <doctest/doctest.h>

#include <lathe/analysis/flat_stride.hpp>
#include <lathe/ir/print.hpp>

using namespace lathe;
using namespace lathe::detail;

namespace {

struct Places {
  VarRef f = make_var("f"), w = make_var("w"), s = make_var("s");
  AnyExpr three{3};
  Buffer pixels = make_buffer("X", kU8, {AnyExpr(w), three});
  /// The same, with gaps between pixels.
  Buffer apart = strided({AnyExpr(s), AnyExpr(1)}), dense = strided({three, AnyExpr(1)});
  /// Loop f over pixels and channels.
  Vec<AnyExpr> digits{floordiv(AnyExpr(f), three), floormod(AnyExpr(f), three)};

  Buffer strided(const Vec<AnyExpr>& strides) const {
    BufferNode node = *pixels;
    node.strides = strides;
    return Buffer(new BufferNode(std::move(node)));
  }
};

}  // namespace

TEST_CASE("a quotient and its rest are one step where rows follow each other") {
  Places p;
  CHECK(flat_stride(*p.pixels, p.digits, p.f) == std::int64_t{1});
  CHECK(flat_stride(*p.dense, p.digits, p.f) == std::int64_t{1});
  CHECK_FALSE(flat_stride(*p.apart, p.digits, p.f));
  // Another divisor than the row has elements.
  const Vec<AnyExpr> other{floordiv(AnyExpr(p.f), AnyExpr(2)), floormod(AnyExpr(p.f), AnyExpr(2))};
  CHECK_FALSE(flat_stride(*p.pixels, other, p.f));
}

TEST_CASE("strides that are declared count, not extents") {
  Places p;
  const Vec<AnyExpr> row{AnyExpr(p.f), AnyExpr(0)}, channel{AnyExpr(0), AnyExpr(p.f) * 2};
  CHECK(flat_stride(*p.pixels, row, p.f) == std::int64_t{3});
  CHECK(flat_stride(*p.dense, row, p.f) == std::int64_t{3});
  CHECK_FALSE(flat_stride(*p.apart, row, p.f));
  CHECK(flat_stride(*p.apart, channel, p.f) == std::int64_t{2});
}

TEST_CASE("a stride may be a size that a call tells") {
  Places p;
  const Buffer image = make_buffer("I", kU8, {AnyExpr(9), AnyExpr(p.w), p.three});
  const Vec<AnyExpr> row{AnyExpr(p.f), AnyExpr(0), AnyExpr(0)};
  CHECK_FALSE(flat_stride(*image, row, p.f));
  CHECK(str(simplify(symbolic_stride(*image, row, p.f))) == "w * 3");
  CHECK(str(simplify(symbolic_stride(*p.apart, {AnyExpr(p.f), AnyExpr(0)}, p.f))) == "s");
  // What is loaded for an index stays where it is; a square does not.
  const AnyExpr loaded = make_cast(kIndex, make_load(p.pixels, {AnyExpr(p.f), AnyExpr(0)}));
  CHECK(is_const(symbolic_stride(*p.pixels, {loaded, AnyExpr(0)}, p.f), 0));
  CHECK_FALSE(symbolic_stride(*p.pixels, {AnyExpr(p.f) * AnyExpr(p.f), AnyExpr(0)}, p.f).get());
}
