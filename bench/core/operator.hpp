// Single operators of neural networks, over batches of f32: what they compute, as data.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/extents.hpp"

namespace bench {

/// Images N…C of one to three axes, padded with zeros, by weights K…(C / groups)F.
struct Convolution {
  enum class Kind : std::uint8_t {
    plain,
    depthwise,   ///< a filter for each channel; weights have one axis for both
    transposed,  ///< `stride` is that of the result
    capsule,     ///< elements are matrices of 4 x 4, which weights multiply from the right
    bias_relu,   ///< max(result + bias, 0)
  };
  Kind kind = Kind::plain;
  std::vector<int> image;  ///< extents of the axes
  int channels = 1, filters = 1, kernel = 1, stride = 1, pad = 0, dilation = 1, groups = 1;

  /// The result's extent along an axis of the image.
  int result(int extent) const {
    if (kind == Kind::transposed) return (extent - 1) * stride - 2 * pad + kernel;
    return (extent + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  }
};
constexpr int capsule_side = 4;

/// C[b,n,m] = A[b,n,k] * B[b,k,m].
struct BatchedProduct {
  int n, m, k;
};

/// y[b]: the root of the sum of the squares of a matrix.
struct Norm {
  int n, m;
};

/// Of rows; a batch has so many more of them.
struct Softmax {
  int n, m;
};

/// S[b,h,i,j]: row i of head h of Q by row j of K, both [b,length,heads,width]; with softmax, over
/// the rows of S.
struct Scores {
  int length, heads, width;
  bool softmax;
};

/// O[b,i,h]: the mean of the rows V[b,j,g] by weights exp(Q[b,i,h] K[b,j,g] / sqrt(width)), where
/// heads / groups heads share group g; all [b,places,heads or groups,width]. `causal`: without the
/// places j after that of i, of which the last is the last one.
struct Attention {
  int queries, length, heads, groups, width;
  bool causal = false;
};

/// Y = f(N(X) W + bias), X[rows,inputs]: N scales rows by their deviation, and has a gain and a
/// shift, which come after X; f is GELU. Without them both leave what they get.
struct Linear {
  int rows, inputs, outputs;
  bool norm = false, gelu = false;
};

/// Y = (silu(X A) (X B)) C, X[rows,width] (SwiGLU).
struct GatedUnit {
  int rows, width, inner;
};

/// Rows over the root of their mean square, times a gain; `centred`: less their mean first, and
/// with a shift.
struct RowNorm {
  int rows, width;
  bool centred;
};
constexpr float norm_epsilon = 1e-5f;

/// X[b,i,h,k] and X[b,i,h,k + width / 2], rotated by an angle of which [i,k] of two tables have
/// the cosine and the sine (RoPE).
struct Rotation {
  int length, heads, width;
};

using OperatorProblem = std::variant<Convolution, BatchedProduct, Norm, Softmax, Scores, Attention,
                                     Linear, GatedUnit, RowNorm, Rotation>;

/// As names of operators have them.
std::string sizes_of(const OperatorProblem& problem);

struct Operator {
  std::string family, name;
  int batch;
  OperatorProblem problem;
};

/// Of the arrays of an operator, row-major: inputs in the order of its formula, weights and bias
/// last.
struct OperatorShapes {
  std::vector<Extents> in;
  Extents out;
};
OperatorShapes shapes_of(const Operator& what);

/// Multiplications and additions; functions of the C library count as one.
double flops_of(const Operator& what);

/// An operator with its memory, which all competitors share. Weights, and the bias, never change,
/// so a competitor may bring them into any layout before the clock starts.
struct OperatorJob {
  const Operator& what;
  std::vector<const float*> in;
  float* out;
  int threads;
};

}  // namespace bench
