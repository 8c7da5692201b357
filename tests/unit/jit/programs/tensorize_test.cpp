// Kernels of tensor intrinsics give the bits that the evaluator gives, with the instruction and
// without.
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <lathe/support/random.hpp>
#include <support/errors.hpp>
#include <vector>

#include "../../schedule/intrinsics.hpp"

namespace lt = lathe;
using namespace test;

namespace {

/// Bits of all kinds.
template <class T>
std::vector<T> noise(std::int64_t count, std::uint64_t seed) {
  std::vector<T> out(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::uint64_t bits = lt::detail::random_bits(seed, k);
    std::memcpy(static_cast<void*>(&out[k]), &bits, sizeof(T));
  }
  return out;
}

/// This machine, and the same without what the intrinsics are made of.
std::vector<lt::Target> targets() {
  std::vector<lt::Target> out{lt::host()};
  for (const char* feature : {"avx512vnni", "avx512bf16"})
    if (lt::host().has(feature)) out.push_back(lt::host().without(feature));
  if (lt::Target("x86-64-v2").runs_on(lt::host())) out.emplace_back("x86-64-v2");
  return out;
}

template <class Gemm, class X, class Y, class Sum>
void check_products(const Gemm& k, const lt::Schedule& s, int m, int n, int depth) {
  auto a = noise<X>(m * depth, 1);
  auto b = noise<Y>(depth * n, 2);
  std::vector<Sum> expected(static_cast<std::size_t>(m * n)), got;
  auto view = [](auto& v, int rows, int columns) { return lt::view(v, {rows, columns}); };
  lt::evaluate(s, k.A, k.B, k.C)(view(a, m, depth), view(b, depth, n), view(expected, m, n));
  if (std::is_integral_v<Sum>) {
    got = std::vector<Sum>(expected.size(), Sum(1));
    lt::evaluate(k.C, k.A, k.B, k.C)(view(a, m, depth), view(b, depth, n), view(got, m, n));
    CHECK(got == expected);
  }
  for (const lt::Target& target : targets()) {
    CAPTURE(target.str());
    got = std::vector<Sum>(expected.size(), Sum(1));
    auto f = lt::jit({s, {.target = target}}, k.A, k.B, k.C);
    f(view(a, m, depth), view(b, depth, n), view(got, m, n));
    for (std::size_t e = 0; e < got.size(); ++e)
      CHECK(((got[e] != got[e] && expected[e] != expected[e]) ||
             std::memcmp(&got[e], &expected[e], sizeof(Sum)) == 0));
  }
}

}  // namespace

TEST_CASE("tensorize: products of bytes, compiled") {
  ByteGemm k(3, 32, 8);
  Tile t = packed_tile(k, 4);
  t.s.tensorize(t.jj, "vpdpbusd");
  check_products<ByteGemm, std::uint8_t, std::int8_t, std::int32_t>(k, t.s, 3, 32, 8);
  // As text it is a program as any other, which gets the default schedule.
  const lt::Program again = lt::parse(t.s.str());
  auto f = lt::jit(again, k.A, k.B, k.C);
  auto a = noise<std::uint8_t>(24, 1);
  auto b = noise<std::int8_t>(256, 2);
  std::vector<std::int32_t> got(96), wanted(96);
  f(lt::view(a, {3, 8}), lt::view(b, {8, 32}), lt::view(got, {3, 32}));
  lt::evaluate(k.C, k.A, k.B, k.C)(lt::view(a, {3, 8}), lt::view(b, {8, 32}),
                                   lt::view(wanted, {3, 32}));
  CHECK(got == wanted);
  ByteGemm large(8, 64, 36);
  lt::Schedule s = register_tile(large, 4, "vpdpbusd");
  check_products<ByteGemm, std::uint8_t, std::int8_t, std::int32_t>(large, s, 8, 64, 36);
}

TEST_CASE("tensorize: products of bf16, compiled") {
  HalfGemm k(3, 32, 8);
  Tile t = packed_tile(k, 2);
  t.s.tensorize(t.jj, "vdpbf16ps");
  CHECK(t.s.str().find("dot2(") != std::string::npos);
  check_products<HalfGemm, lt::bf16, lt::bf16, float>(k, t.s, 3, 32, 8);
  HalfGemm large(8, 64, 36);
  lt::Schedule s = register_tile(large, 2, "vdpbf16ps");
  check_products<HalfGemm, lt::bf16, lt::bf16, float>(large, s, 8, 64, 36);
}

TEST_CASE("tensorize: a row of a program's own, compiled, and checked against what it says") {
  const lt::TensorIntrin row{"quad",
                             R"(program quad(in X: f32[4], in Y: f32[4], inout Z: f32[]):
  for k in 0..4:
    block dot(reduce vk in 0..4 = k) reduce sum:
      Z[] sum= X[vk] * Y[vk]
)",
                             R"(program quad(in X: f32[4], in Y: f32[4], inout Z: f32[]):
  Z[] = Z[] + (let p = X[ramp(0, 1, 4)] * Y[ramp(0, 1, 4)] in
    shuffle(p; 0) + shuffle(p; 1) + (shuffle(p; 2) + shuffle(p; 3)))
)",
                             "products are added in pairs"};
  CHECK(lt::intrinsic_difference(row) == "");
  lt::Input<float, 2> P("P", {5, 8}), Q("Q", {5, 8});
  lt::Reduce r("r", 8);
  auto S = lt::compute("S", {5}, [&](lt::Var i) { return lt::sum(P(i, r) * Q(i, r), r); });
  lt::Schedule s(S);
  auto [i, k] = s.loops<2>(S);
  auto [ko, ki] = s.split(k, {lt::infer, 4});
  s.decompose_reduction(S, ko);
  s.tensorize(ki, row);
  CHECK(s.numerics() ==
        std::vector<std::string>{"tensorize: by 'quad', products are added in pairs"});
  std::vector<float> p(40), q(40), wanted(5), got(5);
  for (int e = 0; e < 40; ++e) {
    p[static_cast<std::size_t>(e)] = 1.0f / static_cast<float>(e + 3);
    q[static_cast<std::size_t>(e)] = static_cast<float>(e * e % 19) - 7.3f;
  }
  lt::evaluate(s, P, Q, S)(lt::view(p, {5, 8}), lt::view(q, {5, 8}), wanted);
  for (const lt::Target& target : targets()) {
    lt::jit({s, {.target = target, .strict = true}}, P, Q, S)(lt::view(p, {5, 8}),
                                                              lt::view(q, {5, 8}), got);
    CHECK(got == wanted);
  }
}

TEST_CASE("intrinsic_difference: rows of Lathe have none, and a wrong one is told") {
  for (const lt::TensorIntrin& row : lt::tensor_intrins()) {
    CAPTURE(row.name);
    CHECK(lt::intrinsic_difference(row) == "");
    CHECK(lt::find_tensor_intrin(row.name) == &row);
  }
  CHECK(lt::find_tensor_intrin("vpdpwssd") == nullptr);
  lt::TensorIntrin wrong{"twice",
                         R"(program twice(in X: i32[2], out Y: i32[2]):
  for i in 0..2:
    block twice(vi in 0..2 = i):
      Y[vi] = X[vi] + X[vi]
)",
                         R"(program twice(in X: i32[2], out Y: i32[2]):
  Y[0] = X[0] * 2i32
  Y[1] = X[1]
)",
                         "none, but small numbers read well"};
  CHECK(lt::intrinsic_difference(wrong) == "element 1 of 'Y' is 2i32, and 4i32 by the description");
  wrong.implementation = "program";
  CHECK(test::error_of([&] { lt::intrinsic_difference(wrong); }).substr(0, 5) == "L0236");
}
