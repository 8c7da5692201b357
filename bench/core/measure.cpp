#include "core/measure.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <numeric>
#include <random>
#include <thread>

namespace bench {

namespace {

constexpr std::size_t min_rounds = 5;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// How often the system took a core from one of our threads to give it to another.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// Seconds that all cores together were not idle.
double machine_seconds() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0;
  stat >> cpu >> user >> nice >> system;
  return (user + nice + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Worker threads spin for a while after a call; they would take the core of the next competitor's
// workers.
void wait_until_idle() {
  for (int tries = 0; tries < 100; ++tries) {
    const double cpu = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    if (cpu_seconds() - cpu < 100e-6) return;
  }
}

double block_seconds(int threads) { return threads == 1 ? 100e-6 : 1e-3; }

double time_calls(const Competitor& competitor, int calls) {
  const double start = seconds_now();
  for (int i = 0; i < calls; ++i) competitor.run();
  return (seconds_now() - start) / calls;
}

constexpr int warm_calls = 3;
constexpr double long_call = 5e-3;

struct Samples {
  std::vector<double> undisturbed, all;

  void add(const Competitor& competitor, int calls) {
    const long before = preemptions();
    all.push_back(time_calls(competitor, calls));
    if (preemptions() == before) undisturbed.push_back(all.back());
  }
};

// The first calls fill caches and wake the workers. One is not enough: the competitor before may
// have streamed past the caches, and who comes after it would pay for fetching the shared operands
// back (1.6 times the time of a 4 MB copy). A virtual core that slept takes 0.5 ms to come back;
// who shares out work as threads ask for it would be done without it, and be measured on one.
void warm_up(const Competitor& competitor, int threads) {
  const double start = seconds_now(), least = threads == 1 ? 20e-6 : 2e-3;
  for (int calls = 0;; ++calls) {
    const double spent = seconds_now() - start;
    if (calls > 0 && spent >= least && (calls >= warm_calls || spent > long_call)) return;
    competitor.run();
  }
}

int calls_per_block(const Competitor& competitor, int threads) {
  warm_up(competitor, threads);
  int calls = 1;
  for (;;) {
    const double spent = time_calls(competitor, calls) * calls;
    if (spent >= block_seconds(threads)) return calls;
    calls = std::max(calls * 2, static_cast<int>(calls * block_seconds(threads) / (spent + 1e-9)));
  }
}

Timing summary(const Samples& samples) {
  const bool enough = samples.undisturbed.size() >= min_rounds;
  std::vector<double> times = enough ? samples.undisturbed : samples.all;
  std::sort(times.begin(), times.end());
  const auto at = [&](double q) {
    return times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

OthersWatch::OthersWatch()
    : machine_(machine_seconds()), own_(cpu_seconds()), start_(seconds_now()) {}

double OthersWatch::cores() const {
  const double others = machine_seconds() - machine_ - (cpu_seconds() - own_);
  return std::max(0.0, others / (seconds_now() - start_));
}

std::vector<Timing> measure(const std::vector<Competitor>& competitors, const Budget& budget) {
  std::vector<int> calls;
  for (const Competitor& competitor : competitors) {
    if (budget.threads > 1) wait_until_idle();
    calls.push_back(calls_per_block(competitor, budget.threads));
  }
  std::vector<Samples> samples(competitors.size());
  std::vector<std::size_t> order(competitors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);  // the same on every run
  const double start = seconds_now();
  for (std::size_t round = 0; round < min_rounds || seconds_now() - start < budget.seconds;
       ++round) {
    // Nobody always follows the same one, whose traces in the caches it would pay for.
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t c : order) {
      if (budget.threads > 1) wait_until_idle();
      warm_up(competitors[c], budget.threads);
      samples[c].add(competitors[c], calls[c]);
    }
  }
  std::vector<Timing> out;
  for (const Samples& list : samples) out.push_back(summary(list));
  return out;
}

}  // namespace bench
