// Loops and names in messages.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe::detail {

std::string in_quotes(std::string_view name);
/// "'i'(100)" and, for other kinds than serial, "'i'(100, parallel)".
std::string describe(const ForNode& loop);
std::string extent_text(const AnyExpr& extent);

}  // namespace lathe::detail
