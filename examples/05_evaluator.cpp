// The evaluator: the same program run without code generation, at every stage, as the reference for
// machine code.
#include <lathe/lathe.hpp>

#include "common/check.hpp"

namespace lt = lathe;

int main() {
  const int n = 100000;
  lt::Input<float, 1> X("X", {n});
  lt::Input<float, 0> slope("slope");  // a scalar, passed by value
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) {
    auto left = lt::select(i > 0, X(lt::max(i - 1, 0)), 0.0f);
    return lt::tanh(X(i) - left) + X(i) * slope();
  });

  // [evaluate]
  auto interpreted = lt::evaluate(Y, X, slope, Y);  // needs neither LLVM nor a compiler
  auto compiled = lt::jit(Y, X, slope, Y);
  // [evaluate]
  const std::vector<float> x = example::random_values(n);
  std::vector<float> y(n), wanted(n), plain(n);
  interpreted(x, 0.25f, wanted);
  compiled(x, 0.25f, y);
  for (int i = 0; i < n; ++i)
    plain[i] = static_cast<float>(std::tanh(static_cast<double>(x[i]) - (i > 0 ? x[i - 1] : 0)) +
                                  x[i] * 0.25);
  example::expect_close("evaluator against plain C++", wanted, plain, 1e-6);
  example::expect_close("machine code against plain C++", y, plain, 1e-6);

  // Lowered to machine level, functions are arithmetic: both then do the same operations, bit for
  // bit.
  auto same_steps = lt::evaluate(compiled.lowered(), X, slope, Y);
  same_steps(x, 0.25f, wanted);
  example::expect_close("machine code against the evaluator on the lowered program", y, wanted, 0);

  const auto ms =
      example::best_ms({[&] { interpreted(x, 0.25f, wanted); }, [&] { compiled(x, 0.25f, y); }});
  std::printf("interpreted %.2f ms, compiled %.2f ms: %.0fx\n", ms[0], ms[1], ms[0] / ms[1]);
}
