// Program texts with random faults: bytes and tokens that are dropped, doubled, swapped or
// replaced. The same number gives the same text.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <lathe/support/random.hpp>
#include <string>
#include <vector>

#include "root.hpp"

namespace test {

/// Programs that hold each construct of the grammar, beside the golden ones.
inline std::vector<std::string> program_texts() {
  std::vector<std::string> out{
      "program o(in A: i32[16], out B: i32[4]):\n  for i in 0..4:\n    block X(v in 0..4 = i):\n"
      "      for j in 0..4:\n        block Y(u in 0..4 = v, reduce w in 0..4 = j) reduce sum "
      "init:\n"
      "          B[u] sum= A[u * 4 + w]\n",
      "program o<n>(in A: f32[n, 8], inout B: f32[n], s: f32):\n  alloc T: f32[8] scope local "
      "align "
      "64\n  reducer h(a: f32 = 0.0; b) = a * b\n  for i in 0..n @user.a=1:\n    B[i] = A[i, 0]\n",
      "program o<n in 1..=64 by 4>(in A: f32[n, 8], inout B: f32[n], s: f32):\n  alloc T: f32[8]\n"
      "  reducer nonassociative h(a: f32 = 0.0; b) = a * 2.0 + b\n  parallel for i in 0..n:\n"
      "    unrolled for j in 0..8 @user.note=\"x\":\n      block T(v in 0..8 = j, p in 0..n = i) "
      "where "
      "v > 2 @guards=0:\n        T[v] = A[p, v] * s\n    for r in 0..8 @unroll_explicit=4:\n"
      "      block B(v in 0..n = i, reduce w in 0..8 = r) where w < 5 reduce h init:\n"
      "        B[v] h= T[w]\n",
      "program o(in A: i32[40], in I: i64[12], out B: i32[12], out C: i32[12]):\n  for i in "
      "0..12:\n"
      "    block B(v in 0..12 = i) reads A[0..40], I[v..+1] writes B[v..+1] @user.b=2:\n"
      "      if I[v] >= 0 && I[v] < 40:\n        B[v] = A[I[v]]\n      else:\n        let x = v * "
      "2 + 1\n"
      "        B[v] = select(x > 3, i32(x), -1i32)\n  for i in 0..12:\n    let k = i % 4\n"
      "    C[i] = B[floordiv(k, 2)] + min(i32(k), 3i32)\n    atomic C[i] += 2i32\n"
      "    assert C[i] < 1000i32, \"large\"\n",
      "program o(in A: f32[8, 16], out B: f32[8, 4], out P: i64[8]):\n  for i in 0..8 "
      "@prefetch(buffer=\"A\", distance=2, locality=3):\n    for q in 0..4:\n      vectorized for "
      "j in 0..4:\n        block "
      "B(v in "
      "0..8 = i, w in 0..4 = j, o in 0..4 = q) where o == w:\n          B[v, w] = exp(A[v, w * 4 + "
      "o]) * "
      "(let y = A[v, w] in y * y + nan + inf - 1.5e-3)\n  for i in 0..8:\n    for r in 0..16:\n"
      "      block P(v in 0..8 = i, reduce w in 0..16 = r) reduce max init:\n        P[v] max= w\n",
      "program o(in A: f16[8], out B: f16[8], inout S: u8[8] strides [1]) stage loops:\n  for i in "
      "0..8:\n    while S[i] > 0u8:\n      S[i] = S[i] >> 1u8\n    B[i] = fma(A[i], A[i], f16.nan) "
      "+ "
      "f16(reinterpret<f32>(7i32))\n  vectorized for i in 0..4:\n    stream B[i + 4] = A[i]\n",
      "program o(in A: f32[64], out B: f32[64]) stage flat:\n  for i in 0..4:\n    B[ramp(i * 16, "
      "1, "
      "16)] = A[ramp(i * 16, 1, 16) where ramp(i * 16, 1, 16) < broadcast(60, 16)] + "
      "broadcast(1.0, 16)\n    eval prefetch(A[i], 3)\n    B[i] = shuffle(A[ramp(0, 1, 4)]; 2)\n"};
  for (const char* folder : {"ir", "lower"})
    for (const auto& file : std::filesystem::directory_iterator(root() / "golden" / folder)) {
      if (file.path().extension() != ".txt") continue;
      std::ifstream in(file.path());
      std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
      if (text.starts_with("program")) out.push_back(std::move(text));
    }
  return out;
}

/// Draws from a seed.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(
        lathe::detail::random_below(n, lathe::detail::random_bits(seed_, count_++)));
  }

 private:
  std::uint64_t seed_, count_ = 0;
};

inline std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> out;
  for (char c : text) {
    const bool word = c == '_' || c == '.' || c == '@' || (c >= '0' && c <= '9') ||
                      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool joins = !out.empty() && word && out.back().back() != ' ' &&
                       (out.back().back() == '_' || out.back().back() == '.' ||
                        out.back().back() == '@' || std::isalnum(out.back().back()));
    if (joins || (c == ' ' && !out.empty() && out.back().back() == ' '))
      out.back() += c;
    else
      out.emplace_back(1, c);
  }
  return out;
}

inline std::string joined(const std::vector<std::string>& tokens) {
  std::string out;
  for (const auto& t : tokens) out += t;
  return out;
}

/// A number, name or symbol in the place of another one: most of what comes out is a program.
inline void exchange_token(std::vector<std::string>& tokens, Draw& draw) {
  static const std::vector<std::string> numbers{"0",
                                                "1",
                                                "2",
                                                "3",
                                                "5",
                                                "8",
                                                "17",
                                                "4096",
                                                "-1",
                                                "-9223372036854775808",
                                                "9223372036854775807"};
  static const std::vector<std::string> kinds{"for",          "parallel for",   "vectorized for",
                                              "unrolled for", "blockIdx.x for", "threadIdx.x for"};
  static const std::vector<std::string> symbols{"+", "-", "*", "/", "%", "<", ">", "&", "|", "^"};
  auto of = [&](const std::vector<std::string>& list) { return list[draw.below(list.size())]; };
  for (int tries = 0; tries < 20; ++tries) {
    std::string& t = tokens[draw.below(tokens.size())];
    const char c = t[0];
    if (c >= '0' && c <= '9') return void(t = of(numbers));
    if (t == "for") return void(t = of(kinds));
    if (t == "init" || t == "reduce" || t == "inout") return void(t = "");
    if (t == "in" || t == "out") return void(t = t == "in" ? "inout" : "in");
    if (symbols.end() != std::find(symbols.begin(), symbols.end(), t)) return void(t = of(symbols));
    if (!std::isalpha(c)) continue;
    for (int others = 0; others < 20; ++others)
      if (const auto& other = tokens[draw.below(tokens.size())];
          std::isalpha(other[0]) && other.size() <= 3 && other != t)
        return void(t = other);
  }
}

inline void mutate_token(std::vector<std::string>& tokens, Draw& draw) {
  static const char* words[] = {"0",
                                "1",
                                "-1",
                                "9223372036854775807",
                                "-9223372036854775808",
                                "n",
                                "vectorized",
                                "init",
                                "reduce",
                                "parallel",
                                "unrolled",
                                "for",
                                "block",
                                "alloc",
                                "let",
                                "f64",
                                "i4",
                                "bool",
                                "nan",
                                "f8e4m3",
                                "(",
                                ")",
                                "[",
                                "]",
                                ":",
                                "=",
                                "..+",
                                "@guards=3",
                                "@tail=\"shift\"",
                                "@partition=\"never\"",
                                "while",
                                "opaque",
                                "stream",
                                "scope shared",
                                "strides [0]",
                                "threadIdx.x",
                                "where",
                                "reads",
                                "4096",
                                "@prefetch(buffer=\"A\", distance=1, locality=3)",
                                "1073741824",
                                "floormod"};
  const std::size_t at = draw.below(tokens.size());
  switch (draw.below(16)) {
    case 0:
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at),
                    tokens[draw.below(tokens.size())]);
      return;
    case 2:
      std::swap(tokens[at], tokens[draw.below(tokens.size())]);
      return;
    case 3:
      tokens[at] = words[draw.below(std::size(words))];
      return;
    case 4:
      tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at),
                    std::string(" ") + words[draw.below(std::size(words))] + " ");
      return;
    case 5:
      tokens[at] = tokens[draw.below(tokens.size())];
      return;
    default:
      exchange_token(tokens, draw);
  }
}

inline void mutate_byte(std::string& text, Draw& draw) {
  static const std::string bytes = "0123456789+-*/%()[]:;,.@=<>&|^!~`\"\\ \n\tABinovx_#\x01\xff";
  const std::size_t at = draw.below(text.size());
  switch (draw.below(4)) {
    case 0:
      text.erase(at, 1);
      return;
    case 1:
      text.insert(at, 1, bytes[draw.below(bytes.size())]);
      return;
    case 2:
      text[at] = static_cast<char>(text[at] ^ (1 << draw.below(8)));
      return;
    default:
      text[at] = bytes[draw.below(bytes.size())];
  }
}

/// One or two faults, at random in bytes or, mostly, in tokens.
inline std::string mutated(const std::string& text, std::uint64_t seed) {
  Draw draw(seed);
  std::string out = text;
  for (std::size_t faults = 1 + draw.below(4) / 3; faults > 0 && !out.empty(); --faults) {
    if (draw.below(6) == 0) {
      mutate_byte(out, draw);
      continue;
    }
    auto tokens = tokens_of(out);
    if (tokens.size() > 1) mutate_token(tokens, draw);
    out = joined(tokens);
  }
  return out;
}

}  // namespace test
