// The default schedule of a program, held to what it promises: no step of it was refused, and the
// evaluator gives the bits that the program gave.
#pragma once

#include <lathe/autoschedule/default_schedule.hpp>

#include "../schedule/run.hpp"

namespace test {

struct PlanFor {
  const char* target = "x86-64-v3";
  int cores = 1;
  lt::ScheduleOptions options{};
  bool refuses = false;  ///< steps that are tried may be left out
};

inline lt::Schedule checked_plan(const lt::Program& program, const PlanFor& what = {}) {
  lt::Target target(what.target);
  target.cores = what.cores;
  std::vector<std::string> left_out;
  lt::Schedule s = lt::default_schedule(program, target, what.options, left_out);
  INFO(left_out.size());
  CHECK((what.refuses || left_out.empty()));
  CHECK(test::run(s.program()) == test::run(program));
  return s;
}

}  // namespace test
