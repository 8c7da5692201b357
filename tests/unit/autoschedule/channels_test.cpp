// Elements of a few channels that lie side by side: colours, complex numbers, small matrices.
#include <support/text.hpp>

#include "checked_plan.hpp"
#include "one_core.hpp"

using namespace test;

namespace {

std::string planned(const lt::Program& program, const char* name = "x86-64-v3") {
  return checked_plan(program, {.target = name}).str();
}

}  // namespace

TEST_CASE("channels that are computed alike are one loop with the places around them") {
  for (const int channels : {2, 3, 4}) {
    lt::Input<std::uint8_t, 3> X("X", {7, 43, channels});
    const auto at = [&](lt::Var i, auto j, lt::Var c) { return lt::cast<int>(X(i, j, c)); };
    const std::string text = planned(
        lt::program_of(lt::compute("Y", {7, 41, channels}, [&](lt::Var i, lt::Var j, lt::Var c) {
          return lt::cast<std::uint8_t>((at(i, j, c) + 2 * at(i, j + 1, c) + at(i, j + 2, c)) >> 2);
        })));
    INFO(text);
    CHECK(has(text, "j_ko"));
    CHECK_FALSE(has(text, "unrolled for ki"));
  }
}

TEST_CASE("channels that are computed apart are vectors of their own") {
  const auto of = [](auto value) {
    lt::Input<float, 2> X("X", {40, 3});
    lt::Input<float, 1> W("W", {3});
    return planned(lt::program_of(
        lt::compute("Y", {40, 3}, [&](lt::Var i, lt::Var c) { return value(X, W, i, c); })));
  };
  CHECK(has(of([](auto& X, auto&, auto i, auto c) { return X(i, c) + 1; }), "i_jo"));
  CHECK(has(of([](auto& X, auto& W, auto i, auto c) { return X(i, c) + W(c); }), "i_jo"));
  CHECK_FALSE(has(of([](auto& X, auto&, auto i, auto c) { return lt::select(c == 1, X(i, c), 0); }),
                  "i_j"));
  CHECK_FALSE(has(of([](auto& X, auto&, auto i, auto c) { return X(i, 2 - c); }), "i_j"));
}

TEST_CASE("weights of channels repeat in each 16 bytes: one loop of places and channels") {
  const auto joined = [](int channels, bool by_place) {
    lt::Input<float, 2> X("X", {41, channels});
    lt::Input<float, 1> W("W", {by_place ? 41 : channels});
    const std::string text = planned(lt::program_of(lt::compute(
        "Y", {41, channels}, [&](lt::Var i, lt::Var c) { return X(i, c) * W(by_place ? i : c); })));
    INFO(text);
    return has(text, "i_jo") && !has(text, "unrolled for j");
  };
  CHECK(joined(2, false));
  CHECK(joined(4, false));
  // Three take three registers to start anew; vectors of channels share what a place has.
  CHECK(joined(3, false));
  CHECK_FALSE(joined(5, false));
  CHECK_FALSE(joined(2, true));
  // Four f64 are more than 16 bytes, of which some vectors have only a part.
  lt::Input<double, 2> X("X", {41, 4});
  lt::Input<double, 1> W("W", {4});
  CHECK_FALSE(has(planned(lt::program_of(lt::compute(
                      "Y", {41, 4}, [&](lt::Var i, lt::Var c) { return X(i, c) * W(c); }))),
                  "i_j"));
}

TEST_CASE("channels of narrow elements that share a place's opacity are one loop of both") {
  // Whether the plan for m x n places has one loop of places and channels.
  const auto joined = [](auto zero, lt::Extent n, int channels, const auto& value) {
    using T = decltype(zero);
    lt::Input<T, 2> X("X", {n, channels});
    lt::Input<T, 1> W("W", {n});
    const lt::Program program = lt::program_of(lt::compute(
        "Y", {n, channels}, [&](lt::Var i, lt::Var c) { return lt::cast<T>(value(X, W, i, c)); }));
    const std::string text = program->dims.empty()
                                 ? planned(program)
                                 : lt::default_schedule(program, lt::Target("x86-64-v3")).str();
    INFO(text);
    return has(text, "i_jo") && !has(text, "unrolled for j");
  };
  const auto by_plane = [](auto& X, auto& W, auto i, auto c) { return X(i, c) * W(i); };
  const auto by_alpha = [](auto& X, auto&, auto i, auto c) { return X(i, c) * (1 - X(i, 1)); };
  const lt::Dim n("n");
  for (const int channels : {2, 3, 4, 6, 8}) {
    CAPTURE(channels);
    for (const lt::Extent& extent : {lt::Extent(83), lt::Extent(n)}) {
      CHECK(joined(std::uint8_t(0), extent, channels, by_plane));
      CHECK(joined(std::uint8_t(0), extent, channels, by_alpha));
      CHECK(joined(std::int16_t(0), extent, channels, by_plane));
    }
    // Wider elements are interleaved at less cost, but for groups of three.
    CHECK(joined(0.f, 83, channels, by_plane) == (channels % 3 == 0));
    CHECK_FALSE(joined(0.0, 83, channels, by_plane));
  }
  CHECK_FALSE(joined(std::uint8_t(0), 83, 5, by_plane));
  // What is dear is computed once for all channels of a place.
  CHECK_FALSE(
      joined(0.f, 83, 3, [](auto& X, auto& W, auto i, auto c) { return X(i, c) * lt::exp(W(i)); }));
  CHECK_FALSE(joined(0.f, 83, 3, [](auto& X, auto& W, auto i, auto c) {
    const auto w = W(i);
    return X(i, c) * (w * w * w - 3 * w * w + 5 * w - 1);
  }));
  // Nothing is taken apart.
  CHECK_FALSE(joined(std::uint8_t(0), 83, 4, [](auto&, auto& W, auto i, auto) { return W(i); }));
}

TEST_CASE("a condition that compares places has one loop of them and their channels") {
  const auto bytes = [](const auto& value) {
    const std::string text = planned(lt::program_of(lt::compute(
        "Y", {9, 45, 3}, [&](lt::Var i, lt::Var j, lt::Var c) { return value(i, j, c); })));
    INFO(text);
    return has(text, "j_ko") && !has(text, "unrolled for");
  };
  lt::Input<std::uint8_t, 3> X("X", {7, 41, 3});
  const auto padded = lt::pad(X, std::uint8_t(128));
  CHECK(bytes([&](auto i, auto j, auto c) { return padded(i - 1, j - 2, c); }));
  CHECK(bytes([&](auto i, auto j, auto c) {
    return lt::select(i % 2 == 0 && 44 - j > i, padded(i, j - 2, c), std::uint8_t(7));
  }));
  // What tells channels apart, compares the places of every second one, or counts them.
  CHECK_FALSE(bytes([&](auto i, auto j, auto c) { return padded(i, j, c - 1); }));
  CHECK_FALSE(bytes([&](auto i, auto j, auto c) {
    return lt::select(2 * j < i, padded(i, j, c), std::uint8_t(7));
  }));
  CHECK_FALSE(
      bytes([&](auto i, auto j, auto c) { return lt::cast<std::uint8_t>(j) + padded(i, j, c); }));
}

TEST_CASE("pixels that share a colour are vectors of each of their elements") {
  lt::Input<std::uint8_t, 2> L("L", {4, 80}), U("U", {4, 40});
  const std::string text =
      planned(lt::program_of(lt::compute("Y", {4, 80, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
        const auto light = lt::cast<int>(L(i, j)), colour = lt::cast<int>(U(i, j / 2));
        return lt::cast<std::uint8_t>(
            lt::select(c == 0, light, lt::select(c == 1, light + colour, light - colour)) & 255);
      })));
  INFO(text);
  const std::size_t pair = text.find("unrolled for ji in 0..2");
  REQUIRE(pair != std::string::npos);
  CHECK(text.find("unrolled for k in 0..3", pair) < text.find("vectorized for jo", pair));
}

TEST_CASE("few results of few terms have lanes along the places") {
  lt::Input<std::int32_t, 2> X("X", {41, 3}), M("M", {3, 3});
  lt::Reduce k("k", 3);
  const std::string colours = planned(lt::program_of(lt::compute(
      "Y", {41, 3}, [&](lt::Var i, lt::Var c) { return lt::sum(M(c, k) * X(i, k), k); })));
  INFO(colours);
  CHECK(has(colours, "vectorized for ii in 0..8"));
  CHECK(has(colours, "unrolled for k in 0..3"));

  // Complex numbers: pairs, over more terms than are written out.
  lt::Input<std::int32_t, 3> A("A", {5, 33, 2}), B("B", {33, 19, 2});
  lt::Reduce r("r", 33);
  const std::string products =
      planned(lt::program_of(lt::compute("C", {5, 19, 2}, [&](lt::Var i, lt::Var j, lt::Var p) {
        return lt::sum(lt::select(p == 0, A(i, r, 0) * B(r, j, 0) - A(i, r, 1) * B(r, j, 1),
                                  A(i, r, 0) * B(r, j, 1) + A(i, r, 1) * B(r, j, 0)),
                       r);
      })));
  INFO(products);
  CHECK(has(products, "vectorized for ji in 0..8"));
  CHECK_FALSE(has(products, "unrolled for r"));

  // Terms that lie two apart fold in lanes.
  lt::Input<std::int32_t, 2> Z("Z", {33, 2});
  const std::string vector =
      planned(lt::program_of(lt::compute(
                  "y", {5, 2},
                  [&](lt::Var i, lt::Var p) {
                    return lt::sum(lt::select(p == 0, A(i, r, 0) * Z(r, 0) - A(i, r, 1) * Z(r, 1),
                                              A(i, r, 0) * Z(r, 1) + A(i, r, 1) * Z(r, 0)),
                                   r);
                  })),
              "x86-64-v4");
  INFO(vector);
  CHECK(has(vector, "y_lanes"));
}

TEST_CASE("a reader that gives each place a few results has its lanes along the places") {
  lt::Input<std::int32_t, 2> A("A", {70, 3});
  lt::Reduce r("r", 3);
  auto S = lt::compute("S", {70}, [&](lt::Var t) { return lt::sum(A(t, r) * A(t, r), r); });
  auto Y = lt::compute("Y", {70, 3}, [&](lt::Var t, lt::Var c) { return A(t, c) * S(t); });
  const std::string text = planned(lt::program_of(Y));
  INFO(text);
  const std::size_t results = text.rfind("unrolled for j in 0..3");
  REQUIRE(results != std::string::npos);
  CHECK(text.find("vectorized for i in", results) < text.find("block Y(", results));
}

TEST_CASE("windows of channels that are computed alike have lanes along both") {
  for (const bool clamped : {false, true}) {
    lt::Input<std::uint8_t, 3> X("X", {9, 43, 3});
    lt::Reduce a("a", 3), b("b", 3);
    const auto at = lt::clamp(X);
    const std::string text =
        planned(lt::program_of(lt::compute("Y", {7, 41, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
          return lt::reduce_min(
              clamped ? lt::Expr<std::uint8_t>(at(i + a - 1, j + b - 1, c)) : X(i + a, j + b, c),
              {a, b});
        })));
    INFO(text);
    CHECK(has(text, "vectorized for j_vki in"));
  }
}

TEST_CASE("a sum of channels that moves to its consumer has one loop with them, as that has") {
  for (const bool clamped : {false, true}) {
    lt::Input<std::uint8_t, 3> X("X", {11, 45, 3});
    lt::Reduce a("a", 3), b("b", 3);
    const auto S = lt::compute("S", {9, 43, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
      const auto pixel = clamped ? lt::Expr<std::uint8_t>(lt::clamp(X)(i + a - 1, j + b - 1, c))
                                 : X(i + a, j + b, c);
      return lt::sum(lt::cast<int>(pixel), {a, b});
    });
    const std::string text =
        planned(lt::program_of(lt::compute("Y", {9, 43, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
          return lt::cast<std::uint8_t>((S(i, j, c) + 4) >> 4);
        })));
    INFO(text);
    CHECK(has(text, "alloc S: i16[9, 129]"));
    CHECK(has(text, "= u8((i32(S[vi, vj_vk]) + "));
  }
}

TEST_CASE("small matrices of a batch have lanes along it, or short vectors of their own") {
  const auto batch = [](int m, int n, int k) {
    lt::Input<std::int32_t, 3> A("A", {39, m, k}), B("B", {39, k, n});
    lt::Reduce r("r", k);
    return planned(lt::program_of(lt::compute("C", {39, m, n},
                                              [&](lt::Var t, lt::Var i, lt::Var j) {
                                                return lt::sum(A(t, i, r) * B(t, r, j), r);
                                              })),
                   "x86-64-v4");
  };
  const std::string two = batch(2, 2, 3);
  INFO(two);
  CHECK(has(two, "C_cache: i32[3, 2, 2, 16]"));
  CHECK(has(batch(2, 3, 2), "vectorized for ii in 0..16"));
  const std::string three = batch(3, 3, 3);
  INFO(three);
  CHECK(has(three, "vectorized for k"));
}

TEST_CASE("results side by side that one index counts together are no channels of a place") {
  lt::Input<std::int32_t, 2> X("X", {17, 16});
  lt::Input<std::int32_t, 1> V("V", {2});
  lt::Reduce r("r", 2);
  const std::string text = planned(
      lt::program_of(lt::compute("Y", {17, 32},
                                 [&](lt::Var i, lt::Var j) {
                                   return lt::sum(
                                       V(lt::min(j, 1)) - X(i, lt::floordiv(j, 2)) + V(r), r);
                                 })),
      "x86-64-v4");
  INFO(text);
  CHECK_FALSE(has(text, "T0_cache"));
  CHECK(has(text, "Y_reindex"));
}

TEST_CASE("channels are vectors of their own also where a call tells how many places there are") {
  lt::Dim h("h"), w("w");
  lt::Input<std::uint8_t, 3> X("X", {h, w, 4});
  const auto Y =
      lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) { return X(i, j, c); });
  const std::string text =
      lt::default_schedule(lt::program_of(Y), one_core("x86-64-v3")).program().str();
  INFO(text);
  CHECK(has(text, "unrolled for k in 0..3"));
  CHECK(has(text, "vectorized for i_ji"));
}

TEST_CASE("weights of three channels repeat every three registers") {
  const auto planned = [](int channels, bool any_size) {
    lt::Dim n("n");
    const lt::Extent count = any_size ? lt::Extent(n) : lt::Extent(1000);
    lt::Input<std::uint8_t, 2> X("X", {count, channels});
    lt::Input<float, 1> W("W", {channels});
    const auto Y = lt::compute("Y", {count, channels}, [&](lt::Var i, lt::Var c) {
      return (lt::cast<float>(X(i, c)) - 100.0f) * W(c);
    });
    const lt::Program p = lt::program_of(Y);
    if (any_size) return lt::default_schedule(p, one_core("x86-64-v4")).program().str();
    return test::checked_plan(p, {"x86-64-v4"}).program().str();
  };
  for (const bool any_size : {false, true}) {
    CHECK(has(planned(3, any_size), "vectorized for i_ji in 0..48"));
    CHECK(has(planned(6, any_size), "vectorized for i_ji in 0..48"));
    CHECK(has(planned(12, any_size), "vectorized for i_ji in 0..48"));
    CHECK(has(planned(2, any_size), "vectorized for i_ji in 0..16"));
    CHECK(has(planned(4, any_size), "vectorized for i_ji in 0..16"));
    // Colours that move with another loop are no weights: three times the size.
    const lt::Extent h = any_size ? lt::Extent(lt::Dim("h")) : lt::Extent(20);
    lt::Input<std::uint8_t, 2> C("C", {h, 3});
    const auto larger =
        lt::compute("Y", {h, 3, 3}, [&](lt::Var i, lt::Var, lt::Var c) { return C(i, c); });
    CHECK_FALSE(has(lt::default_schedule(lt::program_of(larger), one_core()).program().str(),
                    "vectorized for i_j_ki"));
    // Five registers, and groups longer than 16 bytes.
    CHECK_FALSE(has(planned(5, any_size), "i_ji"));
    CHECK_FALSE(has(planned(8, any_size), "i_ji"));
  }
}
