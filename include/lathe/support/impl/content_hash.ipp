#pragma once

#include <cstring>
#include <lathe/support/content_hash.hpp>

namespace lathe {
namespace detail {

// MurmurHash3_x64_128 by Austin Appleby, which is in the public domain.
inline constexpr std::uint64_t kMurmur1 = 0x87C37B91114253D5ull, kMurmur2 = 0x4CF5AD432745937Full;

inline std::uint64_t rotate_left(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
inline std::uint64_t murmur_word1(std::uint64_t k) {
  return rotate_left(k * kMurmur1, 31) * kMurmur2;
}
inline std::uint64_t murmur_word2(std::uint64_t k) {
  return rotate_left(k * kMurmur2, 33) * kMurmur1;
}
inline std::uint64_t murmur_final(std::uint64_t k) {
  k = (k ^ (k >> 33)) * 0xFF51AFD7ED558CCDull;
  k = (k ^ (k >> 33)) * 0xC4CEB9FE1A85EC53ull;
  return k ^ (k >> 33);
}

}  // namespace detail

LATHE_DECL void ContentHasher::mix(const unsigned char* block) {
  std::uint64_t k[2];
  std::memcpy(k, block, sizeof k);
  first_ = detail::rotate_left(first_ ^ detail::murmur_word1(k[0]), 27) + second_;
  first_ = first_ * 5 + 0x52DCE729;
  second_ = detail::rotate_left(second_ ^ detail::murmur_word2(k[1]), 31) + first_;
  second_ = second_ * 5 + 0x38495AB5;
}

LATHE_DECL void ContentHasher::add(const void* bytes, std::size_t count) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  const std::size_t kept = count_ % 16;
  count_ += count;
  if (kept > 0) {
    const std::size_t part = count < 16 - kept ? count : 16 - kept;
    std::memcpy(waiting_ + kept, at, part);
    if (kept + part < 16) return;
    mix(waiting_);
    at += part, count -= part;
  }
  for (; count >= 16; at += 16, count -= 16) mix(at);
  if (count > 0) std::memcpy(waiting_, at, count);
}

LATHE_DECL ContentHash ContentHasher::finish() const {
  std::uint64_t k[2] = {0, 0};
  std::memcpy(k, waiting_, count_ % 16);
  std::uint64_t a = first_ ^ detail::murmur_word1(k[0]), b = second_ ^ detail::murmur_word2(k[1]);
  a ^= count_, b ^= count_;
  a += b, b += a;
  a = detail::murmur_final(a), b = detail::murmur_final(b);
  a += b;
  return {a, b + a};
}

LATHE_DECL std::string ContentHash::str() const {
  std::string out;
  for (const std::uint64_t half : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(half >> shift) & 15];
  return out;
}

LATHE_DECL bool ContentHash::parse(std::string_view text, ContentHash& hash) {
  if (text.size() != 32) return false;
  std::uint64_t halves[2] = {0, 0};
  for (std::size_t k = 0; k < text.size(); ++k) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(text[k]);
    if (digit == std::string_view::npos) return false;
    halves[k / 16] = halves[k / 16] << 4 | digit;
  }
  hash = {halves[0], halves[1]};
  return true;
}

}  // namespace lathe
