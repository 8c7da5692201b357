#pragma once

#include <algorithm>
#include <chrono>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/jit/kernel.hpp>
#include <lathe/jit/open_code.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// The steps of a default schedule are kept nowhere, but it is cheap: it is made once more.
inline void add_default_steps(Explanation& out, const Program& start, const KernelCode& code) {
  ScheduleOptions options;
  options.strict = code.kind.strict;
  const Schedule s = default_schedule(start, code.target, options, out.left_out);
  out.steps = s.trace().cpp();
  out.numerics = s.numerics();
  for (const auto& decision : default_plan(start, code.target, options).decisions)
    out.plan.push_back(decision.str());
}

inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds of one call, by batches that take some milliseconds each: the median and the least.
struct CallTime {
  double median = 0, least = 0;
};
template <class F>
CallTime time_calls(const F& call, double seconds = 20e-3) {
  constexpr int kBatches = 9;
  double start = wall_seconds();
  call();
  start = wall_seconds();
  call();
  const double once = std::max(wall_seconds() - start, 1e-9);
  const auto each = static_cast<std::int64_t>(std::clamp(seconds / kBatches / once, 1.0, 1e6));
  const int batches = once > seconds ? 3 : kBatches;
  std::vector<double> times;
  for (int k = 0; k < batches; ++k) {
    start = wall_seconds();
    for (std::int64_t n = 0; n < each; ++n) call();
    times.push_back((wall_seconds() - start) / double(each));
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

}  // namespace detail

LATHE_DECL Explanation AnyKernel::explain(const ExplainOptions& options) const {
  if (!state_) {
    Explanation none;
    none.notes.push_back("an empty kernel");
    return none;
  }
  if (!state_->code) {
    Explanation out = lathe::explain(program(), options);
    out.notes.push_back("no machine code: the evaluator runs, thousands of times slower than this");
    return out;
  }
  const KernelCode& whole = state_->code->whole();
  ExplainOptions here = options;
  if (here.machine.name.empty()) here.machine = Machine(whole.target);
  Explanation out = lathe::explain(whole.versions.last, here);
  const bool as_given = structurally_equal(program(), whole.versions.last);
  if (!program()->scheduled && !as_given && whole.versions.before.empty())
    detail::add_default_steps(out, program(), whole);
  for (const auto& line : whole.numerics) out.numerics.push_back(line);
  if (!whole.versions.before.empty())
    out.notes.push_back(cat("the last of ", whole.versions.before.size() + 1, " versions"));
  if (state_->open && state_->open->compiled(Gaps::rows))
    out.notes.push_back("views with gaps between rows have code of their own");
  if (state_->open && state_->open->compiled(Gaps::pixels))
    out.notes.push_back("views with gaps around pixels have code of their own");
  return out;
}

LATHE_DECL double AnyKernel::measure(const CallArg* args, Location where) const {
  return detail::time_calls([&] { call(args, where); }).median;
}

}  // namespace lathe
