// Columns of a matrix in lanes: rows that are loaded whole and turned.
#include "../loads/strided_loads.hpp"

using namespace lathe;
using namespace test;

TEST_CASE("neighbouring columns of a matrix are its rows, turned") {
  for (int columns : {2, 4, 8, 16}) {
    CAPTURE(columns);
    Sums sums(kF32, 16);
    const VarRef i = make_var("i");
    const Stmt row = sums.row(AnyExpr(i) * columns, 160, columns, AnyExpr(i) * 16);
    const Program p = deinterleaved(sums.b.done(make_for(i, 0, 10, row)));
    CHECK(loads(p) == 16);
    int rounds = 0, joins = 16 / columns - 1;
    while (1 << rounds < columns) ++rounds;
    CHECK(shuffles(p) == static_cast<std::size_t>(columns * (rounds + joins)));
  }
  Sums alone(kF32, 16);
  CHECK(shuffles(deinterleaved(alone.b.done(alone.row(0, 160, 1, 0)))) == 0);
}

TEST_CASE("columns of a matrix, of any type and number, are what the evaluator loads") {
  for (const char* name : {"x86-64", "x86-64-v3", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    for (DType t : {kF32, kU8, kF64, kBool})
      for (int lanes : {2, 6, 8, 16}) {
        Build b;
        auto x = b.buffer("x", t), y = b.output("y", t);
        Vec<Stmt> rows;
        int to = 0;
        for (std::int64_t stride : {17, 24, 31, -20})
          for (int columns : {2, 3, 5, 8, 11})
            for (int k = 0; k < columns; ++k) {
              const AnyExpr from = AnyExpr(stride < 0 ? 400 : 3) + k;
              rows.push_back(
                  make_store(y, {ramp(to, 1, lanes)}, make_load(x, {ramp(from, stride, lanes)})));
              to += lanes;
            }
        check_against_evaluator(b.done(make_seq(rows)), {elements(t, 600), zeros(t, to)}, {},
                                target);
      }
  }
}
