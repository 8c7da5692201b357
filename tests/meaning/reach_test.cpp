// Which instances the loops of a block reach: of its domain, of guards, of ranges that end before
// they begin.
#include "meaning.hpp"

using namespace meaning;

namespace {

/// Y takes T in the iterations of a loop over a part of its domain, which has eight points.
std::string part(const std::string& loop, const std::string& binding) {
  return "program o(in X: i32[8], inout Y: i32[8]):\n  alloc T: i32[8]\n  for i in 0..8:\n"
         "    block T(v in 0..8 = i):\n      T[v] = X[v] + 1i32\n  for i in " +
         loop + ":\n    block Y(v in 0..8 = " + binding + "):\n      Y[v] = T[v] + 1i32\n";
}
/// A fold over a part of its domain, and who reads it.
const std::string kFold =
    "program o(in X: i32[8, 8], inout Z: i32[8]):\n  alloc Y: i32[8]\n  for i in 0..8:\n"
    "    for r in 0..5:\n      block Y(v in 0..8 = i, reduce w in 0..8 = r) reduce sum init:\n"
    "        Y[v] sum= X[v, w]\n  for i in 0..8:\n    block Z(v in 0..8 = i):\n"
    "      Z[v] = Y[v] + 1i32\n";

}  // namespace

TEST_CASE("a consumer that leaves out a part of its domain is not inlined into its producer") {
  for (const auto& [range, binding] : {std::pair{"0..5", "i"},
                                       {"2..8", "i"},
                                       {"0..4", "i * 2"},
                                       {"0..8", "min(i, 5)"},
                                       {"0..8", "floordiv(i, 2)"},
                                       {"0..6", "i + 2"}})
    CHECK(steps(part(range, binding), [](lt::Schedule& s) { s.reverse_compute_inline("Y"); }) ==
          "L0215");
  CHECK(steps(part("0..8", "i"), [](lt::Schedule& s) { s.reverse_compute_inline("Y"); }) == "");
}

TEST_CASE("the guard of a split counts where a block gets other loops") {
  for (const lt::Tail tail : {lt::Tail::guard, lt::Tail::mask, lt::Tail::peel}) {
    CHECK(steps(part("0..5", "i"), [&](lt::Schedule& s) {
            s.split<2>(loop(s, "Y", 0), {lt::infer, 4}, tail);
            s.reverse_compute_at("Y", loop(s, "T", 0));
          }) == "L0212");
    CHECK(steps(kFold, [&](lt::Schedule& s) {
            s.split<2>(loop(s, "Y", 1), {lt::infer, 4}, tail);
            s.compute_at("Y", loop(s, "Z", 0));
          }) == "L0212");
  }
  // Cut where the domain ends, the guard leaves out nothing.
  CHECK(steps(part("0..8", "i"), [](lt::Schedule& s) {
          s.split<2>(loop(s, "Y", 0), {lt::infer, 3});
          s.reverse_compute_at("Y", loop(s, "T", 0));
        }) == "");
  const std::string claimed =
      "program o(in X: i32[8, 6], inout Z: i32[8]):\n  alloc Y: i32[8]\n  for i in 0..8:\n"
      "    for r in 0..6:\n      block Y(v in 0..8 = i, reduce w in 0..6 = r, reduce g in 0..4 = "
      "r) "
      "reduce sum init @guards=1:\n        Y[v] sum= X[v, w]\n  for i in 0..8:\n"
      "    block Z(v in 0..8 = i):\n      Z[v] = Y[v] * 2i32\n";
  check_plain(lt::parse(claimed));
  CHECK(steps(claimed, [](lt::Schedule& s) { s.compute_at("Y", loop(s, "Z", 0)); }) == "L0212");
}

TEST_CASE("a loop of one iteration has the value at which it begins") {
  const std::string program =
      "program o<n>(in A: i32[n], inout Y: i32[4]):\n  for i in 0..n:\n"
      "    for j in i..min(i + 1, n):\n      block Y(v in 0..4 = i - j + 2, u in 0..n = i):\n"
      "        Y[v] = Y[v] * 3i32 + A[u]\n";
  Data data;
  data.dims["n"] = 7;
  CHECK(steps(
            program, [](lt::Schedule& s) { s.parallel(loop(s, "Y", 0)); }, data) == "L0207");
  check_plain(
      lt::parse("program o(in A: i32[50, 40], inout Y: i32[4]):\n  for i in 0..50:\n"
                "    for j in i..i + 1:\n      for r in 0..40:\n"
                "        block Y(v in 0..4 = i - j + 2, u in 0..50 = i, w in 0..40 = r):\n"
                "          Y[v] = Y[v] * 3i32 + A[u, w]\n"));
}

TEST_CASE("ranges that end before they begin are empty") {
  const std::string backwards =
      "program o(inout Y: i32[4]):\n  for i in 0..0 - 2:\n    for j in 0..0 - 3:\n"
      "      Y[0] = Y[0] + 1i32\n";
  CHECK(steps(backwards, [](lt::Schedule& s) { s.fuse(s.loop("i"), s.loop("j")); }) == "");
  const std::string windows =
      "program o<n, m>(in A: i32[n, m], out Z: i32[]):\n  alloc B: i32[n - 2, m - 2]\n"
      "  for i in 0..n - 2:\n    for j in 0..m - 2:\n"
      "      block B(v in 0..n - 2 = i, w in 0..m - 2 = j):\n        B[v, w] = A[v + 2, w + 2]\n"
      "  for r in 0..n - 2:\n    for q in 0..m - 2:\n"
      "      block Z(reduce v in 0..n - 2 = r, reduce w in 0..m - 2 = q) reduce sum init:\n"
      "        Z[] sum= B[v, w]\n";
  for (const auto& [n, m] : {std::pair{5, 4}, {5, 1}, {1, 5}, {1, 1}, {0, 0}}) {
    Data data;
    data.dims = {{"n", n}, {"m", m}};
    CHECK(steps(
              windows, [](lt::Schedule& s) { s.fuse(loop(s, "B", 0), loop(s, "B", 1)); }, data) ==
          "");
  }
}
