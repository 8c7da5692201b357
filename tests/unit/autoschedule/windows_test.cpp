// Tiles of results whose windows overlap.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"
#include "one_core.hpp"

namespace lt = lathe;
using test::count_of;
using test::has;

namespace {

struct Window {
  std::int64_t taps = 3, stride = 1, dilation = 1, pad = 1;
};

/// Of images of `side` x `side` x channels, each channel for itself; i32, so that order is free.
lt::Program depthwise(const lt::Extent& images, std::int64_t side, std::int64_t channels,
                      const Window& w = {}) {
  lt::Input<std::int32_t, 4> X("X", {images, side, side, channels});
  lt::Input<std::int32_t, 3> K("K", {w.taps, w.taps, channels});
  const auto P = lt::pad(X, 0);
  lt::Reduce a("a", w.taps), b("b", w.taps);
  const std::int64_t out = (side + 2 * w.pad - w.dilation * (w.taps - 1) - 1) / w.stride + 1;
  return lt::program_of(lt::compute(
      "Y", {images, out, out, channels}, [&](lt::Var m, lt::Var i, lt::Var j, lt::Var c) {
        const auto y = i * w.stride + a * w.dilation - w.pad,
                   x = j * w.stride + b * w.dilation - w.pad;
        return lt::sum((w.pad > 0 ? P(m, y, x, c) : X(m, y, x, c)) * K(a, b, c), {a, b});
      }));
}

/// Largest of boxes of 3 x 3 x 3 at every place of a volume; lanes lie along what slides.
lt::Program largest(std::int64_t side) {
  lt::Input<std::int32_t, 3> X("X", {side, side, side});
  lt::Reduce a("a", 3), b("b", 3), c("c", 3);
  return lt::program_of(
      lt::compute("Y", {side - 2, side - 2, side - 2}, [&](lt::Var i, lt::Var j, lt::Var k) {
        return lt::reduce_max(X(i + a, j + b, k + c), {a, b, c});
      }));
}

lt::Schedule planned(const lt::Program& program, int cores = 1) {
  lt::Target target("x86-64-v4");
  target.cores = cores;
  return lt::default_schedule(program, target);
}

}  // namespace

TEST_CASE("windows that overlap are computed in tiles of rows and columns") {
  const std::string text = planned(depthwise(1, 24, 64)).str();
  CHECK(has(text, "unrolled for b in 0..3"));
  CHECK(has(text, "unrolled for ji"));
  CHECK(has(text, "unrolled for ki"));
  // Inside of the image nothing asks for the border.
  CHECK(count_of(text, "@partition=\"always\"") == 2);
  CHECK(count_of(planned(depthwise(1, 24, 64, {.pad = 0})).str(), "@partition") == 0);
}

TEST_CASE("windows that share nothing, or have too many taps, have no such tiles") {
  lt::Input<std::int32_t, 3> X("X", {24, 24, 64});
  lt::Reduce a("a", 2), b("b", 2);
  CHECK_FALSE(has(planned(lt::program_of(lt::compute(
                              "Y", {12, 12, 64},
                              [&](lt::Var i, lt::Var j, lt::Var c) {
                                return lt::reduce_max(X(2 * i + a, 2 * j + b, c), {a, b});
                              })))
                      .str(),
                  "unrolled for ji"));
  CHECK_FALSE(has(planned(depthwise(1, 40, 64, {.taps = 100, .pad = 50})).str(), "unrolled for b"));
}

namespace {

/// Of 9 terms by weights, rows and columns; i32, so that order is free.
template <class N>
lt::Tensor<std::int32_t, 2> filtered(const lt::Input<std::int32_t, 2>& X, N h, N w,
                                     bool along_rows) {
  const lt::Input<std::int32_t, 1> K("K", {9});
  lt::Reduce a("a", 9);
  return lt::compute("F", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto x = lt::clamp(X);
    return lt::sum((along_rows ? x(i, j + a - 4) : x(i + a - 4, j)) * K(a), a);
  });
}

template <class N>
lt::Program filter_of(N h, N w, bool along_rows) {
  return lt::program_of(filtered(lt::Input<std::int32_t, 2>("X", {h, w}), h, w, along_rows));
}

std::string plan_for_avx2(const lt::Program& program) {
  lt::Target target("x86-64-v3");
  target.cores = 1;
  return lt::default_schedule(program, target).str();
}

}  // namespace

TEST_CASE("terms of filters along one axis are written out, also along the one of vectors") {
  for (const bool along_rows : {false, true}) {
    CAPTURE(along_rows);
    CHECK(has(plan_for_avx2(filter_of(96, 200, along_rows)), "unrolled for a in 0..9"));
    CHECK(has(plan_for_avx2(filter_of(lt::Dim("h"), lt::Dim("w"), along_rows)),
              "unrolled for a in 0..9"));
    for (const int w : {3, 40, 61}) {
      const lt::Program p = filter_of(21, w, along_rows);
      CHECK(test::run(lt::default_schedule(p, lt::Target("x86-64-v3")).program()) == test::run(p));
    }
  }
  // A signal has no rows.
  const lt::Input<std::int32_t, 1> X("X", {40}), K("K", {9});
  lt::Reduce a("a", 9);
  const lt::Program signal = lt::program_of(
      lt::compute("Y", {32}, [&](lt::Var i) { return lt::sum(X(i + a) * K(a), a); }));
  CHECK(has(plan_for_avx2(signal), "unrolled for a in 0..9"));
  CHECK(test::run(lt::default_schedule(signal, lt::Target("x86-64-v3")).program()) ==
        test::run(signal));
}

TEST_CASE("pointers to rows that only a call tells apart fit into registers") {
  // Three rows of results read eleven, four read twelve.
  CHECK(
      has(plan_for_avx2(filter_of(lt::Dim("h"), lt::Dim("w"), false)), "unrolled for ii in 0..3"));
  CHECK_FALSE(has(plan_for_avx2(filter_of(96, 200, false)), "unrolled for ii in 0..3"));
}

TEST_CASE("extremes of floats stay in a loop, where they are guessed") {
  const lt::Input<float, 1> X("X", {20011});
  lt::Reduce a("a", 12);
  const lt::Program p = lt::program_of(
      lt::compute("Y", {20000}, [&](lt::Var i) { return lt::reduce_max(X(i + a), a); }));
  CHECK_FALSE(has(plan_for_avx2(p), "unrolled for a"));
}

TEST_CASE("threads and borders that run apart go together") {
  const auto both = [](const lt::Program& p, int cores, const char* parallel) {
    const std::string text = planned(p, cores).str();
    CAPTURE(text);
    CHECK(has(text, parallel));
    CHECK(count_of(text, "@partition=\"always\"") == 2);
  };
  both(depthwise(32, 24, 256), 8, "parallel for i in 0..32");
  both(depthwise(1, 56, 128), 2, "parallel for jo");  // rows of tiles, some for each task
  both(depthwise(1, 24, 256), 8, "parallel for lo");  // too few of these: channels
}

TEST_CASE("an image without a border along a loop has none apart there, and no step is refused") {
  lt::Input<std::int32_t, 3> X("X", {26, 24, 64}), K("K", {3, 3, 64});
  const auto P = lt::pad(X, 0);
  lt::Reduce a("a", 3), b("b", 3);
  const lt::Program columns =
      lt::program_of(lt::compute("Y", {24, 24, 64}, [&](lt::Var i, lt::Var j, lt::Var c) {
        return lt::sum(P(i + a, j + b - 1, c) * K(a, b, c), {a, b});
      }));
  std::vector<std::string> left_out;
  const lt::Schedule s = lt::default_schedule(columns, test::one_core(), {}, left_out);
  CHECK(count_of(s.str(), "@partition=\"always\"") == 1);
  CHECK(left_out.empty());
  CHECK(test::run(s.program()) == test::run(columns));
}

TEST_CASE("places that push each other out of the first cache are read by several lines") {
  // Of a batch that nobody knows no copy is made.
  const lt::Dim images("images");
  const auto lanes = [&](std::int64_t channels) {
    const std::string text = planned(depthwise(images, 14, channels)).str();
    CHECK(!has(text, "X_cache"));
    const std::size_t at = text.find("vectorized for li in 0..");
    REQUIRE(at != text.npos);
    return std::stoi(text.substr(at + 24));
  };
  CHECK(lanes(1024) >= 32);
  CHECK(lanes(1040) == 16);
}

TEST_CASE("places that push each other out are read from a copy of longer rows where it pays") {
  const auto text = [](std::int64_t channels) { return planned(depthwise(2, 14, channels)).str(); };
  CHECK(has(text(1024), "alloc X_cache: i32[2, 14, 14, 1024] aligned [2, 1024, 16]"));
  CHECK(!has(text(1040), "X_cache"));
  const lt::Program start = depthwise(2, 5, 1024);
  CHECK(test::run(planned(start).program()) == test::run(start));
}

TEST_CASE("conditions that no border decides are no reason for a tile") {
  lt::Input<std::int32_t, 3> X("X", {8, 8, 32});
  lt::Input<std::int32_t, 4> K("K", {4, 4, 32, 32});
  lt::Reduce a("a", 4), b("b", 4), c("c", 32);
  const lt::Program transposed =
      lt::program_of(lt::compute("Y", {16, 16, 32}, [&](lt::Var i, lt::Var j, lt::Var f) {
        const auto y = lt::floordiv(i + 1 - a, 2), x = lt::floordiv(j + 1 - b, 2);
        const auto whole = lt::floormod(i + 1 - a, 2) == 0 && lt::floormod(j + 1 - b, 2) == 0;
        return lt::sum(
            lt::select(whole && lt::in_bounds(X, y, x, c), X(y, x, c) * K(a, b, c, f), 0),
            {a, b, c});
      }));
  CHECK_FALSE(has(planned(transposed).str(), "unrolled for c"));
}

TEST_CASE("tiles of windows compute what the program says") {
  for (const Window& w : {Window{}, Window{.stride = 2}, Window{.dilation = 2, .pad = 2},
                          Window{.pad = 0}, Window{.taps = 5, .stride = 2, .pad = 2},
                          Window{.taps = 7, .pad = 3}, Window{.taps = 2, .pad = 1}})
    for (const std::int64_t side : {8, 13}) {
      CAPTURE(w.taps);
      CAPTURE(side);
      const lt::Program program = depthwise(2, side, 21, w);
      for (const int cores : {1, 8})
        CHECK(test::run(planned(program, cores).program()) == test::run(program));
    }
  const lt::Program volume = largest(11);
  CHECK(test::run(planned(volume).program()) == test::run(volume));
}

TEST_CASE("windows at clamped places and around the border are those of padded images") {
  const auto window = [](int side, int kind) {
    lt::Input<std::int32_t, 2> X("X", {side, side});
    lt::Reduce a("a", 3), b("b", 3);
    const auto clamped = lt::clamp(X);
    return lt::program_of(lt::compute("Y", {side, side}, [&](lt::Var i, lt::Var j) {
      const auto around = X((i + a + side - 1) % side, (j + b + side - 1) % side);
      return lt::sum(kind == 0 ? lt::Expr<std::int32_t>(clamped(i + a - 1, j + b - 1))
                               : lt::Expr<std::int32_t>(around),
                     {a, b});
    }));
  };
  for (const int kind : {0, 1}) {
    CAPTURE(kind);
    const std::string text = planned(window(90, kind)).str();
    INFO(text);
    CHECK(has(text, "unrolled for ii in 0.."));  // rows that share what they read
    CHECK(has(text, "@partition=\"always\""));
    for (const int side : {1, 2, 5, 17, 40})
      CHECK(test::run(planned(window(side, kind)).program()) == test::run(window(side, kind)));
  }
}

TEST_CASE("rows whose length a call tells are tiles where lanes at their ends load under masks") {
  const auto rows = [](auto value, const char* target) {
    const lt::Dim h("h"), w("w");
    lt::Input<decltype(value), 2> X("X", {h, w});
    lt::Reduce a("a", 3), b("b", 3);
    const auto at = lt::clamp(X);
    const auto Y = lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
      return lt::reduce_min(at(i + a - 1, j + b - 1), {a, b});
    });
    const std::string text =
        lt::default_schedule(lt::program_of(Y), test::one_core(target)).program().str();
    CHECK(has(text, "vectorized for ji"));
    return text;
  };
  for (const auto& text : {rows(std::uint8_t(), "x86-64-v4"), rows(std::int32_t(), "x86-64-v3")}) {
    CHECK(has(text, "unrolled for ii"));
    // A row that is clamped is no border of its own.
    CHECK_FALSE(has(text, "@partition"));
    CHECK_FALSE(has(text, "X_padded"));
  }
  // A mask of bytes is many instructions there; each place is loaded once so.
  CHECK(has(rows(std::uint8_t(), "x86-64-v3"), "X_padded"));
  CHECK_FALSE(has(rows(std::uint8_t(), "x86-64-v2"), "unrolled for ii"));
}

TEST_CASE("boxes share what their columns have in common, where it is less than the box") {
  const auto box = [](int rows, int columns, auto reduce, auto term) {
    lt::Input<float, 2> X("X", {17, 70});
    lt::Reduce a("a", rows), b("b", columns);
    return lt::compute("Y", {17, 70}, [&](lt::Var i, lt::Var j) {
      return reduce(term(lt::clamp(X)(i + a - 1, j + b - 2), b), {a, b});
    });
  };
  const auto most = [](const auto& x, auto axes) { return lt::reduce_max(x, axes); };
  const auto total = [](const auto& x, auto axes) { return lt::sum(x, axes); };
  const auto plain = [](const auto& x, const auto&) { return x; };
  const auto weighted = [](const auto& x, const auto& b) { return x * lt::cast<float>(b); };
  using Axes = std::initializer_list<lt::Reduce>;
  const auto shares = [](const lt::Tensor<float, 2>& Y, bool strict = false) {
    const lt::Program start = lt::program_of(Y);
    const lt::Schedule s =
        lt::default_schedule(start, test::one_core("x86-64-v4"), {.strict = strict});
    return has(s.str(), "Y_window");
  };
  const auto largest = [&](int rows, int columns) {
    return box(
        rows, columns, [&](const auto& x, Axes axes) { return most(x, axes); }, plain);
  };
  CHECK(shares(largest(5, 5)));
  CHECK(shares(largest(5, 5), true));
  CHECK(shares(largest(7, 3)));
  CHECK_FALSE(shares(largest(3, 3)));
  CHECK_FALSE(shares(largest(1, 9)));
  const auto summed = [&](auto term) {
    return box(
        5, 5, [&](const auto& x, Axes axes) { return total(x, axes); }, term);
  };
  CHECK(shares(summed(plain)));
  CHECK_FALSE(shares(summed(plain), true));
  CHECK_FALSE(shares(summed(weighted)));
  const lt::Schedule s = planned(lt::program_of(largest(5, 5)));
  CHECK(test::run(s.program()) == test::run(lt::program_of(largest(5, 5))));
}

TEST_CASE("windows without terms are no reason for a tile") {
  for (const std::int64_t rows : {3, 16})
    for (const std::int64_t columns : {1, 20})
      for (const std::int64_t taps : {1, 3}) {
        lt::Input<std::int64_t, 2> X("X", {rows + taps, 0});
        lt::Input<std::int64_t, 3> W("W", {taps, 0, columns});
        lt::Reduce a("a", taps), b("b", 0);
        const lt::Program start =
            lt::program_of(lt::compute("Y", {rows, columns}, [&](lt::Var i, lt::Var j) {
              return lt::sum(X(i + a, b) * W(a, b, j), {a, b});
            }));
        const lt::Schedule s = lt::default_schedule(start, test::one_core("x86-64-v4"));
        CHECK(test::run(s.program()) == test::run(start));
      }
}
