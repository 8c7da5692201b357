#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <exception>
#include <lathe/runtime/thread_pool.hpp>

namespace lathe {
namespace detail {

/// Counts the forks between this process and the first one; a pool of another generation has no
/// threads here.
inline unsigned fork_generation() {
  static std::atomic<unsigned> generation{0};
  static const int registered = ::pthread_atfork(
      nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  return generation.load(std::memory_order_relaxed);
}

inline bool& inside_loop_flag() {
  static thread_local bool inside = false;
  return inside;
}

/// Marks this thread as running a part of a loop.
struct InsideLoop {
  bool before = inside_loop_flag();
  InsideLoop() { inside_loop_flag() = true; }
  ~InsideLoop() { inside_loop_flag() = before; }
};

inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

inline std::int64_t now_ns() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/// Waits until done() or for spin_us; true if done.
template <class Done>
bool spin_until(Done done, int spin_us) {
  constexpr int pauses_between_looks_at_the_clock = 32;
  std::int64_t end = 0;
  for (;;) {
    for (int i = 0; i < pauses_between_looks_at_the_clock; ++i) {
      if (done()) return true;
      cpu_pause();
    }
    std::int64_t now = now_ns();
    if (!end) end = now + spin_us * 1000ll;
    if (now >= end) return false;
  }
}

/// One running loop. A job is never freed, only reused, so a late worker may look at it at any
/// time.
struct alignas(64) Job {
  // What `gate` is made of. A worker may read the other members only after it has added itself to
  // the helpers.
  static constexpr std::uint64_t claimed = 1ull << 63, open = 1ull << 62, awaited = 1ull << 61;
  static constexpr int limit_shift = 32;
  static constexpr std::uint64_t field = 0xFFFF;

  std::atomic<std::uint64_t> gate{0};
  std::atomic<std::uint32_t> done{0};  // changes when the last helper of an awaited job leaves
  std::int64_t n = 0;
  std::int64_t least = 1;  // iterations are taken at once, at least
  std::int64_t part = 1;   // what is left of a share by this number is taken, if that is more
  LoopBody body = nullptr;
  void* closure = nullptr;
  void* rt = nullptr;
  std::atomic<std::int32_t> status{0};
  /// Iterations that one of the threads begins with, so that it finds in its cache what it had
  /// there in the last loop; the others come when they have none left. Each takes a part of what
  /// is left: the last ones are few, so that a slower core, or one that came late, is waited for
  /// briefly (guided self-scheduling: Polychronopoulos and Kuck, 1987).
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  static constexpr int most_shares = 16;
  Share shares[most_shares];
  int share_count = 1;

  static std::uint64_t helpers(std::uint64_t g) { return g & field; }
  static std::uint64_t limit(std::uint64_t g) { return g >> limit_shift & field; }

  /// Which of the helpers the thread is, from 1; 0 if there is no room.
  int try_join() {
    auto g = gate.load(std::memory_order_relaxed);
    while ((g & open) && helpers(g) < limit(g)) {
      if (gate.compare_exchange_weak(g, g + 1, std::memory_order_acq_rel))
        return static_cast<int>(helpers(g)) + 1;
    }
    return 0;
  }
  void leave() {
    auto before = gate.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & awaited) && helpers(before) == 1) {
      done.fetch_add(1, std::memory_order_release);
      done.notify_all();
    }
  }
  void close() { gate.fetch_and(~open, std::memory_order_acq_rel); }

  void share_out(int threads) {
    constexpr int takes_per_thread = 32, parts_per_thread = 3;
    least = n / (static_cast<std::int64_t>(takes_per_thread) * threads) + 1;
    share_count = threads < most_shares ? threads : most_shares;
    part = parts_per_thread * ((threads + share_count - 1) / share_count);
    const std::int64_t each = n / share_count, longer = n % share_count;
    std::int64_t begin = 0;
    for (int k = 0; k < share_count; ++k) {
      shares[k].next.store(begin, std::memory_order_relaxed);
      shares[k].end = begin += each + (k < longer);
    }
  }

  /// Takes iterations until there are none.
  void work(int participant) {
    InsideLoop inside;
    for (int k = 0; k < share_count; ++k) work_on(shares[(participant + k) % share_count]);
    close();
  }
  void work_on(Share& share) {
    std::int64_t begin = share.next.load(std::memory_order_relaxed);
    while (begin < share.end && status.load(std::memory_order_relaxed) == 0) {
      const std::int64_t left = share.end - begin;
      const std::int64_t size = std::min(left, std::max(least, left / part + 1));
      if (!share.next.compare_exchange_weak(begin, begin + size, std::memory_order_relaxed))
        continue;
      const std::int32_t result = body(closure, begin, begin + size, rt);
      std::int32_t none = 0;
      if (result != 0) status.compare_exchange_strong(none, result, std::memory_order_relaxed);
      begin = share.next.load(std::memory_order_relaxed);
    }
  }

  void await_helpers(int spin_us) {
    auto gone = [&] { return helpers(gate.load(std::memory_order_acquire)) == 0; };
    if (spin_until(gone, spin_us)) return;
    auto seen = done.load(std::memory_order_acquire);
    gate.fetch_or(awaited, std::memory_order_acq_rel);
    while (!gone()) {
      done.wait(seen, std::memory_order_acquire);
      seen = done.load(std::memory_order_acquire);
    }
  }
};

}  // namespace detail

struct ThreadPool::State {
  static constexpr int job_count = 16;  // loops of different callers that share workers at a time
  static constexpr int worker_limit = 4096;

  const unsigned generation;
  const int spin_us;
  std::atomic<bool> stop{false};
  std::atomic<int> started{0};
  std::atomic<int> awake{0};  // workers that are spinning, or on their way to look for work
  alignas(64) std::atomic<std::uint32_t> epoch{0};
  std::atomic<int> sleepers{0};
  detail::Job jobs[job_count];
  struct Worker {
    State* state;
    pthread_t thread;
    Worker* next;
  };
  std::atomic<Worker*> list{nullptr};

  State(unsigned fork_count, int spin) : generation(fork_count), spin_us(spin) {}

  detail::Job* claim() {
    for (auto& job : jobs) {
      std::uint64_t unused = 0;
      if (job.gate.load(std::memory_order_relaxed) == 0 &&
          job.gate.compare_exchange_strong(unused, detail::Job::claimed,
                                           std::memory_order_acq_rel)) {
        return &job;
      }
    }
    return nullptr;
  }

  void announce(int helpers_wanted) {
    epoch.fetch_add(1, std::memory_order_seq_cst);
    int asleep = sleepers.load(std::memory_order_seq_cst);
    int wake = helpers_wanted - awake.load(std::memory_order_relaxed);
    if (asleep <= 0 || wake <= 0) return;
    if (wake >= asleep) return epoch.notify_all();
    for (int i = 0; i < wake; ++i) epoch.notify_one();
  }

  void ensure_workers(int wanted) {
    if (wanted > worker_limit) wanted = worker_limit;
    int have = started.load(std::memory_order_relaxed);
    while (have < wanted) {
      if (!started.compare_exchange_weak(have, have + 1, std::memory_order_relaxed)) continue;
      if (!start_worker()) {
        started.fetch_sub(1, std::memory_order_relaxed);
        return;
      }
      ++have;
    }
  }

  bool start_worker();
  void work();
};

/// Signals stay with the host's threads. A process at its limit of threads works with those that it
/// has.
LATHE_DECL bool ThreadPool::State::start_worker() {
  auto* worker = new Worker{this, {}, nullptr};
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  auto entry = [](void* w) -> void* {
    static_cast<Worker*>(w)->state->work();
    return nullptr;
  };
  int error = ::pthread_create(&worker->thread, nullptr, entry, worker);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error) {
    delete worker;
    return false;
  }
  worker->next = list.load(std::memory_order_relaxed);
  while (!list.compare_exchange_weak(worker->next, worker, std::memory_order_release)) {
  }
  return true;
}

LATHE_DECL void ThreadPool::State::work() {
  awake.fetch_add(1, std::memory_order_relaxed);
  for (;;) {
    auto seen = epoch.load(std::memory_order_seq_cst);
    // Asked for after the epoch, which changes after it: else a worker could wait for the change
    // that told it to stop.
    if (stop.load(std::memory_order_acquire)) return;
    bool worked = false;
    for (auto& job : jobs) {
      const int participant = job.try_join();
      if (participant == 0) continue;
      awake.fetch_sub(1, std::memory_order_relaxed);
      job.work(participant);
      awake.fetch_add(1, std::memory_order_relaxed);
      job.leave();
      worked = true;
    }
    if (worked) continue;
    auto changed = [&] { return epoch.load(std::memory_order_relaxed) != seen; };
    if (detail::spin_until(changed, spin_us)) continue;
    awake.fetch_sub(1, std::memory_order_relaxed);
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    epoch.wait(seen, std::memory_order_seq_cst);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    awake.fetch_add(1, std::memory_order_relaxed);
  }
}

LATHE_DECL ThreadPool::ThreadPool(int spin_us) : spin_us_(spin_us) { detail::fork_generation(); }

LATHE_DECL ThreadPool::~ThreadPool() {
  State* s = state_.load(std::memory_order_acquire);
  // In a forked child the threads do not exist; from inside a loop (a body called exit) they cannot
  // be waited for.
  if (!s || s->generation != detail::fork_generation() || inside_loop()) return;
  s->stop.store(true, std::memory_order_release);
  s->epoch.fetch_add(1, std::memory_order_seq_cst);
  s->epoch.notify_all();
  for (auto* worker = s->list.load(std::memory_order_acquire); worker;) {
    ::pthread_join(worker->thread, nullptr);
    auto* next = worker->next;
    delete worker;
    worker = next;
  }
  delete s;
}

LATHE_DECL bool ThreadPool::inside_loop() { return detail::inside_loop_flag(); }

LATHE_DECL int ThreadPool::workers() const {
  State* s = state_.load(std::memory_order_acquire);
  return s && s->generation == detail::fork_generation()
             ? s->started.load(std::memory_order_relaxed)
             : 0;
}

LATHE_DECL ThreadPool::State& ThreadPool::state() {
  unsigned generation = detail::fork_generation();
  State* s = state_.load(std::memory_order_acquire);
  while (!s || s->generation != generation) {
    // Spinning steals time from the one processor that does the work.
    auto* fresh = new State(generation, detail::usable_processors() > 1 ? spin_us_ : 0);
    if (state_.compare_exchange_strong(s, fresh, std::memory_order_acq_rel))
      return *fresh;  // the parent's is left alone
    delete fresh;
  }
  return *s;
}

LATHE_DECL std::int32_t ThreadPool::run_shared(std::int64_t n, int max_threads, LoopBody body,
                                               void* closure, void* rt) {
  constexpr int most_threads = static_cast<int>(detail::Job::field);
  int threads = static_cast<int>(n < max_threads ? n : max_threads);
  if (threads > most_threads) threads = most_threads;
  State& s = state();
  s.ensure_workers(threads - 1);
  detail::Job* job = s.claim();
  if (!job) return body(closure, 0, n, rt);
  job->n = n;
  job->body = body;
  job->closure = closure;
  job->rt = rt;
  job->status.store(0, std::memory_order_relaxed);
  job->share_out(threads);
  auto limit = static_cast<std::uint64_t>(threads - 1) << detail::Job::limit_shift;
  job->gate.store(detail::Job::claimed | detail::Job::open | limit, std::memory_order_release);
  s.announce(threads - 1);
  job->work(0);
  job->await_helpers(s.spin_us);
  std::int32_t status = job->status.load(std::memory_order_relaxed);
  job->gate.store(0, std::memory_order_release);
  return status;
}

LATHE_DECL ThreadPool& shared_pool() {
  return Context::default_context().service<ThreadPool>(
      Service::thread_pool, [](const Context&) { return new ThreadPool; });
}

namespace detail {

/// Through the host's hook, whose ranges run as loop bodies. A status ends the loop only for ranges
/// not yet begun.
inline std::int32_t parallel_for_hook(const Context& context, std::int64_t n, int max_threads,
                                      LoopBody body, void* closure, void* rt) {
  std::atomic<std::int32_t> status{0};
  auto range = [&](std::int64_t begin, std::int64_t end) {
    if (begin >= end || status.load(std::memory_order_relaxed) != 0) return;
    InsideLoop inside;
    std::int32_t none = 0;
    if (auto result = body(closure, begin, end, rt)) status.compare_exchange_strong(none, result);
  };
  context.options().parallel_for(n, max_threads, range);
  return status.load();
}

LATHE_DECL std::int32_t parallel_for_raw(const Context& context, std::int64_t n,
                                         std::int64_t max_threads, LoopBody body, void* closure,
                                         void* rt) {
  if (n <= 0) return 0;
  int threads = context.threads();
  if (max_threads > 0 && max_threads < threads) threads = static_cast<int>(max_threads);
  if (n == 1 || threads == 1 || inside_loop_flag()) return body(closure, 0, n, rt);
  if (context.options().parallel_for)
    return parallel_for_hook(context, n, threads, body, closure, rt);
  return shared_pool().run(n, threads, body, closure, rt);
}

struct ThrowingLoop {
  FunctionRef<void(std::int64_t, std::int64_t)> body;
  std::atomic<bool> failed{false};
  std::exception_ptr first{};
};

}  // namespace detail

LATHE_DECL void parallel_for(const Context& context, std::int64_t n,
                             FunctionRef<void(std::int64_t, std::int64_t)> body, int max_threads) {
  detail::ThrowingLoop loop{body};
  auto run_range = [](void* closure, std::int64_t begin, std::int64_t end, void*) -> std::int32_t {
    auto& self = *static_cast<detail::ThrowingLoop*>(closure);
    try {
      self.body(begin, end);
    } catch (...) {
      if (!self.failed.exchange(true)) self.first = std::current_exception();
      return 1;
    }
    return 0;
  };
  detail::parallel_for_raw(context, n, max_threads, run_range, &loop, nullptr);
  if (loop.first) std::rethrow_exception(loop.first);
}

}  // namespace lathe
