#include "types/operands.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace bench {

namespace {

template <class T>
void put(void* to, std::int64_t k, T value) {
  std::memcpy(static_cast<std::byte*>(to) + k * std::int64_t(sizeof value), &value, sizeof value);
}

template <class T>
T get(const void* from, std::int64_t k) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(from) + k * std::int64_t(sizeof value),
              sizeof value);
  return value;
}

/// Writes element k, made of random bits, and returns what it is worth.
using Fill = double (*)(void* to, std::int64_t k, std::uint32_t bits);

/// A sign, one of three exponents below that of 1, and a fraction.
double fill_bf16(void* to, std::int64_t k, std::uint32_t bits) {
  const std::uint32_t exponent = 124 + (bits >> 8) % 3;
  const std::uint32_t value = (bits & 0x8000u) | exponent << 7 | (bits & 0x7fu);
  put(to, k, static_cast<std::uint16_t>(value));
  return std::bit_cast<float>(value << 16);
}

double fill_f16(void* to, std::int64_t k, std::uint32_t bits) {
  const auto exponent = static_cast<int>(12 + (bits >> 16) % 3);
  const auto fraction = static_cast<int>(bits & 0x3ffu);
  const bool negative = bits & 0x8000u;
  put(to, k, static_cast<std::uint16_t>(negative << 15 | exponent << 10 | fraction));
  return std::ldexp((negative ? -1 : 1) * (1024 + fraction), exponent - 25);
}

double fill_f64(void* to, std::int64_t k, std::uint32_t bits) {
  const double value = static_cast<double>(bits) * 0x1p-31 - 1;
  put(to, k, value);
  return value;
}

template <class T>
double fill_integer(void* to, std::int64_t k, std::uint32_t bits) {
  put(to, k, static_cast<T>(bits));
  return static_cast<T>(bits);
}

struct Fills {
  Fill a, b;
};

Fills fills_of(ProductTypes types) {
  switch (types) {
    case ProductTypes::bf16:
      return {fill_bf16, fill_bf16};
    case ProductTypes::u8s8:
      return {fill_integer<std::uint8_t>, fill_integer<std::int8_t>};
    case ProductTypes::s8s8:
      return {fill_integer<std::int8_t>, fill_integer<std::int8_t>};
    case ProductTypes::f16:
      return {fill_f16, fill_f16};
    case ProductTypes::f64:
      break;
  }
  return {fill_f64, fill_f64};
}

std::vector<double> filled(const Array& array, std::int64_t count, std::size_t number, Fill fill) {
  std::vector<double> values;
  for (std::int64_t k = 0; k < count; ++k)
    values.push_back(fill(array.data(), k, random_bits(static_cast<std::size_t>(k), number)));
  return values;
}

double result(ProductTypes types, const void* c, std::int64_t k) {
  switch (types) {
    case ProductTypes::bf16:
    case ProductTypes::f16:
      return get<float>(c, k);
    case ProductTypes::u8s8:
    case ProductTypes::s8s8:
      return get<std::int32_t>(c, k);
    case ProductTypes::f64:
      break;
  }
  return get<double>(c, k);
}

/// Terms are below 1 and of both signs, so that sums of k of them stay in the order of sqrt(k), and
/// so do k roundings of them: k units of 1 in all, and some more for the largest of many.
double allowed(const Product& p) {
  const ProductTypes types = p.types;
  if (types == ProductTypes::u8s8 || types == ProductTypes::s8s8) return 0;
  return 8 * static_cast<double>(p.k) * (types == ProductTypes::f64 ? 0x1p-53 : 0x1p-24);
}

Array array(std::int64_t elements, std::int64_t bytes, std::size_t number) {
  return {static_cast<std::size_t>(elements * bytes), number};
}

}  // namespace

ProductMemory::ProductMemory(const Product& what)
    : what_(what),
      a_(array(what.m * what.k, element_bytes(what.types).a, 0)),
      b_(array(what.k * what.n, element_bytes(what.types).b, 1)),
      c_(array(what.m * what.n, element_bytes(what.types).c, 2)),
      want_(static_cast<std::size_t>(what.m * what.n)) {
  const Fills fills = fills_of(what.types);
  const std::vector<double> a = filled(a_, what.m * what.k, 0, fills.a),
                            b = filled(b_, what.k * what.n, 1, fills.b);
  product_in_f64(what, a.data(), b.data(), want_.data());
}

double ProductMemory::bytes() const {
  const ProductBytes each = element_bytes(what_.types);
  return static_cast<double>(what_.m * what_.k * each.a + what_.k * what_.n * each.b +
                             what_.m * what_.n * each.c);
}

void ProductMemory::spoil() const {
  const std::int64_t bytes = what_.m * what_.n * element_bytes(what_.types).c;
  std::memset(c_.data(), 0x5a, static_cast<std::size_t>(bytes));
}

std::string ProductMemory::difference() const {
  const double most = allowed(what_);
  for (std::int64_t k = 0; k < what_.m * what_.n; ++k) {
    const double got = result(what_.types, c_.data(), k);
    const double want = want_[static_cast<std::size_t>(k)];
    if (!(std::abs(got - want) <= most))
      return "C[" + std::to_string(k / what_.n) + ", " + std::to_string(k % what_.n) + "] is " +
             std::to_string(got) + ", not " + std::to_string(want);
  }
  return {};
}

}  // namespace bench
