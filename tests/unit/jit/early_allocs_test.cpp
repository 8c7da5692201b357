// Temporaries that the iterations of a loop share one after the other: how often they are
// allocated.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <string>
#include <support/errors.hpp>
#include <vector>

#include "../../support/skip.hpp"

namespace lt = lathe;
using test::error_of;

namespace {

/// Counts allocations, and refuses them from number `left` on.
struct Counted {
  int made = 0, live = 0, left = -1;
  lt::Context context{{.threads = 1,
                       .allocate = [this](std::size_t bytes, std::size_t alignment) -> void* {
                         if (left >= 0 && made >= left) return nullptr;
                         ++made, ++live;
                         return std::aligned_alloc(alignment,
                                                   (bytes + alignment - 1) / alignment * alignment);
                       },
                       .deallocate = [this](void* p, std::size_t) { --live, std::free(p); }}};
};

/// Rows turned round: Y(i, j) = 2 * X(i, n - 1 - j), by a copy of each row.
struct Turned {
  lt::Dim m{"m"}, n{"n"};
  lt::Input<float, 2> X{"X", {m, n}};
  lt::Tensor<float, 2> P =
      lt::compute("P", {m, n}, [this](lt::Var i, lt::Var j) { return X(i, j) * 2; });
  lt::Tensor<float, 2> Y =
      lt::compute("Y", {m, n}, [this](lt::Var i, lt::Var j) { return P(i, n - 1 - j); });

  lt::Schedule by_rows(bool parallel) const {
    lt::Schedule s(Y);
    const lt::LoopRef row = s.loops("Y")[0];
    s.compute_at("P", row);
    if (parallel) s.parallel(row);
    return s;
  }
};

}  // namespace

TEST_CASE("a temporary of each row is allocated once, in serial and in parallel loops") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Turned p;
  for (const bool parallel : {false, true}) {
    Counted memory;
    auto f = lt::jit({p.by_rows(parallel), {.context = &memory.context}}, p.X, p.Y);
    for (const int m : {0, 1, 2, 30}) {
      const int n = 5;
      std::vector<float> x(static_cast<std::size_t>(m * n)), y(x.size()), want(x.size());
      for (int k = 0; k < m * n; ++k) x[static_cast<std::size_t>(k)] = static_cast<float>(k);
      for (int k = 0; k < m * n; ++k)
        want[static_cast<std::size_t>(k)] = static_cast<float>(2 * (k / n * n + n - 1 - k % n));
      memory.made = 0;
      f(lt::view(x, {m, n}), lt::view(y, {m, n}));
      CHECK(y == want);
      CHECK(memory.made == (m > 0 ? 1 : 0));
      CHECK(memory.live == 0);
    }
  }
}

TEST_CASE("one that can't be allocated before its loop fails as one inside does") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Turned p;
  for (const bool parallel : {false, true}) {
    Counted memory;
    auto f = lt::jit({p.by_rows(parallel), {.context = &memory.context}}, p.X, p.Y);
    std::vector<float> x(12, 1), y(12, -1);
    memory.made = 0, memory.left = 0;
    CHECK(error_of([&] {
            f(lt::view(x, {3, 4}), lt::view(y, {3, 4}));
          }) == "L0406 kernel 'Y': no memory for its temporaries");
    CHECK(y == std::vector<float>(12, -1));
    memory.left = -1;
    f(lt::view(x, {3, 4}), lt::view(y, {3, 4}));
    CHECK(y == std::vector<float>(12, 2));
    CHECK(memory.live == 0);
  }
}

TEST_CASE("a temporary whose size an iteration says is allocated in each") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const lt::Program program = lt::parse(R"(
program Y<n>(in X: f32[n], out Y: f32[n]) scheduled:
  for i in 0..n:
    alloc P: f32[i + 1]
    for j in 0..i + 1:
      block P(vi in 0..n = i, vj in 0..vi + 1 = j):
        P[vj] = X[vj] * 2.0
    block Y(vi in 0..n = i):
      Y[vi] = P[vi] + P[0]
)");
  Counted memory;
  const lt::AnyKernel f = lt::jit_any({program, {.context = &memory.context}}, {});
  std::vector<float> x{1, 2, 3, 4}, y(4);
  memory.made = 0;
  const lt::View<float, 1> in = lt::view(x), out = lt::view(y);
  f(std::array{lt::AnyView(in), lt::AnyView(out)});
  CHECK(y == std::vector<float>{4, 6, 8, 10});
  CHECK(memory.made == 4);
}
