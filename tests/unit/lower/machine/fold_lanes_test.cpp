// What machine code a fold in lanes becomes.
#include <lathe/schedule/core/schedule.hpp>

#include "../../codegen/assembly.hpp"
#include "../../codegen/kernels.hpp"
#include "../stages.hpp"

using namespace test;

namespace {

std::string lowered_text(const lt::Schedule& s) {
  return lt::lower(s.program(), lt::Target("znver4")).str();
}

std::string assembly_of(const lt::Schedule& s, const lt::Llvm& llvm) {
  const lt::Target target("znver4");
  const lt::Program lowered = lt::lower(s.program(), target);
  return lt::compile_to_assembly(llvm, lt::emit_llvm(lowered, target, llvm.major()).text, target);
}

}  // namespace

TEST_CASE("partial results of a sum stay in registers, and fold by shuffles") {
  lt::Input<float, 2> X("X", {50, 1003});
  lt::Reduce r("r", 1003);
  auto S = lt::compute("S", {50}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  lt::Schedule s(S);
  s.fold_lanes(s.loops(S)[1], 64);
  const std::string text = lowered_text(s);
  INFO(text);
  CHECK(count_of(text, "[16] scope") == 0);
  // From 64 to 32 and 16 registers join, then halves of one.
  for (const char* half : {"8, 9, 10, 11, 12, 13, 14, 15)", "; 4, 5, 6, 7)", "; 2, 3)"})
    CHECK(count_of(text, half) == 1);
  for (const auto* llvm : llvms()) {
    const std::string code = assembly_of(s, *llvm);
    INFO(code);
    CHECK(stack_accesses(code) == 0);
    // The last two partial results alone are added one by one, to the identity.
    CHECK(count_of(code, "vaddss") <= 2);
    CHECK(count_of(code, "vextractf64x4") + count_of(code, "vextractf32x8") >= 1);
  }
}

TEST_CASE("values and positions fold together") {
  lt::Input<float, 2> X("X", {50, 1003});
  lt::Reduce r("r", 1003);
  auto A = lt::compute("A", {50}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  lt::Schedule s(lt::outputs(A.get<0>(), A.get<1>()));
  s.fold_lanes(s.loops("A")[1], 32);
  const std::string text = lowered_text(s);
  INFO(text);
  // Each stays in registers of 8 lanes, which 64 bits have.
  CHECK(count_of(text, "f32x8[] scope register") >= 4);
  CHECK(count_of(text, "i64x8[] scope register") >= 4);
  for (const auto* llvm : llvms())
    CHECK(stack_accesses(innermost_loop(assembly_of(s, *llvm))) == 0);
}

TEST_CASE("rows of other lengths and rows in turn fold to the same after each pass") {
  for (std::int64_t n : {0, 1, 15, 16, 17, 100}) {
    lt::Input<float, 2> X("X", {5, n});
    lt::Reduce r("r", n);
    auto S = lt::compute("S", {5}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
    for (const char* target : {"x86-64-v4", "x86-64-v2"})
      for (bool in_turn : {false, true}) {
        lt::Schedule s(S);
        auto [i, q] = s.loops<2>(S);
        if (in_turn) {
          auto [io, ii] = s.split<2>(i, {lt::infer, 2});
          s.reorder({io, q, ii});
        }
        s.fold_lanes(q, 16);
        check_stages(s.program(), {}, lt::Target(target));
      }
  }
}
