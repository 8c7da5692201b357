// Dots: the evaluator, the instructions of this machine, and what takes their
// place on others give the same bits.
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/support/random.hpp>
#include <support/capture.hpp>

#include "../../../support/errors.hpp"
#include "../../codegen/against.hpp"
#include "../../codegen/assembly.hpp"

using namespace lathe;
using namespace test;

namespace {

/// Elements of any bits, or among the given ones.
Bytes noise(DType t, int count, std::uint64_t seed, const std::vector<std::uint64_t>& among = {}) {
  Bytes b;
  for (int k = 0; k < count; ++k) {
    std::uint64_t bits = detail::random_bits(seed, static_cast<std::uint64_t>(k)) >> 20;
    if (!among.empty()) bits = among[bits % among.size()];
    const auto* at = reinterpret_cast<const unsigned char*>(&bits);
    b.data.insert(b.data.end(), at, at + t.element_bytes());
  }
  return b;
}

/// Fewer with a sanitizer: the evaluator takes its time for the long programs without the
/// instructions.
const int steps = is_brief() ? 16 : 64;

/// r[i] = dot(s[i], a[i], b[i]) in vectors of some lanes.
Program dots(CallOp op, DType a, DType b, int lanes) {
  const DType sum = a.bits == 16 && a.is_float() ? kF32 : kI32;
  const int group = a.bits == 8 ? 4 : 2;
  Build build;
  auto s = build.buffer("s", sum), x = build.buffer("x", a), y = build.buffer("y", b),
       r = build.output("r", sum);
  auto i = make_var("i");
  auto at = [&](int n) {
    AnyExpr first = AnyExpr(i) * n;
    return n == 1 ? first : make_ramp(first, AnyExpr(1), n);
  };
  AnyExpr value = make_call(op, {make_load(s, {at(lanes)}), make_load(x, {at(lanes * group)}),
                                 make_load(y, {at(lanes * group)})});
  return build.done(make_for(i, 0, steps, make_store(r, {at(lanes)}, value)));
}

/// The targets that this machine can run: with the instructions, and without.
std::vector<Target> targets() {
  std::vector<Target> out;
  for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "host"})
    if (Target t(name); t.runs_on(host())) out.push_back(t);
  return out;
}

void check_dots(CallOp op, DType a, DType b, int lanes, const std::vector<Bytes>& in) {
  Program p = dots(op, a, b, lanes);
  std::vector<Bytes> memory = in;
  memory.push_back(Bytes{std::vector<unsigned char>(in[0].data.size())});
  auto wanted = evaluated(p, memory);
  for (const Target& target : targets()) {
    CAPTURE(target.str());
    Program machine = legal(legalize_ops(legalize_types(p, target), target), target);
    CHECK(verify_reason(machine, Stage::machine, target) == "");
    auto again = evaluated(machine, memory);
    unify_nans(p, again);
    bool same = again[3].data == wanted[3].data;
    CHECK(same);
    Kernel kernel(machine, Llvm::get(), target);
    std::vector<Bytes> got = memory;
    CHECK(kernel(slots_of(got, {})) == 0);
    unify_nans(p, got);
    bool equal = got[3].data == wanted[3].data;
    CHECK(equal);
  }
}

}  // namespace

TEST_CASE("dots of bytes of any signs, sums that wrap") {
  for (CallOp op : {CallOp::dot4, CallOp::mat_dot8})
    for (DType a : {kU8, kI8})
      for (DType b : {kU8, kI8})
        for (int lanes : {1, 3, 4, 12, 16, 40}) {
          if (op == CallOp::mat_dot8 && lanes % 4 != 0) continue;
          CAPTURE(op_text(op));
          CAPTURE(a.str());
          CAPTURE(b.str());
          CAPTURE(lanes);
          const int n = steps * lanes;
          check_dots(op, a, b, lanes,
                     {noise(kI32, n, 1, {0x7FFFFFFF, 0x80000000, 0, 12345}), noise(a, 4 * n, 2),
                      noise(b, 4 * n, 3)});
        }
}

TEST_CASE("mat_dot8: two rows by two columns") {
  Program p = parse(R"(program k(in s: i32[4], in x: i8[16], in y: u8[16], out r: i32[4]):
  r[ramp(0, 1, 4)] = mat_dot8(s[ramp(0, 1, 4)], x[ramp(0, 1, 16)], y[ramp(0, 1, 16)])
)");
  std::vector<std::int8_t> x(16);
  std::vector<std::uint8_t> y(16);
  x[7] = -3, x[8] = 2, y[7] = 200, y[15] = 10, y[8] = 7, y[0] = 1;
  const std::vector<Bytes> in{Bytes::of(std::vector<std::int32_t>{1000, 1000, 1000, 1000}),
                              Bytes::of(x), Bytes::of(y), Bytes::of(std::vector<std::int32_t>(4))};
  CHECK(evaluated(p, in)[3].as<std::int32_t>() == std::vector<std::int32_t>{400, 970, 1002, 1014});
}

TEST_CASE("dot_words: products and sums that wrap") {
  for (int lanes : {1, 3, 16, 40}) {
    CAPTURE(lanes);
    const int n = steps * lanes;
    check_dots(CallOp::dot_words, kI16, kI16, lanes,
               {noise(kI32, n, 1, {0x7FFFFFFF, 0x80000000, 0, 12345}),
                noise(kI16, 2 * n, 2, {0x8000, 0x8000, 0x7FFF, 3}),
                noise(kI16, 2 * n, 3, {0x8000, 0x8000, 0x8001, 5})});
  }
}

TEST_CASE("sad8: differences of bytes, sums that wrap, and lanes that stay as they are") {
  for (int lanes : {2, 4, 12, 16, 40}) {
    CAPTURE(lanes);
    const int n = steps * lanes;
    check_dots(CallOp::sad8, kU8, kU8, lanes,
               {noise(kI32, n, 1, {0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 12345}),
                noise(kU8, 4 * n, 2, {0, 255, 128, 7}), noise(kU8, 4 * n, 3)});
  }
}

TEST_CASE("dots of bf16 of any bits, and around the least normal number") {
  for (CallOp op : {CallOp::dot2, CallOp::odd_dot2, CallOp::odd_mat_dot4})
    for (int lanes : {1, 3, 16, 40}) {
      if (op == CallOp::odd_mat_dot4 && lanes % 4 != 0) continue;
      CAPTURE(op_text(op));
      CAPTURE(lanes);
      const int n = steps * lanes;
      check_dots(op, kBF16, kBF16, lanes,
                 {noise(kF32, n, 1), noise(kBF16, 2 * n, 2), noise(kBF16, 2 * n, 3)});
      // ±0, subnormal, 2^-126, powers whose products are near it, 1, the largest, infinite, NaN.
      const std::vector<std::uint64_t> factors = {0,      0x8000, 0x0040, 0x8013, 0x0080, 0x8080,
                                                  0x0D80, 0x8DA0, 0x0DC8, 0x2580, 0x25C0, 0xA590,
                                                  0x2600, 0x3F80, 0x7F7F, 0x7F80, 0xFFC0};
      const std::vector<std::uint64_t> sums = {0,          0x80000000, 0x00400000, 0x00800000,
                                               0x80800000, 0x00800001, 0x80FFFFFF, 0x3F800000,
                                               0x7F7FFFFF, 0x7F800000, 0x7FC00000};
      check_dots(op, kBF16, kBF16, lanes,
                 {noise(kF32, n, 4, sums), noise(kBF16, 2 * n, 5, factors),
                  noise(kBF16, 2 * n, 6, factors)});
    }
}

TEST_CASE("odd_dot2: both sums keep in their last bit that something was lost") {
  Program p = parse(R"(program k(in s: f32[1], in x: bf16[2], in y: bf16[2], out r: f32[1]):
  r[0] = odd_dot2(s[0], x[ramp(0, 1, 2)], y[ramp(0, 1, 2)])
)");
  struct {
    float sum, x0, y0, x1, y1, wanted;
  } const cases[] = {
      {1.0f, 0x1p-40f, 1, 0, 0, 0x1.000002p0f},              // above 1, whose last bit is not set
      {1.0f, -0x1p-40f, 1, 0, 0, 0x1.fffffep-1f},            // below it
      {0x1.000002p0f, 0x1p-40f, 1, 0, 0, 0x1.000002p0f},     // a last bit that is set stays
      {0x1.000002p0f, -0x1p-40f, 1, 0, 0, 0x1.000002p0f},    // so it does from below
      {0, 1, 1, 0x1p-60f, 1, 0x1.000002p0f},                 // of the products
      {-1.0f, 1, 1, 0x1p-60f, 1, 0x1p-23f},                  // which do not wait for the sum
      {0, 0x1p100f, 0x1p100f, -0x1p100f, 0x1p100f, NAN},     // infinite, less infinite
      {0x1.fffffep127f, 0x1p50f, 1, 0, 0, 0x1.fffffep127f},  // not infinite below 2^128
      {0x1.fffffep127f, 0x1p104f, 1, 0, 0, INFINITY},
  };
  for (const auto& of : cases) {
    CAPTURE(of.wanted);
    std::vector<Bytes> in{Bytes::of(std::vector<float>{of.sum}),
                          Bytes::of(std::vector<bf16>{bf16(of.x0), bf16(of.x1)}),
                          Bytes::of(std::vector<bf16>{bf16(of.y0), bf16(of.y1)}),
                          Bytes::of(std::vector<float>{1.0f})};
    const float got = evaluated(p, in)[3].as<float>()[0];
    CHECK((got == of.wanted || (got != got && of.wanted != of.wanted)));
  }
}

TEST_CASE("dot2: results below the least normal number are found as with any exponent") {
  // 2^-126 - x·2^-152: from 2 on it rounds to what has no normal form; 2 itself to even.
  Program p = parse(R"(program k(in s: f32[1], in x: bf16[2], in y: bf16[2], out r: f32[1]):
  r[0] = dot2(s[0], x[ramp(0, 1, 2)], y[ramp(0, 1, 2)])
)");
  const float least = 0x1p-126f;
  for (auto [x, kept] :
       {std::pair(1.0f, true), {1.9375f, true}, {2.0f, true}, {2.5f, false}, {4.0f, false}}) {
    LATHE_CAPTURE(x);
    std::vector<Bytes> in{Bytes::of(std::vector<float>{least}),
                          Bytes::of(std::vector<bf16>{bf16(-x * 0x1p-100f), bf16(0.0f)}),
                          Bytes::of(std::vector<bf16>{bf16(0x1p-52f), bf16(1.0f)}),
                          Bytes::of(std::vector<float>{1.0f})};
    CHECK(evaluated(p, in)[3].as<float>()[0] == (kept ? least : 0.0f));
  }
}

TEST_CASE("dots: types are checked where programs are read") {
  auto read = [](const char* call) {
    return error_of([&] {
      parse(std::string("program k(in a: u8[64], in b: i8[64], in h: bf16[64], in f: f32[16], "
                        "in s: i32[16], out r: i32[16], out q: f32[16]):\n  ") +
            call + "\n");
    });
  };
  CHECK(read("r[0] = dot4(s[0], a[ramp(0, 1, 4)], b[ramp(0, 1, 4)])") == "none");
  CHECK(read("r[0] = dot4(s[0], a[ramp(0, 1, 8)], b[ramp(0, 1, 8)])") ==
        "L0503 parse: line 2, column 10: the arguments' lanes do not fit each other");
  CHECK(read("r[0] = dot4(a[0], a[ramp(0, 1, 4)], b[ramp(0, 1, 4)])") ==
        "L0503 parse: line 2, column 10: dot4 adds to i32");
  CHECK(read("r[0] = dot4(s[0], a[ramp(0, 1, 4)], h[ramp(0, 1, 4)])") ==
        "L0503 parse: line 2, column 10: dot4 multiplies integers of 8 bits");
  CHECK(read("r[0] = mat_dot8(s[0], a[ramp(0, 1, 4)], b[ramp(0, 1, 4)])") ==
        "L0503 parse: line 2, column 10: mat_dot8 adds to 2 x 2 sums of i32");
  CHECK(
      read("r[ramp(0, 1, 4)] = mat_dot8(s[ramp(0, 1, 4)], a[ramp(0, 1, 16)], b[ramp(0, 1, 8)])") ==
      "L0503 parse: line 2, column 22: mat_dot8 multiplies integers of 8 bits, 2 x 8 for each 2 x "
      "2 sums");
  CHECK(read("q[0] = dot2(f[0], h[ramp(0, 1, 2)], h[ramp(2, 1, 2)])") == "none");
  CHECK(read("q[0] = odd_dot2(s[0], h[ramp(0, 1, 2)], h[ramp(2, 1, 2)])") ==
        "L0503 parse: line 2, column 10: odd_dot2 adds to f32");
  CHECK(read("q[0] = odd_mat_dot4(f[0], h[ramp(0, 1, 2)], h[ramp(2, 1, 2)])") ==
        "L0503 parse: line 2, column 10: odd_mat_dot4 adds to 2 x 2 sums of f32");
  CHECK(read("q[0] = odd_dot2(f[0], f[ramp(0, 1, 2)], f[ramp(2, 1, 2)])") ==
        "L0503 parse: line 2, column 10: the factors are no bf16");
  CHECK(read("q[0] = odd_dot2(f[0], h[ramp(0, 1, 4)], h[ramp(2, 1, 2)])") ==
        "L0503 parse: line 2, column 10: the arguments' lanes do not fit each other");
  CHECK(read("q[0] = dot2(s[0], h[ramp(0, 1, 2)], h[ramp(2, 1, 2)])") ==
        "L0503 parse: line 2, column 10: dot2 adds to f32");
  CHECK(read("q[0] = dot2(f[0], f[ramp(0, 1, 2)], h[ramp(2, 1, 2)])") ==
        "L0503 parse: line 2, column 10: dot2 multiplies bf16");
}

TEST_CASE("dots: each LLVM makes the instruction of them where the target has it") {
  struct Form {
    CallOp op;
    DType a, b;
    int lanes;
    Target has, lacks;
    const char* instruction;
  };
  const Target zen("znver4"), plain("x86-64-v4"), avx2("x86-64-v3"), neon("neoverse-n1"),
      first("cortex-a72");
  const Target vnni = avx2.with("avxvnni"), alike = vnni.with("avxvnniint8"),
               matrices = neon.with("i8mm"), halves = neon.with("bf16");
  const std::vector<Form> forms = {
      {CallOp::dot4, kI8, kU8, 16, zen, plain, "vpdpbusd\t"},
      {CallOp::dot4, kU8, kI8, 8, zen, plain, "vpdpbusd\t"},
      {CallOp::dot4, kU8, kI8, 8, vnni, avx2, "{vex}\tvpdpbusd\t"},
      {CallOp::dot4, kI8, kI8, 8, alike, vnni, "vpdpbssd\t"},
      {CallOp::dot4, kU8, kU8, 8, alike, vnni, "vpdpbuud\t"},
      {CallOp::dot2, kBF16, kBF16, 16, zen, plain, "vdpbf16ps\t"},
      {CallOp::dot2, kBF16, kBF16, 8, zen, plain, "vdpbf16ps\t"},
      {CallOp::dot4, kI8, kI8, 4, neon, first, "sdot\tv"},
      {CallOp::dot4, kU8, kU8, 4, neon, first, "udot\tv"},
      {CallOp::dot4, kI8, kU8, 4, matrices, neon, "usdot\tv"},
      {CallOp::mat_dot8, kI8, kI8, 4, matrices, neon, "smmla\tv"},
      {CallOp::mat_dot8, kU8, kU8, 4, matrices, neon, "ummla\tv"},
      {CallOp::mat_dot8, kI8, kU8, 4, matrices, neon, "usmmla\tv"},
      {CallOp::odd_dot2, kBF16, kBF16, 4, halves, neon, "bfdot\tv"},
      {CallOp::odd_mat_dot4, kBF16, kBF16, 4, halves, neon, "bfmmla\tv"},
  };
  for (const auto* llvm : llvms()) {
    CAPTURE(llvm->major());
    for (const Form& form : forms) {
      CAPTURE(form.instruction);
      auto assembly = [&](const Target& target) {
        Program machine = legal(
            legalize_ops(legalize_types(dots(form.op, form.a, form.b, form.lanes), target), target),
            target);
        CHECK(verify_reason(machine, Stage::machine, target) == "");
        std::string text = emit_llvm(machine, target, llvm->major()).text;
        CHECK(compile_to_object(*llvm, text, target).size() > 0);
        return compile_to_assembly(*llvm, text, target);
      };
      if (!(form.has.for_llvm(llvm->major()) == form.has)) continue;
      const std::string code = assembly(form.has);
      CHECK(count_of(code, form.instruction) == 1);
      CHECK((count_of(code, "%zmm") > 0) == (form.lanes == 16));
      CHECK(count_of(assembly(form.lacks), form.instruction) == 0);
    }
  }
}

TEST_CASE("dots: lanes that a select leaves out are not loaded") {
  Build build;
  auto x = build.buffer("x", kU8, Access::in, 64), y = build.buffer("y", kI8, Access::in, 64),
       r = build.output("r", kI32);
  AnyExpr lanes = make_ramp(AnyExpr(0), AnyExpr(1), 16),
          bytes = make_ramp(AnyExpr(0), AnyExpr(1), 64);
  AnyExpr zero = make_int(kI32.with_lanes(16), 0);
  AnyExpr chosen = make_binary(BinaryOp::lt, lanes, make_broadcast(AnyExpr(5), 16));
  AnyExpr value = make_call(CallOp::dot4, {zero, make_load(x, {bytes}), make_load(y, {bytes})});
  Program p = build.done(make_store(r, {lanes}, make_select(chosen, value, zero)));
  std::vector<Bytes> in{noise(kU8, 64, 1), noise(kI8, 64, 2), noise(kI32, 16, 3)};
  auto wanted = evaluated(p, in);
  for (const Target& target : targets()) {
    Program machine = legal(legalize_ops(p, target), target);
    CHECK(emit_llvm(machine, target, Llvm::get().major()).text.find("llvm.masked.load") !=
          std::string::npos);
    Kernel kernel(machine, Llvm::get(), target);
    std::vector<Bytes> got = in;
    CHECK(kernel(slots_of(got, {})) == 0);
    bool equal = got[2].data == wanted[2].data;
    CHECK(equal);
  }
}
