// The peer that everyone has: plain loops, compiled with -O3 -march=native and the vector
// mathematics of the C library. Also the reference that all results are compared with.
#include <cmath>
#include <cstring>

#include "core/parallel.hpp"
#include "core/peers.hpp"
#include "peers/plain_photo.hpp"

namespace bench {

namespace {

using Index = std::int64_t;

float gelu(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }

// Rows in groups of 4 and columns in strips that stay in the first-level cache; the compiler
// vectorises over j.
void gemm_rows(const Gemm& p, const float* a, const float* b, float* c, Index begin, Index end) {
  constexpr Index strip = 512, depth = 64;
  std::fill(c + begin * p.n, c + end * p.n, 0.0f);
  for (Index k0 = 0; k0 < p.k; k0 += depth) {
    const Index k1 = std::min(p.k, k0 + depth);
    for (Index j0 = 0; j0 < p.n; j0 += strip) {
      const Index width = std::min(strip, p.n - j0);
      for (Index i = begin; i < end; ++i) {
        float* __restrict row = c + i * p.n + j0;
        Index k = k0;
        for (; k + 4 <= k1; k += 4) {
          const float a0 = a[i * p.k + k], a1 = a[i * p.k + k + 1], a2 = a[i * p.k + k + 2],
                      a3 = a[i * p.k + k + 3];
          const float* __restrict b0 = b + k * p.n + j0;
          for (Index j = 0; j < width; ++j) {
            row[j] += a0 * b0[j] + a1 * b0[j + p.n] + a2 * b0[j + 2 * p.n] + a3 * b0[j + 3 * p.n];
          }
        }
        for (; k < k1; ++k) {
          const float a0 = a[i * p.k + k];
          for (Index j = 0; j < width; ++j) row[j] += a0 * b[k * p.n + j0 + j];
        }
      }
    }
  }
}

void bias_gelu_rows(const Gemm& p, const float* bias, float* c, Index begin, Index end) {
  for (Index i = begin; i < end; ++i) {
    float* __restrict row = c + i * p.n;
    for (Index j = 0; j < p.n; ++j) row[j] = gelu(row[j] + bias[j]);
  }
}

void run_gemm(const Gemm& p, const Job& job) {
  parallel_ranges(p.m, job.threads, 1, [&](Index begin, Index end) {
    gemm_rows(p, job.in[0].data(), job.in[1].data(), job.out.data(), begin, end);
    if (p.epilogue) bias_gelu_rows(p, job.in[2].data(), job.out.data(), begin, end);
  });
}

void map_range(const Elementwise& p, const Job& job, Index begin, Index end) {
  const float* __restrict a = job.in[0].data();
  float* __restrict y = job.out.data();
  switch (p.op) {
    case Elementwise::Op::copy:
      std::memcpy(y + begin, a + begin, static_cast<std::size_t>(end - begin) * sizeof(float));
      break;
    case Elementwise::Op::triad: {
      const float* __restrict b = job.in[1].data();
      for (Index i = begin; i < end; ++i) y[i] = a[i] + 0.5f * b[i];
      break;
    }
    case Elementwise::Op::exp:
      for (Index i = begin; i < end; ++i) y[i] = expf(a[i]);
      break;
    case Elementwise::Op::gelu:
      for (Index i = begin; i < end; ++i) y[i] = gelu(a[i]);
      break;
  }
}

void blur_row(const float* __restrict x, float* __restrict y, Index w) {
  const Index row = w + 2;
  for (Index j = 0; j < w; ++j) {
    const float* c = x + j;
    const float corners = c[0] + c[2] + c[2 * row] + c[2 * row + 2];
    const float edges = c[1] + c[row] + c[row + 2] + c[2 * row + 1];
    y[j] = corners * (1 / 16.0f) + edges * (2 / 16.0f) + c[row + 1] * (4 / 16.0f);
  }
}

void jacobi_row(const float* __restrict x, float* __restrict y, Index w) {
  const Index row = w + 2;
  for (Index j = 0; j < w; ++j) {
    const float* c = x + j;
    y[j] = 0.25f * (c[1] + c[row] + c[row + 2] + c[2 * row + 1]);
  }
}

void run_stencil(const Stencil& p, const Job& job) {
  const auto row = p.op == Stencil::Op::blur3x3 ? blur_row : jacobi_row;
  parallel_ranges(p.h, job.threads, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      row(job.in[0].data() + i * (p.w + 2), job.out.data() + i * p.w, p.w);
  });
}

std::vector<Competitor> make(const Job& job) {
  struct {
    const Job& job;
    std::function<void()> operator()(const Gemm& p) {
      return [p, j = job] { run_gemm(p, j); };
    }
    std::function<void()> operator()(const Elementwise& p) {
      return [p, j = job] {
        parallel_ranges(p.n, j.threads, share_elements,
                        [&](Index begin, Index end) { map_range(p, j, begin, end); });
      };
    }
    std::function<void()> operator()(const Stencil& p) {
      return [p, j = job] { run_stencil(p, j); };
    }
    std::function<void()> operator()(const Photo&) { return {}; }
    std::function<void()> operator()(const App&) { return {}; }
  } run{job};
  if (const auto* photo = std::get_if<Photo>(&job.what.problem)) {
    return {{"plain", plain_photo_stages(*photo, job)},
            {"plain strips", plain_photo_strips(*photo, job)}};
  }
  if (std::holds_alternative<App>(job.what.problem)) return {};
  const auto* gemm = std::get_if<Gemm>(&job.what.problem);
  if (gemm && gemm->transposed()) return {};
  return {{"plain", std::visit(run, job.what.problem)}};
}

}  // namespace

Peer plain_peer() { return {"plain", "", make}; }

}  // namespace bench
