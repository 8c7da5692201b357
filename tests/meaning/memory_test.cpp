// What is read from memory is another value each time that memory changes: indices, bounds of
// loops, extents, and the places that follow from them.
#include "meaning.hpp"

using namespace meaning;

namespace {

Data falling(std::int64_t first = 7) {
  Data data;
  data.find_uninitialized = false;
  data.fill["c"] = [first](std::int64_t k) { return first - k % (first + 1); };
  data.fill["k"] = [](std::int64_t) { return 1; };
  return data;
}

/// k is set by each iteration of i, and bounds the loop of Z.
const std::string kBounded =
    "program o(in c: i64[8], in X: i32[9], inout Z: i32[8], inout k: i64[1]):\n  for i in 0..8:\n"
    "    block k(v in 0..8 = i):\n      k[0] = c[v]\n    for q in 0..k[0]:\n"
    "      block Z(v in 0..8 = i, u in 0..9 = q):\n        Z[v] = Z[v] * 3i32 + X[u]\n";

/// An iteration of t has k to itself.
std::string with_own_k(const std::string& body, const std::string& parameters) {
  return "program o(in c: i64[8], " + parameters + "):\n  for t in 0..8:\n    alloc k: i64[1]\n" +
         "    block k(u in 0..8 = t):\n      k[0] = c[u]\n" + body;
}

}  // namespace

TEST_CASE("arrays that numbers in memory index keep their elements") {
  check_plain(
      lt::parse("program o(in X: i32[2], inout k: i64[1], out Z: i32[1]):\n"
                "  alloc T: i32[9]\n  k[0] = 4\n  T[k[0]] = X[0]\n  k[0] = 3\n"
                "  Z[0] = T[4]\n"));
  check_plain(
      lt::parse("program stack(in X: i32[8], out Z: i32[8]):\n  for i in 0..8:\n"
                "    alloc s: i32[16]\n    alloc top: i64[1]\n    top[0] = 0\n"
                "    Z[i] = 0i32\n    for j in 0..5:\n      s[top[0]] = X[i] + i32(j)\n"
                "      top[0] = top[0] + 1\n    while top[0] > 0:\n"
                "      top[0] = top[0] - 1\n      Z[i] = Z[i] * 3i32 + s[top[0]]\n"));
  const std::string rows =
      "program o(in c: i64[8], in X: i32[8, 9], inout Z: i32[8], inout k: i64[1]):\n"
      "  alloc T: i32[8, 9]\n  for i in 0..8:\n    block k(v in 0..8 = i):\n      k[0] = c[v]\n"
      "    for q in 0..k[0]:\n      block T(v in 0..8 = i, u in 0..9 = q):\n"
      "        T[v, u] = X[v, u] + 1i32\n    for q in 0..k[0]:\n"
      "      block Z(v in 0..8 = i, u in 0..9 = q):\n        Z[v] = Z[v] * 3i32 + T[v, u]\n";
  check_plain(lt::parse(rows), falling());
  CHECK(steps(
            rows, [](lt::Schedule& s) { s.reverse_compute_at("Z", loop(s, "T", 1)); }, falling())
            .substr(0, 4) == "L021");
}

TEST_CASE("iterations whose own memory says where they store are not independent") {
  const std::string scatter =
      with_own_k("    block Y(u in 0..8 = t):\n      Y[u + k[0]] = Y[u + k[0]] * 3i32 + i32(u)\n",
                 "inout Y: i32[20]");
  for (const char* kind : {"parallel", "vectorize", "bind"}) {
    const std::string why = steps(
        scatter,
        [&](lt::Schedule& s) {
          const lt::LoopRef t = loop(s, "Y", 0);
          if (kind == std::string("parallel")) s.parallel(t);
          if (kind == std::string("vectorize")) s.vectorize(t);
          if (kind == std::string("bind")) s.bind(t, "blockIdx.x");
        },
        falling());
    CHECK(why == "L0207");
  }
  const std::string bounds = with_own_k(
      "    for r in 0..k[0]:\n      block Y(v in 0..8 = r):\n        atomic Y[v] += 1i32\n"
      "    for q in k[0]..8:\n      block Z(u in 0..8 = t, v in 0..8 = q):\n"
      "        Z[u] = Z[u] * 3i32 + Y[v]\n",
      "inout Y: i32[8], inout Z: i32[8]");
  CHECK(steps(
            bounds, [](lt::Schedule& s) { s.parallel(loop(s, "Z", 0)); }, falling()) == "L0207");
  // Rows of their own, which the iterations fill as far as their own numbers say.
  const std::string compact =
      "program o(in X: i32[8, 6], out C: i64[8], inout Y: i64[8, 6]):\n  for t in 0..8:\n"
      "    alloc k: i64[1]\n    k[0] = 0\n    for j in 0..6:\n      if X[t, j] > 0i32:\n"
      "        Y[t, k[0]] = j\n        k[0] = k[0] + 1\n    C[t] = k[0]\n";
  CHECK(steps(
            compact, [](lt::Schedule& s) { s.parallel(s.loop("t")); }, falling()) == "");
  // Updates that commute may go anywhere.
  const std::string histogram =
      with_own_k("    block H(u in 0..8 = t):\n      atomic H[k[0]] += 1i32\n", "inout H: i32[8]");
  CHECK(steps(
            histogram, [](lt::Schedule& s) { s.parallel(loop(s, "H", 0)); }, falling()) == "");
}

TEST_CASE("copies span what a bound in memory may come to") {
  CHECK(steps(
            kBounded, [](lt::Schedule& s) { s.cache_read("Z", "X", lt::Scope::global); },
            falling()) == "");
  CHECK(steps(
            kBounded, [](lt::Schedule& s) { s.reindex("Z", "X"); }, falling()) == "");
}

TEST_CASE("a loop reads its bounds once") {
  Data data = falling();
  data.fill["k"] = [](std::int64_t) { return 5; };
  const std::string changing =
      "program o(inout k: i64[1], inout Y: i32[8]):\n  for j in 0..k[0]MARK:\n"
      "    Y[j] = Y[j] + 1i32\n    k[0] = 3\n";
  const std::size_t mark = changing.find("MARK");
  std::string plain = changing, marked = changing;
  plain.replace(mark, 4, ""), marked.replace(mark, 4, " @unroll_explicit=2");
  CHECK(steps(
            plain, [](lt::Schedule& s) { s.unroll(s.loop("j"), 2); }, data) == "");
  check_plain(lt::parse(marked), data);
}

TEST_CASE("past the end of a split loop no bound is read that a block there would have set") {
  const std::string rows =
      "program o(in c: i64[11], in n: i64[5], inout Y: i32[11]):\n  for i in 0..11:\n"
      "    alloc k: i64[1]\n    block k(v in 0..11 = i):\n      k[0] = c[v]\n"
      "    for r in 0..n[k[0]]:\n      block Y(v in 0..11 = i, u in 0..8 = r):\n"
      "        Y[v] = Y[v] * 3i32 + i32(u)\n";
  Data data = falling(4);
  data.find_uninitialized = true;
  data.fill["n"] = [](std::int64_t k) { return k; };
  for (const lt::Tail tail : {lt::Tail::guard, lt::Tail::mask, lt::Tail::peel})
    CHECK(steps(
              rows,
              [&](lt::Schedule& s) {
                s.split<2>(loop(s, "Y", 0), {lt::infer, 4}, tail);
              },
              data) == "");
}

TEST_CASE("loops whose bound a let names are split") {
  const std::string program =
      "program o(in X: i64[9], in c: i64, inout Y: i64[9]):\n  let l = min(max(c, 0), 9)\n"
      "  for i in 0..l:\n    block Y(v in 0..9 = i):\n      Y[v] = X[v]\n";
  check_plain(lt::parse(program));
  CHECK(steps(program, [](lt::Schedule& s) { s.split<2>(loop(s, "Y", 0), {lt::infer, 4}); }) == "");
}

TEST_CASE("stages of a pipeline count what the bounds of their loops read") {
  const std::string windows =
      "program o(in c: i64[8], in X: i32[9], inout Z: i32[8], inout k: i64[1]):\n"
      "  for i in 0..8:\n    block k(v in 0..8 = i):\n      k[0] = c[v]\n"
      "    for q in k[0]..k[0] + 2:\n      block Z(v in 0..8 = i, u in 0..9 = q):\n"
      "        Z[v] = Z[v] * 3i32 + X[u]\n";
  CHECK(steps(
            windows,
            [](lt::Schedule& s) {
              s.software_pipeline(loop(s, "k", 0), {0, 1}, {0, 1});
            },
            falling()) == "L0247");
}

TEST_CASE("accesses by lanes keep their type and their place") {
  const std::string lanes =
      "program o(in X: i8[13], inout Y: i8[13]):\n  alloc T: i8[13]\n  for i in 0..13:\n"
      "    block T(v in 0..13 = i):\n      T[v] = X[v] & 3i8\n  block Y(v in 0..1 = 0):\n"
      "    Y[ramp(v, 1, 13)] = T[ramp(v, 1, 13)]\n";
  check_plain(lt::parse(lanes));
  CHECK(steps(lanes, [](lt::Schedule& s) { s.change_type("T", lt::kI16); }) == "");
  CHECK(steps(lanes, [](lt::Schedule& s) { s.compute_inline("T"); }) == "L0214");
  CHECK(steps(lanes, [](lt::Schedule& s) { s.reverse_compute_inline("Y"); }) == "L0215");
}

TEST_CASE("the size of a temporary that a loop says follows the loop through steps") {
  const std::string text =
      "program P(in X: i32[6, 8], out Y: i32[6, 8]):\n  for i in 0..6:\n    alloc T: i32[8 + i]\n"
      "    for j in 0..8:\n      block T(v in 0..6 = i, w in 0..8 = j):\n"
      "        T[w] = X[v, w] * 2i32\n    for j in 0..8:\n"
      "      block Y(v in 0..6 = i, w in 0..8 = j):\n        Y[v, w] = T[7 - w] + T[w]\n";
  using Step = std::function<void(lt::Schedule&)>;
  const Step all[] = {
      [](lt::Schedule& s) {
        s.split(loop(s, "Y", 0), {lt::infer, 4});
      },
      [](lt::Schedule& s) {
        s.split(loop(s, "Y", 0), {lt::infer, 4}, lt::Tail::peel);
      },
      [](lt::Schedule& s) { s.loop_partition(loop(s, "Y", 0), {2}); },
      [](lt::Schedule& s) { s.merge(loop(s, "T", 1), loop(s, "Y", 1)); },
      [](lt::Schedule& s) { s.unroll(loop(s, "Y", 0)); },
      [](lt::Schedule& s) { s.parallel(loop(s, "Y", 0)); },
      [](lt::Schedule& s) {
        s.cache_write("Y", lt::Scope::local);
        s.split(loop(s, "Y", 0), {lt::infer, 4});
      },
  };
  for (const Step& step : all) steps(text, step);
  // A copy would lie where i has no value.
  CHECK(steps(text, [](lt::Schedule& s) { s.cache_read("Y", "T", lt::Scope::local); }) == "L0220");
}

TEST_CASE(
    "two versions of a temporary are allocated above the loop, which then says no size of it") {
  const std::string text =
      "program P(in X: i32[9, 9], out Y: i32[9]):\n  for i in 0..9:\n    alloc T: i32[i + 1]\n"
      "    for j in 0..i + 1:\n      block T(v in 0..9 = i, w in 0..v + 1 = j):\n"
      "        T[w] = X[v, w] * X[w, v]\n    for r in 0..i + 1:\n"
      "      block Y(v in 0..9 = i, reduce w in 0..v + 1 = r) reduce sum init:\n"
      "        Y[v] sum= T[v - w]\n";
  CHECK(steps(text, [](lt::Schedule& s) { s.double_buffer("T", loop(s, "Y", 0)); }) == "L0245");
  CHECK(steps(text, [](lt::Schedule& s) { s.hoist_storage("T", loop(s, "Y", 0)); }) == "L0240");
}

TEST_CASE("a temporary goes above a loop inside the one that says its size") {
  const std::string text =
      "program P(in X: i32[6, 4, 8], out Y: i32[6, 4, 8]):\n  for i in 0..6:\n"
      "    for j in 0..4:\n      alloc T: i32[8 + i]\n      for k in 0..8:\n"
      "        block T(u in 0..6 = i, v in 0..4 = j, w in 0..8 = k):\n"
      "          T[w + u] = X[u, v, w] * 2i32\n      for k in 0..8:\n"
      "        block Y(u in 0..6 = i, v in 0..4 = j, w in 0..8 = k):\n"
      "          Y[u, v, w] = T[7 - w + u] + T[w + u]\n";
  const auto hoisted = [&](std::size_t depth) {
    return steps(text, [&](lt::Schedule& s) { s.hoist_storage("T", loop(s, "Y", depth)); });
  };
  CHECK(hoisted(1) == "");
  CHECK(hoisted(0) == "L0240");
  CHECK(steps(text, [](lt::Schedule& s) { s.double_buffer("T", loop(s, "Y", 1)); }) == "");
}

TEST_CASE("rows that are kept lie above the loop, which then says no size of them") {
  const std::string text =
      "program P(in X: i32[10, 16], out Y: i32[8, 8]):\n  for i in 0..8:\n"
      "    alloc T: i32[10, SIZE]\n    for r in 0..3:\n      for q in 0..8:\n"
      "        block T(v in 0..10 = i + r, w in 0..8 = q):\n          T[v, w] = X[v, w] * 2i32\n"
      "    for q in 0..8:\n      block Y(v in 0..8 = i, w in 0..8 = q):\n"
      "        Y[v, w] = T[v, w] + T[v + 1, w] + T[v + 2, w]\n";
  const auto rolled = [&](const std::string& size) {
    std::string sized = text;
    sized.replace(sized.find("SIZE"), 4, size);
    return steps(sized, [](lt::Schedule& s) { s.rolling_buffer("T", loop(s, "Y", 0)); });
  };
  CHECK(rolled("8") == "");
  CHECK(rolled("8 + i") == "L0246");
}

TEST_CASE("copies of a loop have lets of their own in its bounds") {
  const std::string text =
      "program P(in K: u8[6], in X: i32[64], out A: i32[6], out B: i32[6]):\n  alloc Y: i32[6]\n"
      "  for i in 0..6:\n    for r in 0..(let k = i64(K[i] & 7u8) in k * 2 - floordiv(k, 2)):\n"
      "      block Y(v in 0..6 = i, reduce w in 0..16 = r) reduce sum init:\n"
      "        Y[v] sum= X[v * 8 + w]\n"
      "  for i in 0..6:\n    block A(v in 0..6 = i):\n      A[v] = Y[v]\n"
      "  for i in 0..6:\n    block B(v in 0..6 = i):\n      B[v] = Y[v] + 1i32\n";
  CHECK(steps(text, [](lt::Schedule& s) { s.clone("Y", {"A"}); }) == "");
  steps(text, [](lt::Schedule& s) { s.loop_partition(loop(s, "Y", 1), {0}); });
  steps(text, [](lt::Schedule& s) { s.decompose_reduction("Y", loop(s, "Y", 0)); });
  steps(text, [](lt::Schedule& s) { s.rfactor(loop(s, "Y", 1)); });
}
