// Small programs built by hand from IR nodes, for the tests of every layer.
#pragma once

#include <lathe/ir/reducer.hpp>
#include <lathe/ir/stmt.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace test {

using lathe::Access;
using lathe::AnyExpr;
using lathe::Buffer;
using lathe::DType;
using lathe::Program;
using lathe::Stmt;
using lathe::VarRef;

/// One axis of a block: its domain starts at 0; the loop around it has the same name and range.
struct Axis {
  std::string name;
  AnyExpr extent;
  lathe::IterKind kind = lathe::IterKind::spatial;
};
inline Axis reduce_axis(std::string name, AnyExpr extent) {
  return {std::move(name), std::move(extent), lathe::IterKind::reduce};
}

/// A block in a nest of its own: one serial loop per axis, each bound to its iterator.
/// body(iterators) gives the stores.
template <class Body>
Stmt block_nest(std::string name, const std::vector<Axis>& axes, lathe::ReducerRef reducer,
                Body body) {
  std::vector<VarRef> loops;
  std::vector<AnyExpr> at;
  std::vector<lathe::IterVar> iters;
  for (const auto& axis : axes) {
    loops.push_back(lathe::make_var(axis.name));
    VarRef var = lathe::make_var(axis.name);
    iters.push_back({var, 0, axis.extent, axis.kind, loops.back()});
    at.push_back(var);
  }
  lathe::BlockNode node(lathe::make_ref<lathe::BlockTagNode>(std::move(name)), std::move(iters),
                        body(at));
  node.init = static_cast<bool>(reducer);
  node.reducer = std::move(reducer);
  Stmt nest = lathe::make_block(std::move(node));
  for (std::size_t k = axes.size(); k-- > 0;)
    nest = lathe::make_for(loops[k], 0, axes[k].extent, nest);
  return nest;
}

inline lathe::Param in(const Buffer& b) { return {Access::in, b, {}}; }
inline lathe::Param out(const Buffer& b) { return {Access::out, b, {}}; }
inline lathe::Param inout(const Buffer& b) { return {Access::inout, b, {}}; }
inline lathe::Param scalar(const VarRef& v) { return {Access::in, {}, v}; }

inline Program program(std::string name, std::vector<lathe::Param> params, Stmt body,
                       std::vector<lathe::DimRef> dims = {},
                       lathe::Stage stage = lathe::Stage::blocks) {
  lathe::ProgramNode node;
  node.name = std::move(name), node.params = std::move(params), node.dims = std::move(dims);
  node.body = std::move(body), node.stage = stage;
  return Program(std::move(node));
}

/// C[i, j] = sum over r of A[i, r] * B[r, j].
inline Program gemm(std::int64_t m, std::int64_t n, std::int64_t k, DType type = lathe::kF32) {
  Buffer A = lathe::make_buffer("A", type, {m, k}), B = lathe::make_buffer("B", type, {k, n});
  Buffer C = lathe::make_buffer("C", type, {m, n});
  Stmt body = block_nest(
      "C", {{"i", m}, {"j", n}, reduce_axis("r", k)}, lathe::builtin_reducer("sum", {type}),
      [&](const std::vector<AnyExpr>& at) {
        AnyExpr term = lathe::make_load(A, {at[0], at[2]}) * lathe::make_load(B, {at[2], at[1]});
        return lathe::make_store(C, {at[0], at[1]}, term);
      });
  return program("gemm", {in(A), in(B), out(C)}, body);
}

/// A gemm into a private buffer, then D = max(C * scale + bias, 0); m, n and k are Dims and A has a
/// row stride.
inline Program symbolic_gemm() {
  VarRef m = lathe::make_var("m"), n = lathe::make_var("n"), k = lathe::make_var("k"),
         row = lathe::make_var("A.s0");
  VarRef scale = lathe::make_var("scale", lathe::kF32);
  Buffer A = lathe::make_ref<lathe::BufferNode>("A", lathe::kF32, std::vector<AnyExpr>{m, k},
                                                std::vector<AnyExpr>{row, 1});
  Buffer B = lathe::make_buffer("B", lathe::kF32, {k, n}),
         bias = lathe::make_buffer("bias", lathe::kF32, {n});
  Buffer C = lathe::make_buffer("C", lathe::kF32, {m, n}),
         D = lathe::make_buffer("D", lathe::kF32, {m, n});
  Stmt product = block_nest(
      "C", {{"i", m}, {"j", n}, reduce_axis("r", k)}, lathe::builtin_reducer("sum", {lathe::kF32}),
      [&](const std::vector<AnyExpr>& at) {
        AnyExpr term = lathe::make_load(A, {at[0], at[2]}) * lathe::make_load(B, {at[2], at[1]});
        return lathe::make_store(C, {at[0], at[1]}, term);
      });
  Stmt relu = block_nest("D", {{"i", m}, {"j", n}}, {}, [&](const std::vector<AnyExpr>& at) {
    AnyExpr sum = lathe::make_load(C, at) * AnyExpr(scale) + lathe::make_load(bias, {at[1]});
    return lathe::make_store(
        D, at, lathe::make_binary(lathe::BinaryOp::max, sum, lathe::make_float(lathe::kF32, 0)));
  });
  std::vector<lathe::DimRef> dims = {lathe::make_ref<lathe::DimNode>(m, 0, INT64_MAX, 1),
                                     lathe::make_ref<lathe::DimNode>(n, 1, 4096, 8),
                                     lathe::make_ref<lathe::DimNode>(k, 1, INT64_MAX, 1)};
  return program("gemm_relu", {in(A), in(B), in(bias), scalar(scale), out(D)},
                 lathe::make_alloc(C, lathe::make_seq({product, relu})), dims);
}

/// The maximum of each row and the sum of exp(x - maximum), in one pass with a reducer of two
/// values.
inline Program online_softmax(std::int64_t m, std::int64_t n) {
  using lathe::make_call;
  Buffer X = lathe::make_buffer("X", lathe::kF32, {m, n});
  Buffer top = lathe::make_buffer("top", lathe::kF32, {m}),
         sum = lathe::make_buffer("sum", lathe::kF32, {m});
  VarRef m0 = lathe::make_var("m0", lathe::kF32), s0 = lathe::make_var("s0", lathe::kF32);
  VarRef m1 = lathe::make_var("m1", lathe::kF32), s1 = lathe::make_var("s1", lathe::kF32);
  AnyExpr higher = lathe::make_binary(lathe::BinaryOp::max, m0, m1);
  AnyExpr both = AnyExpr(s0) * make_call(lathe::CallOp::exp, {AnyExpr(m0) - higher}) +
                 AnyExpr(s1) * make_call(lathe::CallOp::exp, {AnyExpr(m1) - higher});
  std::vector<AnyExpr> identity = {
      lathe::make_float(lathe::kF32, -std::numeric_limits<double>::infinity()),
      lathe::make_float(lathe::kF32, 0)};
  auto online = lathe::make_ref<lathe::ReducerNode>("online", identity, std::vector<VarRef>{m0, s0},
                                                    std::vector<VarRef>{m1, s1},
                                                    std::vector<AnyExpr>{higher, both});
  Stmt body = block_nest(
      "ms", {{"i", m}, reduce_axis("r", n)}, online, [&](const std::vector<AnyExpr>& at) {
        return lathe::make_seq(
            {lathe::make_store(top, {at[0]}, lathe::make_load(X, at)),
             lathe::make_store(sum, {at[0]}, lathe::make_float(lathe::kF32, 1))});
      });
  return program("online_softmax", {in(X), out(top), out(sum)}, body);
}

/// Value and column of the maximum of each row.
inline Program row_argmax(std::int64_t m, std::int64_t n, DType type = lathe::kF32) {
  Buffer X = lathe::make_buffer("X", type, {m, n});
  Buffer top = lathe::make_buffer("top", type, {m}),
         column = lathe::make_buffer("column", lathe::kI64, {m});
  Stmt body = block_nest(
      "top", {{"i", m}, reduce_axis("r", n)}, lathe::builtin_reducer("argmax", {type, lathe::kI64}),
      [&](const std::vector<AnyExpr>& at) {
        return lathe::make_seq({lathe::make_store(top, {at[0]}, lathe::make_load(X, at)),
                                lathe::make_store(column, {at[0]}, at[1])});
      });
  return program("row_argmax", {in(X), out(top), out(column)}, body);
}

/// Y[i] = X[i-1] + X[i] + X[i+1], the ends clamped by a lazy select; with clamp false zero lies
/// outside.
inline Program stencil(std::int64_t n, bool clamp = true) {
  Buffer X = lathe::make_buffer("X", lathe::kF32, {n}),
         Y = lathe::make_buffer("Y", lathe::kF32, {n});
  Stmt body = block_nest("Y", {{"i", n}}, {}, [&](const std::vector<AnyExpr>& at) {
    AnyExpr zero = lathe::make_float(lathe::kF32, 0), here = lathe::make_load(X, at);
    AnyExpr left = lathe::make_load(X, {at[0] - 1}), right = lathe::make_load(X, {at[0] + 1});
    left = lathe::make_select(at[0] > 0, left, clamp ? here : zero);
    right = lathe::make_select(at[0] < n - 1, right, clamp ? here : zero);
    return lathe::make_store(Y, at, left + here + right);
  });
  return program("stencil", {in(X), out(Y)}, body);
}

/// Y[i, j] = table[index[i], j].
inline Program gather(std::int64_t rows, std::int64_t columns, std::int64_t picked) {
  Buffer table = lathe::make_buffer("table", lathe::kF32, {rows, columns});
  Buffer index = lathe::make_buffer("index", lathe::kI32, {picked});
  Buffer Y = lathe::make_buffer("Y", lathe::kF32, {picked, columns});
  Stmt body =
      block_nest("Y", {{"i", picked}, {"j", columns}}, {}, [&](const std::vector<AnyExpr>& at) {
        AnyExpr row = lathe::make_cast(lathe::kI64, lathe::make_load(index, {at[0]}));
        return lathe::make_store(Y, at, lathe::make_load(table, {row, at[1]}));
      });
  return program("gather", {in(table), in(index), out(Y)}, body);
}

/// y[i] = x[i] * 2 + 1 as flat vector code with a masked tail: what lowering leaves of it.
inline Program flat_axpb(std::int64_t n, int lanes = 8) {
  using lathe::make_broadcast;
  Buffer x = lathe::make_buffer("x", lathe::kF32, {n}),
         y = lathe::make_buffer("y", lathe::kF32, {n});
  VarRef i = lathe::make_var("i"), v = lathe::make_var("v", lathe::kF32.with_lanes(lanes));
  AnyExpr at = lathe::make_ramp(AnyExpr(i) * lanes, 1, lanes), mask = at < make_broadcast(n, lanes);
  AnyExpr two = lathe::make_float(lathe::kF32.with_lanes(lanes), 2),
          one = lathe::make_float(lathe::kF32.with_lanes(lanes), 1);
  Stmt store = lathe::make_store(y, {at}, AnyExpr(v) * two + one, mask);
  Stmt body = lathe::make_let_stmt(v, lathe::make_load(x, {at}, mask), store);
  Stmt loop = lathe::make_for(i, 0, (n + lanes - 1) / lanes, body, lathe::ForKind::parallel);
  return program("axpb", {in(x), out(y)}, loop, {}, lathe::Stage::flat);
}

}  // namespace test
