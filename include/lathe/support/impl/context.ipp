#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <lathe/support/context.hpp>
#include <lathe/support/error.hpp>
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

LATHE_DECL Context::Context(Options options)
    : options_(static_cast<Options&&>(options)),
      threads_(options_.threads > 0 ? options_.threads : detail::usable_processors()) {
  if (static_cast<bool>(options_.allocate) != static_cast<bool>(options_.deallocate)) {
    throw UserError("L0402", "Context: only one of the options 'allocate' and 'deallocate' is set",
                    {}, {}, "set both, or neither");
  }
  if (options_.threads < 0) {
    throw UserError("L0403", "Context: option 'threads' is " + std::to_string(options_.threads), {},
                    {}, "use 0 for all processors of the affinity mask, or a positive number");
  }
  if (options_.dump.empty()) {
    if (const char* pass = std::getenv("LATHE_DUMP")) options_.dump = pass;
  }
}

LATHE_DECL Context::~Context() {
  // Later services may use earlier ones while they end.
  for (int i = static_cast<int>(Service::count_); i-- > 0;) {
    if (auto* service = services_[i].load(std::memory_order_acquire)) service->release();
  }
}

LATHE_DECL Context& Context::default_context() {
  static Context context{Options{}};
  return context;
}

LATHE_DECL void Context::log(LogLevel level, std::string_view message) const noexcept {
  if (!logs(level)) return;
  try {
    options_.log(level, message);
  } catch (...) {
  }
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

namespace detail {
// Sits right below each block, so that deallocation knows where it starts and how much it frees.
struct AllocationHeader {
  void* start;
  std::size_t bytes;
};
}  // namespace detail

LATHE_DECL void* Context::allocate(std::size_t bytes, std::size_t alignment) const {
  if (alignment < sizeof(detail::AllocationHeader)) alignment = sizeof(detail::AllocationHeader);
  std::size_t total = bytes + alignment;
  auto signed_total = static_cast<std::int64_t>(total);
  if (total < bytes || signed_total < 0) return nullptr;
  auto in_use = in_use_.fetch_add(signed_total, std::memory_order_relaxed) + signed_total;
  void* start = nullptr;
  if (options_.memory_budget <= 0 || in_use <= options_.memory_budget) {
    try {
      start = options_.allocate ? options_.allocate(total, alignment)
                                : ::operator new(total, std::align_val_t(alignment), std::nothrow);
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
  reinterpret_cast<detail::AllocationHeader*>(block)[-1] = {start, total};
  return block;
}

LATHE_DECL void Context::deallocate(void* pointer) const noexcept {
  if (!pointer) return;
  auto header = static_cast<detail::AllocationHeader*>(pointer)[-1];
  in_use_.fetch_sub(static_cast<std::int64_t>(header.bytes), std::memory_order_relaxed);
  auto alignment =
      static_cast<std::size_t>(static_cast<char*>(pointer) - static_cast<char*>(header.start));
  if (!options_.deallocate) return ::operator delete(header.start, std::align_val_t(alignment));
  try {
    options_.deallocate(header.start, header.bytes);
  } catch (...) {
  }
}

}  // namespace lathe
