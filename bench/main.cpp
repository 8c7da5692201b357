// The benchmark program: for each case, Lathe and its peers in turns, and the limits of the
// machine.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "core/limits.hpp"
#include "core/measure.hpp"
#include "core/operands.hpp"
#include "core/peers.hpp"
#include "jit_costs.hpp"
#include "suites/suites.hpp"

namespace bench {
namespace {

void say(const std::string& who, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", who.c_str(), what.c_str());
}

// Competitors whose results agree with the plain code's, or with the last one's where there is no
// plain code; says which do not.
std::vector<Competitor> checked(const Job& job, std::vector<Competitor> all) {
  if (all.empty()) return all;
  const std::vector<Competitor> plain = plain_peer().make(job);
  (plain.empty() ? all.back() : plain.front()).run();
  const std::vector<float> want(job.out.begin(), job.out.end());
  std::vector<Competitor> good;
  for (Competitor& competitor : all) {
    std::fill(job.out.begin(), job.out.end(), -12345.0f);
    try {
      competitor.run();
    } catch (const std::exception& e) {
      say(competitor.name, job.what.name + ": " + e.what());
      continue;
    }
    if (const auto wrong = difference(job.what.problem, job.out, want)) {
      say(competitor.name, job.what.name + ": wrong result, not timed: " + *wrong);
    } else {
      good.push_back(std::move(competitor));
    }
  }
  return good;
}

std::vector<Competitor> competitors(const Job& job, const Options& options) {
  std::vector<Competitor> all;
  std::vector<Peer> peers = {lathe_peer()};
  for (Peer& peer : all_peers()) {
    if (options.wants_peer(peer.name)) peers.push_back(std::move(peer));
  }
  for (const Peer& peer : peers) {
    if (!peer.make) continue;
    try {
      for (Competitor& competitor : peer.make(job)) all.push_back(std::move(competitor));
    } catch (const std::exception& e) {
      say(peer.name, job.what.name + ": " + e.what());
    }
  }
  return checked(job, std::move(all));
}

// The time that the slower of arithmetic and memory needs at the limits. A core's arithmetic has
// one best speed, which a busy machine reaches in some rounds only; memory is shared, and its speed
// changes from round to round for all competitors alike, so medians are compared there.
double limit_ms(const Job& job, const Timing& fma, const Timing& copy, const Timing& streaming) {
  const double arithmetic = job.what.flops / fma_flops(job.threads) * fma.p10;
  const double memory = job.what.bytes / copy_bytes(job) * std::min(copy.median, streaming.median);
  return 1e3 * std::max(arithmetic, memory);
}

// The spread is Lathe's; without Lathe, the best peer's.
void fill_row(Row& row, const std::vector<Competitor>& all, const std::vector<Timing>& times) {
  double best = 0;
  for (std::size_t c = 0; c < times.size(); ++c) {
    const std::string& name = all[c].name;
    if (name.rfind("limit: ", 0) == 0) continue;
    if (name == "lathe") {
      row.lathe_ms = 1e3 * times[c].median;
      row.jit_ms = all[c].setup_ms;
    } else {
      row.peers[name] = 1e3 * times[c].median;
    }
    const bool better = best == 0 || times[c].median < best;
    if (name == "lathe" || (better && !row.lathe_ms)) {
      best = times[c].median;
      row.spread = times[c].spread();
    }
  }
}

Row run_case(const Case& what, int threads, const Options& options) {
  Operands operands = make_operands(what.problem);
  const Job job = make_job(what, operands, threads, options.hand);
  std::vector<Competitor> all = competitors(job, options);
  all.push_back(fma_limit(threads));
  for (Competitor& limit : copy_limits(job)) all.push_back(std::move(limit));
  const OthersWatch others;
  const std::vector<Timing> times = measure(all, {options.seconds, threads});

  Row row;
  row.suite = what.suite;
  row.name = what.name;
  row.threads = threads;
  row.schedule = options.hand ? "hand" : "default";
  row.busy = others.cores();
  row.seed = what.seed;
  row.flops = what.flops;
  row.bytes = what.bytes;
  const std::size_t n = times.size();
  row.limit_ms = limit_ms(job, times[n - 3], times[n - 2], times[n - 1]);
  fill_row(row, all, times);
  return row;
}

std::vector<std::string> names_of(const std::string& suite, const Options& options) {
  if (suite == "hand") return hand_case_names();
  if (suite == "plain") return plain_case_names(options);
  if (suite == "move") return move_case_names(options);
  if (suite == "image") return image_case_names(options);
  if (suite == "regret") return regret_case_names(options);
  if (suite == "types") return types_case_names(options);
  if (suite == "ansor") return ansor_case_names(options);
  if (suite == "transformer") return transformer_case_names(options);
  if (suite == "polybench") return polybench_case_names();
  if (suite == "jit") return jit_case_names();
  if (suite == "schedule") return schedule_case_names();
  if (suite == "compile") return compile_case_names();
  return {};
}

void list(const Options& options) {
  for (const std::string& suite : options.suites) {
    for (const Case& what : cases_of(suite, options.seed)) {
      if (options.wants(what.name)) std::printf("%-12s %s\n", suite.c_str(), what.name.c_str());
    }
    for (const std::string& name : names_of(suite, options)) {
      if (options.wants(name)) std::printf("%-12s %s\n", suite.c_str(), name.c_str());
    }
  }
  for (const Peer& peer : all_peers()) {
    std::printf("peer         %s%s%s\n", peer.name.c_str(), peer.missing.empty() ? "" : ": ",
                peer.missing.c_str());
  }
}

void name_missing(const Options& options) {
  std::vector<Peer> peers = all_peers();
  peers.push_back(lathe_peer());
  for (const Peer& peer : peers) {
    if (!peer.missing.empty() && (peer.name == "lathe" || options.wants_peer(peer.name))) {
      say(peer.name, peer.missing + "; skipped");
    }
  }
  for (const std::string& name : options.peers) {
    if (std::none_of(peers.begin(), peers.end(),
                     [&](const Peer& peer) { return peer.name == name; })) {
      say(name, "no such peer");
    }
  }
}

void run(const Options& options) {
  if (options.list) return list(options);
  Report report(options.json);
  name_missing(options);
  for (const std::string& suite : options.suites) {
    if (suite == "hand") run_hand_suite(options, report);
    if (suite == "plain") run_plain_suite(options, report);
    if (suite == "move") run_move_suite(options, report);
    if (suite == "image") run_image_suite(options, report);
    if (suite == "regret") run_regret_suite(options, report);
    if (suite == "types") run_types_suite(options, report);
    if (suite == "ansor") run_ansor_suite(options, report);
    if (suite == "transformer") run_transformer_suite(options, report);
    if (suite == "polybench") run_polybench_suite(options, report);
    if (suite == "jit") run_jit_suite(options, report);
    if (suite == "schedule") run_schedule_suite(options, report);
    if (suite == "compile") run_compile_suite(options);
    for (const Case& what : cases_of(suite, options.seed)) {
      if (!options.wants(what.name)) continue;
      for (const int threads : options.threads) report.add(run_case(what, threads, options));
    }
  }
}

// Thread pools read their settings from the environment before main. Short spinning keeps the pools
// that are not in turn from using up the cores; within a turn the calls follow each other fast
// enough to find workers awake.
void set_pool_environment(const Options& options, char** argv) {
  if (std::getenv("LATHE_BENCH_CHILD")) return;
  setenv("LATHE_BENCH_CHILD", "1", 1);
  setenv("GOMP_SPINCOUNT", "20000", 0);
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
  setenv("HL_NUM_THREADS", std::to_string(options.max_threads()).c_str(), 0);
  execv("/proc/self/exe", argv);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    if (bench::lathe_compile_child()) return 0;
    const bench::Options options = bench::parse_options(argc, argv);
    bench::set_pool_environment(options, argv);
    bench::run(options);
    return 0;
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "%s\n%s", e.what(), bench::usage);
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
