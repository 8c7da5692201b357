// What happens around kernels: compilation, calls, and the include of the header.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "core/measure.hpp"
#include "core/peers.hpp"
#include "jit_costs.hpp"
#include "suites/suites.hpp"

namespace bench {

namespace {

const char* const compile_case = "compile GEMM+bias+GELU ";
const char* const call_case = "call";
const char* const peel_case = "tail peel, vectors of 8";
const char* const mask_case = "tail mask, compile a product";
const char* const include_case = "include ";

std::vector<Gemm> shapes() {
  std::vector<Gemm> all;
  for (const std::int64_t m : {1, 16, 63, 128, 512}) {
    for (const auto& [n, k] :
         {std::pair<std::int64_t, std::int64_t>{64, 64}, {768, 768}, {3072, 768}, {1000, 333}}) {
      all.push_back({m, n, k, true, false});
    }
  }
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double elapsed_ms(const std::function<void()>& what) {
  const double start = seconds_now();
  what();
  return 1e3 * (seconds_now() - start);
}

std::optional<double> median_compile_ms(const std::function<double(const Gemm&)>& compile_seconds) {
  if (!compile_seconds) return std::nullopt;
  std::vector<double> times;
  try {
    for (const Gemm& shape : shapes()) times.push_back(1e3 * compile_seconds(shape));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "compile: %s\n", e.what());
    return std::nullopt;
  }
  return median(times);
}

Row make_row(const std::string& name, const char* dtype = "f32") {
  Row row;
  row.suite = "jit";
  row.name = name;
  row.dtype = dtype;
  row.schedule = "default";
  return row;
}

void run_compile(const Options& options, Report& report) {
  std::map<std::string, double> peers;
  for (const Peer& peer : all_peers()) {
    if (!peer.compile || !options.wants_peer(peer.name)) continue;
    const auto compile_seconds = [&](const Gemm& shape) {
      return 1e-3 * elapsed_ms([&] { peer.compile(shape); });
    };
    if (const auto ms = median_compile_ms(compile_seconds)) peers[peer.name] = *ms;
  }
  for (const CompileMode mode :
       {CompileMode::cold, CompileMode::new_process, CompileMode::disk_cache,
        CompileMode::memory_cache, CompileMode::same_tensors}) {
    const std::string name = compile_case + std::string(compile_mode_name(mode));
    if (!options.wants(name)) continue;
    Row row = make_row(name);
    row.lathe_ms = median_compile_ms(lathe_compile_seconds(mode));
    row.jit_ms = row.lathe_ms;
    if (mode == CompileMode::cold) row.peers = peers;
    report.add(row);
  }
}

__attribute__((noinline)) void plain_add(const float* a, float* y) {
  for (int i = 0; i < call_elements; ++i) y[i] = a[i] + 1;
}

void run_call(const Options& options, Report& report) {
  alignas(64) static float a[call_elements], y[call_elements];
  void (*volatile function)(const float*, float*) = plain_add;
  std::vector<Competitor> all = {{"function pointer", [&] {
                                    for (int i = 0; i < calls_per_run; ++i) function(a, y);
                                  }}};
  try {
    for (Competitor& lathe : lathe_calls(a, y)) all.push_back(std::move(lathe));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lathe: call: %s\n", e.what());
  }
  const std::vector<Timing> times = measure(all, {options.seconds, 1});
  Row row = make_row(call_case);
  row.peers[all[0].name] = 1e3 * times[0].median / calls_per_run;
  row.spread = times.back().spread();
  if (times.size() > 1) row.lathe_ms = 1e3 * times[1].median / calls_per_run;
  report.add(row);
}

/// A row for the tail called `name`, with the other tails for peers.
void run_tails(const char* case_name, const std::string& name, const std::vector<Competitor>& all,
               const Options& options, Report& report) {
  const std::vector<Timing> times = measure(all, {options.seconds, 1});
  Row row = make_row(case_name);
  row.schedule = "hand";
  for (std::size_t k = 0; k < all.size(); ++k) {
    const double ms = 1e3 * times[k].median;
    if (all[k].name == name)
      row.lathe_ms = ms, row.spread = times[k].spread();
    else
      row.peers[all[k].name] = ms;
  }
  report.add(row);
}

void run_tail_cases(const Options& options, Report& report) {
  static float x[tail_elements], y[tail_elements];
  if (options.wants(peel_case)) run_tails(peel_case, "peel", lathe_tails(x, y), options, report);
  if (options.wants(mask_case))
    run_tails(mask_case, "mask", lathe_tail_compilers(), options, report);
}

// Compiles a file that includes the header, as users do while they develop.
std::optional<double> include_ms(const std::string& header, const std::string& flags) {
  const std::string base = "/tmp/lathe_bench_" + std::to_string(getpid());
  std::ofstream(base + ".cpp") << "#include <" << header << ">\nint main() { return 0; }\n";
  const std::string command = "g++ -std=c++20 -O0 -w -c " BENCH_INCLUDES " " + flags + " " + base +
                              ".cpp -o " + base + ".o 2>/dev/null";
  std::vector<double> times;
  int status = 0;
  for (int round = 0; round < 5 && status == 0; ++round) {
    times.push_back(elapsed_ms([&] { status = std::system(command.c_str()); }));
  }
  std::remove((base + ".cpp").c_str());
  std::remove((base + ".o").c_str());
  if (status != 0) return std::nullopt;
  return median(times);
}

void run_include(const Options& options, Report& report) {
  std::map<std::string, double> peers;
  for (const Peer& peer : all_peers()) {
    if (peer.header.empty() || !options.wants_peer(peer.name)) continue;
    if (const auto ms = include_ms(peer.header, "")) peers["<" + peer.header + ">"] = *ms;
  }
  const std::pair<const char*, const char*> ways[] = {
      {"compiled separately", "-DLATHE_SEPARATE_COMPILATION"}, {"header only", ""}};
  for (const auto& [way, flags] : ways) {
    Row row = make_row(include_case + std::string(way), "");
    if (!options.wants(row.name)) continue;
    row.schedule = "";
    row.lathe_ms = include_ms("lathe/lathe.hpp", flags);
    row.peers = peers;
    report.add(row);
  }
}

bool wants_any(const Options& options, const std::string& start) {
  for (const std::string& name : jit_case_names()) {
    if (name.rfind(start, 0) == 0 && options.wants(name)) return true;
  }
  return false;
}

}  // namespace

const char* compile_mode_name(CompileMode mode) {
  switch (mode) {
    case CompileMode::cold:
      return "cold";
    case CompileMode::new_process:
      return "in a new process";
    case CompileMode::disk_cache:
      return "from the disk cache";
    case CompileMode::memory_cache:
      return "from memory";
    case CompileMode::same_tensors:
      return "from memory, same tensors";
  }
  return "";
}

std::vector<std::string> jit_case_names() {
  return {std::string(compile_case) + "cold",
          std::string(compile_case) + "in a new process",
          std::string(compile_case) + "from the disk cache",
          std::string(compile_case) + "from memory",
          std::string(compile_case) + "from memory, same tensors",
          call_case,
          peel_case,
          mask_case,
          std::string(include_case) + "compiled separately",
          std::string(include_case) + "header only"};
}

void run_jit_suite(const Options& options, Report& report) {
  if (wants_any(options, compile_case)) run_compile(options, report);
  if (options.wants(call_case)) run_call(options, report);
  run_tail_cases(options, report);
  if (wants_any(options, include_case)) run_include(options, report);
}

}  // namespace bench
