#include <doctest/doctest.h>

#include <array>
#include <lathe/runtime/view.hpp>
#include <span>
#include <string>
#include <support/errors.hpp>
#include <type_traits>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/runtime/impl/layer.ipp>
#endif

namespace lt = lathe;

TEST_CASE("views index rows first, by strides") {
  std::vector<float> data(6 * 8);
  for (int i = 0; i < 48; ++i) data[i] = static_cast<float>(i);
  lt::View<float, 2> dense(data.data(), {6, 8});
  lt::View<const float, 2> read = dense;
  lt::View<float, 2> padded(data.data(), {6, 4}, {8, 1});
  CHECK(read(5, 7) == 47);
  CHECK(padded(2, 3) == 19);
  CHECK(dense.extent(0) == 6);
  CHECK(dense.stride(0) == 8);
  CHECK(dense.stride(1) == 1);
  CHECK(dense.size() == 48);
  auto deduced = lt::view(data, {6, 8});
  auto spanned = lt::view(std::span<const float>(data), {48});
  static_assert(std::is_same_v<decltype(deduced), lt::View<float, 2>>);
  static_assert(std::is_same_v<decltype(spanned), lt::View<const float, 1>>);
  deduced(5, 7) = read(0, 0) + padded(1, 3) + spanned(2);
  CHECK(data[47] == 0 + 11 + 2);
}

TEST_CASE("any integers are extents, any contiguous container is viewed") {
  const std::vector<int> fixed{1, 2, 3, 4};
  std::array<double, 4> array{};
  std::size_t n = 2;
  CHECK(lt::view(fixed, {n, 2u})(1, 1) == 4);
  static_assert(std::is_same_v<decltype(lt::view(fixed)), lt::View<const int, 1>>);
  lt::view(array)(3) = 5;
  CHECK(array[3] == 5);
  CHECK(lt::View<const int, 1>(fixed.data(), {0}, {0}).size() == 0);
  std::int64_t extents[] = {2, 2}, strides[] = {1, 2};
  auto transposed = lt::View<const int, 2>::from(fixed.data(), extents, strides);
  CHECK(transposed(1, 0) == 2);
}

TEST_CASE("rank 0 is one element") {
  float x = 3;
  lt::View<float, 0> v(&x);
  lt::View<const float, 0> c = v;
  v() = 4;
  CHECK(c() == 4);
  CHECK(c.size() == 1);
}

TEST_CASE("the untyped form keeps type, rank and constness") {
  std::vector<double> data(6);
  auto v = lt::view(data, {2, 3});
  lt::AnyView any = v;
  CHECK(any.rank == 2);
  CHECK(any.extents[1] == 3);
  CHECK(any.strides[0] == 3);
  CHECK(any.element_bytes == 8);
  CHECK(any.type == lt::ElementType{lt::ElementType::floating, 64});
  CHECK_FALSE(any.read_only);
  CHECK(lt::AnyView(lt::View<const double, 2>(v)).read_only);
  CHECK(lt::ElementTypeOf<bool>::value == lt::ElementType{lt::ElementType::boolean, 8});
  CHECK(lt::ElementTypeOf<unsigned char>::value ==
        lt::ElementType{lt::ElementType::unsigned_integer, 8});
}

TEST_CASE("a view larger than its container is refused at the caller's line") {
  std::vector<float> data(10);
  try {
    lt::view(data, {3, 4});
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.id() == "L0401");
    CHECK(std::string(e.what()).find("12 elements") != std::string::npos);
    CHECK(std::string(e.what()).find("holds 10") != std::string::npos);
    CHECK(e.where().line != 0);
  }
}

TEST_CASE("extents that no container has") {
  std::vector<float> data(6);
  auto error = [&](std::int64_t a, std::int64_t b) {
    return test::error_of([&] { lt::view(data, {a, b}); });
  };
  CHECK(error(2, 3) == "none");
  CHECK(error(3, 3) == "L0401 view: the extents ask for 9 elements, the container holds 6");
  CHECK(error(-2, -3) == "L0401 view: extent 0 is -2");
  CHECK(error(0, -3) == "L0401 view: extent 1 is -3");
  const std::int64_t side = std::int64_t{1} << 32;  // side * side is 0 modulo 2^64
  CHECK(error(side, side) ==
        "L0401 view: the extents ask for more than 2^63 - 1 elements, the container holds 6");
  CHECK(error(side, 0) == "none");
}
