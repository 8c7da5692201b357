// Exceptions: UserError for a mistake in the calling program, InternalError for a broken invariant
// of Lathe's own.
#pragma once

#include <lathe/support/config.hpp>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lathe {

/// A place in the caller's source, filled in by default arguments (clang 14 has no
/// std::source_location).
struct Location {
  const char* file = "";
  unsigned line = 0;

  static constexpr Location here(const char* file = __builtin_FILE(),
                                 unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

/// A mistake in the calling program. Nothing was changed by the call that threw it.
/// what() has the form
///     error[L0203] split: factors {2, 48} give 96, but loop 'i' of block 'C' has extent 100
///       at gemm.cpp:27
///       <details, each line indented by two>
///       help: <what would have been legal>
class UserError : public std::runtime_error {
 public:
  UserError(std::string_view id, std::string_view message, Location where,
            std::string_view details = {}, std::string_view help = {});

  /// Stable, "L0203"; docs/errors.md has a heading for each.
  const std::string& id() const { return id_; }
  /// The first line without "error[id] ".
  const std::string& message() const { return message_; }
  /// The caller's file and line.
  Location where() const { return where_; }

 private:
  std::string id_;
  std::string message_;
  Location where_;
};

namespace detail {
[[noreturn]] void refuse_no_memory(const char* step, Location where);

/// What f gives; L0408 where the process has no memory for it.
template <class F>
auto within_memory(const char* step, Location where, F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    refuse_no_memory(step, where);
  }
}
}  // namespace detail

/// A broken invariant inside Lathe: always a bug worth reporting.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(std::string_view message, Location where = Location::here());
};

/// States an invariant. Never used on what a user passes in.
inline void invariant(bool holds, const char* message, Location where = Location::here()) {
  if (!holds) throw InternalError(message, where);
}
[[noreturn]] inline void unreachable(const char* message, Location where = Location::here()) {
  throw InternalError(message, where);
}

}  // namespace lathe
