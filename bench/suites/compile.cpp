// What programs take to compile, part by part: those of the suites, and kinds that these lack.
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "compile_times.hpp"
#include "core/operands.hpp"
#include "core/peers.hpp"
#include "hand/cases.hpp"
#include "suites/suites.hpp"

namespace bench {

namespace {

constexpr int kRounds = 5;

CompiledProgram compiled_case(const Case& what, bool hand) {
  return {what.suite + " " + what.name + (hand ? ", hand" : ""), [what, hand] {
            // Lathe's side keeps the memory that it is to run on.
            Operands operands = make_operands(what.problem);
            (void)lathe_peer().make(make_job(what, operands, 1, hand));
          }};
}

std::vector<CompiledProgram> all_compilations() {
  std::vector<CompiledProgram> all = compiled_programs();
  for (const bool hand : {false, true})
    for (const char* suite : {"gemm", "elementwise", "stencil", "photo", "apps"})
      for (const Case& what : cases_of(suite, 0)) all.push_back(compiled_case(what, hand));
  for (const auto& programs : {lane_programs(), tile_programs()})
    for (const HandProgram& program : programs)
      all.push_back({"hand " + program.name, [make = program.make] { (void)make(); }});
  for (CompiledProgram& program : compiled_polybench()) all.push_back(std::move(program));
  return all;
}

void print(const std::string& name, const CompileTimes& t) {
  std::printf("%-44s %8.2f %8.2f %9.2f %8.2f %8.2f %8.2f %8.2f %8.2f  %s %.2f\n", name.c_str(),
              t.steps, t.default_schedule, t.lowering, t.to_code(), t.emission, t.parse, t.passes,
              t.code, t.slowest.c_str(), t.slowest_pass);
  std::fflush(stdout);
}

}  // namespace

std::vector<std::string> compile_case_names() {
  std::vector<std::string> names;
  for (const CompiledProgram& program : all_compilations()) names.push_back(program.name);
  return names;
}

void run_compile_suite(const Options& options) {
  std::printf("%-44s %8s %8s %9s %8s %8s %8s %8s %8s  %s\n", "compile (ms)", "steps", "default",
              "lowering", "to code", "emission", "parse", "passes", "machine", "slowest pass");
  for (const CompiledProgram& program : all_compilations()) {
    if (!options.wants(program.name)) continue;
    try {
      print(program.name, least_compile_times(program, kRounds));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "lathe: %s: %s\n", program.name.c_str(), e.what());
    }
  }
}

}  // namespace bench
