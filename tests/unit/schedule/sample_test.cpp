// Sampling: numbers that stay symbols in later steps, with decisions that a trace records.
#include <lathe/support/random.hpp>
#include <map>
#include <support/errors.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using test::check_kept;
using test::error_of;

namespace {

template <std::size_t N>
std::array<std::int64_t, N> values(const lt::Schedule& s, const std::array<lt::Sample, N>& all) {
  std::array<std::int64_t, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = s.value(all[k]);
  return out;
}

}  // namespace

TEST_CASE("random numbers are those of SplitMix64, and even below a bound") {
  // The reference generator, seeded with 1234567.
  CHECK(lt::detail::random_bits(1234567, 0) == 6457827717110365317u);
  CHECK(lt::detail::random_bits(1234567, 1) == 3203168211198807973u);
  CHECK(lt::detail::random_bits(1234567, 2) == 9817491932198370423u);
  CHECK(lt::detail::random_below(10, ~std::uint64_t{0}) == 9);
  CHECK(lt::detail::random_below(1, ~std::uint64_t{0}) == 0);
  CHECK(lt::detail::random_below(~std::uint64_t{0}, ~std::uint64_t{0}) == ~std::uint64_t{0} - 1);
  std::array<int, 6> seen{};
  for (std::uint64_t k = 0; k < 6000; ++k)
    ++seen[lt::detail::random_below(6, lt::detail::random_bits(7, k))];
  for (int n : seen) CHECK(std::abs(n - 1000) < 150);
}

TEST_CASE("sample_perfect_tile: factors multiply to the extent, the innermost within its limits") {
  for (std::int64_t n : {1, 2, 12, 17, 64, 97}) {
    test::Add k(n);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      lt::Schedule start(k.Y, {.seed = seed}), s = start;
      auto [i] = s.loops<1>(k.Y);
      const auto tile = s.sample_perfect_tile<3>(i, 8);
      const auto [a, b, c] = values(s, tile);
      CHECK(a * b * c == n);
      CHECK(c <= 8);
      auto [io, im, ii] = s.split(i, {tile[0], tile[1], tile[2]});
      s.vectorize(ii);
      check_kept(start, s);
    }
  }
}

TEST_CASE("sample_perfect_tile: every admissible innermost factor comes up") {
  test::Add k(48);
  std::map<std::int64_t, int> seen;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    lt::Schedule s(k.Y, {.seed = seed});
    ++seen[s.value(s.sample_perfect_tile<2>(s.loops(k.Y)[0], 16, 2)[1])];
  }
  CHECK(seen.size() == 7);  // 2 3 4 6 8 12 16
  for (const auto& [factor, count] : seen) CHECK(count > 25);
}

TEST_CASE("samples of one schedule differ from step to step, and with the seed") {
  test::Add k(1024);
  lt::Schedule s(k.Y), other(k.Y, {.seed = 1});
  const std::vector<std::int64_t> many(1000, 0);
  std::vector<std::int64_t> numbers;
  for (std::int64_t v = 0; v < 1000; ++v) numbers.push_back(v);
  const std::int64_t a = s.value(s.sample_categorical(numbers)),
                     b = s.value(s.sample_categorical(numbers));
  CHECK(a != b);
  CHECK(other.value(other.sample_categorical(numbers)) != a);
}

TEST_CASE("sample_categorical: by weight") {
  test::Add k(16);
  std::map<std::int64_t, int> seen;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    lt::Schedule s(k.Y, {.seed = seed});
    ++seen[s.value(s.sample_categorical({4, 8, 16}, {1, 0, 2}))];
  }
  CHECK(seen[8] == 0);
  CHECK(std::abs(seen[4] - 200) < 60);
  CHECK(std::abs(seen[16] - 400) < 60);
}

TEST_CASE("samples are symbols in the trace, and another decision changes the steps that follow") {
  test::Gemm k(24, 32, 5);
  lt::Schedule start(k.D), s = start;
  auto loops = s.loops<3>(k.C);
  auto [o, t] = s.sample_perfect_tile<2>(loops[1], 16, 1, {4, 8});
  lt::Sample u = s.sample_categorical({2, 3}, {}, 1);
  s.split(loops[1], {o, t});
  s.split(loops[0], {lt::infer, u * 2});
  const std::string text = s.trace().str();
  CHECK(text.substr(text.find('\n') + 1) ==
        "b0 = block(\"C\")\n"
        "l0, l1, _ = loops(b0)\n"
        "n0, n1 = sample_perfect_tile(l1, 2, max_inner=16, decision=[4, 8])\n"
        "n2 = sample_categorical([2, 3], decision=1)\n"
        "split(l1, [(n0), (n1)])\n"
        "split(l0, [infer, (n2 * 2)])\n");
  check_kept(start, s);

  lt::Trace other = lt::parse_trace(text);
  for (auto& e : other.entries)
    if (e.primitive->name == "sample_perfect_tile")
      e.inputs.back().list = {lt::Arg::of_number(2), lt::Arg::of_number(16)};
  lt::Schedule again = lt::replay(other, start);
  CHECK(again.str().find("for jo in 0..2") != std::string::npos);
  CHECK(again.str().find("for ji in 0..16") != std::string::npos);
  check_kept(start, again);
}

TEST_CASE("a decision that does not fit is refused on replay, and nothing is half done") {
  test::Add k(30);
  lt::Schedule start(k.Y), s = start;
  auto [i] = s.loops<1>(k.Y);
  auto [o, t] = s.sample_perfect_tile<2>(i, 16, 1, {3, 10});
  s.split(i, {o, t});
  lt::Trace trace = s.trace();
  const auto with = [&](std::vector<std::int64_t> tile) {
    for (auto& e : trace.entries)
      if (e.primitive->name == "sample_perfect_tile") {
        e.inputs.back().list.clear();
        for (std::int64_t f : tile) e.inputs.back().list.push_back(lt::Arg::of_number(f));
      }
    return error_of([&] { lt::replay(trace, start); });
  };
  const lt::Program before = start.program();
  CHECK(with({6, 5}) == "none");
  CHECK(with({7, 5}) ==
        "L0233 sample_perfect_tile: decision {7, 5} gives 35, but loop 'i'(30) has another extent");
  CHECK(with({1, 30}) ==
        "L0233 sample_perfect_tile: decision {1, 30} ends with a factor that is not 1 to 16");
  CHECK(with({30}) == "L0233 sample_perfect_tile: decision {30} has 1 factors, not 2");
  CHECK(with({0, 30}) == "L0233 sample_perfect_tile: decision {0, 30} holds 0");
  CHECK(with({-3, -10}) == "L0233 sample_perfect_tile: decision {-3, -10} holds -3");
  CHECK(with({std::int64_t{1} << 62, 16}) ==
        "L0233 sample_perfect_tile: decision {4611686018427387904, 16} holds 16");
  CHECK(start.program() == before);
}

TEST_CASE("sampling: refusals") {
  test::Add k(31), empty(0);
  lt::Dim n("n");
  test::Add open(n);
  lt::Schedule s(k.Y), e(empty.Y), o(open.Y);
  const auto loop = s.loops(k.Y)[0];
  CHECK(error_of([&] { s.sample_perfect_tile<2>(loop, 16, 2); }) ==
        "L0233 sample_perfect_tile: no factor from 2 to 16 divides the extent of loop 'i'(31)");
  CHECK(error_of([&] { s.sample_perfect_tile<1>(loop, 16); }) ==
        "L0233 sample_perfect_tile: no factor from 1 to 16 is the extent of loop 'i'(31)");
  CHECK(error_of([&] { s.sample_perfect_tile_any(loop, 0); }) ==
        "L0233 sample_perfect_tile: 0 factors are not 1 to 16");
  CHECK(error_of([&] { s.sample_perfect_tile<2>(loop, 0); }) ==
        "L0233 sample_perfect_tile: no factor from 1 to 0 divides the extent of loop 'i'(31)");
  CHECK(error_of([&] { e.sample_perfect_tile<2>(e.loops(empty.Y)[0]); }) ==
        "L0233 sample_perfect_tile: loop 'i'(0) has no constant extent from 1 to 2^40");
  CHECK(error_of([&] { o.sample_perfect_tile<2>(o.loops(open.Y)[0]); }) ==
        "L0233 sample_perfect_tile: loop 'i'(n) has no constant extent from 1 to 2^40");
  CHECK(error_of([&] { s.sample_categorical({}); }) ==
        "L0233 sample_categorical: there are no values");
  CHECK(error_of([&] {
          s.sample_categorical({1, 2}, {1});
        }) == "L0233 sample_categorical: 2 values have 1 weights");
  CHECK(error_of([&] {
          s.sample_categorical({1, 2}, {1, -1});
        }) == "L0233 sample_categorical: weights {1, -1} hold -1");
  CHECK(error_of([&] {
          s.sample_categorical({1, 2}, {0, 0});
        }) == "L0233 sample_categorical: weights {0, 0} are all 0");
  CHECK(error_of([&] {
          s.sample_categorical({1, 2}, {}, 2);
        }) == "L0233 sample_categorical: decision 2 is no position in {1, 2}");
  CHECK(error_of([&] {
          (void)o.value(s.sample_categorical({1, 2}));
        }) == "L0201 value: no step of this schedule sampled this number");
  CHECK(error_of([&] {
          o.split(o.loops(open.Y)[0], {lt::infer, s.sample_categorical({2})});
        }).substr(0, 5) == "L0203");
}

TEST_CASE("a Dim's name is not taken by a sampled number") {
  lt::Dim n("n0");
  test::Add k(n);
  lt::Schedule start(k.Y), s = start;
  auto [i] = s.loops<1>(k.Y);
  lt::Sample t = s.sample_categorical({4}, {}, 0);
  s.split(i, {t, lt::AnyExpr(s.program()->dims[0]->var) + 1}, lt::Tail::guard);
  CHECK(s.trace().str().find("n1 = sample_categorical") != std::string::npos);
  check_kept(start, s, {{"n0", 13}});
}

TEST_CASE("any step takes a sampled number through apply") {
  test::Add k(32);
  lt::Schedule start(k.Y), s = start;
  auto [i] = s.loops<1>(k.Y);
  lt::Sample t = s.sample_categorical({4}, {}, 0);
  s.apply(*lt::find_primitive("unroll"), {i, t});
  CHECK(s.trace().str().find("unroll(l0, factor=n0)") != std::string::npos);
  check_kept(start, s);
}

TEST_CASE("samples as C++: compiles, and gives the same schedule") {
  test::Gemm k(24, 32, 5);
  lt::Schedule want(k.D), s(k.D);
  auto loops = want.loops<3>(k.C);
  auto tile = want.sample_perfect_tile<2>(loops[1], 64, 1, {4, 8});
  want.split(loops[1], {tile[0], tile[1]});
  want.split(loops[0], {lt::infer, want.sample_categorical({2, 3}, {}, 1) * 2});
  const char* text = R"(auto b0 = s.block("C");
auto [l0, l1, unused0] = s.loops<3>(b0);
auto [n0, n1] = s.sample_perfect_tile<2>(l1, 64, 1, {4, 8});
s.split(l1, {(n0), (n1)});
auto n2 = s.sample_categorical({2, 3}, {}, 1);
s.split(l0, {lathe::infer, (n2 * 2)});
)";
  CHECK(want.trace().cpp() == text);
  // clang-format off
auto b0 = s.block("C");
auto [l0, l1, unused0] = s.loops<3>(b0);
auto [n0, n1] = s.sample_perfect_tile<2>(l1, 64, 1, {4, 8});
s.split(l1, {(n0), (n1)});
auto n2 = s.sample_categorical({2, 3}, {}, 1);
s.split(l0, {lathe::infer, (n2 * 2)});
  // clang-format on
  CHECK(lt::structurally_equal(s.program(), want.program()));
}

namespace {

// P feeds C, under whose loops it may go; Q is an output.
lt::Schedule three_stages() {
  lt::Input<float, 2> X("X", {12, 8});
  auto P = lt::compute("P", {12, 8}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2.0f; });
  auto C = lt::compute("C", {12, 8}, [&](lt::Var i, lt::Var j) { return P(i, j) + 1.0f; });
  auto Q = lt::compute("Q", {12}, [&](lt::Var i) { return C(i, 0) - P(i, 1); });
  return lt::Schedule(lt::outputs(C, Q));
}

}  // namespace

TEST_CASE("sample_compute_location: every legal place comes, and only those") {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    lt::Schedule start(three_stages().program(), {.seed = seed}), s = start;
    s.sample_compute_location("P");
    check_kept(start, s);
    const std::string text = s.trace().str();
    const std::size_t at = text.find("decision=") + 9;
    ++seen[text.substr(at, text.find(')', at) - at)];
  }
  // Not under the loops of one consumer: the other one is outside of them.
  CHECK(seen.size() == 2);
  CHECK(seen["\"root\""] > 10);
  CHECK(seen["\"inline\""] > 10);

  lt::Schedule whole = three_stages();
  whole.merge(whole.loops("C")[0], whole.loops("Q")[0]);
  CHECK(whole.block("Q").tag);
  lt::Schedule merged = whole;
  merged.sample_compute_location("P", "C:0");
  check_kept(three_stages(), merged);
  CHECK(merged.loops("P").size() == 3);
}

TEST_CASE("an opaque block may allocate inside") {
  lt::Schedule start(lt::parse(R"(program P(in X: i32[8], out Y: i32[8]):
  for i in 0..8:
    block Y(vi in 0..8 = i) reads X[vi..+1], Y[vi..+1] writes Y[vi..+1]:
      alloc left: i32[1]
      left[0] = X[vi] & 15i32
      Y[vi] = 0i32
      while left[0] > 0i32:
        Y[vi] = Y[vi] + 1i32
        left[0] = left[0] >> 1i32
)"));
  lt::Schedule s = start;
  s.sample_compute_location("Y");
  s.split(s.loops("Y")[0], {lt::infer, 4});
  CHECK(s.loops("Y").size() == 2);
  check_kept(start, s);
}

TEST_CASE("sample_compute_location: a decision can be edited, and is checked on replay") {
  lt::Schedule start = three_stages(), s = start;
  s.sample_compute_location("P", "inline");
  CHECK(s.trace().cpp() ==
        "auto b0 = s.block(\"P\");\ns.sample_compute_location(b0, \"inline\");\n");
  auto with = [&](const std::string& decision) {
    std::string text = s.trace().str();
    text.replace(text.find("inline"), 6, decision);
    return error_of([&] { (void)lt::replay(lt::parse_trace(text), start); });
  };
  CHECK(with("root") == "none");
  CHECK(with("Q:0").substr(0, 5) == "L0211");
  CHECK(with("C:2") == "L0233 sample_compute_location: decision 'C:2' is no place for block 'P'");
  CHECK(with("nowhere").substr(0, 5) == "L0233");
}

TEST_CASE("sample_compute_location: draws don't repeat each other") {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    lt::Schedule s(three_stages().program(), {.seed = seed});
    s.sample_compute_location("Q");
    s.sample_categorical({1, 2, 3, 4});
    s.sample_categorical({1, 2, 3, 4});
    const std::string text = s.trace().str();
    ++seen[text.substr(text.find("sample_categorical"))];
  }
  CHECK(seen.size() > 8);
}
