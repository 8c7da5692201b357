// Products of small numbers that tests tensorize.
#pragma once

#include <lathe/dsl/dsl.hpp>
#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/schedule/core/schedule.hpp>

namespace test {

/// C = A·B in a wider type.
template <class X, class Y, class Sum>
struct NarrowGemm {
  lathe::Input<X, 2> A;
  lathe::Input<Y, 2> B;
  lathe::Reduce r;
  lathe::Tensor<Sum, 2> C;

  NarrowGemm(lathe::Extent m, lathe::Extent n, lathe::Extent k)
      : A("A", {m, k}),
        B("B", {k, n}),
        r("r", k),
        C(lathe::compute("C", {m, n}, [&](lathe::Var i, lathe::Var j) {
          return lathe::sum(lathe::cast<Sum>(A(i, r)) * lathe::cast<Sum>(B(r, j)), r);
        })) {}
};
using ByteGemm = NarrowGemm<std::uint8_t, std::int8_t, std::int32_t>;
using HalfGemm = NarrowGemm<lathe::bf16, lathe::bf16, float>;

struct Tile {
  lathe::Schedule s;
  lathe::LoopRef i, jo, ro, jj, rr;
};

/// B in rows of 16 columns by `group` values of r; the tile innermost, its init apart.
template <class Gemm>
Tile packed_tile(const Gemm& k, int group) {
  lathe::Schedule s(k.C);
  auto [i, j, r] = s.template loops<3>(k.C);
  lathe::BlockRef b = s.cache_read(k.C, k.B, lathe::Scope::global);
  s.transform_layout(b, [&](lathe::Index at, lathe::Index column) {
    return lathe::layout(at / group, column / 16, (column % 16) * group + at % group);
  });
  auto [jo, jj] = s.split(j, {lathe::infer, 16});
  auto [ro, rr] = s.split(r, {lathe::infer, group});
  s.reorder({i, jo, ro, jj, rr});
  s.decompose_reduction(k.C, ro);
  return {s, i, jo, ro, jj, rr};
}

/// The same with 4 × 32 sums in registers, threads over rows.
template <class Gemm>
lathe::Schedule register_tile(const Gemm& k, int group, const char* intrinsic) {
  lathe::Schedule s(k.C);
  auto [i, j, r] = s.template loops<3>(k.C);
  lathe::BlockRef out = s.cache_write(k.C, lathe::Scope::local);
  lathe::BlockRef b = s.cache_read(k.C, k.B, lathe::Scope::global);
  s.transform_layout(b, [&](lathe::Index at, lathe::Index column) {
    return lathe::layout(column / 16, at / group, column % 16, at % group);
  });
  auto [io, ii] = s.split(i, {lathe::infer, 4});
  auto [jo, ji, jj] = s.split(j, {lathe::infer, 2, 16});
  auto [ro, rr] = s.split(r, {lathe::infer, group});
  s.reorder({io, jo, ro, ii, ji, jj, rr});
  s.reverse_compute_at(out, jo);
  s.set_scope("C_cache", lathe::Scope::reg);
  s.unroll(ii);
  s.unroll(ji);
  lathe::BlockRef init = s.decompose_reduction(k.C, ro);
  s.vectorize(s.loops(init).back());
  s.tensorize(jj, intrinsic);
  s.vectorize(s.loops(out).back());
  s.parallel(io);
  return s;
}

}  // namespace test
