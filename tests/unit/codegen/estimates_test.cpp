// Estimates of reciprocals and of reciprocal roots.
#include <cmath>
#include <lathe/lower/passes_machine.hpp>
#include <support/skip.hpp>

#include "against.hpp"
#include "assembly.hpp"

using namespace lathe;
using namespace test;

namespace {

constexpr CallOp kEstimates[] = {CallOp::reciprocal_estimate, CallOp::rsqrt_estimate};

/// y[l] = op(x[l]) of one vector.
Program estimated(CallOp op, int lanes) {
  Build b;
  const Buffer x = b.buffer("x", kF32), y = b.output("y", kF32);
  const AnyExpr all = lanes == 1 ? AnyExpr(0) : ramp(0, 1, lanes);
  return b.done(make_store(y, {all}, make_call(op, {make_load(x, {all})})));
}

float exact(CallOp op, float x) {
  return op == CallOp::reciprocal_estimate ? 1 / x : 1 / std::sqrt(x);
}

}  // namespace

TEST_CASE("estimates are right to 2^-14, and exact of what is no number to divide by") {
  if (!host().has("avx512f")) LATHE_SKIP("no AVX-512 here");
  for (const CallOp op : kEstimates)
    for (int lanes : {1, 2, 8, 12, 16, 32, 48}) {
      CAPTURE(op_text(op));
      CAPTURE(lanes);
      const Kernel kernel(estimated(op, lanes), Llvm::get());
      std::vector<float> x;
      for (int l = 0; l < lanes; ++l)
        x.push_back(std::exp2(static_cast<float>(l * 7 % 60) - 29.3f));
      if (lanes >= 8)
        x[1] = 0.f, x[2] = -0.f, x[3] = HUGE_VALF, x[4] = NAN, x[5] = 1, x[6] = -HUGE_VALF;
      std::vector<Bytes> memory{Bytes::of(x), Bytes::of(x)};
      CHECK(kernel(slots_of(memory, {})) == 0);
      const std::vector<float> got = memory[1].as<float>();
      for (std::size_t l = 0; l < x.size(); ++l) {
        CAPTURE(x[l]);
        const float want = exact(op, x[l]);
        if (std::isnan(want) || std::isinf(want) || want == 0)
          CHECK((std::isnan(want) ? std::isnan(got[l]) : got[l] == want));
        else
          CHECK(std::fabs(got[l] - want) <= 0x1p-14f * want);
      }
    }
}

TEST_CASE("an estimate is one instruction a register, of the size that the lanes need") {
  const auto assembly = [](CallOp op, int lanes) {
    const Target to("x86-64-v4");
    const std::string text = emit_llvm(estimated(op, lanes), to, Llvm::get().major(), "k").text;
    return compile_to_assembly(Llvm::get(), text, to);
  };
  CHECK(count_of(assembly(CallOp::reciprocal_estimate, 16), "vrcp14ps") == 1);
  CHECK(count_of(assembly(CallOp::rsqrt_estimate, 32), "vrsqrt14ps") == 2);
  CHECK(count_of(assembly(CallOp::rsqrt_estimate, 8), "zmm") == 0);
}
