// OpenBLAS, once per core type.
#include <dlfcn.h>

#include <stdexcept>

#include "core/peers.hpp"
#include "examples/peers/openblas_copy.hpp"

namespace bench {

std::vector<Competitor> bias_gelu_after(const std::vector<Competitor>& gemm,
                                        const Job& job);  // plain_epilogue.cpp

namespace {

using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                       const float* a, int lda, const float* b, int ldb, float beta, float* c,
                       int ldc);
using Dgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                       const double* a, int lda, const double* b, int ldb, double beta, double* c,
                       int ldc);
constexpr int row_major = 101, no_trans = 111, trans = 112;

struct Library {
  std::string core;
  Sgemm sgemm;
  Dgemm dgemm;
  void (*set_threads)(int);
};

template <class F>
F symbol(void* library, const char* name) {
  if (void* found = dlsym(library, name)) return reinterpret_cast<F>(found);
  throw std::runtime_error(std::string("has no ") + name);
}

Library load(const std::string& core) {
  const auto [library, error] = peers::load_openblas_copy(BENCH_OPENBLAS_FILE, core);
  if (!library) throw std::runtime_error(error);
  const std::string name = symbol<char* (*)()>(library, "openblas_get_corename")();
  return {name, symbol<Sgemm>(library, "cblas_sgemm"), symbol<Dgemm>(library, "cblas_dgemm"),
          symbol<void (*)(int)>(library, "openblas_set_num_threads")};
}

std::vector<Library> load_all() {
  std::vector<Library> libraries;
#ifdef __x86_64__
  std::vector<std::string> cores = {"Haswell"};
  if (__builtin_cpu_supports("avx512f")) cores = {"Zen", "SkylakeX", "Cooperlake"};
#else
  const std::vector<std::string> cores = {""};
#endif
  for (const std::string& core : cores) {
    Library library = load(core);
    // An unknown name falls back to another type, which is there already.
    bool known = false;
    for (const Library& other : libraries) known |= other.core == library.core;
    if (!known) libraries.push_back(std::move(library));
  }
  return libraries;
}

const std::vector<Library>& libraries() {
  static const std::vector<Library> all = load_all();
  return all;
}

std::vector<Competitor> make(const Job& job) {
  const auto* p = std::get_if<Gemm>(&job.what.problem);
  if (!p) return {};
  std::vector<Competitor> all;
  for (const Library& library : libraries()) {
    const auto run = [&library, p = *p, job] {
      const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
      library.set_threads(job.threads);
      library.sgemm(row_major, p.a_transposed ? trans : no_trans, p.b_transposed ? trans : no_trans,
                    m, n, k, 1, job.in[0].data(), p.a_transposed ? m : k, job.in[1].data(),
                    p.b_transposed ? k : n, 0, job.out.data(), n);
    };
    all.push_back({"openblas " + library.core, run});
  }
  return p->epilogue ? bias_gelu_after(all, job) : all;
}

std::vector<Competitor> products(const ProductJob& job) {
  if (job.what.types != ProductTypes::f64) return {};
  std::vector<Competitor> all;
  for (const Library& library : libraries()) {
    const auto run = [&library, job] {
      const int m = static_cast<int>(job.what.m), n = static_cast<int>(job.what.n),
                k = static_cast<int>(job.what.k);
      library.set_threads(1);
      library.dgemm(row_major, no_trans, no_trans, m, n, k, 1, static_cast<const double*>(job.a), k,
                    static_cast<const double*>(job.b), n, 0, static_cast<double*>(job.c), n);
    };
    all.push_back({"openblas " + library.core, run});
  }
  return all;
}

}  // namespace

Peer openblas_peer() {
  return {.name = "openblas", .missing = "", .make = make, .products = products};
}

}  // namespace bench
