// Time of a search or a compilation: a deadline by the budget of a context, and a stopwatch.
#pragma once

#include <cstdint>
#include <lathe/support/context.hpp>
#include <lathe/support/error.hpp>
#include <string_view>

namespace lathe {

class Deadline {
 public:
  /// The context's time_budget from now on.
  explicit Deadline(const Context& context);
  /// Never.
  Deadline() = default;

  bool over() const;
  /// L0412 if it is over; `next` is what is not begun, as in "LLVM".
  void check(std::string_view next, Location where) const;

 private:
  double budget_ = 0;
  std::int64_t end_ = INT64_MAX;  ///< nanoseconds of the steady clock
};

/// Measures a part of a compilation, for the log.
class Stopwatch {
 public:
  Stopwatch();
  double microseconds() const;

 private:
  std::int64_t start_;  ///< nanoseconds of the steady clock
};

}  // namespace lathe
