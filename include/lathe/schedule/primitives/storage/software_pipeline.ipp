#pragma once

#include <lathe/schedule/primitives/loops/annotate.ipp>
#include <lathe/schedule/primitives/sampling/sample.ipp>
#include <lathe/schedule/primitives/storage/double_buffer.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline Verdict run_software_pipeline(const Program& program, const Args& args, Edit* edit) {
  const LoopSite site = find_loop(program->body, args[0].loop);
  const ForNode& loop = *site.loop;
  if (auto no = check_serial_change(loop, Change::stage)) return no;
  const PipelineAttr when{numbers_of(args[1]), numbers_of(args[2])};
  if (when.stages.size() != when.orders.size())
    return refusal_at(loop.var, "L0247",
                      std::to_string(when.stages.size()) + " stages and " +
                          std::to_string(when.orders.size()) + " orders",
                      "one of each for each statement of the loop");
  if (auto no = check_mark(program, site, when,
                           "a statement that uses what another made has a later stage, or the same "
                           "one and a later order"))
    return no;
  if (edit) edit->program = program.with(annotate_loop(program, loop.var, when));
  return {};
}

LATHE_DECL const Primitive& primitive_software_pipeline() {
  static const Primitive record{"software_pipeline",
                                1,
                                {{"loop", ArgKind::loop},
                                 {"stages", ArgKind::list, {}, ArgKind::number},
                                 {"orders", ArgKind::list, {}, ArgKind::number}},
                                "statements of a loop run for different iterations at a time",
                                run_software_pipeline};
  return record;
}

}  // namespace lathe::detail
