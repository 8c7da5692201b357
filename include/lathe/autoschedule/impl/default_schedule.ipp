#pragma once

#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {

namespace detail {

inline Schedule with_default_steps(Schedule schedule, const Target& target,
                                   std::vector<std::string>* left_out = nullptr) {
  if (schedule.program()->scheduled) return schedule;
  const DefaultJob job{schedule, target, left_out};
  PlaceProducers(job).run();
  TileNests(job).run();
  VectorizeBareLoops(job).run();
  RunParallel(job).run();
  return schedule;
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

}  // namespace lathe
