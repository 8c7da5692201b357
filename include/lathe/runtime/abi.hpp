// The interface of generated code: slots, and the runtime table that it may call back. What it
// returns is in support/call_report.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <lathe/runtime/thread_pool.hpp>
#include <lathe/support/call_report.hpp>
#include <lathe/support/context.hpp>
#include <lathe/support/error.hpp>

namespace lathe {

// The contract, in LLVM IR:
//
//     define i32 @kernel(ptr slots, ptr rt)
//     define i32 @body(ptr closure, i64 begin, i64 end, ptr rt)
//     declare i32 @lathe_parallel_for(ptr rt, i64 n, i64 max_threads, ptr body, ptr closure)
//     declare ptr @lathe_alloc(ptr rt, i64 bytes, i64 alignment)
//     declare void @lathe_free(ptr rt, ptr block)
//     declare void @lathe_report(ptr rt, i64 k, i64 value)
//
// max_threads 0 stands for the context's; where lathe_alloc gives null, the kernel returns
// status 1. lathe_report(rt, 0, status) and then (rt, 1 …, value) say what an assertion that failed
// looked at, right before its status is returned. `slots` is
// an array of 8-byte slots: buffer pointers, then i64 strides and extents, then scalars in their
// low bits, in the order that the compiler laid out. `rt` points to a RuntimeTable, whose fields
// hold the same functions for code that must not have external symbols, as C from to_c. Generated
// code tests each returned status and passes on what is not 0.

struct RuntimeTable {
  std::int32_t (*parallel_for)(RuntimeTable* rt, std::int64_t n, std::int64_t max_threads,
                               LoopBody body, void* closure);
  void* (*alloc)(RuntimeTable* rt, std::int64_t bytes, std::int64_t alignment);
  void (*free)(RuntimeTable* rt, void* block);
  void* opaque;  ///< the CallFrame
  void (*report)(RuntimeTable* rt, std::int64_t k, std::int64_t value);
};

using KernelEntry = std::int32_t (*)(const std::uint64_t* slots, RuntimeTable* rt);

namespace detail {
// Never throw: what the host throws is kept in the frame of the call.
std::int32_t lathe_parallel_for(RuntimeTable* rt, std::int64_t n, std::int64_t max_threads,
                                LoopBody body, void* closure) noexcept;
void* lathe_alloc(RuntimeTable* rt, std::int64_t bytes, std::int64_t alignment) noexcept;
void lathe_free(RuntimeTable* rt, void* block) noexcept;
void lathe_report(RuntimeTable* rt, std::int64_t k, std::int64_t value) noexcept;
}  // namespace detail

/// One call of a kernel. Lives on the caller's stack; costs a few stores.
class CallFrame : public CallReport {
 public:
  explicit CallFrame(const Context& context)
      : CallReport(context),
        table_{detail::lathe_parallel_for, detail::lathe_alloc, detail::lathe_free, this,
               detail::lathe_report} {}

  RuntimeTable* rt() { return &table_; }
  static CallFrame& of(RuntimeTable* rt) { return *static_cast<CallFrame*>(rt->opaque); }

 private:
  RuntimeTable table_;
};

/// Runs a kernel on slots that are filled already.
[[gnu::always_inline]] inline void call_kernel(KernelEntry entry, const std::uint64_t* slots,
                                               const Context& context, const KernelNotes& notes,
                                               Location where = Location::here()) {
  CallFrame frame(context);
  frame.finish(entry(slots, frame.rt()), notes, where);
}

/// The slot of a pointer, an index or a scalar of at most 8 bytes.
template <class T>
std::uint64_t to_slot(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  std::uint64_t slot = 0;
  std::memcpy(&slot, &value, sizeof value);
  return slot;
}

/// An external function that generated code may name.
struct RuntimeSymbol {
  const char* name;
  void* address;
};
/// All of them: memcpy, memmove, memset, the three hooks above, and fma and fmaf for targets
/// without that instruction. An object that needs another is refused.
struct RuntimeSymbols {
  const RuntimeSymbol* first;
  int count;
  const RuntimeSymbol* begin() const { return first; }
  const RuntimeSymbol* end() const { return first + count; }
};
RuntimeSymbols runtime_symbols();

}  // namespace lathe
