// The photo pipeline as a careful programmer writes it: strips of rows, with what two stages share
// kept in cache.
#include <vector>

#include "core/parallel.hpp"
#include "peers/plain_photo.hpp"

namespace bench {

namespace {

using Index = std::int64_t;
constexpr Index strip = 32;

struct Image {
  Index h, w;
  const float* in;
  float* out;
  const float* channel(int c, Index y) const { return in + (c * h + y) * w; }
  float* result(int c, Index y) const { return out + (c * h + y) * w; }
};

// A row of luma with two repeated elements on each side.
void luma_row(const Image& image, Index y, float* __restrict luma) {
  const float *r = image.channel(0, y), *g = image.channel(1, y), *b = image.channel(2, y);
  for (Index x = 0; x < image.w; ++x) luma[x + 2] = 0.299f * r[x] + 0.587f * g[x] + 0.114f * b[x];
  luma[0] = luma[1] = luma[2];
  luma[image.w + 2] = luma[image.w + 3] = luma[image.w + 1];
}

void blur_x_row(const float* __restrict luma, float* __restrict blur, Index w) {
  for (Index x = 0; x < w; ++x) {
    blur[x] =
        (luma[x] + luma[x + 4] + 4 * (luma[x + 1] + luma[x + 3]) + 6 * luma[x + 2]) * (1 / 16.0f);
  }
}

float limited(float x, float low, float high) { return x < low ? low : (x > high ? high : x); }

void final_row(const Image& image, Index y, const float* __restrict luma,
               const float* const rows[5], float* __restrict gain) {
  for (Index x = 0; x < image.w; ++x) {
    const float blur =
        (rows[0][x] + rows[4][x] + 4 * (rows[1][x] + rows[3][x]) + 6 * rows[2][x]) * (1 / 16.0f);
    const float sharp = luma[x] + 1.5f * (luma[x] - blur);
    gain[x] = limited(sharp / (luma[x] + 0.01f), 0.5f, 2.0f);
  }
  for (int c = 0; c < 3; ++c) {
    const float* __restrict from = image.channel(c, y);
    float* __restrict to = image.result(c, y);
    for (Index x = 0; x < image.w; ++x) {
      const float graded = limited(from[x] * gain[x], 0.0f, 1.0f);
      to[x] = graded * (1.6f - 0.6f * graded);
    }
  }
}

struct Scratch {
  std::vector<float> luma, blur, gain;
};

void run_strip(const Image& image, Scratch& scratch, Index begin, Index end) {
  const Index w = image.w, first = std::max<Index>(0, begin - 2), last = std::min(image.h, end + 2);
  const auto luma = [&](Index y) { return scratch.luma.data() + (y - first) * (w + 4); };
  const auto blur = [&](Index y) {
    return scratch.blur.data() + (std::min(std::max(y, first), last - 1) - first) * w;
  };
  for (Index y = first; y < last; ++y) {
    luma_row(image, y, luma(y));
    blur_x_row(luma(y), scratch.blur.data() + (y - first) * w, w);
  }
  for (Index y = begin; y < end; ++y) {
    const float* rows[5] = {blur(y - 2), blur(y - 1), blur(y), blur(y + 1), blur(y + 2)};
    final_row(image, y, luma(y) + 2, rows, scratch.gain.data());
  }
}

}  // namespace

std::function<void()> plain_photo_strips(const Photo& photo, const Job& job) {
  const Image image{photo.h, photo.w, job.in[0].data(), job.out.data()};
  return [image, threads = job.threads] {
    parallel_ranges(image.h, threads, strip, [&](Index begin, Index end) {
      thread_local Scratch scratch;
      constexpr Index rows = strip + 4;
      scratch.luma.resize(static_cast<std::size_t>(rows * (image.w + 4)));
      scratch.blur.resize(static_cast<std::size_t>(rows * image.w));
      scratch.gain.resize(static_cast<std::size_t>(image.w));
      for (Index y = begin; y < end; y += strip)
        run_strip(image, scratch, y, std::min(end, y + strip));
    });
  };
}

}  // namespace bench
