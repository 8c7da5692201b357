// Products of matrices in tiles of registers.
#pragma once

#include "kernel.hpp"

namespace polybench {

/// Tiles of 8 x 24 sums in registers, on many threads; block `last`, if there is one, scales and
/// adds each tile as it is complete.
inline void tile(lt::Schedule& s, const char* name, const char* last = nullptr) {
  auto [i, j, k] = s.loops<3>(name);
  auto rows = s.split<2>(i, {lt::infer, 8});
  lt::LoopRef &io = rows[0], &ii = rows[1];
  auto [chunk, jo, ji] = s.split<3>(j, {lt::infer, 4, 24});
  s.reorder({chunk, io, jo, k, ii, ji});
  const lt::BlockRef store = s.cache_write(name, lt::Scope::local);
  s.reverse_compute_at(store, jo);
  if (last) {
    auto [i2, j2] = s.loops<2>(last);
    auto [io2, ii2] = s.split<2>(i2, {lt::infer, 8});
    auto [chunk2, jo2, ji2] = s.split<3>(j2, {lt::infer, 4, 24});
    s.reorder({chunk2, io2, jo2, ii2, ji2});
    s.merge(chunk, chunk2);
    io = s.merge(io, io2);
    s.merge(jo, jo2);
  }
  const lt::BlockRef zero = s.decompose_reduction(name, k);
  std::vector<lt::BlockRef> over_tile = {zero, store};
  if (last) over_tile.push_back(s.block(last));
  for (const lt::BlockRef& block : over_tile) {
    s.unroll(s.loops(block).rbegin()[1]);
    s.vectorize(s.loops(block).back());
  }
  s.vectorize(ji);
  s.unroll(ii);
  s.parallel(io);
}

}  // namespace polybench
