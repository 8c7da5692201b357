#include "plain/memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/limits.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>

namespace bench {

namespace {

template <class T>
void fill_as(void* to, std::size_t count, std::size_t param, std::int64_t positions_below) {
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t bits = random_bits(k, param);
    T value{};
    if constexpr (!std::is_integral_v<T>)
      value = static_cast<T>(static_cast<float>(bits >> 8) * 0x1p-24f);
    else if constexpr (sizeof(T) >= 4)
      value = static_cast<T>(bits % static_cast<std::uint32_t>(positions_below));
    else
      value = static_cast<T>(bits);
    std::memcpy(static_cast<std::byte*>(to) + k * sizeof(T), &value, sizeof(T));
  }
}

/// Calls f with a number of the C++ type that an element type has.
template <class F>
auto with_type(lt::DType dtype, const F& f) {
  if (dtype == lt::kF32) return f(float());
  if (dtype == lt::kF64) return f(double());
  if (dtype == lt::kBF16) return f(lt::bf16());
  if (dtype == lt::kU8) return f(std::uint8_t());
  if (dtype == lt::kI8) return f(std::int8_t());
  if (dtype == lt::kU16) return f(std::uint16_t());
  if (dtype == lt::kI16) return f(std::int16_t());
  if (dtype == lt::kI32) return f(std::int32_t());
  if (dtype == lt::kI64) return f(std::int64_t());
  throw std::runtime_error("the suite has no numbers of " + dtype.str());
}

double number(lt::DType dtype, const void* from, std::int64_t k) {
  return with_type(dtype, [&](auto value) {
    std::memcpy(&value, static_cast<const std::byte*>(from) + k * std::int64_t(sizeof value),
                sizeof value);
    return static_cast<double>(value);
  });
}

lt::Substitution values_of_dims(const lt::Program& program, const Sizes& sizes) {
  lt::Substitution values;
  for (const lt::DimRef& dim : program->dims)
    for (std::size_t k = 0; k < sizes.size(); ++k)
      if (dim->var->name == PlainProgram::dim_name(k))
        values.push_back({dim->var, lt::make_int(lt::kIndex, sizes[k])});
  return values;
}

/// What sums of thousands of terms in another order, and functions of a few ulp, may differ by.
double default_bound(lt::DType dtype) {
  if (dtype.is_int()) return 0;
  if (dtype == lt::kBF16) return 0x1p-7;
  return dtype == lt::kF32 ? 1e-5 : 1e-13;
}

}  // namespace

PlainMemory::PlainMemory(const lt::Program& program, const Sizes& sizes,
                         std::int64_t positions_below, std::int64_t gap) {
  const lt::Substitution dims = values_of_dims(program, sizes);
  for (const auto& param : program->params) {
    Param p{param.name(), param.dtype(), param.access == lt::Access::in, 1, {}, {}};
    for (const auto& e : param.buffer->shape)
      p.extents.push_back(lt::const_int(lt::substitute(e, dims)).value());
    p.strides.resize(p.extents.size());
    for (std::size_t d = p.extents.size(); d-- > 0; p.count *= p.extents[d]) {
      if (d == 0 && p.is_input && p.extents.size() > 1) p.count += gap;
      p.strides[d] = p.count;
    }
    params_.push_back(std::move(p));
  }
  for (std::size_t k = 0; k < params_.size(); ++k) {
    const Param& p = params_[k];
    const auto count = static_cast<std::size_t>(p.count);
    const std::size_t bytes = bytes_of(p);
    bytes_ += bytes;
    const Array& array = arrays_.emplace_back(bytes, arrays_.size());
    calls_.push_back({array.data(), p.extents.data(), p.strides.data()});
    if (p.is_input) {
      with_type(p.dtype, [&](auto value) {
        fill_as<decltype(value)>(array.data(), count, k, positions_below);
      });
      want_.push_back(array.data());
    } else {
      want_.push_back(arrays_.emplace_back(bytes, arrays_.size()).data());
    }
  }
}

std::size_t PlainMemory::first_result() const {
  std::size_t k = 0;
  while (params_[k].is_input) ++k;
  return k;
}
std::size_t PlainMemory::copied_bytes() const {
  return 2 * std::min(bytes_of(params_.front()), bytes_of(params_[first_result()]));
}
std::vector<Competitor> PlainMemory::copies() const {
  return copy_limits(calls_.front().data, calls_[first_result()].data, copied_bytes() / 2);
}

void PlainMemory::keep() const {
  for (std::size_t k = 0; k < params_.size(); ++k)
    if (!params_[k].is_input) std::memcpy(want_[k], calls_[k].data, bytes_of(params_[k]));
}
template <class F>
void PlainMemory::spoil_results(const F& place) const {
  for (std::size_t k = 0; k < params_.size(); ++k)
    if (!params_[k].is_input) std::memset(place(k), 0x55, bytes_of(params_[k]));
}
void PlainMemory::spoil() const {
  spoil_results([&](std::size_t k) { return calls_[k].data; });
}
void PlainMemory::spoil_loops() const {
  spoil_results([&](std::size_t k) { return want_[k]; });
}

std::string PlainMemory::difference(std::size_t param, double bound) const {
  const Param& p = params_[param];
  const double allowed = bound > 0 ? bound : default_bound(p.dtype);
  double largest = 0;
  for (std::int64_t k = 0; k < p.count; ++k)
    largest = std::max(largest, std::abs(number(p.dtype, want_[param], k)));
  for (std::int64_t k = 0; k < p.count; ++k) {
    const double got = number(p.dtype, calls_[param].data, k),
                 want = number(p.dtype, want_[param], k);
    if (!(std::abs(got - want) <= allowed * largest))
      return p.name + "[" + std::to_string(k) + "] is " + std::to_string(got) + ", not " +
             std::to_string(want);
  }
  return {};
}

std::string PlainMemory::difference(double bound) const {
  for (std::size_t k = 0; k < params_.size(); ++k) {
    if (params_[k].is_input) continue;
    if (const std::string wrong = difference(k, bound); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace bench
#endif
