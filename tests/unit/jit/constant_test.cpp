// Kernels over constants.
#include <doctest/doctest.h>

#include <lathe/jit/code_cache.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <numeric>
#include <string>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <vector>

namespace lt = lathe;
using test::error_of;

namespace {

std::vector<float> counted(std::size_t count, float first = 0) {
  std::vector<float> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

// Y(j) = sum of X(r) * W(r, j) over constants of 3 x 4.
struct Product {
  lt::Constant<float, 2> W;
  lt::Input<float, 1> X{"X", {3}};
  lt::Reduce r{"r", 3};
  lt::Tensor<float, 1> Y =
      lt::compute("Y", {4}, [&](lt::Var j) { return lt::sum(X(r) * W(r, j), r); });
  explicit Product(const std::vector<float>& w) : W(lt::constant("W", w, {3, 4})) {}

  template <class F>
  static std::vector<float> run(const F& f) {
    std::vector<float> y(4, -1.0f);
    f(std::vector<float>{1, 2, 3}, y);
    return y;
  }
};

}  // namespace

TEST_CASE("a kernel reads its own copy of a constant, compiled or not") {
  std::vector<float> w = counted(12);
  Product p(w);
  w.assign(12, 0.0f);
  const std::vector<float> expected{32, 38, 44, 50};
  CHECK(Product::run(lt::jit(p.Y, p.X, p.Y)) == expected);
  CHECK(Product::run(lt::evaluate(p.Y, p.X, p.Y)) == expected);
  CHECK(Product::run(lt::jit(lt::Schedule(p.Y), p.X, p.Y)) == expected);
  // The untyped core takes the same arguments.
  const auto f = lt::jit(p.Y, p.X, p.Y);
  std::vector<float> x{1, 2, 3}, y(4);
  const auto given = lt::view(x), result = lt::view(y);
  const lt::AnyView views[] = {given, result};
  f.any()(views);
  CHECK(y == expected);
}

TEST_CASE("kernels outlive the constants that they were made of") {
  lt::Kernel<lt::View<const float, 1>, lt::View<float, 1>> f, g;
  {
    Product p(counted(12));
    f = lt::jit(p.Y, p.X, p.Y);
    g = lt::evaluate(p.Y, p.X, p.Y);
  }
  CHECK(Product::run(f) == std::vector<float>{32, 38, 44, 50});
  CHECK(Product::run(g) == std::vector<float>{32, 38, 44, 50});
}

TEST_CASE("code fits any elements of a constant") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  lt::Context context;
  Product p(counted(12)), q(counted(12, 100));
  const auto f = lt::jit({p.Y, {.context = &context}}, p.X, p.Y);
  const auto g = lt::jit({q.Y, {.context = &context}}, q.X, q.Y);
  CHECK(f.any().code() == g.any().code());
  CHECK(lt::CodeCache::of(context).size() == 1);
  CHECK(Product::run(f) == std::vector<float>{32, 38, 44, 50});
  CHECK(Product::run(g) == std::vector<float>{632, 638, 644, 650});
  CHECK(f.scheduled()->params[2].content == nullptr);
  CHECK(f.program()->params[2].content == p.W.content());
}

TEST_CASE("a program as text runs with elements that parse was given, and not without") {
  Product p(counted(12));
  using F = lt::View<float, 1>;
  using X = lt::View<const float, 1>;
  const std::string text = lt::program_of(p.Y).str();
  const lt::Program whole =
      lt::parse(text, [&](std::string_view, const lt::ContentHash&) { return p.W.content(); });
  CHECK(Product::run(lt::jit<X, F>(whole)) == std::vector<float>{32, 38, 44, 50});
  CHECK(Product::run(lt::evaluate<X, F>(whole)) == std::vector<float>{32, 38, 44, 50});
  const std::string refusal = "L0317 the elements of constant 'W' of program 'Y' are not here";
  CHECK(error_of([&] { lt::jit<X, F>(lt::parse(text)); }) == refusal);
  CHECK(error_of([&] { lt::evaluate<X, F>(lt::parse(text)); }) == refusal);
  CHECK(error_of([&] { lt::evaluate<X, F>(lt::without_contents(whole)); }) == refusal);
}

TEST_CASE("many constants leave the way of dense calls") {
  std::vector<lt::Constant<float, 1>> all;
  for (int k = 0; k < 70; ++k)
    all.push_back(lt::constant("W" + std::to_string(k), counted(4, static_cast<float>(k)), {4}));
  lt::Input<float, 1> X("X", {4});
  for (const std::size_t count : {8u, 9u, 70u}) {
    const auto Y = lt::compute("Y", {4}, [&](lt::Var i) {
      lt::Expr<float> sum = X(i);
      for (std::size_t k = 0; k < count; ++k) sum = sum + all[k](i);
      return sum;
    });
    std::vector<float> x(4, 1.0f), compiled(4), interpreted(4);
    lt::jit(Y, X, Y)(x, compiled);
    lt::evaluate(Y, X, Y)(x, interpreted);
    CHECK(compiled == interpreted);
  }
}

TEST_CASE("C takes constants in the last slots") {
  Product p(counted(12));
  CHECK(lt::to_c(p.Y).find("0  the elements of X, f32\n     1  the elements of Y, f32\n"
                           "     2  the elements of constant W, f32\n") != std::string::npos);
}

TEST_CASE("a script reads constants, and stores to none") {
  const auto W = lt::constant("w", counted(4), {4});
  lt::Script p("scaled");
  auto x = p.input<float>("x", {4});
  auto w = p.constant(W);
  auto y = p.output<float>("y", {4});
  p.for_("i", 4, [&](lt::Var i) { p.store(y(i), x(i) * w(i)); });
  CHECK(p.program().str().find("constant w: f32[4] align 64 hash") != std::string::npos);
  for (const auto& f : {lt::jit(p.program(), x, y), lt::evaluate(p.program(), x, y)}) {
    std::vector<float> out(4);
    f(std::vector<float>{2, 2, 2, 2}, out);
    CHECK(out == std::vector<float>{0, 2, 4, 6});
  }
  CHECK(error_of([&] { p.AnyScript::store(w(0).any(), x(0).any()); }) ==
        "L0128 a store to 'w', an input of script 'scaled'");
  CHECK(error_of([&] { p.constant(W); }).substr(0, 5) == "L0111");
  CHECK(error_of([&] { p.AnyScript::constant(lt::Input<float, 1>("v", {4})); }) ==
        "L0132 'v' is no constant");
}

TEST_CASE("a trace plays on other elements") {
  Product p(counted(12)), q(counted(12, 100));
  lt::Schedule s(p.Y);
  s.cache_read(p.Y, p.W, lt::Scope::global);
  const lt::Schedule t = lt::replay(lt::parse_trace(s.trace().str()), lt::Schedule(q.Y), true);
  CHECK(
      lt::structurally_equal(lt::without_contents(t.program()), lt::without_contents(s.program())));
  CHECK(t.program()->params[2].content == q.W.content());
  CHECK(Product::run(lt::jit(t, q.X, q.Y)) == std::vector<float>{632, 638, 644, 650});
  CHECK(t.html().find("<td>constant</td>") != std::string::npos);
}
