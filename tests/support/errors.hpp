// What a call throws, as text to compare.
#pragma once

#include <lathe/support/error.hpp>
#include <string>

namespace test {

/// "L0203 message", or "none".
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const lathe::UserError& e) {
    return e.id() + " " + e.message();
  }
  return "none";
}

}  // namespace test
