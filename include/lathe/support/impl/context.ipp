#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <lathe/support/context.hpp>
#include <lathe/support/error.hpp>
#include <lathe/support/text.hpp>
#include <new>

namespace lathe {

LATHE_DECL int detail::usable_processors() {
#if defined(__linux__)
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) > 0)
    return CPU_COUNT(&mask);
#endif
  // More processors than the mask can hold, or no mask on this system.
  long n = ::sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? static_cast<int>(n) : 1;
}

// In one piece, so that lines of several threads stay whole.
LATHE_DECL void detail::say_on_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

namespace detail {

inline void check_options(const ContextOptions& options, Location where) {
  if (static_cast<bool>(options.allocate) != static_cast<bool>(options.deallocate))
    throw UserError("L0402", "Context: only one of the options 'allocate' and 'deallocate' is set",
                    where, {}, "set both, or neither");
  auto refuse = [&](const char* name, std::string value, const char* help) {
    throw UserError("L0403", cat("Context: option '", name, "' is ", value), where, {}, help);
  };
  if (options.threads < 0)
    refuse("threads", std::to_string(options.threads),
           "use 0 for all processors of the affinity mask, or a positive number");
  if (options.memory_budget < 0)
    refuse("memory_budget", std::to_string(options.memory_budget),
           "use 0 for no limit, or a positive number of bytes");
  if (!(options.time_budget >= 0))
    refuse("time_budget", cat(options.time_budget),
           "use 0 for no limit, or a positive number of seconds");
}

}  // namespace detail

LATHE_DECL Context::Context(Options options, Location where)
    : options_(static_cast<Options&&>(options)),
      threads_(options_.threads > 0 ? options_.threads : detail::usable_processors()) {
  detail::check_options(options_, where);
  if (options_.dump.empty()) {
    if (const char* pass = std::getenv("LATHE_DUMP")) options_.dump = pass;
  }
}

namespace detail {
// Sits right below each block, so that deallocation knows where it starts and how much it frees.
struct AllocationHeader {
  void* start;
  std::size_t bytes;  ///< as asked for, with the header: what in_use counts
  std::size_t alignment;
  std::size_t held;  ///< of the block, which may be a larger one that was kept
};
// Blocks of this size and more are kept; above the second the system may have them back.
inline constexpr std::size_t kKeptBlock = 64 << 10, kLargestKept = 64 << 20;
}  // namespace detail

LATHE_DECL Context::~Context() {
  // Later services may use earlier ones while they end.
  for (int i = static_cast<int>(Service::count_); i-- > 0;) {
    if (auto* service = services_[i].load(std::memory_order_acquire)) service->release();
  }
  for (auto& place : kept_) {
    auto* header = static_cast<detail::AllocationHeader*>(place.load(std::memory_order_acquire));
    if (header) ::operator delete(header->start, std::align_val_t(header->alignment));
  }
}

LATHE_DECL Context& Context::default_context() {
  static Context context{Options{}};
  return context;
}

LATHE_DECL void Context::log(LogLevel level, std::string_view message) const {
  if (logs(level)) options_.log(level, message);
}

LATHE_DECL bool Context::dumps(std::string_view pass) const {
  return !options_.dump.empty() && (options_.dump == "all" || options_.dump == pass);
}

LATHE_DECL RefCounted* Context::publish(std::atomic<RefCounted*>& place, RefCounted* made) {
  RefCounted* expected = nullptr;
  made->retain();
  if (place.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return made;
  made->release();
  return expected;
}

// Large blocks come back from the system as fresh pages, whose first touch costs more than what a
// strip of an image takes to compute; so a few are kept. Small ones the C library keeps itself.
LATHE_DECL void* Context::take_kept(std::size_t total, std::size_t alignment) const noexcept {
  for (auto& place : kept_) {
    void* start = place.load(std::memory_order_relaxed);
    if (!start || !place.compare_exchange_strong(start, nullptr, std::memory_order_acq_rel))
      continue;
    auto header = *static_cast<detail::AllocationHeader*>(start);
    if (header.held >= total && header.held / 2 <= total && header.alignment == alignment)
      return start;
    keep(start);
  }
  return nullptr;
}

LATHE_DECL void Context::keep(void* start) const noexcept {
  for (auto& place : kept_) {
    void* expected = nullptr;
    if (place.compare_exchange_strong(expected, start, std::memory_order_acq_rel)) return;
  }
  // One goes in turn, lest blocks that no kernel asks for any more stay for ever.
  const std::size_t turn = next_dropped_.fetch_add(1, std::memory_order_relaxed);
  start = kept_[turn % std::size(kept_)].exchange(start, std::memory_order_acq_rel);
  if (start)
    ::operator delete(start,
                      std::align_val_t(static_cast<detail::AllocationHeader*>(start)->alignment));
}

LATHE_DECL void* Context::allocate(std::size_t bytes, std::size_t alignment) const {
  if (alignment < 64) alignment = 64;  // room for the header
  std::size_t total = bytes + alignment;
  auto signed_total = static_cast<std::int64_t>(total);
  if (total < bytes || signed_total < 0) return nullptr;
  auto in_use = in_use_.fetch_add(signed_total, std::memory_order_relaxed) + signed_total;
  void* start = nullptr;
  std::size_t held = total;
  if (options_.memory_budget == 0 || in_use <= options_.memory_budget) {
    try {
      if (options_.allocate)
        start = options_.allocate(total, alignment);
      else if (total >= detail::kKeptBlock)
        start = take_kept(total, alignment);
      if (!start && !options_.allocate)
        start = ::operator new(total, std::align_val_t(alignment), std::nothrow);
      else if (start && !options_.allocate)
        held = static_cast<detail::AllocationHeader*>(start)->held;
    } catch (...) {
      in_use_.fetch_sub(signed_total, std::memory_order_relaxed);
      throw;
    }
  }
  if (!start) {
    in_use_.fetch_sub(signed_total, std::memory_order_relaxed);
    return nullptr;
  }
  auto* block = static_cast<char*>(start) + alignment;
  reinterpret_cast<detail::AllocationHeader*>(block)[-1] = {start, total, alignment, held};
  return block;
}

LATHE_DECL void Context::deallocate(void* pointer) const noexcept {
  if (!pointer) return;
  auto header = static_cast<detail::AllocationHeader*>(pointer)[-1];
  in_use_.fetch_sub(static_cast<std::int64_t>(header.bytes), std::memory_order_relaxed);
  if (!options_.deallocate) {
    *static_cast<detail::AllocationHeader*>(header.start) = header;
    if (header.held >= detail::kKeptBlock && header.held <= detail::kLargestKept)
      return keep(header.start);
    return ::operator delete(header.start, std::align_val_t(header.alignment));
  }
  try {
    options_.deallocate(header.start, header.bytes);
  } catch (...) {
  }
}

}  // namespace lathe
