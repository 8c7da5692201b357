// OpenCV's functions for the programs of the suite `image`, with borders that repeat.
#include <map>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "core/peers.hpp"

namespace bench {

namespace {

using Pointers = std::vector<void*>;
using Sizes = std::vector<int>;

constexpr int border = cv::BORDER_REPLICATE;

/// An operation from one image to another.
using Operation = void (*)(const cv::Mat& x, cv::Mat& y);
/// The same with a second operand.
using BinaryOperation = void (*)(const cv::Mat& a, const cv::Mat& b, cv::Mat& y);

/// Of an image of h x w, whose result has as many pixels; `from`, `to`: OpenCV's types of both.
ImageFunction same_size(int from, int to, Operation run) {
  return [=](const Pointers& at, const Sizes& n) {
    cv::Mat y(n[0], n[1], to, at[1]);
    run(cv::Mat(n[0], n[1], from, at[0]), y);
  };
}

/// The result is up times larger than the image and down times smaller.
ImageFunction resized(int type, int up, int down, Operation run) {
  return [=](const Pointers& at, const Sizes& n) {
    cv::Mat y(n[0] * up, n[1] * up, type, at[1]);
    run(cv::Mat(n[0] * down, n[1] * down, type, at[0]), y);
  };
}

/// The image lies on its side.
ImageFunction turned(int type, Operation run) {
  return [=](const Pointers& at, const Sizes& n) {
    cv::Mat y(n[0], n[1], type, at[1]);
    run(cv::Mat(n[1], n[0], type, at[0]), y);
  };
}

ImageFunction binary(BinaryOperation run) {
  return [=](const Pointers& at, const Sizes& n) {
    cv::Mat y(n[0], n[1], CV_8UC1, at[2]);
    run(cv::Mat(n[0], n[1], CV_8UC1, at[0]), cv::Mat(n[0], n[1], CV_8UC1, at[1]), y);
  };
}

/// A filter with coefficients that are an operand, `rows` x `columns` of them.
ImageFunction filtered(int rows, int columns, BinaryOperation run) {
  return [=](const Pointers& at, const Sizes& n) {
    cv::Mat y(n[0], n[1], CV_32FC1, at[2]);
    run(cv::Mat(n[0], n[1], CV_32FC1, at[0]), cv::Mat(rows, columns, CV_32FC1, at[1]), y);
  };
}

void sharpen(const cv::Mat& x, cv::Mat& y) {
  cv::GaussianBlur(x, y, {5, 5}, 0, 0, border);
  cv::addWeighted(x, 2, y, -1, 0, y);
}

void dilate(const cv::Mat& x, cv::Mat& y) {
  cv::dilate(x, y, cv::Mat::ones(5, 5, CV_8U), {-1, -1}, 1, border);
}

void bilinear(const Pointers& at, const Sizes& n) {
  cv::Mat y(n[0], n[1], CV_32FC1, at[1]);
  cv::resize(cv::Mat(n[2], n[3], CV_32FC1, at[0]), y, y.size(), 0, 0, cv::INTER_LINEAR);
}

void sum_of_differences(const Pointers& at, const Sizes& n) {
  const cv::Mat a(n[0], n[1], CV_8UC1, at[0]), b(n[0], n[1], CV_8UC1, at[1]);
  *static_cast<std::int32_t*>(at[2]) = static_cast<std::int32_t>(cv::norm(a, b, cv::NORM_L1));
}

void extremes(const Pointers& at, const Sizes& n) {
  double least = 0, most = 0;
  cv::minMaxIdx(cv::Mat(n[0], n[1], CV_8UC1, at[0]), &least, &most);
  *static_cast<unsigned char*>(at[1]) = static_cast<unsigned char>(least);
  *static_cast<unsigned char*>(at[2]) = static_cast<unsigned char>(most);
}

std::map<std::string, ImageFunction> filters() {
  constexpr int gray = CV_8UC1, colours = CV_8UC3;
  const auto gaussian_5 = [](const cv::Mat& x, cv::Mat& y) {
    cv::GaussianBlur(x, y, {5, 5}, 0, 0, border);
  };
  return {
      {"gaussian 3x3 u8", same_size(gray, gray,
                                    [](const cv::Mat& x, cv::Mat& y) {
                                      cv::GaussianBlur(x, y, {3, 3}, 0, 0, border);
                                    })},
      {"gaussian 5x5 u8", same_size(gray, gray, gaussian_5)},
      {"gaussian 5x5 of colours u8", same_size(colours, colours, gaussian_5)},
      {"sobel of columns u8", same_size(gray, CV_16SC1,
                                        [](const cv::Mat& x, cv::Mat& y) {
                                          cv::Sobel(x, y, CV_16S, 1, 0, 3, 1, 0, border);
                                        })},
      {"laplacian u8", same_size(gray, CV_16SC1,
                                 [](const cv::Mat& x, cv::Mat& y) {
                                   cv::Laplacian(x, y, CV_16S, 1, 1, 0, border);
                                 })},
      {"box 5x5 u8", same_size(gray, gray,
                               [](const cv::Mat& x, cv::Mat& y) {
                                 cv::blur(x, y, {5, 5}, {-1, -1}, border);
                               })},
      {"median 3x3 u8",
       same_size(gray, gray, [](const cv::Mat& x, cv::Mat& y) { cv::medianBlur(x, y, 3); })},
      {"dilation 5x5 u8", same_size(gray, gray, dilate)},
      {"sharpened u8", same_size(gray, gray, sharpen)},
      {"filter 5x5", filtered(5, 5,
                              [](const cv::Mat& x, const cv::Mat& k, cv::Mat& y) {
                                cv::filter2D(x, y, CV_32F, k, {-1, -1}, 0, border);
                              })},
      {"separable 9x9", filtered(9, 1,
                                 [](const cv::Mat& x, const cv::Mat& k, cv::Mat& y) {
                                   cv::sepFilter2D(x, y, CV_32F, k, k, {-1, -1}, 0, border);
                                 })},
  };
}

/// A conversion of OpenCV's between kinds of colours.
template <int code>
void convert(const cv::Mat& x, cv::Mat& y) {
  cv::cvtColor(x, y, code);
}

std::map<std::string, ImageFunction> colours() {
  constexpr int gray = CV_8UC1, three = CV_8UC3, four = CV_8UC4;
  return {
      {"gray of RGB u8", same_size(three, gray, convert<cv::COLOR_RGB2GRAY>)},
      {"RGB to YCrCb u8", same_size(three, three, convert<cv::COLOR_RGB2YCrCb>)},
      {"RGBA by its alpha u8", same_size(four, four, convert<cv::COLOR_RGBA2mRGBA>)},
      {"in range of colours u8", same_size(three, gray,
                                           [](const cv::Mat& x, cv::Mat& y) {
                                             cv::inRange(x, cv::Scalar(40, 30, 20),
                                                         cv::Scalar(220, 200, 180), y);
                                           })},
      {"RGBA to RGB u8", same_size(four, three, convert<cv::COLOR_RGBA2RGB>)},
      {"RGB to BGR u8", same_size(three, three, convert<cv::COLOR_RGB2BGR>)},
      {"gray to RGB u8", same_size(gray, three, convert<cv::COLOR_GRAY2RGB>)},
      {"by a table u8",
       [](const Pointers& at, const Sizes& n) {
         cv::Mat y(n[0], n[1], gray, at[2]);
         cv::LUT(cv::Mat(n[0], n[1], gray, at[0]), cv::Mat(1, 256, gray, at[1]), y);
       }},
      {"blend u8", binary([](const cv::Mat& a, const cv::Mat& b, cv::Mat& y) {
         cv::addWeighted(a, 0.7, b, 0.3, 0, y);
       })},
      {"saturated sum u8",
       binary([](const cv::Mat& a, const cv::Mat& b, cv::Mat& y) { cv::add(a, b, y); })},
      {"absolute difference u8",
       binary([](const cv::Mat& a, const cv::Mat& b, cv::Mat& y) { cv::absdiff(a, b, y); })},
      {"contrast u8",
       same_size(gray, gray, [](const cv::Mat& x, cv::Mat& y) { x.convertTo(y, -1, 1.3, -20); })},
      {"sum of differences u8", sum_of_differences},
      {"least and most u8", extremes},
  };
}

std::map<std::string, ImageFunction> geometry() {
  constexpr int gray = CV_8UC1, three = CV_8UC3;
  const auto area = [](const cv::Mat& x, cv::Mat& y) {
    cv::resize(x, y, y.size(), 0, 0, cv::INTER_AREA);
  };
  return {
      {"half size u8", resized(gray, 1, 2, area)},
      {"half size of colours u8", resized(three, 1, 2, area)},
      {"pyramid down u8",
       resized(gray, 1, 2,
               [](const cv::Mat& x, cv::Mat& y) { cv::pyrDown(x, y, y.size(), border); })},
      {"double size u8", resized(gray, 2, 1,
                                 [](const cv::Mat& x, cv::Mat& y) {
                                   cv::resize(x, y, y.size(), 0, 0, cv::INTER_LINEAR);
                                 })},
      {"nearest of double size u8", resized(gray, 2, 1,
                                            [](const cv::Mat& x, cv::Mat& y) {
                                              cv::resize(x, y, y.size(), 0, 0, cv::INTER_NEAREST);
                                            })},
      {"bilinear", bilinear},
      {"flipped u8",
       same_size(gray, gray, [](const cv::Mat& x, cv::Mat& y) { cv::flip(x, y, 1); })},
      {"flipped colours u8",
       same_size(three, three, [](const cv::Mat& x, cv::Mat& y) { cv::flip(x, y, 1); })},
      {"quarter turn u8",
       turned(gray,
              [](const cv::Mat& x, cv::Mat& y) { cv::rotate(x, y, cv::ROTATE_90_CLOCKWISE); })},
      {"transposed colours u8",
       turned(three, [](const cv::Mat& x, cv::Mat& y) { cv::transpose(x, y); })},
  };
}

std::map<std::string, ImageFunction> all_functions() {
  std::map<std::string, ImageFunction> all = filters();
  all.merge(colours()), all.merge(geometry());
  return all;
}

ImageFunction image(const std::string& program) {
  static const std::map<std::string, ImageFunction> all = all_functions();
  cv::setNumThreads(1);
  const auto found = all.find(program);
  return found == all.end() ? ImageFunction() : found->second;
}

}  // namespace

Peer opencv_peer() { return {.name = "opencv", .missing = "", .image = image}; }

}  // namespace bench
