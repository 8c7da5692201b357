// How text is compiled in a child process, so that an abort of LLVM is an error here.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <lathe/runtime/impl/llvm.ipp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// Two ends of a pipe that close themselves.
struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return ::pipe(ends) == 0; }
  void close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() { close(0), close(1); }
};

inline bool write_all(int file, const char* bytes, std::size_t size) {
  while (size > 0) {
    auto n = ::write(file, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n, size -= static_cast<std::size_t>(n);
  }
  return true;
}

/// Reads both pipes to their ends; false if `seconds` pass first.
inline bool read_both(Pipe (&pipes)[2], std::string (&texts)[2], double seconds) {
  double end = seconds_now() + seconds;
  while (pipes[0].ends[0] >= 0 || pipes[1].ends[0] >= 0) {
    double left = end - seconds_now();
    if (left <= 0) return false;
    pollfd waits[2] = {{pipes[0].ends[0], POLLIN, 0}, {pipes[1].ends[0], POLLIN, 0}};
    if (::poll(waits, 2, static_cast<int>(left * 1000) + 1) < 0 && errno != EINTR) return false;
    for (int i = 0; i < 2; ++i) {
      if (!waits[i].revents) continue;
      char buffer[4096];
      auto n = ::read(pipes[i].ends[0], buffer, sizeof buffer);
      if (n > 0)
        texts[i].append(buffer, static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR)
        pipes[i].close(0);
    }
  }
  return true;
}

/// In the child: the object after 'O', or the error's words after 'E'. What LLVM prints goes into
/// the second pipe.
template <class Compile>
[[noreturn]] void run_child(Pipe (&pipes)[2], Compile compile) {
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::dup2(pipes[1].ends[1], 2);
  ::dup2(pipes[1].ends[1], 1);
  std::string answer;
  try {
    Vec<char> object = compile();
    answer.assign(1, 'O').append(object.data(), object.size());
  } catch (const std::exception& e) {
    answer = cat('E', e.what());
  }
  ::_exit(write_all(pipes[0].ends[1], answer.data(), answer.size()) ? 0 : 1);
}

/// fork() while no other thread is inside LLVM: the child has only this thread, and locks stay as
/// they were.
inline pid_t fork_outside_llvm() {
  auto& in_use = LlvmRegistry::instance().in_use;
  ::pthread_rwlock_wrlock(&in_use);
  pid_t child = ::fork();
  if (child == 0)
    ::pthread_rwlock_init(&in_use, nullptr);
  else
    ::pthread_rwlock_unlock(&in_use);
  return child;
}

inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

template <class Compile>
Vec<char> compile_in_child(double seconds, Compile compile) {
  Pipe pipes[2];
  if (!pipes[0].open() || !pipes[1].open()) throw InternalError("isolated compilation: no pipe");
  pid_t child = fork_outside_llvm();
  if (child < 0) throw InternalError("isolated compilation: no process");
  if (child == 0) run_child(pipes, compile);
  for (auto& pipe : pipes) pipe.close(1);
  std::string texts[2];
  bool in_time = read_both(pipes, texts, seconds);
  if (!in_time) ::kill(child, SIGKILL);
  int status = wait_for(child);
  const auto& answer = texts[0];
  if (!in_time) throw InternalError(cat("isolated compilation: not done after ", seconds, " s"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !answer.empty()) {
    if (answer[0] == 'O') return Vec<char>(answer.begin() + 1, answer.end());
    throw InternalError("isolated compilation: " + answer.substr(1));
  }
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  throw InternalError(
      cat("isolated compilation: LLVM ended its process (signal ", signal, "): ", texts[1]));
}

}  // namespace detail
}  // namespace lathe
