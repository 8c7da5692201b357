// Families that look at windows: convolutions, pooling, stencils, pyramids.
#pragma once

#include "family.hpp"

namespace fuzz {

class WindowFamilies : public Family {
 public:
  using Family::Family;

  void conv1d() { convolution(windows(1, 20)); }
  void conv2d() { convolution(windows(2, 9)); }
  void conv3d() { convolution(windows(3, 5)); }
  /// Each channel has a filter of its own.
  void depthwise() {
    Windows w = windows(1 + random_.below(2), 9);
    Size channels = size(9);
    Shaped x = input(with({channels}, w.in), dtype_), f = input(with({channels}, w.kernel), dtype_);
    epilogue(sum(with({channels}, w.out), w.kernel, [&](const Axes& at, const Axes& r) {
      Index from = w.places(at, 1, r, 0), tap = places(r);
      from.insert(from.begin(), at[0].at), tap.insert(tap.begin(), at[0].at);
      return times(x.tensor.at(from), f.tensor.at(tap));
    }));
  }
  /// Each group of filters reads a group of channels.
  void grouped() {
    Windows w = windows(1, 9);
    const int groups = 1 + random_.below(3), channels = 1 + random_.below(4),
              filters = 1 + random_.below(4);
    Size all = fixed(groups * filters), own = fixed(channels);
    Shaped x = input(with({fixed(groups * channels)}, w.in), dtype_),
           f = input(with({all, own}, w.kernel), dtype_);
    epilogue(sum(with({all}, w.out), with({own}, w.kernel), [&](const Axes& at, const Axes& r) {
      AnyExpr group = lathe::floordiv(at[0], AnyExpr(filters));
      return times(x(group * channels + r[0], w.place(0, at[1], r[1])), f(at[0], r[0], r[1]));
    }));
  }
  /// The gradient of a convolution: steps of the output fall between inputs.
  void transposed_conv() {
    Size channels = size(5), filters = size(9), in = positive_size(9),
         kernel = fixed(1 + random_.below(4));
    const int stride = 1 + random_.below(3), pad = random_.below(2);
    // Channels last; a term that is left out as a whole, not multiplied by zero.
    const bool last = random_.chance(60), whole = random_.chance(60);
    focus_ = {"select_to_predicate", "cache_padded", "transform_block_layout", "reindex", "split",
              "reverse_compute_at"};
    Shaped x = input({channels, in}, dtype_), f = input({channels, filters, kernel}, dtype_);
    Size out = random_.chance(50) ? scaled(in, stride, 0) : scaled(in, stride, kernel.value - 1);
    const std::vector<Size> shape =
        last ? std::vector<Size>{out, filters} : std::vector<Size>{filters, out};
    epilogue(sum(shape, {channels, kernel}, [&](const Axes& at, const Axes& r) {
      AnyExpr back = at[last ? 0 : 1].at + pad - r[1].at;
      AnyExpr from = lathe::floordiv(back, AnyExpr(stride));
      AnyExpr hit = eq(lathe::floormod(back, AnyExpr(stride)), AnyExpr(0));
      AnyExpr weight = f(r[0], at[last ? 1 : 0], r[1]);
      if (whole)
        return either(logical_and(hit, lathe::in_bounds_any(x.tensor, Index{r[0].at, from})),
                      times(x(r[0], from), weight), zero());
      AnyExpr v = padded(x, {r[0], from}, zero());
      return times(stride > 1 ? either(hit, v, zero()) : v, weight);
    }));
  }
  /// An output as large as the input; what lies outside is zero, the border again or a mirror.
  void padded_conv() {
    focus_ = {"cache_padded", "split", "compute_at", "vectorize", "reorder", "compute_inline"};
    Size channels = size(9), filters = size(17), w = positive_size(20),
         kernel = fixed(1 + random_.below(4));
    const int dilation = 1 + random_.below(2), shift = random_.below(4), border = random_.below(4);
    Shaped x = input({channels, w}, dtype_), f = input({filters, channels, kernel}, dtype_);
    auto element = [&](const AnyExpr& c, const AnyExpr& at) {
      if (border == 0) return lathe::clamp_any(x.tensor, Index{c, at});
      if (border == 1) return x(c, lathe::floormod(at, w.any));
      return padded(x, {c, at}, zero());
    };
    Shaped early = x;
    if (border == 3) {  // a stage with the border around
      early = map({channels, scaled(w, 1, 12)},
                  [&](const Axes& at) { return element(at[0], at[1].at - 4); });
    }
    epilogue(sum({filters, w}, {channels, kernel}, [&](const Axes& at, const Axes& r) {
      AnyExpr from = at[1].at + r[1].at * dilation - shift;
      return times(border == 3 ? early(r[0], from + 4) : element(r[0], from), f(at[0], r[0], r[1]));
    }));
  }
  void pool_max() {
    only_numbers();
    Windows w = windows(1 + random_.below(2), 9);
    Size channels = size(5);
    Shaped x = input(with({channels}, w.in), dtype_);
    auto extreme = random_.chance(80) ? lathe::max_reducer(dtype_) : lathe::min_reducer(dtype_);
    epilogue(fold_one(with({channels}, w.out), w.kernel, extreme, Pooled{x, w}));
  }
  void pool_average() {
    only_numbers();
    Windows w = windows(1 + random_.below(2), 9);
    Size channels = size(5);
    Shaped x = input(with({channels}, w.in), dtype_);
    Shaped all = sum(with({channels}, w.out), w.kernel, Pooled{x, w});
    std::int64_t count = 1;
    for (const auto& k : w.kernel) count *= k.value;
    map(all.shape, [&](const Axes& at) {
      AnyExpr v = all.tensor.at(places(at));
      return dtype_.is_float() ? v * lathe::make_float(dtype_, 1.0 / static_cast<double>(count))
                               : v / lathe::make_const(dtype_, count % 7 + 1);
    });
  }
  /// Sums and extremes over boxes around each place, of values of one place each.
  void boxes() {
    only_numbers();
    focus_ = {"share_window", "share_window", "cache_padded", "compute_at", "split", "vectorize"};
    const Size h = size(12), w = size(40), a = fixed(1 + random_.below(5)),
               b = random_.chance(85) ? fixed(1 + random_.below(6)) : positive_size(4);
    const int border = random_.below(3), step = random_.chance(70) ? 1 : 2 - random_.below(4),
              shift = random_.below(4);
    const bool squares = random_.chance(30), turned = random_.chance(20);
    Shaped x = input({h, w}, near_dtype());
    const auto term = [&](const Axes& at, const Axes& r) {
      const Index from{at[turned ? 1 : 0].at + r[0].at - shift,
                       at[turned ? 0 : 1].at + r[1].at * step - shift};
      AnyExpr v = border == 0   ? lathe::clamp_any(x.tensor, from)
                  : border == 1 ? padded(x, from, lathe::make_const(x.tensor.dtype(), 1))
                                : nearest(x, {from[0] + shift, lathe::floormod(from[1], w.any)});
      v = as_type(dtype_, v);
      return squares ? times(v, v) : v;
    };
    const auto reducer = random_.chance(50)   ? total(dtype_)
                         : random_.chance(70) ? lathe::max_reducer(dtype_)
                                              : lathe::min_reducer(dtype_);
    epilogue(fold_one(turned ? std::vector<Size>{w, h} : std::vector<Size>{h, w}, {a, b}, reducer,
                      term));
  }
  void stencil() { stencils(1); }
  void stencil_chain() { stencils(2 + random_.below(2)); }
  /// Half of the size by pairs, and back.
  void pyramid() {
    only_numbers();
    const int rank = 1 + random_.below(2);
    std::vector<Size> small, large;
    for (int d = 0; d < rank; ++d) {
      small.push_back(size(9));
      large.push_back(scaled(small.back(), 2, random_.below(2)));
    }
    Shaped x = input(large, dtype_);
    Shaped down = map(small, [&](const Axes& at) {
      Index a, b;
      for (const auto& axis : at) a.push_back(axis.at * 2), b.push_back(axis.at * 2 + 1);
      return x.tensor.at(a) + x.tensor.at(b);
    });
    Shaped up = map(large, [&](const Axes& at) {
      Index half;
      for (const auto& axis : at) half.push_back(lathe::floordiv(axis.at, AnyExpr(2)));
      return nearest(down, half);
    });
    if (random_.chance(60))
      map(large,
          [&](const Axes& at) { return x.tensor.at(places(at)) - up.tensor.at(places(at)); });
  }

 private:
  /// Per axis: how far the window moves, and its taps are apart.
  struct Windows {
    std::vector<Size> in, out, kernel;
    std::vector<int> stride, dilation;

    AnyExpr place(std::size_t d, const AnyExpr& at, const AnyExpr& tap) const {
      return at * stride[d] + tap * dilation[d];
    }
    /// Of all axes: those of the output from `first`, the taps from `first_tap`.
    Index places(const Axes& at, std::size_t first, const Axes& taps, std::size_t first_tap) const {
      Index all;
      for (std::size_t d = 0; d < in.size(); ++d)
        all.push_back(place(d, at[first + d], taps[first_tap + d]));
      return all;
    }
  };
  struct Pooled {
    const Shaped& x;
    const Windows& w;
    AnyExpr operator()(const Axes& at, const Axes& r) const {
      Index from = w.places(at, 1, r, 0);
      from.insert(from.begin(), at[0].at);
      return x.tensor.at(from);
    }
  };
  /// Inputs are as large as their windows need, or some elements larger.
  Windows windows(int rank, int largest) {
    Windows w;
    for (int d = 0; d < rank; ++d) {
      w.out.push_back(size(largest));
      w.kernel.push_back(random_.chance(85) ? fixed(1 + random_.below(4 - rank / 2))
                                            : positive_size(3));
      w.stride.push_back(1 + random_.below(2));
      w.dilation.push_back(1 + random_.below(2));
      const Size &out = w.out.back(), &kernel = w.kernel.back();
      const std::int64_t needed = w.dilation.back() * (kernel.value - 1) + 1 - w.stride.back();
      const bool exact = !out.symbolic() && !kernel.symbolic() && out.value > 0;
      w.in.push_back(scaled(out, w.stride.back(), exact ? needed + random_.below(2) : 6));
    }
    return w;
  }
  static std::vector<Size> with(std::vector<Size> front, const std::vector<Size>& back) {
    front.insert(front.end(), back.begin(), back.end());
    return front;
  }
  AnyExpr zero() { return lathe::make_const(dtype_, 0); }

  void convolution(const Windows& w) {
    Size channels = size(5), filters = size(9);
    std::vector<Size> batch;
    if (random_.chance(30)) batch.push_back(size(3));
    Shaped x = input(with(with(batch, {channels}), w.in), near_dtype()),
           f = input(with({filters, channels}, w.kernel), near_dtype());
    const std::size_t b = batch.size();
    epilogue(sum(with(with(batch, {filters}), w.out), with({channels}, w.kernel),
                 [&](const Axes& at, const Axes& r) {
                   Index from = w.places(at, b + 1, r, 1), tap = places(r);
                   from.insert(from.begin(), r[0].at), tap.insert(tap.begin(), at[b].at);
                   if (b) from.insert(from.begin(), at[0].at);
                   return times(cast(dtype_, x.tensor.at(from)), cast(dtype_, f.tensor.at(tap)));
                 }),
             1);
  }
  AnyExpr nearest(const Shaped& x, const Index& at) { return lathe::clamp_any(x.tensor, at); }
  void stencils(int stages) {
    std::vector<Size> full = shape(1 + random_.below(3));
    Shaped last = input(full, dtype_);
    for (; stages > 0; --stages) {
      const int radius = 1 + random_.below(2), step = random_.chance(15) ? -1 : 1;
      const auto axis = static_cast<std::size_t>(random_.below(static_cast<int>(full.size())));
      const bool pad = random_.chance(50);
      last = map(full, [&](const Axes& at) {
        Index centre;
        for (const auto& a : at) centre.push_back(step < 0 ? a.size.any - 1 - a.at : a.at);
        AnyExpr all;
        for (int offset = -radius; offset <= radius; ++offset) {
          Index index = centre;
          index[axis] = index[axis] + offset;
          AnyExpr v = pad ? padded(last, index, number(dtype_)) : nearest(last, index);
          all = all ? plus(all, v) : v;
        }
        return all;
      });
    }
  }
};

}  // namespace fuzz
