#include <random>

#include "kernels.hpp"

using namespace test;

namespace {

/// The steps of the contract program.
lt::Schedule tiled_gemm(const Gemm& k) {
  lt::Schedule s(k.D);
  auto [i, j, q] = s.loops<3>(k.C);
  auto [io, jo, ii, ji] = s.tile(i, j, 8, 32);
  auto [qo, qi] = s.split(q, {lt::infer, 64});
  s.reorder({io, jo, qo, qi, ii, ji});
  lt::BlockRef packed = s.cache_read(k.C, k.B, lt::Scope::global);
  s.compute_at(packed, qo);
  s.transform_layout(packed,
                     [](lt::Index a, lt::Index b) { return lt::layout(b / 32, a, b % 32); });
  lt::BlockRef acc = s.cache_write(k.C, lt::Scope::local);
  s.reverse_compute_at(acc, jo);
  s.reverse_compute_at(k.D, jo);
  s.decompose_reduction(k.C, qo);
  s.vectorize(ji);
  s.unroll(ii);
  s.parallel(s.fuse(io, jo));
  s.annotate(qo, "unroll_explicit", 4);
  return s;
}

}  // namespace

TEST_CASE("trace: the steps of a tiled matrix product") {
  Gemm k(64, 64, 128);
  lt::Schedule start(k.D), s = tiled_gemm(k);
  std::string text = s.trace().str();
  CHECK(text.substr(text.find('\n') + 1) == R"(b0 = block("C")
l0, l1, l2 = loops(b0)
l3, l4, l5, l6 = tile(l0, l1, 8, 32)
l7, l8 = split(l2, [infer, 64])
reorder([l3, l4, l7, l8, l5, l6])
b1 = cache_read(b0, "B", global)
compute_at(b1, l7)
transform_layout("B_cache", |d0, d1| [floordiv(d1, 32), d0, floormod(d1, 32)])
b2 = cache_write(b0, local)
reverse_compute_at(b2, l4)
b3 = block("D")
reverse_compute_at(b3, l4)
decompose_reduction(b0, l7)
vectorize(l6)
unroll(l5)
l9 = fuse([l3, l4])
parallel(l9)
annotate(l7, "unroll_explicit", 4)
)");
  check_kept(start, s);
}

TEST_CASE("trace: tiles with tails keep their meaning") {
  for (auto [m, n, d] : {std::array{13, 40, 70}, std::array{1, 1, 1}, std::array{8, 33, 64}}) {
    Gemm k(m, n, d);
    lt::Schedule start(k.D);
    check_kept(start, tiled_gemm(k));
  }
}

TEST_CASE("trace as C++: compiles, and gives the same schedule") {
  Gemm k(64, 64, 128);
  lt::Schedule want = tiled_gemm(k), s(k.D);
  const char* text = R"(auto b0 = s.block("C");
auto [l0, l1, l2] = s.loops<3>(b0);
auto [l3, l4, l5, l6] = s.tile(l0, l1, 8, 32);
auto [l7, l8] = s.split(l2, {lathe::infer, 64});
s.reorder({l3, l4, l7, l8, l5, l6});
auto b1 = s.cache_read(b0, "B", lathe::Scope::global);
s.compute_at(b1, l7);
s.transform_layout("B_cache", [](lathe::Index d0, lathe::Index d1) { return lathe::layout(floordiv(d1, 32), d0, floormod(d1, 32)); });
auto b2 = s.cache_write(b0, lathe::Scope::local);
s.reverse_compute_at(b2, l4);
auto b3 = s.block("D");
s.reverse_compute_at(b3, l4);
s.decompose_reduction(b0, l7);
s.vectorize(l6);
s.unroll(l5);
auto l9 = s.fuse({l3, l4});
s.parallel(l9);
s.annotate(l7, "unroll_explicit", 4);
)";
  CHECK(want.trace().cpp() == text);
  // clang-format off
auto b0 = s.block("C");
auto [l0, l1, l2] = s.loops<3>(b0);
auto [l3, l4, l5, l6] = s.tile(l0, l1, 8, 32);
auto [l7, l8] = s.split(l2, {lathe::infer, 64});
s.reorder({l3, l4, l7, l8, l5, l6});
auto b1 = s.cache_read(b0, "B", lathe::Scope::global);
s.compute_at(b1, l7);
s.transform_layout("B_cache", [](lathe::Index d0, lathe::Index d1) { return lathe::layout(floordiv(d1, 32), d0, floormod(d1, 32)); });
auto b2 = s.cache_write(b0, lathe::Scope::local);
s.reverse_compute_at(b2, l4);
auto b3 = s.block("D");
s.reverse_compute_at(b3, l4);
s.decompose_reduction(b0, l7);
s.vectorize(l6);
s.unroll(l5);
auto l9 = s.fuse({l3, l4});
s.parallel(l9);
s.annotate(l7, "unroll_explicit", 4);
  // clang-format on
  CHECK(lt::structurally_equal(s.program(), want.program()));
}

TEST_CASE("trace as C++: a loop that holds no block is taken by its position") {
  auto start = [] {
    return lt::Schedule(lt::parse(R"(program P(in X: f32[8], out Y: f32[8], out Z: f32[8]):
  for i in 0..8:
    Y[i] = X[i]
  for i in 0..8:
    Z[i] = X[i]
)"));
  };
  lt::Schedule want = start(), s = start();
  want.split<2>(want.loop_at(1), {2, 4});
  CHECK(want.trace().cpp() == "auto l0 = s.loop_at(1);\ns.split(l0, {2, 4});\n");
  auto l0 = s.loop_at(1);
  s.split(l0, {2, 4});
  CHECK(s.trace().str() == want.trace().str());
  CHECK(refused_id(s, [](lt::Schedule& t) { t.loop_at(5); }) == "L0201");
}

TEST_CASE("trace as C++: a loop that holds no block is taken by its name where it has it alone") {
  lt::Schedule s(lt::parse(R"(program P(in X: f32[8], out Y: f32[8], out Z: f32[8]):
  for i in 0..8:
    Y[i] = X[i]
  for j in 0..8:
    Z[j] = X[j]
  for i in 0..8:
    Z[i] = Z[i] + Y[i]
)"));
  lt::Schedule want = s, by_name = s;
  want.split<2>(want.loop("j"), {2, 4});
  CHECK(want.trace().cpp() == "auto l0 = s.loop(\"j\");\ns.split(l0, {2, 4});\n");
  CHECK(lt::replay(lt::parse_trace(want.trace().str()), s).str() == want.str());
  by_name.split<2>(by_name.loop_at(1), {2, 4});
  CHECK(by_name.trace().str() == want.trace().str());
  CHECK(refused(s, [](lt::Schedule& t) { t.loop("i"); }) ==
        "error[L0201] loop: 2 loops are called 'i'\n"
        "  at trace_test.cpp:#\n"
        "  help: take the one above a block with loops(block), or by position: loop_at of 0, 2");
  CHECK(refused(s, [](lt::Schedule& t) { t.loop("t"); }) ==
        "error[L0201] loop: no loop is called 't'\n"
        "  at trace_test.cpp:#\n"
        "  help: loops: i j i");
}

TEST_CASE("replay: another program is refused unless asked for") {
  Gemm k(64, 64, 128), other(32, 64, 64);
  lt::Trace trace = tiled_gemm(k).trace();
  CHECK_THROWS_WITH_AS(
      lt::replay(trace, other.D),
      doctest::Contains("error[L0227] replay: the trace was recorded on another program than 'D'"),
      lt::UserError);
  lt::Schedule s = lt::replay(trace, other.D, true);
  check_kept(lt::Schedule(other.D), s);
}

TEST_CASE("replay: a step that does not fit is refused by its own id") {
  Gemm k(64, 64, 128);
  Add a(16);
  lt::Trace trace = tiled_gemm(k).trace();
  CHECK_THROWS_WITH_AS(lt::replay(trace, a.Y, true),
                       doctest::Contains("error[L0201] block: no block is called 'C'"),
                       lt::UserError);
}

TEST_CASE("trace text: what can't be read has a place") {
  try {
    lt::parse_trace("trace 1 program 0x0\nb0 = blok(\"C\")\n");
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.id() == "L0228");
    CHECK(e.message() == "trace: line 2, column 10: no step is called 'blok'");
  }
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& c :
       {Case{"", "line 1, column 1: 'trace' was expected"},
        Case{"trace 2 program 0x0\n", "this format version is not known"},
        Case{"trace 1 program 0x0\nsplot(l0)\n", "line 2, column 6: no step is called 'splot'"},
        Case{"trace 1 program 0x0\nblock, b0(\"C\")\n", "line 2, column 10: '=' was expected"},
        Case{"trace 1 program 0x0\nsplit(l0, [2])\n", "line 2, column 7: 'l0' is not defined"},
        Case{"trace 1 program 0x0\nb0 = block(\"C\nx", "the text has no end"},
        Case{"trace 1 program 0x0\nb0 = block(\"C\", 3)\n", "too many arguments"},
        Case{"trace 1 program 0x0\nb0 = block(\"C\")\nb0 = block(\"C\")\n",
             "'b0' is defined twice"},
        Case{"trace 1 program 0x0\nb0 = block(\"C\")\ncompute_inline(b0, x=1)\n",
             "no attribute is called 'x'"},
        Case{"trace 1 program 0x0\ntransform_layout(\"C\", |a| [a +])\n",
             "not an index expression"},
        Case{"trace 1 program 0x0\ntransform_layout(\"C\", |a, a| [a])\n", "'a' is bound twice"},
        Case{"trace 1 program 0x0\nsample_categorical([1, ()])\n",
             "line 2, column 24: expected one expression in parentheses"},
        Case{"trace 1 program 0x0\nassume((n > 0, m > 0))\n",
             "expected one expression in parentheses"},
        Case{"trace 1 program 0x0\nassume((n[0] > 0))\n", "the value has another type"}}) {
    INFO(c.text);
    CHECK_THROWS_WITH_AS(lt::parse_trace(c.text), doctest::Contains(c.message), lt::UserError);
  }
}

TEST_CASE("trace text: a map's binders stay out of the way of Dims alone") {
  const std::string text =
      lt::parse_trace("trace 1 program 0x0\ntransform_layout(\"T\", |D0, d0| [d0, d1, D0])\n")
          .str();
  CHECK(text.find("|d0, d1_| [d1_, d1, d0]") != std::string::npos);
  CHECK(lt::parse_trace(text).str() == text);
}

TEST_CASE("trace text: what only unused queries use is left out") {
  const std::string text = lt::parse_trace(
                               "trace 1 program 0x0\nb0 = block(\"C\")\n"
                               "l0, l1 = loops(b0)\nl2 = loop(\"i\")\nl3 = loop_at(1)\n")
                               .str();
  CHECK(text == "trace 1 program 0x0000000000000000\n");
}

TEST_CASE("trace text: any bytes give a trace or an error") {
  Gemm k(64, 64, 128);
  std::string text = tiled_gemm(k).trace().str();
  std::minstd_rand random(1);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = text;
    for (int edit = 0; edit <= round % 3; ++edit) {
      std::size_t at = random() % bytes.size();
      switch (random() % 3) {
        case 0:
          bytes[at] = static_cast<char>(random() >> 8);
          break;
        case 1:  // often still a trace
          bytes[at] = text[random() % text.size()];
          break;
        default:
          bytes.erase(at, 1 + random() % 5);
      }
    }
    try {
      lt::Trace parsed = lt::parse_trace(bytes);
      CHECK(lt::parse_trace(parsed.str()).str() == parsed.str());
      lt::Schedule s = lt::replay(parsed, k.D, true);
      CHECK(lt::verify_reason(s.program(), lt::Stage::blocks) == "");
    } catch (const lt::UserError&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK(refused < 2000);
}

TEST_CASE("check says what apply would, and changes nothing") {
  Gemm k(8, 8, 4);
  lt::Schedule s(k.D);
  auto [i, j, r] = s.loops<3>(k.C);
  const lt::Primitive& parallel = *lt::find_primitive("parallel");
  CHECK_FALSE(s.check(parallel, {i}).has_value());
  auto no = s.check(parallel, {r});
  REQUIRE(no.has_value());
  CHECK(no->id == "L0208");
  CHECK(s.check(parallel, {})->id == "L0202");
  CHECK(s.check(parallel, {s.block("C")})->id == "L0202");
  CHECK(s.trace().entries.empty());
  for (const lt::Primitive* p : lt::primitives()) {
    CHECK(lt::find_primitive(p->name) == p);
    CHECK(s.check(*p, {}).has_value());
    CHECK(s.check(*p, {lt::Arg::of_text("x"), lt::Arg::of_text("y")}).has_value());
  }
}
