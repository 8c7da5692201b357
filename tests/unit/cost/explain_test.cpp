#include <doctest/doctest.h>

#include <algorithm>
#include <lathe/cost/explanation.hpp>
#include <lathe/ir/parse.hpp>
#include <string>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/cost/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

/// 16 lanes of f32, caches of 32 KiB, 1 MiB and 8 MiB, one core.
Machine machine() {
  Machine m(Target("x86-64-v4"));
  m.cores = 1, m.l1_bytes = 32 << 10, m.l2_bytes = 1 << 20, m.l3_bytes = 8 << 20;
  return m;
}
Explanation told(const std::string& program, const Machine& m = machine()) {
  return explain(parse(program), {.machine = m});
}
bool helps(const StageCost& stage, const std::string& words) {
  return std::any_of(stage.helps.begin(), stage.helps.end(), [&](const std::string& help) {
    return help.find(words) != std::string::npos;
  });
}

/// D = A B with the loops given: a line each, blocks over i, j and k.
std::string product(int n, const std::string& loops, const std::string& i, const std::string& j) {
  const std::string size = std::to_string(n);
  std::string text = "program D(in A: f32[" + size + ", " + size + "], in B: f32[" + size + ", " +
                     size + "], out D: f32[" + size + ", " + size + "]) scheduled:\n" + loops;
  const std::size_t line = loops.rfind('\n', loops.size() - 2) + 1;
  const std::string pad(loops.find_first_not_of(' ', line) - line + 2, ' ');
  return text + pad + "block D(vi in 0.." + size + " = " + i + ", vj in 0.." + size + " = " + j +
         ", reduce vk in 0.." + size + " = k) reduce sum init:\n" + pad +
         "  D[vi, vj] sum= A[vi, vk] * B[vk, vj]\n";
}
const std::string kPlain = "  for i in 0..96:\n    for j in 0..96:\n      for k in 0..96:\n";
const std::string kTiled =
    "  for io in 0..24:\n    for jo in 0..3:\n      for k in 0..96:\n"
    "        unrolled for ii in 0..4:\n          vectorized for ji in 0..32:\n";

}  // namespace

TEST_CASE("a product as it is written waits for its sums, and is told how to get lanes") {
  const Explanation e = told(product(96, kPlain, "i", "j"));
  REQUIRE(e.stages.size() == 1);
  const StageCost& d = e.stages[0];
  CHECK(d.points == 96.0 * 96 * 96);
  CHECK(d.operations == 2 * d.points);
  CHECK(d.lanes == 1);
  CHECK(d.limit() == Resource::latency);
  CHECK(helps(d, "fold_lanes('k', 16)"));
  CHECK(helps(d, "1 sum is in flight"));
  CHECK(e.share() < 0.1);
}

TEST_CASE("a register tile hides the latency and is limited by its operations") {
  Machine near = machine();
  near.l1_bytes = 128 << 10;
  const Explanation e = told(product(96, kTiled, "io * 4 + ii", "jo * 32 + ji"), near);
  const StageCost& d = e.stages[0];
  CHECK(d.lanes == 16);
  CHECK(d.limit() == Resource::operations);
  CHECK(d.predicted() == doctest::Approx(96.0 * 96 * 96 / 16 / 2 / 3e9));
  // Of each step: 4 elements of A and 2 vectors of B, the sums stay in registers.
  const double steps = 24 * 3 * 96, lines = 4 * 2 * 24 * 3;
  CHECK(d.seconds[2] == doctest::Approx((steps * 6 + lines) / 2 / 3e9));
  CHECK(e.bound == Resource::operations);
  CHECK(e.share() > 0.95);
}

TEST_CASE("results that registers do not hold are told") {
  const Explanation e =
      told(product(96,
                   "  for io in 0..2:\n    for k in 0..96:\n      unrolled for ii in 0..48:\n"
                   "        vectorized for j in 0..96:\n",
                   "io * 48 + ii", "j"));
  CHECK(e.stages[0].limit() == Resource::l1);
  CHECK(helps(e.stages[0], "288 vectors of results are written out, and the machine has 32"));
}

TEST_CASE("a loop that is vectorized around others gives them its lanes") {
  const Explanation e = told(product(
      96, "  for i in 0..96:\n    vectorized for j in 0..96:\n      for k in 0..96:\n", "i", "j"));
  const StageCost& d = e.stages[0];
  CHECK(d.lanes == 16);
  // Six vectors of sums wait for each other 96 times; each step loads six vectors of B, one A.
  CHECK(d.seconds[1] == doctest::Approx(96.0 * 96 * 4 / 3e9));
  CHECK(d.seconds[2] == doctest::Approx(96.0 * (96 * 7 + 6) / 2 / 3e9));
}

TEST_CASE("bytes come from where the data lies") {
  const auto sum = [](const std::string& n) {
    return told("program C(in A: f32[" + n + "], in B: f32[" + n + "], out C: f32[" + n +
                "]) scheduled:\n  for io in 0.." + std::to_string(std::stoi(n) / 16) +
                ":\n    vectorized for ii in 0..16:\n      block C(v in 0.." + n +
                " = io * 16 + ii):\n        C[v] = A[v] + B[v]\n");
  };
  const auto bytes = [&](const std::string& n) { return sum(n).stages[0].bytes; };
  CHECK(bytes("2048") == std::array<double, 4>{24576, 0, 0, 0});
  CHECK(bytes("16384") == std::array<double, 4>{196608, 262144, 0, 0});  // written: there and back
  CHECK(bytes("262144")[3] == 0);
  CHECK(bytes("262144")[2] == 4.0 * 4 * 262144);
  const Explanation far = sum("4194304");
  CHECK(far.stages[0].bytes[3] == 4.0 * 4 * 4194304);
  CHECK(far.stages[0].limit() == Resource::memory);
  CHECK(far.bound == Resource::memory);
  CHECK(helps(far.stages[0], "comes once from memory"));
}

TEST_CASE("a buffer that comes again names the loop that brings it") {
  const std::string loops =
      "  for i in 0..2048:\n    for k in 0..2048:\n      for jo in 0..128:\n"
      "        vectorized for ji in 0..16:\n";
  Machine m = machine();
  m.memory_speed = m.memory_speed_all = 1e9;
  const Explanation e = told(product(2048, loops, "i", "jo * 16 + ji"), m);
  CHECK(e.stages[0].limit() == Resource::memory);
  CHECK(helps(e.stages[0], "B comes from memory anew in each iteration of 'i'"));
}

TEST_CASE("what a stage writes and the next reads from memory is told where to go") {
  const auto stage = [](const char* out, const char* in) {
    return std::string("  for io_") + out + " in 0..262144:\n    vectorized for ii_" + out +
           " in 0..16:\n      block " + out + "(v in 0..4194304 = io_" + out + " * 16 + ii_" + out +
           "):\n        " + out + "[v] = " + in + "[v] * 2.0\n";
  };
  const Explanation e = told(
      "program Y(in X: f32[4194304], out Y: f32[4194304]) scheduled:\n  alloc H: f32[4194304]\n" +
      stage("H", "X") + stage("Y", "H"));
  REQUIRE(e.stages.size() == 2);
  CHECK(helps(e.stages[1], "H is written and comes back from memory: compute_at"));
}

TEST_CASE("elements that lie apart along the lanes are told") {
  const Explanation e = told(
      "program Y(in X: f32[64, 64], out Y: f32[64, 64]) scheduled:\n  for i in 0..64:\n"
      "    vectorized for j in 0..64:\n      block Y(vi in 0..64 = i, vj in 0..64 = j):\n"
      "        Y[vi, vj] = X[vj, vi]\n");
  CHECK(e.stages[0].limit() == Resource::l1);
  CHECK(helps(e.stages[0], "X is touched one element at a time"));
}

TEST_CASE("elements that an index of data picks lie apart, those of panels do not") {
  const auto touched = [](const std::string& x, const std::string& at) {
    return told("program Y(in X: f32[" + x +
                "], in I: i64[64], out Y: f32[64]) scheduled:\n"
                "  vectorized for i in 0..64:\n    block Y(v in 0..64 = i):\n      Y[v] = X[" +
                at + "]" + (at.find('I') == std::string::npos ? " + f32(I[v])\n" : "\n"));
  };
  CHECK(helps(touched("64", "min(max(I[v], 0), 63)").stages[0],
              "X is touched one element at a time"));
  const Explanation panels = touched("4, 16", "floordiv(v, 16), floormod(v, 16)");
  CHECK(!helps(panels.stages[0], "X is touched"));
  CHECK(panels.stages[0].seconds[2] < 1e-8);
}

TEST_CASE("cores that do nothing are told, and share what is parallel") {
  Machine m = machine();
  m.cores = 8;
  const std::string product_of_512 =
      "  for i in 0..512:\n    for j in 0..512:\n      for k in 0..512:\n";
  const Explanation one = told(product(512, product_of_512, "i", "j"), m);
  CHECK(helps(one.stages[0], "parallel('i'): 8 cores"));
  const Explanation all = told(product(512, "  parallel" + product_of_512.substr(1), "i", "j"), m);
  CHECK(!helps(all.stages[0], "parallel('i')"));
  CHECK(all.stages[0].threads == 8);
  CHECK(all.predicted() == doctest::Approx(one.predicted() / 8));
}

TEST_CASE("sizes that are not known are guessed, and that is said") {
  const Explanation e = told(
      "program Y<n>(in X: f32[n], out Y: f32[n]) scheduled:\n  for i in 0..n:\n"
      "    block Y(v in 0..n = i):\n      Y[v] = exp(X[v])\n");
  CHECK(e.stages[0].points == 1024);
  CHECK(std::find(e.notes.begin(), e.notes.end(), "n is taken to be 1024") != e.notes.end());
}

TEST_CASE("a guess is a size that a call may have") {
  const auto guessed = [](const char* dim, const char* said) {
    const Explanation e = told("program Y<" + std::string(dim) +
                               ">(in X: f32[n], out Y: f32[n]) scheduled:\n"
                               "  for i in 0..n:\n    block Y(v in 0..n = i):\n"
                               "      Y[v] = exp(X[v])\n");
    return std::find(e.notes.begin(), e.notes.end(), said) != e.notes.end();
  };
  CHECK(guessed("n by 2048", "n is taken to be 2048"));
  CHECK(guessed("n in 5000.. by 4096", "n is taken to be 8192"));
}

TEST_CASE("what a loop touches is told of quotients by a size that is not known") {
  const Explanation e = told(
      "program Y<h, w>(in X: f32[h, w], out Y: f32[h, w]) scheduled:\n"
      "  for fo in 0..floordiv(h * w, 16):\n    vectorized for fi in 0..16:\n"
      "      block Y(i in 0..h = floordiv(fo * 16 + fi, w), j in 0..w = floormod(fo * 16 + fi, w))"
      ":\n        Y[i, j] = X[i, j]\n");
  CHECK(e.stages[0].points == 1024 * 1024);
  // Each element comes once, whole lines of the result go both ways.
  for (const double bytes : e.stages[0].bytes) CHECK(bytes <= 4.0 * 1024 * 1024 * 4);
}

TEST_CASE("explanations are text and JSON") {
  Explanation e = told(product(96, kPlain, "i", "j"));
  e.measured = 2e-3;
  e.program = "a \"quoted\\\" name\n\x01";
  e.steps = "s.vectorize(j);\n";
  const std::string text = e.str(), json = e.json();
  CHECK(text.find("stage D: 100 % of the time, limited by latency") != std::string::npos);
  CHECK(text.find("loops   i 96 · j 96 · k 96") != std::string::npos);
  CHECK(text.find("measured 2 ms") != std::string::npos);
  CHECK(json.find("\"program\": \"a \\\"quoted\\\\\\\" name\\n\\u0001\"") != std::string::npos);
  CHECK(json.find("\"steps\": \"s.vectorize(j);\\n\"") != std::string::npos);
  CHECK(json.find("\"limit\": \"latency\"") != std::string::npos);
  CHECK(std::count(json.begin(), json.end(), '{') == std::count(json.begin(), json.end(), '}'));
  CHECK(std::count(json.begin(), json.end(), '[') == std::count(json.begin(), json.end(), ']'));
}
