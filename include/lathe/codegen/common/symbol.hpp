// What a kernel is called where it is linked.
#pragma once

#include <string>
#include <string_view>

namespace lathe::detail {

/// A name as a symbol of C: letters, digits and '_'.
inline std::string kernel_symbol(std::string_view name) {
  std::string symbol = "lathe_";
  for (char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    symbol += plain ? c : '_';
  }
  return symbol;
}

}  // namespace lathe::detail
