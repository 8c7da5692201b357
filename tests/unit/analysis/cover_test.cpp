#include <doctest/doctest.h>

#include <lathe/analysis/cover.hpp>

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

#include "touch_trace.hpp"

using namespace lathe;
using namespace touch_test;

namespace {

std::string cover(const Program& p, std::vector<std::string> producers = {"P"}) {
  std::vector<BlockTag> tags;
  for (const auto& name : producers) tags.push_back(tag_named(p, name));
  Cover c = covers(p->body, tags, tag_named(p, "C"), buffer_named(p, "P"), {}, Facts(p));
  return c.covered ? "covered" : c.why;
}
/// A producer tile of this many rows from io*8 (+ shift), and a consumer that reads v..v+2.
Program tiled(const std::string& rows, const std::string& from = "io * 8") {
  return parse(
      "program p<n in 1..=4096>(in A: f32[n + 2], out C: f32[n]):\n"
      "  for io in 0..floordiv(n + 7, 8):\n"
      "    alloc P: f32[n + 2]\n"
      "    for a in 0.." +
      rows +
      ":\n"
      "      block P(v in 0..n + 2 = " +
      from +
      " + a):\n"
      "        P[v] = A[v] * 2.0\n"
      "    for ii in 0..8:\n"
      "      block C(v in 0..n = io * 8 + ii):\n"
      "        C[v] = P[v] + P[v + 1] + P[v + 2]\n");
}

}  // namespace

TEST_CASE("a tile with its halo is covered, a row less is not") {
  CHECK(cover(tiled("10")) == "covered");
  CHECK(cover(tiled("12")) == "covered");
  CHECK(cover(tiled("9")) == "not all elements of 'P' that are read are surely written before");
  CHECK(cover(tiled("10", "io * 8 + 1")) ==
        "not all elements of 'P' that are read are surely written before");
}

TEST_CASE("interleaved loops cover only what one iteration wrote") {
  auto program = [](const char* read) {
    return parse(
        std::string(
            "program p(in A: f32[9], out C: f32[9]):\n  alloc P: f32[10]\n  for i in 0..9:\n"
            "    block P(v in 0..9 = i):\n      P[v] = A[v]\n    block C(v in 0..9 = i):\n      "
            "C[v] = ") +
        read + "\n");
  };
  CHECK(cover(program("P[v]")) == "covered");
  CHECK(cover(program("P[v + 1]")) != "covered");
  CHECK(cover(program("select(v > 0, P[v - 1], 0.0)")) != "covered");
}

TEST_CASE("partial sums and rewritten elements are not covered") {
  Program partial = parse(
      "program p(in A: f32[8, 9], out C: f32[8, 9]):\n  alloc P: f32[8]\n  for r in 0..9:\n    for "
      "i in 0..8:\n"
      "      block P(v in 0..8 = i, reduce k in 0..9 = r) reduce sum init:\n        P[v] sum= A[v, "
      "k]\n"
      "    for i in 0..8:\n      block C(v in 0..8 = i, w in 0..9 = r):\n        C[v, w] = P[v]\n");
  CHECK(cover(partial) == "block 'P' is not finished in one iteration");
  auto again = [](const char* where) {
    return parse(
        std::string(
            "program p(in A: f32[9], out C: f32[9]):\n  alloc P: f32[20]\n  for i in 0..9:\n"
            "    block P(v in 0..9 = i):\n      P[v] = A[v]\n  for i in 0..9:\n    block W(v in "
            "0..9 = i):\n"
            "      ") +
        where + " = 0.0\n  for i in 0..9:\n    block C(v in 0..9 = i):\n      C[v] = P[v]\n");
  };
  CHECK(cover(again("P[v]")) == "'P' may be written again before it is read");
  CHECK(cover(again("P[v + 9]")) == "covered");
}

TEST_CASE("tiles whose tails are under one condition cover what reads them under it") {
  const auto tiles = [](const std::string& write, const std::string& read,
                        const std::string& under = "") {
    return cover(
        parse("program p(in A: f32[61, 4], out C: f32[61, 4]):\n  alloc P: f32[8, 4, 8]\n"
              "  for io in 0..8:\n"
              "    for j in 0..4:\n      for ii in 0..8:\n"
              "        block P(v in 0..61 = io * 8 + ii, w in 0..4 = j):\n" +
              under + "          P[" + write + "] = A[v, w]\n" +
              "    for j in 0..4:\n      for i in 0..8:\n"
              "        block C(v in 0..61 = io * 8 + i, w in 0..4 = j):\n"
              "          C[v, w] = P[" +
              read + "]\n"));
  };
  const std::string tile = "floordiv(v, 8), w, floormod(v, 8)";
  CHECK(tiles(tile, tile) == "covered");
  CHECK(tiles(tile, "floordiv(v, 8), 3 - w, floormod(v, 8)") != "covered");
  CHECK(tiles("floordiv(v, 8), 0, floormod(v, 8)", tile) != "covered");
  // Written under a condition that the read is not under, or that nobody tells.
  CHECK(tiles(tile, tile, "          if v < 60:\n  ") != "covered");
  std::string longer = "A[0, 0] > 1.0";
  for (int k = 0; k < 60; ++k) longer += " && A[" + std::to_string(k) + ", 1] > 2.0";
  CHECK(tiles(tile, tile, "          if " + longer + ":\n  ") != "covered");
  CHECK(tiles(tile, tile, "          while A[v, 0] > 1.0:\n  ") != "covered");
}

TEST_CASE("two producers cover together") {
  Program p = parse(
      "program p(in A: f32[4], in B: f32[6], out C: f32[10]):\n  alloc P: f32[10]\n"
      "  for i in 0..4:\n    block P(v in 0..4 = i):\n      P[v] = A[v]\n"
      "  for i in 0..6:\n    block Q(v in 0..6 = i):\n      P[v + 4] = B[v]\n"
      "  for i in 0..10:\n    block C(v in 0..10 = i):\n      C[v] = P[v]\n");
  CHECK(cover(p, {"P", "Q"}) == "covered");
  CHECK(cover(p, {"P"}) != "covered");
}

TEST_CASE("fuzz: covered reads always find what the producer wrote in this iteration") {
  int covered = 0, truly = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    index_test::Random random{seed};
    auto number = [&](std::int64_t lo, std::int64_t hi) {
      return std::to_string(random.between(lo, hi));
    };
    static const char* stores[] = {"v", "v + 1", "19 - v", "floordiv(v, 2)", "v * 2"};
    static const char* loads[] = {"w",     "w + 1",        "19 - w", "floordiv(w, 2)",
                                  "w * 2", "min(w + 1, 5)"};
    std::string t = number(1, 4), n = number(3, 9), rows = number(1, 7);
    std::string load = loads[random.below(6)];
    std::string value = random.below(3) ? "P[" + load + "]"
                                        : "select(w >= " + number(0, 2) + ", P[" + load + "], 0.0)";
    Program p = parse(
        "program p(in A: f32[40], out C: f32[40]):\n  alloc P: f32[40]\n  for o in 0..3:\n"
        "    for a in 0.." +
        rows + ":\n      block P(v in 0.." + number(4, 12) + " = o * " + t + " + a)" +
        (random.below(4) ? "" : " where v != 2") + ":\n        P[" + stores[random.below(5)] +
        "] = A[v]\n"
        "    for b in 0.." +
        t + ":\n      block C(w in 0.." + n + " = o * " + t +
        " + b):\n"
        "        C[w] = " +
        value + "\n");
    const bool claimed = cover(p) == "covered";
    std::map<std::int64_t, std::int64_t> written;  // element -> iteration of o
    bool fine = true;
    const BufferNode* buffer = buffer_named(p, "P").get();
    for (const auto& touch : run(p->body)) {
      if (touch.buffer != buffer) continue;
      std::int64_t o = touch.loops.begin()->second;
      for (const auto& [var, value_of] : touch.loops)
        if (var->name == "o") o = value_of;
      if (touch.write)
        written[touch.element[0]] = o;
      else
        fine = fine && written.count(touch.element[0]) && written[touch.element[0]] == o;
    }
    INFO("seed " << seed << "\n" << p.str());
    CHECK((!claimed || fine));
    covered += claimed, truly += fine;
  }
  MESSAGE("covered: found " << covered << " of " << truly);
  CHECK(covered * 10 >= truly * 3);
}

TEST_CASE("guards of tails end what a tile writes, and what it needs") {
  auto program = [](const std::string& written, const std::string& read) {
    return parse(
        "program p(in A: f32[1026], out C: f32[1024]):\n"
        "  for io in 0..8:\n"
        "    alloc P: f32[1026]\n"
        "    for ao in 0..9:\n"
        "      for ai in 0..16:\n"
        "        block P(v in 0..1026 = io * 128 + (ao * 16 + ai), g in 0.." +
        written +
        " = ao * 16 + ai) @guards=1:\n"
        "          P[v] = A[v] * 2.0\n"
        "    for bo in 0..6:\n"
        "      for bi in 0..24:\n"
        "        block C(v in 0..1024 = io * 128 + (bo * 24 + bi), g in 0.." +
        read + " = bo * 24 + bi) @guards=1:\n          C[v] = P[v] + P[v + 2]\n");
  };
  const std::string no = "not all elements of 'P' that are read are surely written before";
  CHECK(cover(program("130", "128")) == "covered");
  CHECK(cover(program("144", "128")) == "covered");
  CHECK(cover(program("129", "128")) == no);
  CHECK(cover(program("130", "129")) == no);
  // A guard over other loops than an iterator's leaves gaps.
  Program gaps = parse(
      "program p(in A: f32[1026], out C: f32[1024]):\n"
      "  for io in 0..8:\n"
      "    alloc P: f32[1026]\n"
      "    for ao in 0..9:\n"
      "      for ai in 0..16:\n"
      "        block P(v in 0..1026 = io * 128 + (ao * 16 + ai), g in 0..8 = ai) @guards=1:\n"
      "          P[v] = A[v] * 2.0\n"
      "    for b in 0..128:\n"
      "      block C(v in 0..1024 = io * 128 + b):\n        C[v] = P[v] + P[v + 2]\n");
  CHECK(cover(gaps) == no);
}
