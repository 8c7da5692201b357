#pragma once

#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {

namespace detail {

inline void take_default_steps(Schedule& schedule, const Target& target, const KeptNests& kept,
                               std::vector<std::string>* left_out, PlanWork* plan = nullptr) {
  const DefaultJob job{schedule, target, kept, left_out, plan};
  PlaceProducers(job).run();
  TileNests(job).run();
  MergeNests(job).run();
  VectorizeBareLoops(job).run();
  RunParallel(job).run();
}

inline Schedule with_default_steps(Schedule schedule, const Target& target,
                                   std::vector<std::string>* left_out = nullptr,
                                   PlanWork* plan = nullptr) {
  if (!schedule.program()->scheduled) take_default_steps(schedule, target, {}, left_out, plan);
  return schedule;
}

inline std::vector<std::string> plan_nests(Schedule& schedule, const Target& target,
                                           const KeptNests& kept) {
  Schedule planned = schedule;
  std::vector<std::string> left_out;
  take_default_steps(planned, target, kept, &left_out);
  schedule = planned;
  return left_out;
}

}  // namespace detail

LATHE_DECL Schedule default_schedule(const Program& program, const Target& target,
                                     ScheduleOptions options, Location where) {
  return detail::with_default_steps(Schedule(program, options, where), target);
}
LATHE_DECL Schedule default_schedule(const Program& program, const Target& target,
                                     ScheduleOptions options, std::vector<std::string>& left_out,
                                     Location where) {
  return detail::with_default_steps(Schedule(program, options, where), target, &left_out);
}
LATHE_DECL Schedule default_schedule(const AnyTensor& output, const Target& target,
                                     ScheduleOptions options, Location where) {
  return detail::with_default_steps(Schedule(output, options, where), target);
}
LATHE_DECL Schedule default_schedule(const OutputList& outputs, const Target& target,
                                     ScheduleOptions options, Location where) {
  return detail::with_default_steps(Schedule(outputs, options, where), target);
}

LATHE_DECL Plan default_plan(const Program& program, const Target& target, ScheduleOptions options,
                             Location where) {
  detail::PlanWork work;
  detail::with_default_steps(Schedule(program, options, where), target, nullptr, &work);
  return work.made();
}
LATHE_DECL Plan default_plan(const AnyTensor& output, const Target& target, ScheduleOptions options,
                             Location where) {
  return default_plan(program_of(output, where), target, options, where);
}

LATHE_DECL Schedule apply_plan(const Plan& plan, const Program& program, const Target& target,
                               ScheduleOptions options, std::vector<std::string>* repairs,
                               Location where) {
  detail::PlanWork work(&plan);
  Schedule out =
      detail::with_default_steps(Schedule(program, options, where), target, repairs, &work);
  const std::vector<std::string> all = work.repairs();
  const bool met =
      std::any_of(plan.decisions.begin(), plan.decisions.end(),
                  [&](const Decision& d) { return work.made().find(d.block, d.what) != nullptr; });
  if (!met && !plan.decisions.empty() && !program->scheduled)
    throw UserError("L0267",
                    cat("plan: nothing that it decides, as '", plan.decisions[0].block, ' ',
                        plan.decisions[0].what, "', is decided in program '", program->name, "'"),
                    where, {}, "lt::default_plan(program) has what can be decided");
  if (repairs) repairs->insert(repairs->end(), all.begin(), all.end());
  return out;
}

LATHE_DECL Schedule apply_plan(const Plan& plan, const AnyTensor& output, const Target& target,
                               ScheduleOptions options, std::vector<std::string>* repairs,
                               Location where) {
  return apply_plan(plan, program_of(output, where), target, options, repairs, where);
}

LATHE_DECL std::vector<std::string> plan(Schedule& schedule, const Target& target) {
  return detail::plan_nests(schedule, target, detail::KeptNests(schedule));
}
LATHE_DECL std::vector<std::string> plan(Schedule& schedule, const BlockName& block,
                                         const Target& target, Location where) {
  const BlockTag tag = schedule.block(block, where).tag;
  detail::KeptNests kept(schedule);
  if (kept.holds(tag))
    throw UserError("L0202",
                    "plan: steps have changed the loops of block " + tag->name + " already", where,
                    {}, "plan a block before its loops are changed, or schedule it by hand");
  kept.keep_others(schedule.program(), tag);
  return detail::plan_nests(schedule, target, kept);
}

}  // namespace lathe
