// Programs under schedules of experts, beside plain loops.
#include <cstdio>
#include <stdexcept>

#include "core/measure.hpp"
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
  const HandCase what = program.make();
  if (!what.agree()) throw std::runtime_error("wrong result, not timed");
  const OthersWatch others;
  const std::vector<Timing> times = measure(what.all, {options.seconds, 1});
  Row row;
  row.suite = "hand";
  row.name = program.name, row.dtype = what.dtype;
  row.schedule = "hand";
  row.flops = what.flops, row.bytes = what.bytes;
  row.busy = others.cores();
  row.lathe_ms = 1e3 * times[0].median, row.spread = times[0].spread();
  for (std::size_t k = 1; k < times.size(); ++k)
    row.peers[what.all[k].name] = 1e3 * times[k].median;
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
