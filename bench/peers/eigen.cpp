// Eigen, with its expressions as the manual writes them; a product uses Eigen's own threads.
#include <Eigen/Core>
#include <cmath>
#include <numeric>
#include <unsupported/Eigen/SpecialFunctions>

#include "core/parallel.hpp"
#include "core/peers.hpp"

namespace bench {

namespace {

using Index = std::int64_t;
template <class T>
using MatrixOf = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ReadMap = Eigen::Map<const MatrixOf<float>>;
using WriteMap = Eigen::Map<MatrixOf<float>>;
using ReadArray = Eigen::Map<const Eigen::ArrayXf>;
using WriteArray = Eigen::Map<Eigen::ArrayXf>;

template <class X>
auto gelu(const X& x) {
  return 0.5f * x * (1 + (x * 0.70710678f).erf());
}

void run_gemm(const Gemm& p, const Job& job) {
  Eigen::setNbThreads(job.threads);
  WriteMap c(job.out.data(), p.m, p.n);
  const float *a = job.in[0].data(), *b = job.in[1].data();
  if (!p.transposed())
    c.noalias() = ReadMap(a, p.m, p.k) * ReadMap(b, p.k, p.n);
  else if (!p.b_transposed)
    c.noalias() = ReadMap(a, p.k, p.m).transpose() * ReadMap(b, p.k, p.n);
  else if (!p.a_transposed)
    c.noalias() = ReadMap(a, p.m, p.k) * ReadMap(b, p.n, p.k).transpose();
  else
    c.noalias() = ReadMap(a, p.k, p.m).transpose() * ReadMap(b, p.n, p.k).transpose();
  if (!p.epilogue) return;
  const ReadArray bias(job.in[2].data(), p.n);
  parallel_ranges(p.m, job.threads, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      WriteArray row(job.out.data() + i * p.n, p.n);
      row += bias;
      row = gelu(row);
    }
  });
}

void run_map(const Elementwise& p, const Job& job) {
  parallel_ranges(p.n, job.threads, share_elements, [&](Index begin, Index end) {
    const Index n = end - begin;
    const ReadArray a(job.in[0].data() + begin, n);
    WriteArray y(job.out.data() + begin, n);
    switch (p.op) {
      case Elementwise::Op::copy:
        y = a;
        break;
      case Elementwise::Op::triad:
        y = a + 0.5f * ReadArray(job.in[1].data() + begin, n);
        break;
      case Elementwise::Op::exp:
        y = a.exp();
        break;
      case Elementwise::Op::gelu:
        y = gelu(a);
        break;
    }
  });
}

void run_stencil(const Stencil& p, const Job& job) {
  const ReadMap x(job.in[0].data(), p.h + 2, p.w + 2);
  parallel_ranges(p.h, job.threads, 1, [&](Index begin, Index end) {
    const Index n = end - begin;
    const auto at = [&](Index di, Index dj) { return x.block(begin + di, dj, n, p.w); };
    WriteMap y(job.out.data() + begin * p.w, n, p.w);
    if (p.op == Stencil::Op::jacobi) {
      y = 0.25f * (at(0, 1) + at(1, 0) + at(1, 2) + at(2, 1));
    } else {
      y = (1 / 16.0f) * (at(0, 0) + at(0, 2) + at(2, 0) + at(2, 2)) +
          (2 / 16.0f) * (at(0, 1) + at(1, 0) + at(1, 2) + at(2, 1)) + (4 / 16.0f) * at(1, 1);
    }
  });
}

std::vector<Competitor> make(const Job& job) {
  std::function<void()> run;
  if (const auto* gemm = std::get_if<Gemm>(&job.what.problem)) {
    run = [p = *gemm, job] { run_gemm(p, job); };
  } else if (const auto* map = std::get_if<Elementwise>(&job.what.problem)) {
    run = [p = *map, job] { run_map(p, job); };
  } else if (const auto* stencil = std::get_if<Stencil>(&job.what.problem)) {
    run = [p = *stencil, job] { run_stencil(p, job); };
  } else {
    return {};
  }
  return {{"eigen", run}};
}

// Its other types have products with results of the same type only.
std::vector<Competitor> products(const ProductJob& job) {
  if (job.what.types != ProductTypes::f64) return {};
  return {{"eigen", [job] {
             const Product& p = job.what;
             using Read = Eigen::Map<const MatrixOf<double>>;
             Eigen::setNbThreads(1);
             Eigen::Map<MatrixOf<double>> c(static_cast<double*>(job.c), p.m, p.n);
             c.noalias() = Read(static_cast<const double*>(job.a), p.m, p.k) *
                           Read(static_cast<const double*>(job.b), p.k, p.n);
           }}};
}

/// Each thread adds the squares of a part of each matrix, and the first one adds the parts.
void run_norm(const Norm& p, const OperatorJob& job) {
  const Index size = Index{p.n} * p.m, parts = job.threads;
  std::vector<double> sums(static_cast<std::size_t>(job.what.batch * parts));
  parallel_ranges(job.what.batch * parts, job.threads, 1, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const Index from = k % parts * size / parts, to = (k % parts + 1) * size / parts;
      sums[static_cast<std::size_t>(k)] =
          ReadArray(job.in[0] + k / parts * size + from, to - from).matrix().squaredNorm();
    }
  });
  for (Index b = 0; b < job.what.batch; ++b)
    job.out[b] = std::sqrt(static_cast<float>(
        std::accumulate(sums.begin() + b * parts, sums.begin() + (b + 1) * parts, 0.0)));
}

void run_row_norm(const RowNorm& p, const OperatorJob& job) {
  const ReadArray gain(job.in[1], p.width), shift(job.in.back(), p.width);
  parallel_ranges(Index{job.what.batch} * p.rows, job.threads, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const ReadArray x(job.in[0] + i * p.width, p.width);
      WriteArray y(job.out + i * p.width, p.width);
      const float mean = p.centred ? x.mean() : 0.0f;
      const float scale = 1 / std::sqrt((x - mean).square().mean() + norm_epsilon);
      if (p.centred)
        y = (x - mean) * (scale * gain) + shift;
      else
        y = x * (scale * gain);
    }
  });
}

void run_rotation(const Rotation& p, const OperatorJob& job) {
  const Index half = p.width / 2, rows = Index{job.what.batch} * p.length;
  parallel_ranges(rows, job.threads, 1, [&](Index begin, Index end) {
    for (Index k = begin * p.heads; k < end * p.heads; ++k) {
      const Index angle = k / p.heads % p.length * half;
      const ReadArray cosines(job.in[1] + angle, half), sines(job.in[2] + angle, half),
          a(job.in[0] + k * p.width, half), b(job.in[0] + k * p.width + half, half);
      WriteArray(job.out + k * p.width, half) = a * cosines - b * sines;
      WriteArray(job.out + k * p.width + half, half) = b * cosines + a * sines;
    }
  });
}

std::vector<Competitor> operators(const OperatorJob& job) {
  std::function<void()> run;
  if (const auto* norm = std::get_if<Norm>(&job.what.problem))
    run = [p = *norm, job] { run_norm(p, job); };
  else if (const auto* rows = std::get_if<RowNorm>(&job.what.problem))
    run = [p = *rows, job] { run_row_norm(p, job); };
  else if (const auto* rotation = std::get_if<Rotation>(&job.what.problem))
    run = [p = *rotation, job] { run_rotation(p, job); };
  if (!run) return {};
  return {{"eigen", run}};
}

}  // namespace

Peer eigen_peer() { return {"eigen", "", make, nullptr, "Eigen/Dense", products, operators}; }

}  // namespace bench
