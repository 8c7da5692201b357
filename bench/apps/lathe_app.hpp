// What the Lathe side of an application gives: the computation, and a schedule of it by hand.
#pragma once

#include "apps/apps.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

struct LatheApp {
  lt::Schedule plain, hand;
};

/// What a hand-written schedule depends on beside the extents.
using MakeLatheApp = LatheApp (*)(const App& app, int threads);
LatheApp lathe_harris(const App& app, int threads);
LatheApp lathe_unsharp(const App& app, int threads);
LatheApp lathe_max_filter(const App& app, int threads);
LatheApp lathe_iir_blur(const App& app, int threads);
LatheApp lathe_bilateral_grid(const App& app, int threads);
LatheApp lathe_nl_means(const App& app, int threads);
LatheApp lathe_local_laplacian(const App& app, int threads);

LatheApp make_lathe_app(const App& app, int threads);

/// Calls a kernel of one image to another.
void call_app(const lt::AnyKernel& kernel, const App& app, std::span<const float> in,
              std::span<float> out);

/// The block's last loop becomes lanes of this width, with a masked tail.
inline void lanes(lt::Schedule& s, const lt::BlockName& block, std::int64_t width) {
  s.vectorize(s.split<2>(s.loops(block).back(), {lt::infer, width})[1]);
}

}  // namespace bench
#endif
