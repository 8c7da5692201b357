// Reductions that read an image and what lies around it.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"

namespace lt = lathe;
using test::has;

namespace {

/// Of an image of rows x 9 with zeros around it, `groups` groups of 4 channels to 16 filters each.
lt::Tensor<float, 3> convolution(int rows, int groups, int stride) {
  lt::Input<float, 3> X("X", {rows, 9, 4 * groups});
  lt::Input<float, 4> K("K", {3, 3, 4, 16 * groups});
  const auto at = lt::pad(X, 0.0f);
  lt::Reduce a("a", 3), b("b", 3), c("c", 4);
  return lt::compute("Y", {(rows + stride - 1) / stride, (8 + stride) / stride, 16 * groups},
                     [&](lt::Var i, lt::Var j, lt::Var f) {
                       const auto channel = (f / 16) * 4 + c;
                       return lt::sum(
                           at(i * stride + a - 1, j * stride + b - 1, channel) * K(a, b, c, f),
                           {a, b, c});
                     });
}

std::string planned(const lt::AnyTensor& out) {
  const lt::Program start = lt::program_of(out);
  const lt::Schedule s = lt::default_schedule(start, lt::Target("x86-64-v4"));
  CHECK(test::run(s.program()) == test::run(start));
  return s.str();
}

}  // namespace

TEST_CASE(
    "padded convolutions read a copy with its border, whatever strides and groups they have") {
  for (const int groups : {1, 3})
    for (const int stride : {1, 2}) {
      const std::string text = planned(convolution(6, groups, stride));
      CHECK(has(text, "X_padded[vi + 1, vj + 1, vk] = select("));
      CHECK(!has(text.substr(text.find("block Y(")), "select("));
    }
}

TEST_CASE("what is read a few times is not copied, nor what depends on more than its place") {
  lt::Input<float, 3> X("X", {8, 8, 32}), K("K", {3, 3, 32});
  const auto at = lt::pad(X, 0.0f);
  lt::Reduce a("a", 3), b("b", 3), r("r", 32);
  const auto depthwise = lt::compute("D", {8, 8, 32}, [&](lt::Var i, lt::Var j, lt::Var c) {
    return lt::sum(at(i + a - 1, j + b - 1, c) * K(a, b, c), {a, b});
  });
  CHECK(!has(planned(depthwise), "X_padded"));

  lt::Input<float, 2> A("A", {32, 32}), B("B", {32, 32});
  const auto triangle = lt::compute("T", {32, 32}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::select(r <= i, A(r, j), 0.0f) * B(i, r), r);
  });
  CHECK(!has(planned(triangle), "A_padded"));
}

TEST_CASE("rows of a constant that lie pages apart are laid out in panels for few rows, too") {
  const auto product = [](bool constant) {
    lt::Input<float, 2> A("A", {4, 512});
    lt::Input<float, 2> B("B", {512, 1024}, {.constant = constant});
    lt::Reduce r("r", 512);
    return lt::default_schedule(
               lt::compute("C", {4, 1024},
                           [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); }),
               lt::Target("x86-64-v4"))
        .str();
  };
  CHECK(has(product(true), "alloc B_cache"));
  CHECK(!has(product(false), "alloc B_cache"));
}

TEST_CASE("a transposed convolution computes for each residue the terms that reach it") {
  for (const int kernel : {2, 3, 4}) {
    lt::Input<float, 3> X("X", {5, 4, 6});
    lt::Input<float, 4> K("K", {kernel, kernel, 6, 16});
    lt::Reduce a("a", kernel), b("b", kernel), c("c", 6);
    const auto Y = lt::compute("Y", {10, 8, 16}, [&](lt::Var i, lt::Var j, lt::Var f) {
      const auto p = lt::floordiv(i + 1 - a, 2), q = lt::floordiv(j + 1 - b, 2);
      const auto reaches = lt::floormod(i + 1 - a, 2) == 0 && lt::floormod(j + 1 - b, 2) == 0;
      return lt::sum(
          lt::select(reaches && lt::in_bounds(X, p, q, c), X(p, q, c) * K(a, b, c, f), 0.0f),
          {a, b, c});
    });
    const std::string text = planned(Y);
    CHECK(has(text, "alloc Y_reindex: f32[5, 2, 4, 2, 16] scope register"));
    CHECK(has(text, "where floormod("));
    CHECK(has(text, "Y[vi * 2 + vi_1, vj * 2 + vj_1, vk] = Y_reindex[vi, vi_1, vj, vj_1, vk]"));
  }
}

TEST_CASE("terms of which lanes would choose apart stay choices") {
  lt::Input<float, 2> X("X", {32, 64});
  lt::Reduce r("r", 32);
  const auto lower = lt::compute(
      "L", {64}, [&](lt::Var j) { return lt::sum(lt::select(r <= j, X(r, j), 0.0f), r); });
  CHECK(!has(planned(lower), "where "));
}

TEST_CASE("an image whose border is never reached is read in place") {
  lt::Input<float, 3> X("X", {8, 8, 16});
  lt::Input<float, 2> K("K", {16, 32});
  const auto at = lt::pad(X, 0.0f);
  lt::Reduce c("c", 16);
  const auto Y = lt::compute("Y", {8, 8, 32}, [&](lt::Var i, lt::Var j, lt::Var f) {
    return lt::sum(at(i, j, c) * K(c, f), c);
  });
  CHECK(!has(planned(Y), "X_padded"));
}

TEST_CASE("images of a batch are copied one by one, unless threads would be without work") {
  lt::Input<float, 4> X("X", {8, 14, 14, 8});
  lt::Input<float, 4> K("K", {3, 3, 8, 32});
  const auto at = lt::pad(X, 0.0f);
  lt::Reduce a("a", 3), b("b", 3), c("c", 8);
  const lt::Program batch = lt::program_of(
      lt::compute("Y", {8, 14, 14, 32}, [&](lt::Var m, lt::Var i, lt::Var j, lt::Var f) {
        return lt::sum(at(m, i + a - 1, j + b - 1, c) * K(a, b, c, f), {a, b, c});
      }));
  lt::Target target("x86-64-v4");
  const auto nests = [&](int cores) {
    target.cores = cores;
    const std::string text = lt::default_schedule(batch, target).str();
    CHECK(has(text, "X_padded"));
    std::size_t count = 0;
    for (const char* loop : {"\n  for ", "\n  parallel for "})
      for (std::size_t k = 0; (k = text.find(loop, k)) != std::string::npos; ++k) ++count;
    return count;
  };
  CHECK(nests(1) == 1);
  CHECK(nests(16) == 2);
}

TEST_CASE("bytes at borders that a call tells are read from a copy where masks are of words") {
  const auto copies = [](auto value, const lt::Extent& w, const char* target, int beside) {
    using T = decltype(value);
    const lt::Dim h("h");
    lt::Input<T, 2> X("X", {h, w});
    const auto Y = lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
      const auto at = [&](int k) {
        return lt::cast<std::int32_t>(lt::clamp(X)(i + k * (1 - beside), j + k * beside));
      };
      return lt::cast<T>((at(-2) + at(-1) + at(0) + at(1) + at(2)) / 5);
    });
    return has(lt::default_schedule(lt::program_of(Y), lt::Target(target)).str(), "X_padded");
  };
  const lt::Dim w("w");
  using Byte = std::uint8_t;
  CHECK(copies(Byte(), w, "x86-64-v3", 1));
  CHECK(copies(std::int16_t(), w, "x86-64-v3", 1));
  CHECK_FALSE(copies(std::int32_t(), w, "x86-64-v3", 1));
  CHECK_FALSE(copies(Byte(), w, "x86-64-v4", 1));
  CHECK_FALSE(copies(Byte(), lt::Extent(80), "x86-64-v3", 1));
  CHECK_FALSE(copies(Byte(), w, "x86-64-v3", 0));  // rows have no border in a vector
}

TEST_CASE("borders of images without rows, and of copies, are not copied") {
  for (const std::int64_t n : {0, 30}) {
    const lt::Dim w("w");
    lt::Input<std::int16_t, 2> X("X", {n, w});
    const auto at = lt::clamp(X);
    const auto Y = lt::compute("Y", {n, w}, [&](lt::Var i, lt::Var j) {
      return at(i, j - 1) + at(i, j) + at(i, j + 1) + at(i + 1, j) + at(i + 1, j - 1);
    });
    const std::string text = lt::default_schedule(lt::program_of(Y), lt::Target("x86-64-v3")).str();
    CHECK(has(text, "X_padded") == (n > 0));
    CHECK(!has(text, "X_padded_padded"));
  }
}
