// pad: the extents of a block's iterators become multiples.
#include <cmath>
#include <lathe/lower/pipeline.hpp>
#include <limits>
#include <support/errors.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

namespace lt = lathe;
using namespace test;

namespace {

/// The line of the block's body.
std::string body_of(const lt::Schedule& s, const std::string& block) {
  const std::string text = s.str();
  std::size_t at = text.find("block " + block + "(");
  at = text.find_first_not_of(' ', text.find('\n', at) + 1);
  return text.substr(at, text.find('\n', at) - at);
}

/// S[i] = reducer over r of the term, which names X[i, r] and W[r].
lt::Schedule reduces(const std::string& reducer, const std::string& term,
                     const std::string& type = "f32") {
  return schedule_of("program P(in X: " + type + "[5, 7], in W: " + type + "[7], out S: " + type +
                     "[5]):\n  for i in 0..5:\n    for r in 0..7:\n"
                     "      block S(vi in 0..5 = i, reduce vr in 0..7 = r) reduce " +
                     reducer + " init:\n        S[vi] " + reducer + "= " + term + "\n");
}

}  // namespace

TEST_CASE("pad: a matrix product, whose zeros add nothing") {
  Gemm k(5, 7, 3);
  const lt::Schedule start(k.D);
  lt::Schedule s = start;
  auto [i, j, r] = s.loops<3>(k.C);
  auto [a, b, c] = s.pad<3>(k.C, {4, 8, 2});
  CHECK(s.str() == R"(program D(in A: f32[5, 3], in B: f32[3, 7], out D: f32[5, 7]) scheduled:
  alloc C: f32[5, 7]
  alloc A_pad: f32[8, 4]
  alloc B_pad: f32[4, 8]
  alloc C_pad: f32[8, 8]
  for i in 0..8:
    for r in 0..4:
      block A_pad(vi in 0..8 = i, vr in 0..4 = r):
        A_pad[vi, vr] = select(vi < 5 && vr < 3, A[vi, vr], 0.0)
  for r in 0..4:
    for j in 0..8:
      block B_pad(vr in 0..4 = r, vj in 0..8 = j):
        B_pad[vr, vj] = select(vr < 3 && vj < 7, B[vr, vj], 0.0)
  for i in 0..8:
    for j in 0..8:
      for r in 0..4:
        block C(vi in 0..8 = i, vj in 0..8 = j, reduce vr in 0..4 = r) reduce sum init:
          C_pad[vi, vj] sum= A_pad[vi, vr] * B_pad[vr, vj]
  for i in 0..5:
    for j in 0..7:
      block C_copy(vi in 0..5 = i, vj in 0..7 = j):
        C[vi, vj] = C_pad[vi, vj]
  for i in 0..5:
    for j in 0..7:
      block D(vi in 0..5 = i, vj in 0..7 = j):
        D[vi, vj] = max(C[vi, vj], 0.0)
)");
  CHECK(s.loops(k.C) == std::vector<lt::LoopRef>{i, j, r});
  CHECK(a.name() == "A_pad");
  CHECK(b.name() == "B_pad");
  CHECK(c.name() == "C_copy");
  CHECK(s.numerics().empty());
  check_lowered(start, s);
  auto [io, jo, ii, ji] = s.tile(i, j, 4, 8, lt::Tail::exact);
  s.vectorize(ji);
  s.unroll(ii);
  s.parallel(io);
  s.decompose_padding(a, s.loops(a)[0]);
  s.decompose_padding(b, s.loops(b)[1]);
  check_lowered(start, s);
  CHECK(s.trace().cpp().find("auto [b1, b2, unused0] = s.pad<3>(b0, {4, 8, 2});") !=
        std::string::npos);
}

TEST_CASE("pad: extents prime, 1, 0 and symbolic") {
  lt::Dim n("n"), m("m", {.multiple_of = 4});
  auto check = [](const Gemm& k, std::initializer_list<std::int64_t> sizes) {
    for (std::int64_t size : sizes) {
      const lt::Schedule start(k.D);
      lt::Schedule s = start;
      s.pad(k.C, {4, 3, 2});
      check_lowered(start, s, {{"n", size}, {"m", (size + 3) / 4 * 4}});
      s.split<2>(s.loops(k.C)[0], {lt::infer, 4}, lt::Tail::exact);
      check_lowered(start, s, {{"n", size}, {"m", (size + 3) / 4 * 4}});
    }
  };
  check(Gemm(7, 5, 3), {1});
  check(Gemm(1, 1, 1), {1});
  check(Gemm(0, 3, 3), {1});
  check(Gemm(3, 0, 3), {1});
  check(Gemm(3, 5, 0), {1});
  check(Gemm(n, 5, 3), {0, 1, 4, 5});
  check(Gemm(n, n, n), {0, 1, 2, 7});
  check(Gemm(m, n, 4), {0, 1, 7});
}

TEST_CASE("pad: what is a multiple already stays") {
  lt::Dim m("m", {.multiple_of = 4});
  Gemm k(m, 8, 4);
  const lt::Schedule start(k.D);
  lt::Schedule s = start;
  CHECK(s.pad(k.C, {4, 8, 2}).empty());
  CHECK(lt::structurally_equal(s.program(), start.program()));
  check_lowered(start, s, {{"m", 8}});
  CHECK(s.pad(k.C, {1, 1, 3}).size() == 2);  // the operands; the output needs none
  CHECK(s.str().find("C_pad") == std::string::npos);
  check_lowered(start, s, {{"m", 8}});
}

TEST_CASE("pad: a reduction takes its identity where zeros are not neutral") {
  struct Form {
    const char *reducer, *term, *type, *body;
  };
  const Form forms[] = {
      {"sum", "X[vi, vr] * W[vr]", "f32", "S[vi] sum= X_pad[vi, vr] * W_pad[vr]"},
      {"sum", "X[vi, vr]", "f32", "S[vi] sum= X_pad[vi, vr]"},
      {"sum", "X[vi, vr] + W[vr]", "f32", "S[vi] sum= X_pad[vi, vr] + W_pad[vr]"},
      // 0 times what may be infinite or negative is no +0.
      {"sum", "X[vi, vr] * 2.0", "f32", "S[vi] sum= select(vr < 7, X_pad[vi, vr] * 2.0, 0.0)"},
      {"sum", "X[vi, vr] * X[vi, 0]", "f32", ""},
      {"sum", "W[vr] * f32(i32(vi))", "f32",
       "S[vi] sum= select(vr < 7, W_pad[vr] * f32(i32(vi)), 0.0)"},
      {"sum", "exp(X[vi, vr])", "f32", "S[vi] sum= select(vr < 7, exp(X_pad[vi, vr]), 0.0)"},
      {"sum", "W[vr] / X[vi, vr]", "f32",
       "S[vi] sum= select(vr < 7, W_pad[vr] / X_pad[vi, vr], 0.0)"},
      {"sum", "X[vi, vr] * i32(3)", "i32", "S[vi] sum= X_pad[vi, vr] * i32(3)"},
      {"sum", "X[vi, vr] + i32(1)", "i32",
       "S[vi] sum= select(vr < 7, X_pad[vi, vr] + i32(1), 0i32)"},
      {"prod", "X[vi, vr]", "f32", "S[vi] prod= select(vr < 7, X_pad[vi, vr], 1.0)"},
      {"prod", "X[vi, vr] * W[vr]", "i32",
       "S[vi] prod= select(vr < 7, X_pad[vi, vr] * W_pad[vr], 1i32)"},
      {"max", "X[vi, vr]", "f32", "S[vi] max= select(vr < 7, X_pad[vi, vr], -inf)"},
      {"min", "X[vi, vr] + W[vr]", "f32",
       "S[vi] min= select(vr < 7, X_pad[vi, vr] + W_pad[vr], inf)"},
      {"max", "X[vi, vr]", "i32", "S[vi] max= select(vr < 7, X_pad[vi, vr], -2147483648i32)"},
  };
  for (const Form& form : forms) {
    CAPTURE(form.term);
    const lt::Schedule start = reduces(form.reducer, form.term, form.type);
    lt::Schedule s = start;
    if (std::string(form.body).empty()) {
      CHECK(error_of([&] { s.pad("S", {1, 4}); }).substr(0, 5) == "L0252");
      continue;
    }
    s.pad("S", {1, 4});
    CHECK(body_of(s, "S") == form.body);
    check_lowered(start, s);
    s = start;
    s.pad("S", {4, 4});
    check_lowered(start, s);
  }
}

TEST_CASE("pad: infinities, NaN and signed zeros stay what they are") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<std::vector<float>> rows{
      {inf, 1, 2}, {nan, 1, 2}, {-0.0f, -0.0f, -0.0f}, {1, -1, -0.0f}, {-inf, inf, 0}};
  for (const char* reducer : {"sum", "prod", "max", "min"}) {
    CAPTURE(reducer);
    const std::string name(reducer);
    const lt::Program plain = lt::parse(
        "program P(in X: f32[5, 3], out S: f32[5]):\n  for i in 0..5:\n    for r in 0..3:\n"
        "      block S(vi in 0..5 = i, reduce vr in 0..3 = r) reduce " +
        name + " init:\n        S[vi] " + name + "= X[vi, vr] * X[vi, vr]\n");
    lt::Schedule s(plain);
    s.pad("S", {4, 8});
    auto results = [&](const lt::Program& p) {
      std::vector<float> x, out(5, 99.0f);
      for (const auto& row : rows) x.insert(x.end(), row.begin(), row.end());
      test::DenseCall call;
      call.buffers = {x.data(), out.data()};
      lt::Evaluator(p, {}).run(test::slots_of(p, call).data());
      return out;
    };
    const auto expected = results(plain), found = results(s.program());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      CHECK(std::isnan(expected[k]) == std::isnan(found[k]));
      if (!std::isnan(expected[k]))
        CHECK(std::bit_cast<std::uint32_t>(expected[k]) == std::bit_cast<std::uint32_t>(found[k]));
    }
  }
}

TEST_CASE("pad: a stage without a reduction, and operands at other places") {
  const lt::Schedule start =
      schedule_of(R"(program P(in X: f32[9, 12], in b: f32[5], out Y: f32[5, 7]):
  for i in 0..7:
    for j in 1..6:
      block Y(vi in 0..7 = i, vj in 1..6 = j):
        Y[vj - 1, 6 - vi] = X[vj + 2, vi * 2 - vi] / b[vj - 1] + b[vj - 1]
)");
  for (std::int64_t m : {1, 2, 4, 16}) {
    lt::Schedule s = start;
    auto copies = s.pad("Y", {m, 4});
    CHECK(copies.size() == 3);
    check_lowered(start, s);
    s.compute_at(copies[0], s.loops("Y")[0]);
    s.vectorize(s.loops("Y")[1]);
    s.reverse_compute_at(copies[2], s.loops("Y")[0]);
    check_lowered(start, s);
  }
}

TEST_CASE("pad: what a producer computes, inside a loop of a consumer") {
  lt::Input<float, 2> A("A", {10, 6}), B("B", {6, 7});
  lt::Reduce r("r", 6);
  auto P = lt::compute("P", {10, 6}, [&](lt::Var i, lt::Var j) { return A(i, j) * 2.0f; });
  auto C = lt::compute("C", {10, 7},
                       [&](lt::Var i, lt::Var j) { return lt::sum(P(i, r) * B(r, j), r); });
  auto D = lt::compute("D", {10, 7}, [&](lt::Var i, lt::Var j) { return C(i, j) + 1.0f; });
  const lt::Schedule start(D);
  lt::Schedule s = start;
  s.pad(C, {1, 4, 4});
  check_lowered(start, s);
  s.compute_at("P_pad", s.loops(C)[0]);
  s.compute_at(P, s.loops(C)[0]);
  s.reverse_compute_at("C_copy", s.loops(C)[0]);
  s.parallel(s.loops(C)[0]);
  check_lowered(start, s);

  lt::Schedule inner = start;
  inner.compute_at(C, inner.loops(D)[0]);
  inner.pad(C, {1, 4, 4});
  check_lowered(start, inner);
}

TEST_CASE("pad: bytes for an instruction that takes four") {
  lt::Input<std::uint8_t, 2> A("A", {3, 10});
  lt::Input<std::int8_t, 2> B("B", {10, 20});
  lt::Reduce r("r", 10);
  auto C = lt::compute("C", {3, 20}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<std::int32_t>(A(i, r)) * lt::cast<std::int32_t>(B(r, j)), r);
  });
  const lt::Schedule start(C);
  lt::Schedule s = start;
  s.pad(C, {1, 16, 4});
  s.transform_layout("B_pad", [](lt::Index k, lt::Index j) {
    return lt::layout(k / 4, j / 16, j % 16 * 4 + k % 4);
  });
  auto [i, j, k] = s.loops<3>(C);
  auto [jo, ji] = s.split<2>(j, {lt::infer, 16}, lt::Tail::exact);
  auto [ko, ki] = s.split<2>(k, {lt::infer, 4}, lt::Tail::exact);
  s.reorder({i, jo, ko, ji, ki});
  s.decompose_reduction(C, ko);
  s.tensorize(ji, "vpdpbusd");
  check_lowered(start, s);
}

TEST_CASE("pad: refusals") {
  Gemm k(5, 7, 3);
  lt::Schedule s(k.D);
  auto why = [](lt::Schedule& t, const char* block, const std::vector<lt::Factor>& multiples) {
    return error_of([&] { t.pad(block, multiples); });
  };
  CHECK(refused(s,
                [&](lt::Schedule& t) {
                  t.pad(k.C, {4, 4});
                }) ==
        R"(error[L0252] pad: block 'C' takes 3 multiples, not 2
  at pad_test.cpp:#
  loops of 'C': i(5) j(7) r:reduce(3)
    for i in 0..5:
      for j in 0..7:
        for r in 0..3:
          block C(vi in 0..5 = i, vj in 0..7 = j, reduce vr in 0..3 = r) reduce sum init:
                ^
            C[vi, vj] sum= A[vi, vr] * B[vr, vj]
  help: one for each of its iterators: vi, vj, vr)");
  CHECK(why(s, "C", {0, 1, 1}) ==
        "L0252 pad: block 'C' can't have the extent of its iterator 'vi' rounded up to a multiple "
        "of 0");
  CHECK(why(s, "C", {1 << 21, 1, 1}).substr(0, 5) == "L0252");
  CHECK(error_of([&] { (void)s.pad<2>(k.C, {4, 4, 4}); }) == "L0202 pad: gives 3 blocks, not 2");
  CHECK(why(s, "C", {lt::infer, 1, 1}).substr(0, 5) == "L0202");
  lt::Schedule split = s;
  split.split<2>(split.loops(k.C)[1], {lt::infer, 4});
  const std::string no_loop =
      "L0252 pad: block 'C' has an iterator 'vj' that is no loop of its own over all of its domain";
  CHECK(why(split, "C", {1, 4, 1}) == no_loop);
  split.split<2>(split.loops(k.C)[2], {lt::infer, 3});
  CHECK(why(split, "C", {4, 1, 1}) ==
        "L0252 pad: block 'C' has a domain that depends on another of its iterators, or on loops");
  split = s;
  split.fuse(split.loops(k.C)[0], split.loops(k.C)[1]);
  CHECK(why(split, "C", {1, 4, 1}) == no_loop);
  split.pad(k.C, {1, 1, 4});
  check_lowered(lt::Schedule(k.D), split);
  lt::Schedule apart = s;
  apart.decompose_reduction(k.C, apart.loops(k.C)[2]);
  CHECK(why(apart, "C", {4, 1, 1}) == "L0252 pad: block 'C' was separated from its init");
  lt::Schedule marked = s;
  marked.parallel(marked.loops(k.C)[0]);
  CHECK(why(marked, "C", {4, 1, 1}) == "L0204 pad: loop 'i' is parallel, not serial");
  marked.pad(k.C, {1, 4, 4});
  check_lowered(lt::Schedule(k.D), marked);

  lt::Input<float, 2> X("X", {5, 7});
  lt::Reduce r("r", 7);
  auto best = lt::compute("best", {5}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  lt::Schedule arg(lt::outputs(best.get<0>(), best.get<1>()));
  CHECK(why(arg, "best", {1, 4}) == "L0252 pad: block 'best' is not one store");
  lt::Schedule two = schedule_of(R"(program P(in X: f32[9], out Y: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = X[v] + X[v + 1]
)");
  CHECK(why(two, "Y", {3}) == "L0252 pad: block 'Y' does not touch 'X' at one place only");
  for (const char* value : {"select(vi == vj, T[vi], 0.0)", "select(X[vi, vj] > 0.0, 1.0, T[vi])",
                            "(let x = vj * 2 in select(x > 9, 0.0, T[vi]))"}) {
    lt::Schedule picks = schedule_of(
        "program P(in X: f32[9, 5], in T: f32[5], out Y: f32[9, 5]):\n"
        "  for i in 0..9:\n    for j in 0..5:\n"
        "      block Y(vi in 0..9 = i, vj in 0..5 = j):\n        Y[vi, vj] = " +
        std::string(value) + "\n");
    CHECK(
        why(picks, "Y", {1, 16}) ==
        "L0252 pad: block 'Y' reads 'T' where a condition on a padded iterator says so, which may "
        "hold in the padding");
  }
  lt::Schedule gather = schedule_of(R"(program P(in X: f32[8], in at: i64[8], out Y: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = X[at[v]]
)");
  CHECK(why(gather, "Y", {3}) == "L0252 pad: block 'Y' reads the index of X[at[v]] from memory");
  lt::Schedule scan = schedule_of(R"(program P(in X: f32[8], out Y: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = X[v] + select(v > 0, Y[v - 1], 0.0)
)");
  CHECK(why(scan, "Y", {3}) == "L0252 pad: block 'Y' can't be padded: it reads what it writes");
}
