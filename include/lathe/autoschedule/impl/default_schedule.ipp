#pragma once

#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {

namespace detail {

inline Schedule with_default_steps(Schedule schedule, const Target& target) {
  if (schedule.program()->scheduled) return schedule;
  PlaceProducers(schedule, target).run();
  TileNests(schedule, target).run();
  VectorizeBareLoops(schedule, target).run();
  RunParallel(schedule, target).run();
  return schedule;
}

}  // namespace detail

LATHE_DECL Schedule default_schedule(const Program& program, const Target& target,
                                     ScheduleOptions options, Location where) {
  return detail::with_default_steps(Schedule(program, options, where), target);
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
