// The text that is written: goldens that each LLVM reads, no spills in a register tile, and how
// fast it is written.
#include <chrono>
#include <support/golden.hpp>

#include "assembly.hpp"
#include "kernels.hpp"

using namespace lathe;
using namespace test;

namespace {

AnyExpr ramp(const AnyExpr& base, int lanes) { return make_ramp(base, AnyExpr(1), lanes); }

Program scale_program() {
  Build b("scale");
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  auto n = b.dim("n");
  auto s = b.scalar("s", kF32);
  auto i = make_var("i");
  return b.done(make_for(i, 0, n, make_store(y, {i}, make_load(x, {i}) * AnyExpr(s))));
}

/// A vector body and a masked tail, with a value that is only loaded where a lane wants it.
Program masked_program() {
  Build b("masked");
  auto x = b.buffer("x", kF32, Access::in, 1 << 20, 64), y = b.output("y", kF32);
  auto n = b.dim("n", 4);
  auto i = make_var("i");
  AnyExpr at = ramp(AnyExpr(i) * 16, 16),
          mask = make_binary(BinaryOp::lt, at, make_broadcast(AnyExpr(n), 16));
  AnyExpr v = make_load(x, {at}, mask), zero = make_float(v.dtype(), 0);
  AnyExpr lazy = make_select(make_binary(BinaryOp::gt, v, zero),
                             make_load(x, {make_ramp(AnyExpr(i), AnyExpr(-1), 16)}), v);
  return b.done(make_for(i, 0, (AnyExpr(n) + 15) / 16,
                         make_store(y, {at}, make_binary(BinaryOp::max, lazy, zero), mask)));
}

/// A parallel loop with memory of its own, an assertion and a streaming store.
Program parallel_program() {
  Build b("parallel");
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  auto n = b.dim("n");
  auto t = temporary("t", kF32, AnyExpr(n));
  auto i = make_var("i"), j = make_var("j");
  AnyExpr row = AnyExpr(i) * AnyExpr(n);
  Stmt fill = make_for(j, 0, n, make_store(t, {j}, make_load(x, {row + AnyExpr(j)})));
  Stmt out = make_ref<StoreNode>(y, std::vector<AnyExpr>{ramp(row, 16)},
                                 make_load(t, {ramp(0, 16)}), AnyExpr(), Streaming::any);
  Stmt check = make_ref<AssertNode>(AnyExpr(i) < 1000, "few rows");
  return b.done(make_for(i, 0, n, make_alloc(t, make_seq({fill, check, out})), ForKind::parallel));
}

/// C[12, 32] += A[k, 12] * B[k, 32] in vector registers of `lanes`.
Program tile_program(int rows, int columns, int lanes) {
  Build b("tile");
  auto x = b.buffer("a", kF32), w = b.buffer("b", kF32, Access::in, 1 << 20, 64),
       y = b.buffer("c", kF32, Access::inout);
  auto k = b.dim("k"), ldc = b.dim("ldc");
  auto r = make_var("r");
  DType t = kF32.with_lanes(lanes);
  std::vector<Buffer> registers;
  std::vector<Stmt> loads, updates, stores;
  std::vector<AnyExpr> column;
  for (int j = 0; j < columns; ++j)
    column.push_back(make_load(w, {ramp(AnyExpr(r) * (columns * lanes) + j * lanes, lanes)}));
  for (int i = 0; i < rows; ++i) {
    AnyExpr left = make_broadcast(make_load(x, {AnyExpr(r) * rows + i}), lanes);
    for (int j = 0; j < columns; ++j) {
      registers.push_back(in_register("acc", t));
      const Buffer& acc = registers.back();
      AnyExpr at = ramp(AnyExpr(ldc) * i + j * lanes, lanes);
      loads.push_back(make_store(acc, {}, make_load(y, {at})));
      updates.push_back(make_store(
          acc, {},
          make_call(CallOp::fma, {left, column[static_cast<std::size_t>(j)], make_load(acc, {})})));
      stores.push_back(make_store(y, {at}, make_load(acc, {})));
    }
  }
  Stmt body = make_seq({make_seq(loads), make_for(r, 0, k, make_seq(updates)), make_seq(stores)});
  for (const auto& reg : registers) body = make_alloc(reg, body);
  return b.done(body);
}

}  // namespace

TEST_CASE("golden texts, and each LLVM reads them") {
  Target target("x86-64-v4");
  for (const Program& p :
       {scale_program(), masked_program(), parallel_program(), tile_program(2, 2, 16)}) {
    CAPTURE(p->name);
    std::string old = emit_llvm(legal(p, target), target, 16).text;
    check_golden("codegen/" + p->name + ".16", old, ".ll");
    check_golden("codegen/" + p->name, emit_llvm(legal(p, target), target, 19).text, ".ll");
    for (const auto* llvm : llvms()) {
      CHECK(compile_to_object(*llvm, old, target).size() > 0);
      CHECK(
          compile_to_object(*llvm, emit_llvm(legal(p, target), target, llvm->major()).text, target)
              .size() > 0);
    }
  }
}

TEST_CASE("text for other machines is read too") {
  for (const char* name : {"x86-64", "x86-64-v2", "x86-64-v3", "znver4", "sapphirerapids"}) {
    CAPTURE(std::string(name));
    Target target(name);
    for (const Program& p : {legal(masked_program(), target), parallel_program()})
      for (const auto* llvm : llvms())
        CHECK(compile_to_object(*llvm, emit_llvm(p, target, llvm->major()).text, target).size() >
              0);
  }
}

TEST_CASE("a 12 x 32 tile stays in registers") {
  Target target("znver4");
  for (const auto* llvm : llvms()) {
    std::string text = emit_llvm(tile_program(12, 2, 16), target, llvm->major()).text;
    std::string loop = innermost_loop(compile_to_assembly(*llvm, text, target));
    INFO(loop);
    CHECK(count_of(loop, "vfmadd") == 24);
    CHECK(count_of(loop, "%zmm") >= 24);
    CHECK(stack_accesses(loop) == 0);
    // Without enough registers it must show: the check can fail.
    std::string wide = emit_llvm(tile_program(20, 2, 16), target, llvm->major()).text;
    CHECK(stack_accesses(innermost_loop(compile_to_assembly(*llvm, wide, target))) > 0);
  }
}

TEST_CASE("a tile computes what it should") {
  if (!host().has("avx512f")) return;
  for (const auto* llvm : llvms()) {
    Kernel k(tile_program(12, 2, 16), *llvm);
    std::vector<float> a(12 * 9), b(32 * 9 + 16), c(12 * 40, 1.0f);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
    float* aligned = b.data() + (64 - reinterpret_cast<std::uintptr_t>(b.data()) % 64) % 64 / 4;
    for (int i = 0; i < 32 * 9; ++i) aligned[i] = static_cast<float>(i % 5);
    CHECK(k.call(a.data(), aligned, c.data(), std::int64_t{9}, std::int64_t{40}) == 0);
    for (int i = 0; i < 12; ++i) {
      for (int j = 0; j < 40; ++j) {
        float sum = 1;
        for (int r = 0; r < 9 && j < 32; ++r)
          sum += a[static_cast<std::size_t>(r * 12 + i)] * aligned[r * 32 + j];
        CHECK(c[static_cast<std::size_t>(i * 40 + j)] == sum);
      }
    }
  }
}

TEST_CASE("emission takes microseconds a line") {
  Program p = tile_program(30, 6, 16);
  std::string text;
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    auto start = std::chrono::steady_clock::now();
    text = emit_llvm(p, host(), 19).text;
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::size_t lines = count_of(text, "\n");
  MESSAGE(lines, " lines in ", best * 1e6, " us");
  CHECK(lines > 1000);
  // A bound for builds without optimisation under load; optimised it is below 1 us a line.
  CHECK(best / static_cast<double>(lines) < 100e-6);
}
