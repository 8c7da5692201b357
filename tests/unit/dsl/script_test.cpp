// What a script records, and what it refuses.
#include <doctest/doctest.h>

#include <lathe/dsl/dsl.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <stdexcept>
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

/// The error of a script with an input x, an output y and an inout z, whose body goes on as given.
template <class F>
std::string refused(F&& body) {
  return error_of([&] {
    lt::script("s", [&](lt::Script& p) {
      auto x = p.input<float>("x", {8});
      auto y = p.output<float>("y", {8});
      body(p, x, y);
    });
  });
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
    INFO(name);
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

TEST_CASE("errors name the caller's line") {
  lt::Script p("s");
  auto y = p.output<float>("y", {8});
  auto line_of = [](auto&& f) {
    try {
      f();
    } catch (const lt::UserError& e) {
      CHECK(std::string(e.where().file).find("script_test.cpp") != std::string::npos);
      return e.where().line;
    }
    return 0u;
  };
  p.store(y(0), 1);
  CHECK(line_of([&] { p.for_("2i", 8, [](lt::Var) {}); }) == __LINE__);
  const unsigned line = __LINE__ + 1;
  auto inside = [&](lt::Var) { p.local<float>("t", {-1}); };
  CHECK(line_of([&] { p.for_("i", 8, inside); }) == line);
  lt::Script q("q");
  auto b = q.output<std::uint8_t>("b", {8});
  // An operator has no place of its own: the loop around it is named.
  const unsigned loop_line = __LINE__ + 1;
  auto loop = [&] { q.for_("i", 8, [&](lt::Var i) { q.store(b(i), b(i) + 300); }); };
  CHECK(line_of(loop) == loop_line);
}

TEST_CASE("what can't be stored to") {
  auto untyped = [&](auto&& f) {
    return refused([&](lt::Script& p, auto x, auto y) {
      lt::AnyScript& any = p;
      f(any, x, y);
    });
  };
  CHECK(untyped([](auto& p, auto x, auto y) { p.store(x.at({0}), y.at({0})); }) ==
        "L0128 a store to 'x', an input of script 's'");
  CHECK(untyped([](auto& p, auto x, auto y) { p.store(y.at({0}) + x.at({0}), y.at({0})); }) ==
        "L0128 a store to something that is no element of a buffer");
  CHECK(untyped([](auto& p, auto, auto y) {
          auto a = p.param(lt::Access::in, "a", lt::kF32, {});
          p.store(a.at({}), y.at({0}));
        }) == "L0128 a store to 'a', which is no buffer");
  CHECK(untyped([](auto& p, auto, auto y) { p.store(y.at({0}), lt::make_int(lt::kI32, 1)); }) ==
        "L0109 'y' holds f32, but the value stored is i32");
  CHECK(untyped([](auto& p, auto, auto y) {
          p.store(y.at({0, 1}), y.at({0}));
        }) == "L0108 'y' has rank 1, but is read with 2 indices");
  CHECK(untyped([](auto& p, auto, auto y) { p.store(y.at({lt::make_int(lt::kI32, 1)}), {}); }) ==
        "L0104 index 0 of 'y' is of type i32, but indices and extents are i64");
  CHECK(untyped([](auto& p, auto, auto y) { p.store(y.at({0}), {}); }) ==
        "L0116 the value stored to 'y' is undefined");
  CHECK(untyped([](auto& p, auto, auto y) { p.atomic(lt::BinaryOp::lt, y.at({0}), y.at({0})); }) ==
        "L0109 the atomic update of 'y' is a comparison");
  CHECK(refused([](lt::Script& p, auto, auto y) { p.atomic(lt::BinaryOp::bit_or, y(0), 1); }) ==
        "L0109 the atomic update of 'y' by '|': the operands are not integers");
}

TEST_CASE("what is used where it does not hold") {
  CHECK(refused([](lt::Script& p, auto x, auto y) {
          lt::Expr<std::int64_t> leaked = 0;
          p.for_("i", 8, [&](lt::Var i) { leaked = i; });
          p.store(y(leaked), x(0));
        }) ==
        "L0129 the element of 'y' that is stored to uses loop variable 'i' outside of its loop");
  CHECK(refused([](lt::Script& p, auto x, auto y) {
          p.for_("i", 8,
                 [&](lt::Var i) { p.block("B", {i}, [&](lt::Var v) { p.store(y(v), x(i)); }); });
        }) ==
        "L0129 the value stored to 'y' uses 'i' from around block 'B', which has iterators of "
        "its own");
  CHECK(refused([](lt::Script& p, auto x, auto y) {
          p.for_("i", 8, [&](lt::Var i) {
            auto t = p.let("t", x(i) * 2);
            p.block("B", {i}, [&](lt::Var v) { p.store(y(v), t); });
          });
        }) ==
        "L0129 the value stored to 'y' uses 't' from around block 'B', which has iterators of "
        "its own");
  CHECK(refused([](lt::Script& p, auto x, auto y) {
          lt::Expr<float> kept = 0;
          p.if_(x(0) > 0, [&] { kept = p.let("t", x(1)); });
          p.store(y(0), kept);
        }) == "L0129 the value stored to 'y' uses 't' outside of the body that declares it");
  CHECK(refused([](lt::Script& p, auto x, auto y) {
          std::vector<lt::ScriptBuffer<float, 0>> kept;
          p.for_("i", 8, [&](lt::Var) { kept.push_back(p.local<float>("t", {})); });
          p.store(y(0), kept[0]() + x(0));
        }) == "L0129 the value stored to 'y' uses 't' outside of the body that declares it");
  CHECK(refused([](lt::Script& p, auto, auto y) {
          lt::Script other("other");
          auto z = other.input<float>("z", {8});
          p.store(y(0), z(0));
        }) == "L0129 the value stored to 'y' uses 'z', which is no buffer of script 's'");
  CHECK(refused([](lt::Script& p, auto, auto y) {
          lt::Input<float, 1> X("X", {8});
          p.store(y(0), X(0));
        }) == "L0129 the value stored to 'y' uses 'X', which is no buffer of script 's'");
  CHECK(refused([](lt::Script& p, auto, auto y) {
          lt::Reduce r("r", 8);
          p.store(y(r), 0);
        }) ==
        "L0129 the element of 'y' that is stored to uses 'r', which is no variable of script "
        "'s'");
  lt::Script p("s");
  auto x = p.input<float>("x", {8});
  CHECK(error_of([&] { lt::compute("Y", {8}, [&](lt::Var i) { return x(i); }); }) ==
        "L0129 'Y' reads 'x', which is no tensor");
}

TEST_CASE("names, extents and conditions") {
  CHECK(error_of([] { lt::Script p("my script"); }) == "L0101 'my script' is not a name");
  CHECK(refused([](lt::Script& p, auto, auto) { p.local<int>("x", {}); }) ==
        "L0111 two buffers of script 's' are called 'x'");
  CHECK(refused([](lt::Script& p, auto, auto y) {
          for (int k = 0; k < 2; ++k) p.block("B", {}, [&] { p.store(y(0), 1); });
        }) == "L0111 two blocks of script 's' are called 'B'");
  CHECK(refused([](lt::Script& p, auto, auto) {
          p.local<int>("t", {3, -2});
        }) == "L0102 extent 1 of 't' is -2");
  CHECK(refused([](lt::Script& p, auto, auto) { p.for_("i", -1, [](lt::Var) {}); }) ==
        "L0102 the extent of loop 'i' is -1");
  CHECK(refused([](lt::Script& p, auto, auto y) {
          p.for_("i", 3, 1, [](lt::Var) {});
          p.store(y(0), 0);
        }) == "none");
  CHECK(refused([](lt::Script& p, auto, auto) {
          p.for_("i", 8, [&](lt::Var i) { p.local<int>("t", {i}); });
        }) == "L0119 extent 0 of 't' depends on 'i', which is not a Dim");
  CHECK(refused([](lt::Script& p, auto, auto y) {
          lt::Dim n("n");
          p.for_("i", n, [&](lt::Var i) { p.store(y(i), 0); });
        }) == "L0114 Dim 'n' is the extent of no argument, so a call cannot tell its value");
  CHECK(refused([](lt::Script& p, auto, auto) {
          static_cast<lt::AnyScript&>(p).while_(lt::AnyExpr(1), [] {});
        }) == "L0109 the condition of a while is of type i64, not bool");
  CHECK(refused([](lt::Script&, auto, auto) {}) ==
        "L0506 program 's': nothing is stored to 'y', an 'out' parameter");
}

TEST_CASE("statements that can't stand where they are") {
  CHECK(refused([](lt::Script& p, auto x, auto y) {
          p.for_("i", 8, [&](lt::Var i) { p.reduce(lt::Fold::sum, y(i), x(i)); });
        }) == "L0130 a fold stands in no block");
  const char* beside = "L0130 block 'B' folds, and holds nothing else";
  for (int which = 0; which < 4; ++which)
    CHECK(refused([&](lt::Script& p, auto x, auto y) {
            p.for_("i", 8, [&](lt::Var i) {
              p.block("B", {i}, [&](lt::Var v) {
                if (which == 0) p.store(y(v), 0);
                if (which == 1) p.let("t", x(v));
                p.reduce(lt::Fold::sum, y(v), x(v));
                if (which == 2) p.reduce(lt::Fold::sum, y(v), x(v));
                if (which == 3) p.local<float>("t", {});
              });
            });
          }) == beside);
  CHECK(refused([](lt::Script& p, auto x, auto y) {
          p.block("B", {}, [&] { p.if_(x(0) > 0, [&] { p.reduce(lt::Fold::sum, y(0), x(0)); }); });
        }) == "L0130 a fold stands in no block");
  CHECK(refused([](lt::Script& p, auto x, auto) { p.where(x(0) > 0); }) ==
        "L0130 a where stands in no block");
  CHECK(refused([](lt::Script& p, auto, auto) {
          p.for_("i", 8, [&](lt::Var) { p.input<int>("q", {8}); });
        }) == "L0130 parameter 'q' stands inside a body of script 's'");
  CHECK(refused([](lt::Script& p, auto, auto) { p.for_("i", 8, [&](lt::Var) { p.program(); }); }) ==
        "L0130 program() stands inside a body of script 's'");
  CHECK(refused([](lt::Script& p, auto, auto y) {
          p.for_("i", 8, [&](lt::Var i) {
            lt::AnyScript& any = p;
            any.block("B", {lt::BlockIter(lt::IterKind::spatial, (i + 0).any())},
                      [&](std::span<const lt::VarRef>) { p.store(y(0), 1); });
          });
        }) == "L0130 iterator 0 of block 'B' is bound to no loop, so it needs its values");
  CHECK(refused([](lt::Script& p, auto, auto y) {
          p.for_("i", 8, [&](lt::Var i) {
            p.for_("j", i,
                   [&](lt::Var j) { p.block("B", {j}, [&](lt::Var v) { p.store(y(v), 1); }); });
          });
        }) ==
        "L0130 the values of iterator 0 of block 'B' depend on 'i', to which no iterator "
        "before it is bound");
  CHECK(refused([](lt::Script& p, auto, auto y) {
          auto n = p.local<std::int64_t>("n", {});
          p.store(n(), 3);
          p.for_("j", n(),
                 [&](lt::Var j) { p.block("B", {j}, [&](lt::Var v) { p.store(y(v), 1); }); });
        }) == "L0122 the values of iterator 0 of block 'B' depend on 'n', which is no input");
  CHECK(refused([](lt::Script& p, auto x, auto y) {
          p.for_("i", 8, [&](lt::Var i) {
            p.block("B", {i}, [&](lt::Var v) {
              p.reads(x, v);
              p.store(y(v), x(v));
            });
          });
        }) == "L0130 block 'B' declares what it touches, but not that it writes 'y'");
  CHECK(refused([](lt::Script& p, auto x, auto y) {
          p.block("B", {}, [&] { p.update(lt::Fold::any, std::tuple(y(0)), std::tuple(x(0))); });
        }) == "L0109 there is no fold any of (f32)");
}
