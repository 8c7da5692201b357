#include "photo.hpp"

#include <algorithm>

namespace peers {

namespace {

using Plane = std::vector<float>;

template <class At>
float five_taps(const At& at) {
  return (at(-2) + at(2) + 4 * (at(-1) + at(1)) + 6 * at(0)) / 16;
}

Plane luma_of(const example::Picture& image) {
  const std::size_t n = static_cast<std::size_t>(image.h) * image.w;
  const float* p = image.planes.data();
  Plane luma(n);
  for (std::size_t k = 0; k < n; ++k)
    luma[k] = 0.299f * p[k] + 0.587f * p[k + n] + 0.114f * p[k + 2 * n];
  return luma;
}

Plane blurred(const Plane& from, int h, int w, bool down) {
  Plane to(from.size());
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      to[static_cast<std::size_t>(y) * w + x] = five_taps([&](int d) {
        const int yy = down ? std::clamp(y + d, 0, h - 1) : y,
                  xx = down ? x : std::clamp(x + d, 0, w - 1);
        return from[static_cast<std::size_t>(yy) * w + xx];
      });
  return to;
}

}  // namespace

example::Picture photo_by_stages(const example::Picture& image) {
  const Plane luma = luma_of(image);
  const Plane blur = blurred(blurred(luma, image.h, image.w, false), image.h, image.w, true);
  Plane gain(luma.size());
  for (std::size_t k = 0; k < gain.size(); ++k) {
    const float sharp = luma[k] + 1.5f * (luma[k] - blur[k]);
    gain[k] = std::clamp(sharp / (luma[k] + 0.01f), 0.5f, 2.0f);
  }
  example::Picture out(image.h, image.w);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t k = 0; k < gain.size(); ++k) {
      const float graded = std::clamp(image.planes[c * gain.size() + k] * gain[k], 0.0f, 1.0f);
      out.planes[c * gain.size() + k] = graded * (1.6f - 0.6f * graded);
    }
  return out;
}

}  // namespace peers
