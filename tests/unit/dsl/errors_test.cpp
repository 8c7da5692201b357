#include <doctest/doctest.h>

#include <lathe/dsl/dsl.hpp>
#include <support/errors.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/dsl/impl/layer.ipp>
#endif

namespace lt = lathe;
using test::error_of;

TEST_CASE("an error of a compute names the caller's line and helps") {
  lt::Input<float, 1> X("X", {4});
  lt::Reduce r("r", 4);
  const unsigned line = __LINE__ + 2;
  try {
    lt::compute("Y", {4}, [&](lt::Var) { return X(r); });
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.id() == "L0105");
    CHECK(e.message() == "reduce axis 'r' is left unreduced in 'Y'");
    CHECK(std::string(e.where().file).find("errors_test.cpp") != std::string::npos);
    CHECK(e.where().line == line);
    CHECK(std::string(e.what()).find("help: fold over it: lt::sum(…, r)") != std::string::npos);
  }
}

TEST_CASE("names and extents") {
  CHECK(error_of([] { lt::Dim d("2n"); }) == "L0101 '2n' is not a name");
  CHECK(error_of([] { lt::Input<float, 1> X("", {3}); }) == "L0101 '' is not a name");
  CHECK(error_of([] { lt::Input<float, 2> X("X", {3, -1}); }) == "L0102 extent 1 of 'X' is -1");
  CHECK(error_of([] { lt::Reduce r("r", -2); }) == "L0102 the extent of reduce axis 'r' is -2");
  CHECK(error_of([] {
          lt::Input<float, 2> X("X", {std::int64_t{1} << 40, std::int64_t{1} << 40});
        }) == "L0103 'X' has more than 2^56 elements");
  CHECK(error_of([] {
          lt::Input<float, 3> X("X", {std::int64_t{1} << 40, 0, std::int64_t{1} << 40});
        }) == "none");
  CHECK(error_of([] { lt::make_input("X", lt::kF32, {lt::Extent(lt::make_int(lt::kI32, 3))}); }) ==
        "L0104 extent 0 of 'X' is of type i32, but indices and extents are i64");
  CHECK(error_of([] { lt::Input<double, 1> X("X", {std::int64_t{1} << 57}); }) ==
        "L0103 'X' has more than 2^56 elements");
  CHECK(error_of([] { lt::make_input("X", lt::kF32, {lt::Extent(lt::AnyExpr())}); }) ==
        "L0104 extent 0 of 'X' is undefined");
  CHECK(error_of([] { lt::make_reduce("r", lt::Extent(lt::AnyExpr()), 4); }) ==
        "L0104 the start of reduce axis 'r' is undefined");
  CHECK(error_of([] { lt::make_reduce("r", 0, lt::Extent(lt::make_int(lt::kI32, 4))); }) ==
        "L0104 the extent of reduce axis 'r' is of type i32, but indices and extents are i64");
  CHECK(error_of([] {
          lt::make_input("X", lt::kF32, std::vector<lt::Extent>(33, lt::Extent(1)));
        }) == "L0120 'X' has 33 axes, more than 32");
  CHECK(error_of([] { lt::make_input("X", lt::kF32.with_lanes(4), {lt::Extent(4)}); }) ==
        "L0109 the elements of 'X' are vectors, f32x4");
  lt::Input<std::int64_t, 1> X("X", {4});
  CHECK(error_of([&] { lt::Input<float, 1> Y("Y", {X(0)}); }) ==
        "L0119 extent 0 of 'Y' depends on 'X', which is not a Dim");
  lt::Input<std::int64_t, 0> s("s");
  CHECK(error_of([&] { lt::Input<float, 1> Y("Y", {s()}); }) ==
        "L0119 extent 0 of 'Y' depends on 's', which is not a Dim");
  CHECK(error_of([] { lt::Dim d("d", {.min = 3, .max = 5, .multiple_of = 8}); }) ==
        "L0118 Dim 'd' with min 3, max 5 and multiple_of 8 has no legal value");
}

TEST_CASE("reduce ranges stay inside 64 bits") {
  CHECK(error_of([] {
          lt::Reduce r("r", {INT64_MAX - 5, 20});
        }) == "L0127 reduce axis 'r' has 20 points from 9223372036854775802 on, beyond 64 bits");
  CHECK(error_of([] { lt::Reduce r("r", {INT64_MAX - 5, 5}); }) == "none");
  CHECK(error_of([] { lt::Reduce r("r", {INT64_MIN, INT64_MAX}); }) == "none");
  auto folded = [](lt::Extent a, lt::Extent b) {
    return error_of([&] {
      lt::Reduce r("r", a), s("s", b);
      lt::compute("Y", {}, [&] { return lt::argmax(lt::min(r, s), r, s); });
    });
  };
  const std::int64_t half = std::int64_t{1} << 31;
  CHECK(folded(half, half) == "none");
  CHECK(folded(half, half + 1) == "L0127 the reduce axes of 'Y' have more than 2^62 points");
  CHECK(folded(INT64_MAX, INT64_MAX) == "L0127 the reduce axes of 'Y' have more than 2^62 points");
  CHECK(folded(INT64_MAX, 0) == "none");
}

TEST_CASE("numbers that no i64 holds, and places of errors in expressions") {
  CHECK(error_of([] { lt::Input<float, 1> X("X", {18446744073709551615ull}); }) ==
        "L0104 extent 0 of 'X' is 18446744073709551615, which no i64 holds");
  CHECK(error_of([] {
          lt::Reduce r("r", {0, 9223372036854775808ull});
        }) == "L0104 the extent of reduce axis 'r' is 9223372036854775808, which no i64 holds");
  auto named_here = [](auto f) {
    try {
      f();
    } catch (const lt::UserError& e) {
      return std::string(e.where().file).find("errors_test.cpp") != std::string::npos;
    }
    return false;
  };
  CHECK(named_here([] { lt::Expr<std::uint8_t> e(300); }));
  CHECK(named_here([] { lt::Expr<std::uint8_t> e = 300; }));
  lt::Tensor<float, 1> undefined{lt::AnyTensor()};
  CHECK(named_here([&] { lt::compute("Y", {4}, [&](lt::Var i) { return undefined(i); }); }));
  lt::Input<float, 1> X("X", {4});
  CHECK(error_of([&] { X(18446744073709551615ull); }) ==
        "L0110 18446744073709551615 does not fit i64");
}

TEST_CASE("variables and reductions") {
  lt::Input<float, 1> X("X", {4});
  lt::Reduce r("r", 4), s("s", 4);
  lt::Var* leaked = nullptr;
  auto A = lt::compute("A", {4}, [&](lt::Var i) {
    leaked = new lt::Var(i);
    return X(i);
  });
  CHECK(error_of([&] { lt::compute("B", {4}, [&](lt::Var i) { return X(i) + X(*leaked); }); }) ==
        "L0106 'B' uses variable 'i' of 'A', which is not an axis of its own");
  delete leaked;
  CHECK(error_of([&] { lt::compute("B", {}, [&] { return lt::sum(X(r), r, r); }); }) ==
        "L0107 reduce axis 'r' is given twice in 'B'");
  CHECK(error_of([&] { lt::compute("B", {}, [&] { return lt::sum(X(r) * X(s), r); }); }) ==
        "L0105 reduce axis 's' is left unreduced in 'B'");
  CHECK(error_of([&] {
          lt::compute("B", {4}, [&](lt::Var i) { return lt::sum(X(r), r).where(i > 2 && r > 1); });
        }) == "L0117 a condition in where() of 'B' names no reduce axis");
  CHECK(error_of([&] {
          lt::reducer("bad", lt::Expr<float>(0),
                      [&](lt::Expr<float> a, lt::Expr<float> b) { return a + b * X(0); });
        }) == "L0121 reducer 'bad' reads a tensor");
  auto larger = [](auto a, auto b) { return lt::max(a, b); };
  CHECK(error_of([&] { lt::reducer("bad", X(3), larger); }) ==
        "L0121 the identity of reducer 'bad' reads a tensor");
  CHECK(error_of([&] { lt::reducer("bad", lt::cast<float>(r), larger); }) ==
        "L0121 the identity of reducer 'bad' uses 'r'");
  CHECK(error_of([&] {
          lt::compute("B", {4}, [&](lt::Var i) {
            return lt::reducer("bad", X(i), larger)(std::tuple<lt::Expr<float>>(X(r)), r);
          });
        }) == "L0121 the identity of reducer 'bad' uses 'i'");
  CHECK(error_of([&] { lt::reducer("good", -lt::Expr<float>(3) * 2, larger); }) == "none");
  lt::Dim n("n");
  CHECK(error_of([&] {
          lt::reducer("bad", lt::Expr<std::int64_t>(0), [&](auto a, auto b) { return a + b * n; });
        }) == "L0121 reducer 'bad' uses 'n', which is not its operand");
  CHECK(error_of([&] {
          lt::compute("B", {4}, [&](lt::Var i) {
            auto C = lt::compute("C", {4}, [&](lt::Var j) { return X(i) + X(j); });
            return C(i);
          });
        }) == "L0106 'C' uses variable 'i' of 'B', which is not an axis of its own");
}

TEST_CASE("reductions of the untyped core") {
  lt::AnyTensor X = lt::make_input("X", lt::kF32, {lt::Extent(4)});
  lt::AnyReduce r = lt::make_reduce("r", 0, 4);
  lt::AnyExpr term = X.at({r.var}), zero = lt::make_float(lt::kF32, 0);
  auto of = [&](lt::ReducerRef reducer, std::vector<lt::AnyExpr> values,
                std::vector<lt::AnyReduce> axes, lt::AnyExpr predicate = {}) {
    return error_of([&] {
      lt::compute_any("Y", {}, [&](std::span<const lt::VarRef>) {
        lt::AnyValue v;
        v.reducer = reducer, v.values = values, v.axes = axes, v.predicate = predicate;
        return v;
      });
    });
  };
  lt::ReducerRef sum = lt::sum_reducer(lt::kF32);
  CHECK(of(sum, {term}, {r}) == "none");
  CHECK(of(sum, {term}, {}) == "L0107 the reduction of 'Y' has no axis");
  CHECK(of(sum, {term, term}, {r}) == "L0107 reducer 'sum' folds 1 values, but 'Y' gives it 2");
  CHECK(of({}, {X.at({0})}, {r}) == "L0107 'Y' has reduce axes or a condition, but no reducer");
  CHECK(of({}, {X.at({0})}, {}, lt::make_bool(true)) ==
        "L0107 'Y' has reduce axes or a condition, but no reducer");
  CHECK(of(sum, {term}, {lt::AnyReduce{}}) == "L0116 a reduce axis of 'Y' is undefined");
  CHECK(of(lt::sum_reducer(lt::kF64), {term}, {r}) ==
        "L0109 reducer 'sum' folds f64, but its term in 'Y' is f32");
  CHECK(of(sum, {term}, {r}, lt::AnyExpr(r.var) + 1) ==
        "L0109 the condition of where() in 'Y' is of type i64, not bool");
  auto reducer = [&](std::vector<lt::AnyExpr> identity, std::vector<lt::AnyExpr> combined) {
    return error_of([&] { lt::make_reducer("q", identity, [&](auto, auto) { return combined; }); });
  };
  CHECK(reducer({}, {}) == "L0107 reducer 'q' has no identity");
  CHECK(reducer({zero}, {}) == "L0107 reducer 'q' has 1 identities, but combines to 0 values");
  CHECK(reducer({lt::AnyExpr()}, {}) == "L0116 reducer 'q' has an undefined identity");
  CHECK(reducer({zero}, {lt::AnyExpr()}) == "L0116 reducer 'q' combines to an undefined value");
  CHECK(reducer({zero}, {lt::make_int(lt::kI32, 0)}) ==
        "L0109 reducer 'q' combines to i32, but its identity is f32");
  CHECK(error_of([&] {
          lt::make_reducer("q", {zero}, [&](auto a, auto) {
            return std::vector<lt::AnyExpr>{lt::AnyExpr(a[0]) + lt::make_int(lt::kI32, 1)};
          });
        }) == "L0109 reducer 'q': binary operands differ in dtype");
}

TEST_CASE("undefined tensors, and what was moved from") {
  lt::AnyTensor none;
  const char* undefined = "L0116 an undefined tensor is used";
  CHECK(error_of([&] { none.name(); }) == undefined);
  CHECK(error_of([&] { none.rank(); }) == undefined);
  CHECK(error_of([&] { none.shape(); }) == undefined);
  CHECK(error_of([&] { none.is_input(); }) == undefined);
  CHECK(error_of([&] { none.at({}); }) == "L0116 an undefined tensor is read");
  lt::Input<float, 1> X("X", {4});
  lt::Input<float, 1> moved(std::move(X));
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) {
    auto e = X(i) + 1;
    auto f = std::move(e);
    return lt::select(e > f, e, moved(i));
  });
  lt::Tensor<float, 1> also(std::move(Y));
  CHECK(error_of([&] { lt::program_of({{Y}}, {X, Y}); }) == "none");
  CHECK(error_of([&] {
          lt::program_of({{Y}}, {X, Y, none});
        }) == "L0116 argument 2 is an undefined tensor");
}

TEST_CASE(
    "expressions and pipelines of any size are taken or refused, not followed into the stack's "
    "end") {
  lt::Input<float, 1> X("X", {4});
  auto value = [&](auto&& body) {
    return error_of([&] { lt::compute("Y", {4}, [&](lt::Var i) { return body(i); }); });
  };
  CHECK(value([&](lt::Var i) {
          auto sum = X(i) * 1.0f;
          for (int k = 0; k < 100000; ++k) sum = sum + X(i);
          return sum;
        }) == "none");
  CHECK(value([&](lt::Var i) {
          auto z = X(i) * 1.0f;
          for (int k = 0; k < 50000; ++k) z = z * z + X(i);
          return z;
        }) == "none");
  // What an arm loads stays in it: it can be neither cut nor shared with other arms.
  CHECK(value([&](lt::Var i) {
          auto z = X(i) * 1.0f;
          for (int k = 0; k < 2000; ++k) z = lt::select(i < k % 4, z + X(i), 0.0f);
          return z;
        }) == "L0123 the value of 'Y' has more than 1500 levels");
  CHECK(value([&](lt::Var i) {
          auto z = lt::select(i > 1, X(i - 2), 1.0f);
          for (int k = 0; k < 30; ++k)
            z = lt::select(i < k, z * 2.0f, 0.0f) + lt::select(i > k, z + 1.0f, 1.0f);
          return z;
        }) ==
        "L0124 the value of 'Y' has more than 1048576 operations, each shared one counted at each "
        "use");
  auto pipeline = [&](int computes) {
    auto t = lt::compute("T", {4}, [&](lt::Var i) { return X(i); });
    for (int k = 1; k < computes; ++k)
      t = lt::compute("T" + std::to_string(k), {4}, [&](lt::Var i) { return t(i) + 1; });
    return error_of([&] { lt::program_of(t); });
  };
  CHECK(pipeline(1000) == "none");
  CHECK(pipeline(1001) == "L0125 'T1000' needs more than 1000 computes");
  CHECK(pipeline(50000) == "L0125 'T49999' needs more than 1000 computes");
}

TEST_CASE("values of the untyped core") {
  lt::AnyTensor X = lt::make_input("X", lt::kF32, {lt::Extent(4)});
  auto body = [&](lt::AnyExpr e) {
    return [e](std::span<const lt::VarRef>) { return lt::AnyValue(e); };
  };
  CHECK(error_of([&] { X.at({}); }) == "L0108 'X' has rank 1, but is read with 0 indices");
  CHECK(error_of([&] { X.at({lt::make_int(lt::kI32, 0)}); }) ==
        "L0104 index 0 of 'X' is of type i32, but indices and extents are i64");
  CHECK(error_of([&] { lt::compute_any("Y", {}, body({})); }) ==
        "L0116 the body of 'Y' gives an undefined value");
  CHECK(error_of([&] {
          lt::compute_any("Y", {}, body(lt::make_broadcast(lt::make_int(lt::kI32, 0), 4)));
        }) == "L0109 the value of 'Y' is a vector, i32x4");
  CHECK(error_of([&] {
          lt::compute_any("Y", {}, [&](std::span<const lt::VarRef>) {
            return lt::AnyValue(X.at({0}) + lt::make_int(lt::kI32, 0));
          });
        }) == "L0109 the body of 'Y': binary operands differ in dtype");
  CHECK(error_of([&] {
          lt::compute_any("Y", {}, [&](std::span<const lt::VarRef>) {
            return lt::AnyValue(lt::make_select({}, X.at({0}), X.at({0})));
          });
        }) == "L0116 an operand is undefined: an expression that was given no value");
  CHECK(error_of([&] { (void)lt::Expr<float>(lt::AnyExpr{}); }) ==
        "L0109 an expression of type (none) is used as f32");
  CHECK(error_of([&] { lt::Expr<float>(lt::make_int(lt::kI32, 0)); }) ==
        "L0109 an expression of type i32 is used as f32");
  CHECK(error_of([&] {
          lt::compute_any("Y", {}, [&](std::span<const lt::VarRef>) { return lt::AnyValue(); });
        }) == "L0116 the body of 'Y' gives no value");
}

TEST_CASE("a literal that does not fit is reported at the compute") {
  lt::Input<std::uint8_t, 1> q("q", {4});
  CHECK(error_of([&] { lt::compute("Y", {4}, [&](lt::Var i) { return q(i) + 256; }); }) ==
        "L0110 256 does not fit u8");
  CHECK(error_of([&] { lt::compute("Y", {4}, [&](lt::Var i) { return q(i) - (-1); }); }) ==
        "L0110 -1 does not fit u8");
  CHECK(error_of([&] {
          lt::compute("Y", {4}, [&](lt::Var i) { return i + ~std::uint64_t{0}; });
        }) == "L0110 18446744073709551615 does not fit i64");
}

TEST_CASE("parameters of a program") {
  lt::Input<float, 1> X("X", {4}), W("X", {4}), unused("U", {4});
  lt::Input<float, 0> s("s");
  auto C = lt::compute("C", {4}, [&](lt::Var i) { return X(i) * s(); });
  auto D = lt::compute("D", {4}, [&](lt::Var i) { return C(i) + 1; });
  auto twice = lt::compute("T", {4}, [&](lt::Var i) { return X(i) + W(i); });
  CHECK(error_of([&] {
          lt::program_of({{D}}, {s, D});
        }) == "L0112 input 'X' is read, but is not among the arguments");
  CHECK(error_of([&] {
          lt::program_of({{D}}, {X, D});
        }) == "L0112 scalar 's' is read, but is not among the arguments");
  CHECK(error_of([&] {
          lt::program_of({{D}}, {X, s});
        }) == "L0112 output 'D' is not among the arguments");
  CHECK(error_of([&] {
          lt::program_of({{D}}, {X, s, C, D});
        }) == "L0113 argument 'C' is an intermediate, not an output");
  CHECK(error_of([&] {
          lt::program_of({{D}}, {X, X, s, D});
        }) == "L0113 'X' is given twice among the arguments");
  CHECK(error_of([&] {
          lt::program_of({{D, D}}, {X, s, D, D});
        }) == "L0113 'D' is given twice among the arguments");
  CHECK(error_of([&] {
          lt::program_of(lt::OutputList{{D, D}});
        }) == "L0113 'D' is given twice among the arguments");
  CHECK(error_of([&] { lt::program_of({{X}}, {X}); }) == "L0113 output 'X' is an input");
  CHECK(error_of([&] { lt::program_of({{D}}, {X, s, D, unused}); }) == "none");
  CHECK(error_of([&] { lt::program_of(twice); }) == "L0111 two tensors are called 'X'");
  CHECK(error_of([&] { lt::program_of(lt::OutputList{}); }) == "L0116 a program needs an output");
  CHECK(error_of([&] { lt::program_of(lt::AnyTensor()); }) == "L0116 an output is undefined");
  auto named = lt::compute("X", {4}, [&](lt::Var i) { return X(i); });
  CHECK(error_of([&] { lt::program_of(named); }) == "L0111 two tensors are called 'X'");
}

TEST_CASE("dims and ranges") {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n * 2});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i); });
  CHECK(error_of([&] { lt::program_of(Y); }) ==
        "L0114 Dim 'n' is the extent of no argument, so a call cannot tell its value");
  lt::Input<std::int64_t, 1> starts("starts", {5});
  auto shifted = lt::compute("shifted", {5}, [&](lt::Var i) { return starts(i) + 1; });
  auto S = lt::compute("S", {4}, [&](lt::Var i) {
    lt::Reduce r("r", {shifted(i), 1});
    return lt::sum(r * 1, r);
  });
  CHECK(error_of([&] { lt::program_of(S); }) ==
        "L0122 a reduce range of 'S' reads 'shifted', which is computed here");
}

TEST_CASE("what may not be computed in place") {
  lt::Input<float, 1> X("X", {4});
  lt::Input<float, 1> Z("Z", {5});
  lt::Reduce r("r", 4);
  auto in_place = [](auto& x, auto& y) {
    return error_of([&] { lt::program_of({{y}}, {{x, y}}); });
  };
  auto shifted = lt::compute("Y", {4}, [&](lt::Var i) { return X(3 - i); });
  CHECK(in_place(X, shifted) ==
        "L0115 inout: 'Y' cannot take the place of 'X': it reads 'X' at other elements than the "
        "one it stores");
  auto sums = lt::compute("Y", {4}, [&](lt::Var i) { return lt::sum(X(i) * X(r), r); });
  CHECK(in_place(X, sums) == "L0115 inout: 'Y' cannot take the place of 'X': it is a reduction");
  auto total = lt::compute("total", {}, [&] { return lt::sum(X(r), r); });
  auto scaled = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) / total(); });
  CHECK(in_place(X, scaled) ==
        "L0115 inout: 'Y' cannot take the place of 'X': 'total' reads 'X' too");
  auto longer = lt::compute("Y", {4}, [&](lt::Var i) { return Z(i); });
  CHECK(error_of([&] {
          lt::program_of({{shifted}}, {{longer, shifted}});
        }) == "L0115 inout: 'Y' cannot take the place of 'Y': 'Y' is not an input tensor");
  CHECK(error_of([&] {
          lt::program_of({{longer}}, {{X, shifted}, Z});
        }) == "L0115 inout: 'Y' cannot take the place of 'X': 'Y' is not an output");
  auto two = lt::compute("two", {4}, [&](lt::Var i) { return std::tuple(X(i) + 1, X(i) + 2); });
  CHECK(error_of([&] {
          lt::program_of(two, {{X, two.get<0>()}, two.get<1>()});
        }) == "L0115 inout: 'two_0' cannot take the place of 'X': its compute has several outputs");
  CHECK(in_place(Z, longer) ==
        "L0115 inout: 'Y' cannot take the place of 'Z': their shapes differ");
  auto wide = lt::compute("Y", {4}, [&](lt::Var i) { return lt::cast<double>(X(i)); });
  CHECK(error_of([&] {
          lt::program_of({{wide}}, {{X, wide}});
        }) == "L0115 inout: 'Y' cannot take the place of 'X': one is f32, the other f64");
}
