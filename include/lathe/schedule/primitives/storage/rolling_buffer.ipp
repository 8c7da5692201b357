#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/ir/loop_marks.hpp>
#include <lathe/schedule/primitives/storage/double_buffer.ipp>

namespace lathe::detail {

inline Verdict run_rolling_buffer(const Program& program, const Args& args, Edit* edit) {
  const ForNode& loop = *find_loop(program->body, args[1].loop).loop;
  const std::string& name = args[0].block->name;
  if (auto no = check_storage_loop(loop)) return no;
  std::string why = plan_roll(program, args[0].block, args[1].loop).why;
  if (name.find(',') != std::string::npos)
    why = "block " + in_quotes(name) + " has a comma in its name";
  if (is_marked(loop, kRollingBuffer, name))
    why = "block " + in_quotes(name) + " keeps rows along loop " + describe(loop) + " already";
  if (!why.empty())
    return refusal_at(loop.var, "L0246", why,
                      "take a block that was computed at the loop, for a window that moves by less "
                      "than it holds");
  if (edit) edit->program = program.with(add_mark(program, loop, kRollingBuffer, name));
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
