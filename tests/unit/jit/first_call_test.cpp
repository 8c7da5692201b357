// Promised constants: what the first call computes, whoever makes it.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lathe/jit/constant_shelf.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <string>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <thread>
#include <vector>

#include "packed_product.hpp"

namespace lt = lathe;
using namespace test::packed;
using test::error_of;

TEST_CASE("the first call computes what promised inputs decide") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Pages pages;
  const auto p = promised();
  {
    const LateProduct f = lt::jit({p.schedule(p.C), {.context = &pages.context}}, p.A, p.W, p.C);
    CHECK(pages.given == 0);
    CHECK(run(f) == expected());
    CHECK(pages.given == 1);
    pages.close();
    CHECK(run(f) == expected());
    pages.open();
    // Who knows the same elements before any call shares the copy.
    const auto q = known();
    const Product g = lt::jit({q.schedule(q.C), {.context = &pages.context}}, q.A, q.C);
    CHECK(run(g) == expected());
    CHECK(pages.given == 1);
    CHECK(lt::ConstantShelf::of(pages.context).size() == 1);
  }
  CHECK(pages.all.empty());
}

TEST_CASE("a promised input may have gaps between its rows") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const auto p = promised();
  const LateProduct f = lt::jit({p.schedule(p.C), {.checked = true}}, p.A, p.W, p.C);
  Values wide(kDepth * (kColumns + 3)), c(kRows * kColumns);
  for (std::int64_t k = 0; k < kDepth * kColumns; ++k)
    wide[static_cast<std::size_t>(k / kColumns * (kColumns + 3) + k % kColumns)] =
        w[static_cast<std::size_t>(k)];
  f(rows, lt::View<const float, 2>(wide.data(), {kDepth, kColumns}, {kColumns + 3, 1}),
    lt::view(c, {kRows, kColumns}));
  CHECK(c == expected());
  CHECK(run(f) == expected());
}

TEST_CASE("checked kernels find a broken promise, compiled or not") {
  const auto p = promised();
  const std::string broken =
      "L0318 kernel 'C': 'W' is constant, but its elements are not those of the first call";
  const auto check = [&](const LateProduct& f) {
    CHECK(run(f) == expected());
    Values other = w;
    CHECK(run(f, other) == expected());
    other.back() += 1.0f;
    CHECK(error_of([&] { run(f, other); }) == broken);
    CHECK(run(f) == expected());
  };
  check(lt::jit({p.schedule(p.C), {.checked = true}}, p.A, p.W, p.C));
  check(lt::jit({p.C, {.checked = true}}, p.A, p.W, p.C));
  check(lt::evaluate({p.C, {.checked = true}}, p.A, p.W, p.C));
}

TEST_CASE("threads that meet at the first call compute it once") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Pages pages;
  const auto p = promised();
  const Values want = expected();
  for (const bool checked : {false, true}) {
    const int before = pages.given;
    const LateProduct f =
        lt::jit({p.schedule(p.C), {.context = &pages.context, .checked = checked}}, p.A, p.W, p.C);
    std::vector<Values> got(4);
    std::vector<std::thread> threads;
    for (Values& own : got)
      threads.emplace_back([&] {
        for (int call = 0; call < 3; ++call) own = run(f);
      });
    for (std::thread& t : threads) t.join();
    for (const Values& own : got) CHECK(own == want);
    CHECK(pages.given == before + 1);
  }
}

TEST_CASE("threads that make kernels of one layout at once share it") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Pages pages;
  const Values want = expected();
  {
    std::vector<Product> kernels(4);
    std::vector<std::thread> threads;
    for (Product& own : kernels)
      threads.emplace_back([&] {
        const auto p = known();
        own = lt::jit({p.schedule(p.C), {.context = &pages.context}}, p.A, p.C);
      });
    for (std::thread& t : threads) t.join();
    for (const Product& own : kernels) CHECK(run(own) == want);
    CHECK(pages.given == 1);
  }
  CHECK(pages.all.empty());
}

TEST_CASE("a child that is forked before the first call, or after it, makes calls of its own") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const auto p = promised();
  const Values want = expected();
  const LateProduct f = lt::jit(p.schedule(p.C), p.A, p.W, p.C);
  for (int call = 0; call < 2; ++call) {
    const pid_t child = fork();
    if (child == 0) _exit(run(f) == want && run(f) == want ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(run(f) == want);
  }
}
