// The default steps on what a schedule in progress has left.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/errors.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"

using namespace test;
namespace {

const lt::Target v4("x86-64-v4");

// A product, and the norms of its rows.
struct Rows {
  lt::Input<float, 2> A, B;
  lt::Reduce k, j;
  lt::Tensor<float, 2> C;
  lt::Tensor<float, 1> N;
  Rows()
      : A("A", {48, 40}),
        B("B", {40, 64}),
        k("k", 40),
        j("j", 64),
        C(lt::compute("C", {48, 64},
                      [&](lt::Var i, lt::Var c) { return lt::sum(A(i, k) * B(k, c), k); })),
        N(lt::compute("N", {48}, [&](lt::Var i) { return lt::sum(C(i, j) * C(i, j), j); })) {}
};

// The lines of a program from that of a loop to the end of its nest.
std::string nest_of(const lt::Schedule& s, const std::string& loop) {
  const std::string text = s.str();
  const std::size_t from = text.find("  " + loop);
  const std::size_t to = text.find("\n  for", from);
  return text.substr(from, to - from);
}

}  // namespace

TEST_CASE("a plan of a schedule without steps is the default schedule") {
  const Rows one;
  lt::Schedule s(one.N);
  lt::plan(s, v4);
  CHECK(s.str() == lt::default_schedule(one.N, v4).str());
}

TEST_CASE("a plan keeps the nests that steps have changed, and schedules the others") {
  const Rows one;
  lt::Schedule s(one.N);
  auto [i, c, k] = s.loops<3>(one.C);
  auto [co, ci] = s.split<2>(c, {lt::infer, 16});
  s.reorder({co, i, k, ci});
  const std::string before = nest_of(s, "for jo");
  CHECK(!has(s.str(), "vectorized"));
  lt::plan(s, v4);
  CHECK(nest_of(s, "for jo") == before);
  CHECK(has(s.str(), "block N_lanes"));
  CHECK(test::run(s.program()) == test::run(lt::program_of(one.N)));
  s.vectorize(ci);  // references hold
  const std::string planned = s.str();
  CHECK(lt::plan(s, v4).empty());
  CHECK(s.str() == planned);
}

TEST_CASE("nothing moves into a nest that is kept, or out of it") {
  lt::Input<float, 1> X("X", {256});
  auto P = lt::compute("P", {256}, [&](lt::Var i) { return X(i) + 1.0f; });
  auto Q = lt::compute("Q", {256}, [&](lt::Var i) { return P(i) * 2.0f; });
  auto R = lt::compute("R", {256}, [&](lt::Var i) { return Q(i) - 3.0f; });
  lt::Schedule s(R);
  s.split<2>(s.loops(Q)[0], {lt::infer, 32});
  lt::plan(s, v4);
  CHECK(s.blocks().size() == 3);
  CHECK(count_of(s.str(), "vectorized") == 2);
  CHECK(test::run(s.program()) == test::run(lt::program_of(R)));
}

TEST_CASE("a plan of one block leaves all other nests") {
  const Rows one;
  lt::Schedule s(one.N);
  const std::string product = nest_of(s, "for i in 0..48:\n    for j in 0..64");
  lt::plan(s, one.N, v4);
  CHECK(has(s.str(), product));
  CHECK(has(s.str(), "block N_lanes"));
  const std::string planned = s.str();
  CHECK(has(test::error_of([&] { lt::plan(s, one.N, v4); }), "L0202 plan: steps have changed"));
  CHECK(has(test::error_of([&] { lt::plan(s, "nobody", v4); }), "L0201"));
  CHECK(s.str() == planned);
  lt::plan(s, one.C, v4);
  CHECK(!has(s.str(), product));
  CHECK(test::run(s.program()) == test::run(lt::program_of(one.N)));
}

TEST_CASE("strict schedules get plans that keep each bit") {
  const Rows one;
  lt::Schedule s(one.N, {.strict = true});
  s.split<2>(s.loops(one.C)[0], {lt::infer, 8});
  lt::plan(s, v4);
  CHECK(s.numerics().empty());
}
