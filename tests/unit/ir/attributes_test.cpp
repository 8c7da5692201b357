#include <doctest/doctest.h>

#include <lathe/ir/attributes.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/support/text.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

std::string parsed(const std::string& loop_mark, const std::string& block_mark = {}) {
  try {
    parse("program p(in A: f32[4], out B: f32[4]):\n  for i in 0..4" + loop_mark +
          ":\n    block B(v in 0..4 = i)" + block_mark + ":\n      B[v] = A[v]\n");
  } catch (const UserError& e) {
    return e.what();
  }
  return "fine";
}

}  // namespace

TEST_CASE("annotations have values of their type and range") {
  for (const char* good :
       {" @unroll_explicit=4", " @tail=\"guard\"", " @partition=\"never\"",
        " @prefetch(buffer=\"A\", distance=1, locality=3)",
        " @prefetch(buffer=\"a:b\", distance=1, locality=3) @prefetch(buffer=\"A\", distance=2, "
        "locality=0)",
        " @hoist_storage=\"T,U\"", " @hoist_storage=\"T\" @hoist_storage=\"U\"",
        " @software_pipeline(stages=[0, 1], orders=[0, 1])", " @user.x=-5", " @user.y=\"any\""})
    CHECK(parsed(good) == "fine");
  for (const char* bad : {" @unroll_explicit=0", " @unroll_explicit=\"4\"", " @max_threads=0",
                          " @tail=\"gard\"", " @tail=1", " @partition=\"\"", " @prefetch=\"A\"",
                          " @prefetch", " @prefetch(buffer=\"A\", distance=0, locality=3)",
                          " @prefetch(buffer=\"A\", distance=1, locality=4)",
                          " @prefetch(buffer=1, distance=1, locality=3)", " @hoist_storage=1",
                          " @double_buffer=1", " @software_pipeline(stages=[0, 1], orders=[0])",
                          " @software_pipeline(stages=[0], orders=[-1])", " @guards=0", " @note=1"})
    CHECK(parsed(bad).starts_with("error[L0506] parse: line 2, column 18"));
  CHECK(parsed("", " @`stream`=2") == "fine");
  CHECK(parsed(" @max_threads=1 @max_threads=1")
            .find("column 33: there is an annotation 'max_threads' already") != std::string::npos);
  CHECK(parsed("", " @any_order") == "fine");
  CHECK(parsed("", " @guards=0") == "fine");
  for (const char* bad : {" @`stream`=3", " @guards=-1", " @tail=\"guard\""})
    CHECK(parsed("", bad).starts_with("error[L0506] parse: line 3, column"));
}

TEST_CASE("the place of an annotation is shown") {
  CHECK(parsed(" @prefetch=\"A\"")
            .starts_with("error[L0506] parse: line 2, column 18: the annotation 'prefetch' of a "
                         "loop is (buffer=a name, distance=a number from 1 to 1048576, locality=a "
                         "number from 0 to 3)"));
  CHECK(parsed(" @prefetch=\"A\"").find("^^^^^^^^") != std::string::npos);
  CHECK(parsed(" @tail=\"gard\"").find("is one of exact guard mask peel shift round_up\n") !=
        std::string::npos);
  CHECK(parsed(" @note=1").find("is called 'note'; there are unroll_explicit, max_threads") !=
        std::string::npos);
  CHECK(parsed(" @prefetch(distance=1)")
            .starts_with(
                "error[L0501] parse: line 2, column 27: expected 'buffer', found 'distance'"));
  CHECK(parsed(" @software_pipeline(stages=0)")
            .starts_with("error[L0501] parse: line 2, column 43: expected '[', found '0'"));
}

TEST_CASE("an annotation is for loops of some kinds, and up to a stage") {
  CHECK(
      parsed(" @max_threads=2")
          .starts_with("error[L0506] program 'p': the annotation 'max_threads' of loop 'i' is not "
                       "for a loop that is serial"));
  const auto at_stage = [](Stage stage, ForKind kind, Attributes attributes) {
    const Program p = parse("program p(out B: f32[4]) stage loops:\n  B[0] = 1.0\n");
    return verify_reason(p.with(make_for(make_var("i"), 0, 4, p->body, kind, attributes), stage),
                         stage);
  };
  for (ForKind kind : {ForKind::parallel, ForKind::vectorized, ForKind::unrolled})
    for (const Attribute& a :
         Attributes{UnrollAttr{4}, HoistAttr{"T"}, DoubleBufferAttr{"T"}, PipelineAttr{{0}, {0}}})
      CHECK(at_stage(Stage::blocks, kind, {a}) == cat("the annotation '", key_of(a),
                                                      "' of loop 'i' is not for a loop that is ",
                                                      to_text(kind)));
  CHECK(at_stage(Stage::blocks, ForKind::parallel, {MaxThreadsAttr{4}}).empty());
  for (const Attribute& a : Attributes{RollingAttr{"B"}})
    CHECK(at_stage(Stage::loops, ForKind::serial, {a}) ==
          cat("the annotation '", key_of(a), "' of loop 'i' is not realised, at stage loops"));
  for (const Attribute& a : Attributes{TailAttr{Tail::guard}, PartitionAttr{Partition::never},
                                       PrefetchAttr{"B", 1, 3}, UnrollAttr{2}}) {
    CHECK(at_stage(Stage::loops, ForKind::serial, {a}).empty());
    CHECK(at_stage(Stage::vector, ForKind::serial, {a}) ==
          cat("the annotation '", key_of(a), "' of loop 'i' is not realised, at stage vector"));
  }
  CHECK(at_stage(Stage::machine, ForKind::serial, {UserHint{"user.x", 1}}).empty());
}

TEST_CASE("what can't stand on one loop") {
  CHECK(parsed(" @hoist_storage=\"T\" @hoist_storage=\"T\"")
            .find("there is an annotation 'hoist_storage' already") != std::string::npos);
  CHECK(parsed(" @user.a=1 @user.b=1") == "fine");
  CHECK(parsed(" @user.a=1 @user.a=2").find("there is an annotation 'user.a' already") !=
        std::string::npos);
  lathe::Attributes all{lathe::UnrollAttr{2}, lathe::PrefetchAttr{"A", 1, 3}};
  all.set(lathe::UnrollAttr{4});
  all.set(lathe::PrefetchAttr{"A", 2, 3});
  CHECK(all == lathe::Attributes{lathe::PrefetchAttr{"A", 1, 3}, lathe::UnrollAttr{4},
                                 lathe::PrefetchAttr{"A", 2, 3}});
  CHECK(all.find<lathe::UnrollAttr>()->factor == 4);
  CHECK(!all.has<lathe::TailAttr>());
}

TEST_CASE("iterators that stand for guards are the last ones, and occur nowhere") {
  CHECK(parsed("", " @guards=1").find("iterator 'v' of block 'B' is marked as a guard") !=
        std::string::npos);
  CHECK(parsed("", " @guards=2").find("block 'B' has 1 iterators, of which 2 are marked") !=
        std::string::npos);
}
