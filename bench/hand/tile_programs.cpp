// Tiles in registers, fused loops, and maxima that keep NaN.
#include "hand/cases.hpp"
#include "hand/plain.hpp"
#include "hand/register_tile.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

Comparison small_products(int count, int size) {
  const std::size_t elements = static_cast<std::size_t>(count) * size * size;
  auto data = std::make_shared<HandArrays<float>>(elements, elements, elements);
  lt::Input<float, 3> A("A", {count, size, size}), B("B", {count, size, size});
  lt::Reduce r("r", size);
  auto C = lt::compute("C", {count, size, size}, [&](lt::Var t, lt::Var i, lt::Var j) {
    return lt::sum(A(t, i, r) * B(t, r, j), r);
  });
  lt::Schedule s(C);
  auto [t, i, j, k] = s.loops<4>(C);
  s.reorder({t, k, i, j});
  const lt::BlockRef out = s.cache_write(C, lt::Scope::local);
  s.reverse_compute_at(out, t);
  const lt::BlockRef init = s.decompose_reduction(C, k);
  s.vectorize(j);
  s.unroll(i), s.unroll(k);
  for (const lt::BlockRef& block : {init, out}) {
    const auto loops = s.loops(block);
    s.vectorize(loops.back());
    s.unroll(loops[loops.size() - 2]);
  }
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, A, B, C);
  const auto cube = [=](std::vector<float>& v) { return lt::view(v, {count, size, size}); };
  Comparison made = hand_case<float>(
      "f32", data, [=] { kernel(cube(data->in), cube(data->other), cube(data->got)); },
      [=] {
        plain_small_products(data->in.data(), data->other.data(), data->want.data(), count, size);
      });
  made.flops = 2.0 * static_cast<double>(elements) * size;
  return made;
}

// In tiles of 12 rows and two vectors, k by 4. The peer "any strides" is the same kernel called
// with rows that lie one element further apart, for which the compiler knows no strides.
Comparison product_of_arguments(int m, int n, int k) {
  const auto size = [](int a, int b) { return static_cast<std::size_t>(a) * b; };
  auto data = std::make_shared<HandArrays<float>>(size(m, k), size(k, n), size(m, n));
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  lt::Schedule s(C);
  register_tile(s, C, 12, 2, 4);
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, A, B, C);
  Comparison made = hand_case<float>(
      "f32", data,
      [=] {
        kernel(lt::view(data->in, {m, k}), lt::view(data->other, {k, n}),
               lt::view(data->got, {m, n}));
      },
      [=] { plain_product(data->in.data(), data->other.data(), data->want.data(), m, n, k); });
  auto apart = std::make_shared<std::vector<float>>(data->in.size() + static_cast<std::size_t>(m));
  made.all.push_back({"any strides", [=] {
                        kernel(lt::View<const float, 2>(apart->data(), {m, k}, {k + 1, 1}),
                               lt::view(data->other, {k, n}), lt::view(data->got, {m, n}));
                      }});
  made.flops = 2.0 * m * n * k;
  return made;
}

Comparison fused_planes(int planes, int h, int w) {
  const std::size_t elements = static_cast<std::size_t>(planes) * h * w;
  auto data = std::make_shared<HandArrays<float>>(elements, 0, elements);
  lt::Input<float, 3> X("X", {planes, h, w});
  auto Y = lt::compute("Y", {planes, h, w},
                       [&](lt::Var p, lt::Var i, lt::Var j) { return X(p, i, j) * 2.0f; });
  lt::Schedule s(Y);
  auto [p, i, j] = s.loops<3>(Y);
  s.vectorize(s.split<2>(s.fuse(i, j), {lt::infer, lt::host().lanes(4)})[1]);
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, X, Y);
  return hand_case<float>(
      "f32", data,
      [=] {
        kernel(lt::view(data->in, {planes, h, w}), lt::view(data->got, {planes, h, w}));
      },
      [=] { plain_scale_planes(data->in.data(), data->want.data(), planes, h, w); });
}

Comparison max_of_three(int n) {
  auto data = std::make_shared<HandArrays<float>>(n + 2, 0, n);
  lt::Input<float, 1> X("X", {n + 2});
  auto Y =
      lt::compute("Y", {n}, [&](lt::Var i) { return lt::max(lt::max(X(i), X(i + 1)), X(i + 2)); });
  lt::Schedule s(Y);
  s.vectorize(s.split<2>(s.loops(Y)[0], {lt::infer, lt::host().lanes(4)})[1]);
  auto kernel = lt::jit({s, {.context = &context_for(1)}}, X, Y);
  return hand_case<float>(
      "f32", data, [=] { kernel(data->in, data->got); },
      [=] { plain_max_of_three(data->in.data(), data->want.data(), n); });
}

}  // namespace

std::vector<HandProgram> tile_programs() {
  return {{"10000 products 5x5x5", [] { return small_products(10000, 5); }},
          {"10000 products 7x7x7", [] { return small_products(10000, 7); }},
          {"product 96x128x256 of arguments", [] { return product_of_arguments(96, 128, 256); }},
          {"fused planes 256x14x14", [] { return fused_planes(256, 14, 14); }},
          {"fused planes 256x7x7", [] { return fused_planes(256, 7, 7); }},
          {"max of three 4099", [] { return max_of_three(4099); }}};
}

}  // namespace bench
#else
namespace bench {

std::vector<HandProgram> tile_programs() { return {}; }

}  // namespace bench
#endif
