// What the host's hooks throw, and machines and compilers that are not there.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <stdexcept>
#include <string>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <vector>

namespace lt = lathe;
using test::error_of;

namespace {

struct HostError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class F>
std::string host_error_of(F&& f) {
  try {
    f();
  } catch (const HostError& e) {
    return e.what();
  }
  return "none";
}

struct Doubled {
  lt::Dim n{"n"};
  lt::Input<float, 1> X{"X", {n}};
  lt::Tensor<float, 1> Y = lt::compute("Y", {n}, [this](lt::Var i) { return X(i) * 2; });
  lt::Schedule parallel() const {
    lt::Schedule s(Y);
    s.parallel(s.loops(Y)[0]);
    return s;
  }
};

}  // namespace

TEST_CASE("what the host's parallel_for throws comes out of the call") {
  Doubled p;
  std::atomic<int> mode{0};
  lt::Context context({.threads = 4, .parallel_for = [&](std::int64_t n, int, auto body) {
                         if (mode == 1) throw HostError("before");
                         body(0, n / 2);
                         if (mode == 2) throw HostError("between");
                         body(n / 2, n);
                         if (mode == 3) throw HostError("after");
                       }});
  auto f = lt::jit({p.parallel(), {.context = &context}}, p.X, p.Y);
  auto g = lt::evaluate({p.parallel(), {.context = &context}}, p.X, p.Y);
  std::vector<float> x(1000, 1), y(1000);
  const char* words[] = {"none", "before", "between", "after"};
  for (int m : {1, 2, 3, 0}) {
    mode = m;
    if (f.compiled()) CHECK(host_error_of([&] { f(x, y); }) == words[m]);
    CHECK(host_error_of([&] { g(x, y); }) == "none");  // the evaluator runs its loops itself
  }
  CHECK(y[999] == 2);
  CHECK(context.bytes_in_use() == 0);
}

TEST_CASE("what the log hook throws comes out of jit") {
  Doubled p;
  bool angry = true;
  auto log = [&](lt::LogLevel, std::string_view text) {
    if (angry) throw HostError(std::string(text.substr(0, 10)));
  };
  lt::Context context({.log = log, .llvm = "off"});
  auto make = [&] { return lt::jit({p.Y, {.context = &context}}, p.X, p.Y); };
  CHECK(host_error_of([&] { make(); }) == "kernel 'Y'");
  angry = false;
  float x[2] = {1, 2}, y[2] = {};
  make()(x, y);
  CHECK(y[1] == 4);
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context dumping({.log = log, .dump = "all"});
  angry = true;
  CHECK(host_error_of([&] { lt::jit({p.Y, {.context = &dumping}}, p.X, p.Y); }) == "after open");
  angry = false;
  lt::jit({p.Y, {.context = &dumping}}, p.X, p.Y)(x, y);
}

TEST_CASE("an LLVM that is not there, or out of range, is named in the log") {
  Doubled p;
  auto logged = [&](std::string llvm) {
    std::string lines;
    lt::Context context({.log = [&](lt::LogLevel, std::string_view text) { lines += text; },
                         .log_level = lt::LogLevel::warning,
                         .llvm = llvm});
    CHECK_FALSE(lt::jit({p.Y, {.context = &context}}, p.X, p.Y).compiled());
    return lines;
  };
  const std::string start = "kernel 'Y' is interpreted: ";
  CHECK(logged("off") ==
        start + "LLVM is switched off (LATHE_LLVM=off, or the context's option 'llvm')");
  CHECK(logged("14") == start + "LLVM 14 is not supported: Lathe uses LLVM 16 to 22");
  CHECK(logged("99") == start + "LLVM 99 is not supported: Lathe uses LLVM 16 to 22");
  CHECK(logged("/nowhere/libLLVM.so").find(start + "/nowhere/libLLVM.so: ") == 0);
  CHECK(error_of([] { lt::Llvm::get("off"); }) ==
        "L0410 LLVM is needed to make machine code, and there is none");
}

TEST_CASE("targets that this machine is not") {
  Doubled p;
  auto of = [&](lt::Target target) {
    return error_of([&] { lt::jit({p.Y, {.target = target}}, p.X, p.Y); });
  };
#if defined(__x86_64__)
  CHECK(of(lt::Target("neoverse-v1")) ==
        "L0312 code for 'neoverse-v1' does not run on this machine: code for aarch64 does not run "
        "on x86_64");
#endif
  CHECK(of(lt::cuda("sm_90")).find("L0312 code for 'sm_90' does not run on this machine: ") == 0);
  CHECK(error_of([] { lt::Target("z80"); }) == "L0404 Target: unknown machine 'z80'");
  CHECK(error_of([] { lt::cuda("sm_1"); }) == "L0404 cuda: unknown architecture 'sm_1'");
  CHECK(error_of([] { lt::Target("x86-64-v3").with("sve"); }) ==
        "L0405 Target: x86_64 has no instruction set 'sve'");
}

TEST_CASE("an argument that is undefined") {
  Doubled p;
  lt::Schedule s(p.Y);
  CHECK(error_of([&] { lt::jit_any(s, {lt::ProgramParam(lt::AnyTensor())}); }) ==
        "L0116 argument 0 is an undefined tensor");
  CHECK(error_of([&] { lt::jit_any(lt::Program(), {}); }) == "L0116 a program needs an output");
  CHECK(error_of([&] { lt::jit_any(s, {p.X, p.X, p.Y}); }) == "L0310 'X' is given twice");
  CHECK(error_of([&] {
          lt::jit_any(s, {{p.X, p.Y}});
        }) == "L0310 'X' is not declared inout in program 'Y'");
}

TEST_CASE("loops are planned for the threads of a context") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  if (lt::host().cores < 2) LATHE_SKIP("one processor");
  lt::Input<float, 1> x("x", {700});
  lt::Input<float, 2> A("A", {700, 3000});
  lt::Reduce r("r", 700);
  auto y = lt::compute("y", {3000}, [&](lt::Var j) { return lt::sum(x(r) * A(r, j), r); });
  lt::Context one({.threads = 1}), two({.threads = 2});
  const auto text = [&](const lt::JitOptions& options) {
    return lt::jit({y, options}, x, A, y).lowered().str();
  };
  lt::Target single = lt::host();
  single.cores = 1;
  const std::string alone = text({.context = &one});
  CHECK(alone == text({.context = &two, .target = single}));
  CHECK(alone != text({.context = &two}));
}
