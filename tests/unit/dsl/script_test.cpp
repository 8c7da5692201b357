// What a script records.
#include <doctest/doctest.h>

#include <lathe/dsl/dsl.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <stdexcept>
#include <support/capture.hpp>
#include <support/errors.hpp>
#include <support/scripts.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/dsl/impl/layer.ipp>
#endif

namespace lt = lathe;
using test::error_of;

namespace {

bool reads_back(const lt::Program& p) { return lt::structurally_equal(lt::parse(p.str()), p); }

/// The text of a program, which reads back.
std::string text(const lt::Program& p) {
  CHECK(reads_back(p));
  return p.str();
}

}  // namespace

TEST_CASE("statements as text") {
  CHECK(text(test::scan(8)) == R"(program scan(in x: f32[8], out y: f32[8]):
  alloc acc: f32[]
  acc[] = 0.0
  for i in 0..8:
    acc[] = acc[] + x[i]
    y[i] = acc[]
)");
  CHECK(text(test::gcd(8)) == R"(program gcd(in x: i32[8], in y: i32[8], out z: i32[8]):
  for i in 0..8:
    alloc a: i32[]
    alloc b: i32[]
    a[] = x[i]
    b[] = y[i]
    while b[] != 0i32:
      let rest = a[] % b[]
      a[] = b[]
      b[] = rest
    z[i] = a[]
)");
  CHECK(text(test::sort_pairs(8)) == R"(program sort_pairs(inout a: i32[8], inout swaps: i32[4]):
  for i in 0..4:
    if a[2 * i] > a[2 * i + 1]:
      let t = a[2 * i]
      a[2 * i] = a[2 * i + 1]
      a[2 * i + 1] = t
      swaps[i] = 1i32
    else:
      swaps[i] = 0i32
)");
  CHECK(text(test::histogram(100, 4)) == R"(program histogram(in x: i32[100], out count: i32[4]):
  for b in 0..4:
    count[b] = 0i32
  for i in 0..100:
    atomic count[i64(x[i])] += 1i32
)");
  lt::Dim n("n", {.min = 1, .multiple_of = 4});
  CHECK(text(test::trmm(n, n + n)) ==
        R"(program trmm<n in 1.. by 4>(in A: f32[n, n], inout B: f32[n, n + n]):
  for i in 0..n:
    for j in 0..n + n:
      for k in i + 1..n:
        B[i, j] = B[i, j] + A[k, i] * B[k, j]
)");
}

TEST_CASE("every program of the tests reads back") {
  for (const auto& [name, program] : test::small_scripts()) {
    LATHE_CAPTURE(name);
    CHECK(reads_back(program));
  }
  lt::Dim m("m"), n("n");
  CHECK(reads_back(test::filter(m, n)));
  CHECK(reads_back(test::cell(m, n)));
  CHECK(reads_back(test::ragged(m, n)));
  CHECK(reads_back(test::matmul(m, n, 3)));
}

TEST_CASE("blocks take their iterators from loops, or as they are given") {
  CHECK(
      text(test::matmul(4, 5, 6)) ==
      R"(program matmul(in A: f32[4, 6], in B: f32[6, 5], out C: f32[4, 5], out top: f32[4], out at: i64[4]):
  for i in 0..4:
    for j in 0..5:
      for r in 0..6:
        block C(vi in 0..4 = i, vj in 0..5 = j, reduce vr in 0..6 = r) reduce sum init:
          C[vi, vj] sum= A[vi, vr] * B[vr, vj]
  for i in 0..4:
    for j in 0..5:
      block top(vi in 0..4 = i, reduce vj in 0..5 = j) reduce argmax init:
        top[vi] argmax= C[vi, vj]
        at[vi] argmax= vj
)");
  auto p = lt::script("blocks", [&](lt::Script& p) {
    auto x = p.input<float>("x", {20});
    auto y = p.inout<float>("y", {20, 20});
    auto s = p.inout<float>("s", {1});
    p.for_("i", 20, [&](lt::Var i) {
      p.for_("j", i, 20, [&](lt::Var j) {
        p.block("triangle", {i, j}, [&](lt::Var vi, lt::Var vj) { p.store(y(vi, vj), x(vi)); });
      });
    });
    p.for_("o", 3, [&](lt::Var o) {
      p.for_("i", 8, [&](lt::Var i) {
        p.block("tiled", {lt::spatial(o * 8 + i, 20)}, [&](lt::Var v) {
          p.where(x(v) > 0);
          p.store(y(v, 0), 1);
        });
      });
    });
    p.for_("k", 20, [&](lt::Var k) {
      p.block("total", {lt::reduce(k)}, [&](lt::Var v) { p.update(lt::Fold::max, s(0), x(v)); });
    });
    p.for_("t", 20, [&](lt::Var t) {
      p.block("odd", {lt::opaque(t, lt::range(0, 20))}, [&](lt::Var v) {
        p.reads(x, lt::range(0, v + 1));
        p.writes(y, v, lt::range(0, 2));
        p.store(y(v, lt::cast<std::int64_t>(x(v)) & 1), x(v));
      });
    });
    p.block("once", {}, [&] { p.store(s(0), s(0) + 1); });
  });
  CHECK(text(p) == R"(program blocks(in x: f32[20], inout y: f32[20, 20], inout s: f32[1]):
  for i in 0..20:
    for j in i..20:
      block triangle(vi in 0..20 = i, vj in vi..20 = j):
        y[vi, vj] = x[vi]
  for o in 0..3:
    for i in 0..8:
      block tiled(v0 in 0..20 = o * 8 + i) where x[v0] > 0.0:
        y[v0, 0] = 1.0
  for k in 0..20:
    block total(reduce vk in 0..20 = k) reduce max:
      s[0] max= x[vk]
  for t in 0..20:
    block odd(opaque vt in 0..20 = t) reads x[0..vt + 1] writes y[vt..+1, 0..2]:
      y[vt, i64(x[vt]) & 1] = x[vt]
  block once():
    s[0] = s[0] + 1.0
)");
}

TEST_CASE("a script without a lambda, and programs on the way") {
  lt::Script p("steps");
  auto y = p.output<int>("y", {4});
  auto a = p.input<int>("a", {});
  p.for_("i", 4, [&](lt::Var i) { p.store(y(i), a()); });
  lt::Program first = p.program();
  p.store(y(0), 7);
  CHECK(text(first) == R"(program steps(out y: i32[4], in a: i32):
  for i in 0..4:
    y[i] = a
)");
  CHECK(text(p.program()) == R"(program steps(out y: i32[4], in a: i32):
  for i in 0..4:
    y[i] = a
  y[0] = 7i32
)");
  lt::AnyScript any("any");
  auto b = any.param(lt::Access::out, "b", lt::kI32, {lt::Extent(3)});
  any.for_("i", lt::range(0, 3),
           [&](const lt::VarRef& i) { any.store(b.at({i}), lt::make_cast(lt::kI32, i)); });
  CHECK(text(any.program()) == R"(program any(out b: i32[3]):
  for i in 0..3:
    b[i] = i32(i)
)");
}

TEST_CASE("a body that throws adds nothing") {
  lt::Script p("s");
  auto y = p.output<float>("y", {8});
  CHECK_THROWS_AS(p.for_("i", 8,
                         [&](lt::Var i) {
                           auto t = p.local<float>("t", {});
                           p.block("B", {i}, [&](lt::Var v) { p.store(y(v), 1); });
                           p.store(t(), 0);
                           throw std::runtime_error("mine");
                         }),
                  std::runtime_error);
  p.for_("i", 8, [&](lt::Var i) {
    auto t = p.local<float>("t", {});
    p.store(t(), 0);
    p.block("B", {i}, [&](lt::Var v) { p.store(y(v), t()); });
  });
  CHECK(text(p.program()) == R"(program s(out y: f32[8]):
  for i in 0..8:
    alloc t: f32[]
    t[] = 0.0
    block B(vi in 0..8 = i):
      y[vi] = t[]
)");
}
