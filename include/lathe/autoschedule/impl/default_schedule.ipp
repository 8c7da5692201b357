#pragma once

#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {

LATHE_DECL Schedule default_schedule(const Program& program, const Target& target,
                                     ScheduleOptions options) {
  Schedule schedule(program, options);
  detail::PlaceProducers(schedule, target).run();
  detail::TileNests(schedule, target).run();
  detail::RunParallel(schedule, target).run();
  return schedule;
}

}  // namespace lathe
