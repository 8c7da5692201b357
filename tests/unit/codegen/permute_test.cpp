// Lanes in an order that is computed.
#include <lathe/lower/passes_machine.hpp>
#include <random>

#include "against.hpp"
#include "assembly.hpp"

using namespace lathe;
using namespace test;

namespace {

/// y[l] = x[at[l]] of one vector.
Program permuted(DType t, int lanes) {
  Build b;
  const Buffer x = b.buffer("x", t), at = b.buffer("at", kI8), y = b.output("y", t);
  const AnyExpr all = ramp(0, 1, lanes);
  return b.done(make_store(
      y, {all}, make_call(CallOp::permute, {make_load(x, {all}), make_load(at, {all})})));
}

Bytes elements(DType t, int count) {
  Bytes out;
  for (int k = 0; k < count * t.element_bytes(); ++k)
    out.data.push_back(static_cast<unsigned char>(k * 7 % 61));
  return out;
}

}  // namespace

TEST_CASE("lanes are permuted as the evaluator does it") {
  std::mt19937 random(5);
  for (const char* name : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    CAPTURE(name);
    for (DType t : {kU8, kI16, kF32, kF64})
      for (int lanes : {2, 3, 4, 8, 13, 16, 32, 64}) {
        CAPTURE(lanes);
        const Compared both(legalize_ops(permuted(t, lanes), target), target);
        for (int round = 0; round < 3; ++round) {
          std::vector<std::int8_t> at(static_cast<std::size_t>(lanes));
          for (auto& l : at) l = static_cast<std::int8_t>(random() % static_cast<unsigned>(lanes));
          both.check({elements(t, lanes), Bytes::of(at), elements(t, lanes)});
        }
      }
  }
}

TEST_CASE("bytes of one register are permuted by one instruction") {
  const auto assembly = [](const char* target, DType t, int lanes) {
    const Target to(target);
    const std::string text =
        emit_llvm(guard_operators(permuted(t, lanes), to), to, Llvm::get().major(), "k").text;
    return compile_to_assembly(Llvm::get(), text, to);
  };
  CHECK(count_of(assembly("x86-64-v3", kU8, 16), "pshufb") == 1);
  CHECK(count_of(assembly("x86-64-v3", kU8, 32), "vpshufb") == 2);
}
