// The kernels of PolyBench: legal steps against the loops that they were taken on, as g++ compiles
// these (-O3 -march=native, one thread). Both start each call from the same arrays.
#include "lathe_side.hpp"
#include "suites/suites.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <polybench/arguments.hpp>

#include "core/measure.hpp"

namespace bench {

namespace {

using polybench::Arguments;
using polybench::Kernel;

std::string case_name(const Kernel& kernel) {
  std::string name = kernel.name;
  for (const std::int64_t n : kernel.large) name += (n == kernel.large[0] ? " " : "x") + lt::str(n);
  return name;
}

lt::AnyKernel compile(const Kernel& kernel, bool hand, lt::Context& context) {
  const polybench::Sizes sizes(kernel.large.begin(), kernel.large.end());
  if (!hand) return lt::jit_any({kernel.script(sizes), {.context = &context}}, {});
  lt::Schedule s(kernel.for_speed(sizes));
  kernel.schedule(s);
  return lt::jit_any({s, {.context = &context}}, {});
}

/// The largest difference between two results, relative to numbers above 1.
double difference(const Arguments& a, const Arguments& b) {
  double out = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a.ints(k) != b.ints(k)) return INFINITY;
    for (std::size_t at = 0; at < a.doubles(k).size(); ++at) {
      const double x = a.doubles(k)[at], y = b.doubles(k)[at];
      const double d = std::abs(x - y) / std::max(1.0, std::abs(y));
      if (!(d <= out)) out = std::isnan(d) ? INFINITY : d;
    }
  }
  return out;
}

Row run_kernel(const Kernel& kernel, int threads, const Options& options) {
  const Arguments start(kernel, kernel.large);
  Arguments ours(kernel, kernel.large), theirs(kernel, kernel.large);
  lt::Context context({.threads = threads});
  Row row;
  row.suite = "polybench";
  row.name = case_name(kernel);
  row.dtype = start.ints(0).empty() ? "f64" : "i32";
  row.threads = threads;
  row.schedule = options.hand ? "hand" : "default";
  const double before = seconds_now();
  const lt::AnyKernel f = compile(kernel, options.hand, context);
  row.jit_ms = 1e3 * (seconds_now() - before);
  const auto views = ours.views();
  const auto arrays = theirs.arrays();
  const std::vector<Competitor> all = {{"lathe",
                                        [&] {
                                          ours.reset(start);
                                          f(views);
                                        }},
                                       {"plain", [&] {
                                          theirs.reset(start);
                                          kernel.loops(kernel.large, arrays);
                                        }}};
  for (const Competitor& c : all) c.run();
  if (const double d = difference(ours, theirs); d > 1e-6)
    std::fprintf(stderr, "lathe: %s: results differ by %g\n", row.name.c_str(), d);
  const OthersWatch others;
  const std::vector<Timing> times = measure(all, {options.seconds, threads});
  row.busy = others.cores();
  row.lathe_ms = 1e3 * times[0].median;
  row.peers["plain"] = 1e3 * times[1].median;
  row.spread = times[0].spread();
  return row;
}

}  // namespace

std::vector<std::string> polybench_case_names() {
  std::vector<std::string> names;
  for (const Kernel& kernel : polybench::all_kernels()) names.push_back(case_name(kernel));
  return names;
}

void run_polybench_suite(const Options& options, Report& report) {
  for (const Kernel& kernel : polybench::all_kernels()) {
    if (!options.wants(case_name(kernel))) continue;
    for (const int threads : options.threads) report.add(run_kernel(kernel, threads, options));
  }
}

}  // namespace bench
#else
namespace bench {

std::vector<std::string> polybench_case_names() { return {}; }
void run_polybench_suite(const Options&, Report&) {}

}  // namespace bench
#endif
