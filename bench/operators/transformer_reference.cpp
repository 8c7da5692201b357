#include "operators/transformer_reference.hpp"

#include <cmath>

namespace bench {

namespace {

using Index = std::int64_t;
using Inputs = std::vector<const float*>;

double dot(Index n, const float* a, const float* b, Index step = 1) {
  double sum = 0;
  for (Index k = 0; k < n; ++k) sum += double{a[k]} * b[k * step];
  return sum;
}

struct Deviation {
  double mean = 0, scale = 1;

  Deviation(const float* row, Index n, bool centred) {
    double sum = 0, squares = 0;
    for (Index k = 0; centred && k < n; ++k) sum += row[k];
    mean = sum / static_cast<double>(n);
    for (Index k = 0; k < n; ++k) squares += (row[k] - mean) * (row[k] - mean);
    scale = 1 / std::sqrt(squares / static_cast<double>(n) + norm_epsilon);
  }
};

double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu(double x) { return x * (1 + std::erf(x * std::sqrt(0.5))) / 2; }

}  // namespace

double value(const Attention& p, const Inputs& in, Index element) {
  const Index column = element % p.width, head = element / p.width % p.heads,
              row = element / p.width / p.heads, batch = row / p.queries, i = row % p.queries;
  const Index group = head / (p.heads / p.groups);
  const auto at = [&](const float* from, Index j) {
    return from + ((batch * p.length + j) * p.groups + group) * p.width;
  };
  const float* query = in[0] + (row * p.heads + head) * p.width;
  double sum = 0, weights = 0;
  for (Index j = 0; j < (p.causal ? p.length - p.queries + i + 1 : p.length); ++j) {
    const double weight = std::exp(dot(p.width, query, at(in[1], j)) / std::sqrt(p.width));
    weights += weight, sum += weight * at(in[2], j)[column];
  }
  return sum / weights;
}

double value(const Linear& p, const Inputs& in, Index element) {
  const Index column = element % p.outputs, row = element / p.outputs;
  const std::size_t last = in.size() - 1;
  const float *x = in[0] + row * p.inputs, *weights = in[last - 1] + column;
  double sum = in[last][column];
  if (p.norm) {
    const Deviation d(x, p.inputs, true);
    for (Index k = 0; k < p.inputs; ++k)
      sum += ((x[k] - d.mean) * d.scale * in[1][k] + in[2][k]) * weights[k * p.outputs];
  } else {
    sum += dot(p.inputs, x, weights, p.outputs);
  }
  return p.gelu ? gelu(sum) : sum;
}

double value(const GatedUnit& p, const Inputs& in, Index element) {
  const Index column = element % p.width, row = element / p.width;
  const float* x = in[0] + row * p.width;
  double sum = 0;
  for (Index j = 0; j < p.inner; ++j)
    sum += silu(dot(p.width, x, in[1] + j, p.inner)) * dot(p.width, x, in[2] + j, p.inner) *
           in[3][j * p.width + column];
  return sum;
}

double value(const RowNorm& p, const Inputs& in, Index element) {
  const Index column = element % p.width;
  const Deviation d(in[0] + element - column, p.width, p.centred);
  const double scaled = (in[0][element] - d.mean) * d.scale * in[1][column];
  return p.centred ? scaled + in[2][column] : scaled;
}

double value(const Rotation& p, const Inputs& in, Index element) {
  const Index half = p.width / 2, k = element % p.width, i = element / p.width / p.heads % p.length,
              angle = i * half + k % half;
  const double x = in[0][element], cosine = in[1][angle], sine = in[2][angle];
  return k < half ? x * cosine - in[0][element + half] * sine
                  : x * cosine + in[0][element - half] * sine;
}

}  // namespace bench
