// Families of texts that say more than the DSL can: loops and blocks in blocks, sizes from data,
// marks, and claims about loops and blocks that are not so.
#pragma once

#include "families_text.hpp"

namespace fuzz {

class ClaimFamilies : public TextFamilies {
 public:
  using TextFamilies::TextFamilies;

  /// Blocks that hold loops, temporaries and conditions of their own.
  void nested_loops() {
    const char* rows =
        R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], out Y: $t[$n], out Z: $t[$n]):
  for i in 0..$n:
    block Y(vi in 0..$n = i)$where:
      Y[vi] = $zero
      for j in 0..$end:
        Y[vi] = Y[vi] + X[vi, $j] * $some
  for i in 0..$n:
    block Z(vi in 0..$n = i):
      Z[vi] = Y[vi] + $one
)";
    const char* local = R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], out Y: $t[$n, $m]):
  alloc T: $t[$n, $m]
  for i in 0..$n:
    for j in 0..$m:
      block T(vi in 0..$n = i, vj in 0..$m = j):
        T[vi, vj] = X[vi, vj] + $some
  for i in 0..$n:
    block Y(vi in 0..$n = i):
      alloc s: $t[$m]
      for j in 0..$m:
        s[j] = T[vi, $m - 1 - j]
      for j in 0..$m:
        if c[vi] > 2u8:
          Y[vi, j] = s[j]
        else:
          Y[vi, j] = s[$j] + T[vi, j]
)";
    const char* carried = R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], out Y: $t[$n, $m]):
  for i in 0..$n:
    for s in 0..$sweeps:
      block Y(vi in 0..$n = i):
        for j in 0..$m:
          let x = X[vi, j]
          Y[vi, j] = x + select(j > 0, Y[vi, max(j - 1, 0)], $one)
)";
    m_ = positive_size(9);
    fill(random_.pick(std::vector<const char*>{rows, local, carried}),
         {{"where", ""},
          {"end", random_.chance(40) ? "min(i64(c[vi] & 7u8), $m)" : "$m"},
          {"j", random_.chance(50) ? "j" : "$m - 1 - j"}});
  }
  /// Blocks in blocks.
  void nested_blocks() {
    const char* sum = R"(program P$dims(in X: $t[$n * $m], out Y: $t[$n]):
  for i in 0..$n:
    block outer(v in 0..$n = i):
      for j in 0..$m:
        block Y(u in 0..$n = v, reduce w in 0..$m = j)$where reduce $fold init:
          Y[u] $fold= X[u * $m + w]
)";
    const char* update = R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$n]):
  for i in 0..$n:
    block outer(v in 0..$n = i):
      for j in 0..$m:
        block Y(u in 0..$n = v, reduce w in 0..$m = j) reduce $fold:
          Y[u] $fold= X[u, w]
)";
    const char* plain = R"(program P$dims(in X: $t[$n, $m], out Y: $t[$n, $m]):
  for i in 0..$n:
    block outer(v in 0..$n = i):
      for j in 0..$m:
        block Y(u in 0..$n = v, w in 0..$m = j)$where:
          Y[u, w] = X[u, $m - 1 - w] + $some
)";
    refusable_ = true;
    m_ = positive_size(9);
    fill(random_.pick(std::vector<const char*>{sum, update, plain}),
         {{"where", random_.chance(20) ? " where X[0] > $one" : ""},
          {"fold", random_.pick(std::vector<std::string>{"sum", "max", "prod"})}});
  }
  /// Temporaries and loops whose sizes data give.
  void data_sizes() {
    const char* unused = R"(program P$dims(in A: $i[$n], out B: $t[$n]):
  alloc T: $t[i64(A[0] & $seven)]
  for i in 0..$n:
    $stmt
)";
    const char* used = R"(program P$dims(in A: $i[$n], in X: $t[$n], out B: $t[$n]):
  alloc T: $t[max(i64(A[0] & $seven), $n)]
  for i in 0..$n:
    block T(v in 0..$n = i):
      T[v] = X[v] + $some
  for i in 0..$n:
    block B(v in 0..$n = i):
      B[v] = T[$n - 1 - v]
)";
    const char* inside = R"(program P$dims(in A: $i[$n], in X: $t[$n], inout B: $t[$n]):
  for i in 0..$n:
    alloc T: $t[i64(A[i] & $seven)]
    for j in 0..i64(A[i] & $seven):
      block T(v in 0..8 = j, opaque o in 0..$n = i):
        T[v] = X[o]
    for j in 0..i64(A[i] & $seven):
      block B(v in 0..8 = j, w in 0..$n = i):
        B[w] = T[v] + $one
)";
    refusable_ = true;
    n_ = positive_size(17);
    const std::string i = random_.pick(std::vector<std::string>{"i32", "i64", "u8", "i16"});
    fill(random_.pick(std::vector<const char*>{unused, used, inside}),
         {{"stmt",
           random_.chance(50) ? "B[i] = $some" : "block B(v in 0..$n = i):\n      B[v] = $some"},
          {"i", i},
          {"seven", i == "i64" ? "7" : "7" + i}});
  }
  /// Marks, as a schedule leaves them and as it never would.
  void marks() {
    base();
    refusable_ = true;
    for (int k = 1 + random_.below(2); k > 0; --k) mark();
  }
  /// Loops that are called parallel or vectorized, whether they are or not.
  void kinds() {
    base();
    refusable_ = true;
    for (int k = 1 + random_.below(2); k > 0; --k) {
      static const std::vector<std::string> kinds = {"parallel ",    "parallel ",   "vectorized ",
                                                     "vectorized ",  "unrolled ",   "blockIdx.x ",
                                                     "threadIdx.x ", "threadIdx.y "};
      const std::size_t at = some_line("for ");
      if (at != std::string::npos) text_.insert(at, random_.pick(kinds));
    }
  }
  /// What is surely not so.
  void untrue_loops() {
    const char* carried = R"(program P$dims(in X: $t[$n], out Y: $t[$n]):
  $kind for i in 0..$n:
    block Y(v in 0..$n = i):
      Y[v] = X[v] + select(v > 0, Y[$v], $one)
)";
    const char* sum = R"(program P$dims(in X: $t[$n, $m], inout Y: $t[$m]):
  $kind for i in 0..$n:
    for j in 0..$m:
      block Y(reduce v in 0..$n = i, w in 0..$m = j) reduce sum:
        Y[w] sum= X[v, w]
)";
    const char* all = R"(program P$dims(in X: $t[$n], inout Y: $t[1]):
  $kind for i in 0..$n:
    block Y(opaque v in 0..$n = i):
      Y[0] = Y[0] * $two + X[v]
)";
    const char* bare = R"(program P$dims(in X: $t[$n], out Y: $t[$n]):
  $kind for i in 0..$n:
    Y[i] = X[i] + select(i > 0, Y[max(i - 1, 0)], $one)
)";
    const char* temporary = R"(program P$dims(in X: $t[$n], out Y: $t[$n]):
  alloc T: $t[1]
  $kind for i in 0..$n:
    block T(opaque v in 0..$n = i):
      T[0] = X[v]$more
    block Y(v in 0..$n = i):
      Y[v] = T[0]
)";
    untrue_program_ = true;
    n_ = fixed(3 + random_.below(30)), m_ = positive_size(9);
    fill(random_.pick(std::vector<const char*>{carried, sum, all, bare, temporary}),
         {{"kind", random_.chance(50) ? "parallel" : "vectorized"},
          {"v", random_.chance(50) ? "max(v - 1, 0)" : "0"},
          {"two", text_of(2)},
          {"more", " + select(v > 0, T[0], $one)"}});
  }
  /// Declared reads or writes that leave out what the block touches.
  void untrue_regions() {
    const char* in_order = R"(program P$dims(in X: $t[$n], inout H: $t[$n], out Y: $t[$n]):
  for i in 0..$n:
    block H(opaque v in 0..$n = i) reads $reads writes $writes:
      H[v] = X[v] + H[$n - 1 - v]
  for i in 0..$n:
    block Y(v in 0..$n = i):
      Y[v] = H[v]
)";
    static const std::vector<std::pair<std::string, std::string>> regions = {
        {"X[v..+1]", "H[v..+1]"},
        {"H[0..$n]", "H[v..+1]"},
        {"X[v..+1], H[v..+1]", "H[v..+1]"},
        {"X[v..+1], H[0..$n]", "H[0..+1]"},
        {"X[v..+1], H[0..$n - 1]", "H[0..$n]"},
        {"X[0..+1], H[0..$n]", "H[v..+1]"}};
    untrue_program_ = true;
    n_ = fixed(3 + random_.below(15));
    const auto& [reads, writes] = random_.pick(regions);
    fill(in_order, {{"reads", reads}, {"writes", writes}});
  }
  /// An element that a reduce iterator names has no one start.
  void untrue_init() {
    const char* text = R"(program P$dims(in X: $t[$n], in Z: $t[$m], inout Y: $t[$n + $m]):
  for i in 0..$n:
    for j in 0..$m:
      block Y(v in 0..$n = i, reduce w in 0..$m = j)$where reduce $fold init:
        Y[$at] $fold= X[v] * Z[w]
)";
    untrue_program_ = true;
    n_ = fixed(2 + random_.below(8)), m_ = fixed(2 + random_.below(8));
    fill(text, {{"at", random_.pick(std::vector<std::string>{"v + w", "w", "floordiv(v + w, 2)",
                                                             "select(v > w, v, w)",
                                                             "floormod(w * 3, $m)", "max(v, w)"})},
                {"where", random_.chance(20) ? " where w < 3" : ""},
                {"fold", random_.pick(std::vector<std::string>{"sum", "max", "prod"})}});
  }

 protected:
  /// The text of some program that has a meaning.
  void base() {
    using T = TextFamilies;
    static const std::vector<void (T::*)()> all = {
        &T::scan,        &T::recurrence, &T::wavefront, &T::gauss_seidel, &T::jacobi,
        &T::strided_set, &T::scatter,    &T::histogram, &T::dead_producer};
    (this->*random_.pick(all))();
  }
  /// Where a line that starts so is, after its indentation; npos if there is none.
  std::size_t some_line(const std::string& start) {
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at < text_.size(); at = text_.find('\n', at) + 1) {
      const std::size_t word = text_.find_first_not_of(' ', at);
      if (word != std::string::npos && text_.compare(word, start.size(), start) == 0)
        found.push_back(word);
      if (text_.find('\n', at) == std::string::npos) break;
    }
    return found.empty() ? std::string::npos : random_.pick(found);
  }
  std::string odd_value() {
    static const std::vector<std::string> values = {"",
                                                    "=",
                                                    "=0",
                                                    "=1",
                                                    "=-1",
                                                    "=1000000",
                                                    "=\"\"",
                                                    "=9223372036854775807",
                                                    "=\"1\"",
                                                    "=\"X\"",
                                                    "=\"X,Y\"",
                                                    "=\"auto\"",
                                                    "=\"A:1:3\"",
                                                    "=[0, 1]",
                                                    "()",
                                                    "(buffer=\"X\")",
                                                    "(stages=[], orders=[])",
                                                    "(distance=1, buffer=\"X\", locality=3)"};
    return random_.pick(values);
  }
  /// One of the form that the key asks for, of what may be in a program.
  std::string fitting_value(const std::string& key) {
    const auto name = [&] {
      return random_.pick(std::vector<std::string>{"\"X\"", "\"Y\"", "\"T\"", "\"B\"", "\"none\""});
    };
    const auto number = [&](int most) { return std::to_string(random_.below(most)); };
    if (key == "prefetch")
      return "(buffer=" + name() + ", distance=" + number(9) + ", locality=" + number(5) + ")";
    if (key == "hoist_storage" || key == "double_buffer" || key == "rolling_buffer")
      return "=" + name();
    if (key == "software_pipeline")
      return "(stages=[0, " + number(3) + "], orders=[" + number(2) + ", " + number(3) + "])";
    if (key == "pipeline_buffer") return "(buffer=" + name() + ", versions=" + number(4) + ")";
    if (key == "any_order") return "";
    if (key == "tail")
      return "=\"" + std::string(lathe::to_text(static_cast<lathe::Tail>(random_.below(6)))) + "\"";
    if (key == "partition")
      return "=\"" + std::string(lathe::to_text(static_cast<lathe::Partition>(random_.below(3)))) +
             "\"";
    return "=" + number(5);
  }
  void mark() {
    static const std::vector<std::string> of_loops = {
        "prefetch",  "prefetch",      "unroll_explicit", "max_threads",        "tail",
        "partition", "hoist_storage", "double_buffer",   "rolling_buffer",     "software_pipeline",
        "any_order", "`stream`",      "pipeline_buffer", "pipeline_statement", "user.note"};
    static const std::vector<std::string> of_blocks = {
        "`stream`", "guards", "any_order", "user.note", "pipeline_statement", "tail"};
    const bool loop = random_.chance(75);
    const std::size_t at = some_line(loop ? "for " : "block ");
    if (at == std::string::npos) return;
    const std::size_t end = text_.rfind(':', text_.find('\n', at));
    if (end == std::string::npos || end < at) return;
    const std::string key = random_.pick(loop ? of_loops : of_blocks);
    text_.insert(end, " @" + key + (random_.chance(80) ? fitting_value(key) : odd_value()));
  }
};

}  // namespace fuzz
