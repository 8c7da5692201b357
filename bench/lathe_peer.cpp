// Lathe as a competitor.
#include <map>
#include <memory>
#include <optional>

#include "core/measure.hpp"
#include "core/peers.hpp"
#include "jit_costs.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <filesystem>

namespace bench {

namespace {

lt::Context& context_for(int threads) {
  static std::map<int, std::unique_ptr<lt::Context>> contexts;
  std::unique_ptr<lt::Context>& context = contexts[threads];
  if (!context) context = std::make_unique<lt::Context>(lt::ContextOptions{.threads = threads});
  return *context;
}

std::vector<Competitor> make(const Job& job) {
  lt::Context& context = context_for(job.threads);
  struct {
    const Job& job;
    lt::Context& context;
    Run operator()(const Gemm& p) { return lathe_gemm(p, job, context); }
    Run operator()(const Elementwise& p) { return lathe_elementwise(p, job, context); }
    Run operator()(const Stencil& p) { return lathe_stencil(p, job, context); }
    Run operator()(const Photo& p) { return lathe_photo(p, job, context); }
  } compile{job, context};
  const double start = seconds_now();
  Run run = std::visit(compile, job.what.problem);
  return {{"lathe", std::move(run), 1e3 * (seconds_now() - start)}};
}

class CacheFolder {
 public:
  CacheFolder() : path_(std::filesystem::temp_directory_path() / "lathe_bench_cache") {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
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

}  // namespace

Peer lathe_peer() { return {"lathe", "", make}; }

// Before the clock starts, the cached modes compile the shape once.
std::function<double(const Gemm&)> lathe_compile_seconds(CompileMode mode) {
  const auto folder = std::make_shared<CacheFolder>();
  const std::string path = mode == CompileMode::disk_cache ? folder->path() : "";
  const auto timed = [](const Gemm& p, lt::Context& context) {
    const double start = seconds_now();
    lathe_compile(p, context);
    return seconds_now() - start;
  };
  return [=](const Gemm& p) {
    lt::Context first({.threads = 1, .cache_dir = path}), second({.threads = 1, .cache_dir = path});
    if (mode == CompileMode::cold) return timed(p, first);
    lathe_compile(p, first);
    return timed(p, mode == CompileMode::memory_cache ? first : second);
  };
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
std::vector<Competitor> lathe_calls(float*, float*) { return {}; }

}  // namespace bench
#endif
