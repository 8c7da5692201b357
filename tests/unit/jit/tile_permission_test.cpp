// Tile registers that the system refuses, each time in a process of its own: who has them once
// keeps them, and hands them to what it forks.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/runtime/tile_permission.hpp>
#include <string>
#include <support/skip.hpp>
#include <vector>

#include "../../support/temp_folder.hpp"
#include "byte_product.hpp"

namespace lt = lathe;

#if defined(__x86_64__) && defined(__linux__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr const char* kRole = "LATHE_TEST_TILE_ROLE";
constexpr const char* kFolder = "LATHE_TEST_TILE_FOLDER";
// Exit statuses: all was as wanted, which nobody returns by chance; there is no way to refuse here.
constexpr int kGood = 42, kNoWay = 77;

/// arch_prctl(ARCH_REQ_XCOMP_PERM, …) fails with EPERM from here on.
bool refuse_requests() {
  constexpr unsigned request = 0x1023;
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, request, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// 2 KB, which have no room for what a signal saves of tile registers.
bool take_small_signal_stack() {
  static char room[2048];
  stack_t stack{};
  stack.ss_sp = room, stack.ss_size = sizeof room;
  return sigaltstack(&stack, nullptr) == 0;
}

/// What it logged, what it gave, and whether it has tiles.
struct Product {
  std::string logged;
  std::vector<std::int32_t> values;
  bool has_tiles = false;

  explicit Product(const std::string& cache_dir, bool interpreted = false) {
    const lt::Context context({.log = [this](lt::LogLevel, std::string_view t) { logged += t; },
                               .log_level = lt::LogLevel::warning,
                               .cache_dir = cache_dir,
                               .llvm = interpreted ? "off" : ""});
    const auto run = test::ByteProduct(64, 64, 128).run({.context = &context});
    values = run.values, has_tiles = run.has("tile_dot");
  }
};

/// Runs the test case "the other process" in a process that has asked for nothing.
int other_process(const char* role, const std::string& folder = {}) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(kRole, role, 1);
    setenv(kFolder, folder.c_str(), 1);
    execl("/proc/self/exe", "unit_jit", "--test-case=tile permission: the other process",
          "--no-intro", "--minimal", nullptr);
    _exit(127);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

TEST_CASE("tile permission: the other process") {
  const std::string role = variable(kRole);
  if (role.empty()) return;  // what the cases below start
  if (role == "refused" && !refuse_requests()) _exit(kNoWay);
  if (role == "small stack" && !take_small_signal_stack()) _exit(kNoWay);
  bool good = true;
  const auto wanted = [&](bool is) {
    CHECK(is);
    good = good && is;
  };
  std::string reason;
  const bool permitted = lt::permit_tiles(reason), has_bytes = lt::host().has("amx-int8");
  if (role == "refused") {
    wanted(reason == "arch_prctl(ARCH_REQ_XCOMP_PERM, 18): Operation not permitted");
  } else if (role == "small stack" && lt::host().has("amx-tile")) {
    wanted(reason.find("a thread's signal stack is too small") != std::string::npos);
  }
  if (lt::Llvm::find()) {
    const Product product(variable(kFolder));
    wanted(product.values == Product({}, true).values);
    wanted(product.has_tiles == (permitted && has_bytes));
    const bool told = product.logged.find("does without tile registers: ") != std::string::npos;
    wanted(told == (has_bytes && !permitted));
  }
  _exit(good ? kGood : 1);
}

TEST_CASE("tile permission: a system that refuses") {
  const int status = other_process("refused");
  if (status == kNoWay) LATHE_SKIP("no system calls can be filtered here");
  CHECK(status == kGood);
}

TEST_CASE("tile permission: a signal stack that is too small") {
  const int status = other_process("small stack");
  if (status == kNoWay) LATHE_SKIP("signal stacks of 2 KB are refused here");
  CHECK(status == kGood);
}

TEST_CASE("tile permission: objects that another process left are asked for anew") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  test::TempFolder folder;
  const Product first(folder.path());
  CHECK(other_process("plain", folder.path()) == kGood);
  const int status = other_process("refused", folder.path());
  if (status == kNoWay) LATHE_SKIP("no system calls can be filtered here");
  CHECK(status == kGood);
}

#endif
