// Default schedules that take instructions for products of narrow numbers.
#include "../schedule/intrinsics.hpp"

#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lower/pipeline.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"

namespace lt = lathe;
using test::has;

namespace {

const lt::Target& tiles() {
  static const lt::Target target("sapphirerapids");
  return target;
}
/// Dot products of bytes and halves, but no tiles.
const lt::Target& dots() {
  static const lt::Target target("znver4");
  return target;
}

/// The default schedule of integers; says which of its steps was refused, and whether it computes
/// something else.
std::string planned(const lt::AnyTensor& out, const lt::Target& target) {
  const lt::Program start = lt::program_of(out);
  std::vector<std::string> left_out;
  const lt::Schedule s = lt::default_schedule(start, target, {}, left_out);
  std::string text = s.str();
  for (const auto& line : left_out) text += "left out: " + line + "\n";
  if (test::run(s.program()) != test::run(start)) text += "another result\n";
  return text;
}
bool is_good(const std::string& text) {
  return !has(text, "left out: ") && !has(text, "another result");
}

}  // namespace

TEST_CASE("products of bytes take tiles: b in tiles of its own, a as it lies") {
  const test::ByteGemm k(64, 64, 128);
  const std::string text = planned(k.C, tiles());
  CHECK(is_good(text));
  CHECK(has(text, "alloc B_cache: i8[4, 32, 16, 4]"));
  CHECK(has(text, "alloc C_cache: i32[64, 64] scope fragment"));
  CHECK(has(text, "A[ramp(broadcast(vi, 64), 1, 16)"));
  CHECK(has(text, "unrolled for i1 in 0..2:\n        unrolled for"));
}

TEST_CASE("tails are padded with zeros, and only what is wanted is copied out") {
  const test::ByteGemm k(50, 70, 130);
  const std::string text = planned(k.C, tiles());
  CHECK(is_good(text));
  CHECK(has(text, "tile_dot("));
  CHECK(has(text, "block C_copy(vi in 0..50"));
  CHECK(has(text, "A_pad[floordiv(vi, 16), floordiv(vr, 64), floormod(vi, 16), floormod(vr, 64)]"));
}

TEST_CASE("without tiles, dot products of vectors; without both, or too little to do, neither") {
  const test::ByteGemm k(24, 96, 64);
  const std::string text = planned(k.C, dots());
  CHECK(is_good(text));
  CHECK(has(text, "dot4("));
  CHECK(has(text, "scope register"));
  CHECK(!has(planned(k.C, lt::Target("x86-64-v3")), "dot4("));
  const test::ByteGemm one(1, 1, 3);
  CHECK(!has(planned(one.C, dots()), "dot4("));
}

TEST_CASE("panels are laid out together as far as lines of memory have parts of them") {
  const auto copy_of = [](std::int64_t columns) {
    const std::string text = planned(test::ByteGemm(24, columns, 64).C, dots());
    return text.substr(0, text.find("block B_cache("));
  };
  // 16 bytes of each row are of one panel.
  CHECK(has(copy_of(128), "for j1 in 0..4:\n          unrolled for i2 in 0..4:"));
  CHECK(has(copy_of(96), "for j1 in 0..2:\n          unrolled for i2 in 0..4:"));
  CHECK(has(copy_of(80), "for j1 in 0..1:\n          unrolled for i2 in 0..4:"));
}

TEST_CASE("each target's own instructions are found, of other signs if need be") {
  const test::ByteGemm mixed(24, 96, 64);
  const test::NarrowGemm<std::int8_t, std::int8_t, std::int32_t> alike(24, 96, 64);
  const lt::Target vnni("alderlake"), neon("neoverse-n1");
  const auto finds = [](const lt::AnyTensor& out, const lt::Target& target, const char* call) {
    const std::string text = planned(out, target);
    CHECK(is_good(text));
    return has(text, call);
  };
  CHECK(finds(mixed.C, vnni, "dot4(C_cache[vi, ramp(vj, 1, 8)]"));
  CHECK(finds(alike.C, vnni, "dot4(C_terms[vi, ramp(vj, 1, 8)]"));
  CHECK(finds(alike.C, vnni.with("avxvnniint8"), "dot4(C_cache[vi, ramp(vj, 1, 8)]"));
  CHECK(finds(alike.C, neon, "dot4(C_cache[vi, ramp(vj, 1, 4)]"));
  CHECK(finds(mixed.C, neon, "dot4(C_terms[vi, ramp(vj, 1, 4)]"));
  CHECK(finds(mixed.C, neon.with("i8mm"), "dot4(C_cache[vi, ramp(vj, 1, 4)]"));
  const test::HalfGemm halves(24, 96, 64);
  CHECK(finds(halves.C, neon.with("bf16"), "odd_dot2(C_cache[vi, ramp(vj, 1, 4)]"));
}

TEST_CASE("sums of f16 are fused where the target computes with them, and nobody asks for strict") {
  const lt::Input<lt::f16, 2> A("A", {24, 64}), B("B", {64, 96});
  lt::Reduce r("r", 64);
  const auto C = lt::compute("C", {24, 96},
                             [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  const auto text = [&](const lt::Target& target, bool strict) {
    return lt::default_schedule(lt::program_of(C), target, {.strict = strict}).str();
  };
  for (const char* name : {"sapphirerapids", "neoverse-n1"}) {
    CHECK(has(text(lt::Target(name), false), "= fma(broadcast(A"));
    CHECK(!has(text(lt::Target(name), true), "= fma("));
  }
  CHECK(!has(text(dots(), false), "= fma("));
}

TEST_CASE("no terms, no rows, no columns") {
  for (const auto [m, n, d] : {std::array{7, 17, 0}, std::array{0, 17, 8}, std::array{7, 0, 8}}) {
    const test::ByteGemm k(m, n, d);
    CHECK(is_good(planned(k.C, tiles())));
  }
}

TEST_CASE("products of halves, unless floats keep their order") {
  const test::HalfGemm k(64, 64, 64);
  const lt::Program start = lt::program_of(k.C);
  for (const auto* target : {&tiles(), &dots()}) {
    const lt::Schedule s = lt::default_schedule(start, *target);
    CHECK(has(s.str(), target == &tiles() ? "tile_dot(" : "dot2("));
    CHECK(has(s.numerics().at(0), "tensorize: by"));
    const lt::Schedule strict = lt::default_schedule(start, *target, {.strict = true});
    CHECK(!has(strict.str(), "_dot("));
    CHECK(!has(strict.str(), "dot2("));
  }
}

TEST_CASE("operands in any order of axes, in batches, with what follows in the same tile") {
  int seed = 0;
  for (const auto* target : {&tiles(), &dots()})
    for (const bool turn_a : {false, true})
      for (const bool turn_b : {false, true})
        for (const int batch : {1, 3}) {
          const int m = 49 + 15 * (seed % 3), n = 32 + 7 * (seed % 2), d = 64 + 2 * (seed % 4);
          ++seed;
          lt::Input<std::uint8_t, 3> A("A", {batch, turn_a ? d : m, turn_a ? m : d});
          lt::Input<std::int8_t, 3> B("B", {batch, turn_b ? n : d, turn_b ? d : n},
                                      {.constant = true});
          lt::Reduce r("r", d);
          auto T = lt::compute("T", {batch, m, n}, [&](lt::Var q, lt::Var i, lt::Var j) {
            return lt::sum(lt::cast<std::int32_t>(turn_a ? A(q, r, i) : A(q, i, r)) *
                               lt::cast<std::int32_t>(turn_b ? B(q, j, r) : B(q, r, j)),
                           r);
          });
          auto C = lt::compute("C", {batch, m, n}, [&](lt::Var q, lt::Var i, lt::Var j) {
            return lt::max(T(q, i, j) + 3, 0);
          });
          const std::string text = planned(C, *target);
          INFO(text);
          CHECK(is_good(text));
          CHECK((has(text, "tile_dot(") || has(text, "dot4(")));
        }
}

TEST_CASE("convolutions by channels, also strided, with and without tails") {
  for (const auto* target : {&tiles(), &dots()})
    for (const int stride : {1, 2})
      for (const int channels : {64, 20}) {
        lt::Input<std::uint8_t, 3> X("X", {4 * stride + 3, 16 * stride + 3, channels});
        lt::Input<std::int8_t, 4> W("W", {3, 3, channels, 32}, {.constant = true});
        lt::Reduce ky("ky", 3), kx("kx", 3), c("c", channels);
        auto Y = lt::compute("Y", {4, 16, 32}, [&](lt::Var y, lt::Var x, lt::Var f) {
          return lt::sum(lt::cast<std::int32_t>(X(y * stride + ky, x * stride + kx, c)) *
                             lt::cast<std::int32_t>(W(ky, kx, c, f)),
                         {ky, kx, c});
        });
        const std::string text = planned(Y, *target);
        INFO(text);
        CHECK(is_good(text));
        CHECK((has(text, "tile_dot(") || has(text, "dot4(")));
      }
}

TEST_CASE("columns that do not fit the second cache are taken in blocks") {
  const test::ByteGemm k(64, 2048, 2048);
  const lt::Schedule s = lt::default_schedule(k.C, tiles());
  CHECK(has(s.str(), "alloc B_cache: i8[128, 512, 16, 4]"));
  CHECK(has(s.trace().cpp(), "lathe::infer, 16, 2, 16})"));
}

TEST_CASE(
    "terms that lie apart, or begin elsewhere, and indices that are loops only by their bindings") {
  lt::Input<std::uint8_t, 2> A("A", {16, 66});
  lt::Input<std::int8_t, 2> B("B", {32, 33});
  for (const auto* target : {&tiles(), &dots()})
    for (int terms : {4, 32})
      for (int step : {1, 2}) {
        lt::Reduce r("r", terms);
        const auto C = lt::compute("C", {16, 32}, [&](lt::Var i, lt::Var j) {
          return lt::sum(lt::cast<int>(A(i, r * step + 1)) * lt::cast<int>(B(j, r + 1)), r);
        });
        const std::string text = planned(C, *target);
        CAPTURE(text);
        CHECK(is_good(text));
      }
  for (const char* index : {"vj, vr - 2", "vj + 0, vr - 2", "vj, vr + 0"}) {
    const lt::Program start = lt::parse(
        "program P(in A: u8[16, 66], in B: i8[32, 66], out C: i32[16, 32]):\n"
        "  for i in 0..16:\n    for j in 0..32:\n      for r in 0..64:\n"
        "        block C(vi in 0..16 = i, vj in 0..32 = j, reduce vr in 2..66 = r + 2) reduce sum "
        "init:\n          C[vi, vj] sum= i32(A[vi, vr]) * i32(B[" +
        std::string(index) + "])\n");
    for (const auto* target : {&tiles(), &dots()}) {
      std::vector<std::string> left_out;
      const lt::Schedule s = lt::default_schedule(start, *target, {}, left_out);
      CHECK(test::run(s.program()) == test::run(start));
    }
  }
}

TEST_CASE("rows of a block take tiles that end with it, as no padding makes a part longer") {
  lt::Input<std::uint8_t, 2> A("A", {64, 20});
  lt::Input<std::int8_t, 2> B("B", {20, 48});
  lt::Input<int, 2> rest("rest", {64, 48});
  lt::Reduce r("r", 20);
  const auto C = lt::compute("C", {64, 48}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<int>(A(i, r)) * lt::cast<int>(B(r, j)), r);
  });
  const auto D =
      lt::compute("D", {64, 48}, [&](lt::Var i, lt::Var j) { return C(i, j) + rest(i, j); });
  for (const char* name : {"x86-64-v3", "znver4"}) {
    lt::Target target(name);
    target.cores = 1, target.l2_bytes = 2048, target.l3_bytes = 1 << 20;
    CHECK(is_good(planned(D, target)));
  }
}

TEST_CASE("convolutions of bytes take instructions whether padding is reached or not") {
  for (const int pad : {0, 1}) {
    lt::Input<std::uint8_t, 3> X("X", {8, 16, 64});
    lt::Input<std::int8_t, 4> K("K", {3, 3, 64, 32});
    const auto at = lt::pad(X, std::uint8_t(0));
    const int rows = 6 + 2 * pad, columns = 14 + 2 * pad;
    lt::Reduce a("a", 3), b("b", 3), c("c", 64);
    const auto Y = lt::compute("Y", {rows, columns, 32}, [&](lt::Var i, lt::Var j, lt::Var f) {
      return lt::sum(lt::cast<std::int32_t>(at(i + a - pad, j + b - pad, c)) *
                         lt::cast<std::int32_t>(K(a, b, c, f)),
                     {a, b, c});
    });
    for (const lt::Target& target : {tiles(), dots()}) {
      const std::string text = planned(Y, target);
      CHECK(is_good(text));
      CHECK(has(text, target.name == "znver4" ? "dot4(" : "scope fragment"));
    }
  }
}

namespace {

/// sum of (A[i, r] - za) * (B[r, j] - zb); squared differences if they have no zero points.
template <class TA, class TB>
lt::Tensor<std::int32_t, 2> from_zero_points(std::int64_t m, std::int64_t n, std::int64_t d,
                                             bool constant, bool squares = false) {
  lt::Input<TA, 2> A("A", {m, d});
  lt::Input<TB, 2> B("B", {d, n}, {.constant = constant});
  lt::Input<std::int32_t, 0> za("za"), zb("zb");
  lt::Reduce r("r", d);
  return lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    const auto a = lt::cast<std::int32_t>(A(i, r)), b = lt::cast<std::int32_t>(B(r, j));
    return squares ? lt::sum((a - b) * (a - b), r) : lt::sum((a - za()) * (b - zb()), r);
  });
}

}  // namespace

TEST_CASE("products less zero points, and squared distances, take instructions for products") {
  for (const bool squares : {false, true})
    for (const auto [m, n, d] : {std::array{24, 96, 64}, std::array{13, 50, 37}}) {
      const std::string mixed = planned(
                            from_zero_points<std::uint8_t, std::int8_t>(m, n, d, false, squares),
                            dots()),
                        alike = planned(
                            from_zero_points<std::int8_t, std::int8_t>(m, n, d, false, squares),
                            dots());
      CHECK(is_good(mixed));
      CHECK(is_good(alike));
      CHECK(has(mixed, "dot4("));
      CHECK(has(alike, "dot4("));
      // The second split is that of the signs.
      CHECK(!has(mixed, "C_terms_sum"));
      CHECK(has(alike, "C_terms_sum"));
    }
}

TEST_CASE("sums beside a product are made where they are less work, or once for all calls") {
  for (const int rows : {1, 2, 8})
    for (const bool constant : {false, true}) {
      const std::string text =
          planned(from_zero_points<std::uint8_t, std::int8_t>(rows, 96, 64, constant), dots());
      CHECK(is_good(text));
      CHECK(has(text, "dot4(") == (constant || rows == 8));
    }
}

TEST_CASE("what follows a product of moved bytes stays in its tile, with tails") {
  lt::Input<std::int8_t, 2> A("A", {21, 70});
  lt::Input<std::int8_t, 2> B("B", {70, 45}, {.constant = true});
  lt::Input<std::int32_t, 1> bias("bias", {45});
  lt::Reduce r("r", 70);
  const auto C = lt::compute("C", {21, 45}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<std::int32_t>(A(i, r)) * lt::cast<std::int32_t>(B(r, j)), r);
  });
  const auto D = lt::compute("D", {21, 45}, [&](lt::Var i, lt::Var j) {
    return lt::cast<std::int8_t>(lt::clamp((C(i, j) + bias(j)) >> 7, -128, 127));
  });
  const std::string text = planned(D, dots());
  CHECK(is_good(text));
  CHECK(has(text, "dot4("));
  CHECK(!has(text, "block C_added"));
  // Neither the product nor what follows it is in memory but in D.
  CHECK(!has(text, "alloc C: i32[21, 45]\n"));
}
