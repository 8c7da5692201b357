#pragma once

#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// Rows of registers of sums: a row's programs are written out from these.
struct DotRow {
  std::string_view name, a, b, sum;
  std::string_view call;
  int columns, group;
  std::string_view feature;
  double cycles, latency;
  std::string_view rounding{};
  int temporaries = 0;
};
inline constexpr std::string_view kOddRounding =
    "two products are added before they are added to the sum, both rounded to odd, and subnormal "
    "numbers are zeros";
// Cycles and latencies of AVX-512: Intel's optimization manual. Those of 256 bits are taken to be
// the same; NEON's are estimates for four pipes of 128 bits, and no such machine was measured.
// vpmaddwd is two instructions, of which sums wait for the second alone. Rows of "su" are the same
// instructions with their factors exchanged.
inline constexpr DotRow kDotRows[] = {
    {"vpdpbusd", "u8", "i8", "i32", "dot4", 16, 4, "avx512vnni", 0.5, 5},
    {"vpdpbusd_su", "i8", "u8", "i32", "dot4", 16, 4, "avx512vnni", 0.5, 5},
    {"vdpbf16ps", "bf16", "bf16", "f32", "dot2", 16, 2, "avx512bf16", 1, 6,
     "two products are added at a time, the second first, and subnormal numbers are zeros"},
    {"vpdpbusd_256", "u8", "i8", "i32", "dot4", 8, 4, "avxvnni", 0.5, 5},
    {"vpdpbusd_su_256", "i8", "u8", "i32", "dot4", 8, 4, "avxvnni", 0.5, 5},
    {"vpdpbssd_256", "i8", "i8", "i32", "dot4", 8, 4, "avxvnniint8", 0.5, 5},
    {"vpdpbuud_256", "u8", "u8", "i32", "dot4", 8, 4, "avxvnniint8", 0.5, 5},
    {"vpmaddwd", "i16", "i16", "i32", "dot_words", 16, 2, "avx512bw", 1, 1, {}, 1},
    {"vpmaddwd_256", "i16", "i16", "i32", "dot_words", 8, 2, "avx2", 0.67, 1, {}, 1},
    {"sdot", "i8", "i8", "i32", "dot4", 4, 4, "dotprod", 0.25, 3},
    {"udot", "u8", "u8", "i32", "dot4", 4, 4, "dotprod", 0.25, 3},
    {"usdot", "u8", "i8", "i32", "dot4", 4, 4, "i8mm", 0.25, 3},
    {"usdot_su", "i8", "u8", "i32", "dot4", 4, 4, "i8mm", 0.25, 3},
    {"bfdot", "bf16", "bf16", "f32", "odd_dot2", 4, 2, "bf16", 0.5, 4, kOddRounding},
};

// Two rows of a by two columns of b, 8 terms of each side by side.
struct MatrixRow {
  std::string_view name, a, b, sum;
  std::string_view call;
  int group;
  std::string_view feature;
  std::string_view rounding{};
};
inline constexpr MatrixRow kMatrixRows[] = {
    {"smmla", "i8", "i8", "i32", "mat_dot8", 8, "i8mm"},
    {"ummla", "u8", "u8", "i32", "mat_dot8", 8, "i8mm"},
    {"usmmla", "u8", "i8", "i32", "mat_dot8", 8, "i8mm"},
    {"bfmmla", "bf16", "bf16", "f32", "odd_mat_dot4", 4, "bf16", kOddRounding},
};

// One product a lane; as fast as a multiply-add of f32 is.
struct FmaRow {
  std::string_view name;
  int columns;
  std::string_view feature;
};
inline constexpr FmaRow kHalfRows[] = {{"vfmaddph", 32, "avx512fp16"}, {"fmla_f16", 8, "fullfp16"}};

// The row's programs are written out for a number of rows, columns and terms.
struct TileProduct {
  std::string_view name, a, b, sum;
  int group;
  std::string_view feature;
};
// Cycles: 16, one row of A a cycle; 52 to the next (Intel's optimization manual, chapter on AMX).
inline constexpr TileProduct kTileProducts[] = {
    {"tdpbf16ps", "bf16", "bf16", "f32", 2, "amx-bf16"},
    {"tdpbssd", "i8", "i8", "i32", 4, "amx-int8"},
    {"tdpbsud", "i8", "u8", "i32", 4, "amx-int8"},
    {"tdpbusd", "u8", "i8", "i32", 4, "amx-int8"},
    {"tdpbuud", "u8", "u8", "i32", 4, "amx-int8"},
};

// Lanes of an axis of n elements, each `inner` times, all of it `outer` times.
inline std::string axis_lanes(int outer, int n, int inner) {
  std::string out = "0";
  if (inner > 1) out = cat("broadcast(", out, ", ", inner, ")");
  if (n > 1) out = cat("ramp(", out, ", 1, ", n, ")");
  return outer > 1 ? cat("broadcast(", out, ", ", outer, ")") : out;
}
inline std::string matrix_lanes(int rows, int columns) {
  return cat(axis_lanes(1, rows, columns), ", ", axis_lanes(rows, columns, 1));
}

inline TensorIntrin dot_row(const DotRow& of) {
  const int n = of.columns, g = of.group;
  const std::string head = cat("program ", of.name, "(in A: ", of.a, "[", g, "], in B: ", of.b, "[",
                               n, ", ", g, "], inout C: ", of.sum, "[", n, "]):\n");
  const std::string c = cat("C[", axis_lanes(1, n, 1), "]");
  TensorIntrin out{std::string(of.name),      {},        {},         std::string(of.rounding),
                   {std::string(of.feature)}, of.cycles, of.latency, of.temporaries};
  out.description =
      cat(head, "  for j in 0..", n, ":\n    for k in 0..", g, ":\n      block dot(vj in 0..", n,
          " = j, reduce vk in 0..", g, " = k) reduce sum:\n        C[vj] sum= ", of.sum,
          "(A[vk]) * ", of.sum, "(B[vj, vk])\n");
  out.implementation = cat(head, "  ", c, " = ", of.call, "(", c, ", broadcast(A[",
                           axis_lanes(1, g, 1), "], ", n, "), B[", matrix_lanes(n, g), "])\n");
  return out;
}

// Estimated as one on each of two pipes, 3 cycles to the next.
inline TensorIntrin matrix_row(const MatrixRow& of) {
  const int g = of.group;
  const std::string head = cat("program ", of.name, "(in A: ", of.a, "[2, ", g, "], in B: ", of.b,
                               "[2, ", g, "], inout C: ", of.sum, "[2, 2]):\n");
  const std::string c = cat("C[", matrix_lanes(2, 2), "]"), factors = matrix_lanes(2, g);
  TensorIntrin out{std::string(of.name),      {},  {}, std::string(of.rounding),
                   {std::string(of.feature)}, 0.5, 3};
  out.description = cat(head, "  for i in 0..2:\n    for j in 0..2:\n      for k in 0..", g,
                        ":\n        block dot(vi in 0..2 = i, vj in 0..2 = j, reduce vk in 0..", g,
                        " = k) reduce sum:\n          C[vi, vj] sum= ", of.sum, "(A[vi, vk]) * ",
                        of.sum, "(B[vj, vk])\n");
  out.implementation =
      cat(head, "  ", c, " = ", of.call, "(", c, ", A[", factors, "], B[", factors, "])\n");
  return out;
}

inline TensorIntrin half_row(const FmaRow& of) {
  const int n = of.columns;
  const std::string head =
      cat("program ", of.name, "(in A: f16[1], in B: f16[", n, ", 1], inout C: f16[", n, "]):\n");
  const std::string lanes = axis_lanes(1, n, 1);
  TensorIntrin out{
      std::string(of.name),      {},  {}, "products are not rounded before they are added",
      {std::string(of.feature)}, 0.5, 4};
  out.description =
      cat(head, "  for j in 0..", n, ":\n    for k in 0..1:\n      block dot(vj in 0..", n,
          " = j, reduce vk in 0..1 = k) reduce sum:\n        C[vj] sum= A[vk] * "
          "B[vj, vk]\n");
  out.implementation = cat(head, "  C[", lanes, "] = fma(broadcast(A[0], ", n, "), B[", lanes,
                           ", 0], C[", lanes, "])\n");
  return out;
}

inline TensorIntrin tile_product(const TileProduct& of, int rows, int columns, int depth) {
  const int groups = depth / of.group, g = of.group;
  const auto grouped = [&](int outer, int inner) {
    return cat(axis_lanes(1, outer, inner * g), ", ", axis_lanes(outer, inner, g), ", ",
               axis_lanes(outer * inner, g, 1));
  };
  const std::string head = cat("program ", of.name, "(in A: ", of.a, "[", rows, ", ", groups, ", ",
                               g, "], in B: ", of.b, "[", groups, ", ", columns, ", ", g,
                               "], inout C: ", of.sum, "[", rows, ", ", columns, "]):\n");
  const std::string c = cat("C[", matrix_lanes(rows, columns), "]");
  TensorIntrin out{std::string(of.name), {}, {}, {}, {std::string(of.feature)}, 16, 52};
  out.description =
      cat(head, "  for i in 0..", rows, ":\n    for j in 0..", columns, ":\n      for k in 0..",
          groups, ":\n        for p in 0..", g, ":\n          block dot(vi in 0..", rows,
          " = i, vj in 0..", columns, " = j, reduce vk in 0..", groups, " = k, reduce vp in 0..", g,
          " = p) reduce sum:\n            C[vi, vj] sum= ", of.sum, "(A[vi, vk, vp]) * ", of.sum,
          "(B[vk, vj, vp])\n");
  out.implementation = cat(head, "  ", c, " = tile_dot(", c, ", A[", grouped(rows, groups), "], B[",
                           grouped(groups, columns), "])\n");
  if (of.sum == "f32")
    out.rounding =
        "the two products of each pair are added up apart before they are added, and subnormal "
        "numbers are zeros";
  return out;
}

// A tile of zeros, or one that is loaded or stored.
inline TensorIntrin tile_copy(const std::string& name, std::string_view type, bool zero, int rows,
                              int columns) {
  const std::string shape = cat(type, "[", rows, ", ", columns, "]"),
                    lanes = matrix_lanes(rows, columns);
  const std::string head =
      zero ? cat("program ", name, "(out T: ", shape, "):\n")
           : cat("program ", name, "(in X: ", shape, ", out T: ", shape, "):\n");
  const std::string_view none = type == "f32" ? "0.0" : "0i32";
  TensorIntrin out{name, {}, {}, {}, {"amx-tile"}, 8};
  out.description =
      cat(head, "  for i in 0..", rows, ":\n    for j in 0..", columns,
          ":\n      block copy(vi in 0..", rows, " = i, vj in 0..", columns,
          " = j):\n        T[vi, vj] = ", zero ? none : std::string_view("X[vi, vj]"), "\n");
  out.implementation =
      cat(head, "  T[", lanes, "] = tile(",
          zero ? cat("broadcast(", none, ", ", rows * columns, ")") : cat("X[", lanes, "]"), ", ",
          rows, ")\n");
  return out;
}

inline void add_tile_rows(Vec<TensorIntrin>& rows) {
  for (const TileProduct& of : kTileProducts)
    rows.push_back(tile_product(of, kTileRows, kTileRows, kTileRows * of.group));
  for (std::string_view type : {"f32", "i32"}) {
    rows.push_back(tile_copy(cat("tilezero_", type), type, true, kTileRows, kTileRows));
    rows.push_back(tile_copy(cat("tilecopy_", type), type, false, kTileRows, kTileRows));
  }
}

}  // namespace detail

LATHE_DECL const Vec<TensorIntrin>& tensor_intrins() {
  static const Vec<TensorIntrin> rows = [] {
    Vec<TensorIntrin> all;
    for (const auto& of : detail::kDotRows) all.push_back(detail::dot_row(of));
    for (const auto& of : detail::kMatrixRows) all.push_back(detail::matrix_row(of));
    for (const auto& of : detail::kHalfRows) all.push_back(detail::half_row(of));
    detail::add_tile_rows(all);
    return all;
  }();
  return rows;
}

LATHE_DECL const TensorIntrin* find_tensor_intrin(std::string_view name) {
  for (const TensorIntrin& row : tensor_intrins())
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace lathe
