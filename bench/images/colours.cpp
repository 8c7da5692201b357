// Single pixels of images.
#include "images/images.hpp"
#include "images/loops/images.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

using u8 = std::uint8_t;
using Image = lt::Input<u8, 3>;

template <class N>
lt::Program gray(N h, N w) {
  Image X("X", {h, w, 3});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto part = [&](int c, int share) { return lt::cast<int>(X(i, j, c)) * share; };
    return lt::cast<u8>((part(0, 9798) + part(1, 19235) + part(2, 3735) + 16384) >> 15);
  }));
}

// JPEG's YCrCb, in 14 bits.
template <class N>
lt::Program luma_chroma(N h, N w) {
  Image X("X", {h, w, 3});
  return lt::program_of(lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
    const auto part = [&](int k) { return lt::cast<int>(X(i, j, k)); };
    auto light = (4899 * part(0) + 9617 * part(1) + 1868 * part(2) + 8192) >> 14;
    const auto chroma = [&](int k, int share) {
      return ((part(k) - light) * share + (128 << 14) + 8192) >> 14;
    };
    return lt::cast<u8>(lt::clip(
        lt::select(c == 0, light, lt::select(c == 1, chroma(0, 11682), chroma(2, 9241))), 0, 255));
  }));
}

template <class N>
lt::Program premultiplied(N h, N w) {
  Image X("X", {h, w, 4});
  return lt::program_of(lt::compute("Y", {h, w, 4}, [&](lt::Var i, lt::Var j, lt::Var c) {
    auto product = lt::cast<int>(X(i, j, c)) * lt::cast<int>(X(i, j, 3));
    return lt::select(c == 3, X(i, j, 3), lt::cast<u8>((product + 127) / 255));
  }));
}

template <class N>
lt::Program in_range(N h, N w) {
  Image X("X", {h, w, 3});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto within = [&](int c, int low, int high) {
      return X(i, j, c) >= u8(low) && X(i, j, c) <= u8(high);
    };
    return lt::select(within(0, 40, 220) && within(1, 30, 200) && within(2, 20, 180),
                      lt::Expr<u8>(255), 0);
  }));
}

template <class N>
lt::Program drop_alpha(N h, N w) {
  Image X("X", {h, w, 4});
  return lt::program_of(
      lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) { return X(i, j, c); }));
}

template <class N>
lt::Program swap_red_blue(N h, N w) {
  Image X("X", {h, w, 3});
  return lt::program_of(
      lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) { return X(i, j, 2 - c); }));
}

template <class N>
lt::Program gray_to_colours(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(
      lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var) { return X(i, j); }));
}

template <class N>
lt::Program by_table(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  lt::Input<u8, 1> table("table", {256});
  return lt::program_of(lt::compute(
      "Y", {h, w}, [&](lt::Var i, lt::Var j) { return table(lt::cast<std::int64_t>(X(i, j))); }));
}

lt::Expr<u8> rounded(const lt::Expr<float>& value) {
  return lt::cast<u8>(lt::clip(lt::round(value), 0.0f, 255.0f));
}

template <class N>
lt::Program blend(N h, N w) {
  lt::Input<u8, 2> A("A", {h, w}), B("B", {h, w});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return rounded(0.7f * lt::cast<float>(A(i, j)) + 0.3f * lt::cast<float>(B(i, j)));
  }));
}

template <class N>
lt::Program saturated_sum(N h, N w) {
  lt::Input<u8, 2> A("A", {h, w}), B("B", {h, w});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::cast<u8>(lt::min(lt::cast<int>(A(i, j)) + lt::cast<int>(B(i, j)), 255));
  }));
}

template <class N>
lt::Program absolute_difference(N h, N w) {
  lt::Input<u8, 2> A("A", {h, w}), B("B", {h, w});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return lt::cast<u8>(lt::abs(lt::cast<int>(A(i, j)) - lt::cast<int>(B(i, j))));
  }));
}

template <class N>
lt::Program contrast(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    return rounded(1.3f * lt::cast<float>(X(i, j)) - 20.0f);
  }));
}

template <class N>
lt::Program sum_of_differences(N h, N w) {
  lt::Input<u8, 2> A("A", {h, w}), B("B", {h, w});
  lt::Reduce i("i", h), j("j", w);
  return lt::program_of(lt::compute("Y", {}, [&] {
    return lt::sum(lt::abs(lt::cast<int>(A(i, j)) - lt::cast<int>(B(i, j))), {i, j});
  }));
}

template <class N>
lt::Program normalised(N h, N w) {
  Image X("X", {h, w, 3});
  lt::Input<float, 1> mean("mean", {3}), scale("scale", {3});
  return lt::program_of(lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
    return (lt::cast<float>(X(i, j, c)) - mean(c)) * scale(c);
  }));
}

template <class N>
lt::Program brighter(N h, N w) {
  Image X("X", {h, w, 3});
  return lt::program_of(lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
    return lt::cast<u8>(lt::min(lt::cast<int>(X(i, j, c)) * 5 / 4 + 10, 255));
  }));
}

template <class N>
lt::Program extremes(N h, N w) {
  lt::Input<u8, 2> X("X", {h, w});
  lt::Reduce i("i", h), j("j", w), k("k", h), l("l", w);
  auto least = lt::compute("least", {}, [&] { return lt::reduce_min(X(i, j), {i, j}); });
  auto most = lt::compute("most", {}, [&] { return lt::reduce_max(X(k, l), {k, l}); });
  return lt::program_of(lt::outputs(least, most));
}

template <class N>
lt::Program to_planes(N h, N w) {
  Image X("X", {h, w, 3});
  return lt::program_of(lt::compute("Y", {3, h, w}, [&](lt::Var c, lt::Var i, lt::Var j) {
    return (lt::cast<float>(X(i, j, c)) - 110.0f) * (1.0f / 58);
  }));
}

}  // namespace

PlainPrograms colour_programs() {
  const std::initializer_list<Shape> sizes = {{480, 640}, {between(200, 800), between(200, 1100)}};
  const Numbers one_of_most = {.bound = 1.0 / 255};  // where the compiler fused, rounding differs
  PlainPrograms all;
  add(all, "gray of RGB u8", gray<int>, gray<lt::Dim>, loops::gray_image, sizes);
  add(all, "RGB to YCrCb u8", luma_chroma<int>, luma_chroma<lt::Dim>, loops::luma_chroma, sizes);
  add(all, "RGBA by its alpha u8", premultiplied<int>, premultiplied<lt::Dim>, loops::premultiplied,
      sizes);
  add(all, "in range of colours u8", in_range<int>, in_range<lt::Dim>, loops::in_range, sizes);
  add(all, "RGBA to RGB u8", drop_alpha<int>, drop_alpha<lt::Dim>, loops::drop_alpha, sizes);
  add(all, "RGB to BGR u8", swap_red_blue<int>, swap_red_blue<lt::Dim>, loops::swap_red_blue,
      sizes);
  add(all, "gray to RGB u8", gray_to_colours<int>, gray_to_colours<lt::Dim>, loops::gray_to_colours,
      sizes);
  add(all, "by a table u8", by_table<int>, by_table<lt::Dim>, loops::by_table, sizes);
  add(all, "blend u8", blend<int>, blend<lt::Dim>, loops::blend, sizes, one_of_most);
  add(all, "saturated sum u8", saturated_sum<int>, saturated_sum<lt::Dim>, loops::saturated_sum,
      sizes);
  add(all, "absolute difference u8", absolute_difference<int>, absolute_difference<lt::Dim>,
      loops::absolute_difference, sizes);
  add(all, "contrast u8", contrast<int>, contrast<lt::Dim>, loops::contrast, sizes, one_of_most);
  add(all, "sum of differences u8", sum_of_differences<int>, sum_of_differences<lt::Dim>,
      loops::sum_of_differences, sizes);
  add(all, "least and most u8", extremes<int>, extremes<lt::Dim>, loops::extremes, sizes);
  add(all, "normalised RGB u8", normalised<int>, normalised<lt::Dim>, loops::normalised, sizes);
  const Numbers crop = {.gap = loops::kCropGap};
  add(all, "gray of a crop of RGB u8", gray<int>, gray<lt::Dim>, loops::gray_crop, sizes, crop);
  add(all, "brighter crop of RGB u8", brighter<int>, brighter<lt::Dim>, loops::brighter_crop, sizes,
      crop);
  add(all, "RGB u8 to planes", to_planes<int>, to_planes<lt::Dim>, loops::to_planes, sizes);
  return all;
}

}  // namespace bench
#endif
