#include <lathe/lathe.hpp>
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
