// The same call made of the library's evaluator, and how its results compare with the oracle's.
#pragma once

#include <lathe/eval/evaluate.hpp>
#include <lathe/jit/binding.hpp>
#include <lathe/lower/passes.hpp>
#include <string>

#include "arguments.hpp"

namespace oracle {

/// What came of a run: results, or the reason for none.
struct Outcome {
  Results results;
  bool failed = false;
  std::string reason;
  bool open = false;  ///< it does not end, or the definition gives it no meaning
};

inline Outcome oracle_outcome(const lathe::Program& program, const Dims& dims,
                              const Arguments& args) {
  try {
    return {interpret(program, dims, args), false, {}, false};
  } catch (const NoResult& none) {
    return {{}, true, none.what(), none.rule >= NoResult::endless};
  }
}

/// The elements of the written arguments.
inline Results read_back(const Arguments& after) {
  Results out;
  for (std::size_t k = 0; k < after.size(); ++k) {
    if (!after[k].written) continue;
    out.emplace_back();
    for (std::size_t e = 0; e < after[k].elements(); ++e) out.back().push_back(after[k].element(e));
  }
  return out;
}

/// Whether each Dim is the extent of an argument: from there the evaluator's call takes it.
inline bool dims_are_given(const lathe::Program& program) {
  for (const auto& dim : program->dims) {
    bool given = false;
    for (const auto& param : program->params)
      for (std::size_t d = 0; param.buffer && d < param.buffer->shape.size(); ++d)
        given = given || param.buffer->shape[d].get() == dim->var.get();
    if (!given) return false;
  }
  return true;
}

/// Of `executed`, which is the program with open strides or what a pass made of that.
inline Outcome evaluator_outcome(const lathe::Program& program, const lathe::Program& executed,
                                 const Arguments& given) {
  Arguments args = given;
  std::vector<lathe::CallArg> call;
  lathe::Vec<int> order;
  for (auto& a : args) {
    order.push_back(static_cast<int>(call.size()));
    call.push_back({a.bytes.data(), a.extents.data(), a.strides.data(), a.scalar});
  }
  try {
    const lathe::Binding binding(lathe::open_strides(program), order);
    std::vector<std::uint64_t> slots(static_cast<std::size_t>(binding.slots()));
    binding.bind(call.data(), slots.data(), lathe::Location::here());
    const bool blocks = executed->stage == lathe::Stage::blocks;
    lathe::Evaluator(executed, {.find_uninitialized = blocks}).run(slots.data());
  } catch (const std::exception& error) {
    return {{}, true, error.what(), false};
  }
  return {read_back(args), false, {}, false};
}

inline Outcome evaluator_outcome(const lathe::Program& program, const Arguments& given) {
  return evaluator_outcome(program, lathe::open_strides(program), given);
}

inline std::string shown(DType t, const std::optional<Number>& n) {
  if (!n) return "not stored";
  if (t.is_float()) return std::to_string(n->real);
  return std::to_string(static_cast<std::int64_t>(n->whole));
}

/// The first element that differs, in words; nothing where all agree to the bit, NaNs alike.
inline std::string difference(const Arguments& args, const Results& want, const Results& got) {
  std::size_t written = 0;
  for (const auto& a : args) {
    if (!a.written) continue;
    for (std::size_t e = 0; e < a.elements(); ++e) {
      const std::optional<Number>& expected = want[written][e];
      const Number found = *got[written][e];
      if (same(a.type, expected ? *expected : a.element(e), found)) continue;
      return "element " + std::to_string(e) + " of '" + a.name + "' is " + shown(a.type, found) +
             " in the evaluator and " + shown(a.type, expected) + " in the oracle";
    }
    ++written;
  }
  return {};
}

/// How oracle and evaluator disagree on a call, in words; nothing if they agree.
inline std::string disagreement(const Outcome& want, const Arguments& args, const Outcome& got) {
  if (want.failed != got.failed)
    return want.failed ? "the oracle has no result: " + want.reason
                       : "the evaluator has no result: " + got.reason;
  return want.failed ? std::string() : difference(args, want.results, got.results);
}

}  // namespace oracle
