// Means of 2 x 2 pixels of a picture whose colours lie next to each other: a sum over two axes, an
// input with strides of its own, rounding.
#include <cstdint>
#include <lathe/lathe.hpp>

#include "common/check.hpp"

namespace lt = lathe;

int main() {
  // [axes]
  const int h = 4, w = 6;
  lt::Input<std::uint8_t, 3> image("image", {3, h, w}, lt::any_stride);  // colour, row, column
  lt::Reduce p("p", 2), q("q", 2);
  auto total = lt::compute("total", {3, h / 2, w / 2}, [&](lt::Var c, lt::Var y, lt::Var x) {
    return lt::sum(lt::cast<int>(image(c, y * 2 + p, x * 2 + q)), {p, q});
  });
  auto small = lt::compute("small", {3, h / 2, w / 2}, [&](lt::Var c, lt::Var y, lt::Var x) {
    return lt::cast<std::uint8_t>(lt::round(lt::cast<float>(total(c, y, x)) / 4.0f));
  });
  auto f = lt::jit(small, image, small);

  std::vector<std::uint8_t> pixels(h * w * 3), out(3 * (h / 2) * (w / 2));
  for (std::size_t k = 0; k < pixels.size(); ++k) pixels[k] = static_cast<std::uint8_t>(7 * k);
  // Row, column, colour in memory: 3 elements to the next column, 3 * w to the next row.
  const lt::View<const std::uint8_t, 3> colours(pixels.data(), {3, h, w}, {1, 3 * w, 3});
  f(colours, lt::view(out, {3, h / 2, w / 2}));
  // [axes]
  for (int c = 0; c < 3; ++c) {
    for (int k = 0; k < (h / 2) * (w / 2); ++k) std::printf("%4d", out[c * (h / 2) * (w / 2) + k]);
    std::puts("");
  }
}
