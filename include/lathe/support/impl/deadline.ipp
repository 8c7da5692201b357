#pragma once

#include <chrono>
#include <lathe/support/deadline.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace detail

LATHE_DECL Deadline::Deadline(const Context& context) : budget_(context.options().time_budget) {
  constexpr double longest = 1e9;  // some thirty years: no limit
  if (budget_ > 0 && budget_ < longest)
    end_ = detail::steady_nanoseconds() + static_cast<std::int64_t>(budget_ * 1e9);
}

LATHE_DECL Stopwatch::Stopwatch() : start_(detail::steady_nanoseconds()) {}
LATHE_DECL double Stopwatch::microseconds() const {
  return 1e-3 * static_cast<double>(detail::steady_nanoseconds() - start_);
}

LATHE_DECL bool Deadline::over() const {
  return end_ != INT64_MAX && detail::steady_nanoseconds() > end_;
}

LATHE_DECL void Deadline::check(std::string_view next, Location where) const {
  if (!over()) return;
  throw UserError("L0412", cat("the time budget of ", budget_, " s is over before ", next), where,
                  {}, "raise the context's time_budget, or make the program smaller");
}

}  // namespace lathe
