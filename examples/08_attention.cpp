// Masked softmax attention for one head on Eigen's data: four steps and two n x n temporaries in
// Eigen, one pass in Lathe.
#include <Eigen/Core>
#include <lathe/interop/eigen.hpp>
#include <lathe/lathe.hpp>
#include <limits>

#include "common/check.hpp"

namespace lt = lathe;
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Lengths = Eigen::Array<int, Eigen::Dynamic, 1>;

constexpr int n = 1024, d = 64;
constexpr float infinity = std::numeric_limits<float>::infinity();

// Token i sees the tokens from i - sees[i] + 1 to i. K is column-major, which is what Eigen's
// MatrixXf is.
struct Head {
  RowMatrix Q, V;
  Eigen::MatrixXf K;
  Lengths sees;
};

static RowMatrix with_eigen(const Head& head) {
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  RowMatrix scores(n, n), out(n, d);
  scores.noalias() = scale * head.Q * head.K.transpose();
  for (int i = 0; i < n; ++i) {
    const int first = std::max(0, i + 1 - head.sees(i));
    scores.row(i).head(first).setConstant(-infinity);
    scores.row(i).tail(n - 1 - i).setConstant(-infinity);
  }
  scores.colwise() -= scores.rowwise().maxCoeff().eval();
  scores = scores.array().exp().matrix();
  const Eigen::VectorXf sums = scores.rowwise().sum();
  out.noalias() = scores * head.V;
  out.array().colwise() /= sums.array();
  return out;
}

// [attention schedule]
// A product of a block's rows in tiles of 8 x 32, whose sums stay in registers.
static void tile_product(lt::Schedule& s, const lt::AnyTensor& product) {
  auto [block, i, j, k] = s.loops<4>(product);
  auto [jo, ji] = s.split<2>(j, {lt::infer, 32});
  s.reorder({jo, k, i, ji});
  lt::BlockRef store = s.cache_write(product, lt::Scope::local);
  s.reverse_compute_at(store, jo);
  lt::BlockRef zero = s.decompose_reduction(product, k);
  for (const lt::BlockName& tile :
       {lt::BlockName(store), lt::BlockName(zero), lt::BlockName(product)}) {
    s.unroll(s.loops(tile).rbegin()[1]);
    s.vectorize(s.loops(tile).back());
  }
}

// A fold over each row in 64 lanes, which are folded at the end.
static void fold_in_lanes(lt::Schedule& s, const lt::AnyTensor& fold) {
  auto [outer, lane] = s.split<2>(s.loops(fold).back(), {lt::infer, 64});
  s.vectorize(s.loops(s.rfactor(lane, 1)).back());
}
// [attention schedule]

int main() {
  // [attention]
  lt::Input<float, 2> Q("Q", {n, d}), K("K", {n, d}, lt::col_major), V("V", {n, d});
  lt::Input<int, 1> sees("sees", {n});
  lt::Reduce c("c", d), t("t", n), u("u", n), v("v", n);
  auto dot = lt::compute("dot", {n, n},
                         [&](lt::Var i, lt::Var j) { return lt::sum(Q(i, c) * K(j, c), c); });
  auto score = lt::compute("score", {n, n}, [&](lt::Var i, lt::Var j) {
    auto age = lt::cast<int>(i) - lt::cast<int>(j);
    return lt::select(age >= 0 && age < sees(i), dot(i, j) * (1 / std::sqrt(float(d))), -infinity);
  });
  auto top = lt::compute("top", {n}, [&](lt::Var i) { return lt::reduce_max(score(i, t), t); });
  auto part = lt::compute("part", {n, n},
                          [&](lt::Var i, lt::Var j) { return lt::exp(score(i, j) - top(i)); });
  auto total = lt::compute("total", {n}, [&](lt::Var i) { return lt::sum(part(i, u), u); });
  auto mix = lt::compute("mix", {n, d},
                         [&](lt::Var i, lt::Var j) { return lt::sum(part(i, v) * V(v, j), v); });
  auto out = lt::compute("out", {n, d}, [&](lt::Var i, lt::Var j) { return mix(i, j) / total(i); });
  // [attention]

  // [attention blocks]
  lt::Schedule s(out);
  auto [row, column] = s.loops<2>(out);
  auto block = s.split<2>(row, {lt::infer, 8})[0];
  const std::vector<lt::AnyTensor> steps = {mix, total, part, top, score, dot};
  // Each step for 8 rows at a time, so that its results stay in cache.
  for (const lt::AnyTensor& step : steps) s.compute_at(step, block);
  tile_product(s, dot);
  tile_product(s, mix);
  s.reverse_compute_inline(score);  // masked and scaled as the products are stored
  fold_in_lanes(s, top);
  fold_in_lanes(s, total);
  s.vectorize(s.split<2>(s.loops(part).back(), {lt::infer, 32})[1]);
  s.vectorize(s.loops(out).back());
  s.parallel(block);
  // [attention blocks]
  lt::Context one_thread({.threads = 1});
  auto f = lt::jit({s, {.context = &one_thread}}, Q, K, V, sees, out);
  auto on_all_threads = lt::jit(s, Q, K, V, sees, out);

  std::srand(1);
  Head head{RowMatrix::Random(n, d), RowMatrix::Random(n, d), Eigen::MatrixXf::Random(n, d),
            Lengths(n)};
  for (int i = 0; i < n; ++i) head.sees(i) = 1 + i * 37 % 500;
  RowMatrix wanted = with_eigen(head), got(n, d);
  on_all_threads(head.Q, head.K, head.V, head.sees, got);
  example::expect_close("Lathe against Eigen", got, wanted, 1e-5);

  const auto ms = example::best_ms(
      {[&] { wanted = with_eigen(head); }, [&] { f(head.Q, head.K, head.V, head.sees, got); },
       [&] { on_all_threads(head.Q, head.K, head.V, head.sees, got); }});
  std::printf("one thread: Eigen %.2f ms, Lathe %.2f ms: %.1fx\n", ms[0], ms[1], ms[0] / ms[1]);
  std::printf("all threads: Lathe %.2f ms\n", ms[2]);
}
