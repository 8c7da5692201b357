// Places that lanes load from, and numbers that they become, in as few bits as those have.
#include <cmath>
#include <lathe/ir/parse.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/pipeline.hpp>
#include <random>

#include "../../codegen/against.hpp"
#include "../../codegen/assembly.hpp"

using namespace lathe;
using namespace test;

namespace {

constexpr int kCount = 64;

Program in_lanes(const std::string& value, const std::string& type = "f32",
                 const std::string& from = "f32") {
  return parse("program k(in X: f32[100], in T: u8[300], in F: " + from +
               "[64], in I: i32[64], out Y: " + type +
               "[64]):\n  vectorized for i in 0..64:\n    Y[i] = " + value + "\n");
}

std::string lowered_text(const std::string& value, const Target& target = Target("x86-64-v3")) {
  return lower(in_lanes(value), target).str();
}

/// Floats at which conversions differ: no numbers, and what is near the ends of integers.
std::vector<double> edges() {
  std::vector<double> all{0, -0.0, 0.5, -0.5, 0.99, -0.99, 1, -1, 1e-40, 98.5, 99, 99.5, 100, 101};
  for (const int power : {7, 8, 16, 24, 31, 32, 50, 51, 52, 62, 63, 64, 100})
    for (const double by : {1.0, 1 - 0x1p-24, 1 + 0x1p-23, 1 - 0x1p-53, 1 + 0x1p-52})
      all.push_back(std::ldexp(by, power)), all.push_back(-std::ldexp(by, power));
  for (int k = 1; k < 20; ++k)
    all.push_back(0x1p31 - k), all.push_back(-0x1p31 + k), all.push_back(-0x1p31 - k);
  all.push_back(std::nan("")), all.push_back(INFINITY), all.push_back(-INFINITY);
  return all;
}

template <class F>
Bytes floats(std::mt19937& random) {
  const std::vector<double> some = edges();
  std::vector<F> all(kCount);
  for (F& f : all)
    f = static_cast<F>(random() % 4 ? some[random() % some.size()]
                                    : static_cast<double>(random() % 4000) / 16 - 100);
  return Bytes::of(all);
}

std::vector<Bytes> inputs(unsigned seed, bool doubles, std::size_t result_bytes) {
  std::mt19937 random(seed);
  std::vector<float> x(100);
  std::vector<std::uint8_t> t(300);
  std::vector<std::int32_t> i(kCount);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k) + 0.25f;
  for (std::size_t k = 0; k < t.size(); ++k) t[k] = static_cast<std::uint8_t>(7 * k);
  for (std::int32_t& k : i) k = static_cast<std::int32_t>(random());
  return {Bytes::of(x), Bytes::of(t), doubles ? floats<double>(random) : floats<float>(random),
          Bytes::of(i), Bytes{std::vector<unsigned char>(kCount * result_bytes)}};
}

}  // namespace

TEST_CASE("limits of places are those of the float that they come from") {
  const std::string text = lowered_text("X[max(min(i64(F[i]), 99), 0)]");
  CAPTURE(text);
  CHECK(text.find("i64x8((let x = F[ramp(") != std::string::npos);
  CHECK(text.find("in i32x8(fast_min(fast_max(x, broadcast(0.0, 8)), broadcast(99.0, 8))") !=
        std::string::npos);
  // What is the same in all lanes stays beside them.
  CHECK(lowered_text("X[max(min(i64(F[i]), 9), 0) + max(min(i64(F[3]), 9), 0) * 10]")
            .find(")) + broadcast(max(min(") != std::string::npos);
  // Sums wrap around where a float is too large for them.
  CHECK(lowered_text("X[max(min(i64(F[i]) + 1, 99), 0)]").find(">= broadcast(9.223372e+18, 8)") !=
        std::string::npos);
}

TEST_CASE("places of more than 32 bits keep them") {
  const Target target("x86-64-v3");
  const auto narrow = [&](const std::string& index) {
    const Program p = parse(
        "program k(in X: f32[9000000000], in F: f32[64], in I: i32[64], out Y: "
        "f32[64]):\n  vectorized for i in 0..64:\n    Y[i] = X[" +
        index + "]\n");
    return lower(p, target).str().find("i32x8(fast_m") != std::string::npos;
  };
  CHECK(narrow("max(min(i64(F[i]), 16777000), 0) * 100"));
  CHECK_FALSE(narrow("max(min(i64(F[i]), 16777000), 0) * 500"));
  // An f32 has not all integers up to there.
  CHECK_FALSE(narrow("max(min(i64(F[i]), 20000000), 0)"));
  // A NaN becomes 0, which is none of these.
  CHECK_FALSE(narrow("max(min(i64(F[i]), 900), 10)"));
}

TEST_CASE("lanes that lie anywhere are loaded by places that are shared") {
  const Target v3("x86-64-v3"), v4("x86-64-v4");
  const std::string index = "[max(min(i64(F[i]), 9), 0)", program = "X" + index + "] + X" + index +
                                                                    " + 20] + X" + index +
                                                                    " + max(min(i64(F[5]), 9), 0)]";
  const auto assembly = [&](const Target& target) {
    const Program p = lower(in_lanes(program), target);
    return compile_to_assembly(Llvm::get(), emit_llvm(p, target, Llvm::get().major()).text, target);
  };
  const std::string text = assembly(v3);
  CAPTURE(text);
  CHECK(count_of(text, "vgather") == 0);
  // Of four words that an index of eight lanes has, two are taken out so: for three loads each.
  CHECK(count_of(text, "vpextrq") == 16);
  CHECK(count_of(text, "vinsertps") == 3 * 48);
  CHECK(count_of(assembly(v4), "vgather") > 0);
}

TEST_CASE("places become floats as integers of 32 bits, or as mantissas") {
  const auto text = [](const std::string& value, const char* target) {
    const Program p = parse(
        "program k(in S: i64[64], out Y: f32[64]):\n  for o in 0..8:\n"
        "    vectorized for i in 0..8:\n      Y[o * 8 + i] = " +
        value + "\n");
    return lower(p, Target(target)).str();
  };
  for (const char* target : {"x86-64-v3", "x86-64-v4"})
    CHECK(text("f32(o * 8 + i)", target).find("(ramp(i32(o * 8), 1i32, ") != std::string::npos);
  const std::string wide = "f32(max(min(S[o * 8 + i], 1000000000000), -5))";
  CHECK(text(wide, "x86-64-v3").find("reinterpret<f64x") != std::string::npos);
  CHECK(text(wide, "x86-64-v4").find("reinterpret<") == std::string::npos);
  CHECK(text("f32(S[o * 8 + i])", "x86-64-v3").find("reinterpret<") == std::string::npos);
}

TEST_CASE("floats become the same places in fewer bits") {
  const unsigned seed = 20261130;
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int k = 0; k < 120; ++k) {
    const bool doubles = below(2) == 0;
    const int low = below(3) ? 0 : below(40) - 20, high = low + below(below(2) ? 100 : 12),
              plus = below(3) ? below(5) - 2 : below(2000) - 1000;
    const std::string conversion = std::string(below(3) ? "i64(" : "i32(") + "F[i])",
                      suffix = conversion[1] == '3' ? "i32" : "";
    const std::string sum = conversion + " + " + std::to_string(plus) + suffix,
                      least = std::to_string(low) + suffix, most = std::to_string(high) + suffix;
    const std::string limited = below(2) ? "max(min(" + sum + ", " + most + "), " + least + ")"
                                         : "min(max(" + sum + ", " + least + "), " + most + ")";
    const std::string types[] = {"f32", "u8", "i16", "i64"}, type = types[below(4)];
    const std::string place = "max(min(i64(" + limited + "), 99), 0)";
    const std::string value = type == "f32"  ? "X[" + place + "] + f32(" + limited + ")"
                              : type == "u8" ? "T[" + place + " + 3] + u8(" + limited + ")"
                                             : type + "(" + limited + ")";
    const Program p = in_lanes(value, type, doubles ? "f64" : "f32"), lowered = lower(p, host());
    CAPTURE(p.str());
    const auto in = inputs(static_cast<unsigned>(k), doubles, type == "i64" ? 8 : 4);
    CHECK(evaluated(p, in).back().data == evaluated(lowered, in).back().data);
    if (k % 4 == 0) check_against_evaluator(lowered, in);
    for (const char* target : {"x86-64", "x86-64-v3", "x86-64-v4"})
      CHECK(evaluated(p, in).back().data == evaluated(lower(p, Target(target)), in).back().data);
  }
}

TEST_CASE("floats become the same places where only a call tells the limits") {
  const Program p = parse(
      "program k<n>(in X: f64[n], in F: f32[64], out Y: f64[64], out P: f32[64]):\n"
      "  vectorized for i in 0..64:\n    Y[i] = X[max(min(i64(F[i]) + 1, n - 1), 0)]\n"
      "  for o in 0..n / 8:\n    vectorized for i in 0..8:\n      P[o * 8 + i] = f32(o * 8 + i - "
      "n)\n");
  for (const char* name : {"x86-64-v3", "host"}) {
    const Target target = std::string(name) == "host" ? host() : Target(name);
    const Program lowered = lower(p, target);
    if (!target.has("avx512dq"))
      CHECK(lowered.str().find("reinterpret<i64x4>(trunc(") != std::string::npos);
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::mt19937 random(seed);
      std::vector<double> x(64);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k) - 0.5;
      const std::vector<Bytes> in{Bytes::of(x), floats<float>(random),
                                  Bytes{std::vector<unsigned char>(512)},
                                  Bytes{std::vector<unsigned char>(256)}};
      const std::uint64_t n = seed % 3 == 0 ? 64 : 1 + random() % 64;
      CHECK(evaluated(p, in, {n})[2].data == evaluated(lowered, in, {n})[2].data);
      CHECK(evaluated(p, in, {n})[3].data == evaluated(lowered, in, {n})[3].data);
      if (name == std::string("host")) check_against_evaluator(lowered, in, {n});
    }
  }
}

TEST_CASE("elements of each type are loaded from anywhere, by indices of each type") {
  const unsigned seed = 20261201;
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto one_of = [&](const std::vector<std::string>& of) { return of[random() % of.size()]; };
  for (int k = 0; k < 48; ++k) {
    const std::string type = one_of({"u8", "i16", "f16", "f32", "f64", "i64", "bool"}),
                      by = one_of({"u8", "i32", "i64", "f32", "f64"}),
                      lanes = one_of({"2", "3", "4", "5", "8", "12", "16", "32"}),
                      place = "i64(F[o * " + lanes + " + i])";
    // Words of two places of which LLVM knows bits, and places that a scalar leads away from.
    const std::string index =
        one_of({"max(90 - " + place + ", 0)", "max(min(30 - " + place + ", 99), 0)",
                "max(min(" + place + " + 2, 90), 0) + i64(J[o]) - 5",
                "90 - max(min(" + place + ", 80), 0) + o"});
    // The places that numbers below 0 lead to are limited on one side alone.
    const bool bytes = index.find("(90 - i64") != std::string::npos;
    const lt::Program p =
        lt::parse("program k(in X: " + type + "[128], in F: " + (bytes ? "u8" : by) + "[" +
                  std::to_string(4 * std::stoi(lanes)) + "], in J: i32[4], out Y: " + type + "[" +
                  std::to_string(4 * std::stoi(lanes)) +
                  "]):\n  for o in 0..4:\n    vectorized for i in 0.." + lanes + ":\n      Y[o * " +
                  lanes + " + i] = X[" + index + "]\n");
    CAPTURE(p.str());
    Bytes x{std::vector<unsigned char>(1024)}, f{std::vector<unsigned char>(1024)},
        y{std::vector<unsigned char>(1024)};
    for (unsigned char& b : x.data) b = static_cast<unsigned char>(random() % 2);
    for (unsigned char& b : f.data) b = static_cast<unsigned char>(random() % 256);
    const std::vector<Bytes> in{x, f, Bytes::of(std::vector<std::int32_t>{5, 6, 40, 7}), y};
    for (const char* name : {"host", "x86-64-v2", "x86-64"}) {
      const Target target = std::string(name) == "host" ? host() : Target(name);
      const auto wanted = evaluated(p, in), got = Compared(lower(p, target), target).check(in);
      CHECK(wanted[3].data == got[3].data);
    }
  }
}

TEST_CASE("a choice that is limited and becomes an integer is computed once") {
  const Program p = in_lanes(
      "u8(min(max(select(F[i] > 1.0, X[i], select(F[i] < -2.0, X[i + 9], F[i])), 0.0), 200.0))",
      "u8");
  for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const Program lowered = lower(p, Target(name));
    for (unsigned seed = 0; seed < 4; ++seed) {
      const auto in = inputs(seed, false, 1);
      CHECK(evaluated(p, in).back().data == evaluated(lowered, in).back().data);
    }
  }
  check_against_evaluator(lower(p, host()), inputs(7, false, 1));
}
