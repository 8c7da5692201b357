// The elements of a program's constants.
#pragma once

#include <cstddef>
#include <lathe/support/content_hash.hpp>
#include <lathe/support/function.hpp>
#include <lathe/support/ref.hpp>

namespace lathe {

/// Elements, row-major without gaps, that nobody can change; or the hash alone of some that are not
/// here: a text names them, or a kernel has given their memory back.
class ConstantData : public RefCounted {
 public:
  static constexpr std::size_t kAlignment = 64;

  explicit ConstantData(const ContentHash& hash) : hash_(hash) {}
  /// `fill` writes so many bytes.
  ConstantData(std::size_t bytes, FunctionRef<void(char* to)> fill);
  ~ConstantData() override;
  ConstantData(const ConstantData&) = delete;
  ConstantData& operator=(const ConstantData&) = delete;

  const ContentHash& hash() const { return hash_; }
  /// Null: only the hash is known.
  const void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  ContentHash hash_;
};
using ConstantRef = Ref<ConstantData>;

/// Copies elements of `element_bytes` bytes that lie `strides` elements apart. No strides: they are
/// row-major without gaps.
ConstantRef copy_constant(const void* data, std::size_t element_bytes, int rank,
                          const std::int64_t* extents, const std::int64_t* strides);
/// The hash that such a copy has.
ContentHash hash_elements(const void* data, std::size_t element_bytes, int rank,
                          const std::int64_t* extents, const std::int64_t* strides);

}  // namespace lathe
