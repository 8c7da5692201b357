#include <algorithm>
#include <array>
#include <chrono>
#include <lathe/lathe.hpp>
#include <sstream>
#include <support/errors.hpp>
#include <support/random.hpp>

#include "kernels.hpp"
#include "run.hpp"

using namespace test;

// Loops that users fuse and split run in parallel and as lanes, whatever their extents.
namespace {

const char* const kMatrix =
    "program o<n, m>(in A: i32[m, n], out B: i32[m, n]):\n  for i in 0..m:\n    for j in 0..n:\n"
    "      block B(v in 0..m = i, w in 0..n = j):\n        B[v, w] = A[v, w] + 1i32\n";

/// An elementwise nest of one to three axes, of numbers and of dims.
lt::Program random_nest(Random& random) {
  const int axes = 1 + random.below(3);
  std::string dims, shape, iters, at, text, indent = "  ";
  for (int k = 0; k < axes; ++k) {
    const std::string name(1, static_cast<char>('i' + k));
    std::string extent = std::to_string(1 + random.below(50));
    if (random.below(3) == 0) {
      extent = "n" + std::to_string(k);
      dims += (dims.empty() ? "<" : ", ") + extent;
    }
    shape += (k ? ", " : "") + extent;
    iters += (k ? ", v" : "v") + name + " in 0.." + extent + " = " + name;
    at += (k ? ", v" : "v") + name;
    text += indent + "for " + name + " in 0.." + extent + ":\n";
    indent += "  ";
  }
  if (!dims.empty()) dims += ">";
  return lt::parse("program p" + dims + "(in A: i32[" + shape + "], out B: i32[" + shape + "]):\n" +
                   text + indent + "block B(" + iters + "):\n" + indent + "  B[" + at + "] = A[" +
                   at + "] + 1i32\n");
}

void random_step(lt::Schedule& s, Random& random) {
  const auto loops = s.loops("B");
  const auto at = static_cast<std::size_t>(random.below(static_cast<int>(loops.size())));
  const int what = random.below(3);
  if (what == 0 && at + 1 < loops.size()) {
    s.fuse(loops[at], loops[at + 1]);
  } else if (what == 1 && loops.size() > 1) {
    std::vector<lt::LoopRef> order(loops.begin(), loops.end());
    std::swap(order[at], order[0]);
    s.reorder(order);
  } else if (loops.size() < 6) {
    s.split(loops[at], {lt::infer, 2 + random.below(8)});
  }
}

}  // namespace

TEST_CASE("fused loops of symbolic extent run in parallel, their parts as lanes") {
  lt::Schedule s(lt::parse(kMatrix));
  auto loops = s.loops("B");
  const lt::LoopRef fused = s.fuse(loops[0], loops[1]);
  lt::Schedule whole = s;
  whole.parallel(fused);
  auto [outer, inner] = s.split<2>(fused, {lt::infer, 8});
  s.parallel(outer);
  s.vectorize(inner);
  for (const Dims& dims : {Dims{{"n", 5}, {"m", 3}}, Dims{{"n", 1}, {"m", 9}}}) {
    const auto expected = run(lt::parse(kMatrix), dims);
    CHECK(run(s.program(), dims) == expected);
    CHECK(run(backwards(whole.program()), dims) == expected);
  }
}

TEST_CASE("random nests: every loop may run in parallel after any fuses, splits and reorders") {
  int legal = 0, taken = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    lt::Schedule s(random_nest(random));
    for (int k = random.below(6); k > 0; --k) random_step(s, random);
    INFO("seed " << seed << "\n" << s.str());
    for (const auto& loop : s.loops("B")) {
      ++legal;
      lt::Schedule t = s;
      std::string why;
      try {
        t.parallel(loop);
        ++taken;
      } catch (const lt::UserError& e) {
        why = e.what();
      }
      INFO(why);
      CHECK(why.find(" depend on each other: ") == std::string::npos);
#ifdef SHOW_MISSES
      if (!why.empty()) MESSAGE(why);
#endif
    }
    const auto last = s.loops("B").back();
    const auto* extent = lt::as_const_int(lt::find_loop(s.program()->body, last.var).loop->extent);
    if (extent && *extent <= 64) ++legal, s.vectorize(last), ++taken;
  }
  CHECK(taken >= legal * 98 / 100);
  MESSAGE(taken << " of " << legal);
}

TEST_CASE("producers of a piece of fused loops are computed for the rows that it meets") {
  for (const bool symbolic : {false, true}) {
    const std::string dims = symbolic ? "<n, m>" : "", rows = symbolic ? "n" : "18",
                      columns = symbolic ? "m" : "10", shape = "[" + rows + ", " + columns + "]",
                      at = "(v in 0.." + rows + " = i, w in 0.." + columns + " = j):\n        ",
                      loops = "  for i in 0.." + rows + ":\n    for j in 0.." + columns + ":\n";
    const lt::Program p = lt::parse("program o" + dims + "(in A: i32" + shape + ", out C: i32" +
                                    shape + "):\n  alloc T: i32" + shape + "\n" + loops +
                                    "      block T" + at + "T[v, w] = A[v, w] * 2i32\n" + loops +
                                    "      block C" + at + "C[v, w] = T[v, w] + 1i32\n");
    lt::Schedule s(p);
    auto nest = s.loops("C");
    auto [outer, inner] = s.split<2>(s.fuse(nest[0], nest[1]), {lt::infer, 16});
    s.compute_at("T", outer);
    s.parallel(outer);
    const auto* extent =
        lt::as_const_int(lt::find_loop(s.program()->body, s.loops("T")[1].var).loop->extent);
    if (!symbolic) CHECK(*extent == 3);
    for (const Dims& sizes :
         {Dims{{"n", 5}, {"m", 3}}, Dims{{"n", 1}, {"m", 40}}, Dims{{"n", 0}, {"m", 4}}})
      CHECK(run(backwards(s.program()), sizes) == run(p, sizes));
  }
}

TEST_CASE("reshapes over dims: parallel, lanes, inlined into what they read") {
  const lt::Program p = lt::parse(
      "program o<n, m>(in A: i32[n * m], out B: i32[n, m]):\n  for v in 0..n * m:\n"
      "    B[floordiv(v, m), floormod(v, m)] = A[v]\n");
  lt::Schedule s(p), whole = s;
  whole.parallel(whole.loop_at(0));
  auto [outer, inner] = s.split<2>(s.loop_at(0), {lt::infer, 8});
  s.parallel(outer);
  s.vectorize(inner);
  const lt::Program q = lt::parse(
      "program o<n, m>(in A: i32[n, m], out C: i32[n * m]):\n  alloc B: i32[n, m]\n"
      "  for i in 0..n:\n    for j in 0..m:\n      block B(v in 0..n = i, w in 0..m = j):\n"
      "        B[v, w] = A[v, w] + 1i32\n  for i in 0..n * m:\n    block C(v in 0..n * m = i):\n"
      "      C[v] = B[floordiv(v, m), floormod(v, m)] * 2i32\n");
  lt::Schedule flat(q);
  flat.reverse_compute_inline("C");
  for (const Dims& dims :
       {Dims{{"n", 5}, {"m", 3}}, Dims{{"n", 2}, {"m", 9}}, Dims{{"n", 3}, {"m", 0}}}) {
    CHECK(run(s.program(), dims) == run(p, dims));
    CHECK(run(backwards(whole.program()), dims) == run(p, dims));
    CHECK(run(flat.program(), dims) == run(q, dims));
  }
}

TEST_CASE("proofs over fused dims cost no more than many over numbers") {
  // The least of a few runs: seconds to fuse, split and mark four loops of these extents.
  auto seconds = [](const std::string& dims, const std::string& extents) {
    std::array<std::string, 4> e;
    std::istringstream words(extents);
    for (auto& word : e) words >> word;
    const std::string shape = e[0] + ", " + e[1] + ", " + e[2] + ", " + e[3];
    const lt::Program p = lt::parse(
        "program o" + dims + "(in A: i32[" + shape + "], out B: i32[" + shape +
        "]):\n  for i in 0.." + e[0] + ":\n    for j in 0.." + e[1] + ":\n      for k in 0.." +
        e[2] + ":\n        for l in 0.." + e[3] + ":\n          block B(x in 0.." + e[0] +
        " = i, y in 0.." + e[1] + " = j, z in 0.." + e[2] + " = k, w in 0.." + e[3] +
        " = l):\n            B[x, y, z, w] = A[x, y, z, w] + 1i32\n");
    double least = 1e9;
    for (int run = 0; run < 5; ++run) {
      lt::Schedule s(p);
      const auto start = std::chrono::steady_clock::now();
      auto [outer, inner] = s.split<2>(s.fuse(s.loops("B")), {lt::infer, 16});
      s.parallel(outer);
      s.vectorize(inner);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      least = std::min(least, taken.count());
    }
    return least;
  };
  const double ratio = seconds("<a, b, c, d>", "a b c d") / seconds("", "7 9 11 13");
  MESSAGE(ratio);
  CHECK(ratio < 300);  // about 60
}

TEST_CASE("what fused loops do share is still found") {
  auto refuses = [](const char* body) {
    const lt::Program p =
        lt::parse(std::string("program o<n, m>(in A: i32[m, n], inout B: i32[m + n, n]):\n"
                              "  for i in 0..m:\n    for j in 0..n:\n"
                              "      block B(v in 0..m = i, w in 0..n = j):\n        ") +
                  body + "\n");
    lt::Schedule s(p);
    auto loops = s.loops("B");
    const lt::LoopRef fused = s.fuse(loops[0], loops[1]);
    return test::error_of([&] { s.parallel(fused); }).substr(0, 5) == "L0207";
  };
  CHECK_FALSE(refuses("B[v, w] = A[v, w]"));
  CHECK(refuses("B[v, 0] = A[v, w]"));
  CHECK(refuses("B[0, w] = A[v, w]"));
  CHECK(refuses("B[v + 1, w] = B[v, w]"));
  CHECK(refuses("B[v + w, 0] = A[v, w]"));
  CHECK(refuses("B[floordiv(v, 2), w] = A[v, w]"));
}

TEST_CASE("a consumer under a predicate moves into its producer where the predicate covers it") {
  const lt::Program p = lt::parse(
      "program o(in A: i32[12], out B: i32[10]):\n  alloc X: i32[12]\n  for i in 0..12:\n"
      "    block X(v in 0..12 = i):\n      X[v] = A[v] + 1i32\n  for i in 0..16:\n"
      "    block B(v in 0..16 = i) where v >= 2 && v < 12:\n      B[v - 2] = X[v] * 2i32\n");
  lt::Schedule s(p);
  s.reverse_compute_inline("B");
  CHECK(run(s.program()) == run(p));
  const lt::Program outside = lt::parse(
      "program o(in A: i32[12], out B: i32[16]):\n  alloc X: i32[12]\n  for i in 0..12:\n"
      "    block X(v in 0..12 = i):\n      X[v] = A[v] + 1i32\n  for i in 0..16:\n"
      "    block B(v in 0..16 = i) where v < 13:\n      B[v] = X[v] * 2i32\n");
  lt::Schedule other(outside);
  CHECK(test::error_of([&] { other.reverse_compute_inline("B"); }).substr(0, 5) == "L0215");
}
