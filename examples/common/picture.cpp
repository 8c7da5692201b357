#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

namespace example {

Picture read_picture(const std::string& path) {
  int w = 0, h = 0, channels = 0;
  unsigned char* bytes = stbi_load(path.c_str(), &w, &h, &channels, 3);
  if (!bytes) throw std::runtime_error(path + ": " + stbi_failure_reason());
  Picture picture(h, w);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        picture.at(c, y, x) =
            static_cast<float>(bytes[(static_cast<std::size_t>(y) * w + x) * 3 + c]) / 255;
  stbi_image_free(bytes);
  return picture;
}

namespace {

struct Colour {
  float r, g, b;
};

Colour mix(Colour a, Colour b, float t) {
  return {a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

// Numbers from 0 to 1 that look random, and change with every lattice point.
float lattice(int x, int y) {
  unsigned bits = static_cast<unsigned>(x) * 374761393u + static_cast<unsigned>(y) * 668265263u;
  bits = (bits ^ (bits >> 13)) * 1274126177u;
  return static_cast<float>((bits ^ (bits >> 16)) & 0xffff) / 65535;
}

float noise(float x, float y) {
  const float fx = std::floor(x), fy = std::floor(y);
  const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
  const float u = x - fx, v = y - fy, s = u * u * (3 - 2 * u), t = v * v * (3 - 2 * v);
  const float top = lattice(ix, iy) * (1 - s) + lattice(ix + 1, iy) * s;
  const float bottom = lattice(ix, iy + 1) * (1 - s) + lattice(ix + 1, iy + 1) * s;
  return top * (1 - t) + bottom * t;
}

// Coarse noise with finer and fainter noise on top.
float texture(float x, float y) {
  return 0.5f * noise(x, y) + 0.25f * noise(2 * x, 2 * y) + 0.15f * noise(5 * x, 5 * y) +
         0.1f * noise(11 * x, 11 * y);
}

// x and y from 0 to 1, y downwards.
Colour scene_at(float x, float y) {
  const float sun = std::exp(-60 * ((x - 0.7f) * (x - 0.7f) + (y - 0.3f) * (y - 0.3f)));
  const float cloud = std::max(0.0f, texture(6 * x, 14 * y) - 0.5f);
  Colour colour = mix({0.35f, 0.45f, 0.65f}, {0.85f, 0.65f, 0.5f}, std::min(1.0f, 1.4f * y));
  colour = mix(colour, {0.95f, 0.9f, 0.85f}, cloud * 1.5f);
  colour = mix(colour, {1, 0.95f, 0.8f}, sun);
  for (int hill = 0; hill < 4; ++hill) {
    const float k = static_cast<float>(hill);
    const float crest =
        0.42f + 0.13f * k - 0.16f * noise(2.5f * x + 9 * k, 3 * k) - 0.03f * noise(14 * x, 5 + k);
    if (y < crest) continue;
    const float grain = texture(40 * x + 7 * k, 60 * y);
    const Colour near = mix({0.12f, 0.2f, 0.1f}, {0.34f, 0.38f, 0.2f}, grain);
    colour = mix({0.62f, 0.6f, 0.62f}, near, 0.25f + 0.23f * k);
  }
  return colour;
}

}  // namespace

Picture rendered_scene(int h, int w) {
  Picture picture(h, w);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const Colour colour = scene_at(static_cast<float>(x) / static_cast<float>(w),
                                     static_cast<float>(y) / static_cast<float>(h));
      picture.at(0, y, x) = colour.r;
      picture.at(1, y, x) = colour.g;
      picture.at(2, y, x) = colour.b;
    }
  return picture;
}

void write_side_by_side(const std::string& path, const Picture& left, const Picture& right) {
  const int w = left.w + right.w, h = std::min(left.h, right.h);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(h) * w * 3);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      for (int c = 0; c < 3; ++c) {
        const float value = x < left.w ? left.at(c, y, x) : right.at(c, y, x - left.w);
        bytes[(static_cast<std::size_t>(y) * w + x) * 3 + c] =
            static_cast<unsigned char>(value * 255 + 0.5f);
      }
  if (!stbi_write_png(path.c_str(), w, h, 3, bytes.data(), 3 * w))
    throw std::runtime_error("can't write " + path);
}

}  // namespace example
