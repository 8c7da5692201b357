#include <doctest/doctest.h>

#include <lathe/support/one_of.hpp>
#include <string>
#include <type_traits>

namespace lathe {
namespace {

using Value = OneOf<int, std::string, bool>;

// Counts the objects that live.
struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  Counted(Counted&&) noexcept { ++alive; }
  ~Counted() { --alive; }
  bool operator==(const Counted&) const { return true; }
};

std::string text_of(const Value& value) {
  std::string out;
  value.visit([&](const auto& of) {
    if constexpr (std::is_same_v<std::decay_t<decltype(of)>, std::string>)
      out = of;
    else
      out = std::to_string(of);
  });
  return out;
}

}  // namespace

TEST_CASE("one of: the first type's empty value at first, then what it is given") {
  Value value;
  REQUIRE(value.as<int>());
  CHECK(*value.as<int>() == 0);
  value = std::string("a text that is too long to lie in the string itself");
  CHECK(value.as<int>() == nullptr);
  CHECK(value.index() == 1);
  CHECK(text_of(value) == "a text that is too long to lie in the string itself");
  value = true;
  CHECK(value.as<bool>());
}

TEST_CASE("one of: copies are equal, and other types or values are not") {
  const Value value = std::string("x");
  Value copy = value;
  CHECK(copy == value);
  copy.visit([](auto& of) {
    if constexpr (std::is_same_v<std::decay_t<decltype(of)>, std::string>) of += 'y';
  });
  CHECK(text_of(copy) == "xy");
  CHECK_FALSE(copy == value);
  CHECK_FALSE(Value(1) == Value(true));
  copy = *&copy;
  CHECK(text_of(copy) == "xy");
}

TEST_CASE("one of: an empty value by the place of its type") {
  CHECK(Value::of_type(1) == Value(std::string()));
  CHECK(Value::of_type(2) == Value(false));
}

TEST_CASE("one of: what it holds ends once") {
  {
    OneOf<int, Counted> value = Counted();
    OneOf<int, Counted> moved = std::move(value), copy = moved;
    copy = 3;
    moved = copy;
    CHECK(Counted::alive == 1);  // what was moved from
  }
  CHECK(Counted::alive == 0);
}

}  // namespace lathe
