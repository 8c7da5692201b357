// split_terms: a sum of sums of products as one sum for each product.
#include <support/errors.hpp>
#include <support/text.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

namespace lt = lathe;
using test::check_kept;
using test::check_lowered;
using test::error_of;
using test::has;

namespace {

/// C[i, j] = sum over r of term(A[i, r], B[r, j]) in T.
template <class T, class Term>
lt::Tensor<T, 2> product(lt::Extent m, lt::Extent n, lt::Extent d, Term term) {
  lt::Input<std::uint8_t, 2> A("A", {m, d});
  lt::Input<std::int8_t, 2> B("B", {d, n});
  lt::Reduce r("r", d);
  return lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sum(term(lt::cast<T>(A(i, r)), lt::cast<T>(B(r, j))), r);
  });
}

std::string refusal(const lt::Program& program, const char* block = "C") {
  lt::Schedule s(program);
  const std::string text = error_of([&] { s.split_terms(block); });
  CHECK(s.program() == program);
  return text;
}
std::string refusal(const lt::AnyTensor& out) { return refusal(lt::program_of(out)); }

constexpr const char* kNoTerms = "L0269 split_terms: block 'C' adds up ";

}  // namespace

TEST_CASE("split_terms: zero points, one of them a scalar of the call, of any extents") {
  lt::Dim m("m"), n("n"), d("d");
  lt::Input<std::int32_t, 0> z("z");
  const auto C = product<std::int32_t>(
      m, n, d, [&](const auto& a, const auto& b) { return (a - z()) * (b - 100); });
  lt::Schedule start(C), s = start;
  const auto [rows, columns, added] = s.split_terms<3>(C);
  CHECK(
      s.str() ==
      R"(program C<m, d, n>(in A: u8[m, d], in B: i8[d, n], in z: i32, out C: i32[m, n]) scheduled:
  alloc C_terms: i32[m, n]
  alloc C_sum: i32[m]
  alloc C_sum_1: i32[n]
  for i in 0..m:
    for r in 0..d:
      block C_sum(vi in 0..m = i, reduce vr in 0..d = r) reduce sum init:
        C_sum[vi] sum= i32(A[vi, vr])
  for j in 0..n:
    for r in 0..d:
      block C_sum_1(vj in 0..n = j, reduce vr in 0..d = r) reduce sum init:
        C_sum_1[vj] sum= i32(B[vr, vj])
  for i in 0..m:
    for j in 0..n:
      for r in 0..d:
        block C(vi in 0..m = i, vj in 0..n = j, reduce vr in 0..d = r) reduce sum init:
          C_terms[vi, vj] sum= i32(A[vi, vr]) * i32(B[vr, vj])
  for i in 0..m:
    for j in 0..n:
      block C_added(vi in 0..m = i, vj in 0..n = j):
        C[vi, vj] = C_terms[vi, vj] - C_sum[vi] * 100i32 - z * C_sum_1[vj] + z * i32(d) * 100i32
)");
  CHECK(s.trace().cpp("s") == "auto b0 = s.block(\"C\");\ns.split_terms<3>(b0);\n");
  CHECK(s.numerics().empty());
  for (const std::int64_t rows_of : {0, 1, 3})
    for (const std::int64_t columns_of : {0, 2})
      for (const std::int64_t terms : {0, 1, 5})
        check_kept(start, s, {{"m", rows_of}, {"n", columns_of}, {"d", terms}});
  s.reverse_compute_at(added, s.loops(C)[1]);
  s.compute_at(rows, s.loops(C)[0]);
  check_lowered(start, s, {{"m", 3}, {"n", 2}, {"d", 5}});
}

TEST_CASE("split_terms: squared distances keep one product, twice") {
  for (const bool negative : {false, true}) {
    const auto C = product<std::int64_t>(4, 5, 6, [&](const auto& a, const auto& b) {
      return negative ? (-a + b) * (a - b) : (a - b) * (a - b);
    });
    lt::Schedule start(C), s = start;
    CHECK(s.split_terms(C).size() == 3);
    CHECK(has(s.str(), "C_terms[vi, vj] sum= i64("));
    CHECK(has(s.str(), negative ? "C_terms[vi, vj] * 2 " : "C_terms[vi, vj] * -2 "));
    check_kept(start, s);
  }
}

TEST_CASE("split_terms: factors outside of the sum, and terms that wrap in a byte") {
  lt::Input<std::int8_t, 1> scale("scale", {7});
  lt::Input<std::int8_t, 2> A("A", {5, 9}), B("B", {9, 7});
  lt::Reduce r("r", 9);
  for (const int kind : {0, 1, 2, 3}) {
    const auto C = lt::compute("C", {5, 7}, [&](lt::Var i, lt::Var j) {
      const auto a = A(i, r), b = B(r, j);
      const auto s = scale(j);
      if (kind == 0) return lt::sum(a * b * s, r);
      if (kind == 1) return lt::sum((a - s) * (b + s) * s - b, r);
      if (kind == 2) return lt::sum(a * b + B(r, i) * a * b - a * s, r);
      return lt::sum(a * b + s * s - 100, r);
    });
    lt::Schedule start(C), s = start;
    CHECK(s.split_terms(C).size() == (kind == 0 || kind == 3 ? 1 : kind == 1 ? 3 : 2));
    check_kept(start, s);
    // Its results are products and sums, so that there is nothing left to split.
    if (kind != 2) CHECK(error_of([&] { s.split_terms(C); }).starts_with(kNoTerms));
  }
}

TEST_CASE("split_terms: terms and places that begin elsewhere, and may be none") {
  lt::Dim n("n");
  lt::Input<std::int32_t, 2> A("A", {7, n}), B("B", {n, 5});
  lt::Reduce r("r", {2, n - 3});
  const auto C = lt::compute("C", {4, 5}, [&](lt::Var i, lt::Var j) {
    return lt::sum((A(i + 3, r) - 3) * B(r, j) + 5, r);
  });
  lt::Schedule start(C), s = start;
  CHECK(s.split_terms(C).size() == 2);
  CHECK(has(s.str(), "i32(max(n - 3, 0)) * 5i32"));
  for (const std::int64_t terms : {0, 1, 3, 4, 9}) check_kept(start, s, {{"n", terms}});
}

TEST_CASE("split_terms: sums that cancel, or have no terms, are left out") {
  const auto cancels = product<std::int16_t>(
      4, 5, 6, [](const auto& a, const auto& b) { return (a - 3) * b + a + 3 * b - a * 4; });
  lt::Schedule start(cancels), s = start;
  CHECK(s.split_terms(cancels).size() == 2);
  CHECK(has(s.str(), "C_terms[vi, vj] - C_sum[vi] * 3i16\n"));
  check_kept(start, s);
  const auto none =
      product<std::int16_t>(4, 5, 0, [](const auto& a, const auto& b) { return a * b + 7; });
  CHECK(refusal(none).starts_with(kNoTerms));
  // The one product of all.
  CHECK(refusal(product<std::int16_t>(4, 5, 6, [](const auto& a, const auto& b) {
          return (a - b) * (a + b);
        })).starts_with(kNoTerms));
}

TEST_CASE("split_terms: windows of several reduce iterators, and those that a product repeats") {
  lt::Input<std::uint8_t, 2> X("X", {8, 9});
  lt::Input<std::int8_t, 3> W("W", {4, 2, 3});
  lt::Input<std::int32_t, 1> z("z", {2});
  lt::Reduce a("a", 2), b("b", 3);
  const auto C = lt::compute("C", {7, 7, 4}, [&](lt::Var i, lt::Var j, lt::Var k) {
    return lt::sum(
        (lt::cast<std::int32_t>(X(i + a, j + b)) - z(a)) * lt::cast<std::int32_t>(W(k, a, b)) +
            z(a) * 3,
        {a, b});
  });
  lt::Schedule start(C), s = start;
  // z[a] * W[k, a, b] over a and b; z[a] over a, three times.
  CHECK(s.split_terms(C).size() == 3);
  CHECK(has(s.str(), "* 9i32"));
  check_lowered(start, s);
}

TEST_CASE("split_terms: below a loop that writes what is read") {
  const lt::Program program =
      lt::parse(R"(program P(in X: i32[6, 5], in W: i32[5, 3], out C: i32[6, 3]):
  alloc Y: i32[6, 5]
  for i in 0..6:
    for r in 0..5:
      block Y(vi in 0..6 = i, vr in 0..5 = r):
        Y[vi, vr] = X[vi, vr] * 3i32
    for j in 0..3:
      for k in 0..5:
        block C(vi in 0..6 = i, vj in 0..3 = j, reduce vk in 0..5 = k) reduce sum init:
          C[vi, vj] sum= (Y[vi, vk] - 7i32) * W[vk, vj]
)");
  lt::Schedule start(program), s = start;
  CHECK(s.split_terms("C").size() == 2);
  check_lowered(start, s);

  const lt::Program inside =
      lt::parse(R"(program P(in X: i32[6, 5], in W: i32[5, 3], out C: i32[6, 3]):
  alloc Y: i32[6, 5]
  for i in 0..6:
    for j in 0..3:
      for k in 0..5:
        block Y(vi in 0..6 = i, vr in 0..5 = k):
          Y[vi, vr] = X[vi, vr] * 3i32
        block C(vi in 0..6 = i, vj in 0..3 = j, reduce vk in 0..5 = k) reduce sum init:
          C[vi, vj] sum= Y[vi, vk] * (W[vk, vj] - 7i32)
)");
  CHECK(refusal(inside).starts_with("L0269 split_terms: block 'C' reads in loop 'k'"));
}

TEST_CASE("split_terms: what it refuses") {
  const auto i32 = [](auto term) { return product<std::int32_t>(4, 5, 6, term); };
  CHECK(refusal(i32([](const auto& a, const auto& b) { return a * b; })) ==
        "L0269 split_terms: block 'C' adds up i32(A[vi, vr]) * i32(B[vr, vj]), which is not one "
        "product over all of its iterators and others over fewer");
  // Neither product names all of the iterators; all of them do.
  CHECK(refusal(i32([](const auto& a, const auto& b) { return a - b; })).starts_with(kNoTerms));
  CHECK(refusal(i32([](const auto& a, const auto& b) {
          return a * b * a + b * b * a;
        })).starts_with(kNoTerms));
  CHECK(refusal(product<float>(4, 5, 6, [](const auto& a, const auto& b) {
          return (a - 1.0f) * b;
        })).starts_with("L0269 split_terms: block 'C' is no sum of integers"));
  CHECK(refusal(i32([](const auto& a, const auto& b) {
          return (a - 1) * b + 3 / b;
        })).starts_with("L0269 split_terms: block 'C' computes"));

  lt::Input<std::int32_t, 2> X("X", {4, 6});
  lt::Reduce r("r", 6);
  const auto most =
      lt::compute("C", {4}, [&](lt::Var i) { return lt::reduce_max((X(i, r) - 1) * X(i, r), r); });
  CHECK(refusal(most).starts_with("L0269 split_terms: block 'C' is no sum of integers"));

  // Each of the sums would begin at 5.
  const auto from_five =
      lt::reducer("from_five", lt::Expr<std::int32_t>(5), [](auto a, auto b) { return a + b; });
  const auto five =
      lt::compute("C", {4}, [&](lt::Var i) { return from_five((X(i, r) - 1) * X(0, r), r); });
  CHECK(refusal(five).starts_with("L0269 split_terms: block 'C' is no sum of integers"));

  const auto C = i32([](const auto& a, const auto& b) { return (a - 1) * b; });
  lt::Schedule split(C), fused(C), guarded(C);
  split.split(split.loops(C)[2], {2, lt::infer});
  CHECK(error_of([&] {
          split.split_terms(C);
        }).starts_with("L0269 split_terms: block 'C' has an iterator 'vr' that no loop"));
  fused.fuse({fused.loops(C)[0], fused.loops(C)[1]});
  CHECK(error_of([&] {
          fused.split_terms(C);
        }).starts_with("L0269 split_terms: block 'C' has an iterator 'vi' that no loop"));
  guarded.split(guarded.loops(C)[0], {lt::infer, 3});
  CHECK(error_of([&] {
          guarded.split_terms(C);
        }).starts_with("L0269 split_terms: block 'C' has an iterator 'vi' that no loop"));
  CHECK(refusal(lt::parse("program P(in A: i32[4, 6], out C: i32[4]):\n"
                          "  for i in 0..4:\n    for r in 0..6:\n"
                          "      block C(vi in 0..4 = i, reduce vr in 0..6 = r) reduce sum init "
                          "where vr <= vi:\n"
                          "        C[vi] sum= (A[vi, vr] - 1i32) * A[0, vr]\n"))
            .starts_with("L0269 split_terms: block 'C' has a condition"));
  lt::Schedule apart(C);
  apart.decompose_reduction(C, apart.loops(C)[2]);
  CHECK(error_of([&] {
          apart.split_terms(C);
        }).starts_with("L0269 split_terms: block 'C' is not the only writer of 'C'"));
}

TEST_CASE(
    "split_terms: programs that repeat points or cover them in part, and parameters that are "
    "read") {
  const auto text = [](const char* loops, const char* vr, const char* value) {
    return std::string(
               "program P(in A: i32[4, 6], in B: i32[6], inout Z: i32[1], out C: i32[4]):\n") +
           "  for i in 0..4:\n    " + loops + "        block C(vi in 0..4 = i, reduce vr in " + vr +
           ") reduce sum init:\n          C[vi] sum= " + value + "\n";
  };
  const char* loops = "for r in 0..6:\n      for q in 0..1:\n";
  // Each time the sum begins anew.
  lt::Schedule again(lt::parse(
      text("for q in 0..2:\n      for r in 0..6:\n", "0..6 = r", "(A[vi, vr] - 3i32) * B[vr]")));
  lt::Schedule twice = again;
  twice.split_terms("C");
  check_kept(again, twice);
  CHECK(refusal(lt::parse(text("for r in 0..5:\n      for q in 0..1:\n", "0..6 = r",
                               "(A[vi, vr] - 3i32) * B[vr]")))
            .starts_with("L0269 split_terms: block 'C' has an iterator 'vr' that no loop"));
  lt::Schedule start(lt::parse(text(loops, "0..6 = r", "(A[vi, vr] - Z[0]) * B[vr]"))), s = start;
  s.split_terms("C");
  check_kept(start, s);
}
