// Pictures for the photo example: read from a file, rendered, and written.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace example {

/// Red, green and blue, each h x w numbers from 0 to 1.
struct Picture {
  int h = 0, w = 0;
  std::vector<float> planes;

  Picture() = default;
  Picture(int h, int w) : h(h), w(w), planes(3 * static_cast<std::size_t>(h) * w) {}
  float& at(int c, int y, int x) { return planes[(static_cast<std::size_t>(c) * h + y) * w + x]; }
  float at(int c, int y, int x) const {
    return planes[(static_cast<std::size_t>(c) * h + y) * w + x];
  }
};

/// A PNG, JPEG or any other format that stb_image knows. Throws if it can't be read.
Picture read_picture(const std::string& path);
/// Hills in haze under an evening sky.
Picture rendered_scene(int h, int w);
/// A PNG with one picture beside the other. Throws if it can't be written.
void write_side_by_side(const std::string& path, const Picture& left, const Picture& right);

}  // namespace example
