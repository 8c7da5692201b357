// The pipeline from scheduled programs to flat code, a table of named passes, and its runner.
#pragma once

#include <lathe/ir/kinds.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/support/context.hpp>
#include <lathe/support/deadline.hpp>
#include <lathe/support/target_caps.hpp>
#include <span>
#include <string>
#include <vector>

namespace lathe {

struct LowerOptions {
  /// Refuses to contract x * y + z into fma.
  bool strict = false;
  /// How exact functions and divisions are; fast is refused under strict (L0604).
  Math math = Math::normal;
  /// Gets what Math::fast has changed, in words.
  std::vector<std::string>* changes = nullptr;
  /// Tests each access that is not proved to be inside of its buffer (check_accesses).
  bool checked = false;
  /// Parameters that declare no strides are row-major without gaps, as calls then have to give
  /// them; else their outer strides are variables.
  bool dense = false;
  /// What the code will be written in.
  Language language = Language::llvm;
  /// For dumps, logs and budgets; null means the default context.
  const Context* context = nullptr;
  /// When to stop (L0412); null means the context's time_budget from the call on.
  const Deadline* deadline = nullptr;
  /// Of the call that errors are about.
  Location where{};
};

/// One named step. It leaves the program at a stage that verify() checks: after every pass in debug
/// builds, at both ends of the pipeline in release builds.
struct Pass {
  const char* name;
  Program (*run)(const Program&, const Target&, const LowerOptions&);
  Stage leaves;
};

/// From Stage::blocks to Stage::machine for a CPU; comments in the table give the order
/// constraints.
std::span<const Pass> cpu_pipeline();

/// L0604 for a program whose rounding is to be both changed and not.
void check_math(bool strict, Math math, Location where);

/// Runs the pipeline. `LATHE_DUMP=pass` or ContextOptions::dump logs the result of that pass
/// ("all": of each), on standard error where the context has no log hook. L0412 out of time · L0601
/// unrolling would exceed the budget of nodes · L0602 the dump names no pass · L0604 strict, with
/// Math::fast · L0605 Math::accurate, and a function without such a version
Program lower(const Program& program, const Target& target, const LowerOptions& options = {});

/// The program after the named pass, for tests and dumps; L0602 if no pass has that name.
Program lower_until(std::string_view pass, const Program& program, const Target& target,
                    const LowerOptions& options = {});

}  // namespace lathe
