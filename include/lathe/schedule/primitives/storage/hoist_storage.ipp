#pragma once

#include <lathe/schedule/primitives/loops/annotate.ipp>
#include <lathe/schedule/primitives/storage/storage.ipp>

namespace lathe::detail {

inline Verdict run_hoist_storage(const Program& program, const Args& args, Edit* edit) {
  const LoopSite site = find_loop(program->body, args[1].loop);
  const ForNode& loop = *site.loop;
  const HoistAttr hoist{args[0].text};
  if (auto no = check_serial_change(loop, Change::share)) return no;
  if (loop.attributes.has(hoist))
    return refusal_at(loop.var, "L0240",
                      "buffer " + in_quotes(hoist.buffer) + " is allocated above loop " +
                          describe(loop) + " already");
  if (auto no = check_mark(program, site, hoist,
                           "take a loop of which each iteration fills the buffer anew, inside of "
                           "loops that are not serial"))
    return no;
  if (edit) edit->program = program.with(annotate_loop(program, loop.var, hoist));
  return {};
}

LATHE_DECL const Primitive& primitive_hoist_storage() {
  static const Primitive record{"hoist_storage",
                                1,
                                {{"buffer", ArgKind::buffer}, {"loop", ArgKind::loop}},
                                "a private buffer is allocated above a loop",
                                run_hoist_storage};
  return record;
}

}  // namespace lathe::detail
