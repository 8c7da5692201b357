// A quantised layer: products of unsigned and signed bytes by an instruction that adds four of them
// to a sum in each of 16 lanes.
#include <cstdint>
#include <lathe/lathe.hpp>

#include "common/check.hpp"

namespace lt = lathe;

// [vnni schedule]
// Tiles of 4 x 32 sums in registers; scaled and rounded as they leave them.
static lt::Schedule by_hand(const lt::Tensor<std::int32_t, 2>& C,
                            const lt::Tensor<std::uint8_t, 2>& Y) {
  const lt::TensorIntrin* row = lt::find_tensor_intrin("vpdpbusd");  // of lt::tensor_intrins()
  lt::Schedule s(Y);
  auto [i, j, k] = s.loops<3>(C);
  auto [io, ii] = s.split<2>(i, {lt::infer, 4});
  auto [jo, ji, lane] = s.split<3>(j, {lt::infer, 2, 16});
  auto [ko, ki] = s.split<2>(k, {lt::infer, 4});
  s.reorder({io, jo, ko, ii, ji, lane, ki});
  lt::BlockRef tile = s.cache_write(C, lt::Scope::local);
  s.reverse_compute_at(tile, jo);
  s.reverse_compute_inline(Y);
  s.unroll(ii);
  s.unroll(ji);
  lt::BlockRef zero = s.decompose_reduction(C, ko);
  s.tensorize(lane, *row);  // takes the loops over lane and ki
  s.vectorize(s.loops(zero).back());
  s.unroll(s.loops(tile).rbegin()[1]);
  s.vectorize(s.split<2>(s.loops(tile).back(), {lt::infer, 16})[1]);
  s.parallel(io);
  return s;
}
// [vnni schedule]

int main() {
  // [vnni]
  const int m = 64, n = 256, k = 512;
  lt::Input<std::uint8_t, 2> X("X", {m, k});
  // For 16 columns the bytes of four rows side by side, as the instruction takes them.
  lt::Input<std::int8_t, 4> W("W", {n / 16, k / 4, 16, 4}, lt::dense);
  lt::Input<float, 0> scale("scale");
  lt::Reduce r("r", k);
  auto C = lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    auto weight =
        W(lt::floordiv(j, 16), lt::floordiv(r, 4), lt::floormod(j, 16), lt::floormod(r, 4));
    return lt::sum(lt::cast<std::int32_t>(X(i, r)) * lt::cast<std::int32_t>(weight), r);
  });
  auto Y = lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::cast<std::uint8_t>(lt::round(lt::cast<float>(C(i, j)) * scale()));
  });
  // [vnni]

  // [vnni run]
  const lt::Schedule s = by_hand(C, Y);
  auto f = lt::jit(s, X, W, scale, Y);
  if (!f.compiled() || !lt::host().has("avx512vnni"))
    std::fputs("no vpdpbusd here: the same bits, by other instructions\n", stderr);
  // [vnni run]
  std::printf("%s\n", s.str().c_str());

  std::vector<std::uint8_t> x(m * k), y(m * n), wanted(m * n);
  std::vector<std::int8_t> w(k * n);
  for (std::size_t e = 0; e < x.size(); ++e) x[e] = static_cast<std::uint8_t>(e * 37 % 251);
  for (std::size_t e = 0; e < w.size(); ++e)
    w[e] = static_cast<std::int8_t>(static_cast<int>(e * 53 % 255) - 127);
  const float by = 0.0005f;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      std::int32_t sum = 0;
      for (int q = 0; q < k; ++q)
        sum += x[i * k + q] * w[((j / 16 * (k / 4) + q / 4) * 16 + j % 16) * 4 + q % 4];
      const float rounded = std::nearbyint(static_cast<float>(sum) * by);
      wanted[i * n + j] = static_cast<std::uint8_t>(std::min(std::max(rounded, 0.0f), 255.0f));
    }
  auto call = [&](const auto& kernel, auto& result) {
    kernel(lt::view(x, {m, k}), lt::view(w, {n / 16, k / 4, 16, 4}), by, lt::view(result, {m, n}));
  };
  call(f, y);
  example::expect_close("products of bytes", y, wanted, 0);

  std::vector<double> ms(2);
  auto plain = lt::jit(Y, X, W, scale, Y);
  if (f.compiled()) ms = example::best_ms({[&] { call(plain, y); }, [&] { call(f, y); }});
  std::printf("default schedule %.4f ms, by hand %.4f ms\n", ms[0], ms[1]);
}
