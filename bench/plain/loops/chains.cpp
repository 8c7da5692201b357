// Chains of steps along rows, and attention.
#include <algorithm>
#include <cmath>
#include <vector>

#include "plain/loops/loops.hpp"

namespace bench::BENCH_LOOPS {

namespace {

float largest(const float* x, int n) {
  float most = x[0];
  for (int j = 1; j < n; ++j) most = std::max(most, x[j]);
  return most;
}

void softmax_row(const float* __restrict x, float* __restrict y, int n) {
  const float most = largest(x, n);
  float sum = 0;
  for (int j = 0; j < n; ++j) sum += y[j] = std::exp(x[j] - most);
  const float share = 1 / sum;
  for (int j = 0; j < n; ++j) y[j] *= share;
}

}  // namespace

void softmax(const float* x, float* y, int m, int n) {
  for (int i = 0; i < m; ++i) softmax_row(x + i * n, y + i * n, n);
}

void log_softmax(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n, y += n) {
    const float most = largest(x, n);
    float sum = 0;
    for (int j = 0; j < n; ++j) sum += std::exp(x[j] - most);
    const float less = most + std::log(sum);
    for (int j = 0; j < n; ++j) y[j] = x[j] - less;
  }
}

void layer_norm(const float* __restrict x, const float* __restrict gain,
                const float* __restrict bias, float* __restrict y, int m, int n) {
  const float share = 1.0f / static_cast<float>(n);
  for (int i = 0; i < m; ++i, x += n, y += n) {
    float sum = 0, squares = 0;
    for (int j = 0; j < n; ++j) sum += x[j];
    const float mean = sum * share;
    for (int j = 0; j < n; ++j) squares += (x[j] - mean) * (x[j] - mean);
    const float scale = 1 / std::sqrt(squares * share + 1e-5f);
    for (int j = 0; j < n; ++j) y[j] = (x[j] - mean) * scale * gain[j] + bias[j];
  }
}

void rms_norm(const float* __restrict x, const float* __restrict gain, float* __restrict y, int m,
              int n) {
  const float share = 1.0f / static_cast<float>(n);
  for (int i = 0; i < m; ++i, x += n, y += n) {
    float squares = 0;
    for (int j = 0; j < n; ++j) squares += x[j] * x[j];
    const float scale = 1 / std::sqrt(squares * share + 1e-5f);
    for (int j = 0; j < n; ++j) y[j] = x[j] * scale * gain[j];
  }
}

void unit_rows(const float* __restrict x, float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n, y += n) {
    float squares = 0;
    for (int j = 0; j < n; ++j) squares += x[j] * x[j];
    const float scale = 1 / std::sqrt(squares);
    for (int j = 0; j < n; ++j) y[j] = x[j] * scale;
  }
}

void cross_entropy(const float* __restrict x, const std::int32_t* __restrict at,
                   float* __restrict y, int m, int n) {
  for (int i = 0; i < m; ++i, x += n) {
    const float most = largest(x, n);
    float sum = 0;
    for (int j = 0; j < n; ++j) sum += std::exp(x[j] - most);
    y[i] = most + std::log(sum) - x[at[i]];
  }
}

void group_norm(const float* __restrict x, const float* __restrict gain, float* __restrict y,
                int groups, int channels, int n) {
  const int size = channels * n;
  const float share = 1.0f / static_cast<float>(size);
  for (int g = 0; g < groups; ++g, x += size, y += size, gain += channels) {
    float sum = 0, squares = 0;
    for (int j = 0; j < size; ++j) sum += x[j];
    const float mean = sum * share;
    for (int j = 0; j < size; ++j) squares += (x[j] - mean) * (x[j] - mean);
    const float scale = 1 / std::sqrt(squares * share + 1e-5f);
    for (int c = 0; c < channels; ++c)
      for (int j = 0; j < n; ++j) y[c * n + j] = (x[c * n + j] - mean) * (scale * gain[c]);
  }
}

void causal_softmax(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    softmax_row(x + i * n, y + i * n, i + 1);
    std::fill(y + i * n + i + 1, y + i * n + n, 0.0f);
  }
}

namespace {

/// Room for the scores of a query, and for what softmax makes of them.
struct Scores {
  std::vector<float> scores, shares;
  explicit Scores(int n) : scores(static_cast<std::size_t>(n)), shares(scores) {}
};

/// One query over n keys: y = softmax(q k') v.
void attend(const float* __restrict q, const float* __restrict k, const float* __restrict v,
            float* __restrict y, Scores& room, int n, int d) {
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  float* __restrict score = room.scores.data();
  const float* __restrict share = room.shares.data();
  for (int j = 0; j < n; ++j) {
    float sum = 0;
    for (int e = 0; e < d; ++e) sum += q[e] * k[j * d + e];
    score[j] = sum * scale;
  }
  softmax_row(score, room.shares.data(), n);
  std::fill(y, y + d, 0.0f);
  for (int j = 0; j < n; ++j)
    for (int e = 0; e < d; ++e) y[e] += share[j] * v[j * d + e];
}

}  // namespace

void attention(const float* q, const float* k, const float* v, float* y, int n, int d) {
  Scores room(n);
  for (int i = 0; i < n; ++i) attend(q + i * d, k, v, y + i * d, room, n, d);
}

void causal_attention(const float* q, const float* k, const float* v, float* y, int n, int d) {
  Scores room(n);
  for (int i = 0; i < n; ++i) attend(q + i * d, k, v, y + i * d, room, i + 1, d);
}

void attention_heads(const float* q, const float* k, const float* v, float* y, int h, int n,
                     int d) {
  for (int t = 0, at = 0; t < h; ++t, at += n * d) attention(q + at, k + at, v + at, y + at, n, d);
}

void one_query(const float* q, const float* k, const float* v, float* y, int h, int n, int d) {
  Scores room(n);
  for (int t = 0; t < h; ++t)
    attend(q + t * d, k + t * n * d, v + t * n * d, y + t * d, room, n, d);
}

void shared_heads(const float* q, const float* k, const float* v, float* y, int h, int n, int d) {
  for (int t = 0; t < h; ++t)
    attention(q + t * n * d, k + t / 4 * n * d, v + t / 4 * n * d, y + t * n * d, n, d);
}

// Heads are inside of tokens: n x h x d.
void scores(const float* __restrict q, const float* __restrict k, float* __restrict y, int n, int h,
            int d) {
  for (int t = 0; t < h; ++t)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        dot(q + (i * h + t) * d, k + (j * h + t) * d, y + (t * n + i) * n + j, d);
}

}  // namespace bench::BENCH_LOOPS
