// A hash of 128 bits that stands for the bytes that it was made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lathe {

/// Equal for equal bytes, in every process. Chance does not make two of the same (2^-64 among
/// 2^32), but whoever wants to can: it guards against mistakes, not against attacks.
struct ContentHash {
  std::uint64_t high = 0, low = 0;

  bool operator==(const ContentHash&) const = default;
  /// 32 hexadecimal digits.
  std::string str() const;
  /// All of `text` as such digits; false leaves `hash` as it was.
  static bool parse(std::string_view text, ContentHash& hash);
};

/// Hashes bytes that come in pieces; how they are cut does not matter.
class ContentHasher {
 public:
  void add(const void* bytes, std::size_t count);
  ContentHash finish() const;

 private:
  void mix(const unsigned char* block);

  std::uint64_t first_ = 0, second_ = 0, count_ = 0;
  unsigned char waiting_[16] = {};  ///< count_ % 16 bytes
};

}  // namespace lathe
