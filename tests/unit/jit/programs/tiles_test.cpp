// Products in tile registers, and the same bits without them.
#include <doctest/doctest.h>

#include <cstring>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/ir/contents.hpp>
#include <lathe/lathe.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/runtime/llvm.hpp>
#include <string>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <vector>

#include "../byte_product.hpp"

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

// Which ways of computing give other bits than the evaluator: with the machine's own instructions,
// with tiles forbidden, and on a machine without them.
template <class T, class P, class A, class B>
std::string disagreement(const P& p, const lt::Schedule& s, const std::vector<A>& x,
                         const std::vector<B>& w) {
  const auto wanted = run<T>(p, s, {.context = &interpreting()}, x, w);
  const lt::Context forbids(lt::ContextOptions{.tile_registers = false});
  std::string out;
  if (!same_bits(run<T>(p, s, {}, x, w), wanted)) out += " host";
  if (!same_bits(run<T>(p, s, {.context = &forbids}, x, w), wanted)) out += " forbidden";
  const lt::Target without =
      lt::host().has("amx-tile") ? lt::host().without("amx-tile") : lt::Target();
  if (!same_bits(run<T>(p, s, {.target = without}, x, w), wanted)) out += " without";
  return out;
}

}  // namespace

TEST_CASE("tiles of bf16: the same bits by tile registers, by vectors and by the evaluator") {
  Halves p;
  std::vector<lt::bf16> x(m * k), w(k * n);
  for (std::size_t e = 0; e < x.size(); ++e)
    x[e] = lt::bf16((static_cast<float>(e * 37 % 251) - 125) * (e % 7 == 0 ? 1e-38f : 0.013f));
  for (std::size_t e = 0; e < w.size(); ++e)
    w[e] = lt::bf16((static_cast<float>(e * 53 % 255) - 127) * (e % 5 == 0 ? 1e-37f : 0.011f));
  CHECK(disagreement<float>(p, tiled(p, "tdpbf16ps", "f32", 2), x, w) == "");
}

TEST_CASE("tiles of bytes: the same bits by tile registers, by vectors and by the evaluator") {
  Bytes p;
  std::vector<std::uint8_t> x(m * k * 2);
  std::vector<std::int8_t> w(k * 2 * n);
  for (std::size_t e = 0; e < x.size(); ++e) x[e] = static_cast<std::uint8_t>(e * 37 % 256);
  for (std::size_t e = 0; e < w.size(); ++e)
    w[e] = static_cast<std::int8_t>(static_cast<int>(e * 53 % 256) - 128);
  CHECK(disagreement<std::int32_t>(p, tiled(p, "tdpbusd", "i32", 4), x, w) == "");
}

TEST_CASE("tiles: a context that forbids them says what does without") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  if (!lt::host().has("amx-tile")) LATHE_SKIP("no AMX");
  Halves p;
  std::string said;
  const lt::Context forbids(lt::ContextOptions{
      .log = [&](lt::LogLevel, std::string_view text) { said += text; }, .tile_registers = false});
  auto f = lt::jit({tiled(p, "tdpbf16ps", "f32", 2), {.context = &forbids}}, p.X, p.W, p.C);
  CHECK(said == "kernel 'C' does without tile registers: ContextOptions::tile_registers is false");
  CHECK(f.assembly().find("tdpbf16ps") == std::string::npos);
}

TEST_CASE("tiles: code for a machine that has them") {
  Halves p;
  const lt::Target xeon("sapphirerapids");
  const lt::Program program = tiled(p, "tdpbf16ps", "f32", 2).program();
  const std::string text = lt::lower(program, xeon).str();
  const auto count = [&](const char* what) {
    int n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++n;
    return n;
  };
  CHECK(count("tile_dot(") == 2);  // of which each has a tile of W, and both one of X
  CHECK(count("tile(X[") == 1);
  CHECK(count("tile(W[") == 2);
  CHECK(count("tile_configure(") == 2);  // once a parallel body, and back at its end
  const std::string code = lt::emit_llvm(lt::lower(program, xeon), xeon, 19).text;
  CHECK(code.find("@llvm.x86.tdpbf16ps(i8 0, i8 2, i8 3)") != std::string::npos);
  CHECK(code.find("@llvm.x86.tilerelease()") != std::string::npos);
  CHECK(lt::to_c(tiled(p, "tdpbf16ps", "f32", 2)).find("tile") == std::string::npos);
}

TEST_CASE("tiles: a fragment that is read by parts is refused, and more than there are") {
  Halves p;
  const lt::Target xeon("sapphirerapids");
  const auto refusal = [&](const lt::Program& program) {
    return error_of([&] { lt::lower(program, xeon); });
  };
  CHECK(refusal(tiled(p, "tdpbf16ps", "f32", 2, false).program())
            .find("L0606 lower: fragment 'C_cache' is read by parts") != std::string::npos);
  std::string nine = "program P(out Y: f32[16, 16]):\n";
  for (int t = 0; t < 9; ++t)
    nine += "  alloc T" + std::to_string(t) + ": f32[16, 16] scope fragment\n";
  const std::string all = "[ramp(broadcast(0, 16), 1, 16), broadcast(ramp(0, 1, 16), 16)] = tile(";
  for (int t = 0; t < 9; ++t)
    nine += "  T" + std::to_string(t) + all + "broadcast(0.0, 256), 16)\n";
  for (int t = 0; t < 9; ++t) {
    const std::string from = "T" + std::to_string(t) + all;
    nine += "  Y" + all + from.substr(0, from.find(" =")) + ", 16)\n";
  }
  CHECK(refusal(lt::parse(nine)).find("L0606 lower: more tiles are needed at once") !=
        std::string::npos);
}

TEST_CASE("tiles: a store of another kind, whose buffer's name looks the same in a summary") {
  std::string other = "a";
  while (lt::detail::Contents::bit(other) != lt::detail::Contents::bit(std::string("T")))
    other += 'a';
  const std::string place = "[ramp(broadcast(0, 16), 1, 16), broadcast(ramp(0, 1, 16), 16)]";
  const lt::Program program = lt::parse("program P(out Y: f32[16, 16], out " + other +
                                        ": f32[4]):\n  alloc T: f32[16, 16] scope fragment\n  T" +
                                        place + " = tile(broadcast(0.0, 256), 16)\n  " + other +
                                        "[0] = 1.0\n  Y" + place + " = tile(T" + place + ", 16)\n");
  const std::string text = lt::lower(program, lt::Target("sapphirerapids")).str();
  CHECK(text.find(other + "[0] = 1.0") != std::string::npos);
}

TEST_CASE("tiles: what text may not claim") {
  const auto refusal = [&](const std::string& value) {
    return error_of([&] {
      lt::parse(
          "program P(in X: f32[32, 32], out Y: f32[32, 32]):\n"
          "  Y[ramp(broadcast(0, 16), 1, 16), broadcast(ramp(0, 1, 16), 16)] = " +
          value + "\n");
    });
  };
  const std::string load = "X[ramp(broadcast(0, 16), 1, 16), broadcast(ramp(0, 1, 16), 16)]";
  CHECK(refusal("tile(" + load + ", 16)") == "none");
  CHECK(refusal("tile(" + load + ", 8)").find("at most 16 rows of 64 bytes") != std::string::npos);
  CHECK(refusal("tile(" + load + ", 32)").find("at most 16 rows of 64 bytes") != std::string::npos);
  CHECK(refusal("tile(" + load + ", 7)").find("not those of the rows") != std::string::npos);
  CHECK(refusal("tile(broadcast(1.0, 256), 16)").find("loaded, or zeros") != std::string::npos);
  CHECK(refusal("tile(broadcast(-0.0, 256), 16)").find("loaded, or zeros") != std::string::npos);
  CHECK(refusal("tile(" + load + ", 16) + " + load).find("not the value of a store") !=
        std::string::npos);
}

TEST_CASE("tiles: a default schedule takes them, and is made again where they are forbidden") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  if (!lt::host().has("amx-int8")) LATHE_SKIP("no AMX");
  const test::ByteProduct product(70, 50, 131);
  const lt::Context forbids(
      lt::ContextOptions{.log = [](lt::LogLevel, std::string_view) {}, .tile_registers = false});
  const auto wanted = product.run({.context = &interpreting()}).values;
  const auto tiled = product.run({}), without = product.run({.context = &forbids});
  CHECK(tiled.has("tile_dot"));
  CHECK(without.has("dot4"));
  CHECK(same_bits(tiled.values, wanted));
  CHECK(same_bits(without.values, wanted));
}
