// Indices as they are away from borders.
#include <doctest/doctest.h>

#include <lathe/analysis/borders.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/stmt.hpp>

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

using namespace lathe;
using namespace lathe::detail;

namespace {

/// 0 <= i < n, 0 <= k < 5, 0 <= j < 100, n a size of a call.
struct Places {
  VarRef vn = make_var("n"), vi = make_var("i"), vj = make_var("j"), vk = make_var("k");
  AnyExpr n{vn}, i{vi}, j{vj}, k{vk};
  Facts facts;

  Places() {
    facts.bind(vn, ConstInterval{1, ConstInterval::kPosInf});
    facts.bind(vi, AnyExpr(0), n);
    facts.bind(vj, AnyExpr(0), AnyExpr(100));
    facts.bind(vk, AnyExpr(0), AnyExpr(5));
  }
  std::string away(const AnyExpr& e) const {
    return str(simplify(away_from_borders(e, facts), facts));
  }
  std::string usual(const AnyExpr& e) const {
    const auto value = usual_value(e, facts);
    return !value ? "unknown" : *value ? "yes" : "no";
  }
};

AnyExpr mod(const AnyExpr& a, const AnyExpr& b) { return make_binary(BinaryOp::floormod, a, b); }

}  // namespace

TEST_CASE("a comparison is usually what it is for most of the values of its sides") {
  Places p;
  CHECK(p.usual(p.i < p.n - 2) == "yes");
  CHECK(p.usual(p.i - 2 < p.n) == "yes");
  CHECK(p.usual(p.i >= p.n) == "no");
  CHECK(p.usual(p.i < 2) == "no");
  CHECK(p.usual(p.i + p.k >= 2) == "yes");
  CHECK(p.usual(p.j < 2) == "no");
  CHECK(p.usual(p.j > 2) == "yes");
  CHECK(p.usual(p.j < 98) == "yes");
  // As often as not, or not known: between two sizes of a call.
  CHECK(p.usual(p.j * 2 < 99) == "unknown");
  CHECK(p.usual(p.i * 2 < p.n) == "unknown");
  CHECK(p.usual(make_binary(BinaryOp::eq, p.i, p.k)) == "unknown");
}

TEST_CASE("an index away from borders neither wraps, turns back, nor is clamped") {
  Places p;
  const AnyExpr at = p.i + p.k - 2, size = make_call(CallOp::abs, {at});
  const std::string inside = "i + k - 2";
  CHECK(p.away(make_binary(BinaryOp::max, make_binary(BinaryOp::min, at, p.n - 1), AnyExpr(0))) ==
        inside);
  CHECK(p.away(mod(at, p.n)) == inside);
  CHECK(p.away(size) == inside);
  CHECK(p.away(make_select(size < p.n, size, p.n * 2 - 2 - size)) == inside);
  CHECK(p.away(make_select(at < 0, -1 - at, at)) == inside);
  CHECK(p.away(mod(at, p.n) + p.j * 2) == "i + k + j * 2 - 2");
  // More than one period, or not known to be one: the place itself wraps.
  CHECK(p.away(mod(p.i * 2, p.n)) == "floormod(i * 2, n)");
  CHECK(p.away(mod(p.i + p.n, p.n)) == "i");
  CHECK(p.away(mod(p.j, AnyExpr(30))) == "floormod(j, 30)");
  CHECK(p.away(mod(p.j + 99, AnyExpr(100))) == "j - 1");
}
