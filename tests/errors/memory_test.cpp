// Memory that runs out anywhere: every allocation of each step fails once.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <lathe/lathe.hpp>
#include <lathe/lower/pipeline.hpp>
#include <new>
#include <support/errors.hpp>

namespace lt = lathe;

namespace {
// Allocations of this thread until one fails; below 0: none does.
thread_local long allocations_left = -1;
}  // namespace

void* operator new(std::size_t bytes) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

/// Runs step with its first allocation failing, then its second, … until it gets them all. Each
/// failure is an L0408 (where the arguments of the step are made, still the language's own
/// exception), after which unchanged() holds. Gives the number of the former.
template <class Step, class Unchanged>
int fail_each(Step step, Unchanged unchanged) {
  int refused = 0;
  for (int k = 0;; ++k) {
    std::string error = "none";
    allocations_left = k;
    try {
      step();
    } catch (const lt::UserError& e) {
      allocations_left = -1;
      error = e.id() == "L0408" ? e.id() : e.what();
    } catch (const std::bad_alloc&) {
      allocations_left = -1;
      error = "bad_alloc";
    }
    allocations_left = -1;
    if (error == "none") return refused;
    const bool no_memory = error == "L0408" || error == "bad_alloc";
    CAPTURE(error);
    REQUIRE(no_memory);
    refused += error == "L0408";
    CHECK(unchanged());
  }
}

struct Product {
  lt::Dim n{"n"};
  lt::Input<float, 2> A{"A", {n, 8}}, B{"B", {8, n}};
  lt::Reduce r{"r", 8};
  lt::Tensor<float, 2> C = lt::compute(
      "C", {n, n}, [this](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  lt::Tensor<float, 2> D =
      lt::compute("D", {n, n}, [this](lt::Var i, lt::Var j) { return lt::max(C(i, j), 0.0f); });
};

}  // namespace

TEST_CASE("programs and their text") {
  Product p;
  auto always = [] { return true; };
  CHECK(fail_each([&] { lt::program_of(p.D); }, always) > 20);
  const std::string text = lt::str(lt::program_of(p.D));
  CHECK(fail_each([&] { lt::parse(text); }, always) > 20);
  CHECK(fail_each(
            [&] {
              lt::compute_any("Y", {lt::Extent(4)}, [&](std::span<const lt::VarRef> at) {
                return lt::AnyValue(p.A.at({at[0], at[0] + 1}) * p.B.at({at[0], 0}));
              });
            },
            always) > 10);
}

TEST_CASE("each step of a schedule leaves it as it was") {
  Product p;
  lt::Schedule start(p.D);
  auto check = [&](auto step) {
    lt::Schedule s = start;
    const std::string before = s.str();
    const std::size_t steps = s.trace().entries.size();
    const int failures = fail_each(
        [&] { step(s); }, [&] { return s.str() == before && s.trace().entries.size() == steps; });
    CHECK(failures > 10);
    CHECK(s.str() != before);
  };
  const auto c = start.loops(p.C), d = start.loops(p.D);
  check([&](lt::Schedule& s) { s.split_any(c[0], {lt::infer, 4}); });
  check([&](lt::Schedule& s) { s.fuse(c[0], c[1]); });
  check([&](lt::Schedule& s) { s.reorder({c[2], c[0]}); });
  check([&](lt::Schedule& s) { s.tile(d[0], d[1], 4, 8); });
  check([&](lt::Schedule& s) { s.parallel(d[0]); });
  check([&](lt::Schedule& s) { s.unroll(c[2]); });
  check([&](lt::Schedule& s) { s.reverse_compute_at(p.D, c[0]); });
  check([&](lt::Schedule& s) { s.cache_read(p.C, p.A, lt::Scope::global); });
  check([&](lt::Schedule& s) { s.cache_write(p.C, lt::Scope::local); });
  check([&](lt::Schedule& s) { s.decompose_reduction(p.C, c[2]); });
  check([&](lt::Schedule& s) { s.rfactor(c[2]); });
}

TEST_CASE("kernels of the evaluator, and calls") {
  Product p;
  lt::Context context({.threads = 1, .llvm = "off"});
  auto always = [] { return true; };
  CHECK(fail_each([&] { lt::evaluate({p.D, {.context = &context}}, p.A, p.B, p.D); }, always) > 50);
  CHECK(fail_each([&] { lt::jit({p.D, {.context = &context}}, p.A, p.B, p.D); }, always) > 50);
  auto f = lt::evaluate({p.D, {.context = &context}}, p.A, p.B, p.D);
  std::array<float, 32> a{}, b{};
  std::array<float, 16> d{};
  a.fill(1), b.fill(2);
  auto call = [&] { f(lt::view(a, {4, 8}), lt::view(b, {8, 4}), lt::view(d, {4, 4})); };
  CHECK(fail_each(call, [&] { return context.bytes_in_use() == 0; }) > 1);
  CHECK(d[15] == 16);
}

TEST_CASE("lowering") {
  Product p;
  lt::Context context;
  lt::Program program = lt::Schedule(p.D).program();
  for (int k = 0, failures = 1; failures > 0 && k < 100000; k += 1 + k / 50) {
    allocations_left = k;
    failures = 0;
    try {
      lt::lower(program, lt::Target("x86-64-v3"), {.context = &context});
    } catch (const std::bad_alloc&) {
      failures = 1;
    }
    allocations_left = -1;
  }
  CHECK(lt::lower(program, lt::Target("x86-64-v3"), {.context = &context})->stage ==
        lt::Stage::machine);
}
