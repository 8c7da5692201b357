// What the schedule suite measures: how long the steps of schedules take, on programs of up to 10
// blocks.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace bench {

/// Seconds and number of the steps that were taken, by primitive.
class StepTimes {
 public:
  struct Sum {
    double seconds = 0;
    int steps = 0;
  };
  void add(const std::string& primitive, double seconds);
  const std::map<std::string, Sum>& by_primitive() const { return sums_; }
  Sum total() const;

 private:
  std::map<std::string, Sum> sums_;
};

/// A program that is scheduled anew by each call.
struct ScheduledProgram {
  std::string name;
  StepTimes (*schedule)() = nullptr;
};

/// None without Lathe.
std::vector<ScheduledProgram> scheduled_programs();

}  // namespace bench
