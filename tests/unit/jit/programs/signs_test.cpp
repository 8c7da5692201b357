// Products of bytes of any signs, with their zero points, by default: all numbers of their types.
#include <doctest/doctest.h>

#include <array>
#include <lathe/lathe.hpp>
#include <lathe/support/random.hpp>
#include <vector>

namespace lt = lathe;

namespace {

template <class T>
std::vector<T> all_numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<T> out;
  for (std::int64_t k = 0; k < count; ++k)
    out.push_back(static_cast<T>(lt::detail::random_bits(seed, static_cast<std::uint64_t>(k))));
  return out;
}

enum class Kind { plain, zero_points, distances };

/// Whether both results are the evaluator's.
template <class TA, class TB>
bool is_exact(std::int64_t m, std::int64_t n, std::int64_t d, Kind kind, bool constant,
              const lt::Target& target) {
  lt::Input<TA, 2> A("A", {m, d});
  lt::Input<TB, 2> B("B", {d, n}, {.constant = constant});
  lt::Input<std::int32_t, 1> zero("zero", {n});
  lt::Input<std::int8_t, 0> shift("shift");
  lt::Reduce r("r", d);
  const auto C = lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    const auto a = lt::cast<std::int32_t>(A(i, r)), b = lt::cast<std::int32_t>(B(r, j));
    if (kind == Kind::plain) return lt::sum(a * b, r);
    if (kind == Kind::distances) return lt::sum((a - b) * (a - b), r);
    return lt::sum((a - lt::cast<std::int32_t>(shift())) * (b - zero(j)), r);
  });
  const auto D = lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) {
    return C(i, j) + zero(j) * lt::cast<std::int32_t>(shift());
  });
  const auto a = all_numbers<TA>(m * d, 1);
  const auto b = all_numbers<TB>(d * n, 2);
  const auto z = all_numbers<std::int32_t>(n, 3);
  const auto count = static_cast<std::size_t>(m * n);
  std::vector<std::int32_t> c(count), wanted_c(count), e(count), wanted_e(count);
  const auto call = [&](auto& f, auto& to, auto& and_to) {
    f(lt::view(a, {m, d}), lt::view(b, {d, n}), lt::view(z, {n}), std::int8_t{-128},
      lt::view(to, {m, n}), lt::view(and_to, {m, n}));
  };
  const auto both = lt::outputs(C, D);
  auto f = lt::jit({both, {.target = target}}, A, B, zero, shift, C, D);
  auto reference = lt::evaluate(both, A, B, zero, shift, C, D);
  call(f, c, e), call(reference, wanted_c, wanted_e);
  return c == wanted_c && e == wanted_e;
}

/// Sizes of which products by default are not the evaluator's.
template <class TA, class TB>
std::vector<std::array<std::int64_t, 3>> wrong_sizes(Kind kind, bool constant,
                                                     const lt::Target& target) {
  std::vector<std::array<std::int64_t, 3>> out;
  for (const auto& size : {std::array<std::int64_t, 3>{24, 48, 64}, {13, 37, 29}, {1, 33, 70}})
    if (!is_exact<TA, TB>(size[0], size[1], size[2], kind, constant, target)) out.push_back(size);
  return out;
}

}  // namespace

TEST_CASE("products of bytes of any signs, less zero points, and squared distances") {
  std::vector<lt::Target> targets{lt::host()};
  if (lt::host().has("avx512vnni")) targets.push_back(lt::host().without("avx512vnni"));
  if (lt::Target("x86-64-v3").runs_on(lt::host())) targets.emplace_back("x86-64-v3");
  for (const lt::Target& target : targets)
    for (const Kind kind : {Kind::plain, Kind::zero_points, Kind::distances})
      for (const bool constant : {false, true}) {
        CAPTURE(target.str());
        CAPTURE(static_cast<int>(kind));
        CHECK(wrong_sizes<std::int8_t, std::int8_t>(kind, constant, target).empty());
        CHECK(wrong_sizes<std::uint8_t, std::uint8_t>(kind, constant, target).empty());
        CHECK(wrong_sizes<std::int8_t, std::uint8_t>(kind, constant, target).empty());
        CHECK(wrong_sizes<std::uint8_t, std::int8_t>(kind, constant, target).empty());
      }
}
