// Narrow types as integers: every bit as in ir/narrow.hpp, which the evaluator uses on the program
// before the pass.
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes_machine.hpp>

#include "../../codegen/against.hpp"

using namespace lathe;
using namespace test;

namespace {

constexpr DType kSmallFloats[] = {kF16, kBF16, kE4M3, kE5M2};

/// All values of a small type, or a spread of a wide one.
Bytes values_of(DType t) {
  Bytes b;
  auto put = [&](std::uint64_t bits) {
    const auto* at = reinterpret_cast<const unsigned char*>(&bits);
    b.data.insert(b.data.end(), at, at + t.element_bytes());
  };
  if (t.bits == 4) {
    for (int v = 0; v < 16; ++v) put(static_cast<std::uint64_t>(t.is_signed() ? v - 8 : v));
  } else if (t.bits <= 16) {
    for (std::uint64_t v = 0; v < (std::uint64_t{1} << t.bits); ++v) put(v);
  } else {
    // Around each pattern whose lower half rounds: ties, their neighbours, and all exponents.
    for (std::uint64_t v = 0; v < 65536; v += 5) {
      std::uint64_t low = v * 0x9E3779B97F4A7C15u;
      std::uint64_t ties[] = {0, 1, ~std::uint64_t{0}, low};
      std::uint64_t top = v << (t.bits - 16),
                    half = std::uint64_t{1} << (t.bits - 17 + static_cast<int>(v % 14) - 8);
      put(top + (v % 3 == 0 ? half : 0) +
          (t.bits == 64 ? ties[v / 5 % 4] % (half + 1) : ties[v / 5 % 4] & 0xFFFF));
    }
  }
  return b;
}

int count(const Bytes& b, DType t) { return static_cast<int>(b.data.size()) / t.element_bytes(); }

/// r[i] = make(x[i]) in vectors of 16, before and after the pass, in the evaluator and as machine
/// code.
template <class Make>
void check_map(DType from, DType to, Make make) {
  Build b;
  auto x = b.buffer("x", from), r = b.output("r", to);
  Bytes in = values_of(from);
  int n = count(in, from) / 16 * 16;
  auto i = make_var("i");
  AnyExpr at = make_ramp(AnyExpr(i) * 16, AnyExpr(1), 16);
  Program p = b.done(make_for(i, 0, n / 16, make_store(r, {at}, make(make_load(x, {at})))));
  Bytes zero{std::vector<unsigned char>(static_cast<std::size_t>(n * to.element_bytes()))};
  auto wanted = evaluated(p, {in, zero});
  for (const char* name : {"host", "x86-64-v2"}) {
    CAPTURE(std::string(name));
    Target target(name);
    if (!target.runs_on(host())) continue;
    Program machine = legalize_ops(legalize_types(p, target), target);
    Kernel kernel(machine, Llvm::get(), target);
    std::vector<Bytes> got{in, zero};
    CHECK(kernel(slots_of(got, {})) == 0);
    unify_nans(p, got);
    bool equal = wanted[1].data == got[1].data;
    CHECK(equal);
  }
}

}  // namespace

TEST_CASE("small floats decode to f32, f64, integers and booleans") {
  for (DType t : kSmallFloats)
    for (DType to : {kF32, kF64, kI32, kU8, kI64, kI4, kU4, kBool}) {
      CAPTURE(t.str());
      CAPTURE(to.str());
      check_map(t, to, [&](const AnyExpr& x) { return make_cast(to.with_lanes(16), x); });
    }
}

TEST_CASE("small floats encode with one rounding from all types") {
  for (DType t : kSmallFloats)
    for (DType from :
         {kF32, kF64, kI32, kU32, kI64, kU64, kI8, kU16, kF16, kBF16, kE4M3, kE5M2, kI4}) {
      CAPTURE(t.str());
      CAPTURE(from.str());
      check_map(from, t, [&](const AnyExpr& x) { return make_cast(t.with_lanes(16), x); });
    }
}

TEST_CASE("arithmetic on small floats rounds at each node") {
  for (DType t : kSmallFloats) {
    CAPTURE(t.str());
    DType wide = t.with_lanes(16);
    AnyExpr c = make_float(wide, 1.625), small = make_float(wide, 0x1p-9);
    check_map(t, t, [&](const AnyExpr& x) { return x * c + small; });
    check_map(t, t, [&](const AnyExpr& x) { return c / x - x; });
    check_map(t, t, [&](const AnyExpr& x) { return make_call(CallOp::fma, {x, c, small}); });
    check_map(t, t, [&](const AnyExpr& x) {
      return make_call(CallOp::sqrt, {make_call(CallOp::abs, {x})});
    });
    check_map(t, t, [&](const AnyExpr& x) {
      return make_binary(BinaryOp::max, -x, make_float(wide, 0));
    });
    check_map(t, t, [&](const AnyExpr& x) {
      return make_call(CallOp::scalb, {x, make_float(wide, -3)});
    });
    check_map(t, t, [&](const AnyExpr& x) { return make_call(CallOp::scalb, {c, x}); });
    check_map(t, t, [&](const AnyExpr& x) { return make_call(CallOp::logb, {x}); });
    check_map(t, t, [&](const AnyExpr& x) { return make_call(CallOp::significand, {x}); });
    check_map(t, kBool, [&](const AnyExpr& x) { return make_binary(BinaryOp::le, x, c); });
    check_map(t, kBool, [&](const AnyExpr& x) { return make_call(CallOp::is_nan, {x}); });
    check_map(t, t,
              [&](const AnyExpr& x) { return make_select(make_binary(BinaryOp::lt, x, c), x, c); });
    auto v = make_var("v", wide);
    check_map(t, t, [&](const AnyExpr& x) { return make_let(v, x * x, AnyExpr(v) + AnyExpr(v)); });
    check_map(t, t, [&](const AnyExpr& x) {
      return make_broadcast(make_shuffle({x, c}, {3, 31}), 8);
    });
    DType bits{TypeCode::uint, t.bits, 16, false};
    check_map(t, bits.scalar(), [&](const AnyExpr& x) { return make_reinterpret(bits, x * c); });
    check_map(bits.scalar(), t, [&](const AnyExpr& x) { return make_reinterpret(wide, x) * c; });
  }
}

TEST_CASE("4-bit integers wrap, saturate and shift by their own width") {
  for (DType t : {kI4, kU4}) {
    CAPTURE(t.str());
    DType wide = t.with_lanes(16);
    AnyExpr five = make_int(wide, 5), lanes = make_ramp(make_int(t, 3), make_int(t, 1), 16);
    for (BinaryOp op : {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::div, BinaryOp::mod,
                        BinaryOp::floordiv, BinaryOp::floormod, BinaryOp::min, BinaryOp::max,
                        BinaryOp::bit_xor, BinaryOp::shl, BinaryOp::shr}) {
      CAPTURE(op_text(op));
      check_map(t, t, [&](const AnyExpr& x) { return make_binary(op, x, five); });
      check_map(t, t, [&](const AnyExpr& x) { return make_binary(op, x, lanes); });
      check_map(t, t, [&](const AnyExpr& x) { return make_binary(op, lanes, x); });
    }
    check_map(t, t, [&](const AnyExpr& x) { return -x; });
    check_map(t, t, [&](const AnyExpr& x) { return make_unary(UnaryOp::bit_not, x); });
    for (DType other : {kI8, kU8, kI32, kU64, kF32, kF64, kI4, kU4, kBool})
      check_map(t, other, [&](const AnyExpr& x) { return make_cast(other.with_lanes(16), x); });
    for (DType other : {kI8, kU16, kI32, kF32, kF64, kF16, kBF16})
      check_map(other, t, [&](const AnyExpr& x) { return make_cast(wide, x); });
  }
}

TEST_CASE("a floor division truncates where the loop around it gives nothing negative") {
  for (std::int64_t first : {0, -4}) {
    Build b;
    auto r = b.output("r", kI64);
    auto i = make_var("i");
    AnyExpr third = make_binary(BinaryOp::floordiv, i, 3);
    Program p = b.done(make_for(i, first, 8, make_store(r, {AnyExpr(i) - first}, third)));
    Program machine = legalize_ops(p, host());
    CHECK((machine.str().find("select") == std::string::npos) == (first == 0));
    const std::vector<Bytes> none{Bytes::of(std::vector<std::int64_t>(8))};
    CHECK(evaluated(machine, none)[0].data == evaluated(p, none)[0].data);
  }
}

TEST_CASE("params, temporaries and registers of narrow types hold integers afterwards") {
  Build b("narrow");
  auto x = b.buffer("x", kF16), r = b.output("r", kBF16);
  auto s = b.scalar("s", kE4M3);
  auto t = temporary("t", kE5M2, 16);
  auto reg = in_register("reg", kF16);
  auto v = make_var("v", kF16);
  AnyExpr loaded = make_load(t, {3}), kept = make_load(reg, {});
  Stmt body = make_seq(
      {make_store(t, {3}, make_cast(kE5M2, make_load(x, {0}) * make_cast(kF16, AnyExpr(s)))),
       make_store(reg, {}, make_cast(kF16, loaded)),
       make_let_stmt(v, kept + kept, make_store(r, {0}, make_cast(kBF16, AnyExpr(v))))});
  Program p = b.done(make_alloc(t, make_alloc(reg, body)));
  Program machine = legalize_types(p, host());
  CHECK(machine->params[0].dtype() == kU16);
  CHECK(machine->params[1].dtype() == kU16);
  CHECK(machine->params[2].dtype() == kU8);
  CHECK(machine->params[0].name() == "x");
  f16 in = 3.0f;
  bf16 out;
  f8e4m3 factor = 1.5f;
  auto wanted = evaluated(p, {Bytes::of(std::vector<f16>{in}), Bytes::of(std::vector<bf16>{out})},
                          {factor.bits});
  auto got = check_against_evaluator(
      machine, {Bytes::of(std::vector<f16>{in}), Bytes::of(std::vector<bf16>{out})}, {factor.bits});
  CHECK(wanted[1].as<bf16>()[0].bits == got[1].as<bf16>()[0].bits);
  CHECK(static_cast<float>(got[1].as<bf16>()[0]) == 8.0f);
}

TEST_CASE("a program without narrow types stays the same") {
  Build b;
  auto x = b.buffer("x", kF32), r = b.output("r", kF32);
  Program p = b.done(make_store(r, {0}, make_load(x, {0}) * make_float(kF32, 2)));
  Program after = legalize_types(p, host());
  CHECK(after->body.same_as(p->body));
  CHECK(after->params[0].buffer == p->params[0].buffer);
}

TEST_CASE("an atomic update of a narrow type is refused") {
  Build b;
  auto x = b.buffer("x", kF16, Access::inout);
  Program p =
      b.done(make_ref<AtomicNode>(BinaryOp::add, x, std::vector<AnyExpr>{0}, make_float(kF16, 1)));
  CHECK_THROWS_WITH_AS(
      legalize_types(p, host()),
      doctest::Contains("error[L0621] atomic update of 'x': no machine updates f16 atomically"),
      UserError);
}
