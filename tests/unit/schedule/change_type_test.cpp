// change_type: temporaries hold integers of another type, where the values are proven to fit.
#include <support/errors.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

namespace {

/// C[i] = sum over r of A[i, r] * B[r], bytes in i32, and D[i] = C[i] + 1.
struct Dots {
  lt::Input<std::uint8_t, 2> A;
  lt::Input<std::int8_t, 1> B;
  lt::Reduce r;
  lt::Tensor<std::int32_t, 1> C, D;
  Dots(lt::Extent n, lt::Extent k)
      : A("A", {n, k}),
        B("B", {k}),
        r("r", k),
        C(lt::compute("C", {n},
                      [&](lt::Var i) {
                        return lt::sum(
                            lt::cast<std::int32_t>(A(i, r)) * lt::cast<std::int32_t>(B(r)), r);
                      })),
        D(lt::compute("D", {n}, [&](lt::Var i) { return C(i) + 1; })) {}
};

std::string why(lt::Schedule& s, const lt::BufferName& buffer, lt::DType t) {
  return refused_line(s, [&](lt::Schedule& u) { u.change_type(buffer, t); });
}

}  // namespace

TEST_CASE("change_type: sums of products of bytes") {
  Dots k(5, 1);
  lt::Schedule start(k.D), s = start;
  CHECK(
      refused(s, [&](lt::Schedule& t) { t.change_type(k.C, lt::kI8); }) ==
      R"(error[L0253] change_type: buffer 'C' holds values from -32640 to 32385, as far as is proven; i8 holds -128 to 127
  at change_type_test.cpp:#
  help: types that hold this: i16 i32 i64; clamp what is stored, or cast it from a smaller type, for a smaller range)");
  s.change_type(k.C, lt::kI16);
  CHECK(s.str() == R"(program D(in A: u8[5, 1], in B: i8[1], out D: i32[5]) scheduled:
  alloc C: i16[5]
  for i in 0..5:
    for r in 0..1:
      block C(vi in 0..5 = i, reduce vr in 0..1 = r) reduce sum init:
        C[vi] sum= i16(A[vi, vr]) * i16(B[vr])
  for i in 0..5:
    block D(vi in 0..5 = i):
      D[vi] = i32(C[vi]) + 1i32
)");
  CHECK(s.trace().cpp("s") == "s.change_type(\"C\", lathe::kI16);\n");
  check_lowered(start, s);
  s.change_type(k.C, lt::kI64);
  check_lowered(start, s);
  s.change_type(k.C, lt::kI32);
  check_lowered(start, s);
}

TEST_CASE("change_type: how many terms a sum has") {
  for (std::int64_t terms : {0, 1}) {
    Dots k(5, terms);
    lt::Schedule start(k.D), s = start;
    s.change_type(k.C, lt::kI16);
    s.vectorize(s.loops(k.C)[0]);
    check_lowered(start, s);
  }
  // 128 * 255 * 66052 are less than 2^31 and more than 2^31 with one more.
  Dots two(5, 2), many(2, 65793), more(2, 65794);
  lt::Schedule a(two.D), b(many.D), c(more.D);
  CHECK(why(a, two.C, lt::kI16) ==
        "error[L0253] change_type: buffer 'C' holds values from -65280 to 64770, as far as is "
        "proven; i16 holds -32768 to 32767");
  b.change_type(many.C, lt::kI64);
  CHECK(why(c, more.C, lt::kI64) ==
        "error[L0253] change_type: buffer 'C' holds values from -2147516160 to 2130738690, as far "
        "as is proven; i32, in which it is computed now, holds -2147483648 to 2147483647");

  lt::Dim n("n"), few("few", {.max = 100});
  Dots any(5, n), bounded(n, few);
  lt::Schedule d(any.D), start(bounded.D), e = start;
  CHECK(why(d, any.C, lt::kI64).find("buffer 'C' holds values of no proven range; i64 holds") !=
        std::string::npos);
  e.change_type(bounded.C, lt::kI64);
  for (std::int64_t rows : {0, 3})
    for (std::int64_t terms : {0, 1, 7}) check_lowered(start, e, {{"n", rows}, {"few", terms}});
}

TEST_CASE("change_type: a sum in parts") {
  lt::Input<std::uint8_t, 2> A("A", {6, 12});
  lt::Reduce r("r", 12);
  auto S =
      lt::compute("S", {6}, [&](lt::Var i) { return lt::sum(lt::cast<std::int32_t>(A(i, r)), r); });
  auto T = lt::compute("T", {6}, [&](lt::Var i) { return S(i) * 2; });
  lt::Schedule start(T), s = start;
  auto [i, q] = s.loops<2>(S);
  auto [qo, qi] = s.split(q, {3, 4});
  const lt::BlockRef parts = s.rfactor(qo);
  s.change_type(parts, lt::kU16);
  check_lowered(start, s);
  s.change_type("S", lt::kU16);
  check_lowered(start, s);
  CHECK(why(s, "S", lt::kU8).find("values from 0 to 3060,") != std::string::npos);
  CHECK(why(s, parts, lt::kU8).find("values from 0 to 1020,") != std::string::npos);

  lt::Schedule apart = start;
  auto loops = apart.loops(S);
  apart.decompose_reduction(S, loops[1]);
  apart.loop_partition(loops[1], {5});
  CHECK(why(apart, "S", lt::kU8).find("values from 0 to 3060,") != std::string::npos);
  apart.change_type("S", lt::kI16);
  check_lowered(start, apart);
}

namespace {

/// Twice the position of the least of each row.
struct Positions {
  lt::Dim n;
  lt::Input<float, 2> A;
  lt::Reduce r;
  lt::Tensor<std::int64_t, 1> where;

  explicit Positions(std::int64_t most)
      : n("n", {.max = most}), A("A", {7, n}), r("r", n), where(doubled()) {}

 private:
  lt::Tensor<std::int64_t, 1> doubled() {
    auto best = lt::compute("best", {7}, [&](lt::Var i) { return lt::argmin(A(i, r), r); });
    return lt::compute("where", {7}, [&](lt::Var i) { return best.get<1>()(i) * 2; });
  }
};

}  // namespace

TEST_CASE("change_type: positions of arg-reductions, the last number being the identity's") {
  const Positions k(127);
  lt::Schedule start(k.where), s = start;
  s.change_type("best_1", lt::kI8);
  CHECK(s.str().find("best_1[vi] argmin= i8(vr)") != std::string::npos);
  CHECK(s.str().find("select(best_1[vi] == 127i8, 9223372036854775807, i64(best_1[vi]))") !=
        std::string::npos);
  // Without an element, what is read is the identity's.
  for (int terms : {0, 1, 5, 127}) check_lowered(start, s, {{"n", terms}});
  lt::Schedule apart = s;
  apart.decompose_reduction("best", apart.loops("best")[1]);
  CHECK(apart.str().find("best_1[vi] = 127i8") != std::string::npos);
  for (int terms : {0, 5}) check_lowered(start, apart, {{"n", terms}});
  lt::Schedule later = start;
  later.decompose_reduction("best", later.loops("best")[1]);
  later.change_type("best_1", lt::kI8);
  CHECK(later.str() == apart.str());
  lt::Schedule wide = s;
  wide.change_type("best_1", lt::kI32);
  for (int terms : {0, 5}) check_lowered(start, wide, {{"n", terms}});
}

TEST_CASE("change_type: positions that leave the identity no number") {
  const Positions k(128);
  lt::Schedule start(k.where), s = start;
  CHECK(
      refused(s, [&](lt::Schedule& t) { t.change_type("best_1", lt::kI8); }) ==
      R"(error[L0253] change_type: buffer 'best_1' holds values from 0 to 127, as far as is proven; i8 holds -128 to 126, its largest number left to the identity
  at change_type_test.cpp:#
  help: types that hold this: u8 i16 u16 i32 u32 i64; clamp what is stored, or cast it from a smaller type, for a smaller range)");
  CHECK(why(s, "best_0", lt::kI8).find("holds f32, whose values") != std::string::npos);
  s.change_type("best_1", lt::kU8);
  for (int terms : {0, 5, 128}) check_lowered(start, s, {{"n", terms}});

  // What parts hold may be the identity's.
  lt::Schedule parts = start;
  parts.rfactor(parts.split_any(parts.loops("best")[1], {lt::infer, 4})[1]);
  CHECK(why(parts, "best_1", lt::kI16).find("holds values of no proven range") !=
        std::string::npos);
  parts.change_type("best_1_part", lt::kI16);
  for (int terms : {0, 3, 5}) check_lowered(start, parts, {{"n", terms}});
}

TEST_CASE("change_type: the least and the largest, the identity being another number") {
  lt::Dim n("n");
  lt::Input<std::uint8_t, 2> A("A", {5, n});
  lt::Reduce r("r", n);
  for (const bool largest : {false, true}) {
    auto C = lt::compute("C", {5}, [&](lt::Var i) {
      const auto term = lt::select(A(i, r) > 100, lt::cast<std::int64_t>(A(i, r)) * 2, 250);
      return largest ? lt::reduce_max(term, r) : lt::reduce_min(term, r);
    });
    auto D = lt::compute("D", {5}, [&](lt::Var i) { return C(i) + 0; });
    lt::Schedule start(D), s = start;
    s.change_type(C, lt::kI16);
    CHECK(s.str().find("select(A[vi, vr] > 100u8, i16(A[vi, vr]) * i16(2), i16(250))") !=
          std::string::npos);
    // Without an element, what is read is the identity.
    for (int terms : {0, 1, 7, 40}) check_lowered(start, s, {{"n", terms}});
    lt::Schedule apart = s;
    apart.decompose_reduction(C, apart.loops(C)[1]);
    CHECK(apart.str().find(largest ? "C[vi] = -32768i16" : "C[vi] = 32767i16") !=
          std::string::npos);
    for (int terms : {0, 7}) check_lowered(start, apart, {{"n", terms}});
    lt::Schedule lanes = s;
    lanes.fold_lanes(lanes.loops(C)[1], 16);
    for (int terms : {0, 7, 40}) check_lowered(start, lanes, {{"n", terms}});
    CHECK(why(s, C, lt::kU8).find("holds values from 0 to 510, as far as is proven; u8 holds ") !=
          std::string::npos);
  }
}

TEST_CASE("change_type: ranges of expressions, and through temporaries") {
  lt::Input<std::uint8_t, 1> A("A", {9});
  lt::Input<std::int64_t, 1> X("X", {9});
  auto P = lt::compute("P", {9}, [&](lt::Var i) { return lt::cast<std::int64_t>(A(i)) * 3 - 5; });
  auto Q = lt::compute("Q", {9}, [&](lt::Var i) {
    return lt::select(i > 4, lt::max(P(i) - P(8 - i), 0), lt::clamp(X(i), -3, 900)) + i;
  });
  auto C = lt::compute("C", {9}, [&](lt::Var i) { return Q(i) + X(i); });
  lt::Schedule start(C), s = start;
  CHECK(why(s, P, lt::kU16).find("holds values from -5 to 760,") != std::string::npos);
  CHECK(why(s, P, lt::kI8).find("holds values from -5 to 760,") != std::string::npos);
  s.change_type(P, lt::kI16);
  CHECK(why(s, Q, lt::kU8).find("holds values from -3 to ") != std::string::npos);
  s.change_type(Q, lt::kI16);
  check_lowered(start, s);
  auto with = [&](auto step) {
    lt::Schedule t = s;
    step(t);
    check_lowered(start, t);
  };
  with([&](lt::Schedule& t) { t.compute_inline(P), t.compute_inline(Q); });
  with([&](lt::Schedule& t) { t.compute_at(P, t.loops(Q)[0]); });
  with([&](lt::Schedule& t) { t.cache_write(Q, lt::Scope::local); });
  with([&](lt::Schedule& t) { t.cache_read(C, "Q", lt::Scope::local); });
  with([&](lt::Schedule& t) { t.reverse_compute_inline(C); });
  with([&](lt::Schedule& t) { t.vectorize(t.loops(Q)[0]), t.set_scope("P", lt::Scope::local); });
}

TEST_CASE("change_type: a copy of narrow numbers, converted once for all that read it") {
  lt::Input<lt::f16, 2> A("A", {5, 7});
  lt::Input<std::int8_t, 2> B("B", {7, 9});
  lt::Reduce r("r", 7);
  auto C = lt::compute("C", {5, 9}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<float>(A(i, r)) * lt::cast<float>(B(r, j)), r);
  });
  lt::Schedule start(C), s = start;
  const lt::BlockRef a = s.cache_read(C, A, lt::Scope::global),
                     b = s.cache_read(C, B, lt::Scope::global);
  s.change_type("A_cache", lt::kF32);
  s.change_type("B_cache", lt::kI16);
  CHECK(s.trace().cpp("s").find("s.change_type(\"A_cache\", lathe::kF32);\n") != std::string::npos);
  CHECK(s.str() ==
        R"(program C(in A: f16[5, 7], in B: i8[7, 9], out C: f32[5, 9]) scheduled:
  alloc A_cache: f32[5, 7]
  alloc B_cache: i16[7, 9]
  for i in 0..5:
    for j in 0..7:
      block A_cache(vi in 0..5 = i, vj in 0..7 = j):
        A_cache[vi, vj] = f32(A[vi, vj])
  for i in 0..7:
    for j in 0..9:
      block B_cache(vi in 0..7 = i, vj in 0..9 = j):
        B_cache[vi, vj] = i16(B[vi, vj])
  for i in 0..5:
    for j in 0..9:
      for r in 0..7:
        block C(vi in 0..5 = i, vj in 0..9 = j, reduce vr in 0..7 = r) reduce sum init:
          C[vi, vj] sum= A_cache[vi, vr] * f32(B_cache[vr, vj])
)");
  check_lowered(start, s);
  s.compute_at(b, s.loops(C)[0]);
  s.vectorize(s.loops(a)[1]);
  check_lowered(start, s);
  CHECK(why(s, "A_cache", lt::kI64) ==
        "error[L0253] change_type: buffer 'A_cache' holds f32, whose values i64 does not hold");
  CHECK(why(s, "B_cache", lt::kF32) ==
        "error[L0253] change_type: buffer 'B_cache' holds integers, which are not kept as floats");
  s.change_type("A_cache", lt::kF64);
  check_lowered(start, s);
}

TEST_CASE("change_type: sums of floats are rounded as their type says") {
  lt::Input<lt::f16, 2> A("A", {5, 7});
  lt::Reduce r("r", 7);
  auto S = lt::compute("S", {5}, [&](lt::Var i) { return lt::sum(A(i, r), r); });
  auto T = lt::compute("T", {5}, [&](lt::Var i) { return S(i) * S(i); });
  auto U = lt::compute("U", {5}, [&](lt::Var i) { return lt::cast<float>(T(i)); });
  lt::Schedule start(U), s = start;
  CHECK(why(s, S, lt::kF32) ==
        "error[L0253] change_type: buffer 'S' holds sums of block 'S', which would be rounded "
        "otherwise");
  s.change_type(T, lt::kF32);
  CHECK(s.str().find("T[vi] = f32(S[vi] * S[vi])\n") != std::string::npos);
  check_lowered(start, s);
}

TEST_CASE("change_type: what is not proven") {
  lt::Input<std::int32_t, 1> X("X", {9});
  auto P = lt::compute("P", {9}, [&](lt::Var i) { return X(i) * 2; });
  lt::Reduce r("r", 9);
  auto M = lt::compute("M", {9}, [&](lt::Var i) { return lt::reduce_max(P(r) + X(i), r); });
  auto F = lt::compute("F", {9}, [&](lt::Var i) { return lt::cast<float>(M(i)); });
  auto G = lt::compute("G", {9}, [&](lt::Var i) { return F(i) * 2.0f; });
  lt::Schedule s(G);
  CHECK(why(s, P, lt::kI16).find("buffer 'P' holds values from -2147483648 to 2147483647,") !=
        std::string::npos);
  CHECK(why(s, M, lt::kI64)
            .find("i32, in which it is computed now, holds -2147483647 to "
                  "2147483647, its least number left to the identity") != std::string::npos);
  CHECK(why(s, F, lt::kI64) ==
        "error[L0253] change_type: buffer 'F' holds f32, whose values i64 does not hold");
  CHECK(why(s, G, lt::kI64) ==
        "error[L0253] change_type: buffer 'G' is a parameter: the caller chose its type");
  CHECK(why(s, P, lt::kI32) == "error[L0253] change_type: buffer 'P' holds i32 already");
  CHECK(why(s, P, lt::kI4) == "error[L0253] change_type: 'i4' is no type to change to");
  s.change_type(P, lt::kI64);  // each value is one of i32

  // Of a parameter the caller knows what it holds, whatever the program stores to it.
  lt::Schedule partly = schedule_of(R"(program p(inout A: i32[8], out B: i32[8]):
  alloc T: i32[8]
  for i in 0..4:
    block A(vi in 0..4 = i):
      A[vi] = 1i32
  for i in 0..8:
    block T(vi in 0..8 = i):
      T[vi] = A[vi]
  for i in 0..8:
    block B(vi in 0..8 = i):
      B[vi] = T[vi]
)");
  CHECK(why(partly, "T", lt::kI16).find("holds values from -2147483648 to 2147483647,") !=
        std::string::npos);

  lt::Schedule scan = schedule_of(R"(program p(in A: u8[8], out B: i32[8]):
  alloc T: i32[9]
  block first():
    T[0] = 0i32
  for i in 0..8:
    block next(vi in 0..8 = i):
      T[vi + 1] = T[vi] + i32(A[vi])
  for i in 0..8:
    block B(vi in 0..8 = i):
      B[vi] = T[vi]
)");
  CHECK(why(scan, "T", lt::kI16).find("holds values from -2147483648 to 2147483647,") !=
        std::string::npos);

  lt::Schedule counts = schedule_of(R"(program p(in I: i64[8], out B: i32[4]):
  alloc H: i32[4]
  for i in 0..4:
    block zero(vi in 0..4 = i):
      H[vi] = 0i32
  for i in 0..8:
    block count(vi in 0..8 = i):
      H[max(min(I[vi], 3), 0)] = H[max(min(I[vi], 3), 0)] + 1i32
  for i in 0..4:
    block B(vi in 0..4 = i):
      B[vi] = H[vi]
)");
  CHECK(why(counts, "H", lt::kI16).find("holds values from -2147483648") != std::string::npos);
  counts.atomic("count");
  CHECK(why(counts, "H", lt::kI64) ==
        "error[L0253] change_type: buffer 'H' is used by an opaque block or an atomic update, "
        "which knows its type");
}
