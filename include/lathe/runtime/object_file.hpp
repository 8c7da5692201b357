// Symbols that an object file defines and needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lathe/support/config.hpp>
#include <lathe/support/vec.hpp>
#include <string>

namespace lathe {

struct ObjectSymbol {
  std::string name;
  bool defined = false;
  bool function = false;
  bool global = false;
  std::uint64_t section = 0, offset = 0, size = 0;
};

/// The named symbols of a 64-bit little-endian ELF object; false if the bytes are not one, or are
/// damaged.
bool read_symbols(const char* bytes, std::size_t size, Vec<ObjectSymbol>& symbols);

}  // namespace lathe
