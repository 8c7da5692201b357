// Comparisons of floats, as min and max and beside conversions of halves: what they become on
// machines.
#include <lathe/ir/machine_form.hpp>
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
