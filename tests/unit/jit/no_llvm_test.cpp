// What is said, and where, when there is no LLVM to compile with.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <string>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <vector>

namespace lt = lathe;

namespace {

/// What f writes to standard error, in a process of its own: some is said once in each.
template <class F>
std::string stderr_of(F f) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::fflush(stderr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::dup2(ends[1], 2);
    f();
    std::fflush(stderr);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string out;
  char part[4096];
  for (ssize_t n; (n = ::read(ends[0], part, sizeof part)) > 0;)
    out.append(part, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  return out;
}

struct Twice {
  lt::Input<float, 1> X{"X", {4}};
  lt::Tensor<float, 1> Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) * 2; });
  auto jit(const lt::Context& context, lt::JitOptions options = {}) const {
    options.context = &context;
    return lt::jit({Y, options}, X, Y);
  }
};

}  // namespace

TEST_CASE("a kernel that is interpreted for want of LLVM says so once on standard error") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");  // which other tests have said by then
  const std::string said = stderr_of([] {
    const lt::Context context(lt::ContextOptions{.llvm = "99"});
    Twice twice;
    if (twice.jit(context).compiled() || twice.jit(context).any().compiled()) ::_exit(1);
  });
  CHECK(said.find("lathe: kernel 'Y' is interpreted: LLVM 99 is not supported: Lathe uses LLVM 16 "
                  "to 22\n") == 0);
  CHECK(said.find("is interpreted", said.find("is interpreted") + 1) == std::string::npos);
}

TEST_CASE("with a log hook it is said there, each time, and nowhere else") {
  CHECK(stderr_of([] {
          int lines = 0;
          const lt::Context context(lt::ContextOptions{
              .log = [&](lt::LogLevel, std::string_view) { ++lines; }, .llvm = "99"});
          Twice twice;
          twice.jit(context), twice.jit(context);
          if (lines != 2) ::_exit(1);
        }) == "");
}

TEST_CASE("require_compiled refuses to interpret") {
  const lt::Context context(lt::ContextOptions{.llvm = "99"});
  Twice twice;
  try {
    twice.jit(context, {.require_compiled = true});
    CHECK(false);
  } catch (const lt::UserError& e) {
    CHECK(e.id() == "L0410");
    CHECK(std::string(e.what()).find("LLVM 99 is not supported: Lathe uses LLVM 16 to 22") !=
          std::string::npos);
    CHECK(std::string(e.where().file).find("no_llvm_test.cpp") != std::string::npos);
  }
  if (lt::Llvm::find())
    CHECK(lt::jit({twice.Y, {.require_compiled = true}}, twice.X, twice.Y).compiled());
}

TEST_CASE("a dump goes to standard error where there is no log hook") {
  Twice twice;
  const std::string said = stderr_of([&] {
    const lt::Context context(lt::ContextOptions{.dump = "flatten"});
    lt::lower(lt::Schedule(twice.Y).program(), lt::host(), {.context = &context});
  });
  CHECK(said.find("after flatten:\nprogram ") == 0);
  CHECK(stderr_of([&] {
          const lt::Context context(
              lt::ContextOptions{.log = [](lt::LogLevel, std::string_view) {}, .dump = "flatten"});
          lt::lower(lt::Schedule(twice.Y).program(), lt::host(), {.context = &context});
        }) == "");
}
