#include <doctest/doctest.h>

#include <cmath>
#include <lathe/analysis/block.hpp>
#include <lathe/ir/reducer.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

#include "touch_trace.hpp"

using namespace lathe;
using namespace touch_test;

namespace {

/// A block over v (and reduce k), with this statement.
BlockInfo info_of(const std::string& iters, const std::string& body,
                  const std::string& clauses = "") {
  Program p = parse(
      "program p<n in 1..=99>(in A: f32[100, 100], in I: i64[100], inout C: f32[100], inout D: "
      "f32[100, 100]):\n"
      "  for i in 0..8:\n    for j in 0..8:\n      block B(" +
      iters + ")" + clauses + ":\n        " + body + "\n");
  return classify(p->body, tag_named(p, "B"), Facts(p));
}
std::string kind_of(const std::string& iters, const std::string& body,
                    const std::string& clauses = "") {
  BlockInfo info = info_of(iters, body, clauses);
  return std::string(to_text(info.kind)) + (info.why.empty() ? "" : ": " + info.why);
}

ReducerNode make_reducer(DType t, BinaryOp op, double identity) {
  VarRef a = make_var("a", t), b = make_var("b", t);
  return ReducerNode("mine", {make_const(t, identity)}, {a}, {b},
                     {make_binary(op, AnyExpr(b), AnyExpr(a))});
}

}  // namespace

TEST_CASE("complete blocks store each element once and don't read their output") {
  const std::string vw = "v in 0..8 = i, w in 0..8 = j";
  CHECK(kind_of(vw, "D[v, w] = A[v, w]") == "complete");
  CHECK(kind_of(vw, "C[v * 8 + w] = A[v, w]") == "complete");
  CHECK(kind_of(vw, "D[w, 7 - v] = 1.0") == "complete");
  CHECK(kind_of(vw, "C[v] = A[v, w]") ==
        "ordered: different instances may store to one element of 'C': the indices don't determine "
        "every iterator");
  CHECK(kind_of(vw, "D[v, w] = D[v, w] + 1.0") == "ordered: it reads what it writes");
  CHECK(kind_of("v in 0..8 = i", "C[floordiv(v, 2)] = A[v, 0]") ==
        "ordered: different instances may store to one element of 'C': the indices don't determine "
        "every iterator");
  CHECK(kind_of("v in 0..8 = i", "C[I[v]] = 1.0") == "ordered: a store index reads memory");
  CHECK(kind_of("v in 0..8 = i, reduce k in 0..8 = j", "D[v, k] = 1.0") ==
        "ordered: it has reduce iterators but no reducer");
  CHECK(kind_of("opaque v in 0..8 = i", "C[v] = 1.0") == "opaque: it is opaque");
}

TEST_CASE("reductions store by spatial iterators only") {
  const std::string vk = "v in 0..8 = i, reduce k in 0..8 = j";
  CHECK(kind_of(vk, "C[v] sum= A[v, k]", " reduce sum init") == "reduction");
  CHECK(kind_of(vk, "C[v] sum= A[v, k]", " reduce sum") == "reduction");
  CHECK(kind_of(vk, "D[v, k] sum= A[v, k]", " reduce sum") ==
        "ordered: a store index uses a reduce iterator");
  CHECK(kind_of(vk, "C[v] sum= C[k]", " reduce sum init") ==
        "ordered: it reads its output besides accumulating into it");
  CHECK(kind_of(vk, "C[floordiv(v, 2)] sum= A[v, k]", " reduce sum init") ==
        "ordered: different instances may store to one element of 'C': the indices don't determine "
        "every iterator");
  CHECK(info_of(vk, "C[v] sum= A[v, k]", " reduce sum init").order_free());
}

TEST_CASE("another writer is named") {
  Program p = parse(
      "program p(in A: f32[8], out C: f32[8]):\n"
      "  for i in 0..4:\n    block X(v in 0..4 = i):\n      C[v] = A[v]\n"
      "  for i in 0..4:\n    block Y(v in 0..4 = i):\n      C[v + 4] = A[v]\n");
  BlockInfo info = classify(p->body, tag_named(p, "X"));
  CHECK(info.is_complete());
  CHECK_FALSE(info.sole_writer);
  CHECK(info.why == "block 'Y' also writes 'C'");
}

TEST_CASE("reducers are classed by what they compute") {
  ReducerInfo sum = classify(make_reducer(kF32, BinaryOp::add, 0));
  CHECK((sum.kind == ReducerClass::reorder && sum.reassociates && !sum.identity_exact));
  CHECK(sum.op == BinaryOp::add);
  ReducerInfo minus_zero = classify(make_reducer(kF32, BinaryOp::add, -0.0));
  CHECK(minus_zero.identity_exact);
  ReducerInfo ints = classify(make_reducer(kI32, BinaryOp::add, 0));
  CHECK((ints.kind == ReducerClass::reorder && !ints.reassociates && ints.identity_exact));
  ReducerInfo max = classify(make_reducer(kF32, BinaryOp::max, -INFINITY));
  CHECK((max.kind == ReducerClass::reorder && !max.reassociates && max.identity_exact));
  CHECK(classify(make_reducer(kF32, BinaryOp::fast_max, -INFINITY)).kind == ReducerClass::fold);
  CHECK(classify(make_reducer(kI32, BinaryOp::sub, 0)).kind == ReducerClass::fold);
  ReducerRef arg = builtin_reducer("argmax", {kF32, kI64});
  REQUIRE(arg);
  ReducerInfo best = classify(*arg);
  CHECK((best.kind == ReducerClass::reorder && !best.reassociates));
  VarRef a = make_var("a", kI32), b = make_var("b", kI32);
  ReducerNode horner("horner", {make_int(kI32, 0)}, {a}, {b}, {AnyExpr(a) * 2 + AnyExpr(b)}, false,
                     false);
  CHECK(classify(horner).kind == ReducerClass::fold);
  ReducerNode left("left", {make_int(kI32, 0)}, {a}, {b}, {AnyExpr(a) * AnyExpr(b) + AnyExpr(a)},
                   true, false);
  CHECK(classify(left).kind == ReducerClass::sequence);
}
