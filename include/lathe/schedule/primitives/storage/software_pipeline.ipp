#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/ir/loop_marks.hpp>
#include <lathe/schedule/primitives/sampling/sample.ipp>
#include <lathe/schedule/primitives/storage/double_buffer.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// "stage:order" of each statement, between commas.
inline std::string parts_text(const Vec<PipelinePart>& parts) {
  return join(parts, ",", [](const PipelinePart& p) {
    return std::to_string(p.stage) + ":" + std::to_string(p.order);
  });
}

inline Verdict run_software_pipeline(const Program& program, const Args& args, Edit* edit) {
  const ForNode& loop = *find_loop(program->body, args[0].loop).loop;
  if (auto no = check_plain_loop(loop)) return no;
  const Vec<std::int64_t> stages = numbers_of(args[1]), orders = numbers_of(args[2]);
  if (stages.size() != orders.size())
    return refusal_at(
        loop.var, "L0247",
        std::to_string(stages.size()) + " stages and " + std::to_string(orders.size()) + " orders",
        "one of each for each statement of the loop");
  Vec<PipelinePart> parts;
  for (std::size_t k = 0; k < stages.size(); ++k) parts.push_back({stages[k], orders[k]});
  const PipelinePlan plan = plan_pipeline(program, loop.var, parts);
  if (!plan.why.empty())
    return refusal_at(loop.var, "L0247", plan.why,
                      "a statement that uses what another made has a later stage, or the same one "
                      "and a later order");
  if (edit)
    edit->program =
        program.with(annotate_loop(program, loop.var, kSoftwarePipeline, parts_text(parts)));
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
