// The options of the command line: run.sh lists them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace fuzz {

struct Options {
  int cases = 1000, length = 14;
  std::uint64_t seed = 1;
  double seconds = 1e9;
  long only = -1;
  bool verbose = false, keep_going = false, plain = false;
  bool c = false;      ///< the code is C, compiled by LATHE_FUZZ_CC or gcc
  std::string family;  ///< only this one
  std::vector<std::string> files;
  /// Files of programs, by turns: one for each eighth case, or for all if the family is "none".
  std::vector<std::string> programs;

  /// The file of the program of a case; empty: it is one of the families.
  std::string program_of(long at) const {
    const bool only = family == "none";
    if (programs.empty() || (!only && at % 8 != 0)) return {};
    return programs[static_cast<std::size_t>(only ? at : at / 8) % programs.size()];
  }
};

inline Options parse_options(int count, char** words) {
  Options o;
  for (int k = 1; k < count; ++k) {
    std::string word = words[k];
    auto value = [&] { return k + 1 < count ? words[++k] : "0"; };
    if (word == "--cases")
      o.cases = std::atoi(value());
    else if (word == "--seed")
      o.seed = std::strtoull(value(), nullptr, 10);
    else if (word == "--seconds")
      o.seconds = std::atof(value());
    else if (word == "--case")
      o.only = std::atol(value());
    else if (word == "--length")
      o.length = std::atoi(value());
    else if (word == "--family")
      o.family = value();
    else if (word == "--file")
      o.files.push_back(value());
    else if (word == "--program")
      o.programs.push_back(value());
    else if (word == "--verbose")
      o.verbose = true;
    else if (word == "--keep-going")
      o.keep_going = true;
    else if (word == "--plain")
      o.plain = true;
    else if (word == "--c")
      o.c = true;
    else
      std::fprintf(stderr, "unknown option %s\n", words[k]), std::exit(2);
  }
  return o;
}

}  // namespace fuzz
