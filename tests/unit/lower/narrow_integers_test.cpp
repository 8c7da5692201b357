// Integers are computed in fewer bits where those give the same, and only there.
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/pipeline.hpp>
#include <random>

#include "../codegen/against.hpp"

using namespace lathe;
using namespace test;

namespace {

constexpr int kCount = 64;

Program in_lanes(const std::string& type, const std::string& value) {
  return parse("program k(in A: u8[64], in B: i8[64], in C: u16[64], in D: i16[64], out Y: " +
               type + "[64]):\n  vectorized for i in 0..64:\n    Y[i] = " + value + "\n");
}

/// Whether the text of the narrowed program has these words, apart by spaces.
bool has(const std::string& type, const std::string& value, const std::string& words) {
  return narrow_integers(in_lanes(type, value)).str().find(words) != std::string::npos;
}

/// Expressions of i32 over the inputs and constants, of some depth.
class RandomIntegers {
 public:
  explicit RandomIntegers(unsigned seed) : random_(seed) {}
  std::string value(int depth) {
    if (depth == 0 || below(8) == 0) return leaf();
    const std::string a = value(depth - 1);
    switch (below(14)) {
      case 0:
      case 1:
        return "(" + a + " + " + value(depth - 1) + ")";
      case 2:
        return "(" + a + " - " + value(depth - 1) + ")";
      case 3:
      case 4:
        return "(" + a + " * " + value(depth - 1) + ")";
      case 5:
        return "(" + a + " >> " + std::to_string(below(20)) + "i32)";
      case 6:
        return "(" + a + " << " + std::to_string(below(9)) + "i32)";
      case 7:
        return (below(2) ? "min(" : "max(") + a + ", " + value(depth - 1) + ")";
      case 8:
        return "(" + a + (below(2) ? " & " : " | ") + value(depth - 1) + ")";
      case 9:
        return "(" + a + " ^ " + value(depth - 1) + ")";
      case 10:
        return (below(4) ? "abs(" : "-(") + a + ")";
      case 11:
        return "(" + a + (below(2) ? " / " : " % ") + std::to_string(below(300)) + "i32)";
      case 12:
        return (below(2) ? "floordiv(" : "floormod(") + a + ", " + std::to_string(below(90)) +
               "i32)";
      default:
        return "select(" + leaf() + (below(2) ? " < " : " == ") + value(depth - 1) + ", " + a +
               ", " + value(depth - 1) + ")";
    }
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

 private:
  std::string leaf() {
    if (below(3) == 0) return std::to_string(below(2) ? below(256) : below(70000) - 35000) + "i32";
    return std::string("i32(") + "ABCD"[below(4)] + "[i])";
  }
  std::mt19937 random_;
};

std::vector<Bytes> inputs(unsigned seed, std::size_t result_bytes) {
  std::mt19937 random(seed);
  std::vector<Bytes> all;
  for (const std::size_t bytes : {1, 1, 2, 2}) {
    Bytes b;
    for (std::size_t k = 0; k < kCount * bytes; ++k) {
      const unsigned edges[] = {0, 1, 127, 128, 255};
      b.data.push_back(
          static_cast<unsigned char>(random() % 3 ? random() % 256 : edges[random() % 5]));
    }
    all.push_back(b);
  }
  all.push_back(Bytes{std::vector<unsigned char>(kCount * result_bytes)});
  return all;
}

}  // namespace

TEST_CASE("what a conversion cuts off is not computed") {
  CHECK(has("u8", "u8(i32(A[i]) * 77i32 + i32(A[i]) * 150i32 >> 8i32)", "u16(A[i]) * 77u16"));
  // The sum does not fit 16 bits, and its lowest 16 do for the 8 that are asked for.
  CHECK(has("u8", "u8(i32(A[i]) * i32(A[i]) + i32(A[i]) * i32(A[i]) >> 8i32)",
            "u16(A[i]) * u16(A[i])"));
  CHECK_FALSE(has("u8", "u8(i32(A[i]) * i32(A[i]) + i32(A[i]) * i32(A[i]) >> 9i32)", "u16(A[i])"));
  CHECK(has("u16", "u16(max(i32(B[i]) * 200i32, 0i32))", "i16(B[i]) * 200i16"));
  CHECK_FALSE(has("u16", "u16(max(i32(B[i]) * 300i32, 0i32))", "i16(B[i])"));
  // Sums alone need no more lanes than the result has.
  CHECK(has("u8", "u8(i32(A[i]) + i32(B[i]))", "A[i] + u8(B[i])"));
  CHECK_FALSE(has("u8", "u8(i32(A[i]) * i32(A[i]) >> 18i32)", "u16(A[i])"));
}

TEST_CASE("magnitudes take the lanes of their numbers, quotients those of what they divide") {
  CHECK(has("u8", "u8(min(abs(i32(A[i]) - i32(B[i])), 255i32))", "abs(i16(A[i]) - i16(B[i]))"));
  CHECK(has("u8", "u8(min(abs(i32(B[i])), 100i32))", "abs(B[i])"));
  CHECK(has("i16", "i16(min(abs(i32(D[i])), 32767i32))", "min(u16(abs(D[i])), 32767u16)"));
  CHECK_FALSE(has("u16", "u16(abs(i32(C[i]) - i32(D[i])) >> 2i32)", "abs(i16("));
  CHECK(has("u8", "u8((i32(A[i]) + i32(A[i]) * 8i32) / 9i32)", "u16(A[i]) * 8u16"));
  CHECK(has("u8", "u8(floormod(i32(B[i]) * 3i32, 10i32))", "i16(B[i]) * 3i16"));
  CHECK_FALSE(has("u8", "u8(i32(A[i]) * 300i32 / 9i32)", "u16(A[i])"));
  CHECK_FALSE(has("u8", "u8(i32(A[i]) / i32(B[i]))", "i16(A[i])"));
}

TEST_CASE("sums of a temporary are as large as their terms and their number say") {
  // Y of what t holds at i and i + 1, t of so many bytes each.
  const auto narrowed = [](int terms, const std::string& value, const std::string& reduce = "sum") {
    const Program p = parse(
        "program k(in A: u8[300], out Y: u8[63]):\n  alloc t: i16[64]\n"
        "  for i in 0..64:\n    for r in 0.." +
        std::to_string(terms) + ":\n      block t(v in 0..64 = i, reduce w in 0.." +
        std::to_string(terms) + " = r) reduce " + reduce + " init:\n        t[v] " + reduce +
        "= i16(A[v + w])\n"
        "  vectorized for i in 0..63:\n    block Y(v in 0..63 = i):\n"
        "      Y[v] = " +
        value + "\n");
    const Program after = narrow_held_integers(p);
    CHECK(verify_reason(after, after->stage) == "");
    std::vector<unsigned char> a(300);
    for (std::size_t k = 0; k < a.size(); ++k)
      a[k] = static_cast<unsigned char>(k % 5 < 3 ? 255 : 37 * k % 256);
    const std::vector<Bytes> in{Bytes{a}, Bytes{std::vector<unsigned char>(63)}};
    CHECK(evaluated(p, in)[1].data == evaluated(after, in)[1].data);
    return after.str();
  };
  const auto has_words = [&](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  CHECK(has_words(narrowed(9, "u8((i32(t[v]) + 4i32) / 9i32)"), "(u16(t[v]) + 4u16) / 9u16"));
  CHECK(
      has_words(narrowed(9, "u8(abs(i32(t[v]) - i32(t[v + 1])) >> 4i32)"), "abs(t[v] - t[v + 1])"));
  // 128 times 255 and 128 are more than an i16 has, and fewer than a u16.
  CHECK(has_words(narrowed(16, "u8(i32(t[v]) * 8i32 + 128i32 >> 8i32)"), "u16(t[v]) * 8u16"));
  CHECK_FALSE(has_words(narrowed(16, "u8((i32(t[v]) * 17i32 + 4i32) / 9i32)"), "16(t[v])"));
  // 200 bytes may wrap in an i16.
  CHECK_FALSE(has_words(narrowed(200, "u8((i32(t[v]) + 4i32) / 9i32)"), "16(t[v])"));
  // What holds no element of a row yet is the least number.
  CHECK_FALSE(has_words(narrowed(9, "u8((i32(t[v]) + 4i32) / 9i32)", "max"), "16(t[v])"));
}

TEST_CASE("a temporary holds what is added to it atomically, and 0 where a mask is off") {
  const auto kept = [](const std::string& stages, const std::string& condition) {
    const Program p =
        parse("program k(in A: u8[64], out Y: u8[64]):\n  alloc t: i16[64]\n" + stages +
              "  vectorized for i in 0..64:\n    block Y(v in 0..64 = i):\n      Y[v] = "
              "select(" +
              condition + ", 1u8, 0u8)\n");
    const Program after = narrow_held_integers(p);
    std::vector<unsigned char> a(64);
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<unsigned char>(4 * k);
    const std::vector<Bytes> in{Bytes{a}, Bytes{std::vector<unsigned char>(64)}};
    CHECK(evaluated(p, in)[1].data == evaluated(after, in)[1].data);
    return after.str().find("u16(t[v])") == std::string::npos;
  };
  CHECK(
      kept("  for i in 0..64:\n    block z(v in 0..64 = i):\n      t[v] = 0i16\n"
           "  for i in 0..64:\n    block q(v in 0..64 = i) reads A[v..+1] writes t[v..+1]:\n"
           "      atomic t[v] += i16(A[v]) * -100i16\n",
           "i32(t[v]) > 5i32"));
  CHECK(
      kept("  alloc s: i16[64]\n  for i in 0..64:\n    block s(v in 0..64 = i):\n      s[v] = "
           "100i16\n  for i in 0..64:\n    block t(v in 0..64 = i):\n      t[v] = s[v where A[v] > "
           "200u8]\n",
           "i32(t[v]) - 100i32 > 5i32"));
}

TEST_CASE("comparisons take the lanes that both sides fit") {
  CHECK(has("u8", "select(i32(A[i]) > 100i32, 255u8, 0u8)", "A[i] > 100u8"));
  CHECK(has("u8", "select(i32(A[i]) + 1i32 > i32(B[i]), 255u8, 0u8)",
            "i16(A[i]) + 1i16 > i16(B[i])"));
  CHECK_FALSE(has("u8", "select(i32(C[i]) > i32(D[i]), 255u8, 0u8)", "16(C[i])"));
}

TEST_CASE("code that is not in lanes stays as it is") {
  const Program p = parse(
      "program k(in A: u8[64], out Y: u8[64]):\n"
      "  for i in 0..64:\n    Y[i] = u8(i32(A[i]) * 77i32 >> 8i32)\n");
  CHECK(narrow_integers(p).str() == p.str());
}

TEST_CASE("random integers are the same in fewer bits") {
  const unsigned seed = 20261125;
  CAPTURE(seed);
  RandomIntegers random(seed);
  int narrowed = 0;
  for (int k = 0; k < 500; ++k) {
    const char* types[] = {"u8", "i8", "u16", "i16", "i64"};
    const std::string type = types[random.below(5)];
    const Program p = in_lanes(type, type + "(" + random.value(1 + random.below(5)) + ")");
    CAPTURE(p.str());
    const Program after = narrow_integers(p), lowered = lower(p, host());
    narrowed += after.str() != p.str();
    CHECK(verify_reason(after, after->stage) == "");
    const auto in = inputs(static_cast<unsigned>(k), type == "i64" ? 8 : 2);
    const auto wanted = evaluated(p, in);
    CHECK(wanted.back().data == evaluated(after, in).back().data);
    CHECK(wanted.back().data == evaluated(lowered, in).back().data);
    if (k % 10 == 0) check_against_evaluator(lowered, in);
  }
  CHECK(narrowed > 200);
}

TEST_CASE("random integers of sums that may wrap are the same in fewer bits") {
  const unsigned seed = 20261129;
  CAPTURE(seed);
  RandomIntegers random(seed);
  int narrowed = 0;
  for (int k = 0; k < 300; ++k) {
    const char *types[] = {"u8", "i8", "u16", "i16"},
               *terms[] = {"i16(E[i + w])", "i16(E[i + w]) * -7i16", "i16(E[i + w] & 31u8)"};
    const std::string type = types[random.below(4)],
                      count = std::to_string(1 + random.below(random.below(2) ? 12 : 330));
    const Program p =
        parse("program k(in A: u8[64], in B: i8[64], in C: u16[64], in E: u8[400], out Y: " + type +
              "[64]):\n  alloc D: i16[64]\n  for j in 0..64:\n    for r in 0.." + count +
              ":\n      block D(i in 0..64 = j, reduce w in 0.." + count +
              " = r) reduce sum init:\n        D[i] sum= " + terms[random.below(3)] +
              "\n  vectorized for j in 0..64:\n    block Y(i in 0..64 = j):\n      Y[i] = " + type +
              "(" + random.value(1 + random.below(4)) + ")\n");
    CAPTURE(p.str());
    const Program after = narrow_held_integers(p);
    narrowed += after.str() != p.str();
    CHECK(verify_reason(after, after->stage) == "");
    std::vector<Bytes> in = inputs(static_cast<unsigned>(k), 2);
    in[3].data.resize(400);
    for (std::size_t e = 0; e < 400; ++e)
      in[3].data[e] = static_cast<unsigned char>(random.below(3) ? 255 : random.below(256));
    in[4].data.resize(64 * (type.back() == '8' ? 1u : 2u));
    CHECK(evaluated(p, in).back().data == evaluated(after, in).back().data);
  }
  CHECK(narrowed > 80);
}
