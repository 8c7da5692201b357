// change_type with an offset: copies hold their numbers in a type of another sign.
#include <support/errors.hpp>

#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

TEST_CASE("change_type: an offset that stores add and loads take off") {
  lt::Input<std::int8_t, 2> A("A", {5, 8});
  lt::Input<std::int8_t, 1> B("B", {8});
  lt::Reduce r("r", 8);
  const auto C = lt::compute("C", {5}, [&](lt::Var i) {
    return lt::sum(lt::cast<std::int32_t>(A(i, r)) * lt::cast<std::int32_t>(B(r)), r);
  });
  const auto D = lt::compute("D", {5}, [&](lt::Var i) { return lt::cast<float>(C(i)) + 1.0f; });
  lt::Schedule start(D), s = start;
  const lt::BlockRef copy = s.cache_read(C, B, lt::Scope::global);
  s.change_type(copy, lt::kU8, 128);
  CHECK(s.str().find("B_cache[vi] = u8(B[vi]) + 128u8\n") != std::string::npos);
  CHECK(s.str().find("C[vi] sum= i32(A[vi, vr]) * (i32(B_cache[vr]) - 128i32)\n") !=
        std::string::npos);
  CHECK(s.trace().cpp("s").find("s.change_type(\"B_cache\", lathe::kU8, 128);\n") !=
        std::string::npos);
  check_lowered(start, s);
  // There and back; in a wider type, in which any offset has room; read as it is.
  s.change_type(copy, lt::kI8, -128);
  check_lowered(start, s);
  s.change_type(copy, lt::kI64, -1000000007);
  check_lowered(start, s);
  lt::Schedule same = start;
  const lt::BlockRef wide = same.cache_write(C, lt::Scope::global);
  const lt::BlockRef narrow = same.cache_read(C, A, lt::Scope::local);
  same.change_type(narrow, lt::kI16, 5);
  check_lowered(start, same);
  CHECK(same.loops(wide).size() == 1);
}

TEST_CASE("change_type: a value of its own type or a float is the number without the offset") {
  lt::Input<std::int8_t, 1> X("X", {9});
  const auto P = lt::compute("P", {9}, [&](lt::Var i) { return X(i); });
  const auto Q = lt::compute("Q", {9}, [&](lt::Var i) {
    return lt::cast<float>(P(i)) * 0.5f + lt::cast<float>(lt::max(P(8 - i), X(i)));
  });
  lt::Schedule start(Q), s = start;
  s.change_type(P, lt::kU8, 128);
  check_lowered(start, s);
  lt::Schedule wide = start;
  wide.change_type(P, lt::kI32, 1 << 30);
  check_lowered(start, wide);
}

TEST_CASE("change_type: what a mask leaves out of a load is 0, whatever the offset") {
  const lt::Program program = lt::parse(R"(program P(in X: i8[4], out Y: i32[4], out Z: i8[4]):
  alloc T: i8[4]
  for i in 0..4:
    block T(vi in 0..4 = i):
      T[vi] = X[vi]
  for i in 0..4:
    block Y(vi in 0..4 = i):
      Y[vi] = i32(T[vi where vi < 2])
  for i in 0..4:
    block Z(vi in 0..4 = i):
      Z[vi] = T[vi where T[3 - vi] > 0i8]
)");
  lt::Schedule start(program), s = start;
  s.change_type("T", lt::kU8, 128);
  check_kept(start, s);
}

TEST_CASE("change_type: offsets that don't fit, of sums, and of floats") {
  lt::Input<std::uint8_t, 2> A("A", {5, 3});
  lt::Input<std::int8_t, 1> B("B", {3});
  lt::Reduce r("r", 3);
  const auto C = lt::compute("C", {5}, [&](lt::Var i) {
    return lt::sum(lt::cast<std::int32_t>(A(i, r)) * lt::cast<std::int32_t>(B(r)), r);
  });
  const auto D = lt::compute("D", {5}, [&](lt::Var i) { return C(i) + 1; });
  lt::Schedule s(D);
  const lt::BlockRef copy = s.cache_read(C, B, lt::Scope::global);
  const auto said = [&](const lt::BufferName& buffer, lt::DType t, std::int64_t offset) {
    return refused_line(s, [&](lt::Schedule& u) { u.change_type(buffer, t, offset); });
  };
  CHECK(said(copy, lt::kU8, 127) ==
        "error[L0253] change_type: buffer 'B_cache' holds values from -1 to 254, as far as is "
        "proven; u8 holds 0 to 255");
  CHECK(said(copy, lt::kU8, 129).find("holds values from 1 to 256") != std::string::npos);
  for (const std::int64_t far : {INT64_MAX, INT64_MIN})
    CHECK(
        said(copy, lt::kI64, far).starts_with("error[L0253] change_type: buffer 'B_cache' holds"));
  CHECK(said(C, lt::kI64, 1) ==
        "error[L0253] change_type: buffer 'C' holds what the reduction of block 'C' adds up in "
        "steps");
  CHECK(said(D, lt::kI64, 1).starts_with("error[L0253] change_type: buffer 'D' is a parameter"));
  lt::Input<float, 1> F("F", {9});
  const auto P = lt::compute("P", {9}, [&](lt::Var i) { return F(i); });
  const auto Q = lt::compute("Q", {9}, [&](lt::Var i) { return P(i) + P(0); });
  lt::Schedule floats(Q);
  CHECK(refused_line(floats, [&](lt::Schedule& u) { u.change_type(P, lt::kF64, 1); }) ==
        "error[L0253] change_type: buffer 'P' holds floats, which would be rounded");
}
