#include <doctest/doctest.h>

#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/lathe.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/runtime/llvm.hpp>
#include <string>

#include "../../runtime/llvm_versions.hpp"

namespace lt = lathe;

namespace {

/// The program with its default schedule for the target, compiled by this LLVM.
std::size_t compiled_size(const lt::AnyTensor& output, const lt::Target& target,
                          const lt::Llvm& llvm) {
  const lt::Schedule schedule = lt::default_schedule(lt::Schedule(output).program(), target);
  const std::string text =
      lt::emit_llvm(lt::lower(schedule.program(), target), target, llvm.major()).text;
  return lt::compile_to_object(llvm, text, target, {.isolate = true}).size();
}

template <class T>
lt::Tensor<T, 1> nested_choice(const lt::Dim& n, const lt::Input<T, 1>& X) {
  return lt::compute("T", {n}, [&](lt::Var i) {
    return lt::select(i >= 3, lt::select(i < 7, T(3), X(i - 3)), T(2));
  });
}

template <class T>
lt::Tensor<T, 1> either_end(const lt::Dim& n, const lt::Input<T, 1>& X) {
  return lt::compute("T", {n}, [&](lt::Var i) {
    lt::Expr<T> inner = lt::select(i < 5, T(1), X(i));
    return lt::select(i < 3 || i >= n - 3, inner, lt::select(i < n - 7, inner, T(2)));
  });
}

}  // namespace

// LLVM 19's DAG combiner did not end over masks of AVX-512 that are made in general registers.
TEST_CASE("each LLVM compiles choices by index") {
  for_each_llvm([](const lt::Llvm& llvm) {
    for (const char* machine : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
      CAPTURE(std::string(machine));
      const lt::Target target(machine);
      lt::Dim n("n");
      lt::Input<float, 1> X("X", {n});
      lt::Input<std::int8_t, 1> B("B", {n});
      lt::Input<double, 1> D("D", {n});
      CHECK(compiled_size(nested_choice(n, X), target, llvm) > 0);
      CHECK(compiled_size(nested_choice(n, B), target, llvm) > 0);
      CHECK(compiled_size(nested_choice(n, D), target, llvm) > 0);
      CHECK(compiled_size(either_end(n, X), target, llvm) > 0);
      CHECK(compiled_size(either_end(n, B), target, llvm) > 0);
      CHECK(compiled_size(either_end(n, D), target, llvm) > 0);
    }
  });
}
