// Products of matrices of all types under Lathe's default schedule, beside libraries.
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "core/comparison.hpp"
#include "core/draw.hpp"
#include "core/failures.hpp"
#include "core/peers.hpp"
#include "core/ratios.hpp"
#include "suites/suites.hpp"
#include "types/operands.hpp"

namespace bench {

namespace {

/// What a row should have at least beside the best peer.
constexpr double even = 0.85;

struct Sizes {
  std::int64_t m, n, k;
};

/// Layers of BERT and LLaMA 7B among them.
std::vector<Sizes> all_sizes(unsigned seed) {
  std::vector<Sizes> sizes;
  for (const std::int64_t n : {256, 512, 509, 1024, 2048}) sizes.push_back({n, n, n});
  for (const Sizes& layer : {Sizes{128, 768, 3072},
                             {128, 3072, 768},
                             {1, 4096, 4096},
                             {16, 4096, 4096},
                             {128, 4096, 4096}})
    sizes.push_back(layer);
  Draw draw(seed, "types");
  const auto from = [&](int low, int high) -> std::int64_t { return draw.from(low, high); };
  sizes.push_back({from(32, 700), from(32, 700), from(32, 700)});
  sizes.push_back({from(1, 64), from(200, 3000), from(200, 3000)});
  return sizes;
}

std::string name_of(const Product& p) {
  std::string name = to_text(p.types) + (" " + std::to_string(p.m)) + "x" + std::to_string(p.n) +
                     "x" + std::to_string(p.k);
  if (p.constant) name += " constant";
  if (p.flops() > 1e9) name += " large";
  return name;
}

std::vector<Product> products(unsigned seed) {
  std::vector<Product> out;
  for (const ProductTypes types : {ProductTypes::bf16, ProductTypes::u8s8, ProductTypes::s8s8,
                                   ProductTypes::f16, ProductTypes::f64})
    for (const bool constant : {true, false})
      for (const auto& [m, n, k] : all_sizes(seed)) out.push_back({types, m, n, k, constant});
  return out;
}

/// Products of bf16 and bytes have instructions of their own, whose speed differs from CPU to CPU.
double fma_share(ProductTypes types) {
  if (types == ProductTypes::f16) return 1;
  return types == ProductTypes::f64 ? 0.5 : 0;
}

std::string error_of(const Competitor& competitor, const ProductMemory& memory) {
  memory.spoil();
  competitor.run();
  const std::string wrong = memory.difference();
  return wrong.empty() ? "" : "wrong result, not timed: " + wrong;
}

/// What a peer has for a product, if it is right.
void add_peer(const Peer& peer, const std::string& name, const ProductMemory& memory,
              std::vector<Competitor>& all) {
  const auto say = [&](const std::string& what) {
    std::fprintf(stderr, "%s: %s: %s\n", peer.name.c_str(), name.c_str(), what.c_str());
  };
  try {
    for (Competitor& competitor : peer.products(memory.job())) {
      const std::string error = error_of(competitor, memory);
      if (error.empty())
        all.push_back(std::move(competitor));
      else
        say(error);
    }
  } catch (const std::exception& e) {
    say(std::string(e.what()) + "; skipped");
  }
}

Row run_product(const Product& what, const Options& options) {
  const ProductMemory memory(what);
  const std::string name = name_of(what);
  Comparison c;
  c.dtype = to_text(what.types);
  c.flops = what.flops(), c.bytes = memory.bytes();
  c.fma_share = fma_share(what.types);
  c.all = lathe_peer().products(memory.job());
  c.difference = [&] { return error_of(c.all.front(), memory); };
  for (const Peer& peer : all_peers())
    if (peer.products && options.wants_peer(peer.name)) add_peer(peer, name, memory, c.all);
  Row row = compare(c, options);
  row.suite = "types", row.schedule = "default";
  row.family = c.dtype + (what.constant ? " constant" : ""), row.name = name;
  row.jit_ms = c.all.front().setup_ms, row.plan_ms = c.all.front().plan_ms;
  row.seed = options.seed;
  return row;
}

void summarize(const std::vector<Row>& rows, unsigned seed) {
  std::vector<Ratio> ratios;
  for (const Row& row : rows) {
    if (row.peers.empty()) continue;
    const auto faster = [](const auto& a, const auto& b) { return a.second < b.second; };
    const double best = std::min_element(row.peers.begin(), row.peers.end(), faster)->second;
    ratios.push_back({row.family, row.name, best / row.lathe_ms.value()});
  }
  const int slower = print_ratios(ratios, even);
  std::printf("%d rows below %.2f of the best peer; --seed %u\n", slower, even, seed);
}

}  // namespace

std::vector<std::string> types_case_names(const Options& options) {
  std::vector<std::string> names;
  if (!lathe_peer().products) return names;
  for (const Product& what : products(options.seed)) names.push_back(name_of(what));
  return names;
}

void run_types_suite(const Options& options, Report& report) {
  if (!lathe_peer().products) return;
  std::vector<Row> rows;
  Failures failures;
  for (const Product& what : products(options.seed)) {
    const std::string name = name_of(what);
    if (!options.wants(name)) continue;
    failures.run(name, [&] {
      rows.push_back(run_product(what, options));
      report.add(rows.back());
    });
  }
  summarize(rows, options.seed);
  failures.finish("types");
}

}  // namespace bench
