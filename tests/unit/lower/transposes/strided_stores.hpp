// Programs of strided stores.
#pragma once

#include "../../codegen/against.hpp"
#include "../../codegen/assembly.hpp"

namespace test {

using namespace lathe;

/// y[from + k + l * stride] = x[k * lanes + l] for each column k, the last one first.
struct Columns {
  Build b;
  Buffer x, y;
  DType type;
  int lanes;

  Columns(DType t, int its_lanes) : type(t), lanes(its_lanes) {
    x = b.buffer("x", t), y = b.buffer("y", t, Access::inout);
  }
  Stmt store(const AnyExpr& from, std::int64_t stride, int k, const AnyExpr& mask = {}) const {
    return make_store(y, {ramp(from + k, stride, lanes)},
                      make_load(x, {ramp(AnyExpr(k * lanes), 1, lanes)}), mask);
  }
  Stmt stores(const AnyExpr& from, std::int64_t stride, int columns,
              const AnyExpr& mask = {}) const {
    Vec<Stmt> out;
    for (int k = columns; k-- > 0;) out.push_back(store(from, stride, k, mask));
    return make_seq(std::move(out));
  }
};

}  // namespace test
