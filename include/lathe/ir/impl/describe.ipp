#pragma once

#include <lathe/ir/describe.hpp>
#include <lathe/ir/print.hpp>

namespace lathe::detail {

LATHE_DECL std::string in_quotes(std::string_view name) { return "'" + std::string(name) + "'"; }

LATHE_DECL std::string extent_text(const AnyExpr& extent) {
  const std::int64_t* value = as_const_int(extent);
  return value ? std::to_string(*value) : str(extent);
}

LATHE_DECL std::string describe(const ForNode& loop) {
  std::string kind =
      loop.loop_kind == ForKind::serial ? "" : ", " + std::string(to_text(loop.loop_kind));
  return in_quotes(loop.var->name) + "(" + extent_text(loop.extent) + kind + ")";
}

}  // namespace lathe::detail
