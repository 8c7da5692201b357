// Partial sums whose terms are added as dots.
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <support/text.hpp>

#include "../../codegen/against.hpp"

using namespace lathe;
using namespace test;

namespace {

std::string term(const std::string& form, int first) {
  std::string out = form;
  const std::string at = "k * 32 + " + std::to_string(first);
  for (std::size_t p = 0; (p = out.find("@", p)) != std::string::npos;)
    out.replace(p, 1, "ramp(" + at + ", 1, 8)");
  return out;
}

/// A sum over 96 terms in four registers of eight lanes. `loop`, `end`: more of its body, and of
/// what follows; `total`: what is stored instead of the sum of all lanes.
Program sums(const std::string& form, const std::string& loop = "", const std::string& end = "",
             const std::string& all = "r0[] + r1[] + (r2[] + r3[])") {
  std::string text =
      "program k(in A: u8[96], in B: u8[96], in S: i8[96], in W: i16[96], out Y: i32[1], "
      "out Z: i32[8]) stage flat:\n";
  for (int k = 0; k < 4; ++k)
    text += "  alloc r" + std::to_string(k) + ": i32x8[] scope register\n";
  for (int k = 0; k < 4; ++k) text += "  r" + std::to_string(k) + "[] = broadcast(0i32, 8)\n";
  text += "  for k in 0..3:\n";
  for (int k = 0; k < 4; ++k) {
    const std::string r = "r" + std::to_string(k) + "[]";
    text += "    " + r + " = " + r + " + " + term(form, 8 * k) + "\n";
  }
  text += loop;
  text += "  alloc s: i32x8[] scope register\n  s[] = " + all + "\n" + end;
  text +=
      "  alloc h: i32x4[] scope register\n"
      "  h[] = shuffle(s[]; 0, 1, 2, 3) + shuffle(s[]; 4, 5, 6, 7)\n"
      "  Y[0] = shuffle(h[]; 0) + shuffle(h[]; 1)\n"
      "  Y[0] = Y[0] + shuffle(h[]; 2)\n"
      "  Y[0] = Y[0] + shuffle(h[]; 3)\n";
  return parse(text);
}

std::vector<Bytes> data() {
  std::vector<unsigned char> a, b;
  std::vector<std::int8_t> s;
  std::vector<std::int16_t> w;
  for (int k = 0; k < 96; ++k) {
    a.push_back(static_cast<unsigned char>(k * 37 + 5)),
        b.push_back(static_cast<unsigned char>(k * 91));
    s.push_back(static_cast<std::int8_t>(k * 53)), w.push_back(static_cast<std::int16_t>(k * 7919));
  }
  return {Bytes::of(a),
          Bytes::of(b),
          Bytes::of(s),
          Bytes::of(w),
          Bytes::of(std::vector<std::int32_t>(1)),
          Bytes::of(std::vector<std::int32_t>(8))};
}

/// How many of each dot there are with a target that has both, the results being what they were.
std::string dots(const Program& p, const char* target = "x86-64-v4") {
  TargetCaps caps{Target(target)};
  if (std::string(target) == "x86-64-v4") caps.mixed_dots = true;
  const Program out = dot_sums(p, caps);
  CHECK(verify_reason(out, Stage::flat) == "");
  const auto wanted = evaluated(p, data()), got = evaluated(out, data());
  CHECK(wanted[4].data == got[4].data);
  CHECK(wanted[5].data == got[5].data);
  return std::to_string(count_of(out.str(), "dot4(")) + " " +
         std::to_string(count_of(out.str(), "dot_words(")) + " " +
         std::to_string(count_of(out.str(), "sad8("));
}

}  // namespace

TEST_CASE("terms of bytes are dots of four, and those of words of two") {
  CHECK(dots(sums("i32x8(A[@])")) == "1 0 0");
  CHECK(dots(sums("i32x8(A[@]) * i32x8(S[@])")) == "1 0 0");
  CHECK(dots(sums("i32x8(S[@]) * i32x8(A[@])")) == "1 0 0");
  CHECK(dots(sums("abs(i32x8(A[@]) - i32x8(B[@]))")) == "0 0 1");
  CHECK(dots(sums("i32x8(A[@]) * i32x8(B[@])")) == "0 2 0");
  CHECK(dots(sums("i32x8(S[@])")) == "0 2 0");
  CHECK(dots(sums("i32x8(W[@])")) == "0 2 0");
  CHECK(dots(sums("i32x8(W[@]) * i32x8(S[@])")) == "0 2 0");
  CHECK(dots(sums("(i32x8(W[@]) >> broadcast(3i32, 8)) * i32x8(W[@])")) == "0 2 0");
  CHECK(dots(sums("(i32x8(A[@]) - i32x8(B[@])) * (i32x8(A[@]) - i32x8(B[@]))")) == "0 2 0");
  CHECK(dots(sums("max(i32x8(A[@]), i32x8(S[@]) + broadcast(1000i32, 8))")) == "0 2 0");
  // Without the instruction for bytes these are differences from zero, and products of words.
  CHECK(dots(sums("i32x8(A[@])"), "x86-64-v3") == "0 0 1");
  CHECK(dots(sums("abs(i32x8(A[@]) - i32x8(B[@]))"), "x86-64-v3") == "0 0 1");
  CHECK(dots(sums("i32x8(A[@]) * i32x8(S[@])"), "x86-64-v3") == "0 2 0");
}

TEST_CASE("values that 16 bits do not hold stay as they are") {
  CHECK(dots(sums("i32x8(W[@]) + broadcast(1i32, 8)")) == "0 0 0");
  CHECK(dots(sums("(i32x8(W[@]) - i32x8(W[@])) * i32x8(A[@])")) == "0 0 0");
  CHECK(dots(sums("abs(i32x8(W[@]))")) == "0 0 0");
  CHECK(dots(sums("i32x8(W[@]) * broadcast(40000i32, 8)")) == "0 0 0");
  CHECK(dots(sums("i32x8(A[@]) * i32x8(A[@]) * i32x8(S[@])")) == "0 0 0");
  CHECK(dots(sums("i32x8(W[@]) << broadcast(1i32, 8)")) == "0 0 0");
}

TEST_CASE("terms of a tail are added as before") {
  const std::string mask = "ramp(0i32, 1i32, 8) < broadcast(5i32, 8)";
  CHECK(dots(sums("i32x8(A[@])", "  r0[] = select(" + mask +
                                     ", r0[] + i32x8(A[ramp(8, 1, 8)]), r0[])\n")) == "1 0 0");
  CHECK(dots(sums("i32x8(A[@])",
                  "  let part = shuffle(r1[]; 0, 1, 2, 3) + i32x4(A[ramp(8, 1, 4)]):\n"
                  "    r1[] = select(ramp(0i32, 1i32, 8) < broadcast(4i32, 8), "
                  "shuffle(part; 0, 1, 2, 3, 0, 0, 0, 0), r1[])\n")) == "1 0 0");
  // A lane that is not the one that it adds to.
  CHECK(dots(sums("i32x8(A[@])",
                  "  let part = shuffle(r1[]; 0, 1, 2, 3) + i32x4(A[ramp(8, 1, 4)]):\n"
                  "    r1[] = select(ramp(0i32, 1i32, 8) < broadcast(5i32, 8), "
                  "shuffle(part; 0, 1, 2, 3, 0, 0, 0, 0), r1[])\n")) == "0 0 0");
}

TEST_CASE("registers that are more than parts of one total keep their lanes") {
  const std::string bytes = "i32x8(A[@])";
  // A lane is stored, taken twice or not at all, or a factor; a register is told which lane it is.
  // Two others may still be a total of their own.
  CHECK(dots(sums(bytes, "", "  Z[ramp(0, 1, 8)] = r1[]\n")) == "0 1 0");
  CHECK(dots(sums(bytes, "", "  Z[0] = shuffle(s[]; 0)\n")) == "0 0 0");
  CHECK(dots(sums(bytes, "", "", "r0[] + r1[] + (r2[] + r2[])")) == "0 1 0");
  CHECK(dots(sums(bytes, "", "", "r0[] + r1[] + (r2[] - r3[])")) == "0 1 0");
  CHECK(dots(sums(bytes, "", "", "r0[] + r1[] + shuffle(r2[] + r3[]; 1, 1, 2, 3, 4, 5, 6, 7)")) ==
        "0 1 0");
  CHECK(dots(sums(bytes, "  r2[] = max(r2[], broadcast(50i32, 8))\n")) == "0 1 0");
  CHECK(dots(sums(bytes, "  r0[] = select(r1[] > broadcast(50i32, 8), r0[] + r3[], r0[])\n")) ==
        "0 0 0");
  // Lanes in another order are the same total.
  CHECK(dots(sums(bytes, "", "", "r0[] + r1[] + shuffle(r2[] + r3[]; 1, 0, 2, 3, 4, 5, 7, 6)")) ==
        "1 0 0");
}
