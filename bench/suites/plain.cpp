// Small programs of all kinds under Lathe's default schedule, beside plain loops.
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "plain/cases.hpp"
#include "suites/suites.hpp"

namespace bench {

namespace {

/// From which ratio on Lathe counts as not slower: what the clock tells apart.
constexpr double even = 0.95;

struct Ratios {
  double log_sum = 0, least = 0;
  int count = 0, slower = 0;
  std::string slowest;

  void add(const Row& row) {
    const double ratio = row.peers.at("plain") / row.lathe_ms.value();
    if (count++ == 0 || ratio < least) least = ratio, slowest = row.name;
    slower += ratio < even;
    log_sum += std::log(ratio);
  }
  void print(const std::string& name) const {
    if (count == 0) return;
    std::printf("%-17s %4d %9.3f %6d %7.3f  %s\n", name.c_str(), count, std::exp(log_sum / count),
                slower, least, slowest.c_str());
  }
};

Row run_case(const PlainCase& what, const Options& options) {
  const PlainRun run = what.make();
  Row row = compare(run.comparison, options);
  row.suite = "plain", row.schedule = "default";
  row.family = what.family, row.name = what.name;
  row.jit_ms = run.jit_ms, row.plan_ms = run.plan_ms;
  row.seed = options.seed;
  return row;
}

void summarize(const std::vector<Row>& rows, unsigned seed) {
  std::printf("\n%-17s %4s %9s %6s %7s  %s\n", "family", "rows", "mean", "slower", "worst",
              "slowest");
  Ratios all, family;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    all.add(rows[k]), family.add(rows[k]);
    if (k + 1 < rows.size() && rows[k + 1].family == rows[k].family) continue;
    family.print(rows[k].family);
    family = {};
  }
  all.print("all");
  std::printf("%d rows below %.2f of plain loops; --seed %u\n", all.slower, even, seed);
}

}  // namespace

std::vector<std::string> plain_case_names(const Options& options) {
  std::vector<std::string> names;
  for (const PlainCase& what : plain_cases(options.seed)) names.push_back(what.name);
  return names;
}

void run_plain_suite(const Options& options, Report& report) {
  std::vector<Row> rows;
  std::string failed;
  for (const PlainCase& what : plain_cases(options.seed)) {
    if (!options.wants(what.name)) continue;
    try {
      rows.push_back(run_case(what, options));
      report.add(rows.back());
    } catch (const std::exception& e) {
      std::fprintf(stderr, "lathe: %s: %s\n", what.name.c_str(), e.what());
      failed += (failed.empty() ? "" : ", ") + what.name;
    }
  }
  summarize(rows, options.seed);
  if (!failed.empty()) throw std::runtime_error("plain: failed: " + failed);
}

}  // namespace bench
