// Updates whose terms read what the block writes: nothing regroups them, and no buffer of theirs is
// taken for the property of one iteration.
#include "meaning.hpp"

using namespace meaning;

namespace {

/// o[vi] sum= A[vi, v] * term, for i in `from`..20.
std::string inout_sum(const std::string& term, const std::string& from = "0") {
  return "program o(in A: i32[20, 6], inout o: i32[20]):\n  for i in " + from + "..20:\n" +
         "    for r in 0..6:\n      block o(vi in " + from +
         "..20 = i, reduce v in 0..6 = r) reduce sum:\n        o[vi] sum= A[vi, v] * " + term +
         "\n";
}
/// The same with an init, into a temporary that a second nest or the same loop reads.
std::string temporary_sum(const std::string& term, bool one_loop,
                          const std::string& reduction = "sum") {
  const std::string reader = "    block q(vi in 0..20 = i):\n      q[vi] = o[vi] + 1i32\n";
  return "program o(in A: i32[20, 6], out q: i32[20]):\n  alloc o: i32[20]\n  for i in 0..20:\n"
         "    for r in 0..6:\n      block o(vi in 0..20 = i, reduce v in 0..6 = r) reduce " +
         reduction + " init:\n        o[vi] " + reduction + "= " + term + "\n" +
         (one_loop ? "" : "  for i in 0..20:\n") + reader;
}
const char* const kBefore = "A[vi, v] * select(vi > 0, o[vi - 1] + 1i32, 1i32)";

}  // namespace

TEST_CASE("rfactor does not regroup terms that read the output") {
  const auto rfactor = [](lt::Schedule& s) { s.rfactor(loop(s, "o", 1)); };
  CHECK(steps(inout_sum("o[vi - 1]", "1"), rfactor) == "L0219");
  CHECK(steps(inout_sum("o[vi]"), rfactor) == "L0219");
  CHECK(steps(inout_sum("(o[19 - vi] + 1i32)"), rfactor) == "L0219");
  CHECK(steps(temporary_sum("A[vi, v] * (o[vi] + 1i32)", false), rfactor) == "L0219");
  CHECK(steps(temporary_sum("A[vi, v]", false), rfactor) == "");
}

TEST_CASE("an init does not move past terms that read other elements") {
  for (const char* term : {"o[min(vi + 1, 19)]", "o[19 - vi]"}) {
    const std::string text =
        "program o(in A: i32[20, 6], inout o: i32[20]):\n  for i in 0..20:\n    for r in 0..6:\n"
        "      block o(vi in 0..20 = i, reduce v in 0..6 = r) reduce sum init:\n        o[vi] sum= "
        "A[vi, v] * " +
        std::string(term) + "\n";
    CHECK(steps(text, [](lt::Schedule& s) { s.fuse(loop(s, "o", 0), loop(s, "o", 1)); }) ==
          "L0229");
    CHECK(steps(text, [](lt::Schedule& s) { s.decompose_reduction("o", loop(s, "o", 0)); }) ==
          "L0218");
    CHECK(steps(text, [](lt::Schedule& s) { s.decompose_reduction("o", loop(s, "o", 1)); }) == "");
    CHECK(steps(text, [](lt::Schedule& s) {
            s.reorder({loop(s, "o", 1), loop(s, "o", 0)});
          }) == "L0207");
  }
}

TEST_CASE("a block gets no new loops where its init would come between terms that it decides") {
  const auto text = [](const char* rows) {
    return "program o(in A: i32[20, 1], inout o: i32[20]):\n  for r in 0..1:\n    for i in 0..20:\n"
           "      block o(vi in 0..20 = i, reduce v in 0..1 = r) reduce sum init:\n"
           "        o[vi] sum= A[vi, v] + " +
           std::string(rows) + "\n";
  };
  const auto lay_out = [](lt::Schedule& s) {
    s.transform_block_layout("o", [](lt::Index v, lt::Index w) { return lt::layout(v, w); });
  };
  CHECK(steps(text("o[19 - vi]"), lay_out) == "L0238");
  CHECK(steps(text("A[19 - vi, v]"), lay_out) == "");
}

TEST_CASE("lanes do not set identities before other lanes have read what was there") {
  const auto text = [](const char* binding, const char* other) {
    return "program o(in A: i32[8, 1], inout C: i32[8]):\n  for i in 0..8:\n    for r in 0..1:\n"
           "      block o(v in 0..8 = i, reduce w in 0..1 = " +
           std::string(binding) + ") reduce min init:\n        C[v] min= A[v, w] - C[" + other +
           "]\n";
  };
  const auto lanes = [](lt::Schedule& s) { s.vectorize(s.loops("o")[0]); };
  for (const char* binding : {"r", "floormod(r * 3, 1)", "0"}) {
    CAPTURE(std::string(binding));
    CHECK(steps(text(binding, "min(v + 1, 7)"), lanes) == "L0207");
    CHECK(steps(text(binding, "max(v - 1, 0)"), lanes) == "L0207");
    CHECK(steps(text(binding, "v"), lanes) == "");
  }
}

TEST_CASE("a carried reduction keeps its buffer") {
  for (const char* reduction : {"sum", "max", "prod"}) {
    check_plain(lt::parse(temporary_sum(kBefore, true, reduction)));
    CHECK(steps(temporary_sum(kBefore, false, reduction),
                [](lt::Schedule& s) { s.reverse_compute_at("q", loop(s, "o", 0)); }) == "");
  }
  check_plain(lt::parse(temporary_sum("A[vi, v] * select(vi > 2, o[vi - 3] + 1i32, 1i32)", true)));
}

TEST_CASE("a carried reduction of a script keeps its buffer") {
  lt::Script p("rec");
  auto A = p.input<int>("A", {20, 6});
  auto q = p.output<int>("q", {20});
  auto o = p.local<int>("o", {20});
  p.for_("i", 20, [&](lt::Var i) {
    p.for_("r", 6, [&](lt::Var r) {
      p.block("o", {i, r}, [&](lt::Var v, lt::Var w) {
        p.reduce(lt::Fold::sum, o(v), A(v, w) * o(lt::max(v - 1, 0)));
      });
    });
    p.block("q", {i}, [&](lt::Var v) { p.store(q(v), o(v) + 1); });
  });
  Data data;
  data.find_uninitialized = false;
  check_plain(p.program(), data);
}

TEST_CASE("what reads a fold before its loops end is neither inlined nor moved behind them") {
  // The points of the fold in one of the loops around its reader, and which of its elements.
  const std::vector<std::string> folds = {
      "(v in 0..9 = i, reduce w in 0..4 = j) reduce sum:\n        s[v] sum= X[v, w]",
      "(v in 0..9 = i, reduce w in 0..4 = j) where X[v, w] > 1i32 reduce sum:\n        s[v] sum= "
      "X[v, w]",
      "(v in 0..9 = i) reduce sum:\n        s[v] sum= X[v, 1]",
      "(v in 0..9 = floordiv(i * 4 + j, 4)) reduce sum:\n        s[v] sum= X[v, 1]"};
  for (const auto& fold : folds) {
    CAPTURE(fold);
    const std::string text =
        "program p(in X: i32[9, 4], out U: i32[9, 4]):\n  alloc s: i32[9]\n  alloc Z: i32[9, 4]\n"
        "  for i in 0..9:\n    block s0(v in 0..9 = i):\n      s[v] = 0i32\n    for j in 0..4:\n"
        "      block s" +
        fold +
        "\n      block Z(v in 0..9 = i, w in 0..4 = j):\n        Z[v, w] = s[v]\n"
        "  for i in 0..9:\n    for j in 0..4:\n      block U(v in 0..9 = i, w in 0..4 = j):\n"
        "        U[v, w] = Z[v, w]\n";
    CHECK(steps(text, [](lt::Schedule& s) { s.compute_inline("Z"); }) == "L0214");
    CHECK(steps(text, [](lt::Schedule& s) { s.compute_at("Z", loop(s, "U", 1)); }) == "L0212");
  }
}

TEST_CASE("a fold keeps its order where its block gets other loops, or says that it does not") {
  const std::string turned =
      "program o(in X: f32[2, 7], inout Z: f32[2]):\n  alloc Y: f32[2]\n  for i in 0..2:\n"
      "    for r in 0..7:\n      block Y(v in 0..2 = i, reduce w in 0..7 = 6 - r) reduce prod "
      "init:\n"
      "        Y[v] prod= X[v, w]\n  for i in 0..2:\n    block Z(v in 0..2 = i):\n      Z[v] = "
      "Y[v]\n";
  lt::Schedule s(lt::parse(turned)), strict(lt::parse(turned), {.strict = true});
  s.compute_at("Y", loop(s, "Z", 0));
  CHECK(s.numerics() ==
        std::vector<std::string>{"compute_at: the reduce loops of 'Y' run in another order"});
  CHECK_THROWS_AS(strict.compute_at("Y", loop(strict, "Z", 0)), lt::UserError);
  // Split or fused, the points come in the order of the iterators.
  std::string plain = turned;
  plain.replace(plain.find("6 - r"), 5, "r");
  for (const int how : {0, 1, 2}) {
    lt::Schedule kept(lt::parse(plain), {.strict = true});
    if (how == 1) kept.split<2>(loop(kept, "Y", 1), {lt::infer, 3});
    if (how == 2) kept.split<3>(loop(kept, "Y", 1), {lt::infer, 2, 2});
    kept.compute_at("Y", loop(kept, "Z", 0));
    CHECK(kept.numerics().empty());
  }
}
