#include <doctest/doctest.h>

#include <lathe/support/content_hash.hpp>
#include <string>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/support/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

std::string hash_of(std::string_view text) {
  ContentHasher hasher;
  hasher.add(text.data(), text.size());
  return hasher.finish().str();
}

}  // namespace

TEST_CASE("the hash of contents is MurmurHash3_x64_128") {
  CHECK(hash_of("") == "00000000000000000000000000000000");
  CHECK(hash_of("hello") == "cbd8a7b341bd9b025b1e906a48ae1d19");
  CHECK(hash_of("hello, world") == "342fac623a5ebc8e4cdcbc079642414d");
  CHECK(hash_of("The quick brown fox jumps over the lazy dog") ==
        "e34bbc7bbc071b6c7a433ca9c49a9347");
}

TEST_CASE("how bytes are cut into pieces does not matter") {
  std::string text;
  for (int k = 0; k < 100; ++k) text += static_cast<char>(k * 7);
  const std::string whole = hash_of(text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    for (const std::size_t second : {cut, cut + (text.size() - cut) / 3}) {
      ContentHasher hasher;
      hasher.add(text.data(), cut);
      hasher.add(text.data() + cut, second - cut);
      hasher.add(text.data() + second, text.size() - second);
      CHECK(hasher.finish().str() == whole);
    }
}

TEST_CASE("a hash is read as it is written") {
  const ContentHash hash{0x0123456789ABCDEFull, 0xFEDCBA9876543210ull};
  CHECK(hash.str() == "0123456789abcdeffedcba9876543210");
  ContentHash read;
  CHECK(ContentHash::parse(hash.str(), read));
  CHECK(read == hash);
  for (const char* text : {"", "0123456789abcdeffedcba987654321",
                           "0123456789ABCDEFfedcba9876543210", "0123456789abcdeffedcba98765432100"})
    CHECK_FALSE(ContentHash::parse(text, read));
  CHECK(read == hash);
}
