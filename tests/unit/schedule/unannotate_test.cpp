// unannotate: marks are taken back, and what is more than a mark stays.
#include "kernels.hpp"

using namespace test;

TEST_CASE("unannotate: the program is as before the mark") {
  Gemm k(6, 8, 3);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>(k.D);
  s.annotate(i, "unroll_explicit", 2);
  s.annotate(i, "user.note", "x");
  s.annotate(k.D, "stream", 1);
  s.prefetch("C", j, 4);
  s.unannotate(i, "unroll_explicit");
  CHECK(s.str().find("for i in 0..6 @user.note=\"x\":") != std::string::npos);
  check_kept(start, s);
  s.unannotate(i, "user.note");
  s.unannotate(k.D, "stream");
  s.unannotate(j, "prefetch");
  CHECK(lt::structurally_equal(s.program()->body, start.program()->body));
  check_kept(start, s);
  s.split(i, {2, 3});
}

TEST_CASE("unannotate: memory belongs to an iteration again") {
  Blur k(13);
  lt::Schedule start(k.C), s = start;
  auto [x] = s.loops<1>(k.C);
  auto [xo, xi] = s.split(x, {lt::infer, 4});
  s.compute_at(k.P, xo);
  lt::Program before = s.program();
  s.hoist_storage(k.P, xo);
  CHECK(refused_id(s, [&, xo = xo](lt::Schedule& t) { t.parallel(xo); }) == "L0204");
  s.unannotate(xo, "hoist_storage");
  CHECK(lt::structurally_equal(s.program(), before));
  s.parallel(xo);
  check_kept(start, s);
}

TEST_CASE("unannotate: refusals") {
  Add k(13);
  lt::Schedule s(k.Y);
  auto [io, ii] = s.split(s.loops(k.Y)[0], {lt::infer, 4});
  s.annotate(ii, "user.note", 1);
  CHECK(refused(s, [&, ii = ii](lt::Schedule& t) { t.unannotate(ii, "tail"); }) ==
        R"(error[L0223] unannotate: loop 'ii'(4) carries no mark 'tail'
  at unannotate_test.cpp:#
  loops of 'Y': io(4) ii(4)
    for io in 0..4:
      for ii in 0..4 @tail="guard" @user.note=1:
          ^^
        block Y(vi in 0..13 = io * 4 + ii):
          Y[vi] = X[vi] + 1.0
  help: it carries 'user.note')");
  CHECK(refused_id(s, [&, ii = ii](lt::Schedule& t) { t.unannotate(ii, "user.other"); }) ==
        "L0223");
  std::string text = refused(s, [&](lt::Schedule& t) { t.unannotate(k.Y, "stream"); });
  CHECK(text.substr(0, text.find('\n')) ==
        "error[L0223] unannotate: block 'Y' carries no mark 'stream'");
  CHECK(text.substr(text.rfind('\n') + 1) == "  help: it carries none");
}
