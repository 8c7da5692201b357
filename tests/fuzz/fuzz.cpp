// Random programs under random schedules: the evaluator before and after scheduling, the evaluator
// after lowering, and the compiled code must agree (checks.hpp).
#include <chrono>
#include <fstream>
#include <iterator>

#include "case.hpp"

namespace fuzz {

/// Runs one case; false if it fails.
template <class Body>
bool run_case(const std::string& name, Body body) {
  case_name = name;
  start_clock(60);
  try {
    body();
    return true;
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", name.c_str(), error.what());
    return false;
  }
}

inline std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return "\n" + std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

int run_files(const Options& options, Stats& stats, Machine& machine) {
  int failed = 0;
  CBatch c_code(machine);
  for (const auto& file : options.files) {
    const std::string text = text_of(file);
    for (std::uint64_t seed = 0; seed < 6; ++seed)
      failed += !run_case(file, [&] {
        Case one(seed, options, stats, machine, c_code);
        one.run_saved(text);
        failed += one.failed_as_c();
      });
  }
  failed += c_code.finish();
  std::printf("fuzz: %d saved cases, %d failed\n", static_cast<int>(options.files.size()), failed);
  return failed;
}

int run_random(const Options& options, Stats& stats, Machine& machine) {
  auto start = std::chrono::steady_clock::now();
  int done = 0, failed = 0;
  CBatch c_code(machine);
  for (long k = options.only >= 0 ? options.only : 0; done < options.cases; ++k) {
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (passed.count() > options.seconds) break;
    ++done;
    std::string name = "case " + std::to_string(k) + " of seed " + std::to_string(options.seed);
    if (!options.family.empty()) name += " of family " + options.family;
    std::uint64_t seed = options.seed * 1000003 + static_cast<std::uint64_t>(k);
    const std::string file = options.program_of(k);
    if (!file.empty()) name += " on " + file;
    failed += !run_case(name, [&] {
      Case made(seed, options, stats, machine, c_code);
      file.empty() ? made.run() : made.run_given(text_of(file));
      failed += made.failed_as_c();
    });
    if (options.only >= 0 || (failed > 0 && !options.keep_going)) break;
  }
  failed += c_code.finish();
  std::printf("fuzz: %d cases, seed %llu, %d failed\n", done,
              static_cast<unsigned long long>(options.seed), failed);
  print(stats);
  return failed;
}

}  // namespace fuzz

int main(int count, char** words) {
  fuzz::Options options = fuzz::parse_options(count, words);
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPROF})
    signal(number, fuzz::on_crash);
  setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // a crash leaves what was printed
  fuzz::Machine machine;
  fuzz::Stats stats;
  int failed = fuzz::run_files(options, stats, machine);
  if (failed == 0 || options.keep_going) failed += fuzz::run_random(options, stats, machine);
  return failed ? 1 : 0;
}
