// Each kernel as a program of loops: it computes what the loops in C++ do, legal steps change no
// bit of it, and illegal ones are refused with the dependence that forbids them.
#include <doctest/doctest.h>

#include <unit/schedule/run.hpp>

#include "arguments.hpp"

namespace {

namespace lt = lathe;
using namespace polybench;

/// No rounding that the program does not say, so that bits can be compared.
const lt::JitOptions kStrict{.strict = true};

/// What a kernel leaves in its arguments; all of them are compared with what the loops leave.
struct Outcome {
  Arguments arguments;

  Outcome(const Kernel& kernel, const Counts& sizes) : arguments(kernel, sizes) {}
  bool same(const Outcome& other) const {
    for (std::size_t k = 0; k < arguments.size(); ++k)
      if (arguments.doubles(k) != other.arguments.doubles(k) ||
          arguments.ints(k) != other.arguments.ints(k))
        return false;
    return true;
  }
  bool close(const Outcome& other) const {
    for (std::size_t k = 0; k < arguments.size(); ++k)
      for (std::size_t at = 0; at < arguments.doubles(k).size(); ++at)
        if (arguments.doubles(k)[at] !=
            doctest::Approx(other.arguments.doubles(k)[at]).epsilon(1e-9))
          return false;
    return true;
  }
};

Outcome by_loops(const Kernel& kernel, const Counts& sizes) {
  Outcome out(kernel, sizes);
  kernel.loops(sizes, out.arguments.arrays());
  return out;
}

Outcome by_lathe(const Kernel& kernel, const Counts& sizes, const lt::AnyKernel& f) {
  Outcome out(kernel, sizes);
  f(out.arguments.views());
  return out;
}

lt::Schedule scheduled(const Kernel& kernel, const lt::Program& program) {
  lt::Schedule s(program);
  kernel.schedule(s);
  return s;
}

Sizes dims(const Kernel& kernel) {
  Sizes out;
  for (std::size_t k = 0; k < kernel.small[0].size(); ++k)
    if (k == 0 && kernel.steps_first)
      out.push_back(kernel.small[0][0]);
    else
      out.push_back(lt::Dim("n" + std::to_string(k), {.min = 1}));
  return out;
}

/// Interpreted and compiled, as it is and scheduled: the loops' bits.
void check_computes(const Kernel& kernel) {
  const lt::Program symbolic = kernel.script(dims(kernel));
  const lt::Program for_speed = kernel.for_speed(dims(kernel));
  for (const lt::Program& p : {symbolic, for_speed})
    CHECK(lt::structurally_equal(lt::parse(p.str()), p));
  const lt::Schedule any = scheduled(kernel, for_speed);
  std::vector<std::pair<std::string, lt::AnyKernel>> all = {
      {"Dims", lt::jit_any({symbolic, kStrict}, {})},
      {"Dims, scheduled", lt::jit_any({any, kStrict}, {})}};
  for (const Counts& sizes : kernel.small) {
    const Sizes numbers(sizes.begin(), sizes.end());
    const lt::Program fixed = kernel.script(numbers);
    const lt::Schedule steps = scheduled(kernel, kernel.for_speed(numbers));
    auto kernels = all;
    kernels.emplace_back("interpreted", lt::evaluate_any({fixed, kStrict}, {}));
    kernels.emplace_back("Dims, interpreted", lt::evaluate_any({symbolic, kStrict}, {}));
    kernels.emplace_back("for speed, Dims, interpreted",
                         lt::evaluate_any({for_speed, kStrict}, {}));
    kernels.emplace_back("scheduled, interpreted", lt::evaluate_any({steps, kStrict}, {}));
    if (sizes == kernel.small.back()) {
      kernels.emplace_back("compiled", lt::jit_any({fixed, kStrict}, {}));
      kernels.emplace_back("scheduled", lt::jit_any({steps, kStrict}, {}));
    }
    const Outcome wanted = by_loops(kernel, sizes);
    for (const auto& made : kernels) {
      INFO(made.first << " of " << sizes[0] << ":\n" << made.second.program().str());
      CHECK(by_lathe(kernel, sizes, made.second).same(wanted));
    }
    if (sizes == kernel.small.back())
      CHECK(by_lathe(kernel, sizes, lt::jit_any(steps, {})).close(wanted));
  }
}

void check_refusals(const Kernel& kernel) {
  const Counts& sizes = kernel.small[0];
  for (const Sizes& n : {Sizes(sizes.begin(), sizes.end()), dims(kernel)})
    for (const Refusal& refusal : kernel.refused) {
      lt::Schedule s(kernel.script(n));
      if (refusal.before) refusal.before(s);
      const std::string text = test::refused(s, refusal.take);
      INFO(refusal.step << ": " << text);
      CHECK(text.substr(0, 12) == "error[" + refusal.id + "]");
      const std::string first = text.substr(0, text.find('\n'));
      for (const std::string& words : refusal.says) CHECK(first.find(words) != std::string::npos);
    }
}

void check(const std::string& name) {
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.name != name) continue;
    check_computes(kernel);
    const lt::Program program =
        kernel.for_speed(Sizes(kernel.small[0].begin(), kernel.small[0].end()));
    test::check_kept(lt::Schedule(program), scheduled(kernel, program));
    check_refusals(kernel);
    return;
  }
  FAIL("no kernel is called " << name);
}

}  // namespace

// clang-format off
#define KERNELS(X) \
  X("2mm") X("3mm") X("adi") X("atax") X("bicg") X("cholesky") X("correlation") X("covariance") \
  X("deriche") X("doitgen") X("durbin") X("fdtd-2d") X("floyd-warshall") X("gemm") X("gemver") \
  X("gesummv") X("gramschmidt") X("heat-3d") X("jacobi-1d") X("jacobi-2d") X("lu") X("ludcmp") \
  X("mvt") X("nussinov") X("seidel-2d") X("symm") X("syr2k") X("syrk") X("trisolv") X("trmm")
// clang-format on
#define KERNEL(name) \
  TEST_CASE(name) { check(name); }
KERNELS(KERNEL)

TEST_CASE("there are thirty") { CHECK(all_kernels().size() == 30); }
