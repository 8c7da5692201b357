// Whether the default schedule's plan is the best of its space: beside the plans that were
// predicted to be nearly as good, and some that are drawn.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "core/failures.hpp"
#include "core/measure.hpp"
#include "core/ratios.hpp"
#include "plans/plans.hpp"
#include "suites/suites.hpp"

namespace bench {

namespace {

/// Of the best plan's time, in what the default takes, and what the clock tells apart.
constexpr double regret_allowed = 1.25, told_apart = 1.1;
/// Plans that are timed again: the fastest of many is one that was lucky.
constexpr std::size_t finalists = 3;

/// Pairs of plans by how prediction and measurement order them.
struct Ranks {
  int same = 0, other = 0, even = 0;  ///< even: predicted alike

  void operator+=(const Ranks& o) { same += o.same, other += o.other, even += o.even; }
  /// Kendall's tau; 0: no pairs.
  double tau() const {
    const int all = same + other + even;
    return all ? static_cast<double>(same - other) / all : 0;
  }
};

struct Timed {
  double cycles, seconds;
};

/// Of plans that differ in one decision, and by more than a tenth of the time.
Ranks ranks_of(const std::vector<Timed>& plans) {
  Ranks out;
  for (std::size_t a = 0; a < plans.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const double measured = plans[a].seconds / plans[b].seconds,
                   predicted = plans[a].cycles / plans[b].cycles;
      if (std::max(measured, 1 / measured) < told_apart) continue;
      if (std::abs(predicted - 1) < 1e-3)
        ++out.even;
      else
        ++((measured > 1) == (predicted > 1) ? out.same : out.other);
    }
  return out;
}

Ranks ranks_of(const PlannedProgram& program, const std::vector<Timing>& times) {
  Ranks out;
  for (const PlannedKernel& decided : program.decided) {
    if (decided.cycles == 0) continue;
    std::vector<Timed> plans{{decided.cycles, times[0].median}};
    for (std::size_t k = 1; k < times.size(); ++k)
      if (program.all[k].decision == decided.decision && program.all[k].cycles > 0)
        plans.push_back({program.all[k].cycles, times[k].median});
    out += ranks_of(plans);
  }
  return out;
}

std::vector<Competitor> kernels_of(const PlannedProgram& program) {
  std::vector<Competitor> out;
  for (const PlannedKernel& plan : program.all) out.push_back(plan.kernel);
  return out;
}

/// The default and the fastest others, in that order.
std::vector<Competitor> fastest(const std::vector<Competitor>& all,
                                const std::vector<Timing>& times) {
  std::vector<std::size_t> order;
  for (std::size_t k = 1; k < all.size(); ++k) order.push_back(k);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return times[a].median < times[b].median; });
  std::vector<Competitor> out{all[0]};
  for (std::size_t k = 0; k < std::min(finalists, order.size()); ++k) out.push_back(all[order[k]]);
  return out;
}

struct Result {
  Row row;
  Ranks ranks;
};

void check(const PlannedProgram& program) {
  for (const PlannedKernel& plan : program.all)
    if (const std::string wrong = program.difference(plan.kernel); !wrong.empty())
      throw std::runtime_error("wrong result by plan '" + plan.kernel.name + "': " + wrong);
}

/// Without peers if there is one plan only.
Result run_case(const PlanCase& what, const Options& options) {
  const PlannedProgram program = what.make();
  Result out;
  out.row.suite = "regret", out.row.schedule = "default";
  out.row.family = what.family, out.row.name = what.name;
  out.row.seed = options.seed;
  if (program.all.size() < 2) return out;
  check(program);
  const std::vector<Competitor> all = kernels_of(program);
  const OthersWatch others;
  const std::vector<Timing> times = measure(all, {options.seconds, 1});
  out.ranks = ranks_of(program, times);
  const std::vector<Competitor> last = fastest(all, times);
  const std::vector<Timing> again = measure(last, {options.seconds, 1});
  out.row.lathe_ms = 1e3 * again[0].median, out.row.spread = again[0].spread();
  out.row.busy = others.cores();
  for (std::size_t k = 1; k < last.size(); ++k) out.row.peers[last[k].name] = 1e3 * again[k].median;
  return out;
}

double regret_of(const Row& row) {
  double best = row.lathe_ms.value();
  for (const auto& peer : row.peers) best = std::min(best, peer.second);
  return row.lathe_ms.value() / best;
}

void summarize(const std::vector<Result>& results, unsigned seed) {
  std::vector<double> regrets;
  std::map<std::string, Ranks> families;
  Ranks all;
  for (const Result& r : results) {
    regrets.push_back(regret_of(r.row));
    families[r.row.family] += r.ranks, all += r.ranks;
    if (regrets.back() > regret_allowed)
      std::printf("regret %.2f  %s\n", regrets.back(), r.row.name.c_str());
  }
  if (regrets.empty()) return;
  std::sort(regrets.begin(), regrets.end());
  for (const auto& [family, ranks] : families)
    std::printf("%-18s tau %5.2f of %d pairs\n", family.c_str(), ranks.tau(),
                ranks.same + ranks.other + ranks.even);
  std::printf("regret of %zu programs: median %.3f, worst %.2f; tau %.2f; --seed %u\n",
              regrets.size(), regrets[regrets.size() / 2], regrets.back(), all.tau(), seed);
}

}  // namespace

std::vector<std::string> regret_case_names(const Options& options) {
  std::vector<std::string> names;
  for (const PlanCase& what : plan_cases(options.seed)) names.push_back(what.name);
  return names;
}

void run_regret_suite(const Options& options, Report& report) {
  std::vector<Result> results;
  Failures failures;
  for (const PlanCase& what : plan_cases(options.seed)) {
    if (!options.wants(what.name)) continue;
    failures.run(what.name, [&] {
      const Result result = run_case(what, options);
      if (result.row.peers.empty()) return;
      results.push_back(result);
      report.add(result.row);
    });
  }
  summarize(results, options.seed);
  failures.finish("regret");
}

}  // namespace bench
