// Values that an expression names again for each row, head or frame, and loops compute ahead.
#include "plain/loops/exact_loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

lt::Program normal_groups(int n, int p, int groups) {
  const int c = 8 * groups;
  lt::Input<float, 3> X("X", {n, p, c});
  lt::Input<float, 2> mean("mean", {n, groups}), variance("variance", {n, groups});
  lt::Input<float, 1> gamma("gamma", {c}), beta("beta", {c});
  return lt::program_of(lt::compute("Y", {n, p, c}, [&](lt::Var a, lt::Var b, lt::Var k) {
    return (X(a, b, k) - mean(a, k / 8)) *
               (1.0f / lt::sqrt(variance(a, k / 8) * variance(a, k / 8) + 1.0f)) * gamma(k) +
           beta(k);
  }));
}

lt::Program positions(int b, int t, int d) {
  lt::Input<float, 3> X("X", {b, t, d});
  lt::Input<float, 1> f("f", {d});
  return lt::program_of(lt::compute("Y", {b, t, d}, [&](lt::Var a, lt::Var i, lt::Var j) {
    return X(a, i, j) + lt::sin(lt::cast<float>(i) * f(j));
  }));
}

lt::Program turned_heads(int heads, int t, int d) {
  lt::Input<float, 3> X("X", {heads, t, d});
  lt::Input<float, 1> f("f", {d / 2});
  return lt::program_of(lt::compute("Y", {heads, t, d}, [&](lt::Var h, lt::Var i, lt::Var j) {
    const auto angle = lt::cast<float>(i) * f(j % (d / 2));
    const auto other = X(h, i, (j + d / 2) % d);
    return X(h, i, j) * lt::cos(angle) + lt::select(j < d / 2, -other, other) * lt::sin(angle);
  }));
}

lt::Program cosines_by_formula(int frames, int hop, int n, int k) {
  lt::Input<float, 1> X("X", {hop * (frames - 1) + n});
  lt::Reduce t("t", n);
  const float turn = 6.2831853f / static_cast<float>(n);
  return lt::program_of(lt::compute("S", {frames, k}, [&](lt::Var f, lt::Var q) {
    const auto window = 0.5f - 0.5f * lt::cos(lt::cast<float>(t) * turn);
    return lt::sum(X(f * hop + t) * window * lt::cos(lt::cast<float>(q * t) * turn), t);
  }));
}

lt::Program weights_by_table(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Input<float, 1> table("table", {n});
  lt::Input<std::int32_t, 1> at("at", {n});
  return lt::program_of(lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) {
    return X(i, j) * table(lt::clamp(lt::cast<std::int64_t>(at(j)), 0, n - 1));
  }));
}

}  // namespace

PlainPrograms invariant_programs() {
  return {
      {"groups of eight channels",
       normal_groups,
       both(loops::normal_groups, exact_loops::normal_groups),
       {{4, 196, 8}, {between(1, 6), between(50, 300), between(3, 20)}}},
      {"positions by their sines",
       positions,
       loops::positions,
       {{8, 128, 96}, {between(4, 16), between(50, 200), between(30, 150)}}},
      {"heads turned by position",
       turned_heads,
       loops::turned_heads,
       {{16, 128, 64}, {between(4, 20), between(50, 200), between(32, 128, 8)}}},
      {"cosines of frames",
       cosines_by_formula,
       loops::cosines_by_formula,
       {{60, 64, 256, 65}, {between(20, 90), between(16, 80), between(100, 300), between(20, 90)}},
       {1e-3}},
      {"weights by a table",
       weights_by_table,
       loops::weights_by_table,
       {{200, 333}, {between(50, 300), between(50, 600)}},
       {0, 1}},
  };
}

}  // namespace bench
#endif
