// loop_partition: what it refuses.
#include "loop_partitions.hpp"

using namespace test;

TEST_CASE("loop_partition: points that are refused") {
  lt::Dim n("n"), other("other");
  Add k(n), ten(10), one(1), none(0);
  lt::Schedule s(k.Y), t(ten.Y), u(one.Y), v(none.Y);
  lt::LoopRef i = s.loops(k.Y)[0], j = t.loops(ten.Y)[0];
  const std::string error = "error[L0231] loop_partition: ";
  CHECK(refused(t,
                [&](lt::Schedule& x) {
                  x.loop_partition(j, {4, 2});
                }) ==
        R"(error[L0231] loop_partition: points {4, 2}: part 4..2 may end before it begins
  at loop_partition_refusals_test.cpp:#
  loops of 'Y': i(10)
    for i in 0..10:
        ^
      block Y(vi in 0..10 = i):
        Y[vi] = X[vi] + 1.0
  help: points rise inside 0..10)");
  std::string text = refused(s, [&](lt::Schedule& x) { x.loop_partition(i, {1}); });
  CHECK(text.substr(text.find("help")) == "help: points rise inside 0..n: a Dim may need .min");
  CHECK(first_line(text) == error + "points {1}: part 1..n may end before it begins");
  CHECK(refused_points(t, j, {0}) == error + "points {0}: part 0..0 is empty");
  CHECK(refused_points(t, j, {3, 3}) == error + "points {3, 3}: part 3..3 is empty");
  CHECK(refused_points(t, j, {10}) == error + "points {10}: part 10..10 is empty");
  CHECK(refused_points(t, j, {11}) == error + "points {11}: part 11..10 may end before it begins");
  CHECK(refused_points(t, j, {-1}) == error + "points {-1}: part 0..-1 may end before it begins");
  CHECK(refused_points(t, j, {INT64_MAX}) ==
        error +
            "points {9223372036854775807}: part 9223372036854775807..10 may end before it begins");
  CHECK(refused_points(t, j, {INT64_MIN}) ==
        error +
            "points {-9223372036854775808}: part 0..-9223372036854775808 may end before it "
            "begins");
  CHECK(refused_points(u, u.loops(one.Y)[0], {0}) == error + "points {0}: part 0..0 is empty");
  CHECK(refused_points(v, v.loops(none.Y)[0], {0}) == error + "points {0}: part 0..0 is empty");
  CHECK(refused_points(s, i, {n}) == error + "points {n}: part n..n is empty");
  CHECK(refused_points(s, i, {lt::infer}) == error + "infer is no point");
  CHECK(refused_points(s, i, {other}) ==
        error + "point other names 'other', which is no Dim of the program");
  CHECK(refused_points(s, i, {lt::AnyExpr(i.var)}) ==
        error + "point i names 'i', which is no Dim of the program");
  CHECK(refused_points(s, i, {lt::make_float(lt::kF32, 1)}) == error + "point 1.0 is f32, not i64");
  CHECK(refused_points(s, i, {lt::min(n, 8 / n)}) ==
        error +
            "point min(n, 8 / n) holds a load, a call, or a division by what may be less than 1");
  CHECK(refused_points(s, i, {}) == error + "takes 1 to 16 points, not 0");
  CHECK(refused_points(s, i, std::vector<lt::Factor>(17, 1)) ==
        error + "takes 1 to 16 points, not 17");
}

TEST_CASE("loop_partition: loops and bodies that are refused") {
  Add k(10);
  lt::Schedule s(k.Y);
  lt::LoopRef i = s.loops(k.Y)[0];
  s.annotate(i, "user.note", 1);
  CHECK(refused_points(s, i, {2}) ==
        "error[L0204] loop_partition: loop 'i' carries the annotation 'user.note'");
  lt::Schedule t(k.Y);
  i = t.loops(k.Y)[0];
  t.parallel(i);
  CHECK(refused_points(t, i, {2}) ==
        "error[L0204] loop_partition: loop 'i' is parallel, not serial");
  lt::Schedule u(lt::parse(R"(program p(in X: f32[8], out Y: f32[8]):
  for i in 0..8:
    alloc T: f32[1]
    block T(v in 0..8 = i):
      T[0] = X[v]
    block Y(v in 0..8 = i):
      Y[v] = T[0]
)"));
  CHECK(refused_points(u, u.loops("Y")[0], {2}) ==
        "error[L0231] loop_partition: loop 'i'(8) holds the allocation of 'T', which can't be "
        "copied");
  lt::Input<float, 1> X("X", {40});
  auto Y = lt::compute("Y", {40}, [&](lt::Var x) {
    lt::Expr<float> sum = X(x);
    for (int c = 0; c < 1000; ++c) sum = sum + X((x + c) % 40);
    return sum;
  });
  lt::Schedule v(Y);
  CHECK(refused_points(v, v.loops(Y)[0], {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) ==
        "error[L0231] loop_partition: 13 copies of the body of loop 'i'(40) are more than 50000 "
        "nodes");
  v.loop_partition(v.loops(Y)[0], {1, 2});
}
