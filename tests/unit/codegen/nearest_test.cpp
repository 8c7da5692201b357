// Conversions of rounded floats to integers: one instruction where a machine has it.
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/runtime/llvm.hpp>

#include "against.hpp"
#include "assembly.hpp"

using namespace lathe;
using namespace test;

namespace {

/// Halves and integers around what integers of 8 and 16 bits hold, and what no integer is.
std::vector<float> numbers() {
  std::vector<float> all{
      0.0f,      -0.0f,      0.5f,     1.5f,          2.5f,          -0.5f,          -1.5f,
      126.5f,    127.4f,     127.5f,   -127.5f,       -128.4f,       -128.5f,        -129.0f,
      254.5f,    255.5f,     32766.5f, 32767.5f,      -32768.5f,     65534.5f,       65535.5f,
      1e9f,      3e38f,      -3e38f,   2147483520.0f, 2147483648.0f, -2147483648.0f, 1e-45f,
      HUGE_VALF, -HUGE_VALF, NAN,      8388607.5f};
  return all;
}

/// y = to(round(x)), its rounding within the limits, or limited to what `to` holds; none: not.
Program rounded(DType to, int lanes, const double* low, const double* high) {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", to);
  const auto i = make_var("i");
  const AnyExpr at = lanes == 1 ? AnyExpr(i) : make_ramp(AnyExpr(i) * lanes, AnyExpr(1), lanes);
  AnyExpr v = make_call(CallOp::round, {make_load(x, {at})});
  if (low) v = make_binary(BinaryOp::max, v, make_float(v.dtype(), *low));
  if (high) v = make_binary(BinaryOp::min, v, make_float(v.dtype(), *high));
  return b.done(
      make_for(i, 0, 32 / lanes, make_store(y, {at}, make_cast(to.with_lanes(lanes), v))));
}

}  // namespace

TEST_CASE("what is rounded and converted is what the evaluator says") {
  const double least = -127, most = 127, odd = 100.6, above = 3;
  const std::pair<const double*, const double*> limits[] = {
      {nullptr, nullptr}, {&least, &most}, {&least, &odd}, {&above, &most}, {&above, &odd}};
  for (const char* name : {"x86-64-v2", "x86-64-v3", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    CAPTURE(name);
    for (const DType to : {kI8, kU8, kI16, kU16, kI32, kU32, kI64})
      for (const int lanes : {1, 2, 4, 8, 16, 32})
        for (const auto& [low, high] : limits) {
          CAPTURE(to.str());
          CAPTURE(lanes);
          Bytes out;
          out.data.resize(static_cast<std::size_t>(32 * to.element_bytes()));
          check_against_evaluator(rounded(to, lanes, low, high), {Bytes::of(numbers()), out}, {},
                                  target);
        }
  }
}

TEST_CASE("integers of 64 bits are not what an instruction of 32 gives") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kI64);
  const AnyExpr at = make_ramp(AnyExpr(0), AnyExpr(1), 32), v = make_load(x, {at});
  const AnyExpr limited = make_binary(
      BinaryOp::fast_min, make_binary(BinaryOp::fast_max, v, make_float(v.dtype(), -1e12)),
      make_float(v.dtype(), 1e12));
  Bytes out;
  out.data.resize(32 * 8);
  check_against_evaluator(
      b.done(
          make_store(y, {at}, make_cast(kI64.with_lanes(32), make_call(CallOp::round, {limited})))),
      {Bytes::of(numbers()), out});
}

TEST_CASE("rounding and converting is one instruction") {
  if (!Llvm::find()) return;
  const double least = -127, most = 127, odd = 100.6;
  const auto assembly = [&](const char* name, const Program& p) {
    const Target target(name);
    const std::string text = emit_llvm(legal(p), target, Llvm::get().major()).text;
    return compile_to_assembly(Llvm::get(), text, target);
  };
  for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    CAPTURE(name);
    const std::string one = assembly(name, rounded(kI8, 16, &least, &most));
    CHECK(count_of(one, "cvtps2dq") > 0);
    CHECK(count_of(one, "roundps") + count_of(one, "rndscaleps") == 0);
    // Without limits those of the type do; another limit may be what is rounded to.
    CHECK(count_of(assembly(name, rounded(kU8, 16, nullptr, nullptr)), "cvtps2dq") > 0);
    CHECK(count_of(assembly(name, rounded(kI8, 16, &least, &odd)), "cvtps2dq") == 0);
    CHECK(count_of(assembly(name, rounded(kI64, 4, nullptr, nullptr)), "cvtps2dq") == 0);
  }
}
