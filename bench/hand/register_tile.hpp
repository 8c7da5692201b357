// The schedule of a product whose tile stays in registers.
#pragma once

#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

/// C(i, j) sums f32 over one axis: `rows` rows of so many vectors in registers, `steps` terms of
/// the sum written out.
inline void register_tile(lt::Schedule& s, const lt::Tensor<float, 2>& C, int rows, int vectors,
                          int steps) {
  auto [i, j, q] = s.loops<3>(C);
  auto [io, ii] = s.split<2>(i, {lt::infer, rows});
  auto [jo, ji] = s.split<2>(j, {lt::infer, vectors * lt::host().lanes(4)});
  auto [qo, qi] = s.split<2>(q, {lt::infer, steps});
  s.reorder({io, jo, qo, qi, ii, ji});
  const lt::BlockRef out = s.cache_write(C, lt::Scope::local);
  s.reverse_compute_at(out, jo);
  s.decompose_reduction(C, qo);
  s.unroll(qi), s.unroll(ii), s.vectorize(ji);
}

}  // namespace bench
#endif
