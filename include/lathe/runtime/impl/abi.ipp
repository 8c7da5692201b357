#pragma once

#include <cmath>
#include <lathe/runtime/abi.hpp>
#include <lathe/support/text.hpp>

namespace lathe {

LATHE_DECL std::int32_t detail::lathe_parallel_for(RuntimeTable* rt, std::int64_t n,
                                                   std::int64_t max_threads, LoopBody body,
                                                   void* closure) noexcept {
  auto& frame = CallFrame::of(rt);
  try {
    return parallel_for_raw(frame.context(), n, max_threads, body, closure, rt);
  } catch (...) {
    frame.keep_exception();
    return static_cast<std::int32_t>(Status::host_exception);
  }
}

LATHE_DECL void* detail::lathe_alloc(RuntimeTable* rt, std::int64_t bytes,
                                     std::int64_t alignment) noexcept {
  auto& frame = CallFrame::of(rt);
  if (bytes < 0 || alignment < 0) return nullptr;
  try {
    return frame.context().allocate(static_cast<std::size_t>(bytes),
                                    static_cast<std::size_t>(alignment));
  } catch (...) {
    frame.keep_exception();
    return nullptr;
  }
}

LATHE_DECL void detail::lathe_free(RuntimeTable* rt, void* block) noexcept {
  CallFrame::of(rt).context().deallocate(block);
}

LATHE_DECL void detail::lathe_report(RuntimeTable* rt, std::int64_t k,
                                     std::int64_t value) noexcept {
  CallFrame::of(rt).report(k, value);
}

LATHE_DECL void CallFrame::report(std::int64_t k, std::int64_t value) noexcept {
  static thread_local char place;
  const void* first = nullptr;
  if (!reporter_.compare_exchange_strong(first, &place) && first != &place) return;
  // What a thread reports twice, in one loop after the other, is what it saw first.
  const std::int64_t known = reported_.load(std::memory_order_relaxed);
  if (k != known || k >= kReports) return;
  reports_[k] = value;
  reported_.store(k + 1, std::memory_order_release);
}

namespace detail {

/// The text with "{0}", "{1}" … replaced.
inline std::string with_values(std::string_view text, const std::int64_t* values,
                               std::int64_t count) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t end = at + 1;
    std::int64_t k = 0;
    while (text[at] == '{' && end < text.size() && text[end] >= '0' && text[end] <= '9' && k < 100)
      k = k * 10 + (text[end++] - '0');
    if (end > at + 1 && end < text.size() && text[end] == '}' && k < count)
      append(out, values[k]), at = end;
    else
      out += text[at];
  }
  return out;
}

}  // namespace detail

// The message is what happened, and behind a line break the statement.
LATHE_DECL void CallFrame::raise_access(const KernelNotes& notes, Location where) {
  const std::int64_t count = reported_.load(std::memory_order_acquire),
                     index = reports_[0] - static_cast<std::int64_t>(Status::assertion);
  const std::string words =
      index >= 0 && index < notes.assertion_count
          ? detail::with_values(notes.assertions[index], reports_ + 1, count - 1)
          : cat("assertion ", index);
  const std::size_t split = words.find('\n');
  throw UserError("L0409", cat("kernel '", notes.name, "': ", words.substr(0, split)), where,
                  split == std::string::npos ? std::string() : words.substr(split + 1),
                  "lt::pad(X, value) and lt::clamp(X) can be read outside, and "
                  "lt::select(lt::in_bounds(X, …), …, …) reads inside only; the outputs are "
                  "incomplete");
}

LATHE_DECL void CallFrame::raise(std::int32_t status, const KernelNotes& notes, Location where) {
  if (exception_) std::rethrow_exception(exception_);
  if (reported_.load(std::memory_order_acquire) > 0) raise_access(notes, where);
  constexpr auto first_assertion = static_cast<std::int32_t>(Status::assertion);
  if (status >= first_assertion) {
    int index = status - first_assertion;
    std::string words =
        index < notes.assertion_count ? notes.assertions[index] : cat("assertion ", index);
    throw UserError("L0407", cat("kernel '", notes.name, "': ", words), where, {},
                    "this was checked while the kernel ran; its outputs are incomplete");
  }
  if (status == static_cast<std::int32_t>(Status::out_of_memory)) {
    const ContextOptions& options = context_->options();
    const std::int64_t budget = options.memory_budget;
    const char* help = budget > 0
                           ? "raise memory_budget, or use a schedule with smaller temporaries"
                       : options.allocate ? "the context's own allocator gave none; a schedule "
                                            "with smaller temporaries asks for less"
                                          : "use a schedule with smaller temporaries";
    throw UserError(
        "L0406", cat("kernel '", notes.name, "': no memory for its temporaries"), where,
        budget > 0 ? cat("the context's memory_budget is ", budget, " bytes") : std::string(),
        help);
  }
  throw InternalError(cat("kernel '", notes.name, "' returned the unknown status ", status));
}

LATHE_DECL RuntimeSymbols runtime_symbols() {
  static const RuntimeSymbol symbols[] = {
      {"memcpy", reinterpret_cast<void*>(&std::memcpy)},
      {"memmove", reinterpret_cast<void*>(&std::memmove)},
      {"memset", reinterpret_cast<void*>(&std::memset)},
      {"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(&std::fma))},
      {"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(&std::fma))},
      {"fmod", reinterpret_cast<void*>(static_cast<double (*)(double, double)>(&std::fmod))},
      {"fmodf", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(&std::fmod))},
      {"lathe_parallel_for", reinterpret_cast<void*>(&detail::lathe_parallel_for)},
      {"lathe_alloc", reinterpret_cast<void*>(&detail::lathe_alloc)},
      {"lathe_free", reinterpret_cast<void*>(&detail::lathe_free)},
      {"lathe_report", reinterpret_cast<void*>(&detail::lathe_report)},
  };
  return {symbols, static_cast<int>(sizeof symbols / sizeof symbols[0])};
}

}  // namespace lathe
