// The photo pipeline as it is first written down: each stage a loop over the whole picture.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/parallel.hpp"
#include "peers/plain_photo.hpp"

namespace bench {

namespace {

using Index = std::int64_t;

struct Planes {
  Planes(const Photo& photo, const Job& job)
      : h(photo.h), w(photo.w), image(job.in[0].data()), tone(job.out.data()) {
    for (auto* plane : {&luma, &blur_x, &blur_y, &sharp, &gain})
      plane->resize(static_cast<std::size_t>(h * w));
    graded.resize(static_cast<std::size_t>(3 * h * w));
  }
  Index h, w;
  const float* image;
  float* tone;
  std::vector<float> luma, blur_x, blur_y, sharp, gain, graded;
};

Index clamped(Index i, Index extent) { return std::clamp<Index>(i, 0, extent - 1); }

float five_taps(float a, float b, float c, float d, float e) {
  return (a + e + 4.0f * (b + d) + 6.0f * c) * (1 / 16.0f);
}

// Every stage is a function of one row.
void luma_row(Planes& p, Index y) {
  const float *r = p.image + y * p.w, *g = r + p.h * p.w, *b = g + p.h * p.w;
  float* to = p.luma.data() + y * p.w;
  for (Index x = 0; x < p.w; ++x) to[x] = 0.299f * r[x] + 0.587f * g[x] + 0.114f * b[x];
}

void blur_x_row(Planes& p, Index y) {
  const float* from = p.luma.data() + y * p.w;
  float* to = p.blur_x.data() + y * p.w;
  const auto at_border = [&](Index x) {
    const auto at = [&](Index d) { return from[clamped(x + d, p.w)]; };
    to[x] = five_taps(at(-2), at(-1), at(0), at(1), at(2));
  };
  const Index left = std::min<Index>(2, p.w), right = std::max(left, p.w - 2);
  for (Index x = 0; x < left; ++x) at_border(x);
  for (Index x = left; x < right; ++x)
    to[x] = five_taps(from[x - 2], from[x - 1], from[x], from[x + 1], from[x + 2]);
  for (Index x = right; x < p.w; ++x) at_border(x);
}

void blur_y_row(Planes& p, Index y) {
  const auto row = [&](Index d) { return p.blur_x.data() + clamped(y + d, p.h) * p.w; };
  const float *a = row(-2), *b = row(-1), *c = row(0), *d = row(1), *e = row(2);
  float* to = p.blur_y.data() + y * p.w;
  for (Index x = 0; x < p.w; ++x) to[x] = five_taps(a[x], b[x], c[x], d[x], e[x]);
}

void sharp_row(Planes& p, Index y) {
  const float *luma = p.luma.data() + y * p.w, *blur = p.blur_y.data() + y * p.w;
  float* to = p.sharp.data() + y * p.w;
  for (Index x = 0; x < p.w; ++x) to[x] = luma[x] + 1.5f * (luma[x] - blur[x]);
}

void gain_row(Planes& p, Index y) {
  const float *luma = p.luma.data() + y * p.w, *sharp = p.sharp.data() + y * p.w;
  float* to = p.gain.data() + y * p.w;
  for (Index x = 0; x < p.w; ++x) {
    const float gain = sharp[x] / (luma[x] + 0.01f);
    to[x] = gain < 0.5f ? 0.5f : (gain > 2.0f ? 2.0f : gain);
  }
}

void graded_row(Planes& p, Index y) {
  const float* gain = p.gain.data() + y * p.w;
  for (Index c = 0; c < 3; ++c) {
    const float* from = p.image + (c * p.h + y) * p.w;
    float* to = p.graded.data() + (c * p.h + y) * p.w;
    for (Index x = 0; x < p.w; ++x) {
      const float v = from[x] * gain[x];
      to[x] = v < 0.0f ? 0.0f : (v > 1.0f ? 1.0f : v);
    }
  }
}

void tone_row(Planes& p, Index y) {
  for (Index c = 0; c < 3; ++c) {
    const float* from = p.graded.data() + (c * p.h + y) * p.w;
    float* to = p.tone + (c * p.h + y) * p.w;
    for (Index x = 0; x < p.w; ++x) to[x] = from[x] * (1.6f - 0.6f * from[x]);
  }
}

}  // namespace

std::function<void()> plain_photo_stages(const Photo& photo, const Job& job) {
  const auto planes = std::make_shared<Planes>(photo, job);
  return [planes, threads = job.threads] {
    for (const auto stage :
         {luma_row, blur_x_row, blur_y_row, sharp_row, gain_row, graded_row, tone_row}) {
      parallel_ranges(planes->h, threads, 1, [&](Index begin, Index end) {
        for (Index y = begin; y < end; ++y) stage(*planes, y);
      });
    }
  };
}

}  // namespace bench
