// What a test can tell from assembly: the innermost loop, and whether it touches the stack.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace test {

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++n;
  return n;
}

/// Of all jumps back to a label, the body of the one with the most instructions that holds no other
/// label.
inline std::string innermost_loop(std::string_view assembly) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < assembly.size();) {
    std::size_t end = assembly.find('\n', at);
    if (end == assembly.npos) end = assembly.size();
    lines.push_back(assembly.substr(at, end - at));
    at = end + 1;
  }
  std::string best;
  std::string_view label;
  std::string body;
  for (std::string_view line : lines) {
    if (line.substr(0, 4) == ".LBB") {
      label = line.substr(0, line.find(':'));
      body.clear();
    } else if (line.substr(0, 2) == "\tj" && !label.empty() &&
               line.substr(line.find('.') == line.npos ? 0 : line.find('.')) == label) {
      if (body.size() > best.size()) best = body;
    } else {
      body.append(line).push_back('\n');
    }
  }
  return best;
}

/// Instructions that read or write the frame.
inline std::size_t stack_accesses(std::string_view assembly) {
  // Kernels keep no frame pointer, so that %rbp is a register as any other.
  return count_of(assembly, "(%rsp");
}

}  // namespace test
