// Families of several nests that hand values on: in loops that stand fused, in place from block to
// block, under conditions and in while loops, through temporaries of one iteration, inside blocks.
#pragma once

#include "families_text.hpp"

namespace fuzz {

class NestFamilies : public TextFamilies {
 public:
  using TextFamilies::TextFamilies;

  /// One loop over all points of a matrix, which the bindings take apart again.
  void fused_loops() {
    choose_sizes(11, 9);
    fill_one_of({kFusedRows, kFusedLater, kFusedThrice},
                {"", "", " where G[vi] > 1u8", " where G[vi] > 1u8 && vr < 3",
                 " where floormod(vi + vr, 2) == 0"},
                {{"row", one_of({"vi", "$n - 1 - vi"})}});
  }
  /// One array that blocks update one after the other, at the same and at other places.
  void in_place_chain() {
    choose_sizes(13, 7);
    fill_one_of(
        {kChainFolds, kChainCopies, kChainRows},
        {"", " where w < v", " where X[v, w] > $one", " where X[v, w] > $one && w > 0"},
        {{"at", one_of({"v", "$n - 1 - v", "max(v - 1, 0)", "min(v + 1, $n - 1)"})},
         {"only", one_of({"", " where I[v] > 2u8", " where v > 1", " where Y[v] > $one"})}});
  }
  /// Blocks under conditions on iterators and data, in while loops, in loops that data end.
  void guarded_nests() {
    refusable_ = true;
    choose_sizes(11, 9);
    fill_one_of({kGuardedElse, kGuardedWhile, kGuardedEnds, kGuardedTwice},
                {"", " where w < v", " where X[v, w] > $one", " where c[v] > 1u8"},
                {{"if", one_of({"c[i] > 1u8", "i < 3", "floormod(i, 2) == 0", "c[i] > 1u8 && i > 1",
                                "Y[i] > $one", "i != 2"})}});
  }
  /// Arrays of no dimension between folds and maps, and a number that a caller gives.
  void scalar_blocks() {
    refusable_ = true;
    choose_sizes(17, 9);
    fill_one_of(
        {kScalarSum, kScalarShift, kScalarTwo},
        {"", " where w < k", " where X[w] > $one", " where k > 1", " where k > 1 && X[w] > $one"},
        {{"only", one_of({"", "", " where v < k"})}});
  }
  /// Nests inside of a loop that share what an iteration computes, as compute_at leaves them.
  void inner_nests() {
    refusable_ = true;
    choose_sizes(13, 7);
    fill_one_of({kInnerOwn, kInnerWindow, kInnerPrefix},
                {"", " where w < v", " where X[v, w] > $one"});
  }
  /// Blocks that hold nests of blocks, as blockize leaves them.
  void blocks_of_nests() {
    refusable_ = true;
    choose_sizes(9, 7);
    fill_one_of(
        {kHeldRows, kHeldTiles}, {"", " where w < v", " where X[v, w] > $one"},
        {{"end", one_of({"$m", "min(a + 1, $m)", "min(i64(c[a] & 7u8), $m)", "$m - min(a, $m)"})},
         {"whole", one_of({"", " where c[a] > 1u8", " where a > 2"})}});
  }

 protected:
  using Phrases = std::vector<std::string>;

  std::string one_of(const Phrases& all) { return random_.pick(all); }
  /// Integers as a rule: what they come to in another order can be compared to the bit.
  void choose_sizes(std::int64_t longest, std::int64_t widest) {
    static const std::vector<DType> types = {lathe::kI32, lathe::kI32, lathe::kI8,
                                             lathe::kU8,  lathe::kI64, lathe::kF32};
    dtype_ = random_.pick(types);
    loose_program_ = true;
    n_ = size(longest), m_ = size(widest);
  }
  /// One of the texts with some fold, which has an init as a rule, under one of the conditions.
  void fill_one_of(const std::vector<const char*>& texts, const Phrases& conditions,
                   Words words = {}) {
    const Words fold = {{"fold", one_of({"sum", "max", "min", "prod"})},
                        {"init", one_of({" init", " init", ""})},
                        {"where", one_of(conditions)}};
    words.insert(words.end(), fold.begin(), fold.end());
    fill(random_.pick(texts), words);
  }

 private:
  static constexpr const char* kFusedRows =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n], inout Z: $t[$n, $m], in G: u8[$n]):
  alloc T: $t[$n, $m]
  for q in 0..$n * $m:
    block T(vi in 0..$n = floordiv(q, $m), vj in 0..$m = floormod(q, $m)):
      T[vi, vj] = X[vi, $m - 1 - vj] + $some
  for q in 0..$n * $m:
    block Y(vi in 0..$n = floordiv(q, $m), reduce vr in 0..$m = floormod(q, $m))$where reduce $fold$init:
      Y[vi] $fold= T[vi, vr]
  for q in 0..$n * $m:
    block Z(vi in 0..$n = floordiv(q, $m), vj in 0..$m = floormod(q, $m)):
      Z[vi, vj] = T[$row, vj] + Y[vi]
)";
  // The fused loop reads what two loops stored.
  static constexpr const char* kFusedLater =
      R"(program P$dims(in X: $t[$n * $m], inout Y: $t[$n * $m], inout Z: $t[$m]):
  alloc T: $t[$n, $m]
  for i in 0..$n:
    for j in 0..$m:
      block T(vi in 0..$n = i, vj in 0..$m = j):
        T[vi, vj] = X[vi * $m + vj] + $some
  for q in 0..$n * $m:
    block Y(v in 0..$n * $m = q):
      Y[v] = T[floordiv(v, $m), floormod(v, $m)] * $some + Y[v]
  for j in 0..$m:
    for i in 0..$n:
      block Z(vj in 0..$m = j, reduce vi in 0..$n = i) reduce $fold$init:
        Z[vj] $fold= Y[vi * $m + vj]
)";
  static constexpr const char* kFusedThrice =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n, $m, 3], inout Z: $t[$n * $m]):
  for q in 0..$n * $m * 3:
    block Y(vi in 0..$n = floordiv(q, $m * 3), vj in 0..$m = floormod(floordiv(q, 3), $m), vk in 0..3 = floormod(q, 3)):
      Y[vi, vj, vk] = X[vi, vj] + $some
  for q in 0..$n * $m * 3:
    block Z(v in 0..$n * $m = floordiv(q, 3), reduce w in 0..3 = floormod(q, 3)) reduce $fold$init:
      Z[v] $fold= Y[floordiv(v, $m), floormod(v, $m), w]
)";
  static constexpr const char* kChainFolds =
      R"(program P$dims(inout Y: $t[$n], in X: $t[$n, $m], out Z: $t[$n]):
  for i in 0..$n:
    block A(v in 0..$n = i):
      Y[v] = Y[v] + X[v, 0 * v]
  for i in 0..$n:
    for r in 0..$m:
      block B(v in 0..$n = i, reduce w in 0..$m = r) reduce $fold:
        Y[v] $fold= X[v, w]
  for i in 0..$n:
    for r in 0..$m:
      block D(v in 0..$n = i, reduce w in 0..$m = r)$where reduce max:
        Y[v] max= X[v, $m - 1 - w] + $some
  for i in 0..$n:
    block Z(v in 0..$n = i):
      Z[v] = Y[$at] * $some
)";
  static constexpr const char* kChainCopies =
      R"(program P$dims(inout Y: $t[$n], in X: $t[$n], in I: u8[$n]):
  alloc T: $t[$n]
  for i in 0..$n:
    block T(v in 0..$n = i):
      T[v] = Y[$n - 1 - v]
  for i in 0..$n:
    block Y(v in 0..$n = i):
      Y[v] = T[v] + X[v]
  for i in 0..$n:
    block T2(v in 0..$n = i)$only:
      T[v] = Y[v] + T[$n - 1 - v] * $some
  for i in 0..$n:
    block Y2(v in 0..$n = i):
      Y[v] = T[$at] + Y[v]
)";
  // A row is summed and read before the next.
  static constexpr const char* kChainRows =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n, $m], inout S: $t[$m]):
  for i in 0..$n:
    for j in 0..$m:
      block S(reduce v in 0..$n = i, w in 0..$m = j) reduce $fold:
        S[w] $fold= X[v, w]
    for j in 0..$m:
      block Y(v in 0..$n = i, w in 0..$m = j):
        Y[v, w] = S[w] + Y[v, w]
  for j in 0..$m:
    block S2(w in 0..$m = j):
      S[w] = S[$m - 1 - w] + $one
)";
  static constexpr const char* kGuardedElse =
      R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], inout Y: $t[$n], inout Z: $t[$n]):
  for i in 0..$n:
    if $if:
      for r in 0..$m:
        block Y(v in 0..$n = i, reduce w in 0..$m = r) reduce $fold$init:
          Y[v] $fold= X[v, w]
    else:
      block E(v in 0..$n = i):
        Y[v] = X[v, 0 * v] + $some
  for i in 0..$n:
    block Z(v in 0..$n = i):
      Z[v] = Y[v] + Z[v]
)";
  static constexpr const char* kGuardedWhile =
      R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], inout Y: $t[$n], inout k: u8[1], inout Z: $t[$n]):
  k[0] = k[0] & 3u8
  while k[0] > 0u8:
    k[0] = k[0] - 1u8
    for i in 0..$n:
      for r in 0..$m:
        block Y(v in 0..$n = i, reduce w in 0..$m = r) reduce $fold$init:
          Y[v] $fold= X[v, w]
    for i in 0..$n:
      block Z(v in 0..$n = i):
        Z[v] = Y[v] + Z[v]
)";
  static constexpr const char* kGuardedEnds =
      R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], inout Y: $t[$n], inout Z: $t[$n, $m]):
  for i in 0..$n:
    for r in 0..min(i64(c[i] & 7u8), $m):
      block Y(v in 0..$n = i, reduce w in 0..$m = r)$where reduce $fold$init:
        Y[v] $fold= X[v, w]
    for r in 0..$m:
      if r < i64(c[i] & 7u8):
        block Z(v in 0..$n = i, w in 0..$m = r):
          Z[v, w] = Y[v] + X[v, $m - 1 - w]
)";
  static constexpr const char* kGuardedTwice =
      R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], inout Y: $t[$n], inout Z: $t[$n]):
  alloc T: $t[$n]
  for i in 0..$n:
    block T(v in 0..$n = i):
      T[v] = X[v, 0 * v] + $some
  for i in 0..$n:
    if $if:
      for r in 0..$m:
        if $if:
          block Y(v in 0..$n = i, reduce w in 0..$m = r)$where reduce $fold:
            Y[v] $fold= X[v, w] + T[v]
  for i in 0..$n:
    block Z(v in 0..$n = i):
      Z[v] = Y[v] + T[v]
)";
  static constexpr const char* kScalarSum =
      R"(program P$dims(in X: $t[$n], in k: i64, inout s: $t[], out Y: $t[$n], inout u: $t[]):
  for r in 0..$n:
    block s(reduce w in 0..$n = r)$where reduce $fold$init:
      s[] $fold= X[w]
  for i in 0..$n:
    block Y(v in 0..$n = i):
      Y[v] = X[floormod(v + k, $n)] + s[]
  block u():
    u[] = s[] + u[]
)";
  static constexpr const char* kScalarShift =
      R"(program P$dims(in X: $t[$n, $m], in k: i64, inout Y: $t[$n], out Z: $t[$n]):
  alloc T: $t[$n]
  for i in 0..$n:
    block T(v in 0..$n = i):
      T[v] = X[v, 0 * v] + $one
  for i in 0..$n:
    for r in 0..min(max(k, 0), $m):
      block Y(v in 0..$n = i, reduce w in 0..$m = r) reduce $fold$init:
        Y[v] $fold= X[v, w] + T[floormod(v * k, $n)]
  for i in 0..$n:
    block Z(v in 0..$n = i)$only:
      Z[v] = Y[v] + T[floormod(v - k, $n)]
)";
  static constexpr const char* kScalarTwo =
      R"(program P$dims(in X: $t[$n], out s: $t[], out m: $t[], out Y: $t[$n]):
  alloc a: $t[]
  for r in 0..$n:
    block s(reduce w in 0..$n = r) reduce sum init:
      s[] sum= X[w]
  for r in 0..$n:
    block m(reduce w in 0..$n = r) reduce max init:
      m[] max= X[w] - s[]
  block a():
    a[] = s[] + m[]
  for i in 0..$n:
    block Y(v in 0..$n = i):
      Y[v] = X[v] * a[] + m[]
)";
  static constexpr const char* kInnerOwn =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n], inout Z: $t[$n, $m]):
  for i in 0..$n:
    alloc T: $t[$m]
    for j in 0..$m:
      block T(w in 0..$m = j, v in 0..$n = i):
        T[w] = X[v, w] + $some
    for j in 0..$m:
      block Y(v in 0..$n = i, reduce w in 0..$m = j)$where reduce $fold$init:
        Y[v] $fold= T[$m - 1 - w]
    for j in 0..$m:
      block Z(v in 0..$n = i, w in 0..$m = j):
        Z[v, w] = T[w] * $some + Y[v]
)";
  // Each iteration computes three rows, of which two are there already.
  static constexpr const char* kInnerWindow =
      R"(program P$dims(in X: $t[$n + 2, $m], inout Y: $t[$n], inout Z: $t[$n, $m]):
  alloc T: $t[$n + 2, $m]
  for i in 0..$n:
    for k in 0..3:
      for j in 0..$m:
        block T(v in 0..$n + 2 = i + k, w in 0..$m = j):
          T[v, w] = X[v, w] + $some
    for j in 0..$m:
      block Z(v in 0..$n = i, w in 0..$m = j):
        Z[v, w] = T[v, w] + T[v + 2, w]
    for j in 0..$m:
      block Y(v in 0..$n = i, reduce w in 0..$m = j) reduce $fold$init:
        Y[v] $fold= T[v + 1, w]
)";
  // What is summed so far is read in between.
  static constexpr const char* kInnerPrefix =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n], inout Z: $t[$n, $m]):
  alloc s: $t[$n]
  for i in 0..$n:
    block s0(v in 0..$n = i):
      s[v] = $zero
    for j in 0..$m:
      block s(v in 0..$n = i, reduce w in 0..$m = j)$where reduce $fold:
        s[v] $fold= X[v, w]
      block Z(v in 0..$n = i, w in 0..$m = j):
        Z[v, w] = s[v]
    block Y(v in 0..$n = i):
      Y[v] = s[v] + Y[v]
)";
  static constexpr const char* kHeldRows =
      R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], inout Y: $t[$n], inout Z: $t[$n, $m]):
  for i in 0..$n:
    block O(a in 0..$n = i)$whole:
      for j in 0..$end:
        block Y(v in 0..$n = a, reduce w in 0..$m = j)$where reduce $fold$init:
          Y[v] $fold= X[v, w]
      for j in 0..$m:
        block Z(v in 0..$n = a, w in 0..$m = j):
          Z[v, w] = Y[v] + X[v, $m - 1 - w]
)";
  static constexpr const char* kHeldTiles =
      R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], inout Y: $t[$n], inout Z: $t[$n, $m]):
  for io in 0..floordiv($n + 1, 2):
    block O(a in 0..floordiv($n + 1, 2) = io):
      for ii in 0..min(2, $n - a * 2):
        for j in 0..$m:
          block Y(v in 0..$n = a * 2 + ii, reduce w in 0..$m = j)$where reduce $fold$init:
            Y[v] $fold= X[v, w]
  for i in 0..$n:
    for j in 0..$m:
      block Z(v in 0..$n = i, w in 0..$m = j):
        Z[v, w] = Y[v] + Z[v, w]
)";
};

}  // namespace fuzz
