#include "apps/lathe_app.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

struct Dense {
  std::vector<std::int64_t> extents, strides;
  explicit Dense(std::vector<std::int64_t> all) : extents(std::move(all)), strides(extents.size()) {
    std::int64_t stride = 1;
    for (std::size_t d = extents.size(); d-- > 0; stride *= extents[d]) strides[d] = stride;
  }
  lt::AnyView view(const float* data, bool read_only) const {
    lt::AnyView out(lt::View<float, 1>(const_cast<float*>(data), {1}));
    out.rank = static_cast<int>(extents.size());
    out.extents = extents.data();
    out.strides = strides.data();
    out.read_only = read_only;
    return out;
  }
};

}  // namespace

LatheApp make_lathe_app(const App& app, int threads) {
  // In the order of App::Kind.
  constexpr MakeLatheApp all[] = {lathe_harris,         lathe_unsharp,        lathe_max_filter,
                                  lathe_iir_blur,       lathe_bilateral_grid, lathe_nl_means,
                                  lathe_local_laplacian};
  return all[static_cast<std::size_t>(app.kind)](app, threads);
}

void call_app(const lt::AnyKernel& kernel, const App& app, std::span<const float> in,
              std::span<float> out) {
  const AppShape shape = app_shape(app);
  const Dense from(shape.in), to(shape.out);
  const lt::AnyView args[] = {from.view(in.data(), true), to.view(out.data(), false)};
  kernel(args);
}

Run lathe_app(const App& app, const Job& job, lt::Context& context) {
  const LatheApp made = make_lathe_app(app, job.threads);
  const lt::JitOptions options{.context = &context};
  // A Program gets Lathe's own schedule, a Schedule none.
  const lt::AnyKernel kernel = job.hand ? lt::jit_any({made.hand, options}, {})
                                        : lt::jit_any({made.plain.program(), options}, {});
  return [=, in = job.in[0], out = job.out] { call_app(kernel, app, in, out); };
}

}  // namespace bench
#endif
