#include "core/operands.hpp"

#include <cmath>
#include <cstdlib>
#include <new>

#include "apps/apps.hpp"

namespace bench {

namespace {

struct Shape {
  std::vector<std::int64_t> in;
  std::int64_t out;
};

Shape shape_of(const Gemm& p) { return {{p.m * p.k, p.k * p.n, p.n}, p.m * p.n}; }
Shape shape_of(const Elementwise& p) {
  if (p.op == Elementwise::Op::triad) return {{p.n, p.n}, p.n};
  return {{p.n}, p.n};
}
Shape shape_of(const Stencil& p) { return {{(p.h + 2) * (p.w + 2)}, p.h * p.w}; }
Shape shape_of(const Photo& p) { return {{3 * p.h * p.w}, 3 * p.h * p.w}; }
Shape shape_of(const App& p) {
  const AppShape shape = app_shape(p);
  return {{elements(shape.in)}, elements(shape.out)};
}

void fill(std::span<float> values, float low, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto unit = static_cast<float>(state >> 40) / static_cast<float>(1 << 24);
    value = low + (1 - low) * unit;
  }
}

// As pictures come: 256 levels, so that no rounding decides to which of few bins one belongs.
void quantize(std::span<float> values) {
  for (float& value : values) value = std::round(value * 255) / 255;
}

double tolerance(const Problem& problem) {
  if (const auto* app = std::get_if<App>(&problem)) return app_row(app->kind).tolerance;
  const auto* gemm = std::get_if<Gemm>(&problem);
  return gemm ? 1e-6 * static_cast<double>(gemm->k) + 1e-4 : 1e-4;
}

}  // namespace

void Buffer::Free::operator()(float* p) const { std::free(p); }

Buffer::Buffer(std::int64_t size, int number) : size_(size), offset_(272 * number) {
  constexpr std::size_t page = 4096;
  const std::size_t bytes =
      (static_cast<std::size_t>(size + offset_) * sizeof(float) / page + 1) * page;
  data_.reset(static_cast<float*>(std::aligned_alloc(page, bytes)));
  if (!data_) throw std::bad_alloc();
  for (float& value : span()) value = 0;
}

Operands make_operands(const Problem& problem) {
  const Shape shape = std::visit([](const auto& p) { return shape_of(p); }, problem);
  const bool app = std::holds_alternative<App>(problem);
  const float low = app || std::holds_alternative<Photo>(problem) ? 0.0f : -1.0f;
  Operands operands{{}, Buffer(shape.out, 0)};
  for (const std::int64_t size : shape.in) {
    operands.in.emplace_back(size, static_cast<int>(operands.in.size()) + 1);
    fill(operands.in.back().span(), low, operands.in.size());
    if (app) quantize(operands.in.back().span());
  }
  return operands;
}

Job make_job(const Case& what, Operands& operands, int threads, bool hand) {
  Job job{what, {}, operands.out.span(), threads, hand};
  for (Buffer& buffer : operands.in) job.in.emplace_back(buffer.span());
  return job;
}

std::optional<std::string> difference(const Problem& problem, std::span<const float> got,
                                      std::span<const float> want) {
  const double allowed = tolerance(problem);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double scale = std::max(1.0, std::abs(static_cast<double>(want[i])));
    if (std::abs(static_cast<double>(got[i]) - want[i]) <= allowed * scale) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", but should be " +
           std::to_string(want[i]);
  }
  return std::nullopt;
}

}  // namespace bench
