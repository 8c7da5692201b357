#include <support/errors.hpp>

#include "kernels.hpp"
#include "run.hpp"

namespace lt = lathe;
using test::refused;

namespace {

struct Copy {
  lt::Dim m, n;
  lt::Input<float, 2> X;
  lt::Tensor<float, 2> Y;
  explicit Copy(lt::DimOptions options = {})
      : m("m"),
        n("n", options),
        X("X", {m, n}),
        Y(lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return X(i, j) + 1.0f; })) {}
};

std::string dims_of(const lt::Schedule& s) {
  const std::string text = s.str();
  return text.substr(text.find('<'), text.find('>') - text.find('<') + 1);
}

}  // namespace

TEST_CASE("assume: what is said of a Dim is declared, and known from there on") {
  Copy k;
  lt::Schedule s(k.Y);
  s.assume(k.n % 8 == 0);
  CHECK(dims_of(s) == "<m, n by 8>");
  s.assume(k.n >= 60 && k.m < 10);
  CHECK(dims_of(s) == "<m in 0..=9, n in 64.. by 8>");
  s.assume(k.n % 3 == 0 && k.n <= 200);
  CHECK(dims_of(s) == "<m in 0..=9, n in 72..=192 by 24>");
  auto [i, j] = s.loops<2>(k.Y);
  s.split<2>(j, {lt::infer, 24});
  CHECK(s.str().find("tail") == std::string::npos);
  s.assume(k.m == 4);
  s.unroll(i);
  test::check_kept(lt::Schedule(k.Y), s, {{"m", 4}, {"n", 72}});
}

TEST_CASE("assume: a schedule goes on from what its Dims declare") {
  Copy k({.min = 2, .max = 1000, .multiple_of = 4});
  lt::Schedule s(k.Y);
  s.assume(k.n >= 1 && k.n % 2 == 0);
  CHECK(dims_of(s) == "<m, n in 4..=1000 by 4>");
  CHECK(s.trace().str().find("assume((") != std::string::npos);
  s.assume(k.n % 64 == 0 && k.n >= 256);
  CHECK(dims_of(s) == "<m, n in 256..=960 by 64>");
}

TEST_CASE("assume: refusals") {
  Copy k;
  lt::Schedule s(k.Y);
  s.assume(k.n >= 8 && k.n % 8 == 0);
  auto first_line = [&](const lt::Expr<bool>& condition) {
    std::string text = refused(s, [&](lt::Schedule& t) { t.assume(condition); });
    return text.substr(0, text.find('\n'));
  };
  const std::string more = "' says more than a least value, a largest one and a factor of each";
  CHECK(first_line(k.n == k.m) == "error[L0243] assume: 'n == m" + more);
  CHECK(first_line(k.n != 16) == "error[L0243] assume: 'n != 16" + more);
  CHECK(first_line(k.n < 16 || k.n > 32) == "error[L0243] assume: 'n < 16 || n > 32" + more);
  CHECK(first_line(k.m % 4 == 1) == "error[L0243] assume: 'm % 4 == 1" + more);
  CHECK(first_line(k.n < 8) == "error[L0243] assume: 'n < 8' never holds here");
  CHECK(first_line(k.n > 8 && k.n < 16) ==
        "error[L0243] assume: 'n > 8 && n < 16' never holds here");
  lt::Dim other("other");
  CHECK(first_line(other > 3) ==
        "error[L0243] assume: 'other > 3' is no condition on Dims of the program");
  CHECK(first_line(k.X(0, 0) > 3.0f).find("is no condition") == std::string::npos);
}

TEST_CASE("assume: a trace replays on another program of the same shape") {
  Copy a, b;
  lt::Schedule s(a.Y);
  s.assume(a.n % 16 == 0 && a.m <= 7);
  lt::Schedule t = lt::replay(lt::parse_trace(s.trace().str()), lt::Schedule(b.Y));
  CHECK(dims_of(t) == "<m in 0..=7, n by 16>");
  CHECK(t.trace().str() == s.trace().str());
  CHECK(s.trace().cpp() == "s.assume((n % 16 == 0 && m <= 7));\n");
}
