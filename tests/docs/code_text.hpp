// Code that a macro made a text of, as a page shows it.
#pragma once

#include <string>
#include <string_view>

namespace docs {

/// On one line, with '|' marked for a table's cell; what only keeps compilers quiet is left out.
inline std::string statement_text(std::string_view code) {
  std::string out(code);
  for (std::size_t at = out.find(" (void)"); at != std::string::npos; at = out.find(" (void)"))
    out.erase(at, out.find(';', at) + 1 - at);
  // A formatter's line breaks left these blanks.
  for (std::size_t at = out.find("( "); at != std::string::npos; at = out.find("( "))
    out.erase(at + 1, 1);
  for (std::size_t at = out.find('|'); at != std::string::npos; at = out.find('|', at + 2))
    out.insert(at, "\\");
  return out;
}

}  // namespace docs
