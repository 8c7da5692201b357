// hoist_storage: a temporary is allocated once for all iterations of a loop.
#include <lathe/lower/pipeline.hpp>
#include <support/errors.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using namespace test;

namespace {

// The lines with loops and allocations down to the last allocation, as indented in the program.
std::string frame(const lt::Program& p) {
  std::string text = p.str(), out, kept;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1) {
    std::string line = text.substr(at, end - at);
    const bool alloc = line.find("alloc ") != std::string::npos;
    if (alloc || line.find("for ") != std::string::npos) out += line + "\n";
    if (alloc) kept = out;
  }
  return kept;
}
std::string placed(const lt::Schedule& s) {
  return frame(lt::lower_until("hoist_storage", s.program(), lt::host()));
}
void check_lowered(const lt::Schedule& start, const lt::Schedule& s, const Dims& dims = {}) {
  for (const char* pass : {"hoist_storage", "hoist_guards", "unroll", "simplify_flat"}) {
    INFO(pass);
    lt::Program lowered = lt::lower_until(pass, s.program(), lt::host());
    INFO(lowered.str());
    CHECK(lowered.str().find("@hoist_storage") == std::string::npos);
    CHECK(run(lowered, dims, false) == run(start.program(), dims));
  }
}

}  // namespace

TEST_CASE("hoist_storage: rows of a stencil, in the size of one tile") {
  for (std::int64_t n : {1, 8, 13, 32}) {
    Blur k(n);
    lt::Schedule start(k.C), s = start;
    auto [x] = s.loops<1>(k.C);
    auto [xo, xi] = s.split(x, {lt::infer, 4});
    s.compute_at(k.P, xo);
    if (n == 32) CHECK(placed(s) == "  for io in 0..8:\n    alloc P: f32[6] align 64\n");
    s.hoist_storage(k.P, xo);
    CHECK(s.str().find("@hoist_storage=\"P\"") != std::string::npos);
    check_kept(start, s);
    if (n == 32) CHECK(placed(s) == "  alloc P: f32[6] align 64\n");
    check_lowered(start, s);
    s.vectorize(xi);
    check_lowered(start, s);
  }
}

TEST_CASE("hoist_storage: between two loops, for two buffers") {
  Gemm k(6, 8, 3);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  s.compute_at(k.C, j);
  s.cache_write(k.D, lt::Scope::global);
  s.reverse_compute_at("D_copy", j);
  CHECK(placed(s) ==
        "  for i in 0..6:\n    for j in 0..8:\n      alloc C: f32[1, 1] align 64\n      for i_1 in "
        "0..1:\n        for j_1 in 0..1:\n          for r in 0..3:\n      alloc D_cache: f32[1, 1] "
        "align 64\n");
  s.hoist_storage(k.C, j);
  s.hoist_storage("D_cache", j);
  CHECK(s.str().find("@hoist_storage=\"C\" @hoist_storage=\"D_cache\"") != std::string::npos);
  CHECK(
      placed(s) ==
      "  for i in 0..6:\n    alloc D_cache: f32[1, 1] align 64\n    alloc C: f32[1, 1] align 64\n");
  check_kept(start, s);
  s.parallel(i);
  check_kept(start, s);
  check_lowered(start, s);
}

TEST_CASE("hoist_storage: symbolic extents") {
  lt::Dim m("m"), n("n");
  Gemm k(m, n, 4);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  s.compute_at(k.C, i);
  s.hoist_storage(k.C, i);
  CHECK(placed(s) == "  alloc C: f32[1, n] align 64\n");
  for (std::int64_t rows : {0, 1, 5})
    for (std::int64_t columns : {0, 1, 7}) {
      check_kept(start, s, {{"m", rows}, {"n", columns}});
      check_lowered(start, s, {{"m", rows}, {"n", columns}});
    }
}

TEST_CASE("hoist_storage: loops inside can't be marked so that iterations would share it") {
  Gemm k(6, 8, 3);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  s.compute_at(k.C, j);
  s.hoist_storage(k.C, i);
  CHECK(error_of([&, i = i] { s.parallel(i); }) ==
        "L0204 parallel: loop 'i' carries the annotation 'hoist_storage'");
  CHECK(
      error_of([&, j = j] { s.parallel(j); }) ==
      "L0240 parallel: buffer 'C' is allocated above loop 'i', so iterations of loop 'j'(8) would "
      "share it");
  CHECK(error_of([&, j = j] { s.vectorize(j); }).substr(0, 5) == "L0240");
  s.reorder({j, i});
  check_kept(start, s);
  check_lowered(start, s);
  CHECK(placed(s) == "  for j in 0..8:\n    alloc C: f32[1, 1] align 64\n");
  s.parallel(j);  // above the buffer's place
  check_kept(start, s);
  check_lowered(start, s);
  CHECK(error_of([&, i = i, j = j] { s.reorder({i, j}); }).substr(0, 5) == "L0225");
}

TEST_CASE("hoist_storage: refusals") {
  Gemm k(6, 8, 3);
  lt::Schedule s(k.D);
  auto [i, j] = s.loops<2>(k.D);
  auto why = [&](const lt::BufferName& buffer, const lt::LoopRef& loop) {
    return error_of([&] { s.hoist_storage(buffer, loop); });
  };
  CHECK(why(k.C, i) ==
        "L0240 hoist_storage: buffer 'C' is used outside of loop 'i'(6) too, so it is allocated "
        "above it");
  CHECK(why(k.D, i) == "L0240 hoist_storage: buffer 'D' is a parameter: the caller allocates it");
  s.compute_at(k.C, j);
  lt::LoopRef r = s.loops(k.C).back();
  CHECK(why(k.C, r).substr(0, 5) == "L0240");
  s.vectorize(j);
  CHECK(
      refused(s, [&, i = i](lt::Schedule& t) { t.hoist_storage(k.C, i); }) ==
      R"(error[L0240] hoist_storage: buffer 'C' belongs to one iteration of the vectorized loop 'j', which lies inside loop 'i'(6)
  at hoist_storage_test.cpp:#
  loops of 'C': i(6) j(8, vectorized) i_1(1) j(1) r:reduce(3)
    for i in 0..6:
        ^
      vectorized for j in 0..8:
        for i_1 in 0..1:
          for j_1 in 0..1:
  help: take a loop of which each iteration fills the buffer anew, inside of loops that are not serial)");
  CHECK(why(k.C, j) == "L0204 hoist_storage: loop 'j' is vectorized, not serial");

  lt::Schedule twice(k.D);
  auto [a, b] = twice.loops<2>(k.D);
  twice.compute_at(k.C, a);
  twice.hoist_storage(k.C, a);
  CHECK(error_of([&, a = a] { twice.hoist_storage(k.C, a); }) ==
        "L0240 hoist_storage: buffer 'C' is allocated above loop 'i'(6) already");

  // One row is kept from an iteration to the next.
  lt::Schedule kept(lt::parse(R"(program p(in A: f32[5], out B: f32[5]):
  alloc T: f32[6]
  block first():
    T[0] = 1.0
  for i in 0..5:
    block next(vi in 0..5 = i):
      T[vi + 1] = T[vi] + A[vi]
    block last(vi in 0..5 = i):
      B[vi] = T[vi]
)"));
  CHECK(error_of([&] { kept.hoist_storage("T", kept.loops("last")[0]); }).substr(0, 5) == "L0240");
}
