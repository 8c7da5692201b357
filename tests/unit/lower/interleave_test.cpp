// Which stores of long computations become operations in turn, and that they store the same.
#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>

#include "../codegen/against.hpp"

using namespace lathe;
using namespace test;

namespace {

constexpr int kLanes = 8, kTerms = 16;
const DType kVector = kF32.with_lanes(kLanes);

AnyExpr lanes_from(int first) { return make_ramp(AnyExpr(first), AnyExpr(1), kLanes); }
AnyExpr part(int k) { return lanes_from(k * kLanes); }

Bytes floats(int n, float step) {
  std::vector<float> values;
  for (int k = 0; k < n; ++k) values.push_back(1 + step * static_cast<float>(k));
  return Bytes::of(values);
}

/// A polynomial of a vector: one operation a term.
AnyExpr horner(const AnyExpr& x, int terms = kTerms) {
  VarRef at = make_var("at", x.dtype());
  AnyExpr sum = make_float(x.dtype(), 0.5);
  for (int term = 1; term < terms; ++term)
    sum = make_call(CallOp::fma, {sum, at, make_float(x.dtype(), 1.0 / term)});
  return make_let(at, x, sum);
}

Program interleaved(const Program& p, const Target& target = Target("x86-64-v3")) {
  const Program out = interleave_stores(p, target);
  CHECK(verify_reason(legal(out), Stage::machine) == "");
  return out;
}

/// The values bound from here on, then what they are bound for.
Vec<AnyExpr> bound(const Stmt& s, Stmt& rest) {
  Vec<AnyExpr> values;
  rest = s;
  for (const auto* n = rest.as<LetStmtNode>(); n; n = rest.as<LetStmtNode>()) {
    values.push_back(n->value);
    rest = Stmt(n->body);
  }
  return values;
}

Stmt storing(const Buffer& y, const Buffer& x, int k, int terms = kTerms) {
  return make_store(y, {part(k)}, horner(make_load(x, {part(k)}), terms));
}

}  // namespace

TEST_CASE("three stores become their operations in turn, then the stores") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  const Program before = b.done(make_seq({storing(y, x, 0), storing(y, x, 1), storing(y, x, 2)}));
  const Program after = interleaved(before);
  Stmt stores;
  const Vec<AnyExpr> values = bound(after->body, stores);
  REQUIRE(values.size() == 3 * kTerms);
  for (std::size_t k = 0; k < values.size(); ++k)
    CHECK((values[k].kind() == ExprKind::Load) == (k < 3));
  REQUIRE(seq_of(stores).size() == 3);
  for (const Stmt& s : seq_of(stores)) CHECK(s.as<StoreNode>()->value.kind() == ExprKind::Var);

  const std::vector<Bytes> data{floats(24, 0.25f), floats(24, 0)};
  CHECK(evaluated(before, data)[1].data == check_against_evaluator(after, data)[1].data);
}

TEST_CASE("as many stores stand side by side as the target's units and registers take") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  Vec<Stmt> stores;
  for (int k = 0; k < 10; ++k) stores.push_back(storing(y, x, k));
  const Program before = b.done(make_seq(stores));
  const auto first_group = [&](const Target& target) {
    Stmt rest;
    const Program after = interleaved(before, target);
    return bound(seq_of(after->body)[0], rest).size() / kTerms;
  };
  CHECK(first_group(Target("x86-64-v3")) == 4);       // 16 registers
  CHECK(first_group(Target("skylake-avx512")) == 8);  // 32, and two units of 64 bytes
  CHECK(first_group(Target("znver4")) == 4);          // 64 bytes in two halves
  CHECK(first_group(Target("znver5")) == 8);
  CHECK(first_group(Target("neoverse-n1")) == 8);
  Target few("x86-64-v3");
  few.vector_registers = 3;
  CHECK(seq_of(interleaved(before, few)->body).size() == 10);
}

TEST_CASE("a number that two places use is computed once") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  const auto scaled = [&](int k) {
    VarRef scale = make_var("scale", kF32);
    const AnyExpr both = make_broadcast(scale, kLanes);
    const AnyExpr value = horner(make_load(x, {part(k)}) * both) * both;
    return make_store(y, {part(k)}, make_let(scale, make_load(x, {0}) * make_load(x, {1}), value));
  };
  const Program before = b.done(make_seq({scaled(0), scaled(1)})), after = interleaved(before);
  Stmt stores;
  int numbers = 0;
  for (const AnyExpr& value : bound(after->body, stores)) numbers += value.dtype().lanes == 1;
  CHECK(numbers == 2);
  const std::vector<Bytes> data{floats(16, 0.25f), floats(16, 0)};
  CHECK(evaluated(before, data)[1].data == check_against_evaluator(after, data)[1].data);
}

TEST_CASE("one store, shallow ones and scalars stay as they are") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  const auto scalar = [&](int k) {
    return make_store(y, {AnyExpr(k)}, horner(make_load(x, {AnyExpr(k)})));
  };
  for (const Stmt& body : {storing(y, x, 0), make_seq({storing(y, x, 0, 8), storing(y, x, 1, 8)}),
                           make_seq({scalar(0), scalar(1)})}) {
    const Program before = b.done(body);
    CHECK(interleaved(before).str() == before.str());
  }
}

TEST_CASE(
    "chains count through names; many vectors that are loaded leave no registers for others") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  const auto is_interleaved = [&](const auto& value) {
    const Program before =
        b.done(make_seq({make_store(y, {part(0)}, value(0)), make_store(y, {part(1)}, value(1))}));
    return interleaved(before).str() != before.str();
  };
  const auto scaled = [](AnyExpr e, int times) {
    for (int k = 0; k < times; ++k) e = e * make_const(kVector, 3);
    return e;
  };
  const auto named = [&](int inside, int outside) {
    return [=](int k) {
      const VarRef name = make_var("t", kVector);
      return make_let(name, scaled(make_load(x, {part(k)}), inside), scaled(name, outside));
    };
  };
  CHECK(!is_interleaved(named(6, 5)));
  CHECK(is_interleaved(named(6, 6)));
  const auto sum = [&](int loads) {
    return [=](int k) {
      AnyExpr e = make_load(x, {part(k)});
      for (int j = 1; j < loads; ++j) e = e + make_load(x, {part(k + j)});
      return e;
    };
  };
  CHECK(!is_interleaved(sum(40)));
}

TEST_CASE("fewer at a time may be longer: statements nest up to a limit") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  const int terms = 400;  // more than 1000 nodes, fewer than 2000
  const Program before = b.done(make_seq({storing(y, x, 0, terms), storing(y, x, 1, terms)}));
  const auto stays = [&](const char* target) {
    return interleaved(before, Target(target)).str() == before.str();
  };
  CHECK(stays("skylake-avx512"));   // eight at a time
  CHECK_FALSE(stays("x86-64-v3"));  // four
}

TEST_CASE("long computations are in turn with fewer others, so that no nest is too deep to parse") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  const int terms = 350;  // three times so many operations are too many, twice are not
  Vec<Stmt> stores;
  for (int k = 0; k < 4; ++k) stores.push_back(storing(y, x, k, terms));
  const Program before = b.done(make_seq(stores)), after = interleaved(before);
  REQUIRE(seq_of(after->body).size() == 2);
  for (const Stmt& turn : seq_of(after->body)) {
    Stmt rest;
    CHECK(bound(turn, rest).size() == 2 * terms);
    CHECK(seq_of(rest).size() == 2);
  }
  CHECK(structurally_equal(parse(after.str()), after));
  const std::vector<Bytes> data{floats(32, 0.25f), floats(32, 0)};
  CHECK(evaluated(before, data)[1].data == check_against_evaluator(after, data)[1].data);
}

TEST_CASE("what reads what another stores stays behind it") {
  Build b;
  auto x = b.buffer("x", kF32, Access::inout), y = b.output("y", kF32);
  // The second reads half of what the first stored; the third may go with the second.
  const AnyExpr between = lanes_from(kLanes / 2);
  const Stmt second = make_store(y, {part(0)}, horner(make_load(x, {between})));
  const Program before = b.done(make_seq({storing(x, x, 0), second, storing(y, x, 1)}));
  const Program after = interleaved(before);
  REQUIRE(seq_of(after->body).size() == 2);
  CHECK(seq_of(after->body)[0].kind() == StmtKind::Store);
  const std::vector<Bytes> data{floats(24, 0.25f), floats(16, 0)};
  const auto wanted = evaluated(before, data), got = check_against_evaluator(after, data);
  for (std::size_t k = 0; k < data.size(); ++k) CHECK(wanted[k].data == got[k].data);
}

TEST_CASE("the arm of a select is not evaluated before it is chosen") {
  Build b;
  auto x = b.buffer("x", kF32), far = b.buffer("far", kF32), y = b.output("y", kF32);
  const auto chosen = [&](int k) {
    VarRef v = make_var("v", kVector);
    const AnyExpr positive = make_binary(BinaryOp::gt, v, make_float(kVector, 0));
    const AnyExpr arm = horner(make_load(far, {part(1000 + k)}));
    return make_store(y, {part(k)},
                      make_let(v, horner(make_load(x, {part(k)})), make_select(positive, v, arm)));
  };
  const Program after = interleaved(b.done(make_seq({chosen(0), chosen(1)})));
  Stmt stores;
  int selects = 0;
  for (const AnyExpr& value : bound(after->body, stores)) {
    const auto* load = value.as<LoadNode>();
    CHECK((!load || load->buffer == x));
    selects += value.kind() == ExprKind::Select;
  }
  CHECK(selects == 2);
  // Nothing of `far` is there to be read.
  check_against_evaluator(after, {floats(2 * kLanes, 1), floats(1, 0), floats(2 * kLanes, 0)});
}

namespace {

/// Two results of one name's polynomial, as a reducer of two parts has them; the last is
/// `of_first`.
Stmt two_results(const Buffer& x, const Buffer& y, int k, const AnyExpr& of_first) {
  const VarRef old = make_var("a", kVector), next = make_var("b", kVector);
  const Stmt stores = make_seq({make_store(y, {part(2 * k)}, next),
                                make_store(y, {part(2 * k + 1)}, of_first + next + old)});
  return make_let_stmt(old, make_load(x, {part(k)}), make_let_stmt(next, horner(old), stores));
}

}  // namespace

TEST_CASE("computations of several results are in turn") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  const AnyExpr one = make_float(kVector, 1);
  const Program before = b.done(make_seq({two_results(x, y, 0, one), two_results(x, y, 1, one)}));
  const Program after = interleaved(before);
  Stmt stores;
  const Vec<AnyExpr> values = bound(after->body, stores);
  REQUIRE(values.size() == 2 * (kTerms + 2));
  for (std::size_t k = 0; k < values.size(); ++k)
    CHECK((values[k].kind() == ExprKind::Load) == (k < 2));
  CHECK(seq_of(stores).size() == 4);
  const std::vector<Bytes> data{floats(2 * kLanes, 0.25f), floats(4 * kLanes, 0)};
  CHECK(evaluated(before, data)[1].data == check_against_evaluator(after, data)[1].data);
}

TEST_CASE("results that read others, and deep ones, are not computed before these are stored") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  const auto read = [&](int k) { return two_results(x, y, k, make_load(y, {part(2 * k)})); };
  const Program reading = b.done(make_seq({read(0), read(1)}));
  CHECK(interleaved(reading).str() == reading.str());
  // Deep stores below one name are in turn with each other.
  const auto below = [&](int k) {
    const VarRef scale = make_var("scale", kVector);
    const auto scaled = [&](int at) {
      return make_store(y, {part(at)}, horner(make_load(x, {part(at)}) * scale));
    };
    return make_let_stmt(scale, make_load(x, {part(0)}), make_seq({scaled(k), scaled(k + 1)}));
  };
  const Program deep = b.done(make_seq({below(0), below(2)})), after = interleaved(deep);
  REQUIRE(seq_of(after->body).size() == 2);
  for (const Stmt& s : seq_of(after->body)) {
    Stmt stores;
    CHECK(bound(s, stores).size() == 1 + 2 * (kTerms + 1));
    CHECK(seq_of(stores).size() == 2);
  }
  const std::vector<Bytes> data{floats(4 * kLanes, 0.25f), floats(4 * kLanes, 0)};
  CHECK(evaluated(deep, data)[1].data == check_against_evaluator(after, data)[1].data);
}
