// Comparisons of floats, as min and max and beside conversions of halves: what they become on
// machines.
#include <lathe/ir/machine_form.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/runtime/llvm.hpp>

#include "../../codegen/against.hpp"
#include "../../codegen/assembly.hpp"

using namespace lathe;
using namespace test;

namespace {

// Both zeros, infinities and NaNs, the least and largest numbers, ordinary ones.
Bytes halves() {
  return Bytes::of(std::vector<std::uint16_t>{0x0000, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0xFE01,
                                              0x0001, 0x8001, 0x7BFF, 0xFBFF, 0x3C00, 0xBC00,
                                              0x4248, 0xC248, 0x2E66, 0xAE66});
}

}  // namespace

TEST_CASE("min takes three instructions, max five, without compares and blends") {
  for (const bool is_min : {true, false}) {
    for (const char* name : {"znver4", "x86-64-v3"}) {
      const Target machine(name);
      for (int lanes : {1, machine.has("avx512f") ? 16 : 8}) {
        CAPTURE(lanes);
        Build b;
        auto x = b.buffer("x", kF32), y = b.buffer("y", kF32), r = b.output("r", kF32);
        const AnyExpr at = lanes == 1 ? AnyExpr(0) : make_ramp(AnyExpr(0), AnyExpr(1), lanes);
        const AnyExpr best = detail::machine_binary(is_min ? BinaryOp::min : BinaryOp::max,
                                                    make_load(x, {at}), make_load(y, {at}));
        const Program p = b.done(make_store(r, {at}, best));
        for (const auto* llvm : llvms()) {
          const std::string code =
              compile_to_assembly(*llvm, emit_llvm(p, machine, llvm->major()).text, machine);
          CHECK(count_of(code, is_min ? "\tvmin" : "\tvmax") == 2);
          CHECK(count_of(code, "\tvorps") == 1);
          CHECK(count_of(code, "\tvxorps") == (is_min ? 0 : 1));
          CHECK(count_of(code, "\tvsub") == (is_min ? 0 : 1));
          CHECK(count_of(code, "vcmp") + count_of(code, "blend") + count_of(code, "vucomi") == 0);
        }
      }
    }
  }
}

TEST_CASE("a comparison of widened halves stays wide, without calls and lane by lane code") {
  for (int lanes : {1, 8, 16}) {
    CAPTURE(lanes);
    const DType half = kF16.with_lanes(lanes), wide = kF32.with_lanes(lanes);
    Build b;
    auto x = b.buffer("x", kF16), r = b.output("r", kF16);
    const AnyExpr at = lanes == 1 ? AnyExpr(0) : make_ramp(AnyExpr(0), AnyExpr(1), lanes);
    const AnyExpr v = make_cast(wide, make_load(x, {at})), zero = make_float(wide, 0);
    Program p = b.done(make_store(r, {at}, make_cast(half, make_select(v < zero, v, zero))));
    check_against_evaluator(p, {halves(), halves()});
    const Target machine("znver4");
    for (const auto* llvm : llvms()) {
      const std::string code =
          compile_to_assembly(*llvm, emit_llvm(p, machine, llvm->major()).text, machine);
      CHECK(count_of(code, "vcvtph2ps") == 1);
      CHECK(count_of(code, "vminps") + count_of(code, "vminss") == 1);
      CHECK(count_of(code, "call") == 0);
    }
  }
}

TEST_CASE("fma of narrow floats rounds once, by one instruction where there is one") {
  Program p = parse(R"(program k(in x: f16[32], in y: f16[32], in z: f16[32], out r: f16[32]):
  for i in 0..2:
    r[ramp(i * 16, 1, 16)] = fma(x[ramp(i * 16, 1, 16)], y[ramp(i * 16, 1, 16)], z[ramp(i * 16, 1, 16)])
)");
  // 2050 and what is less than half of the step there: f32 rounds it up to the half.
  std::vector<f16> x(32, f16(1.0f + 0x1p-10f)), y(32, f16(1.0f - 0x1p-10f)), z(32, f16(2050.0f));
  z[1] = f16(-2050.0f), x[2] = f16(INFINITY), y[2] = f16(0.0f), z[3] = f16(INFINITY);
  x[4] = f16(60000.0f), y[4] = f16(2.0f), z[4] = f16(-65504.0f), x[5] = y[5] = f16(0x1p-24f);
  const std::vector<Bytes> in{Bytes::of(x), Bytes::of(y), Bytes::of(z), Bytes::of(x)};
  const auto wanted = evaluated(p, in)[3].as<f16>();
  CHECK(static_cast<float>(wanted[0]) == 2050.0f);
  CHECK(static_cast<float>(wanted[1]) == -2050.0f);
  CHECK(static_cast<float>(wanted[4]) == 54496.0f);
  for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    CAPTURE(name);
    check_against_evaluator(legal(legalize_ops(legalize_types(p, target), target), target), in);
  }
  for (auto [target, instruction] : {std::pair(Target("sapphirerapids"), "vfmadd213ph"),
                                     {Target("neoverse-n1"), "fmla\tv"},
                                     {Target("znver4"), "vfmadd213ph"},
                                     {Target("cortex-a72"), "fmla\tv"}}) {
    const bool has = target.has("avx512fp16") || target.has("fullfp16");
    const Program machine = legal(legalize_ops(legalize_types(p, target), target), target);
    CHECK(verify_reason(machine, Stage::machine, target) == "");
    for (const auto* llvm : llvms()) {
      const std::string code =
          compile_to_assembly(*llvm, emit_llvm(machine, target, llvm->major()).text, target);
      CHECK((count_of(code, instruction) > 0) == has);
    }
  }
}
