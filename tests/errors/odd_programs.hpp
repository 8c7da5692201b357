// Programs that the DSL does not make, and some whose loops are too wide or too tangled for a step.
// Each begins with a line break.
#pragma once

/// Y after T, both under a condition.
inline constexpr const char* kGuarded = R"(
program P<n>(in X: f32[n], out Y: f32[n]):
  alloc T: f32[n]
  if n > 3:
    for i in 0..n:
      block T(v in 0..n = i):
        T[v] = X[v] + 1.0
    for i in 0..n:
      block Y(v in 0..n = i):
        Y[v] = T[v] * 2.0
)";
/// T holds a loop; U is another buffer that it fills; V has a predicate.
inline constexpr const char* kOdd = R"(
program P(in X: f32[8], out Y: f32[8]):
  alloc T: f32[8]
  alloc U: f32[8]
  alloc V: f32[8]
  for i in 0..8:
    block T(v in 0..8 = i):
      for q in 0..2:
        T[v] = X[v] + f32(q)
  for i in 0..8:
    block UV(v in 0..8 = i):
      U[v] = T[v]
      V[v] = T[v]
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = T[v] + U[v] + V[v]
)";
inline constexpr const char* kPredicate = R"(
program P(in X: f32[8], out Y: f32[8]):
  alloc T: f32[8]
  for i in 0..8:
    block T(v in 0..8 = i) where v > 2:
      T[v] = X[v]
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = T[max(v, 3)]
)";
/// Whole buffers, as a block of one's own uses them.
inline constexpr const char* kOpaque = R"(
program P(in X: f32[8], out Y: f32[8]):
  alloc T: f32[8]
  for i in 0..8:
    block T(opaque v in 0..8 = i) reads X[0..8] writes T[0..8]:
      T[v] = X[v]
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = T[v]
)";
inline constexpr const char* kRagged = R"(
program P(in X: f32[8], out Y: f32[8]):
  alloc T: f32[8, 8]
  for i in 0..8:
    for j in 0..i + 1:
      block T(a in 0..8 = i, b in 0..a + 1 = j):
        T[a, b] = X[a]
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = T[v, v]
)";
inline constexpr const char* kTriangle = R"(
program P(in A: f32[8, 8], inout C: f32[8, 8]):
  for i in 0..8:
    for j in 0..i + 1:
      block C(vi in 0..8 = i, vj in 0..8 = j):
        C[vi, vj] = A[vi, vj]
)";
inline constexpr const char* kRaggedSum = R"(
program P(in X: f32[8], out Y: f32[8]):
  for i in 0..8:
    for r in 0..i + 1:
      block Y(a in 0..8 = i, reduce q in 0..a + 1 = r) reduce sum init:
        Y[a] sum= X[q]
)";
/// A reducer whose order matters, and one that may not even be regrouped.
inline constexpr const char* kOrdered = R"(
program P(in X: f32[4, 6], out Y: f32[], out Z: f32[]):
  reducer noncommutative last(a: f32 = 0.0; b) = select(b != 0.0, b, a)
  reducer nonassociative noncommutative decay(c: f32 = 0.0; d) = c * 0.5 + d
  for r in 0..4:
    for s in 0..6:
      block Y(reduce a in 0..4 = r, reduce b in 0..6 = s) reduce last init:
        Y[] last= X[a, b]
  for r in 0..4:
    for s in 0..6:
      block Z(reduce a in 0..4 = r, reduce b in 0..6 = s) reduce decay init:
        Z[] decay= X[a, b]
)";
inline constexpr const char* kInPlace = R"(
program P(inout X: f32[8, 8], out Y: f32[8]):
  alloc T: f32[8]
  for i in 0..8:
    block T(v in 0..8 = i):
      T[v] = X[v, 0]
  for i in 0..7:
    for j in 0..7:
      block X(a in 1..8 = i + 1, b in 0..7 = j):
        X[a, b] = X[a - 1, b + 1] + 1.0
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = T[v]
)";
/// Y adds to what its memory holds.
inline constexpr const char* kAdds = R"(
program P(in X: f32[8, 4], inout Y: f32[8]):
  for i in 0..8:
    for r in 0..4:
      block Y(v in 0..8 = i, reduce q in 0..4 = r) reduce sum:
        Y[v] sum= X[v, q]
)";
inline constexpr const char* kWide = R"(
program P(in X: f32[4096, 4], out Y: f32[4096, 4]):
  for i in 0..4096:
    for j in 0..4:
      block Y(a in 0..4096 = i, b in 0..4 = j):
        Y[a, b] = X[a, b]
)";
inline constexpr const char* kHuge = R"(
program P(in X: f32[1], out Y: f32[1]):
  for i in 0..1099511627776:
    for j in 0..1099511627776:
      block Y(v in 0..1 = i * 0 + j * 0):
        Y[v] = X[v]
)";
/// The reduction shares its loop with another block.
inline constexpr const char* kShared = R"(
program P(in X: f32[8, 4], out Y: f32[8], out Z: f32[4]):
  for i in 0..8:
    block zero(v in 0..8 = i):
      Y[v] = 0.0
  for r in 0..4:
    for i in 0..8:
      block Y(v in 0..8 = i, reduce q in 0..4 = r) reduce sum:
        Y[v] sum= X[v, q]
    block Z(v in 0..4 = r):
      Z[v] = X[0, v]
)";
/// Which element, only memory knows.
inline constexpr const char* kGather = R"(
program P(in at: i64[8], in X: f32[8], out Y: f32[8]):
  for i in 0..8:
    block Y(v in 0..8 = at[i]):
      Y[v] = X[v]
)";
/// A tail of a tail.
inline constexpr const char* kTails = R"(
program P(in X: f32[100], out Y: f32[100]):
  for io in 0..10:
    for iio in 0..3:
      for iii in 0..4:
        block Y(vi in 0..100 = io * 10 + (iio * 4 + iii), vii in 0..10 = iio * 4 + iii) @guards=1:
          Y[vi] = X[vi]
)";
/// The outer loop of Y's reduction holds Z too.
inline constexpr const char* kSharedOuter = R"(
program P(in X: f32[8, 4], out Y: f32[8], out Z: f32[2]):
  for i in 0..8:
    block zero(v in 0..8 = i):
      Y[v] = 0.0
  for ro in 0..2:
    for i in 0..8:
      for ri in 0..2:
        block Y(v in 0..8 = i, reduce q in 0..4 = ro * 2 + ri) reduce sum:
          Y[v] sum= X[v, q]
    block Z(v in 0..2 = ro):
      Z[v] = X[0, v]
)";
inline constexpr const char* kChain = R"(
program P(in X: f32[8], inout W: f32[8], out T: f32[8], out Y: f32[8]):
  alloc U: f32[8]
  for i in 0..8:
    block T(v in 0..8 = i):
      T[v] = X[v]
  for i in 0..8:
    block U(v in 0..8 = i):
      U[v] = W[v] + 1.0
  for i in 0..8:
    block W(v in 0..8 = i):
      W[v] = U[v] * 2.0
  for i in 0..8:
    block Y(v in 0..8 = i):
      Y[v] = T[v]
)";

inline constexpr const char* kSymbolic = R"(
program P<n>(in X: f32[n], out Y: f32[n]):
  for i in 0..n:
    block Y(v in 0..n = i):
      Y[v] = X[v]
)";
