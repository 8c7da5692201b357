#pragma once

#include <string>
#include <string_view>

namespace lathe::detail {

// Names may hold any bytes; those of control characters have no place in HTML.
inline std::string html_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if ((byte < 32 && c != '\n') || byte == 127)
      out += "\xEF\xBF\xBD";
    else
      out += c;
  }
  return out;
}

}  // namespace lathe::detail
