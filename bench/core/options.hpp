// What the command line asks for.
#pragma once

#include <regex>
#include <string>
#include <vector>

namespace bench {

struct Options {
  std::vector<std::string> suites;
  std::string filter;
  std::vector<int> threads;
  std::vector<std::string> peers;  ///< empty: all
  bool hand = false;
  bool list = false;
  double seconds = 2;
  unsigned seed = 0;  ///< what sizes are drawn with; another in each run unless given
  std::string json;

  bool wants(const std::string& case_name) const {
    return std::regex_search(case_name, std::regex(filter));
  }
  bool wants_peer(const std::string& name) const;
  int max_threads() const;
};

extern const char* const usage;
/// Throws std::invalid_argument with a message for the terminal.
Options parse_options(int argc, char** argv);

}  // namespace bench
