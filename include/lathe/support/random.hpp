// Random numbers that are the same everywhere: what the standard library's distributions give
// differs from one to the next.
#pragma once

#include <cstdint>

namespace lathe::detail {

/// The counter-th number of a sequence: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// One of 0 … n - 1, n > 0; even but for n / 2^64 (Lemire, ACM TOMACS 29, 2019, without rejection).
constexpr std::uint64_t random_below(std::uint64_t n, std::uint64_t bits) {
  const std::uint64_t low = (n & 0xffffffffu) * (bits >> 32),
                      high = (n >> 32) * (bits & 0xffffffffu);
  const std::uint64_t middle = ((n & 0xffffffffu) * (bits & 0xffffffffu)) >> 32;
  const std::uint64_t carry = (low & 0xffffffffu) + (high & 0xffffffffu) + middle;
  return (n >> 32) * (bits >> 32) + (low >> 32) + (high >> 32) + (carry >> 32);
}

}  // namespace lathe::detail
