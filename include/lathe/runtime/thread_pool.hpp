// Threads for the iterations of parallel loops: the context's hook, or the built-in pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <lathe/support/context.hpp>
#include <lathe/support/function.hpp>
#include <lathe/support/ref.hpp>

namespace lathe {

/// A range of a parallel loop as generated code has it. Must not throw; a status other than 0 ends
/// the loop early.
using LoopBody = std::int32_t (*)(void* closure, std::int64_t begin, std::int64_t end, void* rt);

/// Threads that are made when first needed, spin for at most `spin_us` after their last work, and
/// then sleep.
///  - The caller works too. Loops inside loops run on the thread that they are in.
///  - Any number of threads may call run() at once; each gets the workers that are free.
///  - In a forked child the pool starts over with threads of its own.
class ThreadPool : public RefCounted {
 public:
  explicit ThreadPool(int spin_us = 30);
  LATHE_DECL ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// body over [0, n) on at most max_threads threads; the first status other than 0, else 0.
  std::int32_t run(std::int64_t n, int max_threads, LoopBody body, void* closure, void* rt) {
    if (n <= 0) return 0;
    if (n == 1 || max_threads <= 1 || inside_loop()) return body(closure, 0, n, rt);
    return run_shared(n, max_threads, body, closure, rt);
  }

  /// Threads made so far, callers not counted.
  int workers() const;
  /// True on a thread that is running a part of a parallel loop.
  static bool inside_loop();

 private:
  struct State;
  std::int32_t run_shared(std::int64_t n, int max_threads, LoopBody body, void* closure, void* rt);
  State& state();

  int spin_us_;
  std::atomic<State*> state_{nullptr};
};

/// The pool that all contexts share, so that several contexts do not mean several times the
/// threads.
ThreadPool& shared_pool();

/// body over disjoint ranges that cover [0, n), through the context's hook or the shared pool. The
/// first exception of a body (or of the hook) is rethrown here. max_threads = 0: as many as the
/// context allows.
void parallel_for(const Context& context, std::int64_t n,
                  FunctionRef<void(std::int64_t, std::int64_t)> body, int max_threads = 0);

namespace detail {
/// The same for generated code: statuses instead of exceptions, except those of the host's hook,
/// which come through.
std::int32_t parallel_for_raw(const Context& context, std::int64_t n, std::int64_t max_threads,
                              LoopBody body, void* closure, void* rt);
}  // namespace detail

}  // namespace lathe
