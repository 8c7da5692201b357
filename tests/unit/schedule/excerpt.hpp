// Parts of what a schedule and a refusal print.
#pragma once

#include "run.hpp"

namespace test {

/// The statement of the program whose first line holds a text.
inline std::string part(const lt::Schedule& s, const std::string& first) {
  const std::string text = s.str();
  const std::size_t at = text.rfind('\n', text.find(first)) + 1,
                    indent = text.find_first_not_of(' ', at) - at;
  std::size_t end = text.find('\n', at) + 1;
  while (end < text.size() && text.find_first_not_of(' ', end) > end + indent)
    end = text.find('\n', end) + 1;
  return text.substr(at, end - at);
}

/// Its first line.
inline std::string head(const lt::Schedule& s, const std::string& first) {
  const std::string text = part(s, first);
  return text.substr(text.find_first_not_of(' '), text.find('\n') - text.find_first_not_of(' '));
}

template <class Step>
std::string refused_help(lt::Schedule& s, Step&& step) {
  const std::string text = refused(s, step);
  const std::size_t help = text.find("\n  help: ");
  return text.substr(0, text.find('\n')) + (help == text.npos ? "" : text.substr(help));
}

}  // namespace test
