// What the Halide side of an application gives; its schedules have the structure of those that
// Halide publishes for CPUs.
#pragma once

#ifdef BENCH_HALIDE
#include <Halide.h>

#include "apps/apps.hpp"

namespace bench {

using HalideImage = Halide::Buffer<float>;
constexpr int halide_lanes = 16;

Halide::Func halide_harris(const HalideImage& in, const App& app, int threads);
Halide::Func halide_unsharp(const HalideImage& in, const App& app, int threads);
Halide::Func halide_max_filter(const HalideImage& in, const App& app, int threads);
Halide::Func halide_iir_blur(const HalideImage& in, const App& app, int threads);
Halide::Func halide_bilateral_grid(const HalideImage& in, const App& app, int threads);
Halide::Func halide_nl_means(const HalideImage& in, const App& app, int threads);
Halide::Func halide_local_laplacian(const HalideImage& in, const App& app, int threads);

Halide::Func halide_app(const HalideImage& in, const App& app, int threads);

inline void parallel_if(Halide::Func& f, const Halide::Var& loop, int threads) {
  if (threads > 1) f.parallel(loop);
}

}  // namespace bench
#endif
