// Lathe as a competitor.
#include <map>
#include <memory>
#include <optional>

#include "compile_times.hpp"
#include "core/measure.hpp"
#include "core/peers.hpp"
#include "jit_costs.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <lathe/runtime/llvm.hpp>
#include <sstream>

namespace bench {

lt::Context& context_for(int threads) {
  static std::map<int, std::unique_ptr<lt::Context>> contexts;
  std::unique_ptr<lt::Context>& context = contexts[threads];
  if (context) return *context;
  const auto log = [](lt::LogLevel level, std::string_view line) {
    CompileLog* times = CompileLog::current();
    if (level >= lt::LogLevel::warning)
      std::fprintf(stderr, "lathe: %.*s\n", static_cast<int>(line.size()), line.data());
    else if (times)
      times->take(line);
  };
  context = std::make_unique<lt::Context>(
      lt::ContextOptions{.threads = threads, .log = log, .log_level = lt::LogLevel::debug});
  return *context;
}

namespace {

std::vector<Competitor> make(const Job& job) {
  lt::Context& context = context_for(job.threads);
  struct {
    const Job& job;
    lt::Context& context;
    Run operator()(const Gemm& p) { return lathe_gemm(p, job, context); }
    Run operator()(const Elementwise& p) { return lathe_elementwise(p, job, context); }
    Run operator()(const Stencil& p) { return lathe_stencil(p, job, context); }
    Run operator()(const Photo& p) { return lathe_photo(p, job, context); }
    Run operator()(const App& p) { return lathe_app(p, job, context); }
  } compile{job, context};
  const double start = seconds_now();
  Run run = std::visit(compile, job.what.problem);
  return {{"lathe", std::move(run), 1e3 * (seconds_now() - start)}};
}

class CacheFolder {
 public:
  CacheFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("lathe_bench_" + std::to_string(getpid()))) {}
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  ~CacheFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

double timed_compile(const Gemm& p, lt::Context& context) {
  const double start = seconds_now();
  lathe_compile(p, context);
  return seconds_now() - start;
}

// What takes microseconds, many times.
double mean_seconds(const std::function<void()>& what) {
  constexpr int times = 64;
  what();
  const double start = seconds_now();
  for (int k = 0; k < times; ++k) what();
  return (seconds_now() - start) / times;
}

constexpr const char* child_variable = "LATHE_BENCH_COMPILE";

double compile_in_new_process(const Gemm& p) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = std::string(child_variable) + "='" + lt::Llvm::get().path() + " " +
                              std::to_string(p.m) + " " + std::to_string(p.n) + " " +
                              std::to_string(p.k) + "' '" + self + "'";
  FILE* child = popen(command.c_str(), "r");
  double seconds = 0;
  const bool read = child && std::fscanf(child, "%lf", &seconds) == 1;
  if (child) pclose(child);
  if (!read) throw std::runtime_error("a new process did not compile");
  return seconds;
}

}  // namespace

Peer lathe_peer() {
  return {.name = "lathe",
          .missing = "",
          .make = make,
          .products = lathe_products,
          .operators = lathe_operators};
}

std::function<double(const Gemm&)> lathe_compile_seconds(CompileMode mode) {
  if (mode == CompileMode::new_process) return compile_in_new_process;
  const auto folder = std::make_shared<CacheFolder>();
  const std::string path = mode == CompileMode::disk_cache ? folder->path() : "";
  // Before the clock starts, the cached modes compile the shape once.
  return [mode, path, folder](const Gemm& p) {
    lt::Context before({.threads = 1, .cache_dir = path}), now({.threads = 1, .cache_dir = path});
    if (mode == CompileMode::cold) return timed_compile(p, now);
    if (mode == CompileMode::same_tensors) return mean_seconds(lathe_compile_again(p, now));
    if (mode == CompileMode::memory_cache) return mean_seconds([&] { lathe_compile(p, now); });
    lathe_compile(p, before);
    return timed_compile(p, now);
  };
}

bool lathe_compile_child() {
  const char* task = std::getenv(child_variable);
  if (!task) return false;
  std::istringstream words(task);
  std::string llvm;
  Gemm p{0, 0, 0, true, false};
  words >> llvm >> p.m >> p.n >> p.k;
  dlopen(llvm.c_str(), RTLD_NOW | RTLD_LOCAL);
  lt::Context context({.threads = 1});
  std::printf("%.9f\n", timed_compile(p, context));
  return true;
}

std::vector<Competitor> lathe_calls(float* a, float* y) {
  lt::Input<float, 1> A("A", {call_elements});
  auto Y = lt::compute("Y", {call_elements}, [&](lt::Var i) { return A(i) + 1.0f; });
  auto kernel = lt::jit({Y, {.context = &context_for(1)}}, A, Y);
  const lt::View<const float, 1> from(a, {call_elements});
  const lt::View<float, 1> to(y, {call_elements});
  return {{"lathe", [=] {
             for (int i = 0; i < calls_per_run; ++i) kernel(from, to);
           }}};
}

}  // namespace bench
#else
namespace bench {

Peer lathe_peer() { return {"lathe", "this program was built without Lathe"}; }
std::function<double(const Gemm&)> lathe_compile_seconds(CompileMode) { return nullptr; }
bool lathe_compile_child() { return false; }
std::vector<Competitor> lathe_calls(float*, float*) { return {}; }

}  // namespace bench
#endif
