#pragma once

#include <lathe/support/error.hpp>

namespace lathe {
namespace detail {

inline std::string base_name(std::string_view path) {
  auto slash = path.find_last_of('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

inline std::string place(Location where) {
  return base_name(where.file) + ":" + std::to_string(where.line);
}

inline void append_indented(std::string& out, std::string_view text) {
  while (!text.empty()) {
    auto end = text.find('\n');
    out += "\n  ";
    out += text.substr(0, end);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

inline std::string user_error_text(std::string_view id, std::string_view message, Location where,
                                   std::string_view details, std::string_view help) {
  std::string out = "error[" + std::string(id) + "] " + std::string(message);
  if (where.line) out += "\n  at " + place(where);
  append_indented(out, details);
  if (!help.empty()) append_indented(out, "help: " + std::string(help));
  return out;
}

}  // namespace detail

LATHE_DECL void detail::refuse_no_memory(const char* step, Location where) {
  throw UserError("L0408", std::string(step) + ": out of memory", where, {},
                  "nothing was changed: free memory and try again");
}

LATHE_DECL UserError::UserError(std::string_view id, std::string_view message, Location where,
                                std::string_view details, std::string_view help)
    : std::runtime_error(detail::user_error_text(id, message, where, details, help)),
      id_(id),
      message_(message),
      where_(where) {}

LATHE_DECL InternalError::InternalError(std::string_view message, Location where)
    : std::logic_error("internal error: " + std::string(message) + "\n  at " +
                       detail::place(where)) {}

}  // namespace lathe
