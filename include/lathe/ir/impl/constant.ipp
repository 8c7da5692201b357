#pragma once

#include <cstring>
#include <lathe/ir/constant.hpp>
#include <new>

namespace lathe {
namespace detail {

/// Calls take(address, count) for runs of elements that follow each other, in row-major order.
template <class Take>
void each_run(const char* data, std::size_t element_bytes, int rank, const std::int64_t* extents,
              const std::int64_t* strides, const Take& take) {
  // The innermost axes without gaps are one run.
  std::int64_t run = 1;
  while (rank > 0 && (!strides || strides[rank - 1] == run || extents[rank - 1] == 1))
    run *= extents[--rank];
  if (run == 0) return;
  std::int64_t rows = 1;
  for (int d = 0; d < rank; ++d) rows *= extents[d];
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t rest = row, offset = 0;
    for (int d = rank; d-- > 0; rest /= extents[d]) offset += rest % extents[d] * strides[d];
    take(data + offset * static_cast<std::int64_t>(element_bytes),
         static_cast<std::size_t>(run) * element_bytes);
  }
}

}  // namespace detail

LATHE_DECL ConstantData::ConstantData(std::size_t bytes, FunctionRef<void(char* to)> fill)
    : data_(static_cast<char*>(::operator new(bytes, std::align_val_t(kAlignment)))),
      bytes_(bytes) {
  fill(data_);
  ContentHasher hasher;
  hasher.add(data_, bytes_);
  hash_ = hasher.finish();
}

LATHE_DECL ConstantData::~ConstantData() {
  if (data_) ::operator delete(data_, std::align_val_t(kAlignment));
}

LATHE_DECL ConstantRef copy_constant(const void* data, std::size_t element_bytes, int rank,
                                     const std::int64_t* extents, const std::int64_t* strides) {
  std::size_t bytes = element_bytes;
  for (int d = 0; d < rank; ++d) bytes *= static_cast<std::size_t>(extents[d]);
  return ConstantRef(new ConstantData(bytes, [&](char* to) {
    detail::each_run(static_cast<const char*>(data), element_bytes, rank, extents, strides,
                     [&](const char* from, std::size_t count) {
                       std::memcpy(to, from, count);
                       to += count;
                     });
  }));
}

LATHE_DECL ContentHash hash_elements(const void* data, std::size_t element_bytes, int rank,
                                     const std::int64_t* extents, const std::int64_t* strides) {
  ContentHasher hasher;
  detail::each_run(static_cast<const char*>(data), element_bytes, rank, extents, strides,
                   [&](const char* from, std::size_t count) { hasher.add(from, count); });
  return hasher.finish();
}

}  // namespace lathe
