#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <lathe/runtime/thread_pool.hpp>
#include <mutex>
#include <stdexcept>
#include <string>
#include <support/sanitized.hpp>
#include <thread>
#include <utility>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/runtime/impl/layer.ipp>
#endif

namespace lt = lathe;

namespace {

struct Marks {
  std::vector<std::atomic<int>> count;
  explicit Marks(std::size_t n) : count(n) {}
  bool all_once() const {
    for (auto& c : count) {
      if (c != 1) return false;
    }
    return true;
  }
};

std::int32_t mark(void* closure, std::int64_t begin, std::int64_t end, void*) {
  for (; begin < end; ++begin)
    ++static_cast<Marks*>(closure)->count[static_cast<std::size_t>(begin)];
  return 0;
}

bool covers(lt::ThreadPool& pool, std::int64_t n, int threads) {
  Marks marks(static_cast<std::size_t>(n));
  return pool.run(n, threads, mark, &marks, nullptr) == 0 && marks.all_once();
}

/// A loop on the caller and one worker. Each waits in its first range until the other has come, and
/// one of them is held there until the other has done all the rest.
struct HeldLoop {
  static constexpr std::int64_t n = 80;
  const bool worker_is_held;
  const std::thread::id caller = std::this_thread::get_id();
  Marks marks{n};
  std::mutex mutex{};
  std::condition_variable changed{};
  std::vector<std::int64_t> begins[2]{};  // of the caller's ranges, of the worker's
  std::int64_t done = 0;
  bool gave_up = false;

  explicit HeldLoop(bool held) : worker_is_held(held) {}

  std::int32_t range(std::int64_t begin, std::int64_t end) {
    const bool worker = std::this_thread::get_id() != caller;
    std::unique_lock lock(mutex);
    begins[worker].push_back(begin);
    changed.notify_all();
    wait(lock, [&] { return !begins[0].empty() && !begins[1].empty(); });
    if (worker == worker_is_held) wait(lock, [&] { return done == n - (end - begin); });
    done += end - begin;
    changed.notify_all();
    return mark(&marks, begin, end, nullptr);
  }

  // A pool that doesn't help fails the test instead of stopping it for ever.
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Condition condition) {
    if (!gave_up) gave_up = !changed.wait_for(lock, std::chrono::seconds(30), condition);
  }
};

double cpu_seconds() {
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace

TEST_CASE("each iteration runs once, whatever n and the number of threads") {
  lt::ThreadPool pool;
  for (int threads : {1, 2, 3, 8}) {
    for (int n : {0, 1, 2, 3, 7, 8, 31, 32, 33, 1000}) {
      CAPTURE(threads);
      CAPTURE(n);
      CHECK(covers(pool, n, threads));
    }
  }
  CHECK(pool.workers() == 7);
}

TEST_CASE("threads are made only when a loop can use them") {
  lt::ThreadPool pool;
  CHECK(covers(pool, 100, 1));
  CHECK(pool.workers() == 0);
  CHECK(covers(pool, 2, 8));
  CHECK(pool.workers() == 1);
}

TEST_CASE("each thread begins with its own part and helps the other when that is done") {
  for (bool worker_is_held : {false, true}) {
    CAPTURE(worker_is_held);
    lt::ThreadPool pool;
    REQUIRE(covers(pool, 2, 2));
    REQUIRE(pool.workers() == 1);
    HeldLoop loop(worker_is_held);
    auto body = [](void* closure, std::int64_t begin, std::int64_t end, void*) {
      return static_cast<HeldLoop*>(closure)->range(begin, end);
    };
    CHECK(pool.run(HeldLoop::n, 2, body, &loop, nullptr) == 0);
    CHECK_FALSE(loop.gave_up);
    CHECK(loop.marks.all_once());
    REQUIRE_FALSE(loop.begins[0].empty());
    REQUIRE_FALSE(loop.begins[1].empty());
    CHECK(loop.begins[0].front() == 0);
    CHECK(loop.begins[1].front() == HeldLoop::n / 2);
    CHECK(loop.begins[worker_is_held].size() == 1);
  }
}

TEST_CASE("what is taken of a part at once shrinks to a few iterations") {
  struct Ranges {
    std::mutex mutex{};
    std::vector<std::pair<std::int64_t, std::int64_t>> all{};
  } ranges;
  const auto record = [](void* closure, std::int64_t begin, std::int64_t end, void*) {
    auto& to = *static_cast<Ranges*>(closure);
    const std::lock_guard lock(to.mutex);
    to.all.emplace_back(begin, end - begin);
    return std::int32_t{0};
  };
  lt::ThreadPool pool;
  REQUIRE(pool.run(1200, 2, record, &ranges, nullptr) == 0);
  std::sort(ranges.all.begin(), ranges.all.end());
  std::int64_t expected = 0, before = 0;
  for (const auto& [begin, size] : ranges.all) {
    CHECK(begin == expected);
    if (begin == 0 || begin == 600)
      CHECK(size == 201);  // a third of the part
    else
      CHECK(size <= before);
    expected = begin + size;
    before = size;
    if (expected == 600 || expected == 1200) CHECK(size <= 1200 / (2 * 32) + 1);
  }
  CHECK(expected == 1200);
}

TEST_CASE("the first status ends the loop") {
  lt::ThreadPool pool;
  std::atomic<int> ranges{0};
  auto body = [](void* closure, std::int64_t, std::int64_t, void*) -> std::int32_t {
    ++*static_cast<std::atomic<int>*>(closure);
    return 17;
  };
  CHECK(pool.run(1000000, 2, body, &ranges, nullptr) == 17);
  CHECK(ranges <= 2);
}

TEST_CASE("a loop inside a loop runs on the thread it is in") {
  lt::ThreadPool pool;
  struct Outer {
    lt::ThreadPool& pool;
    std::atomic<int> strays{0}, sum{0};
  } outer{pool};
  auto body = [](void* closure, std::int64_t begin, std::int64_t end, void*) -> std::int32_t {
    auto& o = *static_cast<Outer*>(closure);
    if (!lt::ThreadPool::inside_loop()) ++o.strays;
    struct Inner {
      Outer& outer;
      std::thread::id self = std::this_thread::get_id();
    } inner{o};
    for (; begin < end; ++begin) {
      o.pool.run(
          10, 4,
          [](void* c, std::int64_t b, std::int64_t e, void*) -> std::int32_t {
            auto& i = *static_cast<Inner*>(c);
            if (std::this_thread::get_id() != i.self) ++i.outer.strays;
            i.outer.sum += static_cast<int>(e - b);
            return 0;
          },
          &inner, nullptr);
    }
    return 0;
  };
  CHECK(pool.run(50, 4, body, &outer, nullptr) == 0);
  CHECK(outer.strays == 0);
  CHECK(outer.sum == 500);
  CHECK_FALSE(lt::ThreadPool::inside_loop());
}

TEST_CASE("many threads may call at once") {
  lt::ThreadPool pool;
  std::atomic<int> bad{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 24; ++t) {
    callers.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (!covers(pool, 1 + (i * 7 + t) % 100, 2 + t % 3)) ++bad;
      }
    });
  }
  for (auto& c : callers) c.join();
  CHECK(bad == 0);
  CHECK(pool.workers() <= 3);
}

TEST_CASE("an idle pool uses no processor") {
  lt::ThreadPool pool;
  CHECK(covers(pool, 100, 4));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(cpu_seconds() - before < 0.05);
  CHECK(covers(pool, 100, 4));
}

TEST_CASE("work that outlasts the caller's spinning is waited for") {
  lt::ThreadPool pool;
  std::atomic<int> done{0};
  auto body = [](void* closure, std::int64_t begin, std::int64_t, void*) -> std::int32_t {
    std::this_thread::sleep_for(std::chrono::milliseconds(begin == 0 ? 1 : 10));
    ++*static_cast<std::atomic<int>*>(closure);
    return 0;
  };
  for (int i = 0; i < 5; ++i) CHECK(pool.run(2, 2, body, &done, nullptr) == 0);
  CHECK(done == 10);
}

TEST_CASE("a forked child has threads of its own") {
  if (test::has_thread_sanitizer()) return;  // it ends a child that starts threads
  lt::ThreadPool pool;
  CHECK(covers(pool, 100, 3));
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    bool good = pool.workers() == 0;
    for (int i = 0; i < 100; ++i) good = good && covers(pool, 100, 3);
    good = good && pool.workers() == 2;
    _exit(good ? 0 : 1);
  }
  CHECK(covers(pool, 100, 3));
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("parallel_for rethrows what a body throws") {
  lt::Context context({.threads = 4});
  std::atomic<std::int64_t> sum{0};
  lt::parallel_for(context, 1000,
                   [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
  CHECK(sum == 1000);
  auto failing = [&] {
    lt::parallel_for(context, 1000, [&](std::int64_t, std::int64_t) {
      throw std::runtime_error("from the body");
    });
  };
  CHECK_THROWS_WITH(failing(), "from the body");
}

TEST_CASE("the host's hook replaces the pool and is told the bound") {
  int asked_threads = 0;
  std::int64_t asked_n = 0;
  lt::Context context({.threads = 6, .parallel_for = [&](std::int64_t n, int threads, auto body) {
                         asked_threads = threads;
                         asked_n = n;
                         for (std::int64_t i = n; i-- > 0;) body(i, i + 1);
                       }});
  Marks marks(10);
  lt::parallel_for(
      context, 10, [&](std::int64_t b, std::int64_t e) { mark(&marks, b, e, nullptr); }, 3);
  CHECK(marks.all_once());
  CHECK(asked_threads == 3);
  CHECK(asked_n == 10);
}
