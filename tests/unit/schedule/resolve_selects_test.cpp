// resolve_selects: choices that all instances of a block decide alike.
#include <support/errors.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using test::check_kept;

namespace {

/// Y[i] = sum over r of X at i + r + shift, zeros around, times W.
lt::Tensor<float, 1> sums(std::int64_t shift) {
  lt::Input<float, 1> X("X", {9}), W("W", {4});
  lt::Reduce r("r", 4);
  const auto at = lt::pad(X, 0.0f);
  return lt::compute("Y", {6}, [&](lt::Var i) { return lt::sum(at(i + r + shift) * W(r), r); });
}

}  // namespace

TEST_CASE("resolve_selects: padding that no read reaches, and such that none leaves") {
  const auto inside = sums(0), outside = sums(9);
  lt::Schedule start(inside), s = start;
  s.resolve_selects(inside);
  CHECK(s.str().find("Y[vi] sum= X[vi + vr + 0] * W[vr]") != std::string::npos);
  check_kept(start, s);
  lt::Schedule beyond(outside), t = beyond;
  t.resolve_selects(outside);
  CHECK(t.str().find("Y[vi] sum= 0.0 * W[vr]") != std::string::npos);
  check_kept(beyond, t);
}

TEST_CASE("resolve_selects: refusals") {
  const auto border = sums(1);
  lt::Schedule s(border);
  const lt::Program before = s.program();
  CHECK(test::error_of([&] { s.resolve_selects(border); }) ==
        "L0263 resolve_selects: block 'Y' has no choice that all of its instances are proved to "
        "decide alike");
  CHECK(s.program() == before);
}
