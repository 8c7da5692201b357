#include "photo.hpp"

#include <algorithm>
#include <cstddef>

namespace peers {

namespace {

float five_taps(float a, float b, float c, float d, float e) {
  return (a + e + 4 * (b + d) + 6 * c) * (1 / 16.0f);
}

void blur_across(const float* __restrict from, float* __restrict to, int w) {
  const auto at = [&](int x) { return from[std::clamp(x, 0, w - 1)]; };
  const auto edge = [&](int x) {
    to[x] = five_taps(at(x - 2), at(x - 1), at(x), at(x + 1), at(x + 2));
  };
  for (int x = 0; x < std::min(2, w); ++x) edge(x);
  for (int x = 2; x < w - 2; ++x)
    to[x] = five_taps(from[x - 2], from[x - 1], from[x], from[x + 1], from[x + 2]);
  for (int x = std::max(2, w - 2); x < w; ++x) edge(x);
}

}  // namespace

const example::Picture& PhotoByStages::run(const example::Picture& image) {
  const int h = image.h, w = image.w;
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(h) * w;
  for (auto* stage : {&luma_, &blur_x_, &blur_y_, &gain_})
    stage->resize(static_cast<std::size_t>(n));
  if (out_.h != h || out_.w != w) out_ = example::Picture(h, w);
  const float* p = image.planes.data();
  float *luma = luma_.data(), *blur_x = blur_x_.data(), *blur_y = blur_y_.data(),
        *gain = gain_.data();
  float* out = out_.planes.data();

  for (std::ptrdiff_t k = 0; k < n; ++k)
    luma[k] = 0.299f * p[k] + 0.587f * p[k + n] + 0.114f * p[k + 2 * n];
  for (int y = 0; y < h; ++y)
    blur_across(luma + y * static_cast<std::ptrdiff_t>(w),
                blur_x + y * static_cast<std::ptrdiff_t>(w), w);
  for (int y = 0; y < h; ++y) {
    const auto row = [&](int d) {
      return blur_x + std::clamp(y + d, 0, h - 1) * static_cast<std::ptrdiff_t>(w);
    };
    const float *a = row(-2), *b = row(-1), *c = row(0), *d = row(1), *e = row(2);
    float* __restrict to = blur_y + y * static_cast<std::ptrdiff_t>(w);
    for (int x = 0; x < w; ++x) to[x] = five_taps(a[x], b[x], c[x], d[x], e[x]);
  }
  for (std::ptrdiff_t k = 0; k < n; ++k) {
    const float sharp = luma[k] + 1.5f * (luma[k] - blur_y[k]);
    gain[k] = std::clamp(sharp / (luma[k] + 0.01f), 0.5f, 2.0f);
  }
  for (int c = 0; c < 3; ++c) {
    for (std::ptrdiff_t k = 0; k < n; ++k) {
      const float graded = std::clamp(p[c * n + k] * gain[k], 0.0f, 1.0f);
      out[c * n + k] = graded * (1.6f - 0.6f * graded);
    }
  }
  return out_;
}

}  // namespace peers
