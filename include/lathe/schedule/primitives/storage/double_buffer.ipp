#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/loop_marks.hpp>
#include <lathe/schedule/primitives/storage/hoist_storage.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline Verdict run_double_buffer(const Program& program, const Args& args, Edit* edit) {
  Buffer buffer = find_buffer(program, args[0].text);
  LoopSite site = find_loop(program->body, args[1].loop);
  const ForNode& loop = *site.loop;
  if (auto no = check_storage_loop(loop)) return no;
  std::string why = why_not_doubled(program, buffer, site);
  if (buffer->name.find(',') != std::string::npos) why = "has a comma in its name";
  if (is_marked(loop, kDoubleBuffer, buffer->name))
    why = "has two versions in loop " + describe(loop) + " already";
  if (!why.empty())
    return refusal_at(loop.var, "L0245", "buffer " + in_quotes(buffer->name) + " " + why,
                      "take a buffer that one block writes before all that read it, inside of the "
                      "loop");
  if (edit) edit->program = program.with(add_mark(program, loop, kDoubleBuffer, buffer->name));
  return {};
}

LATHE_DECL const Primitive& primitive_double_buffer() {
  static const Primitive record{"double_buffer",
                                1,
                                {{"buffer", ArgKind::buffer}, {"loop", ArgKind::loop}},
                                "iterations of a loop take turns with two versions of a buffer",
                                run_double_buffer};
  return record;
}

}  // namespace lathe::detail
