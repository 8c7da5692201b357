#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <lathe/support/context.hpp>
#include <lathe/support/error.hpp>
#include <string>
#include <thread>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/support/impl/layer.ipp>
#endif

namespace lt = lathe;

TEST_CASE("options are named in place") {
  lt::Context context({.threads = 1, .log = [](lt::LogLevel, std::string_view) {}});
  CHECK(context.threads() == 1);
  CHECK(lt::Context().threads() >= 1);
  CHECK(&lt::Context::default_context() == &lt::Context::default_context());
}

TEST_CASE("options that make no sense are refused") {
  auto error = [](lt::ContextOptions options) -> std::string {
    try {
      lt::Context context(options);
    } catch (const lt::UserError& e) {
      return e.id() + " " + e.message();
    }
    return "";
  };
  const char* half = "L0402 Context: only one of the options 'allocate' and 'deallocate' is set";
  CHECK(error({.allocate = [](std::size_t, std::size_t) -> void* { return nullptr; }}) == half);
  CHECK(error({.deallocate = [](void*, std::size_t) {}}) == half);
  CHECK(error({.threads = -2}) == "L0403 Context: option 'threads' is -2");
  CHECK(error({.memory_budget = -1}) == "L0403 Context: option 'memory_budget' is -1");
  CHECK(error({.time_budget = -0.5}) == "L0403 Context: option 'time_budget' is -0.5");
  CHECK(error({.time_budget = NAN}) == "L0403 Context: option 'time_budget' is nan");
  const unsigned line = __LINE__ + 2;
  try {
    lt::Context context({.threads = -1});
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.where().line == line);
  }
}

TEST_CASE("the log hook gets what its level asks for, and what it throws comes out") {
  std::string seen;
  lt::Context context({.log = [&](lt::LogLevel, std::string_view text) { seen += text; },
                       .log_level = lt::LogLevel::warning});
  context.log(lt::LogLevel::info, "a");
  context.log(lt::LogLevel::error, "b");
  CHECK(seen == "b");
  lt::Context thrower({.log = [](lt::LogLevel, std::string_view) { throw 1; }});
  CHECK_THROWS_AS(thrower.log(lt::LogLevel::error, "x"), int);
  thrower.log(lt::LogLevel::debug, "below the level");
  lt::Context().log(lt::LogLevel::error, "nowhere");
}

TEST_CASE("dump names a pass or all") {
  CHECK(lt::Context({.dump = "vectorize"}).dumps("vectorize"));
  CHECK_FALSE(lt::Context({.dump = "vectorize"}).dumps("unroll"));
  CHECK(lt::Context({.dump = "all"}).dumps("unroll"));
}

TEST_CASE("memory is aligned, counted and bounded") {
  lt::Context context({.memory_budget = 1 << 20});
  for (std::size_t alignment : {1, 16, 64, 4096}) {
    void* p = context.allocate(100, alignment);
    REQUIRE(p);
    CHECK(reinterpret_cast<std::uintptr_t>(p) % alignment == 0);
    CHECK(context.bytes_in_use() >= 100);
    context.deallocate(p);
    CHECK(context.bytes_in_use() == 0);
  }
  CHECK(context.allocate(2 << 20) == nullptr);
  CHECK(context.allocate(~std::size_t(0)) == nullptr);
  CHECK(context.bytes_in_use() == 0);
  context.deallocate(nullptr);
}

TEST_CASE("the host's allocator is used for all memory") {
  int live = 0;
  lt::Context context({.allocate =
                           [&](std::size_t n, std::size_t a) {
                             return ++live, std::aligned_alloc(a, (n + a - 1) / a * a);
                           },
                       .deallocate =
                           [&](void* p, std::size_t n) {
                             --live;
                             CHECK(n >= 10);
                             std::free(p);
                           }});
  void* p = context.allocate(10, 64);
  CHECK(live == 1);
  context.deallocate(p);
  CHECK(live == 0);
}

namespace {
struct Counted : lt::RefCounted {
  static inline std::atomic<int> live{0};
  int value = 5;
  Counted() { ++live; }
  ~Counted() override { --live; }
};
}  // namespace

TEST_CASE("a service is made once and ends with the context") {
  {
    lt::Context context;
    CHECK(context.find_service<Counted>(lt::Service::graph) == nullptr);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        CHECK(context
                  .service<Counted>(lt::Service::graph,
                                    [](const lt::Context&) { return new Counted; })
                  .value == 5);
      });
    }
    for (auto& t : threads) t.join();
    CHECK(Counted::live == 1);
    CHECK(context.find_service<Counted>(lt::Service::graph) != nullptr);
  }
  CHECK(Counted::live == 0);
}

TEST_CASE("a large block that was freed last is taken again, whatever was kept before") {
  lt::Context context({.threads = 1});
  std::vector<void*> old;
  for (std::size_t k = 1; k <= 12; ++k) old.push_back(context.allocate(k << 20));
  for (void* block : old) context.deallocate(block);
  // Fresh pages would hold zeros.
  constexpr std::size_t size = 40 << 20, middle = size / 8;
  auto* block = static_cast<int*>(context.allocate(size));
  block[middle] = 42;
  context.deallocate(block);
  block = static_cast<int*>(context.allocate(size));
  CHECK(block[middle] == 42);
  context.deallocate(block);
}
