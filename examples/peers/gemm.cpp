#include "gemm.hpp"

#include <dlfcn.h>

#include <Eigen/Core>
#include <cmath>

#include "openblas_copy.hpp"

namespace peers {

namespace {

// With -ffast-math the inner loop is vector code.
void bias_gelu(const Gemm& p) {
  for (int i = 0; i < p.m; ++i) {
    float* __restrict row = p.c + static_cast<std::ptrdiff_t>(i) * p.n;
    for (int j = 0; j < p.n; ++j) {
      const float x = row[j] + p.bias[j];
      row[j] = 0.5f * x * (1 + erff(x * 0.70710678f));
    }
  }
}

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void eigen_product(const Gemm& p) {
  Eigen::Map<Matrix> c(p.c, p.m, p.n);
  c.noalias() = Eigen::Map<const Matrix>(p.a, p.m, p.k) * Eigen::Map<const Matrix>(p.b, p.k, p.n);
}

std::string openblas_path() {
  void* library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
  void* function = library ? dlsym(library, "cblas_sgemm") : nullptr;
  Dl_info info{};
  return function && dladdr(function, &info) ? info.dli_fname : "";
}

void add_openblas(std::vector<Peer>& all, const std::string& path, const char* core) {
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  void* library = load_openblas_copy(path, core).handle;
  if (!library) return;
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  const auto set_threads =
      reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  if (!sgemm || !set_threads) return;
  set_threads(1);
  constexpr int row_major = 101, as_it_is = 111;
  all.push_back({"OpenBLAS", [=](const Gemm& p) {
                   sgemm(row_major, as_it_is, as_it_is, p.m, p.n, p.k, 1, p.a, p.k, p.b, p.n, 0,
                         p.c, p.n);
                   bias_gelu(p);
                 }});
}

}  // namespace

std::vector<Peer> gemm_peers() {
  std::vector<Peer> all = {{"Eigen", [](const Gemm& p) {
                              eigen_product(p);
                              bias_gelu(p);
                            }}};
  const std::string path = openblas_path();
  if (path.empty()) return all;
#ifdef __AVX512F__
  for (const char* core : {"Zen", "SkylakeX", "Cooperlake"}) add_openblas(all, path, core);
#else
  add_openblas(all, path, "");
#endif
  return all;
}

}  // namespace peers
