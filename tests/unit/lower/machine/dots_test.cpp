// dot4 and dot2: the evaluator, the instructions of this machine, and what takes their place on
// others give the same bits.
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
  const DType sum = op == CallOp::dot2 ? kF32 : kI32;
  const int group = op == CallOp::dot4 ? 4 : 2;
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

TEST_CASE("dot4: bytes of any signs, sums that wrap") {
  for (DType a : {kU8, kI8})
    for (DType b : {kU8, kI8})
      for (int lanes : {1, 3, 16, 40}) {
        CAPTURE(a.str());
        CAPTURE(b.str());
        CAPTURE(lanes);
        const int n = steps * lanes;
        check_dots(CallOp::dot4, a, b, lanes,
                   {noise(kI32, n, 1, {0x7FFFFFFF, 0x80000000, 0, 12345}), noise(a, 4 * n, 2),
                    noise(b, 4 * n, 3)});
      }
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

TEST_CASE("dot2: bf16 of any bits, and around the least normal number") {
  for (int lanes : {1, 3, 16, 40}) {
    CAPTURE(lanes);
    const int n = steps * lanes;
    check_dots(CallOp::dot2, kBF16, kBF16, lanes,
               {noise(kF32, n, 1), noise(kBF16, 2 * n, 2), noise(kBF16, 2 * n, 3)});
    // ±0, subnormal, 2^-126, powers whose products are near it, 1, infinite, NaN.
    const std::vector<std::uint64_t> factors = {0,      0x8000, 0x0040, 0x8013, 0x0080, 0x8080,
                                                0x0D80, 0x8DA0, 0x0DC8, 0x2580, 0x25C0, 0xA590,
                                                0x2600, 0x3F80, 0x7F80, 0xFFC0};
    const std::vector<std::uint64_t> sums = {0,          0x80000000, 0x00400000, 0x00800000,
                                             0x80800000, 0x00800001, 0x80FFFFFF, 0x3F800000,
                                             0x7F800000, 0x7FC00000};
    check_dots(CallOp::dot2, kBF16, kBF16, lanes,
               {noise(kF32, n, 4, sums), noise(kBF16, 2 * n, 5, factors),
                noise(kBF16, 2 * n, 6, factors)});
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
  CHECK(read("q[0] = dot2(f[0], h[ramp(0, 1, 2)], h[ramp(2, 1, 2)])") == "none");
  CHECK(read("q[0] = dot2(s[0], h[ramp(0, 1, 2)], h[ramp(2, 1, 2)])") ==
        "L0503 parse: line 2, column 10: dot2 adds to f32");
  CHECK(read("q[0] = dot2(f[0], f[ramp(0, 1, 2)], h[ramp(2, 1, 2)])") ==
        "L0503 parse: line 2, column 10: dot2 multiplies bf16");
}

TEST_CASE("dots: each LLVM makes the instruction of them where the target has it") {
  const Target has("znver4"), lacks("x86-64-v4");
  for (const auto* llvm : llvms()) {
    CAPTURE(llvm->major());
    for (auto [op, a, b, name] : {std::tuple(CallOp::dot4, kI8, kU8, "vpdpbusd"),
                                  {CallOp::dot2, kBF16, kBF16, "vdpbf16ps"}}) {
      auto assembly = [&, o = op, x = a, y = b](const Target& target) {
        Program machine =
            legal(legalize_ops(legalize_types(dots(o, x, y, 16), target), target), target);
        std::string text = emit_llvm(machine, target, llvm->major()).text;
        CHECK(compile_to_object(*llvm, text, target).size() > 0);
        return compile_to_assembly(*llvm, text, target);
      };
      CHECK(count_of(assembly(has), name) == 1);
      CHECK(count_of(assembly(lacks), name) == 0);
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
