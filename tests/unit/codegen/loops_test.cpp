// Loops, branches, temporaries, statuses and parallel loops as machine code.
#include "kernels.hpp"
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/codegen/impl/layer.ipp>
#include <lathe/runtime/impl/layer.ipp>
#endif
#include <numeric>

using namespace lathe;
using namespace test;

namespace {

std::vector<float> ramp(std::size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 1.0f);
  return v;
}

Program scale_program() {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  auto n = b.dim("n");
  auto s = b.scalar("s", kF32);
  auto i = make_var("i");
  return b.done(make_for(i, 0, n, make_store(y, {i}, make_load(x, {i}) * AnyExpr(s))));
}

}  // namespace

TEST_CASE("a loop takes buffers, dims and scalars from the slots") {
  Program p = scale_program();
  auto slots = kernel_slots(p);
  REQUIRE(slots.size() == 4);
  CHECK(slots[2].kind == KernelSlot::Kind::dim);
  CHECK(slots[3].kind == KernelSlot::Kind::scalar);
  CHECK(slots[3].bytes == 4);
  for (const auto* llvm : llvms()) {
    Kernel k(p, *llvm);
    auto x = ramp(10);
    std::vector<float> y(11, -1);
    CHECK(k.call(x.data(), y.data(), std::int64_t{10}, 2.5f) == 0);
    for (int i = 0; i < 10; ++i) CHECK(y[i] == x[i] * 2.5f);
    CHECK(y[10] == -1);
    CHECK(k.call(x.data(), y.data(), std::int64_t{-3}, 2.5f) == 0);
  }
}
