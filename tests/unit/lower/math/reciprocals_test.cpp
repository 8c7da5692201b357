// Divisors that stay the same in a loop become factors under Math::fast, and nothing else changes.
#include "../../../support/errors.hpp"
#include "../stages.hpp"

namespace lt = lathe;

namespace {

lt::Schedule rows(
    const std::function<lt::Expr<float>(const lt::Expr<float>&, const lt::Expr<float>&)>& f) {
  lt::Input<float, 2> E("E", {8, 40});
  lt::Input<float, 1> S("S", {8});
  return lt::Schedule(
      lt::compute("Y", {8, 40}, [&](lt::Var i, lt::Var j) { return f(E(i, j), S(i)); }));
}
std::string after_pass(const lt::Schedule& s, lt::Math math) {
  return lt::lower_until("use_reciprocals", s.program(), lt::host(), {.math = math}).str();
}
bool divides_by_factor(const lt::Schedule& s) {
  const std::string text = after_pass(s, lt::Math::fast);
  return text.find("1.0 / S[i]") != text.npos;
}

}  // namespace

TEST_CASE("a divisor that stays the same in the innermost loop becomes a factor") {
  lt::Schedule s = rows([](auto x, auto s) { return x / s; });
  CHECK(divides_by_factor(s));
  CHECK(after_pass(s, lt::Math::normal).find("E[i, j] / S[i]") != std::string::npos);
  CHECK(after_pass(s, lt::Math::accurate) == after_pass(s, lt::Math::normal));
}

TEST_CASE("what changes in the loop, or is the same as a whole, is divided") {
  CHECK(!divides_by_factor(rows([](auto x, auto s) { return s / x; })));
  CHECK(!divides_by_factor(rows([](auto x, auto s) { return x + lt::Expr<float>(2.0f) / s; })));
  // The loop over rows is the innermost one.
  lt::Schedule s = rows([](auto x, auto s) { return x / s; });
  auto loops = s.loops("Y");
  s.reorder({loops[1], loops[0]});
  CHECK(!divides_by_factor(s));
}

TEST_CASE("a divisor that the loop writes is divided by") {
  lt::Program p = lt::parse(R"(program P(inout S: f32[1], out Y: f32[8]):
  for i in 0..8:
    Y[i] = f32(i) / S[0]
    S[0] = Y[i]
)");
  std::vector<std::string> changes;
  CHECK(lt::use_reciprocals(p, &changes).str() == p.str());
  CHECK(changes.empty());
}
