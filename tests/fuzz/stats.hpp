// What was run, compared and refused.
#pragma once

#include <cstdio>
#include <map>
#include <string>

#include "random_schedule.hpp"

namespace fuzz {

struct Stats {
  std::map<std::string, int> families, llvms, comparisons, refused_lowerings;
  std::map<std::string, int> accepted;  ///< steps, by family
  int passes = 0;                       ///< after which a program was evaluated
  int unread_texts = 0;                 ///< of lowered programs: more lets than the parser takes
  Counts steps;
};

inline void print(const Stats& stats) {
  auto list = [](const char* title, const std::map<std::string, int>& counts) {
    std::printf("%s:", title);
    for (const auto& [name, count] : counts) std::printf(" %s %d,", name.c_str(), count);
    std::printf("\n");
  };
  std::printf("programs (steps accepted):");
  for (const auto& [name, count] : stats.families) {
    auto found = stats.accepted.find(name);
    std::printf(" %s %d (%d),", name.c_str(), count,
                found == stats.accepted.end() ? 0 : found->second);
  }
  std::printf("\npasses looked at: %d\n", stats.passes);
  std::printf("lowered programs too deep for the parser: %d\n", stats.unread_texts);
  std::printf("compiler: %s\n", __VERSION__);
  list("LLVM", stats.llvms);
  list("comparisons", stats.comparisons);
  list("lowerings refused", stats.refused_lowerings);
  for (const auto& [primitive, outcomes] : stats.steps.by_primitive) {
    auto found = outcomes.find("accepted");
    int accepted = found == outcomes.end() ? 0 : found->second, all = 0;
    for (const auto& [id, count] : outcomes) all += count;
    std::printf("  %-24s accepted %5d of %5d ", primitive.c_str(), accepted, all);
    for (const auto& [id, count] : outcomes)
      if (id != "accepted") std::printf(" %s %d", id.c_str(), count);
    std::printf("\n");
  }
}

}  // namespace fuzz
