// Convolutions of images N…C.
#include <array>

#include "operators/programs.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

using Kind = Convolution::Kind;
using lt::Var;

constexpr lt::InputOptions constant{.constant = true};

lt::Program line(const Convolution& p, int n) {
  const auto [s, pad, d] = std::array{p.stride, p.pad, p.dilation};
  lt::Input<float, 3> X("X", {n, p.image[0], p.channels});
  lt::Input<float, 3> K("K", {p.kernel, p.channels, p.filters}, constant);
  const auto P = lt::pad(X, 0.0f);
  lt::Reduce a("a", p.kernel), c("c", p.channels);
  return lt::program_of(
      lt::compute("Y", {n, p.result(p.image[0]), p.filters}, [&](Var b, Var i, Var f) {
        return lt::sum(P(b, i * s + a * d - pad, c) * K(a, c, f), {a, c});
      }));
}

/// Also in groups, and with bias and relu.
lt::Program image(const Convolution& p, int n) {
  const auto [s, pad, d] = std::array{p.stride, p.pad, p.dilation};
  const int h = p.result(p.image[0]), w = p.result(p.image[1]);
  const int channels = p.channels / p.groups, filters = p.filters / p.groups;
  lt::Input<float, 4> X("X", {n, p.image[0], p.image[1], p.channels});
  lt::Input<float, 4> K("K", {p.kernel, p.kernel, channels, p.filters}, constant);
  const auto P = lt::pad(X, 0.0f);
  lt::Reduce a("a", p.kernel), b("b", p.kernel), c("c", channels);
  auto Y = lt::compute("Y", {n, h, w, p.filters}, [&](Var m, Var i, Var j, Var f) {
    const auto y = i * s + a * d - pad, x = j * s + b * d - pad;
    if (p.groups == 1) return lt::sum(P(m, y, x, c) * K(a, b, c, f), {a, b, c});
    return lt::sum(P(m, y, x, f / filters * channels + c) * K(a, b, c, f), {a, b, c});
  });
  if (p.kind != Kind::bias_relu) return lt::program_of(Y);
  lt::Input<float, 1> B("B", {p.filters}, constant);
  return lt::program_of(lt::compute("Z", {n, h, w, p.filters}, [&](Var m, Var i, Var j, Var f) {
    return lt::max(Y(m, i, j, f) + B(f), 0.0f);
  }));
}

lt::Program volume(const Convolution& p, int n) {
  const auto [s, pad, d] = std::array{p.stride, p.pad, p.dilation};
  const std::vector<int>& in = p.image;
  lt::Input<float, 5> X("X", {n, in[0], in[1], in[2], p.channels});
  lt::Input<float, 5> K("K", {p.kernel, p.kernel, p.kernel, p.channels, p.filters}, constant);
  const auto P = lt::pad(X, 0.0f);
  lt::Reduce e("e", p.kernel), a("a", p.kernel), b("b", p.kernel), c("c", p.channels);
  return lt::program_of(lt::compute(
      "Y", {n, p.result(in[0]), p.result(in[1]), p.result(in[2]), p.filters},
      [&](Var m, Var z, Var i, Var j, Var f) {
        const auto pixel = P(m, z * s + e * d - pad, i * s + a * d - pad, j * s + b * d - pad, c);
        return lt::sum(pixel * K(e, a, b, c, f), {e, a, b, c});
      }));
}

lt::Program depthwise(const Convolution& p, int n) {
  const auto [s, pad, d] = std::array{p.stride, p.pad, p.dilation};
  lt::Input<float, 4> X("X", {n, p.image[0], p.image[1], p.channels});
  lt::Input<float, 3> K("K", {p.kernel, p.kernel, p.channels}, constant);
  const auto P = lt::pad(X, 0.0f);
  lt::Reduce a("a", p.kernel), b("b", p.kernel);
  return lt::program_of(lt::compute(
      "Y", {n, p.result(p.image[0]), p.result(p.image[1]), p.channels},
      [&](Var m, Var i, Var j, Var f) {
        return lt::sum(P(m, i * s + a * d - pad, j * s + b * d - pad, f) * K(a, b, f), {a, b});
      }));
}

/// A result takes a tap where the distance to it is a whole number of pixels.
lt::Program transposed(const Convolution& p, int n) {
  const auto [s, pad] = std::array{p.stride, p.pad};
  lt::Input<float, 4> X("X", {n, p.image[0], p.image[1], p.channels});
  lt::Input<float, 4> K("K", {p.kernel, p.kernel, p.channels, p.filters}, constant);
  lt::Reduce a("a", p.kernel), b("b", p.kernel), c("c", p.channels);
  return lt::program_of(lt::compute(
      "Y", {n, p.result(p.image[0]), p.result(p.image[1]), p.filters},
      [&](Var m, Var i, Var j, Var f) {
        const auto y = lt::floordiv(i + pad - a, s), x = lt::floordiv(j + pad - b, s);
        const auto whole = lt::floormod(i + pad - a, s) == 0 && lt::floormod(j + pad - b, s) == 0;
        return lt::sum(
            lt::select(whole && lt::in_bounds(X, m, y, x, c), X(m, y, x, c) * K(a, b, c, f), 0.0f),
            {a, b, c});
      }));
}

lt::Program capsules(const Convolution& p, int n) {
  const auto [s, pad, d] = std::array{p.stride, p.pad, p.dilation};
  constexpr int side = capsule_side;
  lt::Input<float, 6> X("X", {n, p.image[0], p.image[1], side, side, p.channels});
  lt::Input<float, 6> K("K", {p.kernel, p.kernel, side, side, p.channels, p.filters}, constant);
  const auto P = lt::pad(X, 0.0f);
  lt::Reduce a("a", p.kernel), b("b", p.kernel), m("m", side), c("c", p.channels);
  return lt::program_of(
      lt::compute("Y", {n, p.result(p.image[0]), p.result(p.image[1]), side, side, p.filters},
                  [&](Var t, Var i, Var j, Var u, Var v, Var f) {
                    const auto pixel = P(t, i * s + a * d - pad, j * s + b * d - pad, u, m, c);
                    return lt::sum(pixel * K(a, b, m, v, c, f), {a, b, m, c});
                  }));
}

}  // namespace

lt::Program convolution_program(const Convolution& p, int batch) {
  switch (p.kind) {
    case Kind::depthwise:
      return depthwise(p, batch);
    case Kind::transposed:
      return transposed(p, batch);
    case Kind::capsule:
      return capsules(p, batch);
    case Kind::plain:
    case Kind::bias_relu:
      break;
  }
  if (p.image.size() == 1) return line(p, batch);
  return p.image.size() == 2 ? image(p, batch) : volume(p, batch);
}

}  // namespace bench
#endif
