// Families of programs whose indices, bounds and conditions come from numbers in memory that
// change while the program runs.
#pragma once

#include "families_nests.hpp"

namespace fuzz {

class MemoryFamilies : public NestFamilies {
 public:
  using NestFamilies::NestFamilies;

  /// Statements without blocks around two numbers k, which stay below 8: they index, bound loops
  /// and are set anew in between.
  void counters() {
    line(0, {"program P(in X: i32[20], inout k: i64[2], inout Y: i32[20]):"});
    line(1, {"k[0] = floormod(k[0], 8)"});
    line(1, {"k[1] = floormod(k[1], 8)"});
    line(1, {"alloc left: i64[1]"});
    line(1, {"alloc T: i32[20]"});
    line(1, {"left[0] = 0"});
    line(1, {"while left[0] < 20:"});
    line(2, {"T[left[0]] = i32(left[0])"});
    line(2, {"left[0] = left[0] + 1"});
    only_counters_ = random_.chance(40);
    while (statements_left_ > 0) statement(1);
    text_ = lines_;
    refusable_ = true;
  }
  /// Blocks whose loops and places follow from a number that each iteration sets: it is of the
  /// iteration alone, or one for all.
  void set_bounds() {
    refusable_ = true;
    choose_sizes(11, 9);
    focus_ = {"split",         "parallel", "vectorize", "compute_at", "reverse_compute_at",
              "cache_read",    "reindex",  "unroll",    "merge",      "compute_inline",
              "loop_partition"};
    static const std::vector<const char*> all = {kSetRows,   kSetRow,     kSetCounts,
                                                 kSetPlaces, kSetThrough, kSetInLoop};
    const bool own = random_.chance(50);
    const char* text = random_.pick(all);
    fill(text, {{"shared", own ? "" : ", inout k: i64[1]"},
                {"own", own ? "    alloc k: i64[1]\n" : ""},
                {"range", number_range()},
                {"other", number_range()},
                {"update", one_of({"atomic Y[v] += $one", "Y[v] = Y[v] + $one",
                                   "Y[v] = Y[v] * $some + X[v]"})},
                {"place", one_of({"u + k[0]", "k[0]", "u", "floormod(u * k[0], 8)"})}});
  }
  /// A number of the iteration decides how much of a fold runs, and where it goes.
  void own_numbers() {
    refusable_ = true;
    choose_sizes(11, 7);
    fill_one_of(
        {kOwnNumber}, {"", " where k[0] > 3", " where w < k[0]", " where w + k[0] > 5"},
        {{"end", one_of({"k[0]", "8", "min(k[0], 3)"})},
         {"at", one_of({"i * 8 + r", "i * 8 + k[0]", "i * k[0] + r", "i + k[0] * r", "i + r"})}});
  }

 private:
  std::string number_range() {
    return one_of({"0..k[0]", "0..k[0]", "k[0]..9", "0..min(k[0] + 1, 9)", "k[0]..k[0] + 2"});
  }

  // What the statements of counters are made of. The pieces are drawn in the order in which they
  // stand, whatever the compiler.
  using Pieces = std::initializer_list<std::string>;

  static std::string joined(Pieces pieces) {
    std::string out;
    for (const auto& piece : pieces) out += piece;
    return out;
  }
  void line(int depth, Pieces pieces) {
    lines_ += std::string(static_cast<std::size_t>(2 * depth), ' ') + joined(pieces) + "\n";
  }
  std::string digit(int count) { return std::to_string(random_.below(count)); }
  std::string fresh(const char* start) { return start + std::to_string(names_++); }
  std::string counter() { return random_.chance(67) ? "k[0]" : "k[1]"; }
  /// From 0 to 10.
  std::string index() {
    switch (random_.below(7)) {
      case 0:
      case 1:
        return counter();
      case 2:
        return joined({counter(), " + ", digit(4)});
      case 3:
        return loops_.empty() ? "2" : one_of(loops_);
      case 4:
        return lets_.empty() ? counter() : one_of(lets_);
      case 5:
        if (loops_.empty()) return "1";
        return joined({"floormod(", one_of(loops_), " * 3 + ", counter(), ", 8)"});
      default:
        return digit(8);
    }
  }
  /// Where an array has all its elements from places that numbers in memory name, nothing else
  /// tells how long it has to be.
  std::string place_in(const std::string& array) {
    return array == "T" && only_counters_ ? counter() : index();
  }
  std::string element() {
    switch (random_.below(5)) {
      case 0:
        return joined({"T[", place_in("T"), "]"});
      case 1:
        return joined({"Y[", index(), "]"});
      case 2:
        return joined({"i32(", index(), ")"});
      case 3:
        return digit(9) + "i32";
      default:
        return joined({"X[", index(), "]"});
    }
  }
  std::string condition() {
    switch (random_.below(4)) {
      case 0:
        return joined({counter(), " > ", digit(6)});
      case 1:
        return joined({index(), " < ", index()});
      case 2:
        return joined({element(), " > ", element()});
      default:
        return joined({"floormod(", index(), ", 2) == 0"});
    }
  }

  void statement(int depth) {
    if (--statements_left_ < 0) return store(depth);
    switch (random_.below(depth > 4 ? 4 : 10)) {
      case 0:
        return next_counter(depth);
      case 1:
      case 2:
        return store(depth);
      case 3:
        return update(depth);
      case 4:
        return let(depth);
      case 5:
        return branch(depth);
      case 6:
        return while_loop(depth);
      default:
        return loop(depth);
    }
  }
  void next_counter(int depth) {
    line(depth, {counter(), " = floormod(", index(), " + ", digit(5), ", 8)"});
  }
  void store(int depth) {
    const std::string to = one_of({"T", "Y"});
    switch (random_.below(3)) {
      case 0:
        return line(depth, {to, "[", place_in(to), "] = ", element()});
      case 1:
        return line(depth, {to, "[", place_in(to), "] = ", element(), " + ", element()});
      default:
        return line(depth, {to, "[", place_in(to), "] = ", element(), " * 3i32 - ", element()});
    }
  }
  void update(int depth) {
    const std::string at = joined({"Y[", index(), "]"});
    line(depth, {at, " = ", at, " * 3i32 + ", element()});
  }
  /// The names of lets end with it.
  void statements(int depth) {
    const Phrases outside = lets_;
    for (int count = 1 + random_.below(3); count > 0; --count) statement(depth);
    lets_ = outside;
  }
  /// Keeps a number that changes in what follows.
  void let(int depth) {
    const std::string name = fresh("l");
    line(depth, {"let ", name, " = ", counter()});
    lets_.push_back(name);
    statements(depth);
    line(depth, {"Y[", name, "] = Y[", name, "] + ", element()});
    lets_.pop_back();
  }
  void branch(int depth) {
    line(depth, {"if ", condition(), ":"});
    statements(depth + 1);
    if (random_.chance(50)) return;
    line(depth, {"else:"});
    statements(depth + 1);
  }
  /// Of four iterations at most; it holds no other loop, so that each ends.
  void while_loop(int depth) {
    line(depth, {"left[0] = ", std::to_string(1 + random_.below(4))});
    line(depth, {"while left[0] > 0", random_.chance(50) ? "" : " && " + condition(), ":"});
    line(depth + 1, {"left[0] = left[0] - 1"});
    for (int count = depth > 2 ? 1 : 2; count > 0; --count) {
      if (random_.chance(33))
        next_counter(depth + 1);
      else
        store(depth + 1);
    }
  }
  /// Up to a number that its body may set.
  void loop(int depth) {
    const std::string name = fresh("i");
    line(depth, {"for ", name, " in ", random_.chance(75) ? "0" : digit(3), "..", end(), ":"});
    loops_.push_back(name);
    statements(depth + 1);
    loops_.pop_back();
  }
  std::string end() {
    switch (random_.below(5)) {
      case 0:
        return counter();
      case 1:
        return lets_.empty() ? "5" : one_of(lets_);
      case 2:
        return loops_.empty() ? "4" : one_of(loops_) + " + 1";
      default:
        return std::to_string(2 + random_.below(6));
    }
  }

  // A producer and a consumer that are bounded alike.
  static constexpr const char* kSetRows =
      R"(program P$dims(in c: u8[$n], in X: $t[$n, 9], inout Z: $t[$n]$shared):
  alloc T: $t[$n, 9]
  for i in 0..$n:
$own    block k(v in 0..$n = i):
      k[0] = i64(c[v] & 7u8)
    for q in $range:
      block T(v in 0..$n = i, u in 0..9 = q):
        T[v, u] = X[v, u] + $one
    for q in $range:
      block Z(v in 0..$n = i, u in 0..9 = q):
        Z[v] = Z[v] * $some + T[v, u]
)";
  static constexpr const char* kSetRow =
      R"(program P$dims(in c: u8[$n], in X: $t[9], inout Z: $t[$n]$shared):
  for i in 0..$n:
$own    block k(v in 0..$n = i):
      k[0] = i64(c[v] & 7u8)
    for q in $range:
      block Z(v in 0..$n = i, u in 0..9 = q):
        Z[v] = Z[v] * $some + X[u]
)";
  static constexpr const char* kSetCounts =
      R"(program P$dims(in c: u8[$n], in X: $t[9], inout Y: $t[9], inout Z: $t[$n]$shared):
  for i in 0..$n:
$own    block k(v in 0..$n = i):
      k[0] = i64(c[v] & 7u8)
    for r in $range:
      block Y(v in 0..9 = r):
        $update
    for q in $other:
      block Z(u in 0..$n = i, v in 0..9 = q):
        Z[u] = Z[u] * $some + Y[v]
)";
  static constexpr const char* kSetPlaces =
      R"(program P$dims(in c: u8[$n], in X: $t[$n], inout Y: $t[$n + 8]$shared):
  for i in 0..$n:
$own    block k(v in 0..$n = i):
      k[0] = i64(c[v] & 7u8)
    block Y(u in 0..$n = i):
      Y[$place] = Y[$place] * $some + X[u]
)";
  // The number says which other number is the bound.
  static constexpr const char* kSetThrough =
      R"(program P$dims(in c: u8[$n], in b: u8[8], in X: $t[9], inout Y: $t[$n]$shared):
  for i in 0..$n:
$own    block k(v in 0..$n = i):
      k[0] = i64(c[v] & 7u8)
    for r in 0..i64(b[k[0]] & 7u8):
      block Y(v in 0..$n = i, u in 0..9 = r):
        Y[v] = Y[v] * $some + X[u]
)";
  // The loop sets its own end, which it has read by then.
  static constexpr const char* kSetInLoop =
      R"(program P$dims(in c: u8[9], in X: $t[9], inout Y: $t[9]$shared):
  for i in 0..3:
$own    block k(v in 0..3 = i):
      k[0] = i64(c[v] & 7u8)
    for j in 0..k[0]:
      block Y(v in 0..9 = j):
        Y[v] = Y[v] * $some + X[v]
      block next(v in 0..9 = j):
        k[0] = i64(c[v] & 7u8)
)";
  static constexpr const char* kOwnNumber =
      R"(program P$dims(in X: $t[$n, $m], in c: u8[$n], inout Y: $t[$n * 8], inout Z: $t[$n]):
  for i in 0..$n:
    alloc k: i64[1]
    k[0] = i64(c[i] & 7u8)
    for r in 0..$m:
      block Z(v in 0..$n = i, reduce w in 0..$m = r)$where reduce $fold$init:
        Z[v] $fold= X[v, w]
    for r in 0..$end:
      block Y(v in 0..$n * 8 = $at, u in 0..$n = i):
        Y[v] = Y[v] + Z[u]
)";

  std::string lines_;
  Phrases loops_, lets_;        ///< whose names may be read here
  bool only_counters_ = false;  ///< index T
  int names_ = 0, statements_left_ = 12;
};

}  // namespace fuzz
