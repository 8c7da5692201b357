// Layouts: transposes, and elements that lie interleaved.
#include "plain/loops/loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

template <class T, class N>
lt::Program transpose(N m, N n) {
  lt::Input<T, 2> X("X", {m, n});
  return lt::program_of(lt::compute("Y", {n, m}, [&](lt::Var i, lt::Var j) { return X(j, i); }));
}

lt::Program transpose_outer(int a, int b, int c) {
  lt::Input<float, 3> X("X", {a, b, c});
  return lt::program_of(
      lt::compute("Y", {b, a, c}, [&](lt::Var i, lt::Var j, lt::Var k) { return X(j, i, k); }));
}

lt::Program reverse_axes(int a, int b, int c) {
  lt::Input<float, 3> X("X", {a, b, c});
  return lt::program_of(
      lt::compute("Y", {c, b, a}, [&](lt::Var i, lt::Var j, lt::Var k) { return X(k, j, i); }));
}

lt::Program nchw_to_nhwc(int n, int c, int h, int w) {
  lt::Input<float, 4> X("X", {n, c, h, w});
  return lt::program_of(
      lt::compute("Y", {n, h, w, c},
                  [&](lt::Var t, lt::Var i, lt::Var j, lt::Var k) { return X(t, k, i, j); }));
}

lt::Program nhwc_to_nchw(int n, int h, int w, int c) {
  lt::Input<float, 4> X("X", {n, h, w, c});
  return lt::program_of(
      lt::compute("Y", {n, c, h, w},
                  [&](lt::Var t, lt::Var k, lt::Var i, lt::Var j) { return X(t, i, j, k); }));
}

// s x s channels become s x s pixels.
lt::Program pixel_shuffle(int c, int h, int w, int s) {
  lt::Input<float, 3> X("X", {c * s * s, h, w});
  return lt::program_of(lt::compute("Y", {c, h * s, w * s}, [&](lt::Var k, lt::Var i, lt::Var j) {
    return X((k * s + i % s) * s + j % s, i / s, j / s);
  }));
}

lt::Program rgb_to_planes(int n) {
  lt::Input<std::uint8_t, 2> X("X", {n, 3});
  return lt::program_of(lt::compute("Y", {3, n}, [&](lt::Var c, lt::Var i) { return X(i, c); }));
}

lt::Program complex_product(int n) {
  lt::Input<float, 2> A("A", {n, 2}), B("B", {n, 2});
  return lt::program_of(lt::compute("Y", {n, 2}, [&](lt::Var i, lt::Var part) {
    return lt::select(part == 0, A(i, 0) * B(i, 0) - A(i, 1) * B(i, 1),
                      A(i, 0) * B(i, 1) + A(i, 1) * B(i, 0));
  }));
}

// Heads of tokens to tokens of heads.
lt::Program swap_middle(int a, int b, int c, int d) {
  lt::Input<float, 4> X("X", {a, b, c, d});
  return lt::program_of(
      lt::compute("Y", {a, c, b, d},
                  [&](lt::Var t, lt::Var i, lt::Var j, lt::Var k) { return X(t, j, i, k); }));
}

// Images of h x w in windows of p x p pixels of c channels: five axes, of which two change places.
lt::Program windows_of_image(int h, int w, int p, int c) {
  lt::Input<float, 5> X("X", {h, p, w, p, c});
  return lt::program_of(lt::compute(
      "Y", {h, w, p, p, c},
      [&](lt::Var i, lt::Var j, lt::Var a, lt::Var b, lt::Var k) { return X(i, a, j, b, k); }));
}

lt::Program planes_to_rgb(int n) {
  lt::Input<std::uint8_t, 2> X("X", {3, n});
  return lt::program_of(lt::compute("Y", {n, 3}, [&](lt::Var i, lt::Var c) { return X(c, i); }));
}

lt::Program mirror(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  return lt::program_of(
      lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return X(i, n - 1 - j); }));
}

lt::Program concatenation(int m, int n, int k) {
  lt::Input<float, 2> A("A", {m, n}), B("B", {m, k});
  return lt::program_of(lt::compute("Y", {m, n + k}, [&](lt::Var i, lt::Var j) {
    return lt::select(j < n, A(i, j), B(i, j - n));
  }));
}

lt::Program zeros_around(int c, int h, int w) {
  lt::Input<float, 3> X("X", {c, h, w});
  const auto padded = lt::pad(X, 0.0f);
  return lt::program_of(lt::compute("Y", {c, h + 4, w + 4}, [&](lt::Var k, lt::Var i, lt::Var j) {
    return padded(k, i - 2, j - 2);
  }));
}

}  // namespace

PlainPrograms layout_programs() {
  const Shape some = {between(150, 400), between(150, 400)};
  const Size few = between(20, 64);
  return {
      {"transpose", transpose<float, int>, loops::transpose, {{256, 256}, {1000, 300}, some}},
      {"transpose u8", transpose<std::uint8_t, int>, loops::transpose_u8, {{512, 512}, some}},
      {"transpose of outer axes",
       transpose_outer,
       loops::transpose_outer,
       {{64, 64, 48}, {few, few, few}}},
      {"reverse of axes", reverse_axes, loops::reverse_axes, {{32, 32, 64}, {few, few, few}}},
      {"NCHW to NHWC",
       nchw_to_nhwc,
       loops::nchw_to_nhwc,
       {{2, 64, 28, 28}, {1, 3, 200, 200}, {2, few, few, few}}},
      {"NHWC to NCHW", nhwc_to_nchw, loops::nhwc_to_nchw, {{2, 28, 28, 64}, {2, few, few, few}}},
      {"pixel shuffle", pixel_shuffle, loops::pixel_shuffle, {{16, 32, 32, 2}, {few, few, few, 2}}},
      {"RGB to planes u8",
       rgb_to_planes,
       loops::rgb_to_planes,
       {{100000}, {between(50000, 200000)}}},
      {"complex product",
       complex_product,
       loops::complex_product,
       {{20000}, {between(10000, 40000)}}},
      {"swap of middle axes",
       swap_middle,
       loops::swap_middle,
       {{4, 128, 8, 32}, {4, few, between(3, 12), few}}},
      {"windows of an image",
       windows_of_image,
       loops::windows_of_image,
       {{8, 8, 7, 32}, {few, few, 4, few}}},
      {"planes to RGB u8",
       planes_to_rgb,
       loops::planes_to_rgb,
       {{100000}, {between(50000, 200000)}}},
      {"mirror", mirror, loops::mirror, {{256, 300}, some}},
      {"concatenation",
       concatenation,
       loops::concatenation,
       {{256, 200, 100}, {between(150, 400), between(50, 300), between(50, 300)}}},
      {"zeros around",
       zeros_around,
       loops::zeros_around,
       {{32, 56, 56}, {few, between(20, 100), between(20, 100)}}},
      {"transpose of any size", transpose<float, lt::Dim>, loops::transpose, {{256, 200}, some}},
  };
}

PlainPrograms move_programs() {
  const Shape some = {between(2500, 5000), between(2500, 5000)};
  const Size few = between(150, 300);
  return {
      {"transpose", transpose<float, int>, loops::transpose, {{2048, 2048}, {4096, 4096}, some}},
      {"transpose u8", transpose<std::uint8_t, int>, loops::transpose_u8, {{8192, 8192}, some}},
      {"transpose of outer axes",
       transpose_outer,
       loops::transpose_outer,
       {{256, 512, 128}, {few, few, few}}},
      {"reverse of axes", reverse_axes, loops::reverse_axes, {{256, 256, 256}, {few, few, few}}},
      {"NCHW to NHWC",
       nchw_to_nhwc,
       loops::nchw_to_nhwc,
       {{16, 64, 112, 112}, {4, 3, 1200, 1000}, {8, few, between(50, 90), between(50, 90)}}},
      {"NHWC to NCHW",
       nhwc_to_nchw,
       loops::nhwc_to_nchw,
       {{16, 112, 112, 64}, {8, between(50, 90), between(50, 90), few}}},
      {"pixel shuffle", pixel_shuffle, loops::pixel_shuffle, {{16, 512, 512, 2}, {9, few, few, 3}}},
      {"RGB to planes u8", rgb_to_planes, loops::rgb_to_planes, {{between(16000000, 24000000)}}},
      {"planes to RGB u8", planes_to_rgb, loops::planes_to_rgb, {{between(16000000, 24000000)}}},
      {"swap of middle axes",
       swap_middle,
       loops::swap_middle,
       {{32, 512, 12, 64}, {16, few, between(6, 24), between(32, 128)}}},
      {"windows of an image",
       windows_of_image,
       loops::windows_of_image,
       {{32, 32, 8, 192}, {between(30, 60), between(30, 60), 4, between(200, 300)}}},
      {"mirror", mirror, loops::mirror, {{4096, 4096}, some}},
      {"concatenation",
       concatenation,
       loops::concatenation,
       {{4096, 2048, 1024}, {between(2000, 4000), between(1000, 2000), between(1000, 2000)}}},
      {"zeros around", zeros_around, loops::zeros_around, {{64, 448, 448}, {few, few, few}}},
  };
}

}  // namespace bench
#endif
