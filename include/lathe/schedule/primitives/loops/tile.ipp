#pragma once

#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

// A composite is all or nothing: each part runs on what the one before gave, and only the last
// program is kept.
inline Verdict run_tile(const Program& program, const Args& args, Edit* edit) {
  Edit first, second, third;
  const Primitive &split = primitive_split(), &reorder = primitive_reorder();
  if (args[0].loop == args[1].loop)
    return refusal_at(args[0].loop, "L0202",
                      "loop " + in_quotes(args[0].loop->name) + " is named twice");
  if (auto no = split.run(
          program, {args[0], Arg::of_list({Arg::of(Factor(infer)), args[2]}), args[4]}, &first))
    return no;
  if (auto no =
          split.run(first.program,
                    {args[1], Arg::of_list({Arg::of(Factor(infer)), args[3]}), args[4]}, &second))
    return no;
  Args order{first.results[0], second.results[0], first.results[1], second.results[1]};
  if (auto no = reorder.run(second.program, {Arg::of_list(order)}, &third)) return no;
  // The loops that the init may pass are new: the schedule, which sees the whole step, knows none.
  if (auto no = check_inits(second.program, changed_nests(second.program, third.program)))
    return no;
  if (!edit) return {};
  edit->program = third.program;
  edit->results = std::move(order);
  edit->consumed = {first.consumed[0], second.consumed[0]};
  edit->reassociates = third.reassociates;
  return {};
}

LATHE_DECL const Primitive& primitive_tile() {
  static const Primitive record{"tile",
                                1,
                                {{"i", ArgKind::loop},
                                 {"j", ArgKind::loop},
                                 {"i_tile", ArgKind::factor},
                                 {"j_tile", ArgKind::factor},
                                 {"tail", ArgKind::word, "auto"}},
                                "two splits and a reorder",
                                run_tile};
  return record;
}

}  // namespace lathe::detail
