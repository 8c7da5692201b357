#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/dsl/dsl.hpp>
#include <lathe/jit/impl/explain.ipp>
#include <lathe/jit/jit.hpp>
#include <lathe/jit/measure_machine.hpp>
#include <lathe/runtime/llvm.hpp>

namespace lathe {
namespace detail {

class MachineMeter {
 public:
  explicit MachineMeter(const Context& context) : context_(context) { one_.cores = 1; }

  Machine machine() {
    const double lanes = machine_.vector_bytes / 4;
    set("fmas", machine_.fmas, per_cycle(chain(true)) / lanes);
    set("operations", machine_.operations, per_cycle(chain(false)) / lanes);
    set("loads", machine_.loads,
        per_cycle(read(machine_.l1_bytes / 2, one_)) / machine_.vector_bytes);
    set("l2_speed", machine_.l2_speed, read((machine_.l1_bytes + machine_.l2_bytes) / 2, one_));
    set("l3_speed", machine_.l3_speed, read(middle(), one_));
    set("memory_speed", machine_.memory_speed, read(beyond(), one_));
    set("memory_speed_all", machine_.memory_speed_all, read(beyond(), host()));
    machine_.memory_speed_all = std::max(machine_.memory_speed_all, machine_.memory_speed);
    machine_.source = "measured";
    return machine_;
  }

 private:
  // Twice the third cache, as far as memory for it is small.
  double beyond() const { return std::min(2 * machine_.l3_bytes, 256e6); }
  double middle() const {
    return std::min(2 * machine_.l2_bytes, (machine_.l2_bytes + machine_.l3_bytes) / 2);
  }
  double per_cycle(double per_second) const { return per_second / machine_.clock; }

  // Of what repeats within half of its median; 0 otherwise.
  static double rate(double amount, const CallTime& time) {
    constexpr double kSpread = 1.5;
    return time.least > 0 && time.median < kSpread * time.least ? amount / time.median : 0;
  }
  template <class F>
  static double steady(double amount, const F& call) {
    constexpr int kTries = 3;
    double found = 0;
    for (int k = 0; k < kTries && found == 0; ++k) found = rate(amount, time_calls(call, 10e-3));
    return found;
  }
  void set(std::string_view name, double& field, double measured) {
    if (measured > 0)
      field = with_digits(measured);
    else
      context_.log(LogLevel::warning,
                   cat("machine: repetitions of '", name, "' differ; it stays the table's"));
  }

  // Three digits, more are noise.
  static double with_digits(double value) {
    const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
    return std::round(value / unit) * unit;
  }
  // Operations a second: some for each element of an array in the first cache, few enough that
  // processors find those of the next elements.
  double chain(bool fused) const {
    constexpr int kElements = 1024, kSteps = 16;
    Input<float, 1> X("X", {kElements});
    auto Y = compute("Y", {kElements}, [&](Var i) {
      Expr<float> x = X(i), y = x;
      for (int k = 0; k < kSteps; ++k) y = fused ? y * x + 0.5f : y + x;
      return y;
    });
    const auto kernel = jit({Y, {.context = &context_, .target = one_}}, X, Y);
    std::vector<float> x(kElements, 0.5f), y(kElements);
    return steady(double(kElements) * kSteps, [&] { kernel(x, y); });
  }
  // Bytes a second that a sum reads.
  double read(double bytes, const Target& target) const {
    const auto n = static_cast<std::int64_t>(bytes / 4);
    Input<float, 1> X("X", {n});
    Reduce r("r", n);
    auto S = compute("S", {}, [&] { return sum(X(r), {r}); });
    const auto kernel = jit({S, {.context = &context_, .target = target}}, X, S);
    std::vector<float> x(static_cast<std::size_t>(n), 1.0f);
    float s = 0;
    return steady(double(n) * 4, [&] { kernel(x, &s); });
  }

  const Context& context_;
  Target one_ = host();
  Machine machine_{host()};
};

}  // namespace detail

LATHE_DECL Machine measure_machine(const Context& context) {
  if (!Llvm::find(context.options().llvm)) return Machine(host());
  return detail::MachineMeter(context).machine();
}
LATHE_DECL Machine measure_machine() { return measure_machine(Context::default_context()); }

}  // namespace lathe
