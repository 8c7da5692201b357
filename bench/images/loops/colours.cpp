// Plain loops over single pixels.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "images/loops/images.hpp"

namespace bench::loops {

namespace {

inline u8 rounded(float value) { return saturated(static_cast<int>(std::nearbyint(value))); }
inline int luma(const u8* p) { return (9798 * p[0] + 19235 * p[1] + 3735 * p[2] + 16384) >> 15; }

}  // namespace

void gray_image(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k) y[k] = static_cast<u8>(luma(x + 3 * k));
}

// JPEG's YCrCb, in 14 bits.
void luma_chroma(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k) {
    const u8* p = x + 3 * k;
    const int light = (4899 * p[0] + 9617 * p[1] + 1868 * p[2] + 8192) >> 14;
    y[3 * k] = saturated(light);
    y[3 * k + 1] = saturated(((p[0] - light) * 11682 + (128 << 14) + 8192) >> 14);
    y[3 * k + 2] = saturated(((p[2] - light) * 9241 + (128 << 14) + 8192) >> 14);
  }
}

void premultiplied(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k) {
    const int a = x[4 * k + 3];
    for (int c = 0; c < 3; ++c) y[4 * k + c] = static_cast<u8>((x[4 * k + c] * a + 127) / 255);
    y[4 * k + 3] = static_cast<u8>(a);
  }
}

void in_range(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k) {
    const u8* p = x + 3 * k;
    const bool all =
        (p[0] >= 40) & (p[0] <= 220) & (p[1] >= 30) & (p[1] <= 200) & (p[2] >= 20) & (p[2] <= 180);
    y[k] = all ? 255 : 0;
  }
}

void drop_alpha(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k)
    for (int c = 0; c < 3; ++c) y[3 * k + c] = x[4 * k + c];
}

void swap_red_blue(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k)
    for (int c = 0; c < 3; ++c) y[3 * k + c] = x[3 * k + 2 - c];
}

void gray_to_colours(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k)
    for (int c = 0; c < 3; ++c) y[3 * k + c] = x[k];
}

void by_table(const u8* __restrict x, const u8* __restrict table, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k) y[k] = table[x[k]];
}

void blend(const u8* __restrict a, const u8* __restrict b, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k)
    y[k] = rounded(0.7f * static_cast<float>(a[k]) + 0.3f * static_cast<float>(b[k]));
}

void saturated_sum(const u8* __restrict a, const u8* __restrict b, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k) y[k] = static_cast<u8>(std::min(a[k] + b[k], 255));
}

void absolute_difference(const u8* __restrict a, const u8* __restrict b, u8* __restrict y, int h,
                         int w) {
  for (int k = 0; k < h * w; ++k) y[k] = static_cast<u8>(std::abs(a[k] - b[k]));
}

void contrast(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k) y[k] = rounded(1.3f * static_cast<float>(x[k]) - 20.0f);
}

void normalised(const u8* __restrict x, const float* __restrict mean, const float* __restrict scale,
                float* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k)
    for (int c = 0; c < 3; ++c)
      y[3 * k + c] = (static_cast<float>(x[3 * k + c]) - mean[c]) * scale[c];
}

void gray_crop(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int i = 0; i < h; ++i, x += 3 * w + kCropGap, y += w)
    for (int j = 0; j < w; ++j) y[j] = static_cast<u8>(luma(x + 3 * j));
}

void brighter_crop(const u8* __restrict x, u8* __restrict y, int h, int w) {
  for (int i = 0; i < h; ++i, x += 3 * w + kCropGap, y += 3 * w)
    for (int k = 0; k < 3 * w; ++k) y[k] = saturated(x[k] * 5 / 4 + 10);
}

void sum_of_differences(const u8* __restrict a, const u8* __restrict b, std::int32_t* y, int h,
                        int w) {
  std::int32_t sum = 0;
  for (int k = 0; k < h * w; ++k) sum += std::abs(a[k] - b[k]);
  *y = sum;
}

void extremes(const u8* __restrict x, u8* least, u8* most, int h, int w) {
  u8 low = 255, high = 0;
  for (int k = 0; k < h * w; ++k) low = std::min(low, x[k]), high = std::max(high, x[k]);
  *least = low, *most = high;
}

void to_planes(const u8* __restrict x, float* __restrict y, int h, int w) {
  for (int k = 0; k < h * w; ++k)
    for (int c = 0; c < 3; ++c)
      y[c * h * w + k] = (static_cast<float>(x[3 * k + c]) - 110.0f) * (1.0f / 58);
}

}  // namespace bench::loops
