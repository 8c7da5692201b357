#pragma once

#include <lathe/ir/dtype.hpp>

namespace lathe {
namespace detail {

struct DTypeName {
  std::string_view text;
  DType dtype;
};
inline constexpr DTypeName kDTypeNames[] = {
    {"bool", kBool},   {"i4", kI4},       {"u4", kU4},     {"i8", kI8},   {"u8", kU8},
    {"i16", kI16},     {"u16", kU16},     {"i32", kI32},   {"u32", kU32}, {"i64", kI64},
    {"u64", kU64},     {"f16", kF16},     {"bf16", kBF16}, {"f32", kF32}, {"f64", kF64},
    {"f8e4m3", kE4M3}, {"f8e5m2", kE5M2},
};

}  // namespace detail

LATHE_DECL std::string DType::str() const {
  std::string out = "?";
  for (const auto& row : detail::kDTypeNames)
    if (row.dtype == scalar()) out = row.text;
  if (is_vector()) out += "x" + std::to_string(lanes);
  if (scalable) out += "xvscale";
  return out;
}

LATHE_DECL bool parse_dtype(std::string_view text, DType& out) {
  auto cross = text.find('x');
  std::string_view scalar = text.substr(0, cross), rest;
  if (cross != std::string_view::npos) rest = text.substr(cross + 1);
  for (const auto& row : detail::kDTypeNames) {
    if (row.text != scalar) continue;
    out = row.dtype;
    if (cross == std::string_view::npos) return true;
    int lanes = 0;
    std::size_t at = 0;
    for (; at < rest.size() && rest[at] >= '0' && rest[at] <= '9'; ++at) {
      lanes = lanes * 10 + (rest[at] - '0');
      if (lanes > 65535) return false;
    }
    out.lanes = static_cast<std::uint16_t>(lanes);
    out.scalable = rest.substr(at) == "xvscale";
    return at > 0 && lanes > 0 && (at == rest.size() || out.scalable);
  }
  return false;
}

}  // namespace lathe
