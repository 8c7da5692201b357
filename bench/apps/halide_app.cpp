#include "apps/halide_app.hpp"

#ifdef BENCH_HALIDE
namespace bench {

Halide::Func halide_app(const HalideImage& in, const App& app, int threads) {
  // In the order of App::Kind.
  constexpr decltype(&halide_app) all[] = {
      halide_harris,         halide_unsharp,  halide_max_filter,     halide_iir_blur,
      halide_bilateral_grid, halide_nl_means, halide_local_laplacian};
  return all[static_cast<std::size_t>(app.kind)](in, app, threads);
}

}  // namespace bench
#endif
