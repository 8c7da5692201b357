#include <doctest/doctest.h>

#include <lathe/ir/machine_form.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/verify.hpp>
#include <string>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

#include "support/programs.hpp"

using namespace lathe;

namespace {

// A program over out X: f32[4, 4], in A: f32[4], scalar s: f32, at a stage.
struct Fixture {
  Buffer X = make_buffer("X", kF32, {4, 4}), A = make_buffer("A", kF32, {4});
  VarRef s = make_var("s", kF32), i = make_var("i"), j = make_var("j");
  AnyExpr one = make_float(kF32, 1);

  Program program(Stmt body, Stage stage = Stage::loops) const {
    return test::program("p", {test::out(X), test::in(A), test::scalar(s)}, std::move(body), {},
                         stage);
  }
  std::string reason(Stmt body, Stage stage = Stage::loops) const {
    return verify_reason(program(std::move(body), stage), stage);
  }
  Stmt store(AnyExpr value) const { return make_store(X, {0, 0}, std::move(value)); }
  Stmt block(std::vector<IterVar> iters, Stmt body, std::string name = "b") const {
    return make_block(
        BlockNode(make_ref<BlockTagNode>(std::move(name)), std::move(iters), std::move(body)));
  }
};

}  // namespace

TEST_CASE("good programs have no reason") {
  for (const Program& p :
       {test::gemm(4, 8, 16), test::symbolic_gemm(), test::online_softmax(4, 9),
        test::row_argmax(3, 5), test::stencil(10), test::gather(5, 6, 7), test::flat_axpb(100)}) {
    CHECK(verify_reason(p, p->stage) == "");
    CHECK_NOTHROW(verify(p));
    CHECK_NOTHROW(verify_user(p));
  }
}

TEST_CASE_FIXTURE(Fixture, "the stage must be the program's") {
  Program p = program(store(one));
  CHECK(verify_reason(p, Stage::vector) == "the program is at stage loops, not vector");
}

TEST_CASE_FIXTURE(Fixture, "variables are bound once and used inside") {
  CHECK(reason(make_for(i, 0, 4, make_store(X, {i, 0}, one))) == "");
  CHECK(reason(make_store(X, {i, 0}, one)) == "variable 'i' is not bound");
  Stmt loop = make_for(i, 0, 4, store(one));
  CHECK(reason(make_seq({loop, make_store(X, {i, 0}, one)})) ==
        "variable 'i' is used outside its scope");
  CHECK(reason(make_seq({loop, loop})) == "'i' is bound twice");
  CHECK(reason(make_for(i, 0, i, store(one))) == "variable 'i' is not bound");
  AnyExpr let = make_let(j, 1, make_cast(kF32, AnyExpr(j)));
  CHECK(reason(store(let)) == "");
  CHECK(reason(store(let + let)) == "'j' is bound twice");
}

TEST_CASE_FIXTURE(Fixture, "buffers are params or allocated once around their use") {
  Buffer t = make_buffer("t", kF32, {4});
  Stmt use = make_store(t, {0}, one);
  CHECK(reason(make_alloc(t, use)) == "");
  CHECK(reason(use) == "buffer 't' is neither a param nor allocated");
  CHECK(reason(make_seq({make_alloc(t, use), use})) == "buffer 't' is used outside its alloc");
  CHECK(reason(make_seq({make_alloc(t, use), make_alloc(t, use)})) == "'t' is bound twice");
  CHECK(reason(make_store(A, {0}, one)) == "a store to 'A', which is an 'in' parameter");
}

TEST_CASE_FIXTURE(Fixture, "extents and strides read no memory") {
  AnyExpr read = make_cast(kI64, make_load(A, {0}));
  std::string why = " reads 'A', whose elements may change: give it a name by a let before, ";
  Buffer sized = make_buffer("t", kF32, {read}), strided = sized;
  CHECK(reason(make_alloc(sized, make_store(sized, {0}, one))) ==
        "an extent of 't'" + why + "i64(A[0])");
  strided = make_ref<BufferNode>("t", kF32, Vec<AnyExpr>{4}, Vec<AnyExpr>{read + 1});
  CHECK(reason(make_alloc(strided, make_store(strided, {0}, one))) ==
        "a stride of 't'" + why + "i64(A[0]) + 1");
  CHECK(reason(make_let_stmt(j, read, make_alloc(make_buffer("t", kF32, {j}), store(one)))) == "");
}

TEST_CASE_FIXTURE(Fixture, "types are checked at every node") {
  auto raw = [](BinaryOp op, AnyExpr a, AnyExpr b) {
    return AnyExpr(make_ref<BinaryNode>(a.dtype(), op, a, b));
  };
  CHECK(reason(store(raw(BinaryOp::add, s, 1))) == "the operands differ in type: s + 1");
  CHECK(reason(store(raw(BinaryOp::shl, s, s))) == "the operands are not integers: s << s");
  CHECK(reason(store(raw(BinaryOp::lt, s, s))) == "the result has the wrong type: s < s");
  CHECK(reason(store(AnyExpr(make_ref<BinaryNode>(kF32, BinaryOp::add, s, AnyExpr())))) ==
        "an operand is missing: s + <none>");
  CHECK(reason(store(make_call(CallOp::prefetch, {make_load(A, {0}), 3}))) ==
        "a call of prefetch outside an Evaluate");
  CHECK(reason(Stmt(make_ref<EvaluateNode>(make_call(CallOp::prefetch, {make_load(A, {0}), 3})))) ==
        "");
  CHECK(reason(Stmt(make_ref<StoreNode>(X, std::vector<AnyExpr>{0, 0}, AnyExpr(1)))) ==
        "store to 'X': the value has another type than the buffer's elements");
  CHECK(reason(make_for(i, 0, make_int(kI32, 4), store(one))) ==
        "the extent of loop 'i' is of type i32, not i64: 4i32");
  CHECK(reason(make_if(1, store(one))) == "a condition is of type i64, not bool: 1");
}

TEST_CASE_FIXTURE(Fixture, "lanes agree") {
  AnyExpr lanes = make_ramp(0, 1, 4), wide = make_broadcast(one, 4);
  CHECK(reason(make_store(X, {0, lanes}, wide)) == "");
  CHECK(reason(make_store(X, {0, lanes}, one)) ==
        "store to 'X': the value has another number of lanes");
  CHECK(reason(make_store(X, {0, lanes}, wide, make_bool(true))) ==
        "store to 'X': the mask is not bool with the value's lanes");
  CHECK(reason(make_store(X, {make_ramp(0, 1, 2), lanes}, wide)) ==
        "store to 'X': indices are not integers of type i64 with one number of lanes");
  Buffer r = make_buffer("r", kF32.with_lanes(4), {}, Scope::reg),
         bad = make_buffer("bad", kF32.with_lanes(4), {4});
  CHECK(reason(make_alloc(r, make_store(r, {}, wide))) == "");
  CHECK(reason(make_alloc(bad, store(one))) == "vectors in a buffer that is no register of rank 0");
  CHECK(reason(make_if(make_broadcast(make_bool(true), 4), store(one))) ==
        "a condition is a vector: broadcast(true, 4)");
}

TEST_CASE_FIXTURE(Fixture, "a block sees its iterators, not the loops around it") {
  VarRef v = make_var("v");
  IterVar it{v, 0, 4, IterKind::spatial, i};
  auto nest = [&](Stmt body) {
    return reason(make_for(i, 0, 4, block({it}, std::move(body))), Stage::blocks);
  };
  CHECK(nest(make_store(X, {v, 0}, one)) == "");
  CHECK(nest(make_store(X, {i, 0}, one)) ==
        "variable 'i' is bound around block 'b', which has iterators of its own");
  IterVar circular{v, 0, 4, IterKind::spatial, v};
  CHECK(reason(block({circular}, store(one)), Stage::blocks) ==
        "variable 'v' is used outside its scope");
  CHECK(reason(block({it}, store(one)), Stage::loops) == "block 'b' at stage loops");
  Stmt inner = block({{j, 0, 4, IterKind::spatial, v}}, make_store(X, {v, j}, one), "inner");
  CHECK(nest(inner) == "");
  CHECK(reason(make_seq({block({}, store(one)), block({}, store(one))}), Stage::blocks) ==
        "there are two blocks 'b'");
}

TEST_CASE_FIXTURE(Fixture, "a reduction block is one store per value of a closed reducer") {
  auto with = [&](ReducerRef reducer, Stmt body, bool init = true) {
    BlockNode node(make_ref<BlockTagNode>("b"), {}, std::move(body));
    node.reducer = std::move(reducer), node.init = init;
    return reason(make_block(std::move(node)), Stage::blocks);
  };
  ReducerRef sum = builtin_reducer("sum", {kF32}), arg = builtin_reducer("argmax", {kF32, kI64});
  CHECK(with(sum, store(one)) == "");
  CHECK(with({}, store(one)) == "a block with init and no reducer");
  CHECK(with(arg, store(one)) == "block 'b' has 1 stores, its reducer 2 values");
  CHECK(with(sum, make_for(i, 0, 4, store(one))) ==
        "the body of reduction block 'b' is not plain stores");
  CHECK(with(builtin_reducer("sum", {kF64}), store(one)) ==
        "block 'b' folds f32 with a reducer of f64");
  ReducerNode open = *sum;
  open.combine = {AnyExpr(open.lhs[0]) + s};
  CHECK(with(make_ref<ReducerNode>(open), store(one)) ==
        "reducer 'sum': variable 's' is not bound");
  open.combine = {make_load(A, {0})};
  CHECK(with(make_ref<ReducerNode>(open), store(one)) ==
        "reducer 'sum': buffer 'A' is neither a param nor allocated");
  open.combine = {};
  CHECK(with(make_ref<ReducerNode>(open), store(one)) ==
        "reducer 'sum' has lists of different lengths");
}

TEST_CASE_FIXTURE(Fixture, "each stage takes something away") {
  Stmt vectorized = make_for(i, 0, 4, make_store(X, {i, 0}, one), ForKind::vectorized);
  CHECK(reason(vectorized, Stage::loops) == "");
  CHECK(reason(vectorized, Stage::vector) == "loop 'i' is vectorized at stage vector");
  Stmt unrolled = make_for(i, 0, 4, make_store(X, {i, 0}, one), ForKind::unrolled);
  CHECK(reason(unrolled, Stage::flat) == "loop 'i' is unrolled at stage flat");

  Stmt two = make_store(X, {0, 0}, one),
       flat = make_ref<StoreNode>(X, std::vector<AnyExpr>{0}, one);
  CHECK(reason(two, Stage::vector) == "");
  CHECK(reason(flat, Stage::vector) == "'X' of rank 2 with 1 index");
  CHECK(reason(two, Stage::flat) == "'X' of rank 2 with 2 indices");
  CHECK(reason(flat, Stage::flat) == "");

  Buffer t = make_buffer("t", kF32, {4, 4});
  Stmt alloc = make_alloc(t, make_ref<StoreNode>(t, std::vector<AnyExpr>{0}, one));
  CHECK(reason(alloc, Stage::flat) == "buffer 't' is not flat");

  Stmt narrow = make_ref<StoreNode>(X, std::vector<AnyExpr>{make_int(kI32, 0)}, one);
  CHECK(reason(narrow, Stage::flat) == "");
  CHECK(reason(make_store(X, {make_int(kI32, 0), 0}, one), Stage::loops) ==
        "an index of 'X' is of type i32");

  Stmt math = make_ref<StoreNode>(X, std::vector<AnyExpr>{0}, make_call(CallOp::exp, {one}));
  Stmt root = make_ref<StoreNode>(X, std::vector<AnyExpr>{0}, make_call(CallOp::sqrt, {one}));
  CHECK(reason(math, Stage::flat) == "");
  CHECK(reason(math, Stage::machine) ==
        "a call that the target does not have at stage machine: exp(1.0)");
  CHECK(reason(root, Stage::machine) == "");
}

TEST_CASE_FIXTURE(Fixture, "operators at stage machine mean what machines do") {
  using lathe::detail::machine_abs, lathe::detail::machine_binary,
      lathe::detail::machine_conversion;
  const auto problem = [](const AnyExpr& e, const TargetCaps& caps = {}) {
    return std::string(lathe::detail::machine_problem(e, caps));
  };
  const VarRef n = make_var("n", kI32), u = make_var("u", kU8), f = make_var("f", kF32),
               b = make_var("b", kBool);
  const std::string division = "a division whose divisor may be 0 or -1";
  for (BinaryOp op : {BinaryOp::div, BinaryOp::mod}) {
    CHECK(problem(make_binary(op, n, n)) == division);
    CHECK(problem(make_binary(op, n, make_int(kI32, 0))) == division);
    CHECK(problem(make_binary(op, n, make_int(kI32, -1))) == division);
    CHECK(problem(make_binary(op, u, make_int(kU8, -1))) == "");
    CHECK(problem(make_binary(op, f, f)) == "");
    AnyExpr other =
        make_select(make_binary(BinaryOp::eq, n, make_int(kI32, 0)), make_int(kI32, 1), n);
    CHECK(problem(make_binary(op, n, other)) == division);
  }
  CHECK(problem(make_binary(BinaryOp::floordiv, n, make_int(kI32, 2))) == "a floor division");
  const std::string shift = "a shift whose count may reach the width";
  CHECK(problem(make_binary(BinaryOp::shl, n, n)) == shift);
  CHECK(problem(make_binary(BinaryOp::shr, n, make_int(kI32, 32))) == shift);
  CHECK(problem(make_binary(BinaryOp::shr, n,
                            make_binary(BinaryOp::bit_and, n, make_int(kI32, 32)))) == shift);
  CHECK(problem(make_binary(BinaryOp::shr, n, make_int(kI32, 31))) == "");
  CHECK(problem(make_binary(BinaryOp::max, f, f)) == "min or max of no integers");
  CHECK(problem(make_binary(BinaryOp::max, b, b)) == "min or max of no integers");
  CHECK(problem(make_binary(BinaryOp::fast_max, f, f)) == "");
  const std::string cast = "a cast of a float that may lie outside of the integer's range";
  CHECK(problem(make_cast(kI32, f)) == cast);
  CHECK(problem(make_cast(kU8, make_binary(BinaryOp::fast_min, f, make_float(kF32, 255)))) == cast);
  const auto rounded = [&](double most) {
    return make_cast(
        kI8, make_call(CallOp::round,
                       {make_binary(BinaryOp::fast_min,
                                    make_binary(BinaryOp::fast_max, f, make_float(kF32, -128)),
                                    make_float(kF32, most))}));
  };
  CHECK(problem(rounded(127)) == "");
  CHECK(problem(rounded(127.25)) == "");
  CHECK(problem(rounded(127.5)) == cast);
  CHECK(problem(make_call(CallOp::abs, {n})) == "abs of an integer");
  CHECK(problem(make_call(CallOp::abs, {f})) == "");
  CHECK(problem(make_float(kBF16, 1)) == "a value of a narrow type");
  AnyExpr half = make_reinterpret(kF16, make_var("h", kU16));
  CHECK(problem(half) == "");
  CHECK(problem(half + half) == "a value of a narrow type");
  const TargetCaps least{Target("x86-64")};
  CHECK(problem(half, least) == "a value of a narrow type");
  CHECK(problem(make_call(CallOp::floor, {f}), least) == "a call that the target does not have");
  CHECK(problem(make_call(CallOp::fma, {f, f, f}), least) == "");

  // What the passes write is what the rules allow, everywhere inside.
  for (DType t : {kI8, kU8, kI32, kU32, kI64, kU64, kF32, kF64, kBool}) {
    const VarRef x = make_var("x", t), y = make_var("y", t);
    Stmt body = make_seq({});
    const auto keep = [&](const AnyExpr& e) {
      body = make_let_stmt(make_var("r", e.dtype()), e, body);
    };
    if (t.is_int())
      for (BinaryOp op : {BinaryOp::div, BinaryOp::mod, BinaryOp::floordiv, BinaryOp::floormod,
                          BinaryOp::shl, BinaryOp::shr})
        for (const AnyExpr& by : {AnyExpr(y), make_int(t, 0), make_int(t, 7), make_int(t, -1)})
          keep(machine_binary(op, x, by));
    if (t.is_int()) keep(machine_abs(x));
    for (BinaryOp op : {BinaryOp::min, BinaryOp::max}) keep(machine_binary(op, x, y));
    if (t.is_float())
      for (DType to : {kI8, kU8, kI16, kI32, kU32, kI64, kU64}) {
        keep(machine_conversion(to, x));
        keep(machine_conversion(to, make_call(CallOp::round, {x})));
        keep(machine_conversion(to, make_float(t, 1e30)));
      }
    CHECK(reason(make_let_stmt(x, make_const(t, 1), make_let_stmt(y, make_const(t, 2), body)),
                 Stage::machine) == "");
  }
}

TEST_CASE_FIXTURE(Fixture, "incomplete trees are reported, not walked into") {
  CHECK(reason(Stmt()) == "a statement is missing");
  CHECK(reason(make_for(i, 0, AnyExpr(), store(one))) == "the extent of loop 'i' is missing");
  CHECK(reason(make_ref<SeqNode>(std::vector<Stmt>{Stmt()})) == "a statement is missing");
  CHECK(verify_reason(Program(), Stage::loops) == "there is no program");
  CHECK(reason(make_ref<StoreNode>(Buffer(), Vec<AnyExpr>{AnyExpr(0)}, one)) ==
        "a store without buffer or value");
  CHECK(typing_problem(AnyExpr(make_ref<LoadNode>(kF32, Buffer(), Vec<AnyExpr>{AnyExpr(0)},
                                                  AnyExpr()))) == "the access has no buffer");
}

TEST_CASE_FIXTURE(Fixture, "verify shows the place") {
  Program p = program(make_for(j, 0, 4, make_store(X, {i, j}, one)));
  try {
    verify(p, Stage::loops, "unroll");
    FAIL("no error");
  } catch (const InternalError& error) {
    std::string what = error.what();
    CHECK(what.find("verify (loops) after unroll: variable 'i' is not bound\n"
                    "for j in 0..4:\n"
                    "  X[i, j] = 1.0\n"
                    "  ^^^^^^^^^^^^^\n") != std::string::npos);
  }
}

TEST_CASE("a program of a user's gets a UserError") {
  Buffer a = make_buffer("a", kF32, {4});
  Program p = test::program("p", {test::in(a)}, make_store(a, {0}, make_float(kF32, 1)));
  try {
    verify_user(p, {"user.cpp", 3});
    FAIL("no error");
  } catch (const UserError& error) {
    CHECK(error.id() == "L0506");
    CHECK(error.message() == "program 'p': a store to 'a', which is an 'in' parameter");
    CHECK(error.where().line == 3);
  }
}

TEST_CASE("outputs that nothing defines, and reads before any store") {
  auto error = [](const std::string& body) {
    try {
      verify_defined(parse("program P(in X: f32[4], out Y: f32[4]):\n" + body));
    } catch (const UserError& e) {
      return e.id() + " " + e.message();
    }
    return std::string("none");
  };
  const std::string a = "  for i in 0..4:\n    block A(v in 0..4 = i):\n      A[v] = B[v]\n";
  const std::string b = "  for i in 0..4:\n    block B(v in 0..4 = i):\n      B[v] = A[v]\n";
  const std::string y = "  for i in 0..4:\n    block Y(v in 0..4 = i):\n      Y[v] = A[v]\n";
  const std::string first = "  for i in 0..4:\n    block B(v in 0..4 = i):\n      B[v] = X[v]\n";
  const std::string allocs = "  alloc A: f32[4]\n  alloc B: f32[4]\n";
  CHECK(error(allocs + first + a + y) == "none");
  CHECK(error(allocs + first + a) ==
        "L0506 program 'P': nothing is stored to 'Y', an 'out' parameter");
  // A cycle: each reads what the other computes.
  CHECK(error(allocs + a + b + y) ==
        "L0506 program 'P': 'B' is read before anything is stored in it");
  CHECK(error("  for i in 0..4:\n    block Y(v in 0..4 = i):\n      Y[v] = Y[v] + X[v]\n") ==
        "none");  // in a loop a store may come later, which is for the next iteration
  CHECK(error("  block Y(v in 0..4 = 1):\n    Y[v] = Y[v] + 1.0\n") ==
        "L0506 program 'P': 'Y' is read before anything is stored in it");
  CHECK(error("  alloc E: f32[2, 0]\n  for i in 0..4:\n    block Y(v in 0..4 = i):\n"
              "      Y[v] = select(v < 0, E[0, v], X[v])\n") == "none");  // E has no elements
}

TEST_CASE("an output of no elements needs no store") {
  verify_defined(parse("program P(in X: f32[4], out Y: f32[4, 0]):\n  block Y():\n    pass\n"));
}

TEST_CASE("aligned strides are of outer dimensions of temporaries, each once") {
  auto reason = [](const std::string& type) {
    try {
      Program p = parse("program p(out B: f32[4, 4]):\n  alloc t: " + type + "\n  B[0, 0] = 1.0\n");
      return verify_reason(p, p->stage);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
  };
  auto finds = [&](const std::string& type, const char* problem) {
    INFO(reason(type));
    return reason(type).find(problem) != std::string::npos;
  };
  CHECK(reason("f32[4, 4, 4] aligned [1, 8, 0] aligned [0, 64, 5]") == "");
  const char* outer = "an aligned stride of no outer dimension of a dense buffer";
  CHECK(finds("f32[4, 4] aligned [1, 8, 0]", outer));
  CHECK(finds("f32[4, 4] strides [4, 1] aligned [0, 8, 0]", outer));
  CHECK(finds("f32[4, 4] aligned [0, 8, 8]", "an aligned stride whose offset is not below its"));
  CHECK(finds("f32[4, 4] aligned [0, 8, 1] aligned [0, 4, 1]", "two rules for one stride"));
  CHECK(finds("f32[4, 4] aligned [0, 0, 0]", "from 1 to"));
}
