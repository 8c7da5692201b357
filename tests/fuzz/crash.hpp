// What a failure is, and what becomes of a case that faults or hangs.
#pragma once

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace fuzz {

/// A failed property, with its class: shrinking keeps the class.
struct Failure : std::runtime_error {
  Failure(std::string its_kind, const std::string& what)
      : std::runtime_error(what), kind(std::move(its_kind)) {}
  std::string kind;
};

inline std::string current_case, case_name;
inline std::string current_step;  ///< the primitive that is being tried

inline sigjmp_buf after_crash;
inline volatile sig_atomic_t survives = 0;
inline const pthread_t main_thread = pthread_self();

extern "C" inline void on_crash(int number) {
  if (survives && number != SIGPROF && pthread_equal(main_thread, pthread_self())) {
    survives = 0;
    siglongjmp(after_crash, number);
  }
  const char* name = number == SIGPROF ? "\nFAIL hang\n" : "\nFAIL crash\n";
  (void)!write(1, name, std::strlen(name));
  (void)!write(1, current_case.data(), current_case.size());
  (void)!write(1, current_step.data(), current_step.size());
  _exit(3);
}

/// Runs what may fault on this thread: then it is a Failure like any other, and shrinks. What the
/// body had allocated is lost.
template <class Body>
void survive(const char* what, Body body) {
  const int number = sigsetjmp(after_crash, 1);
  if (number != 0) throw Failure("crash", std::string(what) + " ends with " + strsignal(number));
  struct Armed {
    Armed() { survives = 1; }
    ~Armed() { survives = 0; }
  } armed;
  body();
}

/// Seconds of processor time that a case may take; a process that is stopped for a while does not
/// hang.
inline void start_clock(int seconds) {
  itimerval limit{};
  limit.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

}  // namespace fuzz
