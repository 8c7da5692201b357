// Operators of neural networks under Lathe's own schedule.
#include <memory>

#include "compile_times.hpp"
#include "core/measure.hpp"
#include "operators/programs.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

/// What a kernel is called with; it points into itself.
struct Arguments {
  std::vector<Extents> extents, strides;
  std::vector<lt::CallArg> all;

  explicit Arguments(const OperatorJob& job) {
    const OperatorShapes shapes = shapes_of(job.what);
    extents = shapes.in;
    extents.push_back(shapes.out);
    for (const Extents& e : extents) {
      Extents& s = strides.emplace_back(e.size(), 1);
      for (std::size_t d = e.size() - 1; d > 0; --d) s[d - 1] = s[d] * e[d];
    }
    for (std::size_t k = 0; k < extents.size(); ++k) {
      float* data = k < job.in.size() ? const_cast<float*>(job.in[k]) : job.out;
      all.push_back({data, extents[k].data(), strides[k].data()});
    }
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
};

}  // namespace

std::vector<Competitor> lathe_operators(const OperatorJob& job) {
  CompileLog log;
  const double start = seconds_now();
  const lt::AnyKernel kernel = lt::jit_any(
      {program_of(job.what), {.context = &context_for(job.threads), .require_compiled = true}}, {});
  const double ms = 1e3 * (seconds_now() - start);
  const auto arguments = std::make_shared<Arguments>(job);
  const auto run = [=] { kernel.call(arguments->all.data()); };
  return {{"lathe", run, ms, log.taken().default_schedule}};
}

}  // namespace bench
#endif
