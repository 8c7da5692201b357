#include <doctest/doctest.h>

#include <lathe/support/function.hpp>
#include <memory>

namespace lt = lathe;

static int apply(lt::FunctionRef<int(int)> f, int x) { return f(x); }
static int twice(int x) { return 2 * x; }

TEST_CASE("a borrowed function sees the caller's state") {
  int calls = 0;
  auto count = [&](int x) { return ++calls, x + 1; };
  CHECK(apply(count, 4) == 5);
  CHECK(apply(twice, 4) == 8);
  CHECK(apply([](int x) { return -x; }, 4) == -4);
  CHECK(calls == 1);
}

TEST_CASE("a hook owns what it calls, and copies share it") {
  lt::Hook<int(int)> empty;
  CHECK_FALSE(empty);
  auto state = std::make_shared<int>(3);
  lt::Hook<int(int)> hook = [state](int x) { return *state += x; };
  auto copy = hook;
  CHECK(state.use_count() == 2);
  CHECK(hook(1) == 4);
  CHECK(copy(1) == 5);
  hook = nullptr;
  CHECK(state.use_count() == 2);
  copy = {};
  CHECK(state.use_count() == 1);
}
