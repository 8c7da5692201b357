// Families of loops that reach their domains in another way than from first to last: backwards, by
// strides, in tiles, at windows that are cut, in a part only, with one iteration or none.
#pragma once

#include "families_nests.hpp"

namespace fuzz {

class ReachFamilies : public NestFamilies {
 public:
  using NestFamilies::NestFamilies;

  /// Bindings and ranges that run backwards, are shifted, or leave out every other element.
  void reversed_loops() {
    refusable_ = true;
    choose_sizes(11, 9);
    fill_one_of({kReversed, kShifted, kTriangles, kByThree}, {"", " where w < v", " where v > 1"},
                {{"at", one_of({"v * 2", "v * 2 + 1", "$n * 2 - v * 2", "$n - v", "v"})},
                 {"other", one_of({"$n - v", "v", "v + 1", "v * 2"})}});
  }
  /// Windows whose ends are cut, of producers that several read.
  void cut_windows() {
    focus_ = {"rolling_buffer", "double_buffer", "software_pipeline",
              "compute_at",     "split",         "partition",
              "loop_partition", "merge",         "decompose_padding"};
    choose_sizes(13, 7);
    fill_one_of({kCutWindow, kWindowsOfTwo, kCausal},
                {"", " where vi + vk >= 1 && vi + vk < $n + 1", " where vk != 1"});
  }
  /// Tiles with a minimum or a loop of their own at the end, as split leaves them.
  void tiled_loops() {
    refusable_ = true;
    choose_sizes(13, 7);
    fill_one_of({kTiles, kTilesAndRest}, {"", " where w < v", " where X[v, w] > $one"},
                {{"tile", one_of({"2", "3", "4", "1"})}});
  }
  /// Loops that are shorter than the arrays, which may be so short that the loops have no range.
  void short_loops() {
    refusable_ = symbolic_ = true;
    focus_ = {"fuse", "fuse", "split", "compute_at", "parallel"};
    const bool tiny = random_.chance(40);
    choose_sizes(tiny ? 2 : 11, tiny ? 2 : 7);
    fill_one_of({kShort, kShortWindows}, {"", " where v > 1", " where X[v, 0 * v] > $one"});
  }
  /// Blocks of which loops reach a part, between who feeds and who reads them.
  void part_of_domain() {
    refusable_ = true;
    focus_ = {"reverse_compute_inline", "split", "compute_at", "reverse_compute_at", "cache_write"};
    choose_sizes(11, 7);
    static const std::vector<std::pair<std::string, std::string>> parts = {
        {"0..$few", "i"},           {"$few..$n", "i"},           {"0..floordiv($n, 2)", "i * 2"},
        {"0..$n", "min(i, $few)"},  {"0..$n", "floordiv(i, 2)"}, {"0..max($n - 2, 0)", "i + 2"},
        {"0..$n", "max(i - 2, 0)"}, {"0..$few", "$n - 1 - i"},   {"0..$n", "i"},
        {"0..$n", "$n - 1 - i"}};
    const auto& [range, binding] = random_.pick(parts);
    fill_one_of({kPartRead, kPartFed, kPartFolded, kPartOfRows}, {"", "", " where v > 1"},
                {{"range", range},
                 {"binding", binding},
                 {"width", one_of({"$less", "$less", "$m"})},
                 {"at", one_of({"v", "v", "$n - 1 - v"})},
                 {"own", one_of({"", " + Y[v]"})},
                 {"few", part_of(n_)},
                 {"less", part_of(m_)}});
  }
  /// Loops of one iteration, or none, that begin elsewhere each time.
  void single_iterations() {
    refusable_ = true;
    focus_ = {"parallel", "vectorize", "reorder", "fuse", "compute_at"};
    choose_sizes(33, 9);
    fill_one_of({kSingle, kSingleRow, kSingleFed}, {""},
                {{"range", one_of({"$begin..min($begin + 1, $n)", "$begin..$begin + 1"})},
                 {"place", one_of({"$begin - j + 2", "j - $begin", "min(j - $begin + 1, 3)"})},
                 {"begin", one_of({"i", "i", "floordiv(i, 2)", "max(i, 1) - 1"})}});
  }

 private:
  /// A number that is smaller as a rule.
  std::string part_of(const Size& s) {
    return std::to_string(random_.below(static_cast<int>(s.value) + 1));
  }

  static constexpr const char* kReversed =
      R"(program P$dims(in X: $t[$n * 2 + 1, $m], inout Y: $t[$n * 2 + 1], inout Z: $t[$n]):
  for i in 0..$n:
    for r in 0..$m:
      block Y(v in 0..$n = $n - 1 - i, reduce w in 0..$m = $m - 1 - r)$where reduce $fold$init:
        Y[$at] $fold= X[$at, w]
  for i in 0..$n:
    block Z(v in 0..$n = $n - 1 - i):
      Z[v] = Y[$at] + Y[$other]
)";
  static constexpr const char* kShifted =
      R"(program P$dims(in X: $t[$n], inout Y: $t[$n + 3], inout Z: $t[$n]):
  for i in 3..$n + 3:
    block Y(v in 3..$n + 3 = i):
      Y[v] = X[v - 3] + $some
  for i in -2..$n - 2:
    block Z(v in -2..$n - 2 = i):
      Z[v + 2] = Y[$n - v] + Y[v + 2]
)";
  static constexpr const char* kTriangles =
      R"(program P$dims(in X: $t[$n, $n], inout Y: $t[$n], inout Z: $t[$n, $n]):
  alloc T: $t[$n, $n]
  for i in 0..$n:
    for j in 0..$n - i:
      block T(vi in 0..$n = i, vj in 0..$n = $n - 1 - j):
        T[vi, vj] = X[vj, vi] + $some
  for i in 0..$n:
    for j in i..$n:
      block Y(vi in 0..$n = i, reduce vj in 0..$n = j) reduce $fold$init:
        Y[vi] $fold= T[vi, vj]
  for i in 0..$n:
    for j in 0..i + 1:
      block Z(vi in 0..$n = j, vj in 0..$n = i):
        Z[vi, vj] = T[vi, vj] * $some + Y[vj]
)";
  static constexpr const char* kByThree =
      R"(program P$dims(in X: $t[$n * 3 + 2], inout Y: $t[$n], inout Z: $t[$n]):
  alloc T: $t[$n * 3 + 2]
  for i in 0..$n * 3 + 2:
    block T(v in 0..$n * 3 + 2 = i):
      T[v] = X[$n * 3 + 1 - v] + $some
  for i in 0..$n:
    for k in 0..3:
      block Y(v in 0..$n = i, reduce w in 0..3 = k) reduce $fold$init:
        Y[v] $fold= T[v * 3 + w]
  for i in 0..$n:
    block Z(v in 0..$n = i):
      Z[v] = T[$n * 3 + 1 - v * 3] + Y[$n - 1 - v]
)";
  static constexpr const char* kCutWindow =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n, $m], inout Z: $t[$n, $m]):
  alloc T: $t[$n, $m]
  for i in 0..$n:
    for j in 0..$m:
      block T(vi in 0..$n = i, vj in 0..$m = j):
        T[vi, vj] = X[vi, vj] + $some
  for i in 0..$n:
    for j in 0..$m:
      for k in 0..3:
        block Y(vi in 0..$n = i, vj in 0..$m = j, reduce vk in 0..3 = k)$where reduce $fold init:
          Y[vi, vj] $fold= select(vi + vk >= 1 && vi + vk - 1 < $n, T[min(max(vi + vk - 1, 0), $n - 1), vj], $zero)
  for i in 0..$n:
    for j in 0..$m:
      block Z(vi in 0..$n = i, vj in 0..$m = j):
        Z[vi, vj] = Y[max(vi - 2, 0), vj] + Y[vi, min(vj + 1, $m - 1)] + T[vi, vj]
)";
  static constexpr const char* kWindowsOfTwo =
      R"(program P$dims(in X: $t[$n + 4], inout Y: $t[$n + 2], inout Z: $t[$n]):
  alloc T: $t[$n + 4]
  alloc U: $t[$n + 2]
  for i in 0..$n + 4:
    block T(v in 0..$n + 4 = i):
      T[v] = X[v] + $some
  for i in 0..$n + 2:
    block U(v in 0..$n + 2 = i):
      U[v] = T[v] + T[v + 2] * $some
  for i in 0..$n + 2:
    block Y(v in 0..$n + 2 = i):
      Y[v] = U[v] + T[v + 1]
  for i in 0..$n:
    for k in 0..3:
      block Z(v in 0..$n = i, reduce w in 0..3 = k) reduce $fold$init:
        Z[v] $fold= U[v + w] + Y[v + 2 - w]
)";
  // A row up to its diagonal, as attention looks at what was before.
  static constexpr const char* kCausal =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n], inout Z: $t[$n, $m]):
  for i in 0..$n:
    for j in 0..$m:
      block Y(v in 0..$n = i, reduce w in 0..$m = j) where w <= v reduce max init:
        Y[v] max= X[v, w]
  alloc E: $t[$n, $m]
  for i in 0..$n:
    for j in 0..$m:
      block E(v in 0..$n = i, w in 0..$m = j):
        E[v, w] = select(w <= v, X[v, w] - Y[v], $zero)
  alloc s: $t[$n]
  for i in 0..$n:
    for j in 0..$m:
      block s(v in 0..$n = i, reduce w in 0..$m = j) where w <= v reduce sum init:
        s[v] sum= E[v, w]
  for i in 0..$n:
    for j in 0..$m:
      block Z(v in 0..$n = i, w in 0..$m = j):
        Z[v, w] = E[v, w] * s[v]
)";
  static constexpr const char* kTiles =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n], inout Z: $t[$n, $m]):
  for io in 0..floordiv($n + $tile - 1, $tile):
    for i in io * $tile..min(io * $tile + $tile, $n):
      for j in 0..$m:
        block Y(v in 0..$n = i, reduce w in 0..$m = j)$where reduce $fold$init:
          Y[v] $fold= X[v, w]
  for io in 0..floordiv($n + $tile - 1, $tile):
    for jo in 0..floordiv($m + 1, 2):
      for i in io * $tile..min(io * $tile + $tile, $n):
        for j in jo * 2..min(jo * 2 + 2, $m):
          block Z(v in 0..$n = i, w in 0..$m = j):
            Z[v, w] = Y[v] + X[v, $m - 1 - w]
)";
  static constexpr const char* kTilesAndRest =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n], inout Z: $t[$n, $m]):
  for i in 0..floordiv($n, $tile):
    for r in 0..$m:
      for q in 0..$tile:
        block Y(v in 0..$n = i * $tile + q, reduce w in 0..$m = r)$where reduce $fold$init:
          Y[v] $fold= X[v, w]
  for i in floordiv($n, $tile) * $tile..$n:
    for r in 0..$m:
      block Yt(v in 0..$n = i, reduce w in 0..$m = r)$where reduce $fold$init:
        Y[v] $fold= X[v, w]
  for i in 0..$n:
    for j in 0..$m:
      block Z(v in 0..$n = i, w in 0..$m = j):
        Z[v, w] = Y[v] + X[$n - 1 - v, w]
)";
  static constexpr const char* kShort =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n], inout Z: $t[$n, $m]):
  for i in 0..$n - 2:
    for j in 0..$m - 3:
      block Y(v in 0..$n = i, reduce w in 0..$m = j)$where reduce $fold$init:
        Y[v] $fold= X[v + 2, w + 3]
  for i in 1..$n - 1:
    for j in 2..$m - 1:
      block Z(v in 0..$n = i, w in 0..$m = j):
        Z[v, w] = Y[v - 1] + X[v + 1, w - 1]
)";
  static constexpr const char* kShortWindows =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n], inout Z: $t[$n, $m]):
  alloc T: $t[$n, $m]
  for i in 0..$n:
    for j in 0..$m:
      block T(v in 0..$n = i, w in 0..$m = j):
        T[v, w] = X[v, w] + $some
  for i in 0..$n - 2:
    for j in 0..$m - 2:
      for k in 0..3:
        block Z(v in 0..$n - 2 = i, w in 0..$m - 2 = j, reduce u in 0..3 = k)$where reduce $fold$init:
          Z[v, w] $fold= T[v + u, w] * T[v, w + u]
  for i in 0..$n - 2:
    for j in 0..$m - 2:
      block Y(v in 0..$n - 2 = i, reduce w in 0..$m - 2 = j) reduce $fold$init:
        Y[v + 1] $fold= Z[v, w]
)";
  static constexpr const char* kPartRead = R"(program P$dims(in X: $t[$n], inout Y: $t[$n]):
  alloc T: $t[$n]
  for i in 0..$n:
    block T(v in 0..$n = i):
      T[v] = X[v] + $one
  for i in $range:
    block Y(v in 0..$n = $binding):
      Y[v] = T[v] * $some$own
)";
  static constexpr const char* kPartFed = R"(program P$dims(inout Y: $t[$n], inout Z: $t[$n]):
  for i in $range:
    block Y(v in 0..$n = $binding):
      Y[v] = Y[v] * $some + $one
  for i in 0..$n:
    block Z(v in 0..$n = i):
      Z[v] = Y[$at] + $one
)";
  static constexpr const char* kPartFolded = R"(program P$dims(in X: $t[$n, $m], inout Z: $t[$n]):
  alloc Y: $t[$n]
  for i in 0..$n:
    for r in 0..$width:
      block Y(v in 0..$n = i, reduce w in 0..$m = r)$where reduce $fold init:
        Y[v] $fold= X[v, w]
  for i in $range:
    block Z(v in 0..$n = $binding):
      Z[v] = Y[$at] + $one
)";
  static constexpr const char* kPartOfRows =
      R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n], inout Z: $t[$n]):
  for i in $range:
    for r in 0..$width:
      block Y(v in 0..$n = $binding, reduce w in 0..$m = r)$where reduce $fold$init:
        Y[v] $fold= X[v, w]
  for i in $range:
    block Z(v in 0..$n = $binding):
      Z[v] = Y[v] + Z[v]
)";
  static constexpr const char* kSingle = R"(program P$dims(in X: $t[$n], inout Y: $t[4]):
  for i in 0..$n:
    for j in $range:
      block Y(v in 0..4 = $place, u in 0..$n = i):
        Y[v] = Y[v] * $some + X[u]
)";
  static constexpr const char* kSingleRow = R"(program P$dims(in X: $t[$n, $m], inout Y: $t[4]):
  for i in 0..$n:
    for j in $range:
      for r in 0..$m:
        block Y(v in 0..4 = $place, u in 0..$n = i, w in 0..$m = r):
          Y[v] = Y[v] * $some + X[u, w]
)";
  static constexpr const char* kSingleFed =
      R"(program P$dims(in X: $t[$n], inout Y: $t[$n], inout Z: $t[$n]):
  for i in 0..$n:
    for j in $range:
      block Y(v in 0..$n = j):
        Y[v] = Y[v] * $some + X[v]
    for j in $range:
      block Z(v in 0..$n = i, u in 0..$n = j):
        Z[v] = Z[v] + Y[u]
)";
};

}  // namespace fuzz
