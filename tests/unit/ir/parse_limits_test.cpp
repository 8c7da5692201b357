#include <doctest/doctest.h>

#include <ctime>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <string>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

template <class F>
std::string repeated(int n, const F& f) {
  std::string out;
  for (int k = 0; k < n; ++k) out += f(std::to_string(k), k);
  return out;
}
const std::string kHead = "program o(in A: f32[16], out B: f32[16]):\n";

std::string terms(int n) {
  return kHead + "  B[0] = A[0]" + repeated(n, [](auto, int) { return " + A[0]"; }) + "\n";
}
std::string lets(int n) {
  return kHead +
         repeated(n, [](const std::string& k, int) { return "  let x" + k + " = A[0]\n"; }) +
         "  B[0] = x0\n";
}
std::string statements(int n) {
  return kHead + repeated(n, [](auto, int) { return "  B[0] = A[0] + 1.0\n"; });
}
std::string params(int n) {
  return "program o(" +
         repeated(n, [](const std::string& k, int) { return "in A" + k + ": f32[16], "; }) +
         "out B: f32[16]):\n  B[0] = A0[0]\n";
}
std::string blocks(int n) {
  return kHead + repeated(n, [](const std::string& k, int) {
           return "  for i in 0..16:\n    block B" + k + "(v in 0..16 = i):\n      B[v] = A[v]\n";
         });
}
std::string ifs(int n) {
  return kHead +
         repeated(n,
                  [](auto, int k) {
                    return std::string(static_cast<std::size_t>(k) + 2, ' ') + "if A[0] > 0.0:\n";
                  }) +
         std::string(static_cast<std::size_t>(n) + 2, ' ') + "B[0] = 1.0\n";
}
std::string loops(int n) {
  return kHead +
         repeated(n,
                  [](const std::string& name, int k) {
                    return std::string(static_cast<std::size_t>(k) + 2, ' ') + "for i" + name +
                           " in 0..1:\n";
                  }) +
         std::string(static_cast<std::size_t>(n) + 2, ' ') + "B[0] = 1.0\n";
}
std::string parentheses(int n) {
  return kHead + "  B[0] = " + std::string(static_cast<std::size_t>(n), '(') + "1.0" +
         std::string(static_cast<std::size_t>(n), ')') + "\n";
}

/// Milliseconds of a processor that a text takes to be read, checked, printed, hashed and thrown
/// away; the least of several.
double least_time(const std::string& text) {
  double least = 1e9;
  for (int turn = 0; turn < 5; ++turn) {
    const std::clock_t start = std::clock();
    {
      const Program p = parse(text);
      verify_defined(p);
      structural_hash(p);
      REQUIRE(p.str().size() > 0);
    }
    least = std::min(least, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

std::string refusal_of(const std::string& text) {
  try {
    parse(text);
  } catch (const UserError& e) {
    return std::string(e.what()).substr(0, 34);
  }
  return "no error";
}

}  // namespace

TEST_CASE("texts take time linear in their length") {
  using Make = std::string (*)(int);
  const std::pair<Make, int> all[] = {
      {terms, 450}, {lets, 450}, {statements, 5000}, {params, 4000}, {blocks, 2000}};
  for (const auto& [make, n] : all) {
    const double once = least_time(make(n)), fourfold = least_time(make(4 * n));
    const auto smallest = make(1);
    INFO(smallest, once, " ms, ", fourfold, " ms");
    CHECK(fourfold < 10 * once + 10);  // with the square it would be 16
  }
}

TEST_CASE("what is nested too deeply is refused with its place") {
  CHECK(refusal_of(terms(100000)) == "error[L0505] parse: line 2, column");
  CHECK(refusal_of(lets(20000)) == "error[L0505] parse: line 2002, col");
  CHECK(refusal_of(ifs(3000)) == "error[L0505] parse: line 199, colu");
  CHECK(refusal_of(loops(3000)) == "error[L0505] parse: line 201, colu");
  CHECK(refusal_of(parentheses(3000)) == "error[L0505] parse: line 2, column");
  CHECK(refusal_of(statements(5000)) == "no error");
  CHECK(refusal_of(params(8000)) == "no error");
}

TEST_CASE("parameters are as many as a call can number") {
  CHECK(refusal_of(params(40000)) == "error[L0506] program 'o': paramete");
  CHECK(refusal_of("program o(in A: f32[" + repeated(255, [](auto, int) { return "1, "; }) +
                   "1], out B: f32[1]):\n  B[0] = 1.0\n") == "error[L0506] program 'o': paramete");
}
