// Programs of strided loads, and what is made of them.
#pragma once

#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>

#include "../../codegen/against.hpp"
#include "../../codegen/assembly.hpp"

namespace test {

using namespace lathe;

inline Program deinterleaved(const Program& p, const Target& target = Target("znver4")) {
  const Program out = deinterleave_loads(count_lanes(p, target), target);
  CHECK(verify_reason(guard_operators(mask_arms(out), target), Stage::machine) == "");
  return out;
}

/// y[l] = x[from + l * stride] + x[from + 1 + l * stride] + … of as many neighbours.
struct Sums {
  Build b;
  Buffer x, y;
  int lanes;
  DType type;

  /// `size`: of x.
  Sums(DType t, int its_lanes, std::int64_t size = 1 << 20) : lanes(its_lanes), type(t) {
    x = b.buffer("x", t, Access::in, size), y = b.output("y", t);
  }
  Stmt row(const AnyExpr& from, std::int64_t stride, int neighbours, const AnyExpr& to,
           const AnyExpr& mask = {}) const {
    AnyExpr sum;
    for (int k = 0; k < neighbours; ++k) {
      AnyExpr one = make_load(x, {ramp(from + k, stride, lanes)}, mask);
      sum = sum ? sum + one : one;
    }
    return make_store(y, {ramp(to, 1, lanes)}, sum);
  }
};

inline Bytes elements(DType t, int count) {
  Bytes out;
  for (int k = 0; k < count * t.element_bytes(); ++k)
    out.data.push_back(static_cast<unsigned char>(t.is_bool() ? k % 3 == 0 : k * 7 % 61));
  return out;
}
inline Bytes zeros(DType t, int count) {
  Bytes out;
  out.data.resize(static_cast<std::size_t>(count * t.element_bytes()));
  return out;
}

/// Those of these targets that this machine runs, each named in what fails.
template <class F>
void on_targets(std::initializer_list<const char*> names, const F& f) {
  for (const char* name : names) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    CAPTURE(name);
    f(target);
  }
}

/// Machine code, and what a pass has made, do what the evaluator does; `sizes` follow the buffers.
inline void check_pieces(const Compared& code, const Program& program, const Program& made,
                         const std::vector<Bytes>& data, const std::vector<std::uint64_t>& sizes) {
  code.check(data, sizes);
  CHECK(evaluated(made, data, sizes)[1].data == evaluated(program, data, sizes)[1].data);
}

inline std::size_t shuffles(const Program& p) { return count_of(p.str(), "shuffle("); }
inline std::size_t loads(const Program& p) {
  return count_of(p.str(), "= x[") + count_of(p.str(), "+ x[");
}

}  // namespace test
