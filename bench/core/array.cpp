#include "core/array.hpp"

namespace bench {

namespace {

constexpr std::size_t line = 64;

}  // namespace

Array::Array(std::size_t bytes, std::size_t number) {
  const std::size_t skipped = line * (3 * number + 1);
  bytes_ = std::shared_ptr<std::byte[]>(new std::byte[bytes + skipped + line]());
  const std::size_t past = reinterpret_cast<std::uintptr_t>(bytes_.get()) % line;
  offset_ = skipped - past;
}

std::uint32_t random_bits(std::size_t element, std::size_t array) {
  std::uint64_t x = (element + 1) * 0x9e3779b97f4a7c15u + array * 0xd1b54a32d192ed03u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return static_cast<std::uint32_t>(x >> 32);
}

}  // namespace bench
