// Programs that jit has seen before: found without planning, and told apart from all others.
#include <doctest/doctest.h>

#include <lathe/jit/code_cache.hpp>
#include <lathe/jit/constant_shelf.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <string>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <thread>
#include <vector>

#include "planner.hpp"

namespace lt = lathe;
using namespace test::planner;
using test::error_of;

TEST_CASE("the same tensors are planned once") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Planner p;
  const Window w;
  const Map f = w.kernel({.context = &p.context});
  CHECK(p.plans == 1);
  const Map g = w.kernel({.context = &p.context});
  CHECK(p.plans == 1);
  CHECK(f.any().code() == g.any().code());
  CHECK(w.fits(f));
  CHECK(w.fits(g));
  CHECK(p.recipes().calls() == 1);
  // A program object, too.
  const lt::Program program = lt::program_of(w.Y);
  const auto from_program = [&] { return lt::jit_any({program, {.context = &p.context}}, {}); };
  CHECK(from_program().code() == f.any().code());
  CHECK(p.recipes().calls() == 2);
  CHECK(from_program().code() == f.any().code());
  CHECK(p.recipes().calls() == 2);
  CHECK(p.plans == 1);
}

TEST_CASE("a program that is built anew is planned once, and its kernels tell the same") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Planner p;
  const lt::JitOptions options{.context = &p.context, .math = lt::Math::fast};
  const auto kernel = [&] {
    lt::Input<float, 1> X("X", {64});
    const auto Y = lt::compute("Y", {64}, [&](lt::Var i) { return lt::exp(X(i)) / 3.0f; });
    return lt::jit({Y, options}, X, Y);
  };
  const Map f = kernel(), g = kernel();
  CHECK(p.plans == 1);
  CHECK(!f.numerics().empty());
  CHECK(f.numerics() == g.numerics());
  CHECK(f.program().str() == g.program().str());
  CHECK(f.scheduled().str() == g.scheduled().str());
  CHECK(f.lowered().str() == g.lowered().str());
  CHECK(f.llvm_ir() == g.llvm_ir());
  CHECK(f.assembly() == g.assembly());
  Values x(64, 0.5f), y(64), z(64);
  f(x, y), g(x, z);
  CHECK(y == z);
}

TEST_CASE("what a program says tells it from others") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Planner p;
  const Names others[] = {{},
                          {.x = "V"},
                          {.y = "Z"},
                          {.reduce = "s"},
                          {.n = 9},
                          {.k = 4},
                          {.factor = 3.0f},
                          {.input = {.layout = lt::any_stride}},
                          {.input = {.constant = true}}};
  std::size_t known = 0;
  for (const Names& names : others) {
    const Window w(names);
    const Map f = w.kernel({.context = &p.context});
    CHECK(p.recipes().programs() == ++known);
    CHECK(f.program()->params[0].name() == names.x);
    CHECK(f.program()->name == names.y);
    CHECK(w.fits(f));
    CHECK(w.fits(Window(names).kernel({.context = &p.context})));
    CHECK(p.recipes().programs() == known);
  }
}

TEST_CASE("the order of arguments is the caller's") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Planner p;
  lt::Input<float, 1> A("A", {4}), B("B", {4});
  const auto D = lt::compute("D", {4}, [&](lt::Var i) { return A(i) - B(i); });
  const lt::JitOptions options{.context = &p.context};
  const lt::Program program = lt::program_of(lt::AnyTensor(D));
  const Values five(4, 5.0f), three(4, 3.0f);
  Values d(4);
  for (int round = 0; round < 2; ++round) {
    lt::jit({D, options}, A, B, D)(five, three, d);
    CHECK(d == Values(4, 2.0f));
    lt::jit({D, options}, B, A, D)(five, three, d);
    CHECK(d == Values(4, -2.0f));
    lt::jit({D, options}, D, A, B)(d, five, three);
    CHECK(d == Values(4, 2.0f));
    lt::jit({program, options}, A, B, D)(five, three, d);
    CHECK(d == Values(4, 2.0f));
    lt::jit({program, options}, B, A, D)(five, three, d);
    CHECK(d == Values(4, -2.0f));
  }
}

TEST_CASE("every option that decides code, or what a call may be, is told apart") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Planner p;
  const Window w;
  const auto options = [&](auto change) {
    lt::JitOptions out{.context = &p.context};
    change(out);
    return out;
  };
  const lt::JitOptions all[] = {
      options([](auto&) {}),
      options([](auto& o) { o.strict = true; }),
      options([](auto& o) { o.checked = true; }),
      options([](auto& o) { o.math = lt::Math::fast; }),
      options([](auto& o) { o.math = lt::Math::accurate; }),
      options([](auto& o) { o.strides = lt::Strides::dense; }),
      options([](auto& o) { o.strides = lt::Strides::both; }),
      options([](auto& o) { o.require_compiled = true; }),
      options([](auto& o) { o.target = lt::Target("x86-64-v2"); }),
      options([](auto& o) {
        o.target = lt::host();
        o.target->l2_bytes /= 2;
      }),
  };
  std::size_t known = 0;
  for (const lt::JitOptions& one : all) {
    if (one.target && !one.target->runs_on(lt::host())) continue;
    ++known;
    for (int round = 0; round < 2; ++round) {
      CHECK(w.fits(w.kernel(one)));
      CHECK(w.fits(Window().kernel(one)));
    }
    CHECK(p.recipes().programs() == known);
  }
  // The host by name is the host.
  CHECK(w.fits(w.kernel(options([](auto& o) { o.target = lt::host(); }))));
  CHECK(p.recipes().programs() == known);
}

TEST_CASE("an unread input is refused also where it was allowed before") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  lt::Input<float, 1> X("X", {4}), V("V", {4});
  const auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) + 1.0f; });
  const auto make = [&](lt::UnreadInputs unread) {
    return lt::jit({Y, {.context = &context, .unread_inputs = unread}}, X, V, Y);
  };
  make(lt::UnreadInputs::allow);
  CHECK(error_of([&] { make(lt::UnreadInputs::refuse); }).substr(0, 5) == "L0316");
  CHECK(error_of([&] { lt::jit({Y, {.context = &context}}, X, V, Y); }).substr(0, 5) == "L0316");
}

TEST_CASE("views with gaps are served, or refused, as the kernel's own option says") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  lt::Input<float, 2> X("X", {3, 4});
  const auto Y = lt::compute("Y", {3, 4}, [&](lt::Var i, lt::Var j) { return X(i, j) + 1.0f; });
  Values x(18, 1.0f), y(12);
  const lt::View<const float, 2> gaps(x.data(), {3, 4}, {6, 1});
  for (int round = 0; round < 2; ++round) {
    for (const auto strides : {lt::Strides::both, lt::Strides::late}) {
      y.assign(12, 0.0f);
      lt::jit({Y, {.context = &context, .strides = strides}}, X, Y)(gaps, lt::view(y, {3, 4}));
      CHECK(y == Values(12, 2.0f));
    }
    const auto dense = lt::jit({Y, {.context = &context, .strides = lt::Strides::dense}}, X, Y);
    CHECK(error_of([&] { dense(gaps, lt::view(y, {3, 4})); }).substr(0, 5) == "L0305");
  }
}

TEST_CASE("a layout that is declared is another program's") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  Values x(18, 1.0f), y(12);
  const lt::View<const float, 2> gaps(x.data(), {3, 4}, {6, 1});
  const auto call = [&](lt::Layout layout) {
    lt::Input<float, 2> X("X", {3, 4}, layout);
    const auto Y = lt::compute("Y", {3, 4}, [&](lt::Var i, lt::Var j) { return X(i, j) + 1.0f; });
    lt::jit({Y, {.context = &context}}, X, Y)(gaps, lt::view(y, {3, 4}));
  };
  for (int round = 0; round < 2; ++round) {
    CHECK(error_of([&] { call(lt::Layout::row_major); }) == "none");
    CHECK(error_of([&] { call(lt::any_stride); }) == "none");
    CHECK(error_of([&] { call(lt::dense); }).substr(0, 5) == "L0305");
    CHECK(error_of([&] { call(lt::col_major); }).substr(0, 5) == "L0305");
  }
  CHECK(lt::CodeCache::of(context).recipes().programs() == 4);
}

TEST_CASE("kernels of one recipe have the constants of their own programs") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Planner p;
  const Values ones(4, 1.0f);
  // U is computed once; W itself is read by each call, or by none.
  const auto kernel = [&](float first, bool keep) {
    const auto W = lt::constant("W", Values{first, 2, 3, 4}, {4});
    lt::Input<float, 1> X("X", {4});
    const auto U = lt::compute("U", {4}, [&](lt::Var i) { return W(3 - i) * W(i); });
    const auto Y = lt::compute("Y", {4}, [&](lt::Var i) {
      const auto y = X(i) + U(3 - i);
      return keep ? y * W(i) : y + 0.0f;
    });
    return lt::jit({Y, {.context = &p.context}}, X, Y);
  };
  const auto result = [&](const Map& f) {
    Values y(4);
    f(ones, y);
    return y;
  };
  for (const bool keep : {false, true}) {
    const int before = p.plans;
    const Map f = kernel(1, keep);
    const int first = p.plans;
    const Map g = kernel(5, keep), h = kernel(1, keep);
    CHECK(first > before);
    CHECK(p.plans == first);
    REQUIRE(f.once().size() == 1);
    CHECK(g.once()[0].str() == f.once()[0].str());
    CHECK(f.any().code() == g.any().code());
    CHECK(result(f) == (keep ? Values{5, 14, 21, 20} : Values{5, 7, 7, 5}));
    CHECK(result(g) == (keep ? Values{105, 14, 21, 84} : Values{21, 7, 7, 21}));
    CHECK(result(h) == result(f));
    const lt::ConstantRef own = g.program()->params[2].content;
    REQUIRE(own);
    CHECK((own->data() != nullptr) == keep);
    CHECK(!(own->hash() == f.program()->params[2].content->hash()));
  }
  // Nothing that they kept of constants stays behind.
  CHECK(lt::ConstantShelf::of(p.context).size() == 0);
  CHECK(p.context.bytes_in_use() == 0);
  CHECK(p.recipes().calls() == 0);
}

TEST_CASE("each kernel of the same tensors has first calls of its own") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  lt::Input<float, 1> W("W", {4}, {.constant = true}), X("X", {4});
  const auto U = lt::compute("U", {4}, [&](lt::Var i) { return W(3 - i) * W(i); });
  const auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) + U(3 - i); });
  const auto kernel = [&] { return lt::jit({Y, {.context = &context, .checked = true}}, W, X, Y); };
  const auto f = kernel(), g = kernel();
  const Values one(4, 1.0f), two(4, 2.0f);
  Values y(4);
  f(one, one, y);
  CHECK(y == Values(4, 2.0f));
  g(two, one, y);
  CHECK(y == Values(4, 5.0f));
  CHECK(error_of([&] { f(two, one, y); }).substr(0, 5) == "L0318");
  CHECK(error_of([&] { g(one, one, y); }).substr(0, 5) == "L0318");
}

TEST_CASE("tensors that are gone are not mistaken for others in their place") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  for (int round = 0; round < 100; ++round) {
    const Window w({.n = 4 + round % 3, .factor = static_cast<float>(round % 2)});
    CHECK(w.fits(w.kernel({.context = &context})));
  }
  auto& recipes = lt::CodeCache::of(context).recipes();
  CHECK(recipes.programs() == 6);
  CHECK(recipes.calls() == lt::RecipeCache::kCalls);
  recipes.clear();
  CHECK(recipes.programs() + recipes.calls() == 0);
}

TEST_CASE("the recipes that are kept are the latest") {
  lt::RecipeCache cache;
  const auto key = [](std::size_t k) {
    lt::Input<float, 1> X("X", {static_cast<std::int64_t>(k) + 1});
    const auto Y = lt::compute("Y", {1}, [&](lt::Var i) { return X(i); });
    return lt::RecipeKey{lt::program_of(Y), lt::host(), {}, lt::Strides::late, false, nullptr};
  };
  const auto find = [&](std::size_t k) { return cache.find(key(k).hash(), key(k)); };
  const std::size_t count = lt::RecipeCache::kPrograms;
  for (std::size_t k = 0; k < count; ++k)
    cache.add(key(k).hash(), lt::make_ref<lt::KernelRecipe>(key(k)));
  CHECK(find(0));
  // An equal one is not added: the first stays.
  const auto first = find(0);
  cache.add(key(0).hash(), lt::make_ref<lt::KernelRecipe>(key(0)));
  CHECK(find(0) == first);
  cache.add(key(count).hash(), lt::make_ref<lt::KernelRecipe>(key(count)));
  CHECK(cache.programs() == count);
  CHECK(find(0) == first);
  CHECK(!find(1));
  CHECK(find(2));
  CHECK(find(count));
  // A hash that is right is not enough.
  CHECK(!cache.find(key(2).hash(), key(3)));
}

TEST_CASE("threads that ask for one program at once all get its kernel") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  const Window shared;
  std::vector<Map> kernels(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kernels.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round)
        kernels[t] = (t + static_cast<std::size_t>(round)) % 2
                         ? shared.kernel({.context = &context})
                         : Window().kernel({.context = &context});
    });
  for (std::thread& thread : threads) thread.join();
  for (const Map& f : kernels) {
    CHECK(shared.fits(f));
    CHECK(f.any().code() == kernels[0].any().code());
  }
  CHECK(lt::CodeCache::of(context).recipes().programs() == 1);
}
