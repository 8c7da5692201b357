// Borders and tails of narrow elements, for targets without masks for them.
#include <lathe/dsl/dsl.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <support/text.hpp>

#include "../stages.hpp"
#include "strided_loads.hpp"

using namespace lathe;
using namespace test;

namespace {

/// Differences of neighbours in three rows, of images whose size only a call tells, or is given.
template <class T, class N>
Program differences(N h, N w, int lanes) {
  Input<T, 2> X("X", {h, w});
  Schedule s(program_of(compute("Y", {h, w}, [&](Var i, Var j) {
    return Expr<T>(clamp(X)(i - 1, j - 2) - clamp(X)(i + 1, j + 1) + X(i, j));
  })));
  const auto loops = s.loops(s.block("Y"));
  s.vectorize(s.split(loops[1], {infer, lanes}, Tail::mask)[1]);
  return s.program();
}

template <class T>
std::string text_of(const char* target, int lanes) {
  return lower_until("whole_loads", differences<T>(Dim("h"), Dim("w"), lanes), Target(target))
      .str();
}

/// An image at the end of a page, or at its begin; no memory is around the page.
template <class T>
void check_images(const Program& program, const Program& lowered, const Target& target) {
  const Kernel kernel(lowered, *llvms()[0], target);
  const GuardedPage page;
  for (std::int64_t w : {1, 2, 3, 7, 8, 15, 16, 17, 18, 31, 32, 33, 50})
    for (std::int64_t h : {1, 2, 5})
      for (const bool at_end : {false, true}) {
        CAPTURE(w);
        CAPTURE(h);
        const auto size = static_cast<std::size_t>(h * w);
        std::vector<T> x(size), got(size), wanted(size);
        for (std::size_t k = 0; k < size; ++k) x[k] = static_cast<T>(k * 7 % 61);
        T* at = at_end ? page.template end<T>() - size : page.template begin<T>();
        std::copy(x.begin(), x.end(), at);
        const auto slots = [&](const Program& p, T* in, std::vector<T>& out) {
          DenseCall call;
          call.buffers = {in, out.data()};
          call.extent = [&](const AnyExpr& e) { return extent_value(e, p, {{"h", h}, {"w", w}}); };
          return slots_of(p, call);
        };
        CHECK(kernel(slots(lowered, at, got)) == 0);
        Evaluator(program).run(slots(program, x.data(), wanted).data());
        CHECK(got == wanted);
      }
}

}  // namespace

TEST_CASE("a border of bytes is a vector that lies in the row, and its lanes permuted") {
  const std::string text = text_of<std::uint8_t>("x86-64-v3", 16);
  CAPTURE(text);
  CHECK(count_of(text, "permute(") == 3);
  // Short rows are asked for once, and run lane by lane.
  CHECK(count_of(text, "if 16 <= w") == 1);
  CHECK(has(text, "for lane in 0..16"));
  // Words, or what no instruction has masks for.
  CHECK(count_of(text_of<std::int16_t>("x86-64-v3", 8), "permute(") == 3);
  CHECK(count_of(text_of<float>("x86-64-v2", 4), "permute(") == 3);
  CHECK(count_of(text_of<float>("aarch64", 4), "permute(") == 3);
  // Instructions have masks, or vectors are longer than a few instructions permute.
  CHECK(count_of(text_of<std::uint8_t>("x86-64-v4", 16), "permute(") == 0);
  CHECK(count_of(text_of<float>("x86-64-v3", 8), "permute(") == 0);
  // Where the border is a number its lanes are shuffled.
  const std::string known =
      lower_until("whole_loads", differences<std::uint8_t>(9, 40, 16), Target("x86-64-v3")).str();
  CHECK(count_of(known, "permute(") == 0);
}

TEST_CASE("every stage gives what the program means") {
  for (const char* target : {"x86-64-v2", "x86-64-v3", "aarch64"})
    for (std::int64_t w : {1, 3, 15, 16, 17, 37}) {
      CAPTURE(target);
      CAPTURE(w);
      const Dims dims{{"h", 4}, {"w", w}};
      check_stages(differences<std::int16_t>(Dim("h"), Dim("w"), 8), dims, Target(target));
      check_stages(differences<std::int32_t>(Dim("h"), Dim("w"), 4), dims, Target(target));
    }
}

TEST_CASE("images at the end and at the begin of memory are read no further") {
  on_targets({"x86-64-v2", "x86-64-v3", "host"}, [](const Target& target) {
    const auto check = [&](auto zero, int lanes) {
      using T = decltype(zero);
      const Program p = differences<T>(Dim("h"), Dim("w"), lanes);
      LowerOptions dense;
      dense.dense = true;
      check_images<T>(p, lower(p, target, dense), target);
    };
    check(std::uint8_t(), 16);
    check(std::uint8_t(), 32);
    check(std::int16_t(), 16);
    check(std::int32_t(), 4);
  });
}

namespace {

/// Places that are moved between two ends of their own, and zeros, or values, around an image.
template <class T>
std::vector<Program> with_other_ends(int lanes) {
  const Dim h("h"), w("w");
  const Input<T, 2> X("X", {h, w});
  const auto vectors = [&](const auto& body) {
    Schedule s(program_of(compute("Y", {h, w}, body)));
    const auto loops = s.loops(s.block("Y"));
    s.vectorize(s.split(loops[1], {infer, lanes}, Tail::mask)[1]);
    return s.program();
  };
  const auto at = [&](const auto& i, const auto& j) { return clamp(X)(i, j); };
  return {
      vectors([&](Var i, Var j) { return pad(X, Expr<T>(3))(i, j - 3) + T(1); }),
      vectors([&](Var i, Var j) { return at(i, min(j + 5, h + 1)); }),
      vectors([&](Var i, Var j) { return at(i, max(j - 1, h)); }),
      vectors([&](Var i, Var j) { return at(i, min(max(j, h), 5)); }),
      vectors([&](Var i, Var j) { return select(j < h, at(i, j - 1), at(i, j + 1)); }),
      vectors([&](Var i, Var j) { return select(j % 3 == 0, at(i, j - 2), X(i, j)); }),
  };
}

/// Sums of seven neighbours, in registers.
template <class T>
Program sums_in_registers(int lanes) {
  const Dim h("h"), w("w");
  const Input<T, 2> X("X", {h, w});
  Reduce b("b", 7);
  Schedule s(program_of(compute("Y", {h, w}, [&](Var i, Var j) {
    return sum(cast<std::int32_t>(clamp(X)(i, j + b - 3)), b);
  })));
  const auto block = s.block("Y");
  const auto [i, j, term] = s.loops<3>(block);
  const auto parts = s.split(j, {infer, lanes}, Tail::mask);
  s.reorder({parts[0], term, parts[1]});
  const auto out = s.cache_write(block, Scope::reg);
  s.reverse_compute_at(out, parts[0]);
  const auto zero = s.decompose_reduction(block, term);
  s.vectorize(parts[1]);
  s.vectorize(s.loops(out).back());
  s.vectorize(s.loops(zero).back());
  return s.program();
}

}  // namespace

namespace {

/// All stages, to the one of the machine.
void check_lowered(const Program& p, const Dims& dims, const char* name) {
  const Target target(name);
  check_stages(p, dims, target);
  CHECK(evaluate_stage(lower(p, target), p, dims) == evaluate_stage(p, p, dims));
}

}  // namespace

TEST_CASE("other ends than those of the row, choices and sums around a border") {
  for (const char* target : {"x86-64-v2", "x86-64-v3", "aarch64"})
    for (std::int64_t w : {1, 9, 17, 33})
      for (std::int64_t h : {1, 4, 32}) {
        CAPTURE(target);
        CAPTURE(w);
        CAPTURE(h);
        for (const Program& p : with_other_ends<std::uint8_t>(8))
          check_lowered(p, {{"h", h}, {"w", w}}, target);
        if (h == 1) check_lowered(sums_in_registers<std::uint8_t>(8), {{"h", h}, {"w", w}}, target);
      }
}

TEST_CASE(
    "names of vectors and of scalars are bound anew in the loop over the lanes of short rows") {
  const Program p = parse(
      "program k<h, w>(in X: u8[h, w], out Y: u8[h, w]):\n  for i in 0..h:\n    for o in "
      "0..floordiv(w + 7, 8):\n      vectorized for l in 0..8:\n        if o * 8 + l < w:\n"
      "          Y[i, o * 8 + l] = (let a = X[i, 0] in let x = X[i, max(o * 8 + l - 1, 0)] in "
      "max(x * a, x + a))\n");
  CHECK(has(lower_until("whole_loads", p, Target("x86-64-v3")).str(), "for lane in 0..8"));
  for (std::int64_t w : {1, 7, 8, 9, 30}) check_lowered(p, {{"h", 3}, {"w", w}}, "x86-64-v3");
}

TEST_CASE("rows that may not be there stay under their masks") {
  const auto text = [](const std::string& row) {
    const Program p = parse(
        "program k<h, w>(in X: u8[h, w], out Y: u8[w]):\n  for o in 0..floordiv(w + 15, "
        "16):\n    vectorized for l in 0..16:\n      if o * 16 + l < w:\n        Y[o * 16 + l] = "
        "X[" +
        row + ", o * 16 + l]\n");
    return lower_until("whole_loads", p, Target("x86-64-v3")).str();
  };
  CHECK(count_of(text("0"), "permute(") == 0);
  CHECK(count_of(text("h - 1"), "permute(") == 0);
  CHECK(count_of(text("o"), "permute(") == 0);
}

namespace {

/// A row of bytes through a temporary.
Program through_temporary(int lanes) {
  return parse(
      "program k<n>(in X: u8[n], out Y: u8[n]):\n  alloc T: u8[n]:\n    for i in 0..n:\n      T[i] "
      "= X[i] + 1u8\n"
      "    for o in 0..floordiv(n + " +
      std::to_string(lanes - 1) + ", " + std::to_string(lanes) +
      "):\n      vectorized for l in 0.." + std::to_string(lanes) + ":\n        if o * " +
      std::to_string(lanes) + " + l < n:\n          Y[o * " + std::to_string(lanes) +
      " + l] = T[o * " + std::to_string(lanes) + " + l]\n");
}

}  // namespace

TEST_CASE("temporaries are read in whole vectors, and are that much longer") {
  const auto text = [](const char* target) {
    return lower_until("round_up_loads", through_temporary(16), Target(target)).str();
  };
  const std::string made = text("x86-64-v3");
  CAPTURE(made);
  CHECK(has(made, "alloc T: u8[n + 16]"));
  CHECK(has(made, "let all = T[ramp("));
  CHECK(has(text("x86-64-v2"), "alloc T: u8[n + 16]"));
  CHECK(has(text("x86-64-v4"), "alloc T: u8[n]"));
  for (std::int64_t n : {0, 1, 15, 16, 17, 40})
    for (const char* target : {"x86-64-v2", "x86-64-v3"}) {
      CAPTURE(n);
      check_stages(through_temporary(16), {{"n", n}}, Target(target));
    }
}
