// What a schedule computes of constants alone: once, kept, shared, given back.
#include <doctest/doctest.h>

#include <lathe/jit/constant_shelf.hpp>
#include <lathe/jit/kernel_constants.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <numeric>
#include <string>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <vector>

#include "packed_product.hpp"

namespace lt = lathe;
using namespace test::packed;
using test::error_of;

TEST_CASE("a schedule's copy of a constant is made when the kernel is, and no call stores to it") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Pages pages;
  {
    const auto p = known();
    const Product f = lt::jit({p.schedule(p.C), {.context = &pages.context}}, p.A, p.C);
    CHECK(pages.all.size() == 1);
    pages.close();
    CHECK(run(f) == expected());
    CHECK(run(f) == expected());
    pages.open();
    CHECK(pages.given == 1);
    REQUIRE(f.once().size() == 1);
    CHECK(f.once()[0].str().find("W_cache[floordiv(vj, 8), vi, floormod(vj, 8)] = W[vi, vj]") !=
          std::string::npos);
    CHECK(f.scheduled().str().find("W_cache[floordiv(vj, 8), vi, floormod(vj, 8)] =") ==
          std::string::npos);
    // Rows with gaps take other code, and the same copy.
    Values wide(kRows * (kDepth + 1)), c(kRows * kColumns);
    for (std::int64_t i = 0; i < kRows * kDepth; ++i)
      wide[static_cast<std::size_t>(i / kDepth * (kDepth + 1) + i % kDepth)] =
          a[static_cast<std::size_t>(i)];
    f(lt::View<const float, 2>(wide.data(), {kRows, kDepth}, {kDepth + 1, 1}),
      lt::view(c, {kRows, kColumns}));
    CHECK(c == expected());
    CHECK(pages.given == 1);
  }
  CHECK(pages.all.empty());
}

TEST_CASE("kernels of a context share copies of equal layout, the last one gives them back") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  const auto shelf = [&] { return lt::ConstantShelf::of(context).size(); };
  Product f, g, h;
  std::int64_t one_copy = 0;
  {
    const auto p = known(), q = known(), other = known(values(kDepth * kColumns, 5));
    f = lt::jit({p.schedule(p.C), {.context = &context}}, p.A, p.C);
    const std::int64_t bytes = context.bytes_in_use();
    CHECK(bytes >= kDepth * kColumns * 4);
    g = lt::jit({q.schedule(q.D), {.context = &context}}, q.A, q.D);
    CHECK(context.bytes_in_use() == bytes);
    one_copy = bytes;
    CHECK(shelf() == 1);
    h = lt::jit({other.schedule(other.C), {.context = &context}}, other.A, other.C);
    CHECK(shelf() == 2);
    CHECK(context.bytes_in_use() == 2 * bytes);
    CHECK(h.any().code() == f.any().code());
  }
  CHECK(run(h) == expected(values(kDepth * kColumns, 5)));
  h = {};
  CHECK(shelf() == 1);
  f = {};
  CHECK(shelf() == 1);
  CHECK(context.bytes_in_use() == one_copy);
  Values plus_one = expected();
  for (float& x : plus_one) x += 1.0f;
  CHECK(run(g) == plus_one);
  g = {};
  CHECK(shelf() == 0);
  CHECK(context.bytes_in_use() == 0);
}

TEST_CASE("other layouts, targets and roundings are other results") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  const auto p = known();
  const auto kernel = [&](const lt::Schedule& s, bool strict, const char* target) {
    return lt::jit({s, {.context = &context, .target = lt::Target(target), .strict = strict}}, p.A,
                   p.C);
  };
  lt::Schedule wide(p.C);
  wide.transform_layout(wide.cache_read(p.C, p.W, lt::Scope::global),
                        [](lt::Index k, lt::Index j) { return lt::layout(j / 16, k, j % 16); });
  const lt::Schedule narrow = p.schedule(p.C);
  std::vector<Product> all;
  for (const auto& f : {kernel(narrow, false, "x86-64"), kernel(narrow, true, "x86-64"),
                        kernel(narrow, false, "x86-64-v2"), kernel(wide, false, "x86-64")}) {
    all.push_back(f);
    CHECK(run(f) == expected());
  }
  CHECK(lt::ConstantShelf::of(context).size() == 4);
}

TEST_CASE("what the first call computes may be made of constants that the kernel owns, too") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Kernel<lt::View<const float, 1>, lt::View<const float, 1>, lt::View<float, 1>> f;
  {
    const auto W = lt::constant("W", Values{1, 2, 3}, {3});
    lt::Input<float, 1> V("V", {3}, {.constant = true}), X("X", {3});
    const auto Q = lt::compute("Q", {3}, [&](lt::Var i) { return W(i) * V(2 - i); });
    const auto Y = lt::compute("Y", {3}, [&](lt::Var i) { return Q(2 - i) + X(i); });
    f = lt::jit(Y, V, X, Y);
  }
  REQUIRE(f.once().size() == 1);
  CHECK(f.once()[0]->params.size() == 3);
  for (int call = 0; call < 2; ++call) {
    Values y(3);
    f(Values{10, 20, 30}, Values{1, 1, 1}, y);
    CHECK(y == Values{31, 41, 31});
  }
}

TEST_CASE("what only the copy is made of is given back; a kernel may end after its context") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::ConstantRef elements;
  Product f;
  {
    lt::Context context;
    {
      const auto p = known();
      elements = p.W.content();
      f = lt::jit({p.schedule(p.C), {.context = &context}}, p.A, p.C);
    }
    CHECK_FALSE(elements->shared());
    CHECK(run(f) == expected());
    const lt::Program program = f.program();
    CHECK(program->params[2].content->hash() == elements->hash());
    CHECK(error_of([&] { lt::evaluate<lt::View<const float, 2>, lt::View<float, 2>>(program); }) ==
          "L0317 the elements of constant 'W' of program 'C' are not here");
    CHECK(error_of([&] { lt::to_c(f); }) ==
          "L0623 to_c: kernel 'C' keeps what it has computed of constants");
  }
  f = {};
}

TEST_CASE("copies count in the memory budget") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context small({.memory_budget = 1000});
  const auto p = known();
  CHECK(error_of([&] {
          lt::jit({p.schedule(p.C), {.context = &small}}, p.A, p.C);
        }) ==
        "L0406 kernel 'C_once': no memory for the 2048 bytes that it computes of constants and "
        "keeps");
  CHECK(lt::ConstantShelf::of(small).size() == 0);
  const auto q = promised();
  const LateProduct f = lt::jit({q.schedule(q.C), {.context = &small}}, q.A, q.W, q.C);
  for (int call = 0; call < 2; ++call)
    CHECK(error_of([&] { run(f); }).find("L0406 kernel 'C_once': no memory") == 0);
  CHECK(small.bytes_in_use() == 0);
}

TEST_CASE("versions run once what each of them keeps") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  lt::Dim n("n");
  const auto W = lt::constant("W", w, {kDepth * kColumns});
  lt::Input<float, 1> X("X", {n});
  const auto Y =
      lt::compute("Y", {n}, [&](lt::Var i) { return X(i) * W(i % (kDepth * kColumns)); });
  lt::Schedule any(Y), by_16(Y);
  by_16.assume(n % 16 == 0);
  any.cache_read(Y, W, lt::Scope::global);
  const auto packed = by_16.cache_read(Y, W, lt::Scope::global);
  by_16.transform_layout(packed, [](lt::Index i) { return lt::layout(i % 4, i / 4); });
  const auto f = lt::jit({lt::versions({by_16, any}, {.context = &context})}, X, Y);
  const auto want = lt::evaluate(Y, X, Y);
  CHECK(f.once().size() == 2);
  CHECK(lt::ConstantShelf::of(context).size() == 2);
  for (const std::size_t count : {5u, 16u, 1040u}) {
    const Values x(count, 3.0f);
    Values y(count), z(count);
    f(x, y), want(x, z);
    CHECK(y == z);
  }
}

TEST_CASE("without a schedule, weights are quantised and folded once") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const auto W = lt::constant("W", w, {kDepth, kColumns});
  lt::Input<std::int8_t, 2> X("X", {kRows, kDepth});
  lt::Reduce r("r", kDepth), q("q", kDepth);
  const auto Q = lt::compute("Q", {kDepth, kColumns}, [&](lt::Var k, lt::Var j) {
    return lt::cast<std::int8_t>(lt::round(W(k, j) * 5.0f));
  });
  const auto wide = [](const auto& e) { return lt::cast<std::int32_t>(e); };
  const auto S = lt::compute("S", {kColumns}, [&](lt::Var j) { return lt::sum(wide(Q(q, j)), q); });
  const auto C = lt::compute("C", {kRows, kColumns}, [&](lt::Var i, lt::Var j) {
    return lt::sum(wide(X(i, r)) * wide(Q(r, j)), r);
  });
  const auto D =
      lt::compute("D", {kRows, kColumns}, [&](lt::Var i, lt::Var j) { return C(i, j) - 3 * S(j); });
  const auto f = lt::jit(D, X, D);
  REQUIRE(!f.once().empty());  // a second part lays Q out where there is an instruction for it
  std::vector<std::string> parameters;
  for (const lt::Param& p : f.once()[0]->params) parameters.push_back(p.name());
  CHECK(parameters == std::vector<std::string>{"W", "Q", "S"});
  CHECK(f.program()->params[2].content->data() == nullptr);
  std::vector<std::int8_t> x(kRows * kDepth);
  std::iota(x.begin(), x.end(), std::int8_t{-40});
  std::vector<std::int32_t> y(kRows * kColumns), z(y.size());
  f(lt::view(x, {kRows, kDepth}), lt::view(y, {kRows, kColumns}));
  lt::evaluate(D, X, D)(lt::view(x, {kRows, kDepth}), lt::view(z, {kRows, kColumns}));
  CHECK(y == z);
}

TEST_CASE("without a schedule, no call keeps more than the constants themselves") {
  const auto W = lt::constant("W", w, {kDepth * kColumns});
  lt::Input<float, 1> X("X", {kDepth * kColumns});
  const auto Z = lt::compute("Z", {kDepth * kColumns, kDepth * kColumns},
                             [&](lt::Var i, lt::Var j) { return lt::select(i == j, W(i), 0.0f); });
  const auto Y = lt::compute("Y", {kDepth * kColumns}, [&](lt::Var i) { return Z(i, i) * X(i); });
  CHECK(lt::jit(Y, X, Y).once().empty());
}

TEST_CASE("a part may read what another one has computed, or will") {
  const auto W = lt::constant("W", Values{3, 5}, {2});
  const lt::Program p =
      lt::parse("program p(in constant V: f32[2], out Y: f32[2], constant W: f32[2] hash \"" +
                    W.content()->hash().str() + "\"):\n  pass\n",
                [&](std::string_view, const lt::ContentHash&) { return W.content(); });
  const auto part = [&](const char* value, int input, int output) {
    const lt::Program once =
        lt::parse(std::string("program once(in A: f32[2], out B: f32[2]):\n  for i in 0..2:\n"
                              "    block B(vi in 0..2 = i):\n      B[vi] = ") +
                  value + "\n");
    lt::OnceRun out{{once, {input}, {output}}, lt::evaluate_any(once, {}), {}, lt::host()};
    out.context = &lt::Context::default_context();
    return out;
  };
  // V is parameter 0, W parameter 2; the results stand behind them.
  for (const int source : {2, 0}) {
    lt::KernelConstants constants(p, {0, 1}, false, lt::Location::here());
    constants.add(part("A[vi] * 2.0", source, 3), lt::Location::here());
    constants.add(part("A[1 - vi] + 1.0", 3, 4), lt::Location::here());
    REQUIRE(constants.count() == 3);
    CHECK((constants.addresses() == nullptr) == (source == 0));
    const Values v{3, 5};
    const std::int64_t extent = 2, stride = 1;
    lt::CallArg args[2];
    args[0] = {const_cast<float*>(v.data()), &extent, &stride};
    std::uint64_t slots[3];
    constants.bind(args, slots, lt::Location::here());
    const auto element = [&](int slot, int k) {
      return reinterpret_cast<const float*>(static_cast<std::uintptr_t>(slots[slot]))[k];
    };
    CHECK(element(1, 0) == 6.0f);
    CHECK(element(2, 0) == 11.0f);
    CHECK(element(2, 1) == 7.0f);
  }
}

TEST_CASE("without LLVM the evaluator computes all of it in each call") {
  lt::Context context({.log = [](lt::LogLevel, std::string_view) {}, .llvm = "off"});
  const auto p = known();
  const Product f = lt::jit({p.schedule(p.C), {.context = &context}}, p.A, p.C);
  CHECK_FALSE(f.compiled());
  CHECK(f.once().empty());
  CHECK(run(f) == expected());
}
