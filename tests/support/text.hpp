// What a test looks for in a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace test {

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++n;
  return n;
}

}  // namespace test
