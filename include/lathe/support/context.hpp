// What a host application owns of Lathe's behaviour: threads, memory, log, folders, budgets.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <lathe/support/error.hpp>
#include <lathe/support/function.hpp>
#include <lathe/support/ref.hpp>
#include <string>
#include <string_view>

namespace lathe {

enum class LogLevel { debug, info, warning, error };

/// Runs body over disjoint ranges that together cover [0, n), on at most max_threads threads;
/// returns when all are done.
using ParallelForHook = Hook<void(std::int64_t n, int max_threads,
                                  FunctionRef<void(std::int64_t begin, std::int64_t end)> body)>;

struct ContextOptions {
  /// Most threads that one loop uses; 0 = the processors of the process's affinity mask.
  int threads = 0;
  /// Where messages go. Without it there are none, but for two on standard error: that kernels are
  /// interpreted for want of LLVM, once a process, and what `dump` asks for. May throw: the
  /// exception comes out of the call that had something to say.
  Hook<void(LogLevel, std::string_view)> log{};
  /// Lines below this level are not even built.
  LogLevel log_level = LogLevel::info;
  /// Replaces the built-in thread pool. May throw: the exception comes out of the kernel's call.
  ParallelForHook parallel_for{};
  /// Memory for temporaries of kernels, and for what they keep of constants; null means "none
  /// left". Give both or neither. allocate may throw: the exception comes out of the kernel's call.
  /// What deallocate throws is dropped.
  Hook<void*(std::size_t bytes, std::size_t alignment)> allocate{};
  Hook<void(void* pointer, std::size_t bytes)> deallocate{};
  /// Folder where compiled objects are kept for later processes (ObjectCache); empty: none is.
  std::string cache_dir{};
  /// Bytes that may be in use at once, over all kernels of this context, of temporaries and of what
  /// they keep of constants; 0 = no limit.
  std::int64_t memory_budget = 0;
  /// Seconds that one search or compilation may take; 0 = no limit. A compilation looks at it
  /// between its passes and before it calls LLVM, which is not interrupted (L0412).
  double time_budget = 0;
  /// Name of the pass whose result is logged ("all": every pass), without a log hook on standard
  /// error. Empty: what LATHE_DUMP names.
  /// Compilations refuse the name of no pass (L0602).
  std::string dump{};
  /// Which LLVM: "off", a major version, or a path. Empty: what LATHE_LLVM names, else the newest
  /// in range.
  std::string llvm{};
  /// Whether kernels may use tile registers (AMX), for which the process asks the system when the
  /// first such code is made. Without them the same bits are computed otherwise.
  bool tile_registers = true;
  /// Tell perf the names of kernels, in /tmp/perf-<pid>.map.
  bool perf = false;
};

/// Things that other layers keep in a context, each made on first use.
enum class Service : int {
  thread_pool,
  jit,
  kernel_cache,
  schedule_store,
  intrinsics,
  cuda,
  graph,
  constants,
  count_
};

/// Thread-safe. Kernels keep what they need of it alive only through the services; a context
/// outlives its kernels' calls.
class Context {
 public:
  using Options = ContextOptions;

  /// L0402 half of an allocator · L0403 a negative number
  explicit Context(Options options, Location where = Location::here());
  Context() : Context(Options{}) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  /// The context of calls that name none.
  static Context& default_context();

  const Options& options() const { return options_; }
  /// Most threads that one loop uses, at least 1.
  int threads() const { return threads_; }

  bool logs(LogLevel level) const { return options_.log && level >= options_.log_level; }
  /// Hands the message to the log hook, if there is one. Throws what the hook throws.
  void log(LogLevel level, std::string_view message) const;
  /// True if the result of `pass` is to be logged.
  bool dumps(std::string_view pass) const;

  /// Memory aligned to `alignment` (a power of two), or null: out of memory or over budget. Throws
  /// what the hook throws.
  void* allocate(std::size_t bytes, std::size_t alignment = 64) const;
  void deallocate(void* pointer) const noexcept;
  /// Bytes that allocate() has given out and not taken back.
  std::int64_t bytes_in_use() const { return in_use_.load(std::memory_order_relaxed); }

  /// The service of type T in this slot, made by `make(*this)` (which returns a new T*) when it is
  /// first asked for.
  template <class T, class Make>
  T& service(Service slot, Make make) const {
    auto& place = services_[static_cast<int>(slot)];
    if (auto* made = place.load(std::memory_order_acquire)) return *static_cast<T*>(made);
    return *static_cast<T*>(publish(place, make(*this)));
  }
  /// The service if it was made already, else null.
  template <class T>
  T* find_service(Service slot) const {
    return static_cast<T*>(services_[static_cast<int>(slot)].load(std::memory_order_acquire));
  }

 private:
  static RefCounted* publish(std::atomic<RefCounted*>& place, RefCounted* made);

  Options options_;
  int threads_;
  mutable std::atomic<std::int64_t> in_use_{0};
  void* take_kept(std::size_t total, std::size_t alignment) const noexcept;
  void keep(void* start) const noexcept;

  mutable std::atomic<void*> kept_[8] =
      {};  ///< large free blocks, each with its header at the start
  mutable std::atomic<unsigned> next_dropped_{0};  ///< of those, when there is no place
  mutable std::atomic<RefCounted*> services_[static_cast<int>(Service::count_)] = {};
};

namespace detail {
/// Writes a message where there is no log hook.
void say_on_stderr(std::string_view text);
/// Processors that the calling process may run on (its affinity mask), at least 1.
int usable_processors();
}  // namespace detail

}  // namespace lathe
