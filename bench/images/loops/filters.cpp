// Plain loops of filters: rows above and below first, then neighbours in the row.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "images/loops/images.hpp"

namespace bench::loops {

namespace {

/// For each row of an image of c colours: `down` makes a row from 2 r + 1 rows of the image,
/// `along` the result from that row, which has r pixels more on each side.
template <int r, int c, class Held, class T, class R, class Down, class Along>
inline void separable(const T* __restrict x, R* __restrict y, int h, int w, const Down& down,
                      const Along& along) {
  const int row = w * c;
  std::vector<Held> memory(static_cast<std::size_t>(row + 2 * r * c));
  Held* __restrict held = memory.data() + r * c;
  for (int i = 0; i < h; ++i, y += row) {
    std::array<const T*, 2 * r + 1> at;
    for (int d = -r; d <= r; ++d)
      at[static_cast<std::size_t>(d + r)] = x + std::clamp(i + d, 0, h - 1) * row;
    for (int j = 0; j < row; ++j) held[j] = static_cast<Held>(down(at, j));
    for (int k = 0; k < r * c; ++k) {
      held[k - r * c] = held[k % c];
      held[row + k] = held[row - c + k % c];
    }
    for (int j = 0; j < row; ++j) y[j] = static_cast<R>(along(held + j));
  }
}

template <int c>
inline void gaussian_5(const u8* x, u8* y, int h, int w) {
  separable<2, c, std::uint16_t>(
      x, y, h, w,
      [](const auto& at, int j) {
        return at[0][j] + 4 * at[1][j] + 6 * at[2][j] + 4 * at[3][j] + at[4][j];
      },
      [](const std::uint16_t* s) {
        return (s[-2 * c] + 4 * s[-c] + 6 * s[0] + 4 * s[c] + s[2 * c] + 128) >> 8;
      });
}

/// The nine pixels around each, in rows that repeat their ends.
template <class R, class F>
inline void nine_pixels(const u8* __restrict x, R* __restrict y, int h, int w, const F& f) {
  std::vector<u8> memory(static_cast<std::size_t>(3 * (w + 2)));
  u8* __restrict const held = memory.data() + 1;
  for (int i = 0; i < h; ++i, y += w) {
    for (int d = 0; d < 3; ++d) {
      const u8* from = x + std::clamp(i + d - 1, 0, h - 1) * w;
      u8* to = held + d * (w + 2);
      std::copy(from, from + w, to);
      to[-1] = to[0], to[w] = to[w - 1];
    }
    const u8 *a = held, *b = a + w + 2, *c = b + w + 2;
    for (int j = 0; j < w; ++j) y[j] = static_cast<R>(f(a + j, b + j, c + j));
  }
}

inline void order(u8& a, u8& b) {
  const u8 least = std::min(a, b);
  b = std::max(a, b);
  a = least;
}

}  // namespace

void gaussian_3x3(const u8* x, u8* y, int h, int w) {
  separable<1, 1, std::uint16_t>(
      x, y, h, w, [](const auto& at, int j) { return at[0][j] + 2 * at[1][j] + at[2][j]; },
      [](const std::uint16_t* s) { return (s[-1] + 2 * s[0] + s[1] + 8) >> 4; });
}

void gaussian_5x5(const u8* x, u8* y, int h, int w) { gaussian_5<1>(x, y, h, w); }
void gaussian_5x5_colours(const u8* x, u8* y, int h, int w) { gaussian_5<3>(x, y, h, w); }

void sobel_x(const u8* x, i16* y, int h, int w) {
  separable<1, 1, i16>(
      x, y, h, w, [](const auto& at, int j) { return at[0][j] + 2 * at[1][j] + at[2][j]; },
      [](const i16* s) { return s[1] - s[-1]; });
}

void edges(const u8* x, u8* y, int h, int w) {
  nine_pixels(x, y, h, w, [](const u8* a, const u8* b, const u8* c) {
    const int across = a[1] - a[-1] + 2 * (b[1] - b[-1]) + c[1] - c[-1],
              down = c[-1] - a[-1] + 2 * (c[0] - a[0]) + c[1] - a[1];
    return saturated(std::abs(across) + std::abs(down));
  });
}

void laplacian(const u8* x, i16* y, int h, int w) {
  nine_pixels(x, y, h, w, [](const u8* a, const u8* b, const u8* c) {
    return a[0] + b[-1] + b[1] + c[0] - 4 * b[0];
  });
}

void box_5x5(const u8* x, u8* y, int h, int w) {
  separable<2, 1, std::uint16_t>(
      x, y, h, w,
      [](const auto& at, int j) { return at[0][j] + at[1][j] + at[2][j] + at[3][j] + at[4][j]; },
      [](const std::uint16_t* s) { return (s[-2] + s[-1] + s[0] + s[1] + s[2] + 12) / 25; });
}

// Paeth, Median Finding on a 3 x 3 Grid, Graphics Gems, 1990.
void median_3x3(const u8* x, u8* y, int h, int w) {
  nine_pixels(x, y, h, w, [](const u8* a, const u8* b, const u8* c) {
    u8 p0 = a[-1], p1 = a[0], p2 = a[1], p3 = b[-1], p4 = b[0], p5 = b[1], p6 = c[-1], p7 = c[0],
       p8 = c[1];
    order(p1, p2), order(p4, p5), order(p7, p8), order(p0, p1), order(p3, p4), order(p6, p7);
    order(p1, p2), order(p4, p5), order(p7, p8);
    p3 = std::max(p0, p3), p5 = std::min(p5, p8), order(p4, p7);
    p6 = std::max(p3, p6), p4 = std::max(p1, p4), p2 = std::min(p2, p5), p4 = std::min(p4, p7);
    order(p4, p2);
    p4 = std::max(p6, p4);
    return std::min(p4, p2);
  });
}

void dilation_5x5(const u8* x, u8* y, int h, int w) {
  separable<2, 1, u8>(
      x, y, h, w,
      [](const auto& at, int j) {
        return std::max({at[0][j], at[1][j], at[2][j], at[3][j], at[4][j]});
      },
      [](const u8* s) {
        return std::max({s[-2], s[-1], s[0], s[1], s[2]});
      });
}

void sharpened(const u8* x, u8* y, int h, int w) {
  gaussian_5<1>(x, y, h, w);
  for (int k = 0; k < h * w; ++k) y[k] = saturated(2 * x[k] - y[k]);
}

void filter_5x5(const float* __restrict x, const float* __restrict k, float* __restrict y, int h,
                int w) {
  std::vector<float> memory(static_cast<std::size_t>(w + 4));
  float* __restrict const held = memory.data() + 2;
  for (int i = 0; i < h; ++i, y += w) {
    std::fill(y, y + w, 0.0f);
    for (int a = 0; a < 5; ++a) {
      const float* from = x + std::clamp(i + a - 2, 0, h - 1) * w;
      std::copy(from, from + w, held);
      held[-2] = held[-1] = held[0], held[w] = held[w + 1] = held[w - 1];
      const float* t = k + 5 * a;
      for (int j = 0; j < w; ++j)
        y[j] += t[0] * held[j - 2] + t[1] * held[j - 1] + t[2] * held[j] + t[3] * held[j + 1] +
                t[4] * held[j + 2];
    }
  }
}

void separable_9(const float* x, const float* k, float* y, int h, int w) {
  separable<4, 1, float>(
      x, y, h, w,
      [=](const auto& at, int j) {
        float sum = 0;
        for (std::size_t d = 0; d < 9; ++d) sum += k[d] * at[d][j];
        return sum;
      },
      [=](const float* s) {
        float sum = 0;
        for (int d = 0; d < 9; ++d) sum += k[d] * s[d - 4];
        return sum;
      });
}

// Brighter than the mean of 11 x 11 pixels around, less two.
void local_threshold(const u8* __restrict x, u8* __restrict y, int h, int w) {
  std::vector<std::int32_t> columns(static_cast<std::size_t>(w + 10));
  std::int32_t* __restrict const sum = columns.data() + 5;
  for (int i = 0; i < h; ++i) {
    std::fill(sum, sum + w, 0);
    for (int d = -5; d <= 5; ++d) {
      const u8* from = x + std::clamp(i + d, 0, h - 1) * w;
      for (int j = 0; j < w; ++j) sum[j] += from[j];
    }
    for (int d = 1; d <= 5; ++d) sum[-d] = sum[0], sum[w - 1 + d] = sum[w - 1];
    for (int j = 0; j < w; ++j) {
      std::int32_t all = 0;
      for (int d = -5; d <= 5; ++d) all += sum[j + d];
      y[i * w + j] = 121 * (x[i * w + j] + 2) > all ? 255 : 0;
    }
  }
}

}  // namespace bench::loops
