#include <doctest/doctest.h>

#include <lathe/ir/print.hpp>
#include <lathe/ir/reducer.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

using namespace lathe;

TEST_CASE("reducers exist for the types that they make sense for") {
  CHECK(builtin_reducer("sum", {kF32}));
  CHECK(builtin_reducer("prod", {kU4}));
  CHECK(builtin_reducer("any", {kBool}));
  CHECK(builtin_reducer("argmax", {kE4M3, kI64}));
  CHECK(!builtin_reducer("sum", {kBool}));
  CHECK(!builtin_reducer("any", {kI32}));
  CHECK(!builtin_reducer("sum", {kF32, kI64}));
  CHECK(!builtin_reducer("argmax", {kF32}));
  CHECK(!builtin_reducer("argmax", {kF32, kF32}));
  CHECK(!builtin_reducer("sum", {}));
  CHECK(!builtin_reducer("median", {kF32}));
  CHECK(!builtin_reducer("sum", {kF32.with_lanes(4)}));
}

TEST_CASE("identities are the extreme values of the type") {
  auto identity = [](const char* name, DType t) {
    return str(builtin_reducer(name, {t})->identity[0]);
  };
  CHECK(identity("sum", kF16) == "0.0f16");
  CHECK(identity("prod", kI8) == "1i8");
  CHECK(identity("max", kF32) == "-inf");
  CHECK(identity("min", kE5M2) == "f8e5m2.inf");
  CHECK(identity("max", kE4M3) == "-448.0f8e4m3");
  CHECK(identity("max", kI4) == "-8i4");
  CHECK(identity("min", kI64) == "9223372036854775807");
  CHECK(identity("min", kU64) == "18446744073709551615u64");
  CHECK(identity("max", kU8) == "0u8");
  CHECK(identity("all", kBool) == "true");
}

TEST_CASE("argmax prefers the better value, then the lower position") {
  ReducerRef r = builtin_reducer("argmax", {kI32, kI64});
  CHECK(str(r->identity[1]) == "9223372036854775807");
  CHECK(str(r->combine[1]) == "select(v0 > v1 || v0 == v1 && p0 <= p1, p0, p1)");
  CHECK(str(builtin_reducer("argmin", {kF32, kI64})->combine[0]) ==
        "select(v0 < v1 || is_nan(v0) && !is_nan(v1) || (v0 == v1 || is_nan(v0) && is_nan(v1)) && "
        "p0 <= p1, v0, v1)");
}
