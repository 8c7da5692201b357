// double_buffer: iterations of a loop take turns with two versions of a temporary.
#include <lathe/jit/jit.hpp>
#include <lathe/lower/pipeline.hpp>
#include <support/errors.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

namespace lt = lathe;
using namespace test;

namespace {

lt::Program doubled(const lt::Schedule& s) {
  return lt::lower_until("double_buffers", s.program(), lt::host());
}
// All stages agree, and the buffer has two versions once it is lowered.
void check_doubled(const lt::Schedule& start, const lt::Schedule& s, const std::string& alloc,
                   const Dims& dims = {}) {
  CHECK(s.str().find("@double_buffer=") != std::string::npos);
  check_lowered(start, s, dims);
  CHECK(doubled(s).str().find(alloc) != std::string::npos);
  CHECK(doubled(s).str().find("@double_buffer") == std::string::npos);
}

}  // namespace

TEST_CASE("double_buffer: rows of a stencil") {
  for (std::int64_t n : {0, 1, 4, 13, 32}) {
    INFO(n);
    Blur k(n);
    lt::Schedule start(k.C), s = start;
    auto [x] = s.loops<1>(k.C);
    auto [xo, xi] = s.split(x, {lt::infer, 4});
    s.compute_at(k.P, xo);
    s.double_buffer(k.P, xo);
    if (n > 4) check_doubled(start, s, "alloc P: f32[2, 6]");
    check_kept(start, s);
    s.vectorize(xi);
    if (n > 4) check_doubled(start, s, "alloc P: f32[2, 6]");
    if (n == 32) {
      CHECK(doubled(s).str() ==
            R"(program C(in A: f32[34] strides [1], out C: f32[32] strides [1]) stage loops:
  alloc P: f32[2, 6] align 64
  for io in 0..8:
    for i in 0..6:
      P[floormod(io, 2), i] = A[io * 4 + i] * 2.0
    vectorized for ii in 0..4:
      C[io * 4 + ii] = P[floormod(io, 2), ii] + P[floormod(io, 2), ii + 1] + P[floormod(io, 2), ii + 2]
)");
    }
  }
}

TEST_CASE("double_buffer: a reduction, with its init in it and apart") {
  for (std::int64_t depth : {0, 1, 5}) {
    Gemm k(5, 7, depth);
    lt::Schedule start(k.D), s = start;
    auto [i, j] = s.loops<2>(k.D);
    s.compute_at(k.C, i);
    s.double_buffer(k.C, i);
    check_doubled(start, s, "alloc C: f32[2, 1, 7]");
    s.decompose_reduction(k.C, s.loops(k.C).back());
    check_doubled(start, s, "alloc C: f32[2, 1, 7]");
    s.parallel(j);
    check_doubled(start, s, "alloc C: f32[2, 1, 7]");
  }
}

TEST_CASE("double_buffer: inside a parallel loop, of a loop that does not begin at 0") {
  lt::Schedule start(lt::parse(R"(program p(in A: f32[6, 9], out C: f32[6, 7]):
  alloc P: f32[6, 9]
  for i in 0..6:
    for j in 2..9:
      for x in 0..3:
        block P(vi in 0..6 = i, vx in 0..9 = j + x - 2):
          P[vi, vx] = A[vi, vx] * 2.0
      block C(vi in 0..6 = i, vj in 0..7 = j - 2):
        C[vi, vj] = P[vi, vj] + P[vi, vj + 1] + P[vi, vj + 2]
)"));
  lt::Schedule s = start;
  auto [i, j] = s.loops<2>("C");
  s.parallel(i);
  s.double_buffer("P", j);
  check_doubled(start, s, "    alloc P: f32[2, 1, 3]");
  CHECK(doubled(s).str().find("P[floormod(j - 2, 2), 0, x] = ") != std::string::npos);
}

TEST_CASE("double_buffer: two buffers of one loop, one buffer in two loops, aligned rows") {
  Gemm k(6, 8, 3);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  s.cache_write(k.D, lt::Scope::global);
  s.compute_at(k.C, i);
  s.reverse_compute_at("D_copy", i);
  s.double_buffer(k.C, i);
  s.double_buffer("D_cache", i);
  s.storage_align(k.C, 0, 16);
  CHECK(s.str().find("@double_buffer=\"C\" @double_buffer=\"D_cache\"") != std::string::npos);
  check_doubled(start, s, "alloc C: f32[2, 1, 8]");
  check_doubled(start, s, "alloc D_cache: f32[2, 1, 8]");
  s.hoist_storage(k.C, i);
  check_doubled(start, s, "alloc C: f32[2, 1, 8]");

  lt::Schedule twice = start;
  auto [a, b] = twice.loops<2>(k.D);
  twice.compute_at(k.C, b);
  twice.double_buffer(k.C, b);
  twice.double_buffer(k.C, a);
  check_doubled(start, twice, "alloc C: f32[2, 2, 1, 1]");
}

TEST_CASE("double_buffer: symbolic extents") {
  lt::Dim m("m"), n("n");
  Gemm k(m, n, 4);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  s.compute_at(k.C, i);
  s.double_buffer(k.C, i);
  for (std::int64_t rows : {0, 1, 2, 5})
    for (std::int64_t columns : {0, 1, 7})
      check_doubled(start, s, "alloc C: f32[2, 1, n]", {{"m", rows}, {"n", columns}});
}

TEST_CASE("double_buffer: a mark that is not legal in a text is refused") {
  const auto refused = [](const std::string& buffer) {
    lt::Program p = lt::parse(R"(program p(in A: f32[5], out B: f32[5]):
  alloc T: f32[6]
  block first():
    T[0] = 1.0
  for i in 0..5 @double_buffer=")" +
                              buffer + R"(":
    block next(vi in 0..5 = i):
      T[vi + 1] = T[vi] + A[vi]
    block last(vi in 0..5 = i):
      B[vi] = T[vi]
)");
    return error_of([&] { lt::lower(p, lt::host()); });
  };
  const std::string mark = "L0603 lower: the annotation @double_buffer=";
  CHECK(refused("T") ==
        mark +
            "\"T\" of loop 'i'(5) can't be honoured: buffer 'T' is used outside of loop "
            "'i'(5) too");
  CHECK(refused("none") ==
        mark + "\"none\" of loop 'i'(5) can't be honoured: there is no buffer 'none'");
}

TEST_CASE("double_buffer: the loop stays as it is, and so does what it promises") {
  Gemm k(6, 8, 3);
  lt::Schedule s(k.D);
  auto [i, j] = s.loops<2>(k.D);
  s.compute_at(k.C, j);
  s.double_buffer(k.C, j);
  auto why = [&](auto&& step) { return error_of([&] { step(); }); };
  const std::string carries = "loop 'j' carries the annotation 'double_buffer'";
  CHECK(why([&, i = i, j = j] { s.reorder({j, i}); }) == "L0204 reorder: " + carries);
  CHECK(why([&, j = j] { s.parallel(j); }) == "L0204 parallel: " + carries);
  CHECK(why([&, j = j] { s.vectorize(j); }) == "L0204 vectorize: " + carries);
  CHECK(why([&, j = j] { s.unroll(j); }) == "L0204 unroll: " + carries);
  CHECK(why([&, j = j] { s.split(j, {2, 4}); }) == "L0204 split: " + carries);
  CHECK(why([&, j = j] { s.loop_partition(j, {2}); }) == "L0204 loop_partition: " + carries);
  CHECK(why([&, i = i, j = j] { s.fuse(i, j); }) == "L0204 fuse: " + carries);
  CHECK(why([&] { s.vectorize(s.loops(k.C)[3]); }) == "none");
  Blur b(8);
  lt::Schedule gone(b.C);
  auto [x] = gone.loops<1>(b.C);
  gone.compute_at(b.P, x);
  gone.double_buffer(b.P, x);
  CHECK(error_of([&] { gone.compute_inline(b.P); }) ==
        "L0225 compute_inline: would break what the annotation 'double_buffer' of loop 'i' "
        "promises: there is no buffer 'P'");
}

TEST_CASE("double_buffer: refusals") {
  Gemm k(6, 8, 3);
  lt::Schedule s(k.D);
  auto [i, j] = s.loops<2>(k.D);
  auto why = [&](const lt::BufferName& buffer, const lt::LoopRef& loop) {
    return error_of([&] { s.double_buffer(buffer, loop); });
  };
  CHECK(why(k.D, i) == "L0245 double_buffer: buffer 'D' is a parameter: the caller allocates it");
  CHECK(why(k.C, i) == "L0245 double_buffer: buffer 'C' is used outside of loop 'i'(6) too");
  s.compute_at(k.C, i);
  CHECK(why(k.C, s.loops(k.C).back()).substr(0, 5) == "L0245");
  lt::Schedule once = s, lanes = s;
  once.double_buffer(k.C, i);
  CHECK(error_of([&, i = i] { once.double_buffer(k.C, i); }) ==
        "L0245 double_buffer: buffer 'C' has two versions in loop 'i'(6) already");
  lanes.parallel(i);
  CHECK(error_of([&, i = i] { lanes.double_buffer(k.C, i); }) ==
        "L0204 double_buffer: loop 'i' is parallel, not serial");

  lt::Schedule kept(lt::parse(R"(program p(in A: f32[5], out B: f32[5]):
  alloc T: f32[6]
  for i in 0..5:
    block next(vi in 0..5 = i):
      T[vi + 1] = A[vi]
    block last(vi in 0..5 = i):
      B[vi] = T[vi + 1] + select(vi > 0, T[vi], 0.0)
)"));
  CHECK(
      refused(kept, [&](lt::Schedule& t) { t.double_buffer("T", t.loops("last")[0]); }) ==
      R"(error[L0245] double_buffer: buffer 'T' is not proved to be filled anew by each iteration of loop 'i'(5)
  at double_buffer_test.cpp:#
  loops of 'next': i(5)
    for i in 0..5:
        ^
      block next(vi in 0..5 = i):
        T[vi + 1] = A[vi]
      block last(vi in 0..5 = i):
  help: take a buffer that one block writes before all that read it, inside of the loop)");

  lt::Schedule two(lt::parse(R"(program p(in A: f32[5], out B: f32[5]):
  alloc T: f32[5, 2]
  for i in 0..5:
    block one(vi in 0..5 = i):
      T[vi, 0] = A[vi]
    block other(vi in 0..5 = i):
      T[vi, 1] = A[vi]
    block last(vi in 0..5 = i):
      B[vi] = T[vi, 0] + T[vi, 1]
)"));
  CHECK(error_of([&] { two.double_buffer("T", two.loops("last")[0]); }) ==
        "L0245 double_buffer: buffer 'T' is written by several blocks: 'one', 'other'");
}
