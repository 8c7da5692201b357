// Columns that are stored as rows: which stores become one transposition, and what stays between.
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>

#include "strided_stores.hpp"

using namespace lathe;
using namespace test;

namespace {

Program turned(const Program& p, const Target& target = Target("znver4")) {
  const TargetCaps caps{target};
  const Program out = turn_stores(count_lanes(p, caps), caps);
  CHECK(verify_reason(guard_operators(out, caps), Stage::machine) == "");
  return out;
}
std::size_t shuffles(const Program& p) { return count_of(p.str(), "shuffle("); }
std::size_t stores(const Program& p) {
  return count_of(p.str(), "y[ramp(") - count_of(p.str(), "= y[");
}

Bytes numbers(DType t, int count) {
  Bytes out;
  for (int k = 0; k < count * t.element_bytes(); ++k)
    out.data.push_back(static_cast<unsigned char>(t.is_bool() ? k % 3 == 0 : k * 7 % 61));
  return out;
}

/// Four columns of sixteen rows: `between` stands after the second one.
Program around(const std::string& between) {
  std::string text =
      R"(program k<n>(in x: f32[64], inout y: f32[16, 100], inout z: f32[16]) stage flat:
  y[ramp(n, 100, 16)] = x[ramp(0, 1, 16)]
  y[ramp(n + 1, 100, 16)] = x[ramp(16, 1, 16)]
)" + between +
      R"(  y[ramp(n + 2, 100, 16)] = x[ramp(32, 1, 16)]
  y[ramp(n + 3, 100, 16)] = x[ramp(48, 1, 16)]
)";
  return parse(text);
}

}  // namespace

TEST_CASE("stores of neighbouring columns are rows, turned") {
  for (int columns : {2, 4, 8, 16}) {
    CAPTURE(columns);
    Columns c(kF32, 16);
    const VarRef i = make_var("i");
    const Program p = turned(c.b.done(make_for(i, 0, 10, c.stores(AnyExpr(i) * 16, 160, columns))));
    int rounds = 0;
    while (1 << rounds < columns) ++rounds;
    const int pieces = columns == 16 ? 0 : 16;
    CHECK(stores(p) == 16);
    CHECK(shuffles(p) == static_cast<std::size_t>(columns * rounds + pieces));
  }
  Columns c(kF32, 16);
  CHECK(shuffles(turned(c.b.done(c.stores(0, 160, 1)))) == 0);
  CHECK(shuffles(turned(c.b.done(make_seq({c.store(0, 160, 0), c.store(0, 160, 2)})))) == 0);
  CHECK(shuffles(turned(c.b.done(make_seq({c.store(0, 160, 0), c.store(0, 160, 0)})))) == 0);
}

TEST_CASE("what neither reads nor stores there may stand between columns") {
  const std::size_t four = 4 * 2 + 16, two = 2 + 16;
  CHECK(shuffles(turned(around(""))) == four);
  CHECK(shuffles(turned(around("  z[ramp(0, 1, 16)] = x[ramp(0, 1, 16)]\n"))) == four);
  CHECK(shuffles(turned(around("  let q = n * 2\n"))) == four);
  // Stored there already, under the same index: it has a name.
  const Program named = turned(around("  z[ramp(0, 1, 16)] = y[ramp(n + 1, 100, 16)]\n"));
  CHECK(shuffles(named) == four);
  CHECK(count_of(named.str(), "= y[") == 0);
  for (const char* ends : {"  z[0] = y[5]\n", "  z[0] = y[n]\n", "  y[7] = 1.0\n",
                           "  for i in 0..3:\n    z[i] = y[i]\n", "  if n < 3:\n    y[n] = 1.0\n",
                           "  z[ramp(0, 1, 16)] = y[ramp(n + 2, 100, 16)]\n"}) {
    CAPTURE(std::string(ends));
    CHECK(shuffles(turned(around(ends))) == 2 * two);
  }
}

TEST_CASE("rows a Dim apart are turned where the buffer says that they are rows") {
  const std::string body = R"( stage flat:
  y[ramp(0, n, 8)] = x[ramp(0, 1, 8)]
  y[ramp(1, n, 8)] = x[ramp(8, 1, 8)]
)";
  const auto of = [&](const std::string& shape) {
    return shuffles(turned(parse("program k<n>(in x: f32[16], out y: f32[" + shape + "])" + body)));
  };
  CHECK(of("8, n") > 0);
  CHECK(of("8, n] strides [n, 1") > 0);
  CHECK(of("8 * n + 1") == 0);
  CHECK(of("8, 2 * n") == 0);
}

TEST_CASE("columns, of any type and number, all rows or the first, are what the evaluator stores") {
  for (const char* name : {"x86-64", "x86-64-v3", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    for (DType t : {kF32, kU8, kF64, kBool})
      for (int lanes : {2, 5, 8, 16}) {
        // A program for each stride: LLVM takes long for masked columns in one function.
        for (std::int64_t stride : {11, 17, 24, 31}) {
          Columns c(t, lanes);
          const auto n = c.b.dim("n");
          const AnyExpr mask = first_lanes_below(AnyExpr(n), lanes);
          Vec<Stmt> all;
          int to = 1;
          for (int columns : {2, 3, 5, 8, 11})
            for (bool masked : {false, true}) {
              all.push_back(c.stores(AnyExpr(to), stride, columns, masked ? mask : AnyExpr()));
              to += static_cast<int>(stride) * lanes + 1;
            }
          Bytes out;
          out.data.resize(static_cast<std::size_t>(to * t.element_bytes()), 1);
          const Compared compared(c.b.done(make_seq(all)), target);
          for (std::uint64_t kept : {0, 1, lanes - 1})
            compared.check({numbers(t, 11 * lanes), out}, {kept});
        }
      }
  }
}
