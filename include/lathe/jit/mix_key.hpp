// Hashes of what decides code, a word at a time.
#pragma once

#include <cstdint>
#include <string>

namespace lathe::detail {

inline std::uint64_t mix_key(std::uint64_t h, std::uint64_t word) {
  h = (h ^ word) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}
inline std::uint64_t mix_key(std::uint64_t h, const void* node) {
  return mix_key(h, reinterpret_cast<std::uintptr_t>(node));
}
inline std::uint64_t mix_key(std::uint64_t h, const std::string& text) {
  for (char c : text) h = mix_key(h, static_cast<unsigned char>(c));
  return h;
}

}  // namespace lathe::detail
