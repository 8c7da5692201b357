// What kernels take to compile, part by part.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Milliseconds of the parts of a compilation.
struct CompileTimes {
  double steps = 0;  ///< describing the program and taking the steps of its schedule
  double default_schedule = 0, lowering = 0, slowest_pass = 0, emission = 0;
  double parse = 0, passes = 0, code = 0;  ///< of LLVM
  double link = 0;
  std::string slowest;  ///< pass of the lowering

  /// From steps to a program in machine form, and from there to a function.
  double to_lowered() const { return steps + default_schedule + lowering; }
  double to_code() const { return emission + parse + passes + code + link; }
};

/// A program that is described, scheduled and compiled anew by each call.
struct CompiledProgram {
  std::string name;
  std::function<void()> compile;
};

/// The lines that contexts of this program log while it is there.
class CompileLog {
 public:
  CompileLog();
  CompileLog(const CompileLog&) = delete;
  CompileLog& operator=(const CompileLog&) = delete;
  ~CompileLog();
  /// Where a line says what a part took, adds it to the times.
  void take(std::string_view line);
  /// What was logged since the last call.
  CompileTimes taken();
  static CompileLog* current();

 private:
  CompileTimes times_;
};

/// The least time of each part over some compilations; `rounds` at least 1. Nothing without Lathe.
CompileTimes least_compile_times(const CompiledProgram& program, int rounds);

/// Programs of all kinds under Lathe's own schedules, and one large tile. None without Lathe.
std::vector<CompiledProgram> compiled_programs();

/// The kernels of tests/polybench under either schedule. None without Lathe.
std::vector<CompiledProgram> compiled_polybench();

}  // namespace bench
