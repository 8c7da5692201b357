// The programs of the suite `image` as plain loops, compiled with -O3 -march=native -ffast-math.
// Pointers are in the order of the programs' parameters, sizes behind them; images are row-major,
// of h rows and w columns, colours side by side. What lies beyond a border repeats it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bench::loops {

using u8 = std::uint8_t;
using i16 = std::int16_t;

inline u8 saturated(int value) { return static_cast<u8>(std::clamp(value, 0, 255)); }

// Filters.
void gaussian_3x3(const u8* x, u8* y, int h, int w);
void gaussian_5x5(const u8* x, u8* y, int h, int w);
void gaussian_5x5_colours(const u8* x, u8* y, int h, int w);
void sobel_x(const u8* x, i16* y, int h, int w);
void edges(const u8* x, u8* y, int h, int w);
void laplacian(const u8* x, i16* y, int h, int w);
void box_5x5(const u8* x, u8* y, int h, int w);
void median_3x3(const u8* x, u8* y, int h, int w);
void dilation_5x5(const u8* x, u8* y, int h, int w);
void sharpened(const u8* x, u8* y, int h, int w);
void filter_5x5(const float* x, const float* k, float* y, int h, int w);
void separable_9(const float* x, const float* k, float* y, int h, int w);
void local_threshold(const u8* x, u8* y, int h, int w);

// Colours and single pixels.
void gray_image(const u8* x, u8* y, int h, int w);
void luma_chroma(const u8* x, u8* y, int h, int w);
void premultiplied(const u8* x, u8* y, int h, int w);
void in_range(const u8* x, u8* y, int h, int w);
void drop_alpha(const u8* x, u8* y, int h, int w);
void swap_red_blue(const u8* x, u8* y, int h, int w);
void gray_to_colours(const u8* x, u8* y, int h, int w);
void by_table(const u8* x, const u8* table, u8* y, int h, int w);
void blend(const u8* a, const u8* b, u8* y, int h, int w);
void saturated_sum(const u8* a, const u8* b, u8* y, int h, int w);
void absolute_difference(const u8* a, const u8* b, u8* y, int h, int w);
void contrast(const u8* x, u8* y, int h, int w);
void sum_of_differences(const u8* a, const u8* b, std::int32_t* y, int h, int w);
void extremes(const u8* x, u8* least, u8* most, int h, int w);
void normalised(const u8* x, const float* mean, const float* scale, float* y, int h, int w);
// Of crops: behind each row of x lie so many elements that are none of it.
constexpr int kCropGap = 96;
void gray_crop(const u8* x, u8* y, int h, int w);
void brighter_crop(const u8* x, u8* y, int h, int w);
void to_planes(const u8* x, float* y, int h, int w);

// Other sizes and places. h and w are the result's, unless it is said.
void half_size(const u8* x, u8* y, int h, int w);
void half_size_colours(const u8* x, u8* y, int h, int w);
void pyramid_down(const u8* x, u8* y, int h, int w);
void double_size(const u8* x, u8* y, int h, int w);     // of the source
void nearest_double(const u8* x, u8* y, int h, int w);  // of the source
void bilinear(const float* x, float* y, int h, int w, int from_h, int from_w);
void turned_about(const float* x, float* y, int h, int w);
void flipped(const u8* x, u8* y, int h, int w);
void flipped_colours(const u8* x, u8* y, int h, int w);
void quarter_turn(const u8* x, u8* y, int h, int w);
void transposed_colours(const u8* x, u8* y, int h, int w);
void mosaic_to_colours(const u8* x, u8* y, int h, int w);  // of half the size

}  // namespace bench::loops
