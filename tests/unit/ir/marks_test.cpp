#include <doctest/doctest.h>

#include <lathe/ir/marks.hpp>
#include <lathe/ir/parse.hpp>
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
       {" @unroll_explicit=4", " @max_threads=2", " @tail=\"guard\"", " @partition=\"never\"",
        " @prefetch=\"A:1:3\"", " @prefetch=\"a:b:1:3,A:2:0\"", " @hoist_storage=\"T,U\"",
        " @software_pipeline=\"0:0,1:1\"", " @user.x=-5", " @user.y=\"any\""})
    CHECK(parsed(good) == "fine");
  for (const char* bad : {" @unroll_explicit=0",
                          " @unroll_explicit=\"4\"",
                          " @max_threads=0",
                          " @tail=\"gard\"",
                          " @tail=1",
                          " @partition=\"\"",
                          " @prefetch=\"A\"",
                          " @prefetch=\"A:1\"",
                          " @prefetch=\"A:0:3\"",
                          " @prefetch=\"A:1:4\"",
                          " @prefetch=\":1:3\"",
                          " @prefetch=3",
                          " @prefetch=\"A:1:3,\"",
                          " @hoist_storage=\"\"",
                          " @hoist_storage=\"T,,U\"",
                          " @double_buffer=1",
                          " @software_pipeline=\"x\"",
                          " @software_pipeline=\"0:-1\"",
                          " @guards=0",
                          " @note=1"})
    CHECK(parsed(bad).starts_with("error[L0506] parse: line 2, column 18"));
  CHECK(parsed("", " @`stream`=2") == "fine");
  CHECK(parsed(" @max_threads=1 @max_threads=1")
            .find("column 33: there is an annotation 'max_threads' already") != std::string::npos);
  CHECK(parsed("", " @any_order=1") == "fine");
  CHECK(parsed("", " @guards=0") == "fine");
  for (const char* bad : {" @`stream`=3", " @guards=-1", " @any_order=\"yes\"", " @tail=\"guard\""})
    CHECK(parsed("", bad).starts_with("error[L0506] parse: line 3, column"));
}

TEST_CASE("the place of an annotation is shown") {
  CHECK(parsed(" @prefetch=\"A\"")
            .starts_with(
                "error[L0506] parse: line 2, column 18: the annotation 'prefetch' of a loop is a "
                "text of buffer:distance:locality between commas, the distance from 1 to 2^20, the "
                "locality from 0 to 3"));
  CHECK(parsed(" @prefetch=\"A\"").find("^^^^^^^^") != std::string::npos);
  CHECK(parsed(" @note=1").find("is called 'note'; there are unroll_explicit, max_threads") !=
        std::string::npos);
}

TEST_CASE("iterators that stand for guards are the last ones, and occur nowhere") {
  CHECK(parsed("", " @guards=1").find("iterator 'v' of block 'B' is marked as a guard") !=
        std::string::npos);
  CHECK(parsed("", " @guards=2").find("block 'B' has 1 iterators, of which 2 are marked") !=
        std::string::npos);
}
