#pragma once

#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline constexpr const char* kVpdpbusd = R"(
program vpdpbusd(in A: u8[4], in B: i8[16, 4], inout C: i32[16]):
  for j in 0..16:
    for k in 0..4:
      block dot(vj in 0..16 = j, reduce vk in 0..4 = k) reduce sum:
        C[vj] sum= i32(A[vk]) * i32(B[vj, vk])
)";
inline constexpr const char* kVpdpbusdCode = R"(
program vpdpbusd(in A: u8[4], in B: i8[16, 4], inout C: i32[16]):
  C[ramp(0, 1, 16)] = dot4(C[ramp(0, 1, 16)], broadcast(A[ramp(0, 1, 4)], 16),
    B[ramp(broadcast(0, 4), 1, 16), broadcast(ramp(0, 1, 4), 16)])
)";

inline constexpr const char* kVdpbf16ps = R"(
program vdpbf16ps(in A: bf16[2], in B: bf16[16, 2], inout C: f32[16]):
  for j in 0..16:
    for k in 0..2:
      block dot(vj in 0..16 = j, reduce vk in 0..2 = k) reduce sum:
        C[vj] sum= f32(A[vk]) * f32(B[vj, vk])
)";
inline constexpr const char* kVdpbf16psCode = R"(
program vdpbf16ps(in A: bf16[2], in B: bf16[16, 2], inout C: f32[16]):
  C[ramp(0, 1, 16)] = dot2(C[ramp(0, 1, 16)], broadcast(A[ramp(0, 1, 2)], 16),
    B[ramp(broadcast(0, 2), 1, 16), broadcast(ramp(0, 1, 2), 16)])
)";

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
    Vec<TensorIntrin> all{
        {"vpdpbusd", detail::kVpdpbusd, detail::kVpdpbusdCode, "", {"avx512vnni"}, 0.5, 5},
        {"vdpbf16ps",
         detail::kVdpbf16ps,
         detail::kVdpbf16psCode,
         "two products are added at a time, the second first, and subnormal numbers are zeros",
         {"avx512bf16"},
         1,
         6},
    };
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
