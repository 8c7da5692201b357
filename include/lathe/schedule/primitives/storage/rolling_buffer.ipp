#pragma once

#include <lathe/schedule/primitives/storage/double_buffer.ipp>

namespace lathe::detail {

inline Verdict run_rolling_buffer(const Program& program, const Args& args, Edit* edit) {
  const LoopSite site = find_loop(program->body, args[1].loop);
  const ForNode& loop = *site.loop;
  const RollingAttr rolls{args[0].block->name};
  const char* const help =
      "take a block that was computed at the loop, for a window that moves by less than it holds";
  if (auto no = check_serial_change(loop, Change::share)) return no;
  if (loop.attributes.has(rolls))
    return refusal_at(
        loop.var, "L0246",
        "block " + in_quotes(rolls.block) + " keeps rows along loop " + describe(loop) + " already",
        help);
  if (auto no = check_mark(program, site, rolls, help)) return no;
  if (edit) edit->program = program.with(annotate_loop(program, loop.var, rolls));
  return {};
}

LATHE_DECL const Primitive& primitive_rolling_buffer() {
  static const Primitive record{"rolling_buffer",
                                1,
                                {{"block", ArgKind::block}, {"loop", ArgKind::loop}},
                                "iterations of a loop keep the rows of a block that they share",
                                run_rolling_buffer};
  return record;
}

}  // namespace lathe::detail
