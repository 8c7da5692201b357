// Whether docs/schedule.md lists the id that a step was refused with.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "root.hpp"

namespace test {

inline const std::string& schedule_page() {
  static const std::string page = [] {
    std::ifstream in(root() / ".." / "docs" / "schedule.md");
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  return page;
}

/// True if the section of the primitive, or the page's introduction, names the id.
inline bool documents_refusal(const std::string& primitive, const std::string& id) {
  const std::string& page = schedule_page();
  const std::string link = "[" + id + "]";
  if (page.substr(0, page.find("\n## ")).find(link) != std::string::npos) return true;
  const std::size_t begin = page.find("\n## " + primitive + "\n");
  if (begin == std::string::npos) return false;
  const std::size_t end = page.find("\n## ", begin + 1);
  return page.substr(begin, end - begin).find(link) != std::string::npos;
}

}  // namespace test
