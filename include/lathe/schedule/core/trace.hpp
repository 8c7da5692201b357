// Traces: the steps of a schedule as data, as text, and played again.
#pragma once

#include <lathe/schedule/core/primitive.hpp>

namespace lathe {

/// One step. References in inputs and results are symbols: replay maps them to what the same steps
/// give there. The last input of a sampling step is its decision, which may be changed.
struct TraceEntry {
  const Primitive* primitive = nullptr;
  Args inputs;   ///< one per parameter of the primitive
  Args results;  ///< what it gave
  Location where;
};

/// The steps that lead from a program to a schedule.
struct Trace {
  std::uint64_t program_hash =
      0;  ///< structural hash of the program that it was recorded on; 0: not known
  Vec<TraceEntry> entries;

  /// One line per step; parse_trace reads it back.
  ///     trace 1 program 0x5b3f…
  ///     b0 = block("C")
  ///     l0, l1, _ = loops(b0)
  ///     l2, l3 = split(l0, [infer, 8])
  std::string str() const;
  /// The steps as C++ statements on a schedule named `schedule`.
  std::string cpp(std::string_view schedule = "s") const;
};

/// The trace that a text describes. Any bytes give a trace or L0228 with line and column.
Trace parse_trace(std::string_view text, Location where = Location::here());

}  // namespace lathe
