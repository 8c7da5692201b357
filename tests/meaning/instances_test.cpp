// Loops that run instances of a block again: no step moves an init past them, leaves them out, or
// counts what they repeat once.
#include "meaning.hpp"

using namespace meaning;

namespace {

const std::string kSpin =
    "program o(in A: i32[12, 8], out C: i32[12]):\n  for t in 0..3:\n    for r in 0..8:\n"
    "      for i in 0..12:\n        block C(v in 0..12 = i, reduce w in 0..8 = r) reduce sum "
    "init:\n"
    "          C[v] sum= A[v, w]\n";

/// X reduces A under these lines of loops, and C reads X.
std::string reduced(const std::string& loops, const std::string& bindings,
                    const std::string& term = "i32(A[v, w])", const std::string& type = "i8",
                    const std::string& reducer = "sum") {
  std::string text = "program o(in A: " + type + "[9, 12], out Y: i32[9]):\n  alloc X: i32[9]\n",
              pad = "  ";
  for (std::size_t at = 0; at < loops.size();) {
    const std::size_t end = loops.find('\n', at);
    text += pad + loops.substr(at, end - at) + "\n";
    pad += "  ", at = end == std::string::npos ? loops.size() : end + 1;
  }
  return text + pad + "block X(" + bindings + ") reduce " + reducer + " init:\n" + pad + "  X[v] " +
         reducer + "= " + term +
         "\n  for i in 0..9:\n    block Y(v in 0..9 = i):\n      Y[v] = X[v] * 3i32\n";
}
const char* const kRepeats = "for i in 0..9:\nfor r in 0..3:\nfor t in 0..90:";
const char* const kOverlap = "for i in 0..9:\nfor r in 0..30:\nfor q in 0..10:";
const char* const kByIndex = "v in 0..9 = i, reduce w in 0..12 = r";
const char* const kByPart = "v in 0..9 = i, reduce w in 0..12 = floordiv(r * 10 + q, 27)";

std::string fuse_two(const std::string& text, const char* block) {
  return steps(text, [&](lt::Schedule& s) { s.fuse(loop(s, block, 0), loop(s, block, 1)); });
}

}  // namespace

TEST_CASE("an init stays inside a loop that starts the fold anew") {
  CHECK(fuse_two(kSpin, "C") == "L0229");
  CHECK(steps(kSpin, [](lt::Schedule& s) {
          s.reorder({loop(s, "C", 1), loop(s, "C", 2), loop(s, "C", 0)});
        }) == "L0259");
  CHECK(steps(kSpin, [](lt::Schedule& s) { s.decompose_reduction("C", loop(s, "C", 0)); }) ==
        "L0218");
  CHECK(steps(kSpin, [](lt::Schedule& s) { s.decompose_reduction("C", loop(s, "C", 1)); }) == "");
  CHECK(steps(kSpin, [](lt::Schedule& s) { s.reorder({loop(s, "C", 2), loop(s, "C", 1)}); }) == "");
  CHECK(steps(kSpin, [](lt::Schedule& s) { s.rfactor(loop(s, "C", 1)); }) == "");
}

TEST_CASE("an init moves past loops of which each iteration has points of its own") {
  const std::string nest =
      "program o(in A: i32[12, 8], out C: i32[12]):\n  for i in 0..12:\n    for r in 0..8:\n"
      "      block C(v in 0..12 = i, reduce w in 0..8 = r) reduce sum init:\n        C[v] sum= "
      "A[v, w]\n";
  CHECK(fuse_two(nest, "C") == "");
  CHECK(steps(nest, [](lt::Schedule& s) {
          auto io = s.split_any(loop(s, "C", 0), {lt::infer, 5});
          s.reorder({loop(s, "C", 2), io[1]});
          s.fuse(io[0], loop(s, "C", 1));
        }) == "");
  const std::string overlapping =
      "program o(in A: i32[12, 8], out C: i32[12]):\n  for i in 0..5:\n    for j in 0..4:\n"
      "      for r in 0..8:\n        block C(v in 0..12 = i * 2 + j, reduce w in 0..8 = r) reduce "
      "sum init:\n"
      "          C[v] sum= A[v, w]\n";
  Data data;
  data.find_uninitialized = false;
  CHECK(steps(
            overlapping, [](lt::Schedule& s) { s.fuse(loop(s, "C", 1), loop(s, "C", 2)); }, data) ==
        "");
  CHECK(steps(
            overlapping,
            [](lt::Schedule& s) {
              lt::LoopRef both = s.fuse(loop(s, "C", 0), loop(s, "C", 1));
              s.fuse(both, loop(s, "C", 1));
            },
            data) == "L0229");
  CHECK(steps(
            overlapping,
            [](lt::Schedule& s) {
              s.reorder({loop(s, "C", 2), loop(s, "C", 0)});
            },
            data) == "L0259");
}

TEST_CASE("blocks keep the loops that repeat their updates") {
  const auto move = [](lt::Schedule& s) { s.compute_at("X", loop(s, "Y", 0)); };
  CHECK(steps(reduced("for i in 0..9:\nfor r in 0..12:\nfor t in 0..3:", kByIndex), move) ==
        "L0212");
  CHECK(steps(reduced(kOverlap, kByPart), move) == "L0212");
  CHECK(steps(reduced("for i in 0..9:\nfor r in 0..12:", kByIndex), move) == "");
  // Outside of the reduction they start it anew; of a maximum they are no matter.
  CHECK(steps(reduced("for t in 0..3:\nfor i in 0..9:\nfor r in 0..12:", kByIndex), move) == "");
  CHECK(steps(reduced("for i in 0..9:\nfor r in 0..12:\nfor t in 0..3:", kByIndex, "i32(A[v, w])",
                      "i8", "max"),
              move) == "");
  const std::string reader =
      "program o(in A: i32[12, 8], out C: i32[12]):\n  alloc X: i32[12, 8]\n  for i in 0..12:\n"
      "    for r in 0..8:\n      block X(v in 0..12 = i, w in 0..8 = r):\n        X[v, w] = A[v, "
      "w] * 2i32\n"
      "  for i in 0..12:\n    for r in 0..8:\n      for t in 0..3:\n"
      "        block C(v in 0..12 = i, reduce w in 0..8 = r) reduce sum init:\n          C[v] sum= "
      "X[v, w]\n";
  CHECK(steps(reader, [](lt::Schedule& s) { s.reverse_compute_at("C", loop(s, "X", 0)); }) ==
        "L0212");
  CHECK(steps(reader, [](lt::Schedule& s) {
          s.transform_block_layout("C", [](lt::Index v, lt::Index w) { return lt::layout(w, v); });
        }) == "L0238");
}

// C[v] is the sum of a row of X, in a loop `t` of which nobody knows whether it runs.
std::string maybe_summed(const std::string& loops) {
  std::string text =
      "program o(in e: u8[1], in A: i32[5, 6], inout C: i32[5]):\n  alloc X: i32[5, 6]\n"
      "  for i in 0..5:\n    for r in 0..6:\n      block X(v in 0..5 = i, w in 0..6 = r):\n"
      "        X[v, w] = A[v, w] * 2i32\n";
  std::string indent = "  ";
  for (std::size_t at = 0; at < loops.size(); indent += "  ") {
    const std::size_t end = loops.find('\n', at);
    text += indent + loops.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text + indent + "block C(v in 0..5 = i, reduce w in 0..6 = r) reduce sum init:\n" +
         indent + "  C[v] sum= X[v, w]\n";
}

TEST_CASE("a loop that may run nothing keeps the block that it holds, and leaves inits outside") {
  for (std::int64_t times : {0, 1, 5}) {
    CAPTURE(times);
    Data data;
    data.fill["e"] = [=](std::int64_t) { return times; };
    const auto steps_of = [&](const char* loops, auto&& step) {
      return steps(maybe_summed(loops), step, data);
    };
    const auto move = [](lt::Schedule& s) { s.reverse_compute_at("C", loop(s, "X", 0)); };
    CHECK(steps_of("for i in 0..5:\nfor t in 0..i64(e[0]):\nfor r in 0..6:\n", move) == "L0212");
    CHECK(steps_of("for i in 0..5:\nfor t in 0..i64(e[0]) + 1:\nfor r in 0..6:\n", move) == "");
    const auto tiles = [](std::size_t position) {
      return [=](lt::Schedule& s) { s.split_any(loop(s, "C", position), {lt::infer, 4}); };
    };
    CHECK(steps_of("for i in 0..5:\nfor r in 0..6:\nfor t in 0..i64(e[0]):\n", tiles(2)) == "");
    CHECK(steps_of("for i in 0..5:\nfor t in 0..i64(e[0]):\nfor r in 0..6:\n", tiles(1)) == "");
    CHECK(steps_of("for t in 0..i64(e[0]):\nfor i in 0..5:\nfor r in 0..6:\n", tiles(0)) == "");
  }
}

TEST_CASE("partial results have no domain that says where it ends by a loop") {
  const std::string rows =
      "program o(in p: u8[5], in A: i32[4, 12], inout C: i32[4]):\n  for i in 0..4:\n"
      "    for q in 0..2:\n      for r in i64(p[i])..i64(p[i + 1]):\n"
      "        block C(v in 0..4 = i, reduce w in 0..12 = r + q) reduce sum init:\n"
      "          C[v] sum= A[v, w]\n";
  Data data;
  data.fill["p"] = [](std::int64_t k) { return k * k / 2; };
  CHECK(steps(
            rows, [](lt::Schedule& s) { s.rfactor(loop(s, "C", 1)); }, data) == "L0219");
}

TEST_CASE("a block whose domain reaches beyond its arrays keeps the loops that do not") {
  const auto text = [](const std::string& columns) {
    return "program o(in A: i32[5, 6], out C: i32[5]):\n  alloc X: i32[5]\n  alloc Y: i32[5, 6]\n"
           "  for i in 0..5:\n    block X(v in 0..5 = i):\n      X[v] = A[v, 0]\n"
           "  for i in 0..5:\n    for j in 0..6:\n      block Y(v in 0..5 = i, w in 0.." +
           columns +
           " = j):\n        Y[v, w] = A[v, w] - X[v]\n"
           "  for i in 0..5:\n    block C(v in 0..5 = i):\n      C[v] = Y[v, 5]\n";
  };
  const auto move = [](lt::Schedule& s) { s.reverse_compute_at("Y", loop(s, "X", 0)); };
  CHECK(steps(text("6"), move) == "");
  CHECK(steps(text("8"), move) == "L0212");
}

TEST_CASE("partial results are made of loops that repeat nothing") {
  const std::string text = reduced("for i in 0..9:\nfor r in 0..4:\nfor q in 0..3:\nfor t in 0..3:",
                                   "v in 0..9 = i, reduce w in 0..12 = r * 3 + q");
  CHECK(steps(text, [](lt::Schedule& s) { s.rfactor(loop(s, "X", 1)); }) == "L0219");
  CHECK(steps(text, [](lt::Schedule& s) { s.rfactor(loop(s, "X", 2)); }) == "L0219");
  CHECK(steps(reduced("for i in 0..9:\nfor r in 0..4:\nfor q in 0..3:",
                      "v in 0..9 = i, reduce w in 0..12 = r * 3 + q"),
              [](lt::Schedule& s) { s.rfactor(loop(s, "X", 2)); }) == "");
  CHECK(steps(reduced("for i in 0..9:\nfor r in 0..4:\nfor q in 0..3:",
                      "v in 0..9 = i, reduce w in 0..12 = r * 2 + q"),
              [](lt::Schedule& s) { s.rfactor(loop(s, "X", 1)); }) == "");
}

TEST_CASE("a narrower type holds what repeated updates add up to") {
  Data data;
  data.fill["A"] = [](std::int64_t) { return 127; };
  CHECK(steps(
            reduced(kRepeats, kByIndex), [](lt::Schedule& s) { s.change_type("X", lt::kI16); },
            data) == "L0253");
  CHECK(steps(
            reduced("for i in 0..9:\nfor r in 0..3:\nfor t in 0..80:", kByIndex),
            [](lt::Schedule& s) { s.change_type("X", lt::kI16); }, data) == "");
  data.fill["A"] = [](std::int64_t) { return 1; };
  CHECK(steps(
            reduced(kOverlap, kByPart, "i32(A[v, w] & 1i8)"),
            [](lt::Schedule& s) { s.change_type("X", lt::kI8); }, data) == "L0253");
  CHECK(steps(
            reduced(kOverlap, kByPart, "i32(A[v, w] & 1i8)"),
            [](lt::Schedule& s) { s.change_type("X", lt::kI16); }, data) == "");
}

TEST_CASE("a tail leaves out the inits beyond the fused loops") {
  const auto tail = [](lt::Schedule& s) {
    lt::LoopRef x = s.fuse(loop(s, "U", 0), loop(s, "U", 1));
    s.split_any(x, {lt::infer, 8});
  };
  const auto text = [](const std::string& head, const std::string& extent,
                       const std::string& domain) {
    return "program o" + head + "inout C: i32[" + domain + "]):\n  for i in 0.." + extent +
           ":\n    for r in 0..4:\n      block U(v in 0.." + domain +
           " = i, reduce w in 0..4 = r) reduce sum init:\n        C[v] sum= A[v, w]\n";
  };
  CHECK(steps(text("(in A: i32[10, 4], ", "3", "10"), tail) == "");
  Data data;
  data.fill["n"] = [](std::int64_t) { return 3; };
  CHECK(steps(text("(in A: i32[10, 4], in n: u8[1], ", "i64(n[0] & 7u8)", "10"), tail, data) == "");
  for (std::int64_t n : {3, 10, 12}) {
    Data sizes;
    sizes.dims = {{"n", n}, {"m", 10}};
    CHECK(steps(text("<n, m>(in A: i32[m, 4], in q: i32[n], ", "n", "m"), tail, sizes) == "");
  }
}

TEST_CASE("points that share an element keep their inits where they are") {
  const std::string text =
      "program o(in A: i8[9, 5], out T: i8[5]):\n  for i in 0..5:\n    for r in 0..9:\n"
      "      block T(v in 0..5 = i, reduce w in 0..9 = r) reduce sum init:\n        T[0] sum= A[w, "
      "v]\n";
  Data data;
  data.find_uninitialized = false;
  CHECK(steps(
            text,
            [](lt::Schedule& s) {
              s.reorder({loop(s, "T", 1), loop(s, "T", 0)});
            },
            data) == "L0259");
  CHECK(steps(
            text, [](lt::Schedule& s) { s.fuse(loop(s, "T", 0), loop(s, "T", 1)); }, data) ==
        "L0229");
}

TEST_CASE(
    "a consumer stays outside of loops that do not reach all that it reads, or reach it again") {
  const auto text = [](const std::string& j, const std::string& i, const std::string& v) {
    return "program o(in c: u8[1], in A: i8[16, 9], out Y: i8[16]):\n  alloc C: i8[16]\n"
           "  for i in 0..16:\n    block zero(v in 0..16 = i):\n      C[v] = 0i8\n  for j in 0.." +
           j + ":\n    for i in 0.." + i +
           ":\n      for r in 0..9:\n        block C(v in 0..16 = " + v +
           ", reduce w in 0..9 = r) reduce min:\n          C[v] min= A[v, w]\n"
           "  for i in 0..16:\n    block Y(v in 0..16 = i):\n      Y[v] = C[v] * 3i8\n";
  };
  const auto move = [](lt::Schedule& s) { s.reverse_compute_at("Y", loop(s, "C", 1)); };
  for (std::int64_t count : {0, 3, 7}) {
    Data data;
    data.fill["c"] = [=](std::int64_t) { return count; };
    CHECK(steps(text("3", "i64(c[0] & 7u8)", "floordiv(i * 3 + j, 6)"), move, data) == "L0213");
    CHECK(steps(text("3", "8", "i * 2 + j"), move, data) == "L0213");
    CHECK(steps(text("1", "8", "i"), move, data) == "L0213");
    CHECK(steps(text("2", "8", "j * 8 + i"), move, data) == "");
  }
}

TEST_CASE("the order of overlapping updates is that of their loops where rounding counts") {
  const std::string text =
      "program P(inout C: f32[20], in A: f32[20, 2]):\n  for r in 0..7:\n    for j in 0..3:\n"
      "      for i in 0..9:\n        block C(v in 0..20 = i * 2 + j, reduce w in 0..2 = "
      "floordiv(r, 4)) "
      "reduce sum:\n          C[v] sum= A[v, w]\n";
  lt::Schedule s(lt::parse(text), {.strict = true});
  try {
    s.reorder({loop(s, "C", 1), loop(s, "C", 0)});
    FAIL("a strict schedule reorders a sum of floats");
  } catch (const lt::UserError& e) {
    CHECK(e.id() == "L0226");
  }
  s.reorder({loop(s, "C", 1), loop(s, "C", 2)});
}

TEST_CASE("a tile does not take an init past points that come again") {
  const std::string text =
      "program P(inout C: i16[9], in A: i16[9, 5]):\n  for i in 0..11:\n    for r in 0..5:\n"
      "      block C(v in 0..9 = max(i - 2, 0), reduce w in 0..5 = r) reduce sum init:\n        "
      "C[v] sum= A[v, w]\n";
  CHECK(steps(text, [](lt::Schedule& s) { s.tile(loop(s, "C", 1), loop(s, "C", 0), 5, 8); }) != "");
}
