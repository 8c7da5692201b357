// How primitives of oneDNN 2 become competitors. Whoever includes it has included oneDNN.
#pragma once

#include <string>
#include <unordered_map>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/case.hpp"
#include "peers/onednn_types.hpp"

namespace {

/// oneDNN looks at the number of threads both when it chooses a kernel and when it runs it.
inline void use_threads([[maybe_unused]] int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
}

inline dnnl::memory::desc dense(const dnnl::memory::dims& dims) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (std::size_t d = dims.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * dims[d];
  return {dims, dnnl::memory::data_type::f32, strides};
}

/// Over the last axis.
inline dnnl::softmax_forward::primitive_desc softmax_of(const dnnl::memory::desc& layout) {
  return {{dnnl::prop_kind::forward_inference, layout, static_cast<int>(layout.dims().size()) - 1},
          engine()};
}

inline dnnl::memory wrap(const dnnl::memory::desc& desc, const void* data) {
  return dnnl::memory(desc, engine(), const_cast<void*>(data));
}

inline bench::Competitor competitor(dnnl::primitive primitive,
                                    std::unordered_map<int, dnnl::memory> arguments, int threads) {
  return {"onednn", [primitive, arguments, threads, stream = dnnl::stream(engine())]() mutable {
            use_threads(threads);
            primitive.execute(stream, arguments);
            stream.wait();
          }};
}

inline void copy(const dnnl::memory& from, const dnnl::memory& to) {
  dnnl::stream stream(engine());
  dnnl::reorder(from, to).execute(stream, const_cast<dnnl::memory&>(from),
                                  const_cast<dnnl::memory&>(to));
  stream.wait();
}

/// In the layout that a primitive takes.
inline dnnl::memory packed(const dnnl::memory& what, const dnnl::memory::desc& layout) {
  if (layout == what.get_desc()) return what;
  dnnl::memory out(layout, engine());
  copy(what, out);
  return out;
}

}  // namespace
