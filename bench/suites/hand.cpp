// Programs under schedules of experts, beside plain loops.
#include <cstdio>

#include "hand/cases.hpp"
#include "suites/suites.hpp"

namespace bench {

namespace {

std::vector<HandProgram> programs() {
  std::vector<HandProgram> all = lane_programs();
  for (auto* more : {&tile_programs, &fold_programs})
    for (HandProgram& program : more()) all.push_back(std::move(program));
  return all;
}

Row run_program(const HandProgram& program, const Options& options) {
  Row row = compare(program.make(), options);
  row.suite = row.schedule = "hand";
  row.name = program.name;
  return row;
}

}  // namespace

std::vector<std::string> hand_case_names() {
  std::vector<std::string> names;
  for (const HandProgram& program : programs()) names.push_back(program.name);
  return names;
}

void run_hand_suite(const Options& options, Report& report) {
  for (const HandProgram& program : programs()) {
    if (!options.wants(program.name)) continue;
    try {
      report.add(run_program(program, options));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "lathe: %s: %s\n", program.name.c_str(), e.what());
    }
  }
}

}  // namespace bench
