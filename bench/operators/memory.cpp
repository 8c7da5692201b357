#include "operators/memory.hpp"

#include <algorithm>
#include <cmath>

namespace bench {

namespace {

std::size_t count(const Extents& extents) { return static_cast<std::size_t>(elements(extents)); }
std::size_t float_bytes(const Extents& extents) { return count(extents) * sizeof(float); }

/// Terms are below 1 and of both signs: sums of n of them, and what n roundings add up to, stay far
/// below this share of the largest result.
constexpr double bound = 2e-5;

std::string off(std::int64_t element, double got, double want) {
  return "element " + std::to_string(element) + " is " + std::to_string(got) + ", not " +
         std::to_string(want);
}

}  // namespace

OperatorMemory::OperatorMemory(const Operator& what)
    : what_(what), shapes_(shapes_of(what)), out_(float_bytes(shapes_.out), 0) {
  for (const Extents& extents : shapes_.in) {
    const std::size_t number = in_.size() + 1, n = count(extents);
    auto* values = static_cast<float*>(in_.emplace_back(float_bytes(extents), number).data());
    for (std::size_t k = 0; k < n; ++k)
      values[k] = static_cast<float>(random_bits(k, number) >> 8) * 0x1p-23f - 1;
  }
}

OperatorJob OperatorMemory::job(int threads) const {
  OperatorJob job{what_, {}, out(), threads};
  for (const Array& array : in_) job.in.push_back(static_cast<const float*>(array.data()));
  return job;
}

double OperatorMemory::bytes() const {
  std::size_t sum = float_bytes(shapes_.out);
  for (const Extents& extents : shapes_.in) sum += float_bytes(extents);
  return static_cast<double>(sum);
}

void OperatorMemory::spoil() const { std::fill_n(out(), count(shapes_.out), -12345.0f); }

void OperatorMemory::keep() { kept_.assign(out(), out() + count(shapes_.out)); }

std::string OperatorMemory::error() const {
  constexpr std::int64_t samples = 300;
  const std::int64_t all = elements(shapes_.out), step = std::max<std::int64_t>(1, all / samples);
  const std::vector<const float*> in = job(1).in;
  std::vector<std::int64_t> at;
  // Within a step anywhere, so that all positions of a row are looked at.
  for (std::int64_t from = 0; from < all; from += step)
    at.push_back(std::min(all - 1, from + random_bits(at.size(), 0) % step));
  at.front() = 0, at.back() = all - 1;
  std::vector<double> want;
  double largest = 0;
  for (const std::int64_t element : at) {
    want.push_back(value_of(what_, in, element));
    largest = std::max(largest, std::abs(want.back()));
  }
  for (std::size_t k = 0; k < at.size(); ++k)
    if (const double got = out()[at[k]]; !(std::abs(got - want[k]) <= bound * largest))
      return off(at[k], got, want[k]);
  return {};
}

std::string OperatorMemory::difference() const {
  float largest = 0;
  for (const float value : kept_) largest = std::max(largest, std::abs(value));
  const float allowed = static_cast<float>(bound) * largest;
  for (std::size_t k = 0; k < kept_.size(); ++k)
    if (!(std::abs(out()[k] - kept_[k]) <= allowed))
      return off(static_cast<std::int64_t>(k), out()[k], kept_[k]);
  return {};
}

double bytes_needed(const Operator& what) {
  const OperatorShapes all = shapes_of(what);
  std::size_t sum = 3 * float_bytes(all.out) + float_bytes(all.in[0]);
  for (const Extents& extents : all.in) sum += float_bytes(extents);
  return static_cast<double>(sum);
}

}  // namespace bench
