// What a test can tell from assembly: the innermost loop, and whether it touches the stack.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../support/text.hpp"

namespace test {

inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == text.npos) end = text.size();
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Of all jumps back to a label, the bodies that hold no other label.
inline std::vector<std::string> innermost_loops(std::string_view assembly) {
  std::vector<std::string> loops;
  std::string_view label;
  std::string body;
  for (std::string_view line : lines_of(assembly)) {
    if (line.substr(0, 4) == ".LBB") {
      label = line.substr(0, line.find(':'));
      body.clear();
    } else if (line.substr(0, 2) == "\tj" && !label.empty() &&
               line.substr(line.find('.') == line.npos ? 0 : line.find('.')) == label) {
      loops.push_back(body);
    } else {
      body.append(line).push_back('\n');
    }
  }
  return loops;
}

/// The one with the most instructions.
inline std::string innermost_loop(std::string_view assembly) {
  std::string best;
  for (std::string& loop : innermost_loops(assembly))
    if (loop.size() > best.size()) best = std::move(loop);
  return best;
}

/// Instructions that read or write the frame.
inline std::size_t stack_accesses(std::string_view assembly) {
  // Kernels keep no frame pointer, so that %rbp is a register as any other.
  return count_of(assembly, "(%rsp");
}

/// Instructions on vectors that read or write the frame: where registers ran out, or what was
/// computed ahead of the loop found none. `frame_pointer`: the function keeps %rbp for its frame.
inline std::size_t stack_moves(std::string_view assembly, bool frame_pointer = false) {
  std::size_t n = 0;
  for (std::string_view line : lines_of(assembly)) {
    const bool vector = line.find("%xmm") != line.npos || line.find("%ymm") != line.npos ||
                        line.find("%zmm") != line.npos;
    const bool frame =
        line.find("(%rsp") != line.npos || (frame_pointer && line.find("(%rbp") != line.npos);
    n += vector && frame ? 1 : 0;
  }
  return n;
}

/// Those of all innermost loops.
inline std::size_t stack_moves_in_loops(std::string_view assembly) {
  const bool frame_pointer = assembly.find("\tmovq\t%rsp, %rbp") != assembly.npos;
  std::size_t n = 0;
  for (const std::string& loop : innermost_loops(assembly)) n += stack_moves(loop, frame_pointer);
  return n;
}

}  // namespace test
