// How competitors are timed: in turns, in the same process, with medians over the rounds.
#pragma once

#include "core/case.hpp"

namespace bench {

double seconds_now();

/// Sees what other processes use of the machine: how many cores, on average since it was made.
class OthersWatch {
 public:
  OthersWatch();
  double cores() const;

 private:
  double machine_, own_, start_;
};

struct Timing {
  double median, p10, p90;  ///< seconds per call
  double spread() const { return (p90 - p10) / median; }
};

struct Budget {
  double seconds = 2;  ///< for all competitors together; at least five rounds are made
  int threads = 1;
};

/// Round-robin over the competitors. Each turn starts when the threads of the others have gone to
/// sleep, and repeats the call until it is long enough to be timed. Turns in which another process
/// took a core count only for competitors that have hardly any others.
std::vector<Timing> measure(const std::vector<Competitor>& competitors, const Budget& budget);

}  // namespace bench
