// C source of kernels: that a C compiler takes it, and that it computes what the evaluator does.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <lathe/lathe.hpp>
#include <lathe/runtime/abi.hpp>
#include <string>
#include <support/text.hpp>
#include <vector>

#include "../../support/skip.hpp"

namespace lt = lathe;
using test::has;

namespace {

using Entry = std::int32_t (*)(const std::uint64_t*, lt::RuntimeTable*);

bool has_compiler() { return std::system("cc --version > /dev/null 2>&1") == 0; }

/// The function of that name; its library stays loaded.
Entry compiled(const std::string& text, const char* name) {
  char folder[] = "/tmp/lathe_to_c_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string source = std::string(folder) + "/k.c", library = std::string(folder) + "/k.so";
  std::ofstream(source) << text;
  INFO(text);
  const std::string command = "cc -std=c11 -O2 -Wall -Wextra -Wno-unused -Werror -shared -fPIC " +
                              source + " -o " + library + " -lm";
  REQUIRE(std::system(command.c_str()) == 0);
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  std::remove(source.c_str()), std::remove(library.c_str()), rmdir(folder);
  void* entry = dlsym(handle, name);
  REQUIRE(entry != nullptr);
  return reinterpret_cast<Entry>(entry);
}

std::string refused(const lt::Source& source) {
  try {
    lt::to_c(source);
    return "accepted";
  } catch (const lt::UserError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a softmax as C computes what the evaluator does, with a host and without one") {
  if (!has_compiler()) LATHE_SKIP("no C compiler");
  const int m = 37, n = 51;
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n), q("q", n);
  auto M = lt::compute("M", {m}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto E = lt::compute("E", {m, n}, [&](lt::Var i, lt::Var j) { return lt::exp(X(i, j) - M(i)); });
  auto S = lt::compute("S", {m}, [&](lt::Var i) { return lt::sum(E(i, q), q); });
  auto Y = lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return E(i, j) / S(i); });
  const lt::Schedule s = lt::default_schedule(Y, lt::Target("x86-64-v3"));
  const Entry entry = compiled(lt::to_c({s, {.target = lt::Target("x86-64-v3")}}), "lathe_Y");
  const lt::Program lowered =
      lt::lower(s.program(), lt::Target("x86-64-v3"), {.language = lt::Language::c});
  std::vector<float> x(m * n), want(x.size()), got(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k * 7919 % 1000) / 100 - 5;
  auto slots = [&](std::vector<float>& y) {
    return std::vector<std::uint64_t>{lt::to_slot(x.data()), lt::to_slot(y.data()), n, n};
  };
  lt::Evaluator(lowered).run(slots(want).data());
  REQUIRE(entry(slots(got).data(), nullptr) == 0);
  CHECK(got == want);
  got.assign(got.size(), 0);
  lt::CallFrame frame(lt::Context::default_context());
  REQUIRE(entry(slots(got).data(), frame.rt()) == 0);
  CHECK(got == want);
}

TEST_CASE("a kernel of several versions is C with all of them, and the one that Dims allow runs") {
  if (!has_compiler()) LATHE_SKIP("no C compiler");
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(i) * 2.0f; });
  lt::Schedule by_8(Y), exact(Y), any(Y);
  by_8.assume(n % 8 == 0);
  by_8.vectorize(by_8.split<2>(by_8.loops<1>(Y)[0], {lt::infer, 8})[1]);
  exact.assume(n == 3);
  exact.unroll(exact.loops<1>(Y)[0]);
  any.parallel(any.loops<1>(Y)[0]);
  const lt::Source all = lt::versions({exact, by_8, any});
  const std::string text = lt::to_c(all);
  const lt::AnyKernel kernel = lt::jit_any(all, {});
  if (kernel.compiled()) CHECK(lt::to_c(kernel) == text);
  CHECK(has(text, "parallel_for"));
  const Entry entry = compiled(text, "lathe_Y");
  for (std::int64_t size : {3, 16, 7, 0}) {
    std::vector<float> x(static_cast<std::size_t>(size), 1.5f), y(x.size(), 0);
    const std::uint64_t slots[] = {lt::to_slot(x.data()), lt::to_slot(y.data()), lt::to_slot(size)};
    REQUIRE(entry(slots, nullptr) == 0);
    CHECK(y == std::vector<float>(y.size(), 3));
  }
}

TEST_CASE("C source says what its slots are and what it returns") {
  lt::Dim n("n");
  lt::Input<double, 1> X("X", {n});
  lt::Input<std::int32_t, 0> s("s", {});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(i) / lt::cast<double>(s()); });
  const std::string text = lt::to_c(Y);
  CHECK(has(text, "int32_t lathe_Y(const uint64_t *slots, lathe_runtime *rt)"));
  CHECK(has(text, "the elements of X, f64"));
  CHECK(has(text, "the extent n"));
  CHECK(has(text, "the number s, i32, in its low bytes"));
  CHECK(has(text, "returns 0; 1: no memory"));
  CHECK(lt::to_c(lt::evaluate(Y, X, s, Y)) == text);
}

TEST_CASE("what C cannot say is refused") {
  const lt::Program machine = lt::parse(
      "program d(in a: u8[64], in b: i8[64], out r: i32[16]) stage machine:\n"
      "  r[ramp(0, 1, 16)] = dot4(broadcast(0i32, 16), a[ramp(0, 1, 64)], b[ramp(0, 1, 64)])\n");
  const std::string text = refused(machine);
  CHECK(has(text,
            "error[L0622] to_c: C cannot say what program 'd' was lowered to: a call that the "
            "target does not have"));
  CHECK(has(text, "help: give the program as it was before lowering"));
  lt::Input<float, 1> X("X", {8});
  auto Y = lt::compute("Y", {8}, [&](lt::Var i) { return X(i) + 1.0f; });
  CHECK(has(refused({Y, {.target = lt::cuda("sm_90")}}), "error[L0620] to_c: 'sm_90' is no CPU"));
  CHECK_THROWS_AS(lt::to_c(lt::AnyKernel()), lt::UserError);
}
