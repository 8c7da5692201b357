// Convolutions.
#include "plain/loops/loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

/// Of images NHWC, for results of h x w; `stride` and `dilation` of both axes.
lt::Program conv(int h, int w, int c, int f, int p, int stride, int dilation) {
  const auto reach = [&](int n) { return (n - 1) * stride + (p - 1) * dilation + 1; };
  lt::Input<float, 3> X("X", {reach(h), reach(w), c});
  lt::Input<float, 4> K("K", {p, p, c, f});
  lt::Reduce a("a", p), b("b", p), in("in", c);
  return lt::program_of(lt::compute("Y", {h, w, f}, [&](lt::Var i, lt::Var j, lt::Var out) {
    return lt::sum(X(i * stride + a * dilation, j * stride + b * dilation, in) * K(a, b, in, out),
                   {a, b, in});
  }));
}

lt::Program conv_nhwc(int h, int w, int c, int f, int p) { return conv(h, w, c, f, p, 1, 1); }
lt::Program conv_strided(int h, int w, int c, int f) { return conv(h, w, c, f, 3, 2, 1); }
lt::Program conv_dilated(int h, int w, int c, int f) { return conv(h, w, c, f, 3, 1, 2); }

lt::Program conv_nchw(int c, int f, int h, int w, int p) {
  lt::Input<float, 3> X("X", {c, h + p - 1, w + p - 1});
  lt::Input<float, 4> K("K", {f, c, p, p});
  lt::Reduce in("in", c), a("a", p), b("b", p);
  return lt::program_of(lt::compute("Y", {f, h, w}, [&](lt::Var out, lt::Var i, lt::Var j) {
    return lt::sum(X(in, i + a, j + b) * K(out, in, a, b), {in, a, b});
  }));
}

// The group is in the index of the channel.
lt::Program conv_grouped(int h, int w, int groups) {
  const int f = 16 * groups;
  lt::Input<float, 3> X("X", {h + 2, w + 2, f});
  lt::Input<float, 4> K("K", {3, 3, 16, f});
  lt::Reduce a("a", 3), b("b", 3), in("in", 16);
  return lt::program_of(lt::compute("Y", {h, w, f}, [&](lt::Var i, lt::Var j, lt::Var out) {
    return lt::sum(X(i + a, j + b, (out / 16) * 16 + in) * K(a, b, in, out), {a, b, in});
  }));
}

lt::Program depthwise_nhwc(int h, int w, int c, int p) {
  lt::Input<float, 3> X("X", {h + p - 1, w + p - 1, c}), K("K", {p, p, c});
  lt::Reduce a("a", p), b("b", p);
  return lt::program_of(lt::compute("Y", {h, w, c}, [&](lt::Var i, lt::Var j, lt::Var in) {
    return lt::sum(X(i + a, j + b, in) * K(a, b, in), {a, b});
  }));
}

lt::Program depthwise_nchw(int c, int h, int w, int p) {
  lt::Input<float, 3> X("X", {c, h + p - 1, w + p - 1}), K("K", {c, p, p});
  lt::Reduce a("a", p), b("b", p);
  return lt::program_of(lt::compute("Y", {c, h, w}, [&](lt::Var in, lt::Var i, lt::Var j) {
    return lt::sum(X(in, i + a, j + b) * K(in, a, b), {a, b});
  }));
}

lt::Program conv_1d(int w, int c, int f, int p) {
  lt::Input<float, 2> X("X", {w + p - 1, c});
  lt::Input<float, 3> K("K", {p, c, f});
  lt::Reduce b("b", p), in("in", c);
  return lt::program_of(lt::compute("Y", {w, f}, [&](lt::Var j, lt::Var out) {
    return lt::sum(X(j + b, in) * K(b, in, out), {b, in});
  }));
}

lt::Program conv_3d(int d, int h, int w, int c, int f) {
  lt::Input<float, 4> X("X", {d + 2, h + 2, w + 2, c});
  lt::Input<float, 5> K("K", {3, 3, 3, c, f});
  lt::Reduce e("e", 3), a("a", 3), b("b", 3), in("in", c);
  return lt::program_of(
      lt::compute("Y", {d, h, w, f}, [&](lt::Var z, lt::Var i, lt::Var j, lt::Var out) {
        return lt::sum(X(z + e, i + a, j + b, in) * K(e, a, b, in, out), {e, a, b, in});
      }));
}

// Stride 2, kernels of 4 x 4, one row and column of padding.
lt::Program conv_transposed(int h, int w, int c, int f) {
  lt::Input<float, 3> X("X", {h, w, c});
  lt::Input<float, 4> K("K", {4, 4, c, f});
  lt::Reduce a("a", 4), b("b", 4), in("in", c);
  return lt::program_of(lt::compute("Y", {2 * h, 2 * w, f}, [&](lt::Var i, lt::Var j, lt::Var out) {
    const auto p = lt::floordiv(i + 1 - a, 2), q = lt::floordiv(j + 1 - b, 2);
    const auto reaches = lt::floormod(i + 1 - a, 2) == 0 && lt::floormod(j + 1 - b, 2) == 0;
    return lt::sum(
        lt::select(reaches && lt::in_bounds(X, p, q, in), X(p, q, in) * K(a, b, in, out), 0.0f),
        {a, b, in});
  }));
}

// Zeros around the image: results of its size.
lt::Program conv_padded(int h, int w, int c, int f) {
  lt::Input<float, 3> X("X", {h, w, c});
  lt::Input<float, 4> K("K", {3, 3, c, f});
  const auto padded = lt::pad(X, 0.0f);
  lt::Reduce a("a", 3), b("b", 3), in("in", c);
  return lt::program_of(lt::compute("Y", {h, w, f}, [&](lt::Var i, lt::Var j, lt::Var out) {
    return lt::sum(padded(i + a - 1, j + b - 1, in) * K(a, b, in, out), {a, b, in});
  }));
}

// Channels and filters in blocks of 16.
lt::Program conv_blocked(int c, int f, int h, int w) {
  lt::Input<float, 4> X("X", {c, h + 2, w + 2, 16});
  lt::Input<float, 6> K("K", {f, c, 3, 3, 16, 16});
  lt::Reduce block("block", c), a("a", 3), b("b", 3), in("in", 16);
  return lt::program_of(
      lt::compute("Y", {f, h, w, 16}, [&](lt::Var o, lt::Var i, lt::Var j, lt::Var out) {
        return lt::sum(X(block, i + a, j + b, in) * K(o, block, a, b, in, out), {block, a, b, in});
      }));
}

}  // namespace

PlainPrograms convolution_programs() {
  const Size side = between(6, 24), channels = between(4, 40);
  return {
      {"conv NHWC",
       conv_nhwc,
       loops::conv_nhwc,
       {{14, 14, 32, 32, 3},
        {28, 28, 3, 16, 5},
        {7, 7, 128, 128, 3},
        {side, side, channels, channels, 3}}},
      {"conv 1x1",
       conv_nhwc,
       loops::conv_nhwc,
       {{14, 14, 64, 64, 1}, {side, side, channels, channels, 1}}},
      {"conv NCHW",
       conv_nchw,
       loops::conv_nchw,
       {{32, 32, 14, 14, 3}, {64, 64, 56, 56, 3}, {channels, channels, side, side, 3}}},
      {"conv grouped", conv_grouped, loops::conv_grouped, {{14, 14, 4}, {side, side, 3}}},
      {"depthwise NHWC",
       depthwise_nhwc,
       loops::depthwise_nhwc,
       {{28, 28, 64, 3}, {side, side, between(40, 200), 5}}},
      {"depthwise NCHW",
       depthwise_nchw,
       loops::depthwise_nchw,
       {{64, 28, 28, 3}, {between(40, 200), side, side, 5}}},
      {"conv strided",
       conv_strided,
       loops::conv_strided,
       {{14, 14, 32, 32}, {side, side, channels, channels}}},
      {"conv dilated",
       conv_dilated,
       loops::conv_dilated,
       {{14, 14, 32, 32}, {side, side, channels, channels}}},
      {"conv 1-D",
       conv_1d,
       loops::conv_1d,
       {{128, 32, 32, 5}, {between(50, 300), channels, channels, 7}}},
      {"conv 3-D",
       conv_3d,
       loops::conv_3d,
       {{6, 8, 8, 16, 16}, {4, between(4, 12), between(4, 12), channels, 8}}},
      {"conv transposed",
       conv_transposed,
       loops::conv_transposed,
       {{8, 8, 32, 32}, {between(4, 12), between(4, 12), channels, channels}}},
      {"conv padded",
       conv_padded,
       loops::conv_padded,
       {{14, 14, 32, 32}, {side, side, channels, channels}}},
      {"conv NCHW16c",
       conv_blocked,
       loops::conv_blocked,
       {{2, 2, 14, 14}, {between(1, 3), between(1, 3), side, side}}},
  };
}

}  // namespace bench
#endif
