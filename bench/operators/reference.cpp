// Operators element by element, in f64: formulas without regard to speed.
#include <algorithm>
#include <array>
#include <cmath>

#include "operators/memory.hpp"
#include "operators/transformer_reference.hpp"

namespace bench {

namespace {

using Index = std::int64_t;
using Inputs = std::vector<const float*>;
using Kind = Convolution::Kind;

/// Takes the position along the last axis, of `extent`, off a position of all axes.
Index take_last(Index& position, Index extent) {
  const Index last = position % extent;
  position /= extent;
  return last;
}

/// Three axes: those that an image lacks have one pixel, and kernels one tap.
struct Axes {
  explicit Axes(const Convolution& p) : p_(p) {
    const std::size_t missing = 3 - p.image.size();
    for (std::size_t axis = missing; axis < 3; ++axis) {
      real[axis] = true, in[axis] = p.image[axis - missing];
      out[axis] = p.result(p.image[axis - missing]), taps[axis] = p.kernel;
    }
  }
  /// The pixel that a tap reads for a result; -1 if it is none.
  Index source(std::size_t axis, Index result, Index tap) const {
    if (!real[axis]) return 0;
    Index at = result * p_.stride + tap * p_.dilation - p_.pad;
    if (p_.kind == Kind::transposed) {
      at = result + p_.pad - tap;
      if (at % p_.stride != 0) return -1;
      at /= p_.stride;
    }
    return at >= 0 && at < in[axis] ? at : -1;
  }
  std::array<bool, 3> real{};
  std::array<Index, 3> in{1, 1, 1}, out{1, 1, 1}, taps{1, 1, 1};

 private:
  const Convolution& p_;
};

/// A result: which filter, and of capsules which row and column.
struct Place {
  Index filter, row = 0, column = 0;
};

/// The sum over the channels of a pixel times the weights of a tap.
double sum_of_channels(const Convolution& p, const Inputs& in, Index pixel, Index tap,
                       const Place& to) {
  const Index side = p.kind == Kind::capsule ? capsule_side : 1, channels = p.channels / p.groups;
  const Index first = to.filter / (p.filters / p.groups) * channels;
  double sum = 0;
  for (Index m = 0; m < side; ++m) {
    const float* x = in[0] + ((pixel * side + to.row) * side + m) * p.channels;
    const float* weights = in[1] + ((tap * side + m) * side + to.column) * channels * p.filters;
    for (Index c = 0; c < channels; ++c)
      sum += double{x[first + c]} * weights[c * p.filters + to.filter];
  }
  return sum;
}

double value(const Convolution& p, const Inputs& in, Index element) {
  const Axes axes(p);
  Place to{take_last(element, p.filters)};
  if (p.kind == Kind::capsule)
    to.column = take_last(element, capsule_side), to.row = take_last(element, capsule_side);
  std::array<Index, 3> at{};
  for (std::size_t axis = 3; axis-- > 0;) at[axis] = take_last(element, axes.out[axis]);
  double sum = 0;
  const Index all_taps = axes.taps[0] * axes.taps[1] * axes.taps[2];
  for (Index tap = 0; tap < all_taps; ++tap) {
    const Index tall = tap / axes.taps[2];
    const Index z = axes.source(0, at[0], tall / axes.taps[1]),
                i = axes.source(1, at[1], tall % axes.taps[1]),
                j = axes.source(2, at[2], tap % axes.taps[2]);
    if (z < 0 || i < 0 || j < 0) continue;
    const Index pixel = ((element * axes.in[0] + z) * axes.in[1] + i) * axes.in[2] + j;
    sum += sum_of_channels(p, in, pixel, tap, to);
  }
  return p.kind == Kind::bias_relu ? std::max(sum + in[2][to.filter], 0.0) : sum;
}

double value(const BatchedProduct& p, const Inputs& in, Index element) {
  const Index column = take_last(element, p.m), row = take_last(element, p.n);
  const float *a = in[0] + (element * p.n + row) * p.k, *b = in[1] + element * p.k * p.m + column;
  double sum = 0;
  for (Index r = 0; r < p.k; ++r) sum += double{a[r]} * b[r * p.m];
  return sum;
}

double value(const Norm& p, const Inputs& in, Index element) {
  const Index size = Index{p.n} * p.m;
  double sum = 0;
  for (Index k = 0; k < size; ++k)
    sum += double{in[0][element * size + k]} * in[0][element * size + k];
  return std::sqrt(sum);
}

/// Inputs are small enough for exponentials without a largest one to subtract.
template <class Row>
double softmax(Index size, Index at, const Row& row) {
  double sum = 0;
  for (Index j = 0; j < size; ++j) sum += std::exp(row(j));
  return std::exp(row(at)) / sum;
}

double value(const Softmax& p, const Inputs& in, Index element) {
  const Index column = take_last(element, p.m);
  return softmax(p.m, column, [&](Index j) { return double{in[0][element * p.m + j]}; });
}

double value(const Scores& p, const Inputs& in, Index element) {
  const Index column = take_last(element, p.length), row = take_last(element, p.length),
              head = take_last(element, p.heads);
  const auto at = [&](const float* from, Index position) {
    return from + ((element * p.length + position) * p.heads + head) * p.width;
  };
  const auto score = [&](Index j) {
    double sum = 0;
    for (Index r = 0; r < p.width; ++r) sum += double{at(in[0], row)[r]} * at(in[1], j)[r];
    return sum;
  };
  return p.softmax ? softmax(p.length, column, score) : score(column);
}

}  // namespace

double value_of(const Operator& what, const Inputs& in, Index element) {
  return std::visit([&](const auto& p) { return value(p, in, element); }, what.problem);
}

}  // namespace bench
