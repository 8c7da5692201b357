// The oracle itself, held against results that were worked out by hand; the evaluator gives the
// same.
#include <doctest/doctest.h>

#include <lathe/ir/parse.hpp>
#include <lathe/lower/pipeline.hpp>
#include <map>
#include <string>
#include <vector>

#include "evaluator.hpp"

namespace lt = lathe;
using oracle::NoResult;
using oracle::Number;

namespace {

using Values = std::vector<double>;
constexpr double kNothing = -12345;  ///< an element that nothing was stored in

enum class Lowered { same, refused };

/// What the program's outputs hold after a run with these inputs, one list after the other.
std::vector<Values> outputs(const std::string& text,
                            const std::map<std::string, Values>& inputs = {},
                            const oracle::Dims& dims = {}, Lowered lowered = Lowered::same) {
  const lt::Program program = lt::parse(text);
  oracle::Arguments args = oracle::make_arguments(program, dims, [](lt::DType t) {
    return t.is_float() ? oracle::real_number(77) : oracle::whole_number(77);
  });
  for (auto& a : args) {
    const auto given = inputs.find(a.name);
    for (std::size_t k = 0; given != inputs.end() && k < given->second.size(); ++k) {
      const double value = given->second[k];
      char* at =
          a.is_scalar ? reinterpret_cast<char*>(&a.scalar) : a.bytes.data() + k * a.element_bytes();
      oracle::write_bytes(a.type, at,
                          a.type.is_float()
                              ? oracle::real_number(value)
                              : oracle::whole_number(static_cast<oracle::Whole>(value)));
    }
  }
  const oracle::Outcome want = oracle::oracle_outcome(program, dims, args);
  CHECK(oracle::disagreement(want, args, oracle::evaluator_outcome(program, args)) == "");
  if (lowered == Lowered::refused)
    CHECK_THROWS_AS(lt::lower(program, lt::host()), lt::UserError);
  else if (!want.failed)
    CHECK(oracle::disagreement(
              want, args,
              oracle::evaluator_outcome(program, lt::lower(program, lt::host()), args)) == "");
  std::vector<Values> out;
  std::size_t written = 0;
  const oracle::Results results = oracle::interpret(program, dims, args);
  for (const auto& a : args) {
    if (!a.written) continue;
    out.emplace_back();
    for (const auto& n : results[written++])
      out.back().push_back(!n                  ? kNothing
                           : a.type.is_float() ? n->real
                                               : static_cast<double>(n->whole));
  }
  return out;
}
Values output(const std::string& text, const std::map<std::string, Values>& inputs = {},
              const oracle::Dims& dims = {}) {
  return outputs(text, inputs, dims)[0];
}
NoResult::Rule refusal(const std::string& text, const std::map<std::string, Values>& inputs = {}) {
  try {
    output(text, inputs);
  } catch (const NoResult& none) {
    return none.rule;
  }
  FAIL("the program has a result");
  return NoResult::outside;
}

std::string in_program(const std::string& body) {
  return "program o(inout A: i32[4], out B: i32[4]):\n" + body;
}

}  // namespace

TEST_CASE("the identity is stored once for each point, before its first update") {
  const char* text = R"(program o(in A: i32[2, 3], out B: i32[2]):
  for i in 0..2:
    for r in 0..3:
      block B(v in 0..2 = i, reduce w in 0..3 = r) reduce sum init:
        B[v] sum= A[v, w]
)";
  CHECK(output(text, {{"A", {1, 2, 3, 10, 20, 30}}}) == Values{6, 60});
}

TEST_CASE("with the reduce loop outside, all points are set before it begins") {
  const char* text = R"(program o(in A: i32[2, 3], out B: i32[2]):
  for r in 0..3:
    for i in 0..2:
      block B(v in 0..2 = i, reduce w in 0..3 = r) reduce sum init:
        B[v] sum= A[v, w]
)";
  CHECK(output(text, {{"A", {1, 2, 3, 10, 20, 30}}}) == Values{6, 60});
}

TEST_CASE("an evaluation that is repeated begins anew, an update that is repeated counts again") {
  const char* outside = R"(program o(in A: i32[3], out B: i32[1]):
  for t in 0..2:
    for r in 0..3:
      block B(v in 0..1 = 0, reduce w in 0..3 = r) reduce sum init:
        B[v] sum= A[w]
)";
  const char* inside = R"(program o(in A: i32[3], out B: i32[1]):
  for r in 0..3:
    for t in 0..2:
      block B(v in 0..1 = 0, reduce w in 0..3 = r) reduce sum init:
        B[v] sum= A[w]
)";
  CHECK(output(outside, {{"A", {1, 2, 3}}}) == Values{6});
  CHECK(output(inside, {{"A", {1, 2, 3}}}) == Values{12});
}

TEST_CASE("an empty reduction leaves the identity, an empty spatial loop nothing") {
  const char* text = R"(program o<n, m>(in A: i32[n, m], out B: i32[n], out C: i32[2]):
  C[0] = 7i32
  for i in 0..n:
    for r in 0..m:
      block B(v in 0..n = i, reduce w in 0..m = r) reduce prod init:
        B[v] prod= A[v, w]
)";
  CHECK(outputs(text, {}, {{"n", 2}, {"m", 0}}) == std::vector<Values>{{1, 1}, {7, kNothing}});
  CHECK(outputs(text, {}, {{"n", 0}, {"m", 3}}) == std::vector<Values>{{}, {7, kNothing}});
}

TEST_CASE("the identity is under the part of the predicate that names no reduce iterator") {
  const char* text = R"(program o(in A: i32[3, 2], in M: i32[3], out B: i32[3]):
  for i in 0..3:
    for r in 0..2:
      block B(v in 0..3 = i, reduce w in 0..2 = r) where M[v] > 0i32 && A[v, w] > 5i32 reduce sum init:
        B[v] sum= A[v, w]
)";
  CHECK(output(text, {{"A", {1, 9, 9, 9, 2, 3}}, {"M", {1, 0, 1}}}) == Values{9, kNothing, 0});
}

TEST_CASE("a loop that feeds spatial and reduce iterators stores each identity before it begins") {
  const char* text = R"(program o(in A: i32[6], out B: i32[2]):
  for f in 0..6:
    block B(v in 0..2 = floordiv(f, 3), reduce w in 0..3 = floormod(f, 3)) reduce sum init:
      B[v] sum= A[v * 3 + w]
)";
  CHECK(output(text, {{"A", {1, 2, 3, 4, 5, 6}}}) == Values{6, 15});
}

TEST_CASE("points outside of a domain have neither identity nor update") {
  const char* text = R"(program o(in A: i32[5], out B: i32[6]):
  for i in 0..6:
    for r in 0..4:
      block B(v in 1..5 = i, reduce w in 0..2 = r) reduce sum init:
        B[v] sum= A[w]
)";
  CHECK(output(text, {{"A", {1, 2, 4, 8, 16}}}) == Values{kNothing, 3, 3, 3, 3, kNothing});
}

TEST_CASE("loops that feed no iterator do not decide where the identity is stored") {
  const char* text = R"(program o(in A: i32[2], out B: i32[3]):
  for r in 0..2:
    for i in 0..3:
      for t in 0..4:
        if i + t > 4:
          block B(v in 0..3 = i, reduce w in 0..2 = r) reduce sum init:
            B[v] sum= A[w]
)";
  CHECK(output(text, {{"A", {1, 2}}}) == Values{0, 0, 3});
}

TEST_CASE("a reduction in a block takes its points from the blocks around it") {
  const char* text = R"(program o(in A: i32[6], out B: i32[2]):
  for i in 0..2:
    for r in 0..2:
      block O(v in 0..2 = i, reduce w in 0..2 = r) where v + w < 2:
        for k in 0..2:
          block I(x in 0..2 = v, reduce y in 0..4 = w * 2 + k) reduce sum init:
            B[x] sum= A[y]
)";
  // Its init would stand outside of the block around it, which lowering asks to be written out.
  CHECK(outputs(text, {{"A", {1, 2, 4, 8}}}, {}, Lowered::refused)[0] == Values{15, 3});
}

TEST_CASE("lets between the loops of a reduction carry what feeds its iterators") {
  const char* text = R"(program o(in A: i32[4], out B: i32[2]):
  for f in 0..4:
    let i = floordiv(f, 2)
    let r = floormod(f, 2)
    block B(v in 0..2 = i, reduce w in 0..2 = r) reduce sum init:
      B[v] sum= A[v * 2 + w]
)";
  CHECK(output(text, {{"A", {1, 2, 4, 8}}}) == Values{3, 12});
}

TEST_CASE(
    "a condition around a reduction decides for its identity unless it depends on the reduction") {
  const char* spatial = R"(program o(in A: i32[2], out B: i32[3]):
  for r in 0..2:
    for i in 0..3:
      if i < 2:
        block B(v in 0..3 = i, reduce w in 0..2 = r) reduce sum init:
          B[v] sum= A[w]
)";
  const char* reduced = R"(program o(in A: i32[2], out B: i32[3]):
  for r in 0..2:
    for i in 0..3:
      if r > 5:
        block B(v in 0..3 = i, reduce w in 0..2 = r) reduce sum init:
          B[v] sum= A[w]
)";
  CHECK(output(spatial, {{"A", {1, 2}}}) == Values{3, 3, kNothing});
  CHECK(output(reduced, {{"A", {1, 2}}}) == Values{0, 0, 0});
}

TEST_CASE("all combines of an instance are evaluated before any is stored") {
  const char* text = R"(program o(in A: i32[3], out B: i32[1], out C: i32[1]):
  reducer nonassociative noncommutative swap(a: i32 = 1i32, b: i32 = 2i32; x, y) = b + x, a + y
  for r in 0..1:
    block B(v in 0..1 = 0, reduce w in 0..1 = r) reduce swap init:
      B[v] swap= A[0]
      C[v] swap= A[1]
)";
  // (1, 2) becomes (2 + 10, 1 + 20), not (12, 12 + 20).
  CHECK(outputs(text, {{"A", {10, 20, 0}}}) == std::vector<Values>{{12}, {21}});
}

TEST_CASE("what was never stored cannot be read, nor what lies outside") {
  CHECK(refusal(in_program("  alloc T: i32[2]\n  B[0] = T[0]\n")) == NoResult::undefined);
  CHECK(refusal(in_program("  B[0] = B[1]\n")) == NoResult::undefined);
  CHECK(refusal(
            in_program("  for i in 0..2:\n    alloc T: i32[1]\n    if i == 0:\n      T[0] = 1i32\n"
                       "    B[i] = T[0]\n")) == NoResult::undefined);
  CHECK(refusal(in_program("  B[0] = A[4]\n")) == NoResult::outside);
  CHECK(refusal(in_program("  B[-1] = 1i32\n")) == NoResult::outside);
  CHECK(refusal(in_program("  assert A[0] > 99i32, \"no\"\n")) == NoResult::assertion);
}

TEST_CASE("select reads only what it chooses, also lane by lane") {
  CHECK(outputs(in_program("  for i in 0..4:\n    B[i] = select(i < 3, A[i + 1], -1i32)\n"),
                {{"A", {1, 2, 3, 4}}})[1] == Values{2, 3, 4, -1});
  CHECK(outputs(in_program("  B[ramp(0, 1, 4)] = select(ramp(0, 1, 4) < broadcast(3, 4), "
                           "A[ramp(1, 1, 4)], broadcast(-1i32, 4))\n"),
                {{"A", {1, 2, 3, 4}}})[1] == Values{2, 3, 4, -1});
}

TEST_CASE("loops, lets, conditions and atomic updates") {
  const std::string body = R"(  for i in 1..3:
    let t = A[i] * 2i32
    if i == 1:
      atomic A[0] += t
    else:
      atomic A[0] max= t
  while A[3] > 0i32:
    A[3] = A[3] - 3i32
)";
  CHECK(output(in_program(body), {{"A", {5, 1, 4, 7}}}) == Values{8, 1, 4, -2});
}

TEST_CASE("integers wrap, and divide by zero to 0") {
  using lt::BinaryOp;
  auto of = [](BinaryOp op, lt::DType t, oracle::Whole a, oracle::Whole b) {
    return static_cast<std::int64_t>(
        oracle::binary(op, t, oracle::whole_number(a), oracle::whole_number(b)).whole);
  };
  CHECK(of(BinaryOp::add, lt::kI8, 127, 1) == -128);
  CHECK(of(BinaryOp::mul, lt::kU4, 15, 15) == 1);
  CHECK(of(BinaryOp::div, lt::kI4, -8, -1) == -8);
  CHECK(of(BinaryOp::mod, lt::kI32, INT32_MIN, -1) == 0);
  CHECK(of(BinaryOp::div, lt::kI64, INT64_MIN, -1) == INT64_MIN);
  for (auto op : {BinaryOp::div, BinaryOp::mod, BinaryOp::floordiv, BinaryOp::floormod})
    CHECK(of(op, lt::kI16, -7, 0) == 0);
  CHECK(of(BinaryOp::div, lt::kI8, -7, 2) == -3);
  CHECK(of(BinaryOp::mod, lt::kI8, -7, 2) == -1);
  CHECK(of(BinaryOp::floordiv, lt::kI8, -7, 2) == -4);
  CHECK(of(BinaryOp::floormod, lt::kI8, -7, 2) == 1);
  CHECK(of(BinaryOp::floormod, lt::kI8, 7, -2) == -1);
  CHECK(of(BinaryOp::shl, lt::kU8, 3, 9) == 6);
  CHECK(of(BinaryOp::shl, lt::kI4, 1, 3) == -8);
  CHECK(of(BinaryOp::shr, lt::kI8, -128, 7) == -1);
  CHECK(of(BinaryOp::shr, lt::kU8, 128, -1) == 1);
  CHECK(of(BinaryOp::mul, lt::kI64, INT64_MAX, INT64_MAX) == 1);
}

TEST_CASE("casts saturate from floats, wrap between integers and round to floats once") {
  auto whole = [](lt::DType to, lt::DType from, Number n) {
    return static_cast<std::int64_t>(oracle::cast(to, from, n).whole);
  };
  CHECK(whole(lt::kI8, lt::kF32, oracle::real_number(300)) == 127);
  CHECK(whole(lt::kI4, lt::kF64, oracle::real_number(-1e300)) == -8);
  CHECK(whole(lt::kU16, lt::kF32, oracle::real_number(-0.99)) == 0);
  CHECK(whole(lt::kI64, lt::kF64, oracle::real_number(0x1p63)) == INT64_MAX);
  CHECK(whole(lt::kI32, lt::kF64, oracle::real_number(NAN)) == 0);
  CHECK(whole(lt::kI8, lt::kI32, oracle::whole_number(200)) == -56);
  CHECK(whole(lt::kBool, lt::kF32, oracle::real_number(NAN)) == 1);
  // Between two floats: f64 first would make a tie of it.
  const std::int64_t just_above = (std::int64_t{1} << 62) + (std::int64_t{1} << 38) + 1;
  CHECK(oracle::cast(lt::kF32, lt::kI64, oracle::whole_number(just_above)).real == 0x1p62 + 0x1p39);
}

TEST_CASE("floats of 8 and 16 bits round to nearest even and overflow to infinity or NaN") {
  CHECK(oracle::rounded(lt::kF16, 65519.9) == 65504);
  CHECK(std::isinf(oracle::rounded(lt::kF16, 65520)));
  CHECK(oracle::rounded(lt::kF16, 0x1p-25) == 0);
  CHECK(oracle::rounded(lt::kF16, 0x1.8p-25) == 0x1p-24);
  CHECK(oracle::rounded(lt::kBF16, 1 + 0x1p-8) == 1);
  CHECK(oracle::rounded(lt::kBF16, 1 + 0x3p-8) == 1 + 0x1p-6);
  CHECK(oracle::rounded(lt::kE4M3, 464) == 448);
  CHECK(std::isnan(oracle::rounded(lt::kE4M3, 465)));
  CHECK(std::isnan(oracle::rounded(lt::kE4M3, HUGE_VAL)));
  CHECK(std::isinf(oracle::rounded(lt::kE5M2, 61440)));
  CHECK(oracle::rounded(lt::kE5M2, 61439) == 57344);
  CHECK(std::signbit(oracle::rounded(lt::kE5M2, -1e-30)));
  for (lt::DType t : {lt::kF16, lt::kBF16, lt::kE4M3, lt::kE5M2})
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << t.bits); ++bits)
      if (const Number n = oracle::from_bits(t, bits); !std::isnan(n.real))
        REQUIRE(oracle::bits_of(t, n) == bits);
  CHECK(oracle::bits_of(lt::kF16, oracle::real_number(1)) == 0x3c00);
  CHECK(oracle::bits_of(lt::kBF16, oracle::real_number(-2)) == 0xc000);
  CHECK(oracle::bits_of(lt::kE4M3, oracle::real_number(448)) == 0x7e);
  CHECK(oracle::bits_of(lt::kE5M2, oracle::real_number(HUGE_VAL)) == 0x7c);
}

TEST_CASE("min and max propagate NaN and order the zeros, fast ones follow their formula") {
  using lt::BinaryOp;
  auto of = [](BinaryOp op, double a, double b) {
    return oracle::binary(op, lt::kF32, oracle::real_number(a), oracle::real_number(b)).real;
  };
  CHECK(std::isnan(of(BinaryOp::min, NAN, 1)));
  CHECK(std::isnan(of(BinaryOp::max, 1, NAN)));
  CHECK(std::signbit(of(BinaryOp::min, 0.0, -0.0)));
  CHECK_FALSE(std::signbit(of(BinaryOp::max, -0.0, 0.0)));
  CHECK(of(BinaryOp::fast_min, NAN, 1) == 1);
  CHECK(std::isnan(of(BinaryOp::fast_max, 1, NAN)));
  CHECK(std::signbit(of(BinaryOp::fast_min, 0.0, -0.0)));
}

TEST_CASE("calls") {
  auto of = [](lt::CallOp op, lt::DType t, std::vector<Number> args) {
    return oracle::call(op, t, args);
  };
  auto real = oracle::real_number;
  CHECK(of(lt::CallOp::round, lt::kF32, {real(2.5)}).real == 2);
  CHECK(of(lt::CallOp::abs, lt::kI8, {oracle::whole_number(-128)}).whole == -128);
  CHECK(of(lt::CallOp::popcount, lt::kI4, {oracle::whole_number(-1)}).whole == 4);
  CHECK(of(lt::CallOp::scalb, lt::kF32, {real(3), real(1.75)}).real == 6);
  CHECK(of(lt::CallOp::scalb, lt::kF64, {real(0x1.8p0), real(-1075)}).real == 0x1p-1074);
  CHECK(of(lt::CallOp::scalb, lt::kF32, {real(0), real(HUGE_VAL)}).real !=
        of(lt::CallOp::scalb, lt::kF32, {real(0), real(HUGE_VAL)}).real);
  CHECK(of(lt::CallOp::logb, lt::kF32, {real(-0x1.8p-140)}).real == -140);
  CHECK(of(lt::CallOp::logb, lt::kF32, {real(0)}).real == -HUGE_VAL);
  CHECK(of(lt::CallOp::significand, lt::kF64, {real(0x1.7p-1070)}).real == 0x1.7p0);
  CHECK(of(lt::CallOp::significand, lt::kF64, {real(0x1.8p40)}).real == 0.75);
  CHECK(std::isnan(of(lt::CallOp::significand, lt::kF64, {real(-1)}).real));
  CHECK(of(lt::CallOp::reciprocal_estimate, lt::kF32, {real(-0.0)}).real == -HUGE_VAL);
  CHECK(of(lt::CallOp::rsqrt_estimate, lt::kF32, {real(16)}).real == 0.25);
  CHECK(of(lt::CallOp::fma, lt::kF32, {real(1 + 0x1p-23), real(1 - 0x1p-23), real(-1)}).real ==
        -0x1p-46);
  CHECK(of(lt::CallOp::is_nan, lt::kF16, {real(NAN)}).whole == 1);
  CHECK(oracle::dot2_step(0x1p-127, 1, 1) == 1);  // a subnormal sum is 0
  CHECK(oracle::dot2_step(-0x1p-126, 0x1p-63, 0x1.8p-64) == -0.0);
  CHECK(oracle::dot2_step(1, 0x1p-12, 0x1p-12) == 1);  // a tie goes to even
  CHECK(oracle::dot2_step(1, 0x1.02p-12, 0x1p-12) == 1 + 0x1p-23);
}
