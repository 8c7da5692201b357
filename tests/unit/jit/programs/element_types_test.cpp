// Which C++ types carry which element types: in declarations, literals, typed and untyped calls.
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <support/errors.hpp>

namespace lt = lathe;
using test::error_of;

namespace {

struct Wrapped {
  std::int32_t value = 0;
};
struct Half {
  std::uint16_t bits = 0;
};

// What a call says about a view of Given elements for a parameter of type T.
template <class T, class Given>
std::string call_with() {
  lt::Input<T, 1> X("X", {2});
  auto Y = lt::compute("Y", {2}, [&](lt::Var i) { return X(i); });
  auto f = lt::evaluate(Y, X, Y).any();
  std::vector<Given> x(2);
  std::vector<T> y(2);
  return error_of([&] { f(std::array{lt::AnyView(lt::view(x)), lt::AnyView(lt::view(y))}); });
}

std::string refusal(const std::string& given, const std::string& wanted) {
  return "L0301 'X': the view has elements of " + given + ", but the parameter is " + wanted;
}

}  // namespace

template <>
struct lathe::ElementTypeOf<Half> {
  static constexpr ElementType value{ElementType::floating, 16};
};

TEST_CASE("calls of the untyped core take data of the parameter's type alone") {
  CHECK(call_with<lt::f16, lt::f16>() == "none");
  CHECK(call_with<lt::bf16, lt::bf16>() == "none");
  CHECK(call_with<lt::f8e4m3, lt::f8e4m3>() == "none");
  CHECK(call_with<lt::f8e5m2, lt::f8e5m2>() == "none");
  CHECK(call_with<lt::i4, lt::i4>() == "none");
  CHECK(call_with<lt::u4, lt::u4>() == "none");
  CHECK(call_with<lt::f16, Half>() == "none");
  CHECK(call_with<float, std::int32_t>() == refusal("i32", "f32"));
  CHECK(call_with<lt::bf16, lt::f16>() == refusal("f16", "bf16"));
  CHECK(call_with<lt::bf16, Half>() == refusal("f16", "bf16"));
  CHECK(call_with<lt::f16, lt::bf16>() == refusal("bf16", "f16"));
  CHECK(call_with<lt::f8e4m3, lt::f8e5m2>() == refusal("f8e5m2", "f8e4m3"));
  CHECK(call_with<lt::f8e5m2, lt::f8e4m3>() == refusal("f8e4m3", "f8e5m2"));
  CHECK(call_with<std::int8_t, lt::i4>() == refusal("i4", "i8"));
  CHECK(call_with<lt::u4, std::uint8_t>() == refusal("u8", "u4"));
  CHECK(call_with<std::int32_t, std::uint32_t>() == refusal("u32", "i32"));
  CHECK(call_with<float, Wrapped>() == refusal("an unknown type of 4 bytes", "f32"));
}

TEST_CASE("long and long long are i64, whichever of them std::int64_t is") {
  static_assert(lt::dtype_of<long long> == lt::kI64 &&
                lt::dtype_of<unsigned long long> == lt::kU64);
  static_assert(lt::dtype_of<long> == lt::dtype_of<std::int64_t> || sizeof(long) == 4);
  static_assert(lt::SameDType<long long, const std::int64_t> && !lt::SameDType<long long, Wrapped>);
  static_assert(!lt::HasDType<char> && !lt::HasDType<long double> && !lt::HasDType<Wrapped>);
  lt::Input<long long, 1> L("L", {2});
  lt::Input<unsigned long long, 1> U("U", {2});
  lt::Input<std::int64_t, 1> Q("Q", {2});
  auto Y = lt::compute("Y", {2}, [&](lt::Var i) {
    lt::Expr<std::int64_t> sum = L(i) + Q(lt::clip(L(i), 0, 1)) * i + 3ll;
    return sum + lt::cast<long long>(U(i) + 1ull);
  });
  std::vector<long long> l{1, 2}, q{10, 20};
  std::vector<unsigned long long> u{5, 6};
  std::vector<std::int64_t> same{1, 2}, y(2);
  lt::jit(Y, L, U, Q, Y)(l, u, q, y);
  CHECK(y == std::vector<std::int64_t>{1 + 3 + 6, 2 + 20 + 3 + 7});
  lt::evaluate(Y, L, U, Q, Y)(same, u, lt::view(q), l);
  CHECK(l == std::vector<long long>{10, 32});
  CHECK(call_with<std::int64_t, long long>() == "none");
  auto K = lt::compute("K", {2}, [&](lt::Var) { return 7ull; });
  CHECK(K.dtype() == lt::kU64);
}
