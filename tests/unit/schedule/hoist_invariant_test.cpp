// hoist_invariant: what a block computes again in each iteration of a loop is computed ahead.
#include <support/errors.hpp>
#include <support/text.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using test::check_kept;
using test::has;

namespace {

/// Y[n, p, c] = X[n, p, c] / sqrt(v[c] + 1) + v[c] * v[c].
lt::Tensor<float, 3> scaled() {
  lt::Input<float, 3> X("X", {2, 5, 6});
  lt::Input<float, 1> v("v", {6});
  return lt::compute("Y", {2, 5, 6}, [&](lt::Var n, lt::Var p, lt::Var c) {
    return X(n, p, c) / lt::sqrt(v(c) + 1.0f) + v(c) * v(c);
  });
}

}  // namespace

TEST_CASE("hoist_invariant: the largest value first, over the iterators that it names") {
  lt::Schedule start(scaled()), s = start;
  const lt::BlockRef roots = s.hoist_invariant("Y", s.loops("Y")[1]);
  CHECK(has(s.str(), "Y_hoisted[vk] = sqrt(v[vk] + 1.0)"));
  CHECK(has(s.str(), "X[vi, vj, vk] / Y_hoisted[vk] + v[vk] * v[vk]"));
  CHECK(s.loops(roots).size() == 1);
  check_kept(start, s);
  s.hoist_invariant("Y", s.loops("Y")[0]);
  CHECK(has(s.str(), "X[vi, vj, vk] / Y_hoisted[vk] + Y_hoisted_1[vk]"));
  check_kept(start, s);
  CHECK(test::error_of([&] { s.hoist_invariant("Y", s.loops("Y")[1]); }) ==
        "L0264 hoist_invariant: block 'Y' computes nothing that stays the same along 'j' and "
        "changes elsewhere");
  const lt::Program before = s.program();
  CHECK(test::error_of([&] { s.hoist_invariant("Y", s.loops(roots)[0]); }) ==
        "L0264 hoist_invariant: block 'Y' is not in loop 'k'");
  CHECK(s.program() == before);
}

TEST_CASE("hoist_invariant: of a reduction also what its terms have in common") {
  lt::Input<float, 2> X("X", {7, 9});
  lt::Reduce r("r", 9);
  const auto S = lt::compute(
      "S", {7}, [&](lt::Var i) { return lt::sum(X(i, r) * lt::cast<float>(r * r), r); });
  lt::Schedule start(S), s = start;
  const lt::BlockRef squares = s.hoist_invariant(S, s.loops(S)[0]);
  CHECK(s.loops(squares).size() == 1);
  CHECK(has(s.str(), "S[vi] sum= X[vi, vr] * S_hoisted[vr]"));
  check_kept(start, s);
}

TEST_CASE("hoist_invariant: by each part of an iterator, and under loops that stay around it") {
  lt::Schedule start(scaled()), s = start;
  const auto loops = s.loops("Y");
  const auto parts = s.split(loops[2], {2, 3});
  s.hoist_invariant("Y", loops[1]);
  CHECK(has(s.str(), "Y_hoisted[vk] = sqrt(v[vk] + 1.0)"));
  check_kept(start, s);
  CHECK(test::error_of([&] { s.hoist_invariant("Y", parts[0]); }).substr(0, 5) == "L0264");
}

TEST_CASE("hoist_invariant: no read outside of a buffer, and no quotient that nobody asked for") {
  lt::Input<float, 2> X("X", {4, 9});
  lt::Input<float, 1> v("v", {5});
  const auto guarded = lt::compute("Y", {4, 9}, [&](lt::Var i, lt::Var j) {
    return lt::select(j < 5, lt::exp(v(lt::min(j, 8))), X(i, j));
  });
  lt::Schedule s(guarded);
  CHECK(test::error_of([&] { s.hoist_invariant("Y", s.loops("Y")[0]); }) ==
        "L0264 hoist_invariant: block 'Y' is not proved to read 'v' inside of it in "
        "exp(v[min(vj, 8)]) for all iterators");

  lt::Input<std::int32_t, 2> A("A", {4, 9});
  lt::Input<std::int32_t, 1> d("d", {9});
  const auto quotient = lt::compute("Q", {4, 9}, [&](lt::Var i, lt::Var j) {
    return lt::select(A(i, j) > 0, 100 / d(j), A(i, j));
  });
  lt::Schedule t(quotient);
  CHECK(test::error_of([&] { t.hoist_invariant("Q", t.loops("Q")[0]); }) ==
        "L0264 hoist_invariant: block 'Q' computes nothing that stays the same along 'i' and "
        "changes elsewhere");
}

TEST_CASE("hoist_invariant: conditions and places stay as they are") {
  lt::Input<std::int32_t, 2> X("X", {4, 8});
  lt::Input<std::int32_t, 1> v("v", {6});
  const auto Y = lt::compute("Y", {4, 6}, [&](lt::Var i, lt::Var j) {
    const auto place = v(j) * 3 & 7;
    return lt::select(v(j) * 5 < X(i, j), X(i, lt::cast<std::int64_t>(place)), place);
  });
  lt::Schedule start(Y), s = start;
  s.hoist_invariant("Y", s.loops("Y")[0]);
  INFO(s.str());
  CHECK(has(s.str(), "Y_hoisted[vj] = (v[vj] * 3i32) & 7i32"));
  CHECK(has(s.str(), "X[vi, i64((v[vj] * 3i32) & 7i32)]"));
  CHECK(has(s.str(), "select(v[vj] * 5i32 < X[vi, vj]"));
  check_kept(start, s);
}
