// Loops, branches, temporaries, statuses and parallel loops as machine code.
#include <lathe/ir/slot_layout.hpp>
#include <numeric>

#include "against.hpp"

using namespace lathe;
using namespace test;

namespace {

std::vector<float> counted(std::size_t n) {
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

Stmt set(const Buffer& b, const AnyExpr& index, const AnyExpr& value) {
  return make_store(b, {index}, value);
}

}  // namespace

TEST_CASE("a loop takes buffers, dims and scalars from the slots") {
  Program p = scale_program();
  auto slots = slot_layout(p);
  REQUIRE(slots.size() == 4);
  CHECK(slots[0].kind == CallSlot::Kind::buffer);
  CHECK(slots[2].kind == CallSlot::Kind::dim);
  CHECK(slots[3].kind == CallSlot::Kind::scalar);
  CHECK(slots[3].bytes == 4);
  for (const auto* llvm : llvms()) {
    Kernel k(p, *llvm);
    auto x = counted(10);
    std::vector<float> y(11, -1);
    CHECK(k.call(x.data(), y.data(), std::int64_t{10}, 2.5f) == 0);
    for (int i = 0; i < 10; ++i) CHECK(y[i] == x[i] * 2.5f);
    CHECK(y[10] == -1);
    CHECK(k.call(x.data(), y.data(), std::int64_t{-3}, 2.5f) == 0);
  }
}

TEST_CASE("each stride variable has one slot, after the dims") {
  Build b;
  auto s0 = make_var("x.s0");
  BufferNode node("x", kF32, {4, 5}, {s0, 1});
  Buffer x(new BufferNode(std::move(node)));
  b.node.params.push_back({Access::in, x, {}});
  auto y = b.output("y", kF32);
  b.dim("n");
  auto i = make_var("i"), j = make_var("j");
  auto body =
      set(y, AnyExpr(i) * 5 + AnyExpr(j), make_load(x, {AnyExpr(i) * AnyExpr(s0) + AnyExpr(j)}));
  Program p = b.done(make_for(i, 0, 4, make_for(j, 0, 5, body)));
  auto slots = slot_layout(p);
  REQUIRE(slots.size() == 4);
  CHECK(slots[3].kind == CallSlot::Kind::stride);
  CHECK(slots[3].param == 0);
  CHECK(slots[3].index == 0);
  for (const auto* llvm : llvms()) {
    Kernel k(p, *llvm);
    auto data = counted(40);
    std::vector<float> out(20);
    CHECK(k.call(data.data(), out.data(), std::int64_t{1}, std::int64_t{8}) == 0);
    CHECK(out[7] == data[8 + 2]);
    CHECK(out[19] == data[3 * 8 + 4]);
  }
}

TEST_CASE("loops start anywhere and nest; ifs, lets and whiles") {
  Build b;
  auto x = b.buffer("x", kI64), y = b.output("y", kI64);
  auto n = b.dim("n");
  auto i = make_var("i"), j = make_var("j"), v = make_var("v");
  auto at = in_register("at", kI64);
  AnyExpr position = make_load(at, {});
  // Triangular, from -2: counts in a register, writes where it has come to.
  Stmt inner = make_for(
      j, AnyExpr(i) - 1, AnyExpr(i) + 3,
      make_seq({set(y, position, AnyExpr(v) + AnyExpr(j) * 10), make_store(at, {}, position + 1)}));
  Stmt outer =
      make_for(i, -2, n,
               make_let_stmt(v, make_load(x, {AnyExpr(i) + 2}),
                             make_if(eq(AnyExpr(v) % 3, 0), set(y, 200 + AnyExpr(i), v), inner)));
  Stmt rest = make_ref<WhileNode>(
      position < 60, make_seq({set(y, position, -position), make_store(at, {}, position + 2)}));
  Program p = b.done(make_alloc(at, make_seq({make_store(at, {}, 0), outer, rest})));
  std::vector<std::int64_t> in(12), out(300, 7);
  std::iota(in.begin(), in.end(), -4);
  check_against_evaluator(p, {Bytes::of(in), Bytes::of(out)}, {10});
  check_against_evaluator(p, {Bytes::of(in), Bytes::of(out)}, {0});
}

TEST_CASE("temporaries live in the frame, in registers or on the heap") {
  for (std::int64_t size : {16, 5000, 40000}) {
    CAPTURE(size);
    Build b;
    auto x = b.buffer("x", kF32), y = b.output("y", kF32);
    auto n = b.dim("n");
    auto t = temporary("t", kF32, size == 5000 ? AnyExpr(n) : AnyExpr(size));
    auto sum = in_register("sum", kF32);
    auto i = make_var("i"), j = make_var("j");
    Stmt fill = make_for(i, 0, n, set(t, i, make_load(x, {i}) * make_float(kF32, 2)));
    Stmt add = make_for(j, 0, n, make_store(sum, {}, make_load(sum, {}) + make_load(t, {j})));
    Stmt body = make_seq(
        {fill, make_store(sum, {}, make_float(kF32, 0)), add, set(y, 0, make_load(sum, {}))});
    Program p = b.done(make_alloc(t, make_alloc(sum, body)));
    std::vector<std::string> externals = emit_llvm(p, host(), 19).externals;
    CHECK(externals.empty() == (size == 16));
    std::int64_t bytes = Context::default_context().bytes_in_use();
    auto got = check_against_evaluator(
        p, {Bytes::of(counted(16)), Bytes::of(std::vector<float>(1))}, {16});
    CHECK(got[1].as<float>()[0] == 272);
    CHECK(Context::default_context().bytes_in_use() == bytes);
  }
}

TEST_CASE("an assertion ends the kernel with its message's status and frees what was allocated") {
  Build b;
  auto y = b.output("y", kI64);
  auto n = b.dim("n");
  auto t = temporary("t", kI64, AnyExpr(n) + 100), u = temporary("u", kI64, AnyExpr(n) + 200);
  Stmt first = make_ref<AssertNode>(AnyExpr(n) > 0, "n is positive");
  Stmt second = make_ref<AssertNode>(AnyExpr(n) < 10, "n is small");
  Stmt inner = make_alloc(
      u, make_seq({set(u, 0, n), second, set(y, 0, make_load(u, {0}) + make_load(t, {0}))}));
  Program p =
      b.done(make_seq({first, make_alloc(t, make_seq({set(t, 0, 1), inner})), set(y, 1, 9)}));
  for (const auto* llvm : llvms()) {
    Kernel k(p, *llvm);
    CHECK(k.artefact().messages == std::vector<std::string>{"n is positive", "n is small"});
    std::vector<std::int64_t> y_data(2);
    std::int64_t bytes = Context::default_context().bytes_in_use();
    CHECK(k.call(y_data.data(), std::int64_t{5}) == 0);
    CHECK(y_data == std::vector<std::int64_t>{6, 9});
    CHECK(k.call(y_data.data(), std::int64_t{0}) == 16);
    CHECK(k.call(y_data.data(), std::int64_t{10}) == 17);
    CHECK(Context::default_context().bytes_in_use() == bytes);
    // More memory than there is.
    CHECK(k.call(y_data.data(), std::int64_t{1} << 52) == 1);
    CHECK(Context::default_context().bytes_in_use() == bytes);
  }
}

TEST_CASE("a parallel loop captures buffers, variables and registers, and hands on statuses") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  auto n = b.dim("n");
  auto s = b.scalar("s", kF32);
  auto flag = b.scalar("flag", kBool);
  auto wide = make_var("wide", kF32.with_lanes(4));
  auto i = make_var("i"), j = make_var("j");
  auto own = temporary("own", kF32, AnyExpr(n));
  AnyExpr at = AnyExpr(i) * AnyExpr(n) + AnyExpr(j);
  AnyExpr lane = make_shuffle({AnyExpr(wide)}, {2});
  Stmt copy = make_for(
      j, 0, n, set(own, j, make_load(x, {at}) * AnyExpr(s) + make_select(flag, lane, AnyExpr(s))));
  Stmt back = make_for(j, 0, n, set(y, at, make_load(own, {AnyExpr(n) - 1 - AnyExpr(j)})));
  Stmt small = make_ref<AssertNode>(AnyExpr(i) < 90, "row is small");
  Stmt body = make_alloc(own, make_seq({small, copy, back}));
  Stmt loop = make_for(i, 2, AnyExpr(n) - 2, body, ForKind::parallel, {MaxThreadsAttr{3}});
  AnyExpr base = make_broadcast(AnyExpr(s), 4);
  Program p = b.done(make_let_stmt(wide, base + base, loop));
  std::int64_t bytes = Context::default_context().bytes_in_use();
  for (std::int64_t rows : {3, 50, 90}) {
    std::vector<float> in = counted(static_cast<std::size_t>(rows * rows)), out(in.size());
    for (bool on : {false, true})
      check_against_evaluator(p, {Bytes::of(in), Bytes::of(out)},
                              {to_slot(rows), to_slot(1.5f), to_slot(on)});
  }
  for (const auto* llvm : llvms()) {
    Kernel k(p, *llvm);
    std::vector<float> in(100 * 100), out(100 * 100);
    CHECK(k.call(in.data(), out.data(), std::int64_t{100}, 1.0f, true) == 16);
  }
  CHECK(Context::default_context().bytes_in_use() == bytes);
}

TEST_CASE("parallel loops nest, and a loop of one iteration is none") {
  Build b;
  auto y = b.output("y", kI64);
  auto i = make_var("i"), j = make_var("j"), one = make_var("one");
  Stmt inner =
      make_for(j, 1, 5, set(y, AnyExpr(i) * 8 + AnyExpr(j) + AnyExpr(one), AnyExpr(i) - AnyExpr(j)),
               ForKind::parallel);
  Program p = b.done(make_for(one, 2, 1, make_for(i, 0, 6, inner, ForKind::parallel)));
  check_against_evaluator(p, {Bytes::of(std::vector<std::int64_t>(64))});
}

TEST_CASE("atomic updates lose nothing") {
  for (DType t : {kI32, kI64, kF32, kF64, kU8}) {
    for (BinaryOp op : {BinaryOp::add, BinaryOp::max, BinaryOp::min, BinaryOp::mul}) {
      CAPTURE(t.str());
      CAPTURE(op_text(op));
      Build b;
      auto y = b.buffer("y", t, Access::inout);
      auto i = make_var("i");
      AnyExpr value = op == BinaryOp::mul
                          ? make_select(eq(AnyExpr(i), 77), make_const(t, 3), make_const(t, 1))
                          : make_cast(t, AnyExpr(i) % 100);
      Stmt update = make_ref<AtomicNode>(op, y, std::vector<AnyExpr>{AnyExpr(i) % 3}, value);
      Program p = b.done(make_for(i, 0, 3000, update, ForKind::parallel));
      Bytes start;
      start.data.assign(static_cast<std::size_t>(3 * t.bytes()), 0);
      if (op == BinaryOp::mul && t == kU8) start.data = {1, 1, 1};
      check_against_evaluator(p, {start});
    }
  }
}

TEST_CASE("misplaced nodes are internal errors, other machines user errors") {
  Build b;
  auto y = b.output("y", kF32);
  auto i = make_var("i"), free = make_var("free", kF32);
  Program unbound = b.done(set(y, 0, free));
  CHECK_THROWS_WITH_AS(emit_llvm(unbound, host(), 19),
                       doctest::Contains("variable 'free' is not bound"), InternalError);
  Program vectorized =
      b.done(make_for(i, 0, 4, set(y, i, make_float(kF32, 0)), ForKind::vectorized));
  CHECK_THROWS_AS(emit_llvm(vectorized, host(), 19), InternalError);
  Program math = b.done(set(y, 0, make_call(CallOp::exp, {make_load(y, {0})})));
  CHECK_THROWS_WITH_AS(emit_llvm(math, host(), 19), doctest::Contains("'exp' was not expanded"),
                       InternalError);
  Program fine = b.done(set(y, 0, make_float(kF32, 0)));
  for (auto emit : {+[](const Program& p) { return emit_llvm(p, host(), 15); },
                    +[](const Program& p) { return emit_llvm(p, cuda("sm_90"), 19); }}) {
    try {
      emit(fine);
      FAIL("emitted");
    } catch (const UserError& e) {
      CHECK(e.id() == "L0620");
    }
  }
}
