#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

// What the facts say of a Dim in the three numbers that a call checks; the ends are multiples.
inline DimRef narrowed(const DimNode& dim, const Facts& facts) {
  ConstInterval range = facts.range(dim.var.get());
  const std::int64_t factor = facts.factor(dim.var.get());
  const std::int64_t up = floor_mod(-range.min, factor);
  if (__builtin_add_overflow(range.min, up, &range.min)) range.min = range.max;
  if (range.has_max()) range.max -= floor_mod(range.max, factor);
  return make_ref<DimNode>(dim.var, range.min, range.max, factor);
}

// A Dim that has one value left is that number wherever the program computes with it.
inline Stmt with_known_dims(const ProgramNode& program) {
  Substitution known;
  for (const auto& dim : program.dims)
    if (dim->min == dim->max) known.emplace_back(dim->var, AnyExpr(dim->min));
  return substitute(program.body, known);
}

inline Verdict run_assume(const Program& program, const Args& args, Edit* edit) {
  const AnyExpr& condition = args[0].expr;
  const std::string text = condition.get() ? str(condition) : "";
  if (!condition.get() || condition.dtype() != kBool || !over_dims(program, condition))
    return refusal("L0243", "'" + text + "' is no condition on Dims of the program",
                   "write what a call can check of each: n % 8 == 0 && n >= 64");
  const Facts before = program_facts(program), facts = before.with(condition);
  ProgramNode next = *program;
  bool none = is_const(simplify(condition, before), 0);
  for (auto& dim : next.dims) {
    dim = narrowed(*dim, facts);
    none = none || dim->min > dim->max;
  }
  if (none) return refusal("L0243", "'" + text + "' never holds here");
  next.body = with_known_dims(next);
  Program made(std::move(next));
  if (!prove(condition, program_facts(made)))
    return refusal(
        "L0243", "'" + text + "' says more than a least value, a largest one and a factor of each",
        "a condition between Dims, an alternative, or a gap can't be checked by a call");
  if (edit) edit->program = std::move(made);
  return {};
}

LATHE_DECL const Primitive& primitive_assume() {
  static const Primitive record{"assume",
                                1,
                                {{"condition", ArgKind::expr}},
                                "bounds and factors of Dims, which calls then check",
                                run_assume};
  return record;
}

}  // namespace lathe::detail
