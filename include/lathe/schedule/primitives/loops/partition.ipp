#pragma once

#include <lathe/analysis/partition.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

inline Verdict check_partition(const Program& program, const LoopSite& site) {
  const ForNode& loop = *site.loop;
  if (auto no = check_mark(program, site, PartitionAttr{Partition::always},
                           "let a loop around it be partitioned"))
    return no;
  LoopHead head = head_of(loop);
  head.attributes.erase<PartitionAttr>();
  const Stmt plain = wrap_loops({head}, loop.body);
  Vec<VarRef> known;
  for (const auto& dim : program->dims) known.push_back(dim->var);
  for (const auto& outer : site.loops) known.push_back(outer->var);
  const Facts around = facts_on(site.path, program_facts(program));
  if (!steady_conditions(*plain.as<ForNode>(), around, known).empty()) return {};
  return refusal_at(loop.var, "L0258",
                    "no condition below loop " + describe(loop) +
                        " is affine in it and holds in some of its iterations only",
                    "split a loop with a guarded tail, or partition another loop");
}

inline Verdict run_partition(const Program& program, const Args& args, Edit* edit) {
  const LoopSite site = find_loop(program->body, args[0].loop);
  Partition policy;
  if (!parse_partition(args[1].text, policy))
    return refusal_at(site.loop->var, "L0258", "no policy is called " + in_quotes(args[1].text),
                      "policies: automatic, never, always");
  if (policy == Partition::always)
    if (auto no = check_partition(program, site)) return no;
  if (!edit) return {};
  LoopHead head = head_of(*site.loop);
  head.attributes.erase<PartitionAttr>();
  if (policy != Partition::automatic) head.attributes.set(PartitionAttr{policy});
  edit->program = program.with(replace_at(site.path, wrap_loops({head}, site.loop->body)));
  return {};
}

LATHE_DECL const Primitive& primitive_partition() {
  static const Primitive record{"partition",
                                1,
                                {{"loop", ArgKind::loop}, {"policy", ArgKind::word}},
                                "whether iterations run apart in which conditions hold",
                                run_partition};
  return record;
}

}  // namespace lathe::detail
