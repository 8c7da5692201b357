// What docs/schedule.md says of a primitive beyond its record, with an example that is compiled.
#pragma once

#include <lathe/schedule/core/records.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace docs {

namespace lt = lathe;

/// Steps on a schedule, and their code. The last one is the one to show.
struct Steps {
  std::string_view code;
  void (*take)(lt::Schedule&);
};
#define LATHE_STEPS(...)                               \
  {                                                    \
#__VA_ARGS__, [](lt::Schedule & s) { __VA_ARGS__ } \
  }

/// One primitive. No field may be empty.
struct Row {
  std::string_view name;
  std::string_view meaning;     ///< what the summary of its record leaves open
  std::string_view references;  ///< which of them the step consumes, which stay
  std::string_view rounding;    ///< "never", or when it reassociates floating-point sums
  std::string_view refusals;    ///< ids besides those of all steps, or "none"
  std::string_view halide, tvm;
  std::string_view program;  ///< the example starts from this
  Steps steps;
};

inline constexpr std::string_view kNever = "never";
/// Ids that any step may be refused with.
inline constexpr std::string_view kCommonRefusals = "L0201 L0202 L0225 L0226 L0259";

/// By topic, each in a file of its own.
std::vector<Row> loop_rows();
std::vector<Row> place_rows();
std::vector<Row> memory_rows();
std::vector<Row> other_rows();

// Programs that several examples start from.
inline constexpr std::string_view kAdd = R"(program Y(in X: f32[100], out Y: f32[100]):
  for i in 0..100:
    block Y(v in 0..100 = i):
      Y[v] = X[v] + 1.0
)";
inline constexpr std::string_view kEdges = R"(program Y(in X: f32[100], out Y: f32[100]):
  for i in 0..100:
    block Y(v in 0..100 = i):
      Y[v] = X[max(v - 1, 0)] + X[min(v + 1, 99)]
)";
inline constexpr std::string_view kTilesOfAStencil = R"(program C(in A: f32[66], out C: f32[64]):
  alloc P: f32[66]
  for xo in 0..8:
    for x in 0..10:
      block P(v in 0..66 = xo * 8 + x):
        P[v] = A[v] * 2.0
    for xi in 0..8:
      block C(v in 0..64 = xo * 8 + xi):
        C[v] = P[v] + P[v + 2]
)";
inline constexpr std::string_view kRows = R"(program Y(in X: f32[60, 80], out Y: f32[60, 80]):
  for i in 0..60:
    for j in 0..80:
      block Y(vi in 0..60 = i, vj in 0..80 = j):
        Y[vi, vj] = X[vi, vj] * 2.0
)";
inline constexpr std::string_view kSum = R"(program S(in X: f32[60, 80], out S: f32[60]):
  for i in 0..60:
    for r in 0..80:
      block S(vi in 0..60 = i, reduce vr in 0..80 = r) reduce sum init:
        S[vi] sum= X[vi, vr]
)";
/// A producer and its consumer in tiles of 8.
inline constexpr std::string_view kChain = R"(program C(in A: f32[66], out C: f32[64]):
  alloc P: f32[66]
  for x in 0..66:
    block P(v in 0..66 = x):
      P[v] = A[v] * 2.0
  for xo in 0..8:
    for xi in 0..8:
      block C(v in 0..64 = xo * 8 + xi):
        C[v] = P[v] + P[v + 2]
)";
/// A histogram.
inline constexpr std::string_view kCounts = R"(program H(in I: i64[4000], inout H: i32[16]):
  for i in 0..4000:
    block H(v in 0..4000 = i):
      H[I[v] & 15] = H[I[v] & 15] + 1i32
)";
/// Two stages, element by element.
inline constexpr std::string_view kPair = R"(program C(in A: f32[64], out C: f32[64]):
  alloc P: f32[64]
  for i in 0..64:
    block P(v in 0..64 = i):
      P[v] = A[v] * 2.0
  for x in 0..64:
    block C(v in 0..64 = x):
      C[v] = P[v] + 1.0
)";

}  // namespace docs
