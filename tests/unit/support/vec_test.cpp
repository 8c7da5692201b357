#include <doctest/doctest.h>

#include <lathe/support/vec.hpp>
#include <memory>
#include <stdexcept>
#include <string>

namespace lt = lathe;

namespace {

lt::Vec<std::string> words(std::initializer_list<const char*> all) {
  return lt::Vec<std::string>(all.begin(), all.end());
}
const char* const kLong = "a text that no string holds in itself";

// Counts its objects; the copy of one that is marked throws.
struct Counted {
  explicit Counted(int its_value) : value(its_value) { ++alive; }
  Counted(const Counted& other) : value(other.value) {
    if (value == 13) throw std::runtime_error("13");
    ++alive;
  }
  Counted(Counted&& other) noexcept : value(other.value) { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
  int value;
  static inline int alive = 0;
};

}  // namespace

TEST_CASE("vec: grows and keeps its elements in order") {
  lt::Vec<std::string> v;
  CHECK(v.empty());
  for (int k = 0; k < 100; ++k) v.push_back(kLong + std::to_string(k));
  REQUIRE(v.size() == 100);
  for (std::size_t k = 0; k < 100; ++k) CHECK(v[k] == kLong + std::to_string(k));
  CHECK(v.front() == kLong + std::string("0"));
  CHECK(v.back() == kLong + std::string("99"));
}

TEST_CASE("vec: a new element may be made of one that has to move") {
  for (std::size_t size = 1; size < 20; ++size) {
    lt::Vec<std::string> v(size, std::string(kLong));
    v.push_back(v[0]);
    v.emplace_back(v[size - 1], 2);
    v.push_back(std::move(v[0]));
    CHECK(v[size] == kLong);
    CHECK(v[size + 1] == kLong + 2);
    CHECK(v.back() == kLong);
  }
}

TEST_CASE("vec: copies are its own, a moved list is empty") {
  lt::Vec<std::string> v = words({"a", kLong, "c"}), copy = v;
  copy[1] = "b";
  CHECK(v[1] == kLong);
  lt::Vec<std::string> moved = std::move(v);
  CHECK(v.empty());  // NOLINT(bugprone-use-after-move): what it promises
  CHECK(moved == words({"a", kLong, "c"}));
  copy = moved;
  CHECK(copy == moved);
  lt::Vec<std::string>& same = copy;
  copy = same;
  CHECK(copy == moved);
  CHECK_FALSE(copy == words({"a", kLong}));
  CHECK_FALSE(copy == words({"a", kLong, "d"}));
}

TEST_CASE("vec: elements in the middle come and go") {
  lt::Vec<std::string> v = words({"a", "b", "c", "d"});
  v.insert_at(0, "start");
  v.insert_at(3, kLong);
  v.insert_at(6, "end");
  CHECK(v == words({"start", "a", "b", kLong, "c", "d", "end"}));
  v.erase_at(3);
  v.erase_at(0);
  CHECK(v == words({"a", "b", "c", "d", "end"}));
  v.erase_at(1, 2);
  CHECK(v == words({"a", "d", "end"}));
  v.erase_at(1, 0);
  CHECK(v.size() == 3);
  v.erase_if([](const std::string& s) { return s.size() == 1; });
  CHECK(v == words({"end"}));
  v.append(words({"x", kLong}));
  CHECK(v == words({"end", "x", kLong}));
  CHECK(lt::contains(v, std::string("x")));
  CHECK_FALSE(lt::contains(v, std::string("y")));
}

TEST_CASE("vec: sizes") {
  lt::Vec<int> v(3);
  CHECK(v == lt::Vec<int>{0, 0, 0});
  v.resize(5);
  CHECK(v.size() == 5);
  v.resize(1);
  CHECK(v == lt::Vec<int>{0});
  v.assign(4, 7);
  CHECK(v == lt::Vec<int>{7, 7, 7, 7});
  v.assign(2, v[0]);
  CHECK(v == lt::Vec<int>{7, 7});
}

TEST_CASE("vec: to and from std::vector") {
  const std::vector<std::string> from = {"a", "b"};
  lt::Vec<std::string> v = from;
  std::vector<std::string> back = v;
  CHECK(back == from);
}

TEST_CASE("vec: holds what can only be moved") {
  lt::Vec<std::unique_ptr<int>> v;
  for (int k = 0; k < 10; ++k) v.push_back(std::make_unique<int>(k));
  v.erase_at(0);
  v.insert_at(1, std::make_unique<int>(77));
  CHECK(*v[0] == 1);
  CHECK(*v[1] == 77);
  CHECK(*v.back() == 9);
}

TEST_CASE("vec: a copy that throws leaves the list and no object behind") {
  {
    lt::Vec<Counted> v;
    for (int k = 10; k < 14; ++k) v.emplace_back(k);
    REQUIRE(v.size() == 4);
    CHECK_THROWS_AS(lt::Vec<Counted>(v.begin(), v.end()), std::runtime_error);
    CHECK_THROWS_AS(v.push_back(v[3]), std::runtime_error);  // needs room
    CHECK_THROWS_AS(v.assign(3, v[3]), std::runtime_error);
    REQUIRE(v.size() == 4);
    CHECK(v[3].value == 13);
    CHECK(Counted::alive == 4);
  }
  CHECK(Counted::alive == 0);
}
