// Plain loops that change the size of an image, or where its pixels lie.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "images/loops/images.hpp"

namespace bench::loops {

namespace {

template <int c>
inline void halve(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int i = 0; i < h; ++i) {
    const u8 *a = x + 4 * i * w * c, *b = a + 2 * w * c;
    for (int j = 0; j < w; ++j)
      for (int k = 0; k < c; ++k) {
        const int at = 2 * j * c + k;
        *y++ = static_cast<u8>((a[at] + a[at + c] + b[at] + b[at + c] + 2) >> 2);
      }
  }
}

/// The pixel at row v, column u of an image; the border is repeated.
inline float between_pixels(const float* __restrict x, int h, int w, float v, float u) {
  const int i = static_cast<int>(std::floor(v)), j = static_cast<int>(std::floor(u));
  const float down = v - static_cast<float>(i), right = u - static_cast<float>(j);
  const int i0 = std::clamp(i, 0, h - 1), i1 = std::clamp(i + 1, 0, h - 1),
            j0 = std::clamp(j, 0, w - 1), j1 = std::clamp(j + 1, 0, w - 1);
  const float above = x[i0 * w + j0] * (1 - right) + x[i0 * w + j1] * right,
              below = x[i1 * w + j0] * (1 - right) + x[i1 * w + j1] * right;
  return above * (1 - down) + below * down;
}

}  // namespace

void half_size(const u8* x, u8* y, int h, int w) { halve<1>(x, y, h, w); }
void half_size_colours(const u8* x, u8* y, int h, int w) { halve<3>(x, y, h, w); }

// From 2 h x 2 w: a binomial filter of five taps each way, then every second pixel.
void pyramid_down(const u8* __restrict x, u8* __restrict y, int h, int w) {
  const int row = 2 * w, rows = 2 * h;
  std::vector<std::uint16_t> memory(static_cast<std::size_t>(row + 4));
  std::uint16_t* __restrict const held = memory.data() + 2;
  for (int i = 0; i < h; ++i, y += w) {
    const auto at = [&](int d) { return x + std::clamp(2 * i + d, 0, rows - 1) * row; };
    const u8 *a = at(-2), *b = at(-1), *c = at(0), *d = at(1), *e = at(2);
    for (int j = 0; j < row; ++j)
      held[j] = static_cast<std::uint16_t>(a[j] + 4 * b[j] + 6 * c[j] + 4 * d[j] + e[j]);
    held[-2] = held[-1] = held[0], held[row] = held[row + 1] = held[row - 1];
    for (int j = 0; j < w; ++j) {
      const std::uint16_t* s = held + 2 * j;
      y[j] = static_cast<u8>((s[-2] + 4 * s[-1] + 6 * s[0] + 4 * s[1] + s[2] + 128) >> 8);
    }
  }
}

// Pixels lie at the middle of their squares: three parts of the near one, one of the far one.
void double_size(const u8* __restrict x, u8* __restrict y, int h, int w) {
  std::vector<std::uint16_t> memory(static_cast<std::size_t>(w + 2));
  std::uint16_t* __restrict const held = memory.data() + 1;
  for (int i = 0; i < 2 * h; ++i, y += 2 * w) {
    const u8 *near = x + i / 2 * w,
             *far = x + std::clamp(i % 2 == 0 ? i / 2 - 1 : i / 2 + 1, 0, h - 1) * w;
    for (int j = 0; j < w; ++j) held[j] = static_cast<std::uint16_t>(3 * near[j] + far[j]);
    held[-1] = held[0], held[w] = held[w - 1];
    for (int j = 0; j < w; ++j) {
      y[2 * j] = static_cast<u8>((3 * held[j] + held[j - 1] + 8) >> 4);
      y[2 * j + 1] = static_cast<u8>((3 * held[j] + held[j + 1] + 8) >> 4);
    }
  }
}

void nearest_double(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int i = 0; i < 2 * h; ++i)
    for (int j = 0; j < w; ++j, y += 2) y[0] = y[1] = x[i / 2 * w + j];
}

void bilinear(const float* __restrict x, float* __restrict y, int h, int w, int from_h,
              int from_w) {
  const float down = static_cast<float>(from_h) / static_cast<float>(h),
              right = static_cast<float>(from_w) / static_cast<float>(w);
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j)
      *y++ = between_pixels(x, from_h, from_w, (static_cast<float>(i) + 0.5f) * down - 0.5f,
                            (static_cast<float>(j) + 0.5f) * right - 0.5f);
}

// By about 20 degrees around the middle.
void turned_about(const float* __restrict x, float* __restrict y, int h, int w) {
  const float v0 = 0.5f * static_cast<float>(h), u0 = 0.5f * static_cast<float>(w);
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) {
      const float v = static_cast<float>(i) - v0, u = static_cast<float>(j) - u0;
      *y++ = between_pixels(x, h, w, 0.94f * v - 0.34f * u + v0, 0.34f * v + 0.94f * u + u0);
    }
}

void flipped(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int i = 0; i < h; ++i, x += w, y += w)
    for (int j = 0; j < w; ++j) y[j] = x[w - 1 - j];
}

void flipped_colours(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int i = 0; i < h; ++i, x += 3 * w, y += 3 * w)
    for (int j = 0; j < w; ++j)
      for (int c = 0; c < 3; ++c) y[3 * j + c] = x[3 * (w - 1 - j) + c];
}

// Clockwise; in blocks, so that lines are used before they leave the cache.
void quarter_turn(const u8* __restrict x, u8* __restrict y, int h, int w) {
  constexpr int block = 32;
  for (int ib = 0; ib < h; ib += block)
    for (int jb = 0; jb < w; jb += block)
      for (int i = ib; i < std::min(h, ib + block); ++i)
        for (int j = jb; j < std::min(w, jb + block); ++j) y[i * w + j] = x[(w - 1 - j) * h + i];
}

void transposed_colours(const u8* __restrict x, u8* __restrict y, int h, int w) {
  constexpr int block = 32;
  for (int ib = 0; ib < h; ib += block)
    for (int jb = 0; jb < w; jb += block)
      for (int i = ib; i < std::min(h, ib + block); ++i)
        for (int j = jb; j < std::min(w, jb + block); ++j)
          for (int c = 0; c < 3; ++c) y[(i * w + j) * 3 + c] = x[(j * h + i) * 3 + c];
}

// Squares of 2 x 2 pixels: red, green above green, blue. Green is the mean of both.
void mosaic_to_colours(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j, y += 3) {
      const u8 *a = x + 4 * i * w + 2 * j, *b = a + 2 * w;
      y[0] = a[0], y[1] = static_cast<u8>((a[1] + b[0] + 1) >> 1), y[2] = b[1];
    }
}

}  // namespace bench::loops
