// Memory of any type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace bench {

/// Bytes, all zero. Arrays of one case differ in `number`, so that their addresses differ in the
/// bits that choose a cache set.
class Array {
 public:
  Array(std::size_t bytes, std::size_t number);
  void* data() const { return bytes_.get() + offset_; }

 private:
  std::shared_ptr<std::byte[]> bytes_;
  std::size_t offset_;
};

/// As if each element were hashed.
std::uint32_t random_bits(std::size_t element, std::size_t array);

}  // namespace bench
