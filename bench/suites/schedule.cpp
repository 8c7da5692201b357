// How many steps of a schedule are taken in a second: by program, and by primitive over all
// programs.
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "core/measure.hpp"
#include "schedule_steps.hpp"
#include "suites/suites.hpp"

namespace bench {

namespace {

// What several runs of one program took.
struct Runs {
  std::vector<double> totals;                          ///< seconds of a run
  std::map<std::string, std::vector<double>> seconds;  ///< of a run, by primitive
  std::map<std::string, int> steps;                    ///< of a run, by primitive
  int total_steps = 0;
};

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

Runs run_for(const ScheduledProgram& program, double seconds) {
  Runs runs;
  const double end = seconds_now() + seconds;
  program.schedule();  // the first one meets cold caches
  do {
    const StepTimes times = program.schedule();
    runs.totals.push_back(times.total().seconds);
    runs.total_steps = times.total().steps;
    for (const auto& [primitive, sum] : times.by_primitive()) {
      runs.seconds[primitive].push_back(sum.seconds);
      runs.steps[primitive] = sum.steps;
    }
  } while (seconds_now() < end || runs.totals.size() < 5);
  return runs;
}

Row make_row(const std::string& name, double seconds, int steps) {
  Row row;
  row.suite = "schedule";
  row.name = name;
  row.dtype = "";
  row.schedule = "hand";
  row.lathe_ms = 1e3 * seconds / steps;
  row.steps_per_second = steps / seconds;
  return row;
}

}  // namespace

std::vector<std::string> schedule_case_names() {
  std::vector<std::string> names;
  for (const ScheduledProgram& program : scheduled_programs()) names.push_back(program.name);
  return names;
}

void run_schedule_suite(const Options& options, Report& report) {
  std::map<std::string, double> seconds;
  std::map<std::string, int> steps;
  for (const ScheduledProgram& program : scheduled_programs()) {
    if (!options.wants(program.name)) continue;
    try {
      const Runs runs = run_for(program, options.seconds);
      const double median = quantile(runs.totals, 0.5);
      Row row = make_row(program.name, median, runs.total_steps);
      row.spread = (quantile(runs.totals, 0.9) - quantile(runs.totals, 0.1)) / median;
      report.add(row);
      for (const auto& [primitive, times] : runs.seconds) {
        seconds[primitive] += quantile(times, 0.5);
        steps[primitive] += runs.steps.at(primitive);
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "lathe: %s: %s\n", program.name.c_str(), e.what());
    }
  }
  for (const auto& [primitive, sum] : seconds)
    report.add(make_row("step " + primitive, sum, steps.at(primitive)));
}

}  // namespace bench
