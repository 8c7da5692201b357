#include <array>

#include "apps/apps.hpp"
#include "core/draw.hpp"
#include "suites/suites.hpp"

namespace bench {

namespace {

double size(std::int64_t elements) { return 4.0 * static_cast<double>(elements); }

Case gemm_case(const Gemm& p) {
  std::string name = std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
  if (p.epilogue) name += "+bias+gelu";
  if (p.packed) name += " packed";
  if (p.transposed())
    name += std::string(p.a_transposed ? " T" : " N") + (p.b_transposed ? "T" : "N");
  const double flops =
      2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  return {"gemm", name, p, flops, size(p.m * p.k + p.k * p.n + p.m * p.n + (p.epilogue ? p.n : 0))};
}

}  // namespace

std::vector<Case> gemm_cases() {
  std::vector<Case> cases;
  for (const std::int64_t n : {64, 128, 256, 509, 512, 1021, 1024, 2048}) {
    cases.push_back(gemm_case({n, n, n, false, false}));
  }
  const std::int64_t bert[][2] = {{768, 768}, {3072, 768}, {768, 3072}};
  for (const auto& [n, k] : bert) {
    for (const bool epilogue : {false, true}) {
      for (const bool packed : {false, true})
        cases.push_back(gemm_case({128, n, k, epilogue, packed}));
    }
  }
  const std::pair<bool, bool> transposed[] = {{false, true}, {true, false}, {true, true}};
  for (const std::int64_t n : {64, 256, 509, 1024})
    for (const auto& [a, b] : transposed) cases.push_back(gemm_case({n, n, n, false, false, a, b}));
  for (const std::int64_t m : {1, 16, 128})
    for (const auto& [n, k] : bert)
      cases.push_back(gemm_case({m, n, k, false, false, false, true}));
  // LLaMA-7B's layers, and BERT's with other numbers of rows.
  const std::int64_t llama[][2] = {{4096, 4096}, {11008, 4096}, {4096, 11008}};
  for (const std::int64_t m : {1, 16, 128, 512}) {
    if (m != 128)
      for (const auto& [n, k] : bert) cases.push_back(gemm_case({m, n, k, false, false}));
    for (const auto& [n, k] : llama) cases.push_back(gemm_case({m, n, k, false, false}));
  }
  return cases;
}

// Products that fit the first caches: powers of two, a batch's matrices of 6 rows, vectors, and
// extents drawn from 1 to 64.
std::vector<Case> small_cases(unsigned seed) {
  constexpr int drawn = 24;
  std::vector<Gemm> sizes;
  for (const std::int64_t n : {1, 2, 4, 6, 8, 16, 32, 64}) sizes.push_back({n, n, n, false, false});
  for (const auto& [m, n, k] : {std::array{1, 64, 64}, {64, 1, 64}, {64, 64, 1}, {3, 3, 64}})
    sizes.push_back({m, n, k, false, false});
  Draw draw(seed, "small");
  for (int i = 0; i < drawn; ++i) {
    const int m = draw.from(1, 64), n = draw.from(1, 64), k = draw.from(1, 64);
    sizes.push_back({m, n, k, false, false});
  }
  std::vector<Case> cases;
  for (const Gemm& p : sizes) {
    cases.push_back(gemm_case(p));
    cases.back().suite = "small", cases.back().seed = seed;
  }
  return cases;
}

std::vector<Case> elementwise_cases() {
  using Op = Elementwise::Op;
  const std::pair<Op, const char*> ops[] = {
      {Op::copy, "copy"}, {Op::triad, "triad"}, {Op::exp, "exp"}, {Op::gelu, "gelu"}};
  const std::pair<std::int64_t, const char*> sizes[] = {{std::int64_t{1} << 12, "4K"},
                                                        {std::int64_t{1} << 16, "64K"},
                                                        {std::int64_t{1} << 20, "1M"},
                                                        {std::int64_t{1} << 24, "16M"}};
  std::vector<Case> cases;
  for (const auto& [op, op_name] : ops) {
    for (const auto& [n, size_name] : sizes) {
      const bool triad = op == Op::triad;
      const double flops = triad ? 2.0 * static_cast<double>(n) : 0.0;
      cases.push_back({"elementwise", std::string(op_name) + " " + size_name, Elementwise{op, n},
                       flops, size((triad ? 3 : 2) * n)});
    }
  }
  return cases;
}

std::vector<Case> stencil_cases() {
  using Op = Stencil::Op;
  std::vector<Case> cases;
  for (const auto& [op, name, flops] :
       {std::tuple{Op::blur3x3, "blur 3x3", 17.0}, {Op::jacobi, "jacobi", 4.0}}) {
    for (const std::int64_t n : {std::int64_t{256}, std::int64_t{1000}, std::int64_t{4096}}) {
      cases.push_back(
          {"stencil", std::string(name) + " " + std::to_string(n) + "x" + std::to_string(n),
           Stencil{op, n, n}, flops * static_cast<double>(n * n), size((n + 2) * (n + 2) + n * n)});
    }
  }
  return cases;
}

std::vector<Case> photo_cases() {
  constexpr double flops_per_pixel = 5 + 9 + 9 + 3 + 4 + 3 * 6;
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{480, 640}, {1080, 1920}, {3000, 4000}};
  std::vector<Case> cases;
  for (const auto& [h, w] : sizes) {
    cases.push_back({"photo", "local contrast " + std::to_string(w) + "x" + std::to_string(h),
                     Photo{h, w}, flops_per_pixel * static_cast<double>(h * w), size(6 * h * w)});
  }
  return cases;
}

std::vector<Case> apps_cases() {
  std::vector<Case> cases;
  for (const AppRow& row : app_rows()) {
    const AppShape shape = row.shape(row.h, row.w);
    cases.push_back(
        {"apps", std::string(row.name) + " " + std::to_string(row.w) + "x" + std::to_string(row.h),
         App{row.kind, row.h, row.w}, row.operations * static_cast<double>(row.h * row.w),
         size(elements(shape.in) + elements(shape.out))});
  }
  return cases;
}

std::vector<Case> cases_of(const std::string& suite, unsigned seed) {
  if (suite == "small") return small_cases(seed);
  if (suite == "gemm") return gemm_cases();
  if (suite == "elementwise") return elementwise_cases();
  if (suite == "stencil") return stencil_cases();
  if (suite == "photo") return photo_cases();
  if (suite == "apps") return apps_cases();
  return {};
}

}  // namespace bench
