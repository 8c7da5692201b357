// What is printed if the process dies in a case or hangs.
#pragma once

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace fuzz {

inline std::string current_case, case_name;
inline std::string current_step;  ///< the primitive that is being tried

extern "C" inline void on_crash(int number) {
  const char* name = number == SIGPROF ? "\nFAIL hang\n" : "\nFAIL crash\n";
  (void)!write(1, name, std::strlen(name));
  (void)!write(1, current_case.data(), current_case.size());
  (void)!write(1, current_step.data(), current_step.size());
  _exit(3);
}

/// Seconds of processor time that a case may take; a process that is stopped for a while does not
/// hang.
inline void start_clock(int seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

}  // namespace fuzz
