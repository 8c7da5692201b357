#pragma once

#include <lathe/schedule/primitives/storage/hoist_storage.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline Verdict run_double_buffer(const Program& program, const Args& args, Edit* edit) {
  const LoopSite site = find_loop(program->body, args[1].loop);
  const ForNode& loop = *site.loop;
  const DoubleBufferAttr twice{args[0].text};
  const char* const help =
      "take a buffer that one block writes before all that read it, inside of the loop";
  if (auto no = check_serial_change(loop, Change::share)) return no;
  if (loop.attributes.has(twice))
    return refusal_at(loop.var, "L0245",
                      "buffer " + in_quotes(twice.buffer) + " has two versions in loop " +
                          describe(loop) + " already",
                      help);
  if (auto no = check_mark(program, site, twice, help)) return no;
  if (edit) edit->program = program.with(annotate_loop(program, loop.var, twice));
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
