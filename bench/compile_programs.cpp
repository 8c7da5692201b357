// Programs whose compilation is timed: kinds that the suites of kernels do not have.
#include "compile_times.hpp"
#include "hand/register_tile.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <polybench/kernel.hpp>
#endif

namespace bench {

#ifdef BENCH_HAS_LATHE_HEADER

namespace {

lt::JitOptions options() { return {.context = &context_for(1), .require_compiled = true}; }

void argmax() {
  lt::Input<float, 2> X("X", {500, 1000});
  lt::Reduce r("r", 1000);
  auto A = lt::compute("A", {500}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  (void)lt::jit_any({lt::outputs(A.get<0>(), A.get<1>()), options()}, {});
}

void argmax_read_later() {
  lt::Input<float, 2> X("X", {500, 1000});
  lt::Reduce r("r", 1000);
  auto A = lt::compute("A", {500}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  auto at = A.get<1>();
  auto Y = lt::compute("Y", {500}, [&](lt::Var i) { return at(i) + 1; });
  (void)lt::jit_any({Y, options()}, {});
}

// The rows' partial results in 32 lanes, which are folded by halves.
void argmax_by_a_tree() {
  lt::Input<float, 2> X("X", {500, 1000});
  lt::Reduce r("r", 1000);
  auto A = lt::compute("A", {500}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  lt::Schedule s(lt::outputs(A.get<0>(), A.get<1>()));
  const lt::LoopRef row = s.loops("A")[0];
  for (std::int64_t lanes = 32; lanes > 1; lanes /= 2) {
    auto [outer, lane] = s.split<2>(s.loops("A").back(), {lt::infer, lanes});
    const lt::BlockRef part = s.rfactor(lane, 1);
    if (lanes == 32) {
      // A first part is an own nest, its fold innermost.
      s.compute_at(part, row);
      const auto loops = s.loops(part);
      s.reorder({loops.back(), loops[loops.size() - 2]});
    }
    const auto loops = s.loops(part);
    s.decompose_reduction(part, loops[loops.size() - 2]);
    s.vectorize(loops.back());
  }
  (void)lt::jit_any({s, options()}, {});
}

void softmax() {
  lt::Input<float, 2> X("X", {200, 300});
  lt::Reduce r("r", 300), q("q", 300);
  auto top = lt::compute("top", {200}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto E =
      lt::compute("E", {200, 300}, [&](lt::Var i, lt::Var j) { return lt::exp(X(i, j) - top(i)); });
  auto all = lt::compute("all", {200}, [&](lt::Var i) { return lt::sum(E(i, q), q); });
  auto Y = lt::compute("Y", {200, 300}, [&](lt::Var i, lt::Var j) { return E(i, j) / all(i); });
  (void)lt::jit_any({Y, options()}, {});
}

void layer_norm() {
  constexpr int n = 768;
  lt::Input<float, 2> X("X", {300, n});
  lt::Input<float, 1> scale("scale", {n}), shift("shift", {n});
  lt::Reduce r("r", n), q("q", n);
  auto mean = lt::compute("mean", {300}, [&](lt::Var i) { return lt::sum(X(i, r) / n, r); });
  auto variance = lt::compute("variance", {300}, [&](lt::Var i) {
    auto d = X(i, q) - mean(i);
    return lt::sum(d * d / n, q);
  });
  auto Y = lt::compute("Y", {300, n}, [&](lt::Var i, lt::Var j) {
    return (X(i, j) - mean(i)) / lt::sqrt(variance(i) + 1e-5f) * scale(j) + shift(j);
  });
  (void)lt::jit_any({Y, options()}, {});
}

void attention() {
  constexpr int n = 256, d = 64;
  lt::Input<float, 2> Q("Q", {n, d}), K("K", {n, d}), V("V", {n, d});
  lt::Reduce c("c", d), m("m", n), q("q", n), k("k", n);
  auto S =
      lt::compute("S", {n, n}, [&](lt::Var i, lt::Var j) { return lt::sum(Q(i, c) * K(j, c), c); });
  auto top = lt::compute("top", {n}, [&](lt::Var i) { return lt::reduce_max(S(i, m), m); });
  auto E = lt::compute("E", {n, n},
                       [&](lt::Var i, lt::Var j) { return lt::exp((S(i, j) - top(i)) * 0.125f); });
  auto all = lt::compute("all", {n}, [&](lt::Var i) { return lt::sum(E(i, q), q); });
  auto P =
      lt::compute("P", {n, d}, [&](lt::Var i, lt::Var j) { return lt::sum(E(i, k) * V(k, j), k); });
  auto O = lt::compute("O", {n, d}, [&](lt::Var i, lt::Var j) { return P(i, j) / all(i); });
  (void)lt::jit_any({O, options()}, {});
}

// NHWC, 8 groups of 16 channels, 3x3.
void grouped_convolution() {
  constexpr int h = 28, groups = 8, c = 16;
  lt::Input<float, 4> X("X", {h + 2, h + 2, groups, c});
  lt::Input<float, 5> W("W", {3, 3, c, groups, c});
  lt::Reduce p("p", 3), q("q", 3), k("k", c);
  auto Y = lt::compute("Y", {h, h, groups, c}, [&](lt::Var y, lt::Var x, lt::Var g, lt::Var f) {
    return lt::sum(X(y + p, x + q, g, k) * W(p, q, k, g, f), {p, q, k});
  });
  (void)lt::jit_any({Y, options()}, {});
}

void fifty_stages() {
  lt::Input<float, 1> X("X", {100000});
  std::vector<lt::Tensor<float, 1>> all;
  for (int k = 0; k < 50; ++k) {
    std::string name = "T";
    name += std::to_string(k);  // g++ 12 warns of "T" + … (-Wrestrict)
    all.push_back(lt::compute(
        name, {100000}, [&](lt::Var i) { return (k == 0 ? X(i) : all.back()(i)) * 0.5f + X(i); }));
  }
  (void)lt::jit_any({all.back(), options()}, {});
}

// 14 rows of 4 vectors, 8 steps of k written out: 448 multiplications.
void large_tile() {
  constexpr int m = 196, n = 512, k = 512;
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  lt::Schedule s(C);
  register_tile(s, C, 14, 4, 8);
  (void)lt::jit_any({s, options()}, {});
}

void compile_kernel(const polybench::Kernel& kernel, bool hand) {
  const polybench::Sizes sizes(kernel.large.begin(), kernel.large.end());
  if (!hand) return void(lt::jit_any({kernel.script(sizes), options()}, {}));
  lt::Schedule s(kernel.for_speed(sizes));
  kernel.schedule(s);
  (void)lt::jit_any({s, options()}, {});
}

}  // namespace

std::vector<CompiledProgram> compiled_programs() {
  return {{"argmax 500x1000", argmax},
          {"argmax 500x1000, read later", argmax_read_later},
          {"argmax 500x1000, folded by a tree", argmax_by_a_tree},
          {"softmax 200x300", softmax},
          {"layer norm 300x768", layer_norm},
          {"attention 256x64", attention},
          {"convolution in 8 groups, NHWC", grouped_convolution},
          {"50 elementwise stages", fifty_stages},
          {"tile of 14 rows x 4 vectors x 8", large_tile}};
}

std::vector<CompiledProgram> compiled_polybench() {
  std::vector<CompiledProgram> out;
  for (const bool hand : {false, true})
    for (const polybench::Kernel& kernel : polybench::all_kernels())
      out.push_back(
          {kernel.name + (hand ? ", hand" : ""), [kernel, hand] { compile_kernel(kernel, hand); }});
  return out;
}

#else
std::vector<CompiledProgram> compiled_programs() { return {}; }
std::vector<CompiledProgram> compiled_polybench() { return {}; }
#endif

}  // namespace bench
