// Images of another size, and pixels in other places.
#include "images/images.hpp"
#include "images/loops/images.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

using u8 = std::uint8_t;

template <class N>
lt::Program half_size(N h, N w) {
  lt::Input<u8, 2> X("X", {2 * h, 2 * w});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto at = [&](int a, int b) { return lt::cast<int>(X(2 * i + a, 2 * j + b)); };
    return lt::cast<u8>((at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1) + 2) >> 2);
  }));
}

template <class N>
lt::Program half_size_colours(N h, N w) {
  lt::Input<u8, 3> X("X", {2 * h, 2 * w, 3});
  return lt::program_of(lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
    const auto at = [&](int a, int b) { return lt::cast<int>(X(2 * i + a, 2 * j + b, c)); };
    return lt::cast<u8>((at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1) + 2) >> 2);
  }));
}

template <class N>
lt::Program pyramid_down(N h, N w) {
  lt::Input<u8, 2> X("X", {2 * h, 2 * w});
  const auto taps = [](const auto& at) {
    return at(-2) + 4 * at(-1) + 6 * at(0) + 4 * at(1) + at(2);
  };
  auto down = lt::compute("down", {h, 2 * w}, [&](lt::Var i, lt::Var j) {
    return taps([&](int d) { return lt::cast<int>(lt::clamp(X)(2 * i + d, j)); });
  });
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::cast<u8>((taps([&](int d) { return lt::clamp(down)(i, 2 * j + d); }) + 128) >> 8);
  }));
}

// Pixels lie at the middle of their squares: three parts of the near one, one of the far one.
template <class N>
lt::Program double_size(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(lt::compute("Y", {2 * h, 2 * w}, [&](lt::Var i, lt::Var j) {
    const auto row = [&](auto p) {
      const auto at = [&](auto q) { return lt::cast<int>(lt::clamp(X)(p, q)); };
      return 3 * at(j / 2) + at(lt::select(j % 2 == 0, j / 2 - 1, j / 2 + 1));
    };
    auto far = lt::select(i % 2 == 0, i / 2 - 1, i / 2 + 1);
    return lt::cast<u8>((3 * row(i / 2) + row(far) + 8) >> 4);
  }));
}

template <class N>
lt::Program nearest_double(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(
      lt::compute("Y", {2 * h, 2 * w}, [&](lt::Var i, lt::Var j) { return X(i / 2, j / 2); }));
}

/// The pixel at row v, column u; the border is repeated.
lt::Expr<float> between_pixels(const lt::Input<float, 2>& X, const lt::Expr<float>& v,
                               const lt::Expr<float>& u) {
  const auto at = lt::clamp(X);
  auto i = lt::cast<std::int64_t>(lt::floor(v)), j = lt::cast<std::int64_t>(lt::floor(u));
  auto down = v - lt::floor(v), right = u - lt::floor(u);
  auto above = at(i, j) * (1.0f - right) + at(i, j + 1) * right;
  auto below = at(i + 1, j) * (1.0f - right) + at(i + 1, j + 1) * right;
  return above * (1.0f - down) + below * down;
}

lt::Program bilinear(int h, int w, int from_h, int from_w) {
  lt::Input<float, 2> X("X", {from_h, from_w});
  const float down = static_cast<float>(from_h) / static_cast<float>(h),
              right = static_cast<float>(from_w) / static_cast<float>(w);
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return between_pixels(X, (lt::cast<float>(i) + 0.5f) * down - 0.5f,
                          (lt::cast<float>(j) + 0.5f) * right - 0.5f);
  }));
}

// By about 20 degrees around the middle.
lt::Program turned_about(int h, int w) {
  lt::Input<float, 2> X("X", {h, w});
  const float v0 = 0.5f * static_cast<float>(h), u0 = 0.5f * static_cast<float>(w);
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    auto v = lt::cast<float>(i) - v0, u = lt::cast<float>(j) - u0;
    return between_pixels(X, 0.94f * v - 0.34f * u + v0, 0.34f * v + 0.94f * u + u0);
  }));
}

template <class N>
lt::Program flipped(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(
      lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) { return X(i, w - 1 - j); }));
}

template <class N>
lt::Program flipped_colours(N h, N w) {
  lt::Input<u8, 3> X("X", {h, w, 3});
  return lt::program_of(lt::compute(
      "Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) { return X(i, w - 1 - j, c); }));
}

// Clockwise.
template <class N>
lt::Program quarter_turn(N h, N w) {
  lt::Input<u8, 2> X("X", {w, h});
  return lt::program_of(
      lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) { return X(w - 1 - j, i); }));
}

template <class N>
lt::Program transposed_colours(N h, N w) {
  lt::Input<u8, 3> X("X", {w, h, 3});
  return lt::program_of(
      lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) { return X(j, i, c); }));
}

// Squares of 2 x 2 pixels: red, green above green, blue. Green is the mean of both.
template <class N>
lt::Program mosaic_to_colours(N h, N w) {
  lt::Input<u8, 2> X("X", {2 * h, 2 * w});
  return lt::program_of(lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
    auto greens = lt::cast<int>(X(2 * i, 2 * j + 1)) + lt::cast<int>(X(2 * i + 1, 2 * j));
    return lt::select(c == 0, X(2 * i, 2 * j),
                      lt::select(c == 1, lt::cast<u8>((greens + 1) >> 1), X(2 * i + 1, 2 * j + 1)));
  }));
}

}  // namespace

PlainPrograms geometry_programs() {
  const Size side = between(150, 600);
  const std::initializer_list<Shape> sizes = {{480, 640}, {side, side}},
                                     halves = {{240, 320}, {side, side}};
  const Numbers rounded = {.bound = 1e-3};  // of places in the image
  PlainPrograms all;
  add(all, "half size u8", half_size<int>, half_size<lt::Dim>, loops::half_size, halves);
  add(all, "half size of colours u8", half_size_colours<int>, half_size_colours<lt::Dim>,
      loops::half_size_colours, halves);
  add(all, "pyramid down u8", pyramid_down<int>, pyramid_down<lt::Dim>, loops::pyramid_down,
      halves);
  add(all, "double size u8", double_size<int>, double_size<lt::Dim>, loops::double_size, halves);
  add(all, "nearest of double size u8", nearest_double<int>, nearest_double<lt::Dim>,
      loops::nearest_double, halves);
  all.push_back({"bilinear",
                 bilinear,
                 loops::bilinear,
                 {{480, 640, 300, 400}, {side, side, side, side}},
                 rounded});
  all.push_back({"turned by an angle", turned_about, loops::turned_about, sizes, rounded});
  add(all, "flipped u8", flipped<int>, flipped<lt::Dim>, loops::flipped, sizes);
  add(all, "flipped colours u8", flipped_colours<int>, flipped_colours<lt::Dim>,
      loops::flipped_colours, sizes);
  add(all, "quarter turn u8", quarter_turn<int>, quarter_turn<lt::Dim>, loops::quarter_turn, sizes);
  add(all, "transposed colours u8", transposed_colours<int>, transposed_colours<lt::Dim>,
      loops::transposed_colours, sizes);
  add(all, "mosaic to colours u8", mosaic_to_colours<int>, mosaic_to_colours<lt::Dim>,
      loops::mosaic_to_colours, halves);
  return all;
}

}  // namespace bench
#endif
