// Checked code: an access outside of its tensor ends the call, and says which.
#include <doctest/doctest.h>

#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lathe.hpp>
#include <lathe/lower/passes.hpp>
#include <numeric>
#include <support/errors.hpp>
#include <vector>

namespace lt = lathe;
using Index = std::int64_t;

namespace {

const lt::JitOptions kChecked{.checked = true};

/// Y[i] = X[I[i]] of n elements of a table of m.
struct Gather {
  std::int64_t n, m;
  lt::Input<float, 1> X{"X", {m}};
  lt::Input<Index, 1> I{"I", {n}};
  lt::Tensor<float, 1> Y;
  std::vector<float> x, y;
  std::vector<Index> at;

  Gather(std::int64_t elements, std::int64_t rows)
      : n(elements), m(rows), Y(lt::compute("Y", {n}, [&](lt::Var i) { return X(I(i)) * 2; })) {
    x.resize(static_cast<std::size_t>(m)), y.resize(static_cast<std::size_t>(n));
    at.resize(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 0.0f);
    for (std::size_t k = 0; k < at.size(); ++k) at[k] = static_cast<Index>(k * 7) % m;
  }
  template <class Source>
  std::string run(const Source& source) {
    auto f = lt::jit({source, kChecked}, X, I, Y);
    return test::error_of([&] { f(x, at, y); });
  }
  bool right() const {
    for (std::size_t k = 0; k < y.size(); ++k)
      if (y[k] != 2 * x[static_cast<std::size_t>(at[k])]) return false;
    return true;
  }
};

std::string end_of(const std::string& text) {  // jit and the evaluator begin differently
  const auto at = text.find("'X'");
  return at == std::string::npos ? text : text.substr(at);
}

}  // namespace

TEST_CASE("a gather outside of its table is named, whatever the schedule") {
  Gather g(1000, 50);
  auto plain = lt::Schedule(g.Y), vectors = lt::Schedule(g.Y), threads = lt::Schedule(g.Y);
  {
    auto [o, i] = vectors.split<2>(vectors.loops(g.Y)[0], {lt::infer, 16});
    vectors.vectorize(i);
    auto [po, pi] = threads.split<2>(threads.loops(g.Y)[0], {lt::infer, 64});
    threads.parallel(po);
    threads.vectorize(pi);
  }
  for (std::int64_t wrong : {Index{50}, Index{-1}, INT64_MIN, INT64_MAX}) {
    for (std::size_t where : {0u, 17u, 999u}) {
      Gather bad = g;
      bad.at[where] = wrong;
      const std::string wanted =
          "'X' has no element [" + std::to_string(wrong) + "], its shape is [50]";
      CHECK(end_of(bad.run(plain)) == wanted);
      CHECK(end_of(bad.run(vectors)) == wanted);
      CHECK(end_of(bad.run(threads)) == wanted);
      CHECK(end_of(bad.run(g.Y)) == wanted);
      CHECK(bad.run(plain).find("L0409 ") == 0);
    }
  }
  for (const auto& s : {plain, vectors, threads}) {
    CHECK(g.run(s) == "none");
    CHECK(g.right());
  }
  CHECK(g.run(g.Y) == "none");
  CHECK(g.right());
}

TEST_CASE("the error has the call's place and the statement") {
  Gather g(4, 3);
  g.at = {0, 1, 7, 2};
  auto f = lt::jit({g.Y, kChecked}, g.X, g.I, g.Y);
  const unsigned line = __LINE__ + 2;
  try {
    f(g.x, g.at, g.y);
    CHECK(false);
  } catch (const lt::UserError& e) {
    CHECK(e.where().line == line);
    const std::string text = e.what();
    CHECK(text.find("'X' has no element [7], its shape is [3]") != std::string::npos);
    if (f.compiled()) {
      CHECK(text.find("kernel 'Y': ") != std::string::npos);
      CHECK(text.find("in Y[") != std::string::npos);
      CHECK(text.find("X[I[") != std::string::npos);
    }
  }
  f(g.x, std::vector<Index>{0, 1, 2, 2}, g.y);  // a later call starts anew
  CHECK(g.y[2] == 4);
}

TEST_CASE("what select, where and a guard leave out is not tested") {
  lt::Dim n("n");
  lt::Input<float, 2> X("X", {n, 8});
  lt::Input<Index, 1> I("I", {n});
  lt::Reduce r("r", 8);
  auto inside = [&](lt::Var i) { return I(i) >= 0 && I(i) < n; };
  auto S = lt::compute("S", {n}, [&](lt::Var i) {
    return lt::select(inside(i), lt::select(I(i) > 0, X(I(i) - 1, 3), X(I(i), 2)), -1.0f);
  });
  auto W = lt::compute("W", {n}, [&](lt::Var i) {
    return lt::sum(X(i, r + I(i)), r).where(r + I(i) >= 0 && r + I(i) < 8);
  });
  lt::Schedule s(lt::outputs(S, W));
  auto [o, v] = s.split<2>(s.loops(S)[0], {lt::infer, 8});
  s.vectorize(v);
  auto f = lt::jit({s, kChecked}, X, I, S, W);
  for (std::size_t count : {1u, 5u, 37u}) {
    std::vector<float> x(count * 8), a(count), b(count);
    std::iota(x.begin(), x.end(), 0.0f);
    std::vector<Index> at(count);
    for (std::size_t k = 0; k < count; ++k) at[k] = static_cast<Index>(k * 5 % 13) - 4;
    f(lt::view(x, {static_cast<Index>(count), 8}), at, a, b);
    for (std::size_t k = 0; k < count; ++k) {
      const Index p = at[k];
      float wanted = 0;
      for (Index q = 0; q < 8; ++q)
        if (q + p >= 0 && q + p < 8) wanted += x[k * 8 + static_cast<std::size_t>(q + p)];
      CHECK(b[k] == wanted);
      CHECK(a[k] == (p < 0 || p >= static_cast<Index>(count) ? -1.0f
                     : p > 0 ? x[static_cast<std::size_t>(p - 1) * 8 + 3]
                             : x[static_cast<std::size_t>(p) * 8 + 2]));
    }
  }
}

TEST_CASE("temporaries, several axes and what is stored to are tested") {
  lt::Input<float, 2> X("X", {6, 5});
  lt::Input<Index, 1> I("I", {6});
  auto T = lt::compute("T", {6, 5}, [&](lt::Var i, lt::Var j) { return X(i, j) + 1; });
  auto Y = lt::compute("Y", {6}, [&](lt::Var i) { return T(I(i), I(i) - 1); });
  auto f = lt::jit({lt::Schedule(Y), kChecked}, X, I, Y);
  std::vector<float> x(30, 1), y(6);
  f(lt::view(x, {6, 5}), std::vector<Index>{1, 2, 3, 4, 5, 5}, y);
  CHECK(y[5] == 2);
  CHECK(test::error_of([&] {
          f(lt::view(x, {6, 5}), std::vector<Index>{1, 2, 3, 4, 6, 5}, y);
        }).find("'T' has no element [6, 5], its shape is [6, 5]") != std::string::npos);

  const lt::Program scatter = lt::parse(
      "program P(in I: i64[6], inout C: i32[4]):\n  for i in 0..6:\n    C[I[i]] = C[I[i]] + "
      "1i32\n");
  auto g = lt::jit<lt::View<const Index, 1>, lt::View<int, 1>>({scatter, kChecked});
  std::vector<int> c(4);
  g(std::vector<Index>{0, 1, 1, 3, 3, 3}, c);
  CHECK(c == std::vector<int>{1, 2, 0, 3});
  CHECK(test::error_of([&] {
          g(std::vector<Index>{0, 1, 4, 3, 3, 3}, c);
        }).find("'C' has no element [4], its shape is [4]") != std::string::npos);
  CHECK(c == std::vector<int>{2, 3, 0, 3});
}

TEST_CASE("accesses that are proved cost nothing, and the text has the assertions") {
  Gather g(64, 50);
  lt::Input<float, 2> A("A", {33, 17}), B("B", {17, 20});
  lt::Reduce k("k", 17);
  auto C = lt::compute("C", {33, 20},
                       [&](lt::Var i, lt::Var j) { return lt::sum(A(i, k) * B(k, j), k); });
  const lt::Program plain = lt::default_schedule(lt::Schedule(C).program(), lt::host()).program();
  auto count = [](const lt::Program& p, bool checked) {
    const std::string text =
        lt::lower_until("check_accesses", p, lt::host(), {.checked = checked}).str();
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find("assert", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  CHECK(count(plain, true) == 0);
  const lt::Program gather = lt::Schedule(g.Y).program();
  CHECK(count(gather, false) == 0);
  CHECK(count(gather, true) == 1);
  const lt::Program lowered =
      lt::lower_until("check_accesses", gather, lt::host(), {.checked = true});
  CHECK(lowered.str().find("[{0}], its shape is [{1}]\\nin Y[") != std::string::npos);
  const lt::Program again = lt::parse(lowered.str());
  CHECK(again.str() == lowered.str());
  CHECK(lt::structurally_equal(again, lowered));
  g.at[3] = 50;
  auto f =
      lt::evaluate<lt::View<const Index, 1>, lt::View<const float, 1>, lt::View<float, 1>>(again);
  CHECK(test::error_of([&] { f(g.at, g.x, g.y); }) ==
        "L0409 kernel 'Y': 'X' has no element [50], its shape is [50]");
}

TEST_CASE("tiles of instructions are proved as a whole") {
  lt::Input<std::uint8_t, 2> A("A", {40, 130});
  lt::Input<std::int8_t, 2> B("B", {130, 48});
  lt::Reduce k("k", 130);
  const auto C = lt::compute("C", {40, 48}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<int>(A(i, k)) * lt::cast<int>(B(k, j)), k);
  });
  for (const char* name : {"sapphirerapids", "znver4"}) {
    const lt::Target target(name);
    const lt::Program p = lt::default_schedule(C, target).program();
    CHECK(p.str().find(lt::Target(name).has("amx-tile") ? "tile_dot" : "dot4") !=
          std::string::npos);
    const std::string text = lt::lower_until("check_accesses", p, target, {.checked = true}).str();
    std::size_t tests = 0;
    for (auto at = text.find("assert"); at != text.npos; at = text.find("assert", at + 1)) ++tests;
    CHECK(tests <= 2);  // of copies, in loops
  }
}
