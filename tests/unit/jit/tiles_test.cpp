// Products in tile registers, and the same bits without them.
#include <doctest/doctest.h>

#include <cstring>
#include <lathe/lathe.hpp>
#include <string>
#include <support/errors.hpp>
#include <vector>

namespace lt = lathe;
using test::error_of;

namespace {

constexpr int m = 48, n = 64, k = 96;

struct Halves {
  lt::Input<lt::bf16, 2> X{"X", {m, k}};
  lt::Input<lt::bf16, 4> W{"W", {n / 16, k / 2, 16, 2}, lt::dense};
  lt::Reduce r{"r", k};
  lt::Tensor<float, 2> C = lt::compute("C", {m, n}, [this](lt::Var i, lt::Var j) {
    return lt::sum(
        lt::cast<float>(X(i, r)) * lt::cast<float>(W(lt::floordiv(j, 16), lt::floordiv(r, 2),
                                                     lt::floormod(j, 16), lt::floormod(r, 2))),
        r);
  });
};

struct Bytes {
  lt::Input<std::uint8_t, 2> X{"X", {m, k * 2}};
  lt::Input<std::int8_t, 4> W{"W", {n / 16, k / 2, 16, 4}, lt::dense};
  lt::Reduce r{"r", k * 2};
  lt::Tensor<std::int32_t, 2> C = lt::compute("C", {m, n}, [this](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<std::int32_t>(X(i, r)) *
                       lt::cast<std::int32_t>(W(lt::floordiv(j, 16), lt::floordiv(r, 4),
                                                lt::floormod(j, 16), lt::floormod(r, 4))),
                   r);
  });
};

// Tiles of 16 x 32 sums.
template <class P>
lt::Schedule tiled(const P& p, const std::string& row, const std::string& type, int group,
                   bool whole = true) {
  lt::Schedule s(p.C);
  auto [i, j, r] = s.template loops<3>(p.C);
  auto [io, i16] = s.template split<2>(i, {lt::infer, 16});
  auto [jo, jt, j16] = s.template split<3>(j, {lt::infer, 2, 16});
  auto [ro, r16, rg] = s.template split<3>(r, {lt::infer, 16, group});
  s.reorder({io, jo, ro, jt, i16, j16, r16, rg});
  lt::BlockRef out = s.cache_write(p.C, lt::Scope::fragment);
  s.reverse_compute_at(out, jo);
  s.unroll(jt);
  lt::BlockRef zero = s.decompose_reduction(p.C, ro);
  s.tensorize(i16, row);
  s.tensorize(s.loops(zero).rbegin()[1], "tilezero_" + type);
  if (!whole) return s;
  auto [a, b] = s.template split<2>(s.loops(out).back(), {lt::infer, 16});
  s.reorder({a, s.loops(out).rbegin()[2], b});
  s.unroll(a);
  s.tensorize(s.loops(out).rbegin()[1], "tilecopy_" + type);
  s.parallel(io);
  return s;
}

template <class T, class P, class A, class B>
std::vector<T> run(const P& p, const lt::Schedule& s, const lt::JitOptions& options,
                   const std::vector<A>& x, const std::vector<B>& w) {
  std::vector<T> c(m * n);
  auto f = lt::jit({s, options}, p.X, p.W, p.C);
  const int depth = static_cast<int>(x.size()) / m, group = 4 / static_cast<int>(sizeof(A));
  f(lt::view(x, {m, depth}), lt::view(w, {n / 16, depth / group, 16, group}), lt::view(c, {m, n}));
  return c;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

const lt::Context& interpreting() {
  static const lt::Context context(
      lt::ContextOptions{.log = [](lt::LogLevel, std::string_view) {}, .llvm = "off"});
  return context;
}

// Whatever the machine has: with its own instructions, without tiles, forbidden, interpreted.
template <class T, class P, class A, class B>
void check_all(const P& p, const lt::Schedule& s, const std::vector<A>& x,
               const std::vector<B>& w) {
  const auto wanted = run<T>(p, s, {.context = &interpreting()}, x, w);
  std::string said;
  const lt::Context forbids(lt::ContextOptions{
      .log = [&](lt::LogLevel, std::string_view text) { said += text; }, .tile_registers = false});
  CHECK(same_bits(run<T>(p, s, {}, x, w), wanted));
  CHECK(same_bits(run<T>(p, s, {.context = &forbids}, x, w), wanted));
  CHECK((said.find("does without tile registers") != std::string::npos) ==
        lt::host().has("amx-tile"));
  if (lt::host().has("amx-tile"))
    CHECK(same_bits(run<T>(p, s, {.target = lt::host().without("amx-tile")}, x, w), wanted));
}

}  // namespace

TEST_CASE("tiles of bf16: the same bits by tile registers, by vectors and by the evaluator") {
  Halves p;
  std::vector<lt::bf16> x(m * k), w(k * n);
  for (std::size_t e = 0; e < x.size(); ++e)
    x[e] = lt::bf16((static_cast<float>(e * 37 % 251) - 125) * (e % 7 == 0 ? 1e-38f : 0.013f));
  for (std::size_t e = 0; e < w.size(); ++e)
    w[e] = lt::bf16((static_cast<float>(e * 53 % 255) - 127) * (e % 5 == 0 ? 1e-37f : 0.011f));
  check_all<float>(p, tiled(p, "tdpbf16ps", "f32", 2), x, w);
}

TEST_CASE("tiles of bytes: the same bits by tile registers, by vectors and by the evaluator") {
  Bytes p;
  std::vector<std::uint8_t> x(m * k * 2);
  std::vector<std::int8_t> w(k * 2 * n);
  for (std::size_t e = 0; e < x.size(); ++e) x[e] = static_cast<std::uint8_t>(e * 37 % 256);
  for (std::size_t e = 0; e < w.size(); ++e)
    w[e] = static_cast<std::int8_t>(static_cast<int>(e * 53 % 256) - 128);
  check_all<std::int32_t>(p, tiled(p, "tdpbusd", "i32", 4), x, w);
}

TEST_CASE("tiles: a fragment that is read by parts is refused") {
  if (!lt::host().has("amx-tile")) return;
  Halves p;
  const lt::Schedule s = tiled(p, "tdpbf16ps", "f32", 2, false);
  CHECK(error_of([&] { lt::jit(s, p.X, p.W, p.C); }).find("L0606 lower: fragment 'C_cache'") !=
        std::string::npos);
}
