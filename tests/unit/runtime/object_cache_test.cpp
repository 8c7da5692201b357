#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <lathe/runtime/object_cache.hpp>
#include <support/temp_folder.hpp>
#include <thread>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/runtime/impl/layer.ipp>
#endif

namespace lt = lathe;

namespace {

std::size_t files_in(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists();
  return count;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const lt::Vec<char> object = {'o', 'b', '\0', 'j'};

}  // namespace

TEST_CASE("what was kept is found, under its key only") {
  test::TempFolder folder;
  lt::ObjectCache cache(folder.path() + "/made");
  lt::Vec<char> found;
  std::string reason;
  CHECK_FALSE(cache.find("key", found));
  REQUIRE(cache.keep("key", object, reason));
  REQUIRE(cache.keep("key", object, reason));
  CHECK(files_in(folder.path() + "/made") == 1);
  REQUIRE(lt::ObjectCache(folder.path() + "/made").find("key", found));
  CHECK(found == object);
  CHECK_FALSE(cache.find("another key", found));
  // The right name is not enough.
  std::filesystem::rename(cache.path("key"), cache.path("another key"));
  CHECK_FALSE(cache.find("another key", found));
}

TEST_CASE("damaged and foreign files are ignored and replaced") {
  test::TempFolder folder;
  lt::ObjectCache cache(folder.path());
  std::string reason;
  REQUIRE(cache.keep("key", object, reason));
  const std::string whole = contents(cache.path("key"));
  lt::Vec<char> found;
  auto holds = [&](const std::string& bytes) {
    std::ofstream(cache.path("key"), std::ios::binary) << bytes;
    return cache.find("key", found);
  };
  CHECK(holds(whole));
  for (std::size_t k = 0; k < whole.size(); ++k) {
    std::string damaged = whole;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x40);
    CHECK_FALSE(holds(damaged));
    CHECK_FALSE(holds(whole.substr(0, k)));
  }
  CHECK_FALSE(holds(whole + "x"));
  CHECK_FALSE(holds(std::string(100, '\xff')));
  REQUIRE(cache.keep("key", object, reason));
  REQUIRE(cache.find("key", found));
  CHECK(found == object);
}

TEST_CASE("a folder that can't be written is a reason, no error") {
  lt::ObjectCache cache("/dev/null/nowhere");
  std::string reason;
  lt::Vec<char> found;
  CHECK_FALSE(cache.keep("key", object, reason));
  CHECK(reason == "no object is kept in '/dev/null/nowhere': Not a directory");
  CHECK_FALSE(cache.find("key", found));
  CHECK(lt::ObjectCache("").keep("key", object, reason));
  CHECK_FALSE(lt::ObjectCache("").find("key", found));
}

TEST_CASE("what is no file of its own neither blocks nor ends the cache") {
  test::TempFolder folder;
  lt::ObjectCache cache(folder.path());
  const std::string place = cache.path("key");
  lt::Vec<char> found;
  std::string reason;
  REQUIRE(::mkfifo(place.c_str(), 0600) == 0);
  CHECK_FALSE(cache.find("key", found));
  REQUIRE(cache.keep("key", object, reason));
  CHECK(cache.find("key", found));
  std::filesystem::remove(place);
  std::filesystem::create_symlink("/dev/zero", place);
  CHECK_FALSE(cache.find("key", found));
  REQUIRE(cache.keep("key", object, reason));
  CHECK(cache.find("key", found));
  std::filesystem::remove(place);
  std::filesystem::create_directory(place);
  CHECK_FALSE(cache.find("key", found));
  CHECK_FALSE(cache.keep("key", object, reason));
  CHECK(reason.find("no object is kept in '") == 0);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("names aside that are taken are left alone") {
  test::TempFolder folder;
  lt::ObjectCache cache(folder.path());
  std::string reason;
  // The next names that this process would take.
  for (int k = 0; k < 600; ++k) {
    const std::string taken =
        cache.path("key") + "." + std::to_string(::getpid()) + "." + std::to_string(k);
    if (k % 4 != 3) REQUIRE(::mkfifo(taken.c_str(), 0600) == 0);
  }
  REQUIRE(cache.keep("key", object, reason));
  lt::Vec<char> found;
  CHECK(cache.find("key", found));
}

TEST_CASE("readers see whole files while others write them") {
  test::TempFolder folder;
  lt::ObjectCache cache(folder.path());
  const lt::Vec<char> large(100000, 'x');
  std::string reason;
  REQUIRE(cache.keep("key", large, reason));
  std::thread writer([&] {
    std::string why;
    for (int k = 0; k < 200; ++k) cache.keep("key", large, why);
  });
  int whole = 0;
  for (int k = 0; k < 200; ++k) {
    lt::Vec<char> found;
    whole += cache.find("key", found) && found == large;
  }
  writer.join();
  CHECK(whole == 200);
}
