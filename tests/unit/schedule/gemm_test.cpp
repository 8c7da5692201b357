#include "kernels.hpp"

using namespace test;

namespace {

/// Both operands packed, the accumulator tile in registers, init and epilogue in the tile, two
/// levels of tiles.
lt::Schedule packed_gemm(const Gemm& k) {
  lt::Schedule s(k.D);
  auto [i, j, r] = s.loops<3>(k.C);
  lt::BlockRef out = s.cache_write(k.C, lt::Scope::local);
  lt::BlockRef a = s.cache_read(k.C, k.A, lt::Scope::global),
               b = s.cache_read(k.C, k.B, lt::Scope::global);
  s.transform_layout(a, [](lt::Index i, lt::Index r) { return lt::layout(i / 4, r, i % 4); });
  s.transform_layout(b, [](lt::Index r, lt::Index j) { return lt::layout(j / 8, r, j % 8); });
  auto [ic, ir, iu] = s.split(i, {lt::infer, 2, 4});
  auto [jc, jr, ju] = s.split(j, {lt::infer, 2, 8});
  auto [kc, ki] = s.split(r, {lt::infer, 5});
  s.reorder({jc, ic, jr, ir, kc, ki, iu, ju});
  s.compute_at(b, jc);
  s.compute_at(a, ic);
  s.reverse_compute_at(out, ir);
  s.reverse_compute_at(k.D, ir);
  s.set_scope("C_cache", lt::Scope::reg);
  s.vectorize(ju);
  s.unroll(iu);
  s.decompose_reduction(k.C, kc);
  auto out_loops = s.loops(out);
  s.vectorize(out_loops.back());
  s.annotate(k.D, "stream", 1);
  s.prefetch("A_cache", ki, 8);
  s.parallel(jc);
  return s;
}

}  // namespace

TEST_CASE("gemm: packing, register tile, epilogue, threads") {
  for (auto [m, n, d] : {std::array{16, 32, 10}, std::array{13, 19, 7}, std::array{1, 1, 1},
                         std::array{8, 16, 0}, std::array{3, 40, 6}}) {
    Gemm k(m, n, d);
    lt::Schedule start(k.D), s = packed_gemm(k);
    CHECK(s.numerics().empty());
    check_kept(start, s);
  }
}

TEST_CASE("gemm: the form of the packed program") {
  Gemm k(16, 32, 10);
  CHECK(packed_gemm(k).str() ==
        R"(program D(in A: f32[16, 10], in B: f32[10, 32], out D: f32[16, 32]) scheduled:
  alloc C: f32[16, 32]
  alloc C_cache: f32[16, 32] scope register
  alloc A_cache: f32[4, 10, 4]
  alloc B_cache: f32[4, 10, 8]
  parallel for j0 in 0..2:
    for i in 0..10:
      for j in 0..16:
        block B_cache(vi in 0..10 = i, vj in 0..32 = j0 * 16 + j):
          B_cache[floordiv(vj, 8), vi, floormod(vj, 8)] = B[vi, vj]
    for i0 in 0..2:
      for i in 0..8:
        for j in 0..10:
          block A_cache(vi in 0..16 = i0 * 8 + i, vj in 0..10 = j):
            A_cache[floordiv(vi, 4), vj, floormod(vi, 4)] = A[vi, vj]
      for j1 in 0..2:
        for i1 in 0..2:
          unrolled for i2 in 0..4:
            vectorized for j2 in 0..8:
              block C_init(vi in 0..16 = i0 * 8 + i1 * 4 + i2, vj in 0..32 = j0 * 16 + j1 * 8 + j2):
                C_cache[vi, vj] = 0.0
          for ro in 0..2:
            for ri in 0..5 @prefetch(buffer="A_cache", distance=8, locality=3):
              unrolled for i2 in 0..4:
                vectorized for j2 in 0..8:
                  block C(vi in 0..16 = i0 * 8 + i1 * 4 + i2, vj in 0..32 = j0 * 16 + j1 * 8 + j2, reduce vr in 0..10 = ro * 5 + ri) reduce sum:
                    C_cache[vi, vj] sum= A_cache[floordiv(vi, 4), vr, floormod(vi, 4)] * B_cache[floordiv(vj, 8), vr, floormod(vj, 8)]
          for i in 0..4:
            vectorized for j in 0..8:
              block C_copy(vi in 0..16 = i0 * 8 + i1 * 4 + i, vj in 0..32 = j0 * 16 + j1 * 8 + j):
                C[vi, vj] = C_cache[vi, vj]
          for i_1 in 0..4:
            for j_1 in 0..8:
              block D(vi in 0..16 = i0 * 8 + i1 * 4 + i_1, vj in 0..32 = j0 * 16 + j1 * 8 + j_1) @`stream`=1:
                D[vi, vj] = max(C[vi, vj], 0.0)
)");
}

TEST_CASE("gemm: the accumulator is copied out by the epilogue itself") {
  Gemm k(16, 32, 10);
  lt::Schedule start(k.D), s = start;
  auto [i, j, r] = s.loops<3>(k.C);
  lt::BlockRef out = s.cache_write(k.C, lt::Scope::local);
  auto [io, jo, ii, ji] = s.tile(i, j, 4, 8);
  s.reorder({io, jo, r, ii, ji});
  s.reverse_compute_at(out, jo);
  s.reverse_compute_at(k.D, jo);
  s.compute_inline(out);
  CHECK(s.blocks().size() == 2);
  s.parallel(io);
  check_kept(start, s);
}

TEST_CASE("gemm: symbolic sizes") {
  lt::Dim m("m"), n("n"), d("d");
  Gemm k(m, n, d);
  lt::Schedule start(k.D), s = packed_gemm(k);
  check_kept(start, s, {{"m", 13}, {"n", 19}, {"d", 7}});
  check_kept(start, s, {{"m", 1}, {"n", 32}, {"d", 0}});
  check_kept(start, s, {{"m", 0}, {"n", 3}, {"d", 2}});
}
