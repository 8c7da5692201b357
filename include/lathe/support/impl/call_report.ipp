#pragma once

#include <lathe/support/call_report.hpp>
#include <lathe/support/text.hpp>

namespace lathe {

LATHE_DECL void CallReport::report(std::int64_t k, std::int64_t value) noexcept {
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
LATHE_DECL void CallReport::raise_access(const KernelNotes& notes, Location where) {
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

LATHE_DECL void CallReport::raise(std::int32_t status, const KernelNotes& notes, Location where) {
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

}  // namespace lathe
