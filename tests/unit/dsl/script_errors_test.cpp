// What a script refuses.
#include <doctest/doctest.h>

#include <lathe/dsl/dsl.hpp>
#include <support/errors.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/dsl/impl/layer.ipp>
#endif

namespace lt = lathe;
using test::error_of;

namespace {

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

TEST_CASE("errors name the caller's line") {
  lt::Script p("s");
  auto y = p.output<float>("y", {8});
  auto line_of = [](auto&& f) {
    try {
      f();
    } catch (const lt::UserError& e) {
      CHECK(std::string(e.where().file).find("script_errors_test.cpp") != std::string::npos);
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
