// What becomes of marks: a step keeps what they ask for or is refused, and so does lowering.
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <support/errors.hpp>
#include <support/skip.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

namespace {

/// What a schedule of a text, and what lowering of it, is refused with.
std::string adopted(const std::string& text) {
  return error_of([&] { lt::Schedule s(lt::parse(text)); });
}
std::string lowered(const std::string& text) {
  return error_of([&] { lt::lower(lt::parse(text), lt::host()); });
}

/// B[i] = T[i], T[i] = A[i], with a mark on the loop of both.
std::string marked(const std::string& mark) {
  return "program p(in A: f32[5], out B: f32[5]):\n  alloc T: f32[5]\n  for i in 0..5 " + mark +
         ":\n    block first(v in 0..5 = i):\n      T[v] = A[v]\n    block last(v in 0..5 = i):\n"
         "      B[v] = T[v]\n";
}

}  // namespace

TEST_CASE("marks: a step after which nothing reads what a loop fetches is refused") {
  Blur k(13);
  lt::Schedule s(k.C);
  auto [x] = s.loops<1>(k.C);
  s.prefetch(k.P, x, 2);
  CHECK(error_of([&] { s.compute_inline(k.P); }) ==
        "L0225 compute_inline: would break what the annotation 'prefetch' of loop 'i' promises: "
        "nothing inside loop 'i'(13) reads 'P'");
  CHECK(error_of([&] { s.cache_read(k.C, k.P, lt::Scope::global); }) ==
        "L0225 cache_read: would break what the annotation 'prefetch' of loop 'i' promises: "
        "nothing inside loop 'i'(13) reads 'P'");
  s.unannotate(x, "prefetch");
  s.compute_inline(k.P);
}

TEST_CASE("marks: a loop that goes takes none along that others rely on") {
  Blur k(13);
  lt::Schedule start(k.C), s = start;
  auto [y] = s.loops<1>(k.P);
  s.prefetch(k.A, y, 2);
  const std::string gone =
      " would break what the annotation 'prefetch' of loop 'i' promises: the loop would be gone";
  CHECK(error_of([&] { s.compute_inline(k.P); }) == "L0225 compute_inline:" + gone);
  CHECK(error_of([&] { s.compute_at(k.P, s.loops(k.C)[0]); }) == "L0225 compute_at:" + gone);
  s.unannotate(y, "prefetch");
  s.annotate(y, "unroll_explicit", 2);  // how this loop runs is of no use to another
  s.compute_at(k.P, s.loops(k.C)[0]);
  CHECK(s.str().find("unroll") == std::string::npos);
  check_lowered(start, s);
}

TEST_CASE("marks: what is hoisted stays inside of its loop") {
  Blur k(13);
  lt::Schedule start(k.C), s = start;
  auto [x] = s.loops<1>(k.C);
  auto [xo, xi] = s.split(x, {lt::infer, 4});
  s.compute_at(k.P, xo);
  s.hoist_storage(k.P, xo);
  CHECK(error_of([&] { s.compute_inline(k.P); }) ==
        "L0225 compute_inline: would break what the annotation 'hoist_storage' of loop 'io' "
        "promises: there is no buffer 'P'");
  check_lowered(start, s);
}

TEST_CASE("marks: copies of loops have those that are theirs") {
  Gemm k(6, 8, 4);
  lt::Schedule start(k.C), s = start;
  auto [i, j, r] = s.loops<3>(k.C);
  s.prefetch("A", i, 1);
  s.annotate(i, "unroll_explicit", 2);
  s.annotate(i, "user.note", 1);
  s.decompose_reduction(k.C, i);
  CHECK(s.str().find("for i in 0..6 @unroll_explicit=2:\n    for j in 0..8:\n      block C_init") !=
        std::string::npos);
  CHECK(s.str().find("for i in 0..6 @prefetch(buffer=\"A\", distance=1, locality=3) "
                     "@unroll_explicit=2 @user.note=1:") != std::string::npos);
  check_lowered(start, s);
}

TEST_CASE("marks: all that steps set can be taken back") {
  lt::Schedule start(lt::parse(marked(""))), s = start;
  auto [i] = s.loops<1>("first");
  s.software_pipeline(i, {0, 1}, {0, 1});
  CHECK(s.str().find("@software_pipeline(stages=[0, 1], orders=[0, 1])") != std::string::npos);
  s.unannotate(i, "software_pipeline");
  CHECK(lt::structurally_equal(s.program()->body, start.program()->body));
}

TEST_CASE("marks: a text is held to what it marks") {
  for (const char* good : {"@double_buffer=\"T\"", "@hoist_storage=\"T\"",
                           "@software_pipeline(stages=[0, 1], orders=[0, 1])",
                           "@prefetch(buffer=\"A\", distance=1, locality=3)"}) {
    CHECK(adopted(marked(good)) == "none");
    CHECK(lowered(marked(good)) == "none");
  }
  CHECK(adopted(marked("@prefetch(buffer=\"B\", distance=1, locality=3)")) ==
        "L0222 schedule: nothing inside loop 'i'(5) reads 'B'");
  CHECK(adopted(marked("@hoist_storage=\"B\"")) ==
        "L0240 schedule: buffer 'B' is a parameter: the caller allocates it");
  CHECK(adopted(marked("@double_buffer=\"none\"")) == "L0245 schedule: there is no buffer 'none'");
  CHECK(adopted(marked("@rolling_buffer=\"last\"")).substr(0, 5) == "L0246");
  CHECK(adopted(marked("@software_pipeline(stages=[0], orders=[0])")) ==
        "L0247 schedule: loop 'i'(5) holds 2 statements, not 1");
  const std::string part =
      "L0223 schedule: loop 'i'(5) carries the annotation 'pipeline_statement', which programs "
      "have "
      "while they are lowered";
  CHECK(adopted(marked("@pipeline_statement=0")) == part);
}

TEST_CASE("marks: lowering refuses what no pass can realise") {
  CHECK(lowered(marked("@pipeline_statement=0")) ==
        "L0603 lower: the annotation @pipeline_statement=0 of loop 'i'(5) can't be honoured: it is "
        "part of no pipeline");
  CHECK(lowered(marked("@pipeline_buffer(buffer=\"T\", versions=2)")).substr(0, 5) == "L0603");
  CHECK(lowered(R"(program p(in A: f32[5], in N: i64[5], out B: f32[5]):
  for i in 0..5 @hoist_storage="T":
    let n = max(N[i], 1)
    alloc T: f32[n]
    for j in 0..n:
      T[j] = A[i]
    B[i] = T[n - 1]
)") == "L0603 lower: the annotation @hoist_storage=\"T\" of loop 'i'(5) can't be honoured: buffer "
       "'T' belongs to iterations of a loop inside, or has a size that is known only there");
}

TEST_CASE("marks: stores of a block inside a block go past the caches") {
  const std::string text = R"(program p(in A: f32[4, 16], out B: f32[4, 16]):
  for i in 0..4:
    block outer(v in 0..4 = i):
      for j in 0..16:
        block B(u in 0..4 = v, w in 0..16 = j) @`stream`=1:
          B[u, w] = A[u, w]
)";
  CHECK(lt::lower_until("lower_blocks", lt::parse(text), lt::host()).str().find("stream B[") !=
        std::string::npos);
}

TEST_CASE("marks: code of a program without blocks has no versions of its buffers") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const lt::Program p = lt::parse(R"(program p(in A: f32[5], out B: f32[5]) stage loops:
  alloc T: f32[1]
  for i in 0..5 @double_buffer="T":
    T[0] = A[i]
    B[i] = T[0]
)");
  CHECK(error_of([&] { lt::jit_any(lt::Source(p), {}); }) ==
        "L0603 jit: the annotation @double_buffer=\"T\" of loop 'i' can't be honoured: a program "
        "without blocks does not tell what iterations share");
}
