// One description of a call's slots, in everything that fills or reads them.
#include <doctest/doctest.h>

#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/lathe.hpp>
#include <lathe/lower/pipeline.hpp>

namespace lt = lathe;

namespace {

/// As DenseLayout numbers them: the slots of each parameter's address or value, and its strides.
template <int... Rank>
bool numbers_as_described(const lt::Program& program) {
  constexpr lt::detail::DenseLayout<Rank...> dense;
  const lt::SlotLayout slots = lt::slot_layout(program);
  bool same = slots.size() == dense.slots;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const auto p = static_cast<std::size_t>(slots[k].param);
    const bool is_stride = slots[k].kind == lt::CallSlot::Kind::stride;
    same &= k == (is_stride ? dense.strides[p] + static_cast<std::size_t>(slots[k].index)
                            : dense.slot[p]);
  }
  return same;
}

// The description itself is usable where programs are unknown.
constexpr int slots_of_two_matrices() {
  int slots = 0;
  lt::for_each_slot(lt::detail::DenseSignature<2, 2>(),
                    [&](lt::CallSlot::Kind, int, int) { ++slots; });
  return slots;
}
static_assert(slots_of_two_matrices() == 4);

}  // namespace

TEST_CASE("a program has the same slots at every stage") {
  lt::Dim n("n");
  lt::Input<float, 2> X("X", {n, 8}), W("W", {n, 8}, lt::any_stride);
  lt::Input<float, 0> s("s");
  auto Y = lt::compute("Y", {n, 8}, [&](lt::Var i, lt::Var j) { return X(i, j) * s() + W(i, j); });
  const lt::Program program = lt::default_schedule(lt::program_of({Y})).program();
  const lt::SlotLayout slots = lt::slot_layout(program);
  const lt::Target target("x86-64-v4");
  for (const lt::Pass& pass : lt::cpu_pipeline()) {
    CAPTURE(pass.name);
    CHECK(lt::slot_layout(lt::lower_until(pass.name, program, target)) == slots);
  }
  CHECK(lt::emit_llvm(lt::lower(program, target), target, 16).slots == slots);
}

TEST_CASE("calls of known shape number the slots by the same description") {
  using lt::parse;
  CHECK(numbers_as_described<2, -1, 3, 0, -1>(
      parse("program P(in X: f32[2, 3], in a: f32, out Y: f32[2, 3, 4], in Z: f32[], in b: f32):\n"
            "  pass\n")));
  CHECK(numbers_as_described<1, 1>(parse("program P(in X: f32[2], out Y: f32[2]):\n  pass\n")));
  CHECK(numbers_as_described<>(parse("program P():\n  pass\n")));
}

TEST_CASE("an evaluator takes the strides of a call") {
  const lt::Program p = lt::parse(
      "program P(in X: f32[2, 3], out Y: f32[2, 3]):\n  for i in 0..2:\n    for j in 0..3:\n"
      "      block Y(vi in 0..2 = i, vj in 0..3 = j):\n        Y[vi, vj] = X[vi, vj] * 2.0\n");
  std::vector<float> x(8), y(6);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k);
  const std::uint64_t slots[] = {lt::to_slot(x.data()), lt::to_slot(y.data()), 5, 3};
  lt::Evaluator(p).run(slots);
  CHECK(y == std::vector<float>{0, 2, 4, 10, 12, 14});
}
