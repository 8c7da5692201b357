#include "core/options.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <random>
#include <sstream>
#include <stdexcept>

namespace bench {

const char* const usage =
    "usage: bench/run.sh SUITE... [--filter RE] [--threads N,...] [--peers NAME,...] [--schedule "
    "default|hand]\n"
    "                    [--seconds S] [--seed N] [--json FILE] [--list]\n"
    "suites: gemm small elementwise stencil photo apps hand plain move image types ansor\n"
    "        transformer regret polybench jit schedule compile all\n"
    "peers:  plain eigen openblas libxsmm onednn onednn3 halide opencv\n"
    "  --filter RE     cases whose name matches\n"
    "  --threads N     thread counts to measure (default: 1 and all cores)\n"
    "  --schedule S    which of Lathe's schedules (default: default)\n"
    "  --seconds S     time per case (default: 2)\n"
    "  --seed N        what drawn sizes, and plans of regret, belong to\n"
    "                  (default: another each time)\n"
    "  --json FILE     also write one JSON object a line\n"
    "  --list          name the cases and the peers, run nothing\n";

namespace {

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

int usable_cores() {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
}

int positive_int(const std::string& text) {
  std::size_t used = 0;
  int value = 0;
  try {
    value = std::stoi(text, &used);
  } catch (const std::exception&) {
  }
  if (value < 1 || used != text.size()) throw std::invalid_argument("not a thread count: " + text);
  return value;
}

unsigned seed_from(const std::string& text) {
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [used, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || used != end) throw std::invalid_argument("not a seed: " + text);
  return value;
}

void set_option(Options& options, const std::string& name, const std::string& value) {
  if (name == "--filter") {
    options.filter = value;
    try {
      std::regex check(value);
    } catch (const std::regex_error&) {
      throw std::invalid_argument("not a regular expression: " + value);
    }
  } else if (name == "--threads") {
    options.threads.clear();
    for (const std::string& part : split_commas(value))
      options.threads.push_back(positive_int(part));
  } else if (name == "--peers") {
    options.peers = split_commas(value);
  } else if (name == "--schedule") {
    if (value != "default" && value != "hand")
      throw std::invalid_argument("no such schedule: " + value);
    options.hand = value == "hand";
  } else if (name == "--seconds") {
    options.seconds = std::atof(value.c_str());
  } else if (name == "--seed") {
    options.seed = seed_from(value);
  } else if (name == "--json") {
    options.json = value;
  } else {
    throw std::invalid_argument("no such option: " + name);
  }
}

void add_suite(Options& options, const std::string& name) {
  const std::vector<std::string> all = {
      "gemm", "small",    "elementwise", "stencil", "photo",       "apps",
      "hand", "plain",    "types",       "ansor",   "transformer", "polybench",
      "jit",  "schedule", "compile",     "move",    "regret",      "image"};
  if (name == "all") {
    options.suites = all;
  } else if (std::find(all.begin(), all.end(), name) != all.end()) {
    options.suites.push_back(name);
  } else {
    throw std::invalid_argument("no such suite: " + name);
  }
}

}  // namespace

bool Options::wants_peer(const std::string& name) const {
  return peers.empty() || std::find(peers.begin(), peers.end(), name) != peers.end();
}

int Options::max_threads() const { return *std::max_element(threads.begin(), threads.end()); }

Options parse_options(int argc, char** argv) {
  Options options;
  options.seed = std::random_device()();
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--list") {
      options.list = true;
    } else if (arg.rfind("--", 0) == 0) {
      if (i + 1 == argc) throw std::invalid_argument(arg + " needs a value");
      set_option(options, arg, argv[++i]);
    } else {
      add_suite(options, arg);
    }
  }
  if (options.suites.empty() && options.list) add_suite(options, "all");
  if (options.suites.empty()) throw std::invalid_argument("name a suite");
  if (options.threads.empty()) {
    options.threads = {1};
    if (usable_cores() > 1) options.threads.push_back(usable_cores());
  }
  return options;
}

}  // namespace bench
