// Memory next to pages that fault: of arguments, and of the temporaries of kernels.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <lathe/support/context.hpp>
#include <new>

namespace fuzz {

/// Where an array lies in its room: its last byte before a page that faults, or its first after
/// one.
enum class Place { end, front };

/// Memory between two pages that may not be touched.
class GuardedBlock {
 public:
  static constexpr std::size_t kPage = 4096, kUsual = 64 * kPage;

  explicit GuardedBlock(std::size_t size) : size_(size) {
    base_ = static_cast<char*>(
        mmap(nullptr, size_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + kPage, size_, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
  }
  ~GuardedBlock() { munmap(base_, size_ + 2 * kPage); }
  GuardedBlock(const GuardedBlock&) = delete;
  GuardedBlock& operator=(const GuardedBlock&) = delete;

  char* room() { return base_ + kPage; }
  std::size_t size() const { return size_; }
  /// Of a block for so many bytes: all of it is filled and looked through in each run, so large
  /// ones are only for those that need them.
  static std::size_t size_for(std::size_t bytes) {
    return bytes <= kUsual ? kUsual : (bytes + kPage - 1) / kPage * kPage;
  }

 private:
  char* base_;
  std::size_t size_;
};

/// The memory of a kernel's temporaries: before a page that faults, and full of numbers that no
/// program means (mmap gives zeros, which hide that nobody stored).
struct GuardedTemporaries {
  static constexpr std::size_t kPage = GuardedBlock::kPage;

  static void* allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t taken = (bytes + alignment - 1) / alignment * alignment,
                      room = rounded(taken);
    void* base =
        mmap(nullptr, room + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return nullptr;
    char* start = static_cast<char*>(base) + room - taken;
    mprotect(static_cast<char*>(base) + room, kPage, PROT_NONE);
    std::memset(start, 0xcb, taken);
    return start;
  }
  static void deallocate(void* pointer, std::size_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(pointer), base = at / kPage * kPage;
    munmap(reinterpret_cast<void*>(base), rounded(at - base + bytes) + kPage);
  }

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
};

/// A host with two threads; or one that runs the iterations of parallel loops from the last to the
/// first, which shows values that they carry.
inline lathe::ContextOptions host_options(bool backwards) {
  lathe::ContextOptions options;
  options.threads = backwards ? 4 : 2;
  options.allocate = &GuardedTemporaries::allocate;
  options.deallocate = &GuardedTemporaries::deallocate;
  if (backwards)
    options.parallel_for = [](std::int64_t n, int,
                              lathe::FunctionRef<void(std::int64_t, std::int64_t)> body) {
      for (std::int64_t k = n; k-- > 0;) body(k, k + 1);
    };
  return options;
}

}  // namespace fuzz
