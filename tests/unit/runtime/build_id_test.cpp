#include <doctest/doctest.h>

#include <cstring>
#include <lathe/runtime/build_id.hpp>
#include <string>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/runtime/impl/layer.ipp>
#endif

namespace lt = lathe;

namespace {

// A loaded file of one segment, which has two notes: one of another kind, and the id.
struct Image {
  char bytes[4096] = {};
  explicit Image(std::uint32_t id_size = 4) {
    put(0, "\177ELF\2\1");
    put(32, std::uint64_t{64});                             // where the program headers are
    put(54, std::uint16_t{56}), put(56, std::uint16_t{2});  // their size and number
    segment(64, 1, 0, 4096), segment(120, 4, 256, 44);
    note(256, 6, 1), note(280, id_size, 3);
    put(296, 0xEFBEADDEu);
  }
  void segment(std::size_t at, std::uint32_t type, std::uint64_t offset, std::uint64_t size) {
    put(at, type), put(at + 8, offset), put(at + 32, size);
  }
  void note(std::size_t at, std::uint32_t size, std::uint32_t type) {
    put(at, std::uint32_t{4}), put(at + 4, size), put(at + 8, type), put(at + 12, "GNU");
  }
  template <class T>
  void put(std::size_t at, const T& value) {
    std::memcpy(bytes + at, &value, sizeof value);
  }
};

}  // namespace

TEST_CASE("a build has the id that the linker gave it, always the same") {
  const std::string& id = lt::build_id();
  CHECK(id.size() % 2 == 0);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(&lt::build_id() == &id);
}

TEST_CASE("the id is found among notes, and nothing is read beyond them") {
  CHECK(lt::detail::build_id_of(Image().bytes) == "deadbeef");
  CHECK(lt::detail::build_id_of(Image(2).bytes) == "dead");
  CHECK(lt::detail::build_id_of(Image(5).bytes).empty());
  CHECK(lt::detail::build_id_of(Image(0xFFFFFFFFu).bytes).empty());
  Image other;
  other.bytes[1] = 'e';
  CHECK(lt::detail::build_id_of(other.bytes).empty());
  Image outside;
  outside.segment(120, 4, 4090, 44);
  CHECK(lt::detail::build_id_of(outside.bytes).empty());
}
