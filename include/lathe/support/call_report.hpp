// How a call of a kernel ends: the status that machine code or the evaluator returns, what it tells
// besides, and the error that this stands for.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <lathe/support/context.hpp>
#include <lathe/support/error.hpp>
#include <string>
#include <string_view>

namespace lathe {

/// What a kernel returns. From `assertion` on: assertion + the index of the message.
enum class Status : std::int32_t { ok = 0, out_of_memory = 1, host_exception = 2, assertion = 16 };

/// What a kernel's assertions and name are, for messages.
struct KernelNotes {
  std::string_view name;
  const std::string* assertions = nullptr;
  int assertion_count = 0;
};

/// What one call tells besides its status: an exception of the host, the values that a failed
/// assertion looked at. Lives on the caller's stack; costs a few stores.
class CallReport {
 public:
  explicit CallReport(const Context& context) : context_(&context) {}
  CallReport(const CallReport&) = delete;
  CallReport& operator=(const CallReport&) = delete;

  const Context& context() const { return *context_; }

  /// Throws what the status says: the host's own exception, L0406 (no memory), L0407 (assertion),
  /// L0409 (an assertion with values: a checked access).
  void finish(std::int32_t status, const KernelNotes& notes, Location where) {
    if (status != 0) raise(status, notes, where);
  }

  /// What a failed assertion looked at: value 0 is its status. Of several threads the first is
  /// heard.
  void report(std::int64_t k, std::int64_t value) noexcept;

  /// Keeps the exception that is being handled, if it is the call's first.
  void keep_exception() noexcept {
    if (!failed_.exchange(true)) exception_ = std::current_exception();
  }

 private:
  static constexpr std::int64_t kReports = 65;  ///< a status, and an index and an extent an axis

  [[noreturn]] void raise(std::int32_t status, const KernelNotes& notes, Location where);
  [[noreturn]] void raise_access(const KernelNotes& notes, Location where);

  const Context* context_;
  std::atomic<bool> failed_{false};
  std::atomic<const void*> reporter_{nullptr};  ///< a place of the thread's own
  std::atomic<std::int64_t> reported_{0};
  std::int64_t reports_[kReports];
  std::exception_ptr exception_;
};

}  // namespace lathe
