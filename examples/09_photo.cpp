// A photo pipeline of seven stages in one pass over the picture: local contrast and a tone curve,
// on any PNG or JPEG. 09_photo [PICTURE [RESULT.png]]; without a picture it renders a scene. The
// result shows before and after.
#include <lathe/lathe.hpp>

#include "common/check.hpp"
#include "common/picture.hpp"
#include "peers/photo.hpp"

namespace lt = lathe;

struct Stages {
  lt::Tensor<float, 2> luma, blur_x, blur_y, sharp, gain;
  lt::Tensor<float, 3> graded, tone;
};

template <class At>
static auto five_taps(const At& at) {
  return (at(-2) + at(2) + (at(-1) + at(1)) * 4.0f + at(0) * 6.0f) * (1 / 16.0f);
}

// [photo]
static Stages describe(const lt::Input<float, 3>& image, int h, int w) {
  auto luma = lt::compute("luma", {h, w}, [&](lt::Var y, lt::Var x) {
    return image(0, y, x) * 0.299f + image(1, y, x) * 0.587f + image(2, y, x) * 0.114f;
  });
  auto blur_x = lt::compute("blur_x", {h, w}, [&](lt::Var y, lt::Var x) {
    return five_taps([&](int d) { return lt::clamp(luma)(y, x + d); });
  });
  auto blur_y = lt::compute("blur_y", {h, w}, [&](lt::Var y, lt::Var x) {
    return five_taps([&](int d) { return lt::clamp(blur_x)(y + d, x); });
  });
  auto sharp = lt::compute("sharp", {h, w}, [&](lt::Var y, lt::Var x) {
    return luma(y, x) + (luma(y, x) - blur_y(y, x)) * 1.5f;
  });
  auto gain = lt::compute("gain", {h, w}, [&](lt::Var y, lt::Var x) {
    return lt::clip(sharp(y, x) / (luma(y, x) + 0.01f), 0.5f, 2.0f);
  });
  auto graded = lt::compute("graded", {3, h, w}, [&](lt::Var c, lt::Var y, lt::Var x) {
    return lt::clip(image(c, y, x) * gain(y, x), 0.0f, 1.0f);
  });
  auto tone = lt::compute("tone", {3, h, w}, [&](lt::Var c, lt::Var y, lt::Var x) {
    return graded(c, y, x) * (1.6f - graded(c, y, x) * 0.6f);
  });
  return {luma, blur_x, blur_y, sharp, gain, graded, tone};
}
// [photo]

// [photo schedule]
// Strips of 32 rows. What is read once is computed in place, the rest once per strip, while the
// strip is in cache.
static lt::Schedule by_hand(const Stages& stages) {
  lt::Schedule s(stages.tone);
  s.compute_inline(stages.blur_y);
  s.compute_inline(stages.sharp);
  s.compute_inline(stages.graded);
  auto [c, y, x] = s.loops<3>(stages.tone);
  auto [yo, yi] = s.split<2>(y, {lt::infer, 32});
  auto [xo, xi] = s.split<2>(x, {lt::infer, 16});
  s.reorder({yo, yi, c, xo, xi});
  s.compute_at(stages.gain, yi);
  s.compute_at(stages.blur_x, yo);
  s.compute_at(stages.luma, yo);
  for (const auto& stage : {stages.gain, stages.blur_x, stages.luma})
    s.vectorize(s.split<2>(s.loops(stage).back(), {lt::infer, 16})[1]);
  s.vectorize(xi);
  s.parallel(yo);
  return s;
}
// [photo schedule]

int main(int argc, char** argv) {
  const example::Picture before =
      argc > 1 ? example::read_picture(argv[1]) : example::rendered_scene(427, 640);
  const int h = before.h, w = before.w;
  lt::Input<float, 3> image("image", {3, h, w});
  const Stages stages = describe(image, h, w);
  const lt::Schedule schedule = by_hand(stages);
  lt::Context one_thread({.threads = 1});
  auto develop = lt::jit(schedule, image, stages.tone);
  auto develop_alone = lt::jit({schedule, {.context = &one_thread}}, image, stages.tone);

  example::Picture after(h, w);
  const auto from = lt::view(before.planes, {3, h, w});
  const auto to = lt::view(after.planes, {3, h, w});
  develop(from, to);
  std::printf("%d x %d pixels\n", w, h);
  peers::PhotoByStages by_stages;
  example::expect_close("Lathe against plain C++", after.planes, by_stages.run(before).planes,
                        1e-5);
  const char* path = argc > 2 ? argv[2] : "photo.png";
  example::write_side_by_side(path, before, after);
  std::printf("wrote %s\n", path);

  const auto ms = example::best_ms({[&] { by_stages.run(before); },
                                    [&] { develop_alone(from, to); }, [&] { develop(from, to); }});
  std::printf("one thread: stage by stage %.2f ms, in one pass %.2f ms: %.1fx\n", ms[0], ms[1],
              ms[0] / ms[1]);
  std::printf("all threads: in one pass %.2f ms\n", ms[2]);
}
