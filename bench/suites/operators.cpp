// Operators of neural networks under Lathe's default schedule, beside libraries: those of Ansor's
// evaluation, and what transformers are made of.
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "core/comparison.hpp"
#include "core/failures.hpp"
#include "core/peers.hpp"
#include "core/ratios.hpp"
#include "operators/ansor_sizes.hpp"
#include "operators/memory.hpp"
#include "operators/transformer_sizes.hpp"
#include "suites/suites.hpp"

namespace bench {

namespace {

/// What a row should have at least beside the best peer.
constexpr double even = 0.85;
/// What larger batches may take; one image is measured whatever it takes.
constexpr double most_bytes = 2e9;

void say(const std::string& who, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", who.c_str(), what.c_str());
}

bool fits(const Operator& what) { return what.batch == 1 || bytes_needed(what) <= most_bytes; }

void run_anew(const Competitor& competitor, const OperatorMemory& memory) {
  memory.spoil();
  competitor.run();
  if (competitor.finish) competitor.finish();
}

/// What a peer has for an operator, if it is right; `memory` keeps Lathe's result. Throws
/// std::runtime_error if theirs differs from it where both had been right in samples.
void add_peer(const Peer& peer, const std::string& name, const OperatorMemory& memory,
              const OperatorJob& job, std::vector<Competitor>& all) {
  std::vector<Competitor> offered;
  try {
    offered = peer.operators(job);
  } catch (const std::exception& e) {
    say(peer.name, name + ": " + e.what() + "; skipped");
  }
  for (Competitor& competitor : offered) {
    run_anew(competitor, memory);
    if (const std::string wrong = memory.error(); !wrong.empty()) {
      say(competitor.name, name + ": wrong result, not timed: " + wrong);
      continue;
    }
    if (const std::string differs = memory.difference(); !differs.empty())
      throw std::runtime_error("results differ, not timed: of " + competitor.name + " " + differs);
    all.push_back(std::move(competitor));
  }
}

Row run_operator(const std::string& suite, const Operator& what, int threads,
                 const Options& options) {
  OperatorMemory memory(what);
  const OperatorJob job = memory.job(threads);
  Comparison c;
  c.dtype = "f32", c.threads = threads, c.fma_share = 1;
  c.flops = flops_of(what), c.bytes = memory.bytes();
  c.all = lathe_peer().operators(job);
  run_anew(c.all.front(), memory);
  if (const std::string wrong = memory.error(); !wrong.empty())
    throw std::runtime_error("wrong result, not timed: " + wrong);
  memory.keep();
  for (const Peer& peer : all_peers())
    if (peer.operators && options.wants_peer(peer.name))
      add_peer(peer, what.name, memory, job, c.all);
  // Again, as the kernel runs from the second call on, with weights that it keeps.
  c.difference = [&] { return run_anew(c.all.front(), memory), memory.difference(); };
  Row row = compare(c, options);
  row.suite = suite, row.schedule = "default";
  row.family = what.family, row.name = what.name;
  row.jit_ms = c.all.front().setup_ms, row.plan_ms = c.all.front().plan_ms;
  row.seed = options.seed;
  return row;
}

/// Rows without a peer that `counts` are left out.
template <class Counts>
std::vector<Ratio> ratios_to_best(const std::vector<Row>& rows, const Counts& counts) {
  std::vector<Ratio> ratios;
  for (const Row& row : rows) {
    double best = 0;
    for (const auto& [name, ms] : row.peers)
      if (counts(name) && (best == 0 || ms < best)) best = ms;
    if (best > 0) ratios.push_back({row.family, row.name, best / row.lathe_ms.value()});
  }
  return ratios;
}

void summarize(const std::vector<Row>& rows, const Options& options, int threads) {
  const bool own_layouts = std::any_of(
      rows.begin(), rows.end(), [](const Row& row) { return row.peers.count("onednn_own") > 0; });
  if (own_layouts) {
    std::printf("\nthreads: %d, beside peers with images in the layout that they come in:",
                threads);
    print_ratios(ratios_to_best(rows, [](const std::string& name) { return name != "onednn_own"; }),
                 even);
  }
  std::printf("\nthreads: %d, beside all peers:", threads);
  const std::vector<Ratio> ratios = ratios_to_best(rows, [](const std::string&) { return true; });
  const int slower = print_ratios(ratios, even);
  std::printf("%d rows below %.2f of the best peer; --seed %u\n", slower, even, options.seed);
  for (const Ratio& ratio : ratios)
    if (ratio.value < even) std::printf("  %6.3f  %s\n", ratio.value, ratio.name.c_str());
}

/// Throws std::runtime_error that names the operators which failed, after all have run.
void run_operators(const std::string& suite, const std::vector<Operator>& operators,
                   const Options& options, Report& report) {
  if (!lathe_peer().operators) return;
  Failures failures;
  for (const int threads : options.threads) {
    std::vector<Row> rows;
    for (const Operator& what : operators) {
      if (!options.wants(what.name)) continue;
      if (!fits(what)) {
        say(suite, what.name + ": needs more than 2 GB; left out");
        continue;
      }
      failures.run(what.name, [&] {
        rows.push_back(run_operator(suite, what, threads, options));
        report.add(rows.back());
      });
    }
    summarize(rows, options, threads);
  }
  failures.finish(suite);
}

std::vector<std::string> names_of(const std::vector<Operator>& operators) {
  std::vector<std::string> names;
  if (!lathe_peer().operators) return names;
  for (const Operator& what : operators)
    if (fits(what)) names.push_back(what.name);
  return names;
}

}  // namespace

std::vector<std::string> ansor_case_names(const Options& options) {
  return names_of(ansor_operators(options.seed));
}
std::vector<std::string> transformer_case_names(const Options& options) {
  return names_of(transformer_operators(options.seed));
}

void run_ansor_suite(const Options& options, Report& report) {
  run_operators("ansor", ansor_operators(options.seed), options, report);
}
void run_transformer_suite(const Options& options, Report& report) {
  run_operators("transformer", transformer_operators(options.seed), options, report);
}

}  // namespace bench
