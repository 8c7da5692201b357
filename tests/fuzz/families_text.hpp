// Families that the DSL can't say: what is written in place or in an order, and by opaque blocks.
// They are texts in which $n stands for a size or a number, $t for the element type.
#pragma once

#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>

#include "family.hpp"

namespace fuzz {

class TextFamilies : public Family {
 public:
  using Words = std::vector<std::pair<std::string, std::string>>;

  explicit TextFamilies(Random& random) : Family(random) { only_numbers(); }

  /// Prefix sums of a row, or of the rows or columns of a matrix.
  void scan() {
    const char* row = R"(program P$dims(in X: $t[$n], out Y: $t[$n]):
  for i in 0..$n:
    block Y(vi in 0..$n = i):
      Y[vi] = X[vi] + select(vi > 0, Y[vi - 1], $zero)
)";
    const char* rows = R"(program P$dims(in X: $t[$m, $n], out Y: $t[$m, $n]):
  for i in 0..$m:
    for j in 0..$n:
      block Y(vi in 0..$m = i, vj in 0..$n = j):
        Y[vi, vj] = X[vi, vj] + select($back > 0, Y[$before], $zero)
)";
    const bool columns = random_.chance(50);
    fill(random_.chance(40) ? row : rows,
         {{"back", columns ? "vi" : "vj"}, {"before", columns ? "vi - 1, vj" : "vi, vj - 1"}});
  }
  /// Elements that follow from the one or two before.
  void recurrence() {
    const std::vector<std::string> steps = {"Y[vi - 1] + Y[vi - 2]", "Y[vi - 1] * $some + X[vi]",
                                            "max(Y[vi - 2] - Y[vi - 1], X[vi])"};
    fill(R"(program P$dims(in X: $t[$n], out Y: $t[$n]):
  for i in 0..$n:
    block Y(vi in 0..$n = i):
      Y[vi] = select(vi < 2, X[vi], $step)
$after)",
         {{"step", random_.pick(steps)}, {"after", ""}});
  }
  /// Distances as in the comparison of two strings: from the left, from above, from both.
  void wavefront() {
    fill(R"(program P$dims(in X: $t[$n], in Y: $t[$m], out Z: $t[$m, $n]):
  alloc D: $t[$m + 1, $n + 1]
  for i in 0..$m + 1:
    for j in 0..$n + 1:
      block D(vi in 0..$m + 1 = i, vj in 0..$n + 1 = j):
        D[vi, vj] = select(vi == 0 || vj == 0, $some, min(min(D[vi - 1, vj] + $one, D[vi, vj - 1] + $one), D[vi - 1, vj - 1] + select(X[vj - 1] == Y[vi - 1], $zero, $one)))
  for i in 0..$m:
    for j in 0..$n:
      block Z(vi in 0..$m = i, vj in 0..$n = j):
        Z[vi, vj] = D[vi + 1, vj + 1]
)",
         {});
  }
  /// Each element from neighbours of which some are new.
  void gauss_seidel() {
    const char* row = R"(program P$dims(inout X: $t[$n + 2], in B: $t[$n]):
  for s in 0..$sweeps:
    for i in 0..$n:
      block X(vs in 0..$sweeps = s, vi in 0..$n = i):
        X[vi + 1] = $mean(X[vi] + X[vi + 2]) + B[vi]
)";
    const char* matrix = R"(program P$dims(inout X: $t[$m + 2, $n + 2], in B: $t[$m, $n]):
  for s in 0..$sweeps:
    for i in 0..$m:
      for j in 0..$n:
        block X(vs in 0..$sweeps = s, vi in 0..$m = i, vj in 0..$n = j):
          X[vi + 1, vj + 1] = $mean(X[vi, vj + 1] + X[vi + 1, vj] + X[vi + 1, vj + 2] + X[vi + 2, vj + 1]) + B[vi, vj]
)";
    fill(random_.chance(40) ? row : matrix, {});
  }
  /// From one buffer to the other and back.
  void jacobi() {
    fill(R"(program P$dims(inout X: $t[$m + 2, $n + 2], in B: $t[$m, $n]):
  alloc Y: $t[$m, $n]
  for s in 0..$sweeps:
    for i in 0..$m:
      for j in 0..$n:
        block Y(vi in 0..$m = i, vj in 0..$n = j):
          Y[vi, vj] = $mean(X[vi, vj + 1] + X[vi + 1, vj] + X[vi + 1, vj + 2] + X[vi + 2, vj + 1]) + B[vi, vj]
    for i in 0..$m:
      for j in 0..$n:
        block X(vi in 0..$m = i, vj in 0..$n = j):
          X[vi + 1, vj + 1] = Y[vi, vj]
)",
         {});
  }
  /// Several blocks that write parts of one buffer.
  void strided_set() {
    const char* joined = R"(program P$dims(in A: $t[$n], in B: $t[$m], out Y: $t[$n + $m]):
  for i in 0..$n:
    block first(vi in 0..$n = i):
      Y[vi] = A[vi]
  for i in 0..$m:
    block second(vi in 0..$m = i):
      Y[vi + $n] = B[vi]
)";
    const char* every_other = R"(program P$dims(in A: $t[$n * 2], in B: $t[$n], out Y: $t[$n * 2]):
  for i in 0..$n * 2:
    block first(vi in 0..$n * 2 = i):
      Y[vi] = A[vi]
  for i in 0..$n:
    block second(vi in 0..$n = i):
      Y[vi * 2 + 1] = B[vi] + Y[vi * 2]
)";
    const char* through = R"(program P$dims(in A: $t[$n], in B: $t[$m], out Y: $t[$n + $m]):
  alloc T: $t[$n + $m]
  for i in 0..$n:
    block first(vi in 0..$n = i):
      T[vi] = A[vi] * $some
  for i in 0..$m:
    block second(vi in 0..$m = i):
      T[vi + $n] = B[vi]
  for i in 0..$n + $m:
    block Y(vi in 0..$n + $m = i):
      Y[vi] = T[vi] + T[$n + $m - 1 - vi]
)";
    fill(random_.pick(std::vector<const char*>{joined, every_other, through}), {});
  }
  /// To places that data name, several times to some: the last wins, or all are added.
  void scatter() {
    n_ = positive_size(17);
    const char* text = R"(program P$dims(in X: $t[$m], in I: $i[$m], in Z: $t[$n], out Y: $t[$n]):
  for i in 0..$n:
    block start(vi in 0..$n = i):
      Y[vi] = Z[vi]
  for i in 0..$m:
    block Y(vi in 0..$m = i):
      Y[$place] = X[vi]$more
)";
    const std::string place = "min(max(i64(I[vi]), 0), $n - 1)";
    fill(text, {{"more", random_.chance(50) ? "" : " + Y[" + place + "]"}, {"place", place}});
  }
  void histogram() {
    fill(R"(program P$dims(in X: $t[$n], in I: $i[$n], out H: i32[$bins], out W: $t[$bins]):
  for b in 0..$bins:
    block zero(vb in 0..$bins = b):
      H[vb] = 0i32
  for b in 0..$bins:
    block none(vb in 0..$bins = b):
      W[vb] = $zero
  for i in 0..$n:
    block H(opaque vi in 0..$n = i) reads I[vi..+1], H[0..$bins] writes H[0..$bins]:
      H[floormod(i64(I[vi]), $bins)] = H[floormod(i64(I[vi]), $bins)] + 1i32
  for i in 0..$n:
    block W(opaque vi in 0..$n = i) reads I[vi..+1], X[vi..+1], W[0..$bins] writes W[0..$bins]:
      let b = floormod(i64(I[vi]), $bins)
      W[b] = W[b] + X[vi]
)",
         {{"bins", std::to_string(1 + random_.below(8))}});
  }
  /// In place, by columns; the numbers under the root are kept positive.
  void cholesky() {
    only_floats();
    fill(R"(program P$dims(inout A: $t[$n, $n]):
  for k in 0..$n:
    block root(vk in 0..$n = k):
      A[vk, vk] = sqrt(abs(A[vk, vk]) + $one)
    for i in k + 1..$n:
      block column(vk in 0..$n = k, vi in 0..$n = i):
        A[vi, vk] = A[vi, vk] / (abs(A[vk, vk]) + $one)
    for j in k + 1..$n:
      for i in j..$n:
        block rest(vk in 0..$n = k, vi in 0..$n = i, vj in 0..$n = j):
          A[vi, vj] = A[vi, vj] - A[vi, vk] * A[vj, vk]
)",
         {});
  }
  /// Solves with a unit triangular matrix, one row after the other.
  void trisolve() {
    fill(R"(program P$dims(in A: $t[$n, $n], inout B: $t[$n, $m]):
  for i in 0..$n:
    for r in 0..i:
      for j in 0..$m:
        block B(vi in 0..$n = i, vr in 0..$n = r, vj in 0..$m = j):
          B[vi, vj] = B[vi, vj] - A[vi, vr] * B[vr, vj]
)",
         {});
  }
  /// A loop whose end data decide: bits of a number, a place in a sorted row, a root.
  void while_loop() {
    const char* bits = R"(program P$dims(in X: u8[$n], out Y: $t[$n]):
  for i in 0..$n:
    block Y(vi in 0..$n = i)$clauses:
      alloc left: u8[1]
      left[0] = X[vi]
      Y[vi] = $zero
      while left[0] > 0u8:
        Y[vi] = Y[vi] + $some
        left[0] = left[0] >> 1u8
)";
    const char* search = R"(program P$dims(in X: $t[$n], in Z: $t[$m], out Y: i64[$n]):
  for i in 0..$n:
    block Y(vi in 0..$n = i)$clauses:
      alloc high: i64[1]
      Y[vi] = 0
      high[0] = $m
      while Y[vi] < high[0]:
        let middle = floordiv(Y[vi] + high[0], 2)
        if Z[middle] < X[vi]:
          Y[vi] = middle + 1
        else:
          high[0] = middle
)";
    const bool in_row = random_.chance(50);
    const std::string reads = in_row ? "X[vi..+1], Z[0..$m], Y[vi..+1]" : "X[vi..+1], Y[vi..+1]";
    fill(in_row ? search : bits,
         {{"clauses", random_.chance(50) ? " reads " + reads + " writes Y[vi..+1]" : ""}});
  }
  /// Of the blocks one is read by nobody, and one element is written twice.
  void dead_producer() {
    fill(R"(program P$dims(in X: $t[$n, $m], out Y: $t[$n, $m]):
  alloc A: $t[$n, $m]
  alloc B: $t[$n]
  for i in 0..$n:
    for j in 0..$m:
      block A(vi in 0..$n = i, vj in 0..$m = j):
        A[vi, vj] = X[vi, vj] + $some
  for i in 0..$n:
    for r in 0..$m:
      block B(vi in 0..$n = i, reduce vr in 0..$m = r) reduce sum init:
        B[vi] sum= A[vi, vr]
  for i in 0..$n:
    for j in 0..$m:
      block first(vi in 0..$n = i, vj in 0..$m = j):
        Y[vi, vj] = $zero
  for i in 0..$n:
    for j in 0..$m:
      block Y(vi in 0..$n = i, vj in 0..$m = j):
        Y[vi, vj] = $value
)",
         {{"value", random_.chance(50) ? "X[vi, vj]" : "A[vi, $m - 1 - vj]"}});
  }

 protected:
  std::string text_of(double v) {
    return lathe::str(dtype_.is_float() ? lathe::make_float(dtype_, v)
                                        : lathe::make_const(dtype_, static_cast<int>(v)));
  }
  /// Later words may stand in the values of earlier ones.
  void fill(std::string text, Words words) {
    static const std::vector<std::string> indices = {"i32", "i64", "u8", "i16"};
    if (!n_.any) n_ = size(17);
    Size m = m_.any                                                         ? m_
             : text.find("$m,") + text.find("$m]") != 2 * std::string::npos ? size(9)
                                                                            : n_;
    const Words common = {{"n", lathe::str(n_.any)},
                          {"t", std::string(dtype_.str())},
                          {"m", lathe::str(m.any)},
                          {"i", random_.pick(indices)},
                          {"dims", dim_list_.empty() ? "" : "<" + dim_list_ + ">"},
                          {"sweeps", std::to_string(1 + random_.below(3))},
                          {"zero", text_of(0)},
                          {"one", text_of(1)},
                          {"some", text_of(1 + random_.below(3))},
                          {"mean", dtype_.is_float() ? text_of(0.25) + " * " : text_of(3) + " - "}};
    words.insert(words.end(), common.begin(), common.end());
    for (const auto& [name, value] : words) replace(text, "$" + name, value);
    text_ = text;
  }

 private:
  static void replace(std::string& text, const std::string& word, const std::string& by) {
    auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
    std::size_t at = 0;
    while ((at = text.find(word, at)) != std::string::npos) {
      const std::size_t end = at + word.size();
      if (end < text.size() && letter(text[end]))
        at = end;
      else
        text.replace(at, word.size(), by), at += by.size();
    }
  }

 protected:
  Size n_, m_;  ///< chosen when the text is filled in, if they were not before
};

}  // namespace fuzz
