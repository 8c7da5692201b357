// Every operator, cast and call on every type: machine code does what the evaluator does, on edge
// values too.
#include <lathe/ir/narrow.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <limits>

#include "against.hpp"

using namespace lathe;
using namespace test;

namespace {

constexpr DType kTypes[] = {kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF32, kF64};

/// Values at which something may go wrong, as the bytes of a buffer, and how many there are.
std::vector<double> float_edges() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  return {0.0,          -0.0,          1,
          -1,           0.5,           -0.5,
          1.5,          2.5,           -2.5,
          127,          128,           -128,
          -129,         255,           256,
          32767.5,      65535.9,       2147483520.0,
          2147483648.0, -2147483648.0, 4294967040.0,
          4294967296.0, 9.2e18,        9.3e18,
          -9.3e18,      1.8e19,        1.9e19,
          1e-40,        -1e-45,        3e38,
          inf,          -inf,          std::numeric_limits<double>::quiet_NaN(),
          8388607.5,    3.7,           -3.7};
}

/// Numbers as the elements of a buffer of f32 or f64.
Bytes bytes_of(DType t, const std::vector<double>& values) {
  return t == kF64 ? Bytes::of(values)
                   : Bytes::of(std::vector<float>(values.begin(), values.end()));
}

Bytes edge_values(DType t, std::size_t n) {
  if (t.is_float()) {
    const std::vector<double> edges = float_edges();
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(edges[i % edges.size()]);
    return bytes_of(t, values);
  }
  const std::int64_t ints[] = {0,         1,         -1,           2,         -2,
                               3,         7,         -7,           8,         31,
                               32,        33,        63,           64,        100,
                               127,       -128,      255,          32767,     -32768,
                               INT32_MAX, INT32_MIN, INT64_MAX,    INT64_MIN, 0x55AA55AA55AA,
                               -12345,    65535,     INT64_MIN + 1};
  Bytes b;
  b.data.resize(n * static_cast<std::size_t>(t.element_bytes()));
  for (std::size_t i = 0; i < n; ++i) {
    unsigned char* at = b.data.data() + i * static_cast<std::size_t>(t.element_bytes());
    std::int64_t v = ints[i % std::size(ints)];
    std::memcpy(at, &v, static_cast<std::size_t>(t.element_bytes()));
  }
  return b;
}

struct ScalbCases {
  std::vector<double> x, powers;
};

/// 4096 numbers with the powers to scale them by: edge values by edge values, then odd mantissas
/// whose results lie at 1 and about the ends of the exponents, so that each rounding shows.
ScalbCases scalb_cases() {
  constexpr std::size_t count = 4096;
  ScalbCases cases;
  std::vector<double> powers = float_edges();
  for (double n :
       {-150.5, -149.0, -126.25, -1.5, -0.5, 0.75, 23.0, 127.5, 128.0, 1023.9, -1074.0, 3e9})
    powers.push_back(n);
  for (double x : float_edges())
    for (double power : powers) {
      const bool said = !std::isnan(x) || !std::isinf(power);
      cases.x.push_back(x), cases.powers.push_back(said ? power : 1);
    }
  const int results[] = {-1070, -1022, -140, -126, 0, 127, 1023};
  for (std::size_t k = cases.x.size(); k < count; ++k) {
    const int exponent = static_cast<int>(k % 276) - 148, from_end = static_cast<int>(k % 25) - 12;
    const double mantissa = 1 + static_cast<double>(k * 2654435761u % 65536) / 65536 + 0x1p-23;
    cases.x.push_back(std::ldexp(mantissa, exponent));
    cases.powers.push_back(results[k % 7] + from_end - exponent + static_cast<double>(k % 4) / 4);
  }
  return cases;
}

/// r[k, i] = make(k, x[i], y[i]) for all pairs of edge values, in vectors of `lanes`, for each k
/// below `versions`, all in one kernel; r holds `result`.
template <class Make>
void check_versions(DType t, DType result, int lanes, int versions, Make make) {
  constexpr int n = 36;
  Build b;
  auto x = b.buffer("x", t), y = b.buffer("y", t), r = b.output("r", result);
  auto i = make_var("i"), j = make_var("j");
  AnyExpr from = AnyExpr(j) * lanes;
  if (lanes > 1) from = make_ramp(from, AnyExpr(1), lanes);
  AnyExpr left = make_broadcast(make_load(x, {i}), lanes), right = make_load(y, {from});
  Vec<Stmt> stores;
  for (int k = 0; k < versions; ++k) {
    AnyExpr to = (AnyExpr(i) + k * n) * n + AnyExpr(j) * lanes;
    if (lanes > 1) to = make_ramp(to, AnyExpr(1), lanes);
    stores.push_back(make_store(r, {to}, make(k, left, right)));
  }
  Program p = b.done(make_for(i, 0, n, make_for(j, 0, n / lanes, make_seq(stores))));
  const auto bytes = static_cast<std::size_t>(versions * n * n * result.element_bytes());
  Bytes zero{std::vector<unsigned char>(bytes)};
  check_against_evaluator(p, {edge_values(t, n), edge_values(t, n), zero});
}

/// r[i] = make(x[i], y[i]), likewise.
template <class Make>
void check_pairs(DType t, DType result, int lanes, Make make) {
  check_versions(t, result, lanes, 1,
                 [&](int, const AnyExpr& a, const AnyExpr& b) { return make(a, b); });
}

std::vector<BinaryOp> operators(DType t) {
  std::vector<BinaryOp> ops{BinaryOp::add, BinaryOp::sub, BinaryOp::mul,      BinaryOp::div,
                            BinaryOp::min, BinaryOp::max, BinaryOp::fast_min, BinaryOp::fast_max,
                            BinaryOp::eq,  BinaryOp::ne,  BinaryOp::lt,       BinaryOp::le,
                            BinaryOp::gt,  BinaryOp::ge};
  if (!t.is_float())
    for (BinaryOp op : {BinaryOp::mod, BinaryOp::floordiv, BinaryOp::floormod, BinaryOp::bit_and,
                        BinaryOp::bit_or, BinaryOp::bit_xor, BinaryOp::shl, BinaryOp::shr})
      ops.push_back(op);
  return ops;
}

}  // namespace

TEST_CASE("binary operators, scalar and vector") {
  for (DType t : kTypes) {
    for (bool compares : {false, true}) {
      std::vector<BinaryOp> ops = operators(t);
      std::erase_if(ops, [&](BinaryOp op) { return is_comparison(op) != compares; });
      CAPTURE(t.str());
      for (int lanes : {1, 4})
        check_versions(t, compares ? kBool : t, lanes, static_cast<int>(ops.size()),
                       [&](int k, const AnyExpr& a, const AnyExpr& b) {
                         return make_binary(ops[static_cast<std::size_t>(k)], a, b);
                       });
    }
  }
}

TEST_CASE("the remainder of floats is the C library's, as is fma without the instruction") {
  Target old("x86-64");
  for (DType t : {kF32, kF64}) {
    for (int lanes : {1, 4})
      check_pairs(t, t, lanes, [&](const AnyExpr& a, const AnyExpr& b) { return a % b; });
    Build b;
    auto x = b.buffer("x", t), r = b.output("r", t);
    AnyExpr at = make_ramp(AnyExpr(0), AnyExpr(1), 4), v = make_load(x, {at});
    Program p =
        b.done(make_store(r, {at}, make_call(CallOp::fma, {v, v, v % make_float(v.dtype(), 3)})));
    check_against_evaluator(p, {edge_values(t, 40), edge_values(t, 40)}, {}, old);
    std::vector<std::string> wanted = t == kF32 ? std::vector<std::string>{"fmodf", "fmaf"}
                                                : std::vector<std::string>{"fmod", "fma"};
    CHECK(emit_llvm(p, old, 19).externals == wanted);
  }
}

TEST_CASE("operators with a constant on the right") {
  for (DType t : kTypes) {
    std::vector<double> constants{0.0, 1.0, 8.0, 7.0, 33.0};
    if (!t.is_unsigned()) constants.insert(constants.end(), {-0.0, -1.0, -3.0});
    for (BinaryOp op : operators(t)) {
      CAPTURE(t.str());
      CAPTURE(op_text(op));
      check_versions(t, is_comparison(op) ? kBool : t, 4, static_cast<int>(constants.size()),
                     [&](int k, const AnyExpr& a, const AnyExpr& b) {
                       const double c = constants[static_cast<std::size_t>(k)];
                       AnyExpr constant = t.is_float()
                                              ? make_float(b.dtype(), c)
                                              : make_int(b.dtype(), static_cast<std::int64_t>(c));
                       return make_binary(op, op == BinaryOp::sub ? a : b, constant);
                     });
    }
  }
}

TEST_CASE("legalized floor division and rounding mean the same") {
  Target old("x86-64");
  for (DType t : {kI8, kI32, kI64, kU16}) {
    for (BinaryOp op : {BinaryOp::floordiv, BinaryOp::floormod}) {
      for (int c : {0, 4, 5, -5}) {
        if (t.is_unsigned() && c < 0) continue;
        Build b;
        auto x = b.buffer("x", t), y = b.buffer("y", t), r = b.output("r", t);
        auto i = make_var("i");
        AnyExpr right = c ? make_int(t, c) : make_load(y, {AnyExpr(35) - AnyExpr(i)});
        Program p = b.done(
            make_for(i, 0, 36, make_store(r, {i}, make_binary(op, make_load(x, {i}), right))));
        std::vector<Bytes> in{edge_values(t, 36), edge_values(t, 36), edge_values(t, 36)};
        auto wanted = evaluated(p, in), got = evaluated(legalize_ops(p, old), in);
        bool equal = wanted[2].data == got[2].data;
        CHECK(equal);
      }
    }
  }
}

TEST_CASE("unary operators and calls") {
  for (DType t : kTypes) {
    CAPTURE(t.str());
    for (int lanes : {1, 4}) {
      check_pairs(t, t, lanes, [&](const AnyExpr&, const AnyExpr& b) { return -b; });
      check_pairs(t, t, lanes,
                  [&](const AnyExpr&, const AnyExpr& b) { return make_call(CallOp::abs, {b}); });
      if (!t.is_float()) {
        check_pairs(t, t, lanes, [&](const AnyExpr&, const AnyExpr& b) {
          return make_unary(UnaryOp::bit_not, b);
        });
        check_pairs(t, t, lanes, [&](const AnyExpr&, const AnyExpr& b) {
          return make_call(CallOp::popcount, {b});
        });
        continue;
      }
      for (CallOp op : {CallOp::floor, CallOp::ceil, CallOp::trunc, CallOp::round, CallOp::sqrt})
        check_pairs(t, t, lanes,
                    [&](const AnyExpr&, const AnyExpr& b) { return make_call(op, {b}); });
      check_pairs(t, t, lanes, [&](const AnyExpr& a, const AnyExpr& b) {
        return make_call(CallOp::copysign, {a, b});
      });
      check_pairs(t, t, lanes, [&](const AnyExpr& a, const AnyExpr& b) {
        return make_call(CallOp::fma, {a, b, a});
      });
      check_pairs(t, kBool, lanes,
                  [&](const AnyExpr&, const AnyExpr& b) { return make_call(CallOp::is_nan, {b}); });
      DType bits{TypeCode::uint, t.bits};
      check_pairs(bits, bits, lanes, [&](const AnyExpr& a, const AnyExpr& b) {
        AnyExpr f = make_reinterpret(t.with_lanes(lanes), make_binary(BinaryOp::bit_xor, a, b));
        return make_cast(bits.with_lanes(lanes), make_call(CallOp::abs, {f}));
      });
    }
  }
}

TEST_CASE("casts between all types") {
  for (DType from : kTypes) {
    for (DType to : kTypes) {
      CAPTURE(from.str());
      CAPTURE(to.str());
      for (int lanes : {1, 4})
        check_pairs(from, to, lanes, [&](const AnyExpr&, const AnyExpr& b) {
          return make_cast(to.with_lanes(lanes), b);
        });
    }
    check_pairs(from, kBool, 4, [&](const AnyExpr&, const AnyExpr& b) {
      return make_cast(kBool.with_lanes(4), b);
    });
    check_pairs(from, from, 4, [&](const AnyExpr& a, const AnyExpr& b) {
      return make_cast(from.with_lanes(4), make_binary(BinaryOp::lt, a, b));
    });
  }
}

TEST_CASE("logic on booleans") {
  using Op = AnyExpr (*)(const AnyExpr&, const AnyExpr&);
  for (Op op :
       {Op(logical_and), Op(logical_or),
        Op([](const AnyExpr&a, const AnyExpr&b) { return eq(a, b); }),
        Op([](const AnyExpr&a, const AnyExpr&b) { return make_binary(BinaryOp::lt, a, b); }),
        Op([](const AnyExpr&a, const AnyExpr&b) { return make_select(a, logical_not(b), b); }),
        Op([](const AnyExpr&a, const AnyExpr&b) { return make_binary(BinaryOp::max, a, b); })})
    for (int lanes : {1, 4})
      check_pairs(kI32, kBool, lanes, [&](const AnyExpr& a, const AnyExpr& b) {
        AnyExpr zero = make_int(a.dtype(), 0);
        return op(make_binary(BinaryOp::lt, a, zero), make_binary(BinaryOp::lt, b, zero));
      });
}

/// make(x, y) of all cases in vectors of any width, for targets with AVX-512 and without: machine
/// code and evaluator agree, and the evaluator's results are those of the calls as they stand.
template <class Make>
void check_exponents(const ScalbCases& cases, Make make) {
  const auto n = static_cast<std::int64_t>(cases.x.size());
  for (DType t : {kF32, kF64})
    for (const char* name : {"host", "x86-64-v3", "x86-64"})
      for (int lanes : {1, 2, 8, 16, 32}) {
        Target target(name);
        if (!target.runs_on(host())) continue;
        CAPTURE(t.str());
        CAPTURE(name);
        CAPTURE(lanes);
        Build b;
        auto x = b.buffer("x", t), power = b.buffer("n", t), r = b.output("r", t);
        auto i = make_var("i");
        AnyExpr at = AnyExpr(i) * lanes;
        if (lanes > 1) at = make_ramp(at, AnyExpr(1), lanes);
        AnyExpr made = make(make_load(x, {at}), make_load(power, {at}));
        Program p = b.done(make_for(i, 0, n / lanes, make_store(r, {at}, made)));
        const std::vector<Bytes> in{bytes_of(t, cases.x), bytes_of(t, cases.powers),
                                    bytes_of(t, cases.x)};
        check_against_evaluator(legalize_ops(p, target), in, {}, target);
        auto before = evaluated(p, in), after = evaluated(legalize_ops(p, target), in);
        const bool equal = before[2].data == after[2].data;
        CHECK(equal);
      }
}

TEST_CASE("scalb has one rounding and rounds its exponent down, with AVX-512 and legalized") {
  check_exponents(scalb_cases(), [](const AnyExpr& x, const AnyExpr& power) {
    return make_call(CallOp::scalb, {x, power});
  });
}

TEST_CASE("exponents and significands of all kinds of floats, with AVX-512 and legalized") {
  const ScalbCases cases = scalb_cases();
  check_exponents(cases,
                  [](const AnyExpr& x, const AnyExpr&) { return make_call(CallOp::logb, {x}); });
  check_exponents(
      cases, [](const AnyExpr& x, const AnyExpr&) { return make_call(CallOp::significand, {x}); });
}

TEST_CASE("targets without SSE4.1 round by arithmetic") {
  Target old("x86-64");
  for (DType t : {kF32, kF64}) {
    for (CallOp op : {CallOp::floor, CallOp::ceil, CallOp::trunc, CallOp::round}) {
      CAPTURE(op_text(op));
      Build b;
      auto x = b.buffer("x", t), r = b.output("r", t);
      auto i = make_var("i");
      AnyExpr at = make_ramp(AnyExpr(i) * 4, AnyExpr(1), 4);
      Program p =
          b.done(make_for(i, 0, 9, make_store(r, {at}, make_call(op, {make_load(x, {at})}))));
      std::vector<Bytes> in{edge_values(t, 36), edge_values(t, 36)};
      auto wanted = evaluated(p, in),
           got = check_against_evaluator(legalize_ops(p, old), in, {}, old);
      bool equal = wanted[1].data == got[1].data;
      CHECK(equal);
      CHECK(emit_llvm(legalize_ops(p, old), old, 19).externals.empty());
    }
  }
}

TEST_CASE("conversions of what the program limits itself") {
  for (DType from : {kF32, kF64})
    for (DType to : {kI8, kU8, kI16, kU16}) {
      CAPTURE(from.str());
      CAPTURE(to.str());
      const double most = to.is_signed() ? 127 : 255, least = to.is_signed() ? -127 : 0;
      for (int lanes : {1, 4})
        for (double low : {least, 3.0, -0.0})
          for (bool low_first : {true, false}) {
            const auto limited = [&](const AnyExpr& b) {
              const AnyExpr floor = make_float(b.dtype(), low), top = make_float(b.dtype(), most);
              const AnyExpr inner = make_binary(low_first ? BinaryOp::max : BinaryOp::min, b,
                                                low_first ? floor : top);
              return make_cast(to.with_lanes(b.dtype().lanes),
                               make_binary(low_first ? BinaryOp::min : BinaryOp::max, inner,
                                           low_first ? top : floor));
            };
            check_pairs(from, to, lanes,
                        [&](const AnyExpr&, const AnyExpr& b) { return limited(b); });
          }
    }
}

TEST_CASE("a conversion limited by the program is limited once") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kU8);
  const AnyExpr at = make_ramp(AnyExpr(0), AnyExpr(1), 16), v = make_load(x, {at});
  const AnyExpr most = make_float(v.dtype(), 255), least = make_float(v.dtype(), 0);
  const AnyExpr inside = make_binary(BinaryOp::min, make_binary(BinaryOp::max, v, least), most);
  const Program p = b.done(make_store(y, {at}, make_cast(kU8.with_lanes(16), inside)));
  const std::string text = legal(p).str();
  CAPTURE(text);
  CHECK(text.find("fast_min(fast_max(") != std::string::npos);
  CHECK(text.find("is_nan") == std::string::npos);
  CHECK(text.find("select") == std::string::npos);
}

TEST_CASE("a NaN becomes zero before the conversion, where the limits leave zero as it is") {
  const auto lowered = [](double low) {
    Build b;
    auto x = b.buffer("x", kF32), y = b.output("y", kI8);
    const AnyExpr at = make_ramp(AnyExpr(0), AnyExpr(1), 16), v = make_load(x, {at});
    const AnyExpr most = make_float(v.dtype(), 127), least = make_float(v.dtype(), low);
    const AnyExpr inside = make_binary(BinaryOp::min, make_binary(BinaryOp::max, v, least), most);
    return legal(b.done(make_store(y, {at}, make_cast(kI8.with_lanes(16), inside)))).str();
  };
  CHECK(lowered(-127).find("broadcast(0.0, 16)") != std::string::npos);
  CHECK(lowered(-127).find("broadcast(0i8, 16)") == std::string::npos);
  CHECK(lowered(3).find("broadcast(0i8, 16)") != std::string::npos);
}
