// Programs under Lathe's default schedule beside plain loops: small ones of all kinds, those
// that move elements of large arrays, and those over images.
#include <cstdio>

#include "core/failures.hpp"
#include "core/peers.hpp"
#include "core/ratios.hpp"
#include "plain/cases.hpp"
#include "suites/suites.hpp"

namespace bench {

namespace {

/// From which ratio on Lathe counts as not slower: what the clock tells apart.
constexpr double even = 0.95;

Row run_case(const std::string& suite, const PlainCase& what, const Options& options) {
  const PlainRun run = what.make();
  Row row = compare(run.comparison, options);
  row.suite = suite, row.schedule = "default";
  row.family = what.family, row.name = what.name;
  row.jit_ms = run.jit_ms, row.plan_ms = run.plan_ms;
  row.seed = options.seed;
  return row;
}

void summarize(const std::vector<Row>& rows, unsigned seed) {
  std::vector<Ratio> ratios, shares;
  for (const Row& row : rows) {
    ratios.push_back({row.family, row.name, row.peers.at("plain") / row.lathe_ms.value()});
    if (row.limit_ms > 0)
      shares.push_back({row.family, row.name, row.limit_ms / row.lathe_ms.value()});
  }
  const int slower = print_ratios(ratios, even);
  std::printf("%d rows below %.2f of plain loops; --seed %u\n", slower, even, seed);
  if (shares.empty()) return;
  const int below = print_ratios(shares, even);
  std::printf("%d rows below %.2f of a copy\n", below, even);
}

std::vector<std::string> names_of(const std::vector<PlainCase>& cases) {
  std::vector<std::string> names;
  for (const PlainCase& what : cases) names.push_back(what.name);
  return names;
}

void run_suite(const std::string& suite, const std::vector<PlainCase>& cases,
               const Options& options, Report& report) {
  std::vector<Row> rows;
  Failures failures;
  for (const PlainCase& what : cases) {
    if (!options.wants(what.name)) continue;
    failures.run(what.name, [&] {
      rows.push_back(run_case(suite, what, options));
      report.add(rows.back());
    });
  }
  summarize(rows, options.seed);
  failures.finish(suite);
}

std::vector<Peer> peers_for_images(const Options& options) {
  std::vector<Peer> out;
  for (const Peer& peer : all_peers())
    if (peer.image && options.wants_peer(peer.name)) out.push_back(peer);
  return out;
}

}  // namespace

std::vector<std::string> plain_case_names(const Options& options) {
  return names_of(plain_cases(options.seed));
}
std::vector<std::string> move_case_names(const Options& options) {
  return names_of(move_cases(options.seed));
}
std::vector<std::string> image_case_names(const Options& options) {
  return names_of(image_cases(options.seed, {}));
}
void run_plain_suite(const Options& options, Report& report) {
  run_suite("plain", plain_cases(options.seed), options, report);
}
void run_move_suite(const Options& options, Report& report) {
  run_suite("move", move_cases(options.seed), options, report);
}
void run_image_suite(const Options& options, Report& report) {
  run_suite("image", image_cases(options.seed, peers_for_images(options)), options, report);
}

}  // namespace bench
