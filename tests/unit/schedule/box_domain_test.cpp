// box_domain: a reduction over a triangle runs through a box, and leaves terms out of it.
#include <support/errors.hpp>
#include <support/text.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using test::check_kept;
using test::has;

namespace {

/// Y[i] = sum of X[r] for r in first(i) … first(i) + count(i).
template <class First, class Count>
lt::Tensor<std::int32_t, 1> sums(const lt::Extent& n, const First& first, const Count& count) {
  lt::Input<std::int32_t, 1> X("X", {n});
  return lt::compute("Y", {n}, [&](lt::Var i) {
    lt::Reduce r("r", {first(i), count(i)});
    return lt::sum(X(r), r);
  });
}

}  // namespace

TEST_CASE("box_domain: terms before, after and around a place") {
  const auto check = [](const lt::Tensor<std::int32_t, 1>& Y, const char* domain) {
    lt::Schedule start(Y), s = start;
    s.box_domain("Y");
    INFO(s.str());
    CHECK(has(s.str(), domain));
    check_kept(start, s);
    CHECK(test::error_of([&] { s.box_domain("Y"); }) ==
          "L0265 box_domain: block 'Y' has no terms whose number depends on other iterators");
  };
  const auto none = [](lt::Var) { return lt::Expr<std::int64_t>(0); };
  check(sums(9, none, [](lt::Var i) { return i + 1; }), "reduce vr in 0..9 = r) where vr < vi + 1");
  check(sums(
            9, [](lt::Var i) { return i + 0; }, [](lt::Var i) { return 9 - i; }),
        "reduce vr in 0..9 = r) where vi <= vr");
  check(sums(
            9, [](lt::Var i) { return lt::max(i - 2, 0); },
            [](lt::Var i) { return lt::min(i + 3, 9) - lt::max(i - 2, 0); }),
        "reduce vr in 0..9 = r) where max(vi - 2, 0) <= vr && vr < min(vi + 3, 9)");
}

TEST_CASE("box_domain: with lanes, tiles and copies, which triangles refuse") {
  lt::Input<std::int32_t, 2> A("A", {13, 13}), B("B", {13, 11});
  const auto C = lt::compute("C", {13, 11}, [&](lt::Var i, lt::Var j) {
    lt::Reduce r("r", {0, i + 1});
    return lt::sum(A(i, r) * B(r, j), r);
  });
  lt::Schedule start(C), s = start;
  CHECK(test::error_of([&] { s.cache_write("C", lt::Scope::reg); }).substr(0, 5) == "L0217");
  s.box_domain("C");
  const lt::BlockRef out = s.cache_write("C", lt::Scope::reg);
  const auto loops = s.loops("C");
  const auto rows = s.split(loops[0], {lt::infer, 4});
  s.reorder({rows[0], loops[1], loops[2], rows[1]});
  s.reverse_compute_at(out, loops[1]);
  check_kept(start, s);
}

TEST_CASE("box_domain: bounds that are read from memory, where they are clamped") {
  lt::Input<std::int32_t, 1> X("X", {9}), n("n", {9});
  const auto Y = lt::compute("Y", {9}, [&](lt::Var i) {
    lt::Reduce r("r", {0, lt::cast<std::int64_t>(lt::clamp(n(i), 0, 9))});
    return lt::sum(X(r), r);
  });
  lt::Schedule start(Y), s = start;
  s.box_domain("Y");
  check_kept(start, s);
}

TEST_CASE("box_domain: what the block asks already is asked of terms that there are") {
  lt::Schedule start(lt::parse(R"(program Y(in B: bool[9], in X: i32[9], out Y: i32[5]):
  for i in 0..5:
    for r in 0..i:
      block Y(vi in 0..5 = i, reduce vr in 0..vi = r) where B[9 - vi + vr] reduce sum init:
        Y[vi] sum= X[vr]
)")),
      s = start;
  s.box_domain("Y");
  CHECK(has(s.str(), "where vr < vi && B[9 - vi + vr]"));
  check_kept(start, s);
}

TEST_CASE("box_domain: loops that do more than the block, and bounds that they tell") {
  const auto refused = [](const char* text) {
    lt::Schedule s(lt::parse(text));
    const lt::Program before = s.program();
    CHECK(test::error_of([&] { s.box_domain("Y"); }) ==
          "L0265 box_domain: block 'Y' has no loop that runs through the domain of 'vr'");
    CHECK(s.program() == before);
  };
  refused(R"(program p(in X: i32[9], inout Z: i32[16], out Y: i32[9]):
  for i in 0..9:
    for r in 0..i:
      block Y(vi in 0..9 = i, reduce vr in 0..vi = r) reduce sum init:
        Y[vi] sum= X[vr]
      Z[r] = Z[r] + 1i32
)");
  refused(R"(program p(in n: i32[9], in X: i32[9], out Y: i32[9]):
  for i in 0..9:
    for r in 0..i:
      for q in 0..i64(min(max(n[9 - i + r], 0i32), 9i32)):
        block Y(vi in 0..9 = i, reduce vr in 0..vi = r, reduce vq in 0..9 = q) reduce sum init:
          Y[vi] sum= X[vq]
)");
}

TEST_CASE("box_domain: refusals") {
  lt::Schedule plain(test::Add(8).Y);
  CHECK(test::error_of([&] { plain.box_domain("Y"); }) ==
        "L0265 box_domain: block 'Y' is no reduction with its init");
  const auto none = [](lt::Var) { return lt::Expr<std::int64_t>(0); };
  lt::Schedule s(sums(9, none, [](lt::Var i) { return i + 1; }));
  s.split(s.loops("Y")[1], {lt::infer, 4});
  const lt::Program before = s.program();
  CHECK(test::error_of([&] { s.box_domain("Y"); }) ==
        "L0265 box_domain: block 'Y' has no loop that runs through the domain of 'vr'");
  CHECK(s.program() == before);
  lt::Input<std::int32_t, 1> X("X", {9}), n("n", {9});
  const auto unknown = lt::compute("U", {9}, [&](lt::Var i) {
    lt::Reduce r("r", {0, lt::cast<std::int64_t>(n(i)) * 1000000000000});
    return lt::sum(X(lt::min(r, 8)), r);
  });
  lt::Schedule t(unknown);
  CHECK(test::error_of([&] { t.box_domain("U"); }) ==
        "L0265 box_domain: block 'U' has no bounds over the program's Dims for 'vr'");
}
