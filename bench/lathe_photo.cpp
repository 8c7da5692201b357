// The photo pipeline as a user of Lathe writes it.
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <optional>

namespace bench {

namespace {

using Plane = lt::Tensor<float, 2>;

struct Stages {
  Plane luma, blur_x, blur_y, sharp, gain;
  lt::Tensor<float, 3> graded, tone;
};

template <class F>
auto five_taps(const F& at) {
  return (at(-2) + at(2) + (at(-1) + at(1)) * 4.0f + at(0) * 6.0f) * (1 / 16.0f);
}

Stages describe(const Photo& p, const lt::Input<float, 3>& image) {
  const auto luma = lt::compute("luma", {p.h, p.w}, [&](lt::Var y, lt::Var x) {
    return image(0, y, x) * 0.299f + image(1, y, x) * 0.587f + image(2, y, x) * 0.114f;
  });
  const auto blur_x = lt::compute("blur_x", {p.h, p.w}, [&](lt::Var y, lt::Var x) {
    return five_taps([&](int d) { return lt::clamp(luma)(y, x + d); });
  });
  const auto blur_y = lt::compute("blur_y", {p.h, p.w}, [&](lt::Var y, lt::Var x) {
    return five_taps([&](int d) { return lt::clamp(blur_x)(y + d, x); });
  });
  const auto sharp = lt::compute("sharp", {p.h, p.w}, [&](lt::Var y, lt::Var x) {
    return luma(y, x) + (luma(y, x) - blur_y(y, x)) * 1.5f;
  });
  const auto gain = lt::compute("gain", {p.h, p.w}, [&](lt::Var y, lt::Var x) {
    return lt::clip(sharp(y, x) / (luma(y, x) + 0.01f), 0.5f, 2.0f);
  });
  const auto graded = lt::compute("graded", {3, p.h, p.w}, [&](lt::Var c, lt::Var y, lt::Var x) {
    return lt::clip(image(c, y, x) * gain(y, x), 0.0f, 1.0f);
  });
  const auto tone = lt::compute("tone", {3, p.h, p.w}, [&](lt::Var c, lt::Var y, lt::Var x) {
    return graded(c, y, x) * (1.6f - graded(c, y, x) * 0.6f);
  });
  return {luma, blur_x, blur_y, sharp, gain, graded, tone};
}

// About 32 rows, as many strips for each thread.
std::int64_t strip_rows(std::int64_t height, int threads) {
  const std::int64_t rounds = (height + 32 * threads - 1) / (32 * threads);
  return (height + rounds * threads - 1) / (rounds * threads);
}

// Strips; within a strip what is read once is computed in place, the rest once per strip. A result
// that fills the caches goes past them.
lt::Schedule hand_schedule(const Stages& stages, std::int64_t rows, bool past_caches) {
  lt::Schedule s(stages.tone);
  for (const lt::AnyTensor& stage :
       {lt::AnyTensor(stages.blur_y), lt::AnyTensor(stages.sharp), lt::AnyTensor(stages.graded)}) {
    s.compute_inline(stage);
  }
  auto [c, y, x] = s.loops<3>(stages.tone);
  auto [yo, yi] = s.split(y, {lt::infer, rows});
  auto [xo, xi] = s.split(x, {lt::infer, 16});
  s.reorder({yo, yi, c, xo, xi});
  s.compute_at(stages.gain, yi);
  s.compute_at(stages.blur_x, yo);
  s.compute_at(stages.luma, yo);
  for (const Plane& stage : {stages.gain, stages.blur_x, stages.luma}) {
    auto [outer, inner] = s.split(s.loops(stage).back(), {lt::infer, 16});
    (void)outer;
    s.vectorize(inner);
  }
  s.vectorize(xi);
  if (past_caches) s.annotate(s.block(stages.tone), "stream", 1);
  s.parallel(yo);
  return s;
}

}  // namespace

Run lathe_photo(const Photo& p, const Job& job, lt::Context& context) {
  lt::Input<float, 3> image("image", {3, p.h, p.w});
  const Stages stages = describe(p, image);
  std::optional<lt::Schedule> schedule;
  const std::int64_t result_bytes = 3 * p.h * p.w * static_cast<std::int64_t>(sizeof(float));
  if (job.hand)
    schedule =
        hand_schedule(stages, strip_rows(p.h, job.threads), result_bytes > lt::host().l3_bytes / 4);
  const auto from = lt::view(job.in[0], {3, p.h, p.w});
  const auto to = lt::view(job.out, {3, p.h, p.w});
  return [=, f = compile(stages.tone, schedule, context, image, stages.tone)] { f(from, to); };
}

}  // namespace bench
#endif
