// Filters of images. What lies beyond a border repeats it.
#include "images/images.hpp"
#include "images/loops/images.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

using u8 = std::uint8_t;
using i16 = std::int16_t;

template <class N>
lt::Program gaussian_3x3(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  const auto at = lt::clamp(X);
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto pixel = [&](int a, int b) { return lt::cast<int>(at(i + a, j + b)); };
    const auto row = [&](int a) { return pixel(a, -1) + 2 * pixel(a, 0) + pixel(a, 1); };
    return lt::cast<u8>((row(-1) + 2 * row(0) + row(1) + 8) >> 4);
  }));
}

template <class F>
auto five_taps(const F& at) {
  return at(-2) + 4 * at(-1) + 6 * at(0) + 4 * at(1) + at(2);
}

template <class N>
auto blurred(const lt::Input<u8, 2>& X, N h, N w) {
  auto down = lt::compute("down", {h, w}, [&](lt::Var i, lt::Var j) {
    return five_taps([&](int d) { return lt::cast<int>(lt::clamp(X)(i + d, j)); });
  });
  return lt::compute("blurred", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::cast<u8>((five_taps([&](int d) { return lt::clamp(down)(i, j + d); }) + 128) >> 8);
  });
}

template <class N>
lt::Program gaussian_5x5(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(blurred(X, h, w));
}

template <class N>
lt::Program gaussian_5x5_colours(N h, N w) {
  lt::Input<u8, 3> X("X", {h, w, 3});
  auto down = lt::compute("down", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
    return five_taps([&](int d) { return lt::cast<int>(lt::clamp(X)(i + d, j, c)); });
  });
  return lt::program_of(lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
    return lt::cast<u8>((five_taps([&](int d) { return lt::clamp(down)(i, j + d, c); }) + 128) >>
                        8);
  }));
}

template <class N>
lt::Program sobel_x(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto rise = [&](int a) {
      return lt::cast<i16>(lt::clamp(X)(i + a, j + 1)) - lt::cast<i16>(lt::clamp(X)(i + a, j - 1));
    };
    return rise(-1) + i16(2) * rise(0) + rise(1);
  }));
}

template <class N>
lt::Program edges(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto at = [&](int a, int b) { return lt::cast<int>(lt::clamp(X)(i + a, j + b)); };
    auto across = at(-1, 1) - at(-1, -1) + 2 * (at(0, 1) - at(0, -1)) + at(1, 1) - at(1, -1);
    auto down = at(1, -1) - at(-1, -1) + 2 * (at(1, 0) - at(-1, 0)) + at(1, 1) - at(-1, 1);
    return lt::cast<u8>(lt::min(lt::abs(across) + lt::abs(down), 255));
  }));
}

template <class N>
lt::Program laplacian(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto at = [&](int a, int b) { return lt::cast<i16>(lt::clamp(X)(i + a, j + b)); };
    return at(-1, 0) + at(0, -1) + at(0, 1) + at(1, 0) - i16(4) * at(0, 0);
  }));
}

/// Of side x side pixels around each.
template <class N>
auto window_sums(const lt::Input<u8, 2>& X, N h, N w, int side) {
  lt::Reduce a("a", side), b("b", side);
  return lt::compute("total", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<int>(lt::clamp(X)(i + a - side / 2, j + b - side / 2)), {a, b});
  });
}

template <class N>
lt::Program box_5x5(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  auto total = window_sums(X, h, w, 5);
  return lt::program_of(lt::compute(
      "Y", {h, w}, [&](lt::Var i, lt::Var j) { return lt::cast<u8>((total(i, j) + 12) / 25); }));
}

// Paeth, Median Finding on a 3 x 3 Grid, Graphics Gems, 1990.
template <class N>
lt::Program median_3x3(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    std::vector<lt::Expr<u8>> p;
    for (int k = 0; k < 9; ++k) p.push_back(lt::clamp(X)(i + k / 3 - 1, j + k % 3 - 1));
    const auto order = [&](std::size_t a, std::size_t b) {
      const lt::Expr<u8> least = lt::min(p[a], p[b]), most = lt::max(p[a], p[b]);
      p[a] = least, p[b] = most;
    };
    order(1, 2), order(4, 5), order(7, 8), order(0, 1), order(3, 4), order(6, 7);
    order(1, 2), order(4, 5), order(7, 8), order(0, 3), order(5, 8), order(4, 7);
    order(3, 6), order(1, 4), order(2, 5), order(4, 7), order(4, 2), order(6, 4), order(4, 2);
    return p[4];
  }));
}

template <class N>
lt::Program dilation_5x5(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  lt::Reduce a("a", 5), b("b", 5);
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::reduce_max(lt::clamp(X)(i + a - 2, j + b - 2), {a, b});
  }));
}

template <class N>
lt::Program sharpened(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  auto smooth = blurred(X, h, w);
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    auto sharp = 2 * lt::cast<int>(X(i, j)) - lt::cast<int>(smooth(i, j));
    return lt::cast<u8>(lt::clip(sharp, 0, 255));
  }));
}

template <class N>
lt::Program filter_5x5(N h, N w) {
  lt::Input<float, 2> X("X", {h, w}), K("K", {5, 5});
  lt::Reduce a("a", 5), b("b", 5);
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::clamp(X)(i + a - 2, j + b - 2) * K(a, b), {a, b});
  }));
}

template <class N>
lt::Program separable_9(N h, N w) {
  lt::Input<float, 2> X("X", {h, w});
  lt::Input<float, 1> K("K", {9});
  lt::Reduce a("a", 9), b("b", 9);
  auto down = lt::compute("down", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::clamp(X)(i + a - 4, j) * K(a), a);
  });
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::clamp(down)(i, j + b - 4) * K(b), b);
  }));
}

template <class N>
lt::Program local_threshold(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  auto total = window_sums(X, h, w, 11);
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::select(121 * (lt::cast<int>(X(i, j)) + 2) > total(i, j), lt::Expr<u8>(255), 0);
  }));
}

}  // namespace

PlainPrograms filter_programs() {
  const std::initializer_list<Shape> sizes = {{480, 640}, {between(200, 800), between(200, 1100)}};
  PlainPrograms all;
  add(all, "gaussian 3x3 u8", gaussian_3x3<int>, gaussian_3x3<lt::Dim>, loops::gaussian_3x3, sizes);
  add(all, "gaussian 5x5 u8", gaussian_5x5<int>, gaussian_5x5<lt::Dim>, loops::gaussian_5x5, sizes);
  add(all, "gaussian 5x5 of colours u8", gaussian_5x5_colours<int>, gaussian_5x5_colours<lt::Dim>,
      loops::gaussian_5x5_colours, sizes);
  add(all, "sobel of columns u8", sobel_x<int>, sobel_x<lt::Dim>, loops::sobel_x, sizes);
  add(all, "edges u8", edges<int>, edges<lt::Dim>, loops::edges, sizes);
  add(all, "laplacian u8", laplacian<int>, laplacian<lt::Dim>, loops::laplacian, sizes);
  add(all, "box 5x5 u8", box_5x5<int>, box_5x5<lt::Dim>, loops::box_5x5, sizes);
  add(all, "median 3x3 u8", median_3x3<int>, median_3x3<lt::Dim>, loops::median_3x3, sizes);
  add(all, "dilation 5x5 u8", dilation_5x5<int>, dilation_5x5<lt::Dim>, loops::dilation_5x5, sizes);
  add(all, "sharpened u8", sharpened<int>, sharpened<lt::Dim>, loops::sharpened, sizes);
  add(all, "filter 5x5", filter_5x5<int>, filter_5x5<lt::Dim>, loops::filter_5x5, sizes);
  add(all, "separable 9x9", separable_9<int>, separable_9<lt::Dim>, loops::separable_9, sizes);
  add(all, "local threshold u8", local_threshold<int>, local_threshold<lt::Dim>,
      loops::local_threshold, sizes);
  return all;
}

}  // namespace bench
#endif
