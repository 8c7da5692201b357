// What lies between a computation and the machine code that runs it: schedule, loops, LLVM IR,
// assembly, and how to see each.
#include <cstdio>
#include <fstream>
#include <lathe/lathe.hpp>
#include <string>
#include <vector>

namespace lt = lathe;

int main() {
  // [describe]
  const int m = 64, n = 256;
  lt::Input<float, 2> X("X", {m, n});
  lt::Input<float, 1> bias("bias", {n});
  auto H = lt::compute("H", {m, n}, [&](lt::Var i, lt::Var j) { return X(i, j) + bias(j); });
  auto Y = lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return H(i, j) * H(i, j); });
  // [describe]

  // [schedule]
  const lt::Target machine("x86-64-v3");  // lt::host() is the default
  lt::Schedule s = lt::default_schedule(Y, machine);
  std::printf("%s\n", s.trace().cpp().c_str());
  std::printf("%s\n", s.str().c_str());
  // [schedule]

  // [pasted]
  lt::Schedule mine(Y);
  mine.compute_inline("H");
  auto [i, j] = mine.loops<2>("Y");
  auto [jo, ji] = mine.split<2>(j, {lt::infer, 32});  // 8 until here
  mine.vectorize(ji);
  // [pasted]

  // [lowered]
  const lt::Program flat = lt::lower(mine.program(), machine);
  std::printf("%s\n", flat.str().c_str());
  // [lowered]

  // [costs]
  const lt::Explanation costs = mine.explain({.machine = lt::Machine(machine)});
  std::printf("%s\n", costs.str().c_str());
  // [costs]

  // [plan]
  lt::Input<float, 2> A("A", {64, 80}), B("B", {80, 96});
  lt::Reduce k("k", 80);
  auto C = lt::compute("C", {64, 96},
                       [&](lt::Var i, lt::Var j) { return lt::sum(A(i, k) * B(k, j), k); });
  std::printf("%s\n", lt::default_plan(C, machine).str().c_str());
  const lt::Plan other = lt::Plan::parse("plan 1\nC register_tile i 2 3\n");
  std::printf("%s\n", lt::apply_plan(other, C, machine).trace().cpp().c_str());
  // [plan]

  // [kernel]
  auto f = lt::jit(mine, X, bias, Y);
  if (f.compiled()) {  // nothing is compiled where there is no LLVM
    std::ofstream("scheduled.txt")
        << f.scheduled().str();  // the default schedule's, if jit took it
    std::ofstream("lowered.txt") << f.lowered().str();
    std::ofstream("kernel.ll") << f.llvm_ir();
    std::ofstream("kernel.s") << f.assembly();
  }
  // [kernel]

  // [measured]
  std::vector<float> x(m * n, 1), b(n, 2), y(m * n);
  const auto in = lt::view(x, {m, n}), out = lt::view(y, {m, n});
  const lt::Machine here = lt::measure_machine();
  std::ofstream("costs.txt")
      << f.explain({.machine = here, .measured = f.measure(in, b, out)}).str();
  // [measured]

  // [c]
  std::ofstream("y.c") << lt::to_c(Y);  // then cc -O3 -march=native -c y.c, and link with -lm
  // [c]

  // [context]
  std::string passes;
  lt::Context context(
      {.threads = 1,
       .log = [&](lt::LogLevel, std::string_view line) { (passes += line) += '\n'; },
       .log_level = lt::LogLevel::debug,
       .dump = "vectorize"});  // "all": after each pass
  auto g = lt::jit({mine, {.context = &context}}, X, bias, Y);
  // [context]
  std::ofstream("passes.txt") << passes;

  std::vector<float> z(m * n);
  f(lt::view(x, {m, n}), b, lt::view(y, {m, n}));
  g(lt::view(x, {m, n}), b, lt::view(z, {m, n}));
  std::printf("both kernels: %g and %g\n", y[0], z[0]);
}
