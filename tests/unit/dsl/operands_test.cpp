// Numbers of 64 bits keep all of them, and operands that are none are the user's mistakes, whatever
// door they come through.
#include <doctest/doctest.h>

#include <array>
#include <lathe/lathe.hpp>
#include <limits>
#include <support/errors.hpp>
#include <vector>

namespace lt = lathe;
using lt::AnyExpr;
using lt::AnyValue;

namespace {

constexpr std::int64_t kOdd = 9007199254740993;  // 2^53 + 1, which is no double
constexpr std::uint64_t kLarge = 18446744073709551613u;

std::int64_t int_of(const AnyExpr& e) {
  const auto* value = lt::as_const_int(e);
  return value ? *value : 0;
}

template <class F>
std::string compute_error(F body) {
  lt::AnyTensor X = lt::make_input("X", lt::kI64, {4});
  return test::error_of([&] {
    lt::compute_any("Y", {4},
                    [&](std::span<const lt::VarRef> at) { return AnyValue(body(X.at({at[0]}))); });
  });
}

}  // namespace

TEST_CASE("constants of 64 bits are exact in operators of the untyped core") {
  lt::AnyTensor X = lt::make_input("X", lt::kI64, {4}), U = lt::make_input("U", lt::kU64, {4});
  auto Y = lt::compute_any("Y", {4}, [&](std::span<const lt::VarRef> at) {
    AnyValue out;
    const AnyExpr x = X.at({at[0]}), u = U.at({at[0]});
    out.values = {x + kOdd, kOdd - x, u + kLarge, x * std::numeric_limits<std::int64_t>::min()};
    return out;
  });
  std::vector<std::int64_t> x = {0, 1, -1, 5}, sum(4), difference(4), low(4);
  std::vector<std::uint64_t> u = {0, 1, 2, 5}, large(4);
  for (bool compiled : {false, true}) {
    lt::Source source(lt::outputs(Y[0], Y[1], Y[2], Y[3]));
    const lt::Vec<lt::ProgramParam> params = {X, U, Y[0], Y[1], Y[2], Y[3]};
    lt::AnyKernel f = compiled ? lt::jit_any(source, params) : lt::evaluate_any(source, params);
    f(std::array<lt::AnyView, 6>{lt::view(x), lt::view(u), lt::view(sum), lt::view(difference),
                                 lt::view(large), lt::view(low)});
    CHECK(sum[1] == kOdd + 1);
    CHECK(difference[3] == kOdd - 5);
    CHECK(large[1] == kLarge + 1);
    CHECK(low[1] == std::numeric_limits<std::int64_t>::min());
  }
}

TEST_CASE("constants of 64 bits are exact by the other doors") {
  CHECK(int_of(lt::make_const(lt::kI64, kOdd)) == kOdd);
  CHECK(int_of(lt::make_const(lt::kI64, std::numeric_limits<std::int64_t>::max())) == INT64_MAX);
  CHECK(int_of(lt::make_const(lt::kU64, kLarge)) == static_cast<std::int64_t>(kLarge));
  CHECK(int_of(lt::Expr<std::int64_t>(kOdd).any()) == kOdd);
  CHECK(int_of(lt::Expr<std::uint64_t>(kLarge).any()) == static_cast<std::int64_t>(kLarge));
  // Doubles beyond 64 bits are the nearest number, not whatever a conversion does.
  CHECK(int_of(lt::make_const(lt::kI64, -1e300)) == INT64_MIN);
  CHECK(int_of(lt::make_const(lt::kU64, 0x1.8p63)) == static_cast<std::int64_t>(3ull << 62));
  CHECK(int_of(lt::make_const(lt::kU64, 1e300)) == -1);
  CHECK(int_of(lt::make_const(lt::kI64, std::nan(""))) == 0);
  CHECK(int_of(lt::make_const(lt::kI32, 2.75)) == 2);

  lt::Input<std::int64_t, 1> X("X", {4});
  lt::Reduce r("r", 4);
  auto top = lt::reducer("top", lt::Expr<std::int64_t>(-kOdd),
                         [](auto a, auto b) { return lt::max(a, b); });
  auto padded = lt::compute("P", {6}, [&](lt::Var i) { return lt::pad(X, kOdd)(i - 1); });
  auto folded =
      lt::compute("F", {}, [&] { return top(std::tuple<lt::Expr<std::int64_t>>(X(r) - kOdd), r); });
  const std::string text = lt::Schedule(lt::outputs(padded, folded)).str();
  CHECK(text.find("9007199254740993") != std::string::npos);
  CHECK(text.find("9007199254740992") == std::string::npos);
  CHECK(lt::parse(text).str() == text);
}

TEST_CASE("an operand that is none is reported at the compute") {
  const AnyExpr none;
  const std::string undefined = "an operand is undefined: an expression that was given no value";
  CHECK(compute_error([&](AnyExpr x) { return x + none; }) == "L0116 " + undefined);
  CHECK(compute_error([&](AnyExpr) { return none + 1; }) == "L0116 " + undefined);
  CHECK(compute_error([&](AnyExpr) { return 1 - none; }) == "L0116 " + undefined);
  CHECK(compute_error([&](AnyExpr) { return -none; }) == "L0116 " + undefined);
  CHECK(compute_error([&](AnyExpr x) { return lt::make_select(none, x, x); }).find("L0116") == 0);
  CHECK(compute_error([&](AnyExpr) { return lt::make_cast(lt::kI64, none); }).find("L0116") == 0);
  CHECK(compute_error([&](AnyExpr) {
          return lt::make_call(lt::CallOp::abs, {none});
        }).find("L0116") == 0);
  CHECK(compute_error([&](AnyExpr) { return lt::make_broadcast(none, 4); }).find("L0116") == 0);
  CHECK(compute_error([&](AnyExpr x) { return lt::make_ramp(x, none, 4); }).find("L0116") == 0);
  CHECK(compute_error([&](AnyExpr x) {
          return lt::make_let(lt::make_var("t"), none, x);
        }).find("L0116") == 0);
  CHECK(compute_error([&](AnyExpr) { return none; }) ==
        "L0116 the body of 'Y' gives an undefined value");
  CHECK(test::error_of([&] { (void)(none + 1); }) == "L0116 " + undefined);
}

TEST_CASE("parts of a reduction, a shape or an index that are none are reported") {
  const AnyExpr none;
  lt::AnyTensor X = lt::make_input("X", lt::kI64, {4}), undefined;
  const lt::AnyReduce r = lt::make_reduce("r", 0, 4);
  auto error = [&](auto fill) {
    return test::error_of([&] {
      lt::compute_any("Y", {}, [&](std::span<const lt::VarRef>) {
        AnyValue v(X.at({AnyExpr(r.var)}));
        v.reducer = lt::sum_reducer(lt::kI64);
        v.axes = {r};
        fill(v);
        return v;
      });
    });
  };
  CHECK(error([](AnyValue&) {}) == "none");
  CHECK(error([&](AnyValue& v) { v.values[0] = none; }).find("L0116") == 0);
  CHECK(error([&](AnyValue& v) { v.axes[0].min = none; }).find("L0116") == 0);
  CHECK(error([&](AnyValue& v) { v.axes[0].extent = none; }).find("L0116") == 0);
  CHECK(error([&](AnyValue& v) { v.axes[0].var = {}; }).find("L0116") == 0);
  CHECK(error([&](AnyValue& v) { v.reducer = lt::sum_reducer(lt::kBool); }).find("L0107") == 0);
  CHECK(error([&](AnyValue& v) { v.values.clear(); }).find("L0116") == 0);
  CHECK(test::error_of([&] { X.at({none}); }).find("L0104") == 0);
  CHECK(test::error_of([&] { undefined.at({none}); }).find("L0116") == 0);
  CHECK(test::error_of([&] { lt::make_input("Z", lt::kF32, {lt::Extent(none)}); }).find("L0104") ==
        0);
  CHECK(test::error_of([&] { lt::make_reduce("q", lt::Extent(none), 4); }).find("L0104") == 0);
  CHECK(test::error_of([&] { lt::Expr<float>{none}; }).find("L0109") == 0);
  const AnyExpr indices[] = {none, none};
  CHECK(test::error_of([&] { lt::in_bounds_any(X, std::span(indices, 1)); }).find("L0104") == 0);
  CHECK(test::error_of([&] { lt::clamp_any(X, std::span(indices, 2)); }).find("L0108") == 0);
  CHECK(test::error_of([&] { lt::clamped_any(X, std::span(indices, 2)); }).find("L0108") == 0);
  CHECK(test::error_of([&] {
          lt::make_reducer("q", {none}, [](auto, auto) { return lt::Vec<AnyExpr>{}; });
        }).find("L0116") == 0);
  CHECK(test::error_of([&] {
          lt::make_reducer("q", {AnyExpr(0)}, [&](auto, auto) { return lt::Vec<AnyExpr>{none}; });
        }).find("L0116") == 0);
}
