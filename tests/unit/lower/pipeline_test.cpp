#include <algorithm>
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/capture.hpp>

#include "../../support/golden.hpp"
#include "stages.hpp"

namespace lt = lathe;

namespace {

template <class M, class N>
lt::Schedule plain_gemm(const M& m, const N& n, std::int64_t k) {
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  return lt::Schedule(C);
}

// The register tile of a GEMM: accumulators, and a masked or cut border.
template <class M, class N>
lt::Schedule tiled_gemm(const M& m, const N& n, std::int64_t k, std::int64_t rows,
                        std::int64_t columns) {
  lt::Schedule s = plain_gemm(m, n, k);
  auto [i, j, r] = s.loops<3>("C");
  auto [io, jo, ii, ji] = s.tile(i, j, rows, columns, lt::Tail::guard);
  s.reorder({io, jo, r, ii, ji});
  lt::BlockRef out = s.cache_write("C", lt::Scope::reg);
  s.reverse_compute_at(out, jo);
  lt::BlockRef init = s.decompose_reduction("C", r);
  s.vectorize(ji);
  s.unroll(ii);
  for (const auto& b : {out, init}) {
    auto loops = s.loops(b);
    s.vectorize(loops[loops.size() - 1]);
    s.unroll(loops[loops.size() - 2]);
  }
  s.parallel(io);
  return s;
}

}  // namespace

TEST_CASE("a register tile keeps its bits through every pass, whatever the border") {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{8, 48, 5},
                         {9, 49, 7},
                         {50, 100, 13},
                         {1, 1, 1},
                         {7, 31, 3},
                         {8, 33, 1},
                         {17, 96, 4},
                         {4, 20, 0}}) {
    LATHE_CAPTURE(m);
    LATHE_CAPTURE(n);
    LATHE_CAPTURE(k);
    test::check_stages(tiled_gemm(m, n, k, 4, 32).program());
  }
}

TEST_CASE("a promoted tile touches memory only for operands and results") {
  lt::Program p = test::check_stages(tiled_gemm(8, 64, 3, 4, 32).program());
  CHECK(p.str().find("C_cache[") == std::string::npos);
  test::check_golden("lower/register_tile", p.str());
}

TEST_CASE("a tile over Dims stays in registers, whatever they are multiples of") {
  for (std::int64_t factor : {1, 8, 16}) {
    CAPTURE(factor);
    lt::Dim m("m", {.multiple_of = 4}), n("n", {.multiple_of = factor});
    lt::Program given = tiled_gemm(m, n, 3, 4, 48).program();
    lt::Program p = test::check_stages(given, {{"m", 8}, {"n", 64}});
    CHECK(p.str().find("C_cache[") == std::string::npos);
  }
}

TEST_CASE("border tiles are specialised to their one iteration") {
  lt::Target target("x86-64-v4");
  test::check_golden(
      "lower/border_tiles",
      lt::lower_until("simplify_borders", tiled_gemm(9, 40, 3, 4, 32).program(), target).str());
}

TEST_CASE("an init stands before the loops that feed its reduction, also when these run nothing") {
  lt::Target target("x86-64-v4");
  test::check_golden("lower/init",
                     lt::lower_until("lower_blocks", plain_gemm(2, 3, 4).program(), target).str());
  test::check_stages(plain_gemm(2, 3, 0).program());
}

TEST_CASE("a producer under its consumer's loop keeps the rows that one iteration needs") {
  std::int64_t n = 40;
  lt::Input<float, 1> X("X", {n});
  auto P = lt::compute("P", {n}, [&](lt::Var i) { return X(i) * 2.0f; });
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) {
    auto at = lt::clamp(P);
    return at(i - 1) + at(i) + at(i + 1);
  });
  lt::Schedule s(Y);
  auto [i] = s.loops<1>(Y);
  auto [io, ii] = s.split(i, {lt::infer, 8});
  s.compute_at(P, io);
  s.vectorize(ii);
  lt::Target target("x86-64-v4");
  test::check_golden("lower/halo", lt::lower_until("compact_buffers", s.program(), target).str());
  test::check_stages(s.program());
}

TEST_CASE("a buffer that hands values to later iterations stays outside of the loop") {
  for (const char* read : {"max(v - 1, 0)", "v - v % 2", "v * 5 % 8"}) {
    CAPTURE(read);
    const std::string text = std::string(R"(
program P(in X: f32[8], out Y: f32[8]):
  alloc T: f32[8]
  for i in 0..8:
    block T(v in 0..8 = i):
      T[v] = X[v] + 1.0
    block Y(v in 0..8 = i):
      Y[v] = select(v * 5 % 8 <= v, T[)") +
                             read + "], 0.0)\n";
    lt::Program p = lt::parse(text);
    const std::string lowered = lt::lower_until("compact_buffers", p, lt::host()).str();
    CHECK(lowered.find("alloc T: f32[8]") < lowered.find("for i"));
    test::check_stages(p);
  }
}

TEST_CASE(
    "a buffer stays outside of a reduce loop of one iteration, before which its init stands") {
  lt::Input<float, 1> X("X", {6});
  lt::Reduce r("r", 6);
  auto best = lt::compute("best", {}, [&] { return lt::argmax(X(r), r); });
  lt::Schedule s(lt::outputs(best.get<1>()));
  auto [ro, ri] = s.split(s.loops(best.get<1>())[0], {1, 6});
  test::check_stages(s.program());
}

TEST_CASE("the bound of a gathered index is not the size of a temporary") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  lt::Input<std::int32_t, 1> I("I", {8});
  auto P = lt::compute("P", {n}, [&](lt::Var i) { return X(i) * 2.0f; });
  auto Y =
      lt::compute("Y", {8}, [&](lt::Var i) { return lt::clamp(P)(lt::cast<std::int64_t>(I(i))); });
  lt::Schedule s(Y);
  s.cache_read(Y, P, lt::Scope::global);
  const std::string text = lt::lower_until("compact_buffers", s.program(), lt::host()).str();
  CHECK(text.find("P_cache: f32[n]") != std::string::npos);
}

TEST_CASE("a moved producer computes no more than its domain where a quotient hides what is read") {
  lt::Dim n("n"), m("m");
  lt::Input<float, 2> X("X", {n, m});
  auto P = lt::compute("P", {n, m}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2.0f; });
  auto Y = lt::compute("Y", {2592},
                       [&](lt::Var i) { return P(lt::floordiv(i, m), lt::floormod(i, m)); });
  lt::Schedule s(Y);
  auto [i] = s.loops<1>(Y);
  auto [io, ii] = s.split(i, {lt::infer, 32});
  s.compute_at(P, io);
  const std::string text = lt::lower_until("compact_buffers", s.program(), lt::host()).str();
  INFO(text);
  CHECK(text.find("in 0..min(m, 2592)") != std::string::npos);
  CHECK(text.find("alloc P: f32[min(n, 2592), min(m, 2592)]") != std::string::npos);
}

TEST_CASE("symbolic extents keep one masked border version") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(i) * 3.0f; });
  lt::Schedule s(Y);
  auto [i] = s.loops<1>(Y);
  auto [io, ii] = s.split(i, {lt::infer, 16});
  s.vectorize(ii);
  s.parallel(io);
  for (std::int64_t size : {0, 1, 15, 16, 17, 33}) test::check_stages(s.program(), {{"n", size}});
}

TEST_CASE("unrolling in part leaves a remainder loop") {
  lt::Schedule s = plain_gemm(2, 2, 10);
  auto [i, j, r] = s.loops<3>("C");
  s.unroll(r, 4);
  test::check_stages(s.program());
}

TEST_CASE("unrolling in part: a range that ends before it begins has no remainder") {
  test::check_stages(lt::parse(R"(program P(inout X: f32[9]):
  for i in 0..9:
    for j in i..4 @unroll_explicit=3:
      block X(vi in 0..9 = i, vj in 0..4 = j):
        X[vi] = X[vi] + X[vj] * 0.5
)"));
}

TEST_CASE("bounds that nothing proves do not multiply to a temporary beyond measure") {
  lt::Program p = lt::parse(R"(program P<a, b, c>(in X: f32[a, b, c], out Y: f32[2, a, b, c]):
  alloc T: f32[a, b, c]
  for o in 0..2:
    for i in 0..3000 - o:
      for j in 0..3000 - o:
        for k in 0..3000 - o:
          block T(vi in 0..a = i, vj in 0..b = j, vk in 0..c = k):
            T[vi, vj, vk] = X[vi, vj, vk] * 2.0
    for i in 0..3000 - o:
      for j in 0..3000 - o:
        for k in 0..3000 - o:
          block Y(vo in 0..2 = o, vi in 0..a = i, vj in 0..b = j, vk in 0..c = k):
            Y[vo, vi, vj, vk] = T[vi, vj, vk]
)");
  auto shape = [](const lt::Program& given) {
    const std::string text = lt::lower_until("compact_buffers", given, lt::host()).str();
    const std::size_t at = text.find("alloc T: ");
    return text.substr(at, text.find(']', at) + 1 - at);
  };
  CHECK(shape(p) == "alloc T: f32[3000, b, c]");
  std::string plain = p.str();
  for (std::size_t at; (at = plain.find("3000 - o")) != std::string::npos;)
    plain.replace(at, 8, "3000");
  CHECK(shape(lt::parse(plain)) == "alloc T: f32[3000, b, c]");
}

TEST_CASE("loops over small temporaries are copied for registers, not for what stays in memory") {
  auto nodes = [](std::int64_t n) {
    lt::Schedule s = plain_gemm(n, n, 5);
    s.cache_write("C", lt::Scope::local);
    return lt::node_count(test::check_stages(s.program())->body);
  };
  // 31 × 31 floats are no registers. 4 × 4 reductions are copied, of 9 × 9 one row.
  CHECK(nodes(31) < 100);
  CHECK(nodes(4) > 300);
  CHECK(nodes(9) < 1500);
}

TEST_CASE("unrolling over the budget is refused, not attempted") {
  lt::Schedule s = plain_gemm(512, 512, 64);
  auto [i, j, r] = s.loops<3>("C");
  std::string text;
  try {
    s.unroll(i);
    s.unroll(j);
    s.unroll(r);
    lt::lower(s.program(), lt::Target("x86-64-v4"));
  } catch (const lt::UserError& e) {
    text = e.id();
  }
  CHECK(text == "L0225");
}

TEST_CASE("the default schedule keeps every bit of exact sums") {
  std::int64_t n = 70;
  lt::Input<float, 2> X("X", {n, n}), W("W", {n, n});
  lt::Reduce r("r", n);
  auto row = lt::compute("row", {n}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  auto product = lt::compute("product", {n, n},
                             [&](lt::Var i, lt::Var j) { return lt::sum(X(i, r) * W(r, j), r); });
  auto turned = lt::compute("turned", {n, n}, [&](lt::Var i, lt::Var j) { return X(j, i) + 1.0f; });
  auto out = lt::compute(
      "out", {n, n}, [&](lt::Var i, lt::Var j) { return product(i, j) + row(i) - turned(i, j); });
  lt::Target target("x86-64-v4");
  lt::Schedule s = lt::default_schedule(lt::program_of(out), target);
  CHECK(!s.trace().entries.empty());
  test::check_stages(s.program(), {}, target);
}

TEST_CASE("copies of math that expands are refused, not compiled for minutes") {
  lt::Input<float, 1> X("X", {4000});
  auto Y = lt::compute("Y", {4000}, [&](lt::Var i) { return lt::tanh(X(i)); });
  lt::Schedule s(Y);
  s.unroll(s.loops(Y)[0]);
  try {
    lt::lower(s.program(), lt::Target("x86-64-v4"));
    FAIL("not refused");
  } catch (const lt::UserError& e) {
    CHECK(
        std::string(e.what()) ==
        "error[L0601] lower: program 'Y' of 12 nodes has become 256001 nodes of scalar and vector "
        "code, over the budget of 160000: it has unrolled loops\n  help: unroll less: split the "
        "loop and unroll the inner part only");
  }
}

TEST_CASE("a buffer that the bound of a loop reads is there before the loop") {
  lt::Program p = lt::parse(R"(program p(out B: i64[4]):
  alloc N: i64[1]
  for i in 0..N[0]:
    block N(v in 0..1 = 0):
      N[v] = 1
    block B(v in 0..4 = i):
      B[v] = N[0]
)");
  const std::string placed = lt::lower_until("place_buffers", p, lt::host()).str();
  CHECK(placed.find("alloc N") < placed.find("for i"));
}

TEST_CASE("what a parallel loop reads or writes is in no register") {
  for (const char* inside : {"B[i] = T[0]", "T[0] = A[0]"}) {
    lt::Program p = lt::parse(R"(program p(in A: f32[1], out B: f32[8]):
  alloc T: f32[1]
  T[0] = A[0]
  parallel for i in 0..8:
    )" + std::string(inside) + R"(
  B[0] = T[0]
)");
    CHECK(lt::lower_until("promote_registers", p, lt::host()).str().find("alloc T: f32[1]") !=
          std::string::npos);
  }
}

TEST_CASE("a register that one mask keeps to itself has no mask, and part of one is blended in") {
  const auto promoted = [](const char* read) {
    lt::Program p = lt::parse(R"(program p(in A: f32[20], in B: f32[13], out C: f32[16]):
  alloc T: f32[16]
  vectorized for i in 0..16:
    if i < 13:
      T[i] = A[i]
  vectorized for i in 0..16:
    if i < 13:
      T[i] = T[i] + B[i]
)" + std::string(read));
    return lt::lower_until("promote_registers", p, lt::Target("x86-64-v4")).str();
  };
  const std::string alike =
      promoted("  vectorized for i in 0..16:\n    if i < 13:\n      C[i] = T[i]\n");
  CHECK(alike.find("select(") == std::string::npos);
  CHECK(alike.find("alloc T_0: f32x16") != std::string::npos);
  const lt::Program part = lt::parse(R"(program p(in A: f32[20], out C: f32[16]):
  alloc T: f32[16]
  vectorized for i in 0..16:
    T[i] = A[i]
  vectorized for i in 0..4:
    T[i + 4] = T[i + 4] + A[i + 16]
  T[1] = 2.0
  vectorized for i in 0..16:
    C[i] = T[i]
)");
  const std::string blended =
      lt::lower_until("promote_registers", part, lt::Target("x86-64-v4")).str();
  CHECK(blended.find("alloc T_0: f32x16") != std::string::npos);
  CHECK(blended.find("alloc T:") == std::string::npos);
  test::check_stages(part, {}, lt::Target("x86-64-v4"));
}

TEST_CASE("a pass that does not exist is named, with those that do") {
  std::string text;
  try {
    lt::lower_until("polish", plain_gemm(2, 2, 2).program(), lt::Target("x86-64-v4"));
  } catch (const lt::UserError& e) {
    text = e.what();
  }
  CHECK(text.find("error[L0602] lower_until: no pass is named 'polish'") == 0);
  CHECK(text.find("lower_blocks") != std::string::npos);
}

TEST_CASE("passes say what they took to whoever wants all messages") {
  for (const lt::LogLevel level : {lt::LogLevel::debug, lt::LogLevel::info}) {
    std::vector<std::string> lines;
    lt::ContextOptions options;
    options.log = [&](lt::LogLevel, std::string_view line) { lines.emplace_back(line); };
    options.log_level = level;
    const lt::Context context(options);
    lt::LowerOptions lowering;
    lowering.context = &context;
    lt::lower(plain_gemm(2, 2, 2).program(), lt::Target("x86-64-v4"), lowering);
    const auto tells = [](const std::string& line) {
      return line.find("pass lower_blocks: ") == 0;
    };
    CHECK(std::count_if(lines.begin(), lines.end(), tells) == (level == lt::LogLevel::debug));
  }
}
