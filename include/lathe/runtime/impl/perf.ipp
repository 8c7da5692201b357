// How perf learns the names of loaded functions: /tmp/perf-<pid>.map
// (linux/tools/perf/Documentation/jit-interface.txt).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <lathe/runtime/object_file.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline std::string hex(std::uint64_t value) {
  std::string digits;
  do digits.insert(digits.begin(), "0123456789abcdef"[value & 15]);
  while (value >>= 4);
  return digits;
}

/// One line per function of the object. Functions of one section keep their distances when they are
/// loaded.
inline std::string perf_map_lines(const Vec<char>& object, const std::string& entry,
                                  const void* address) {
  Vec<ObjectSymbol> symbols;
  std::string lines;
  read_symbols(object.data(), object.size(), symbols);
  for (const auto& base : symbols) {
    if (base.name != entry || !base.defined) continue;
    for (const auto& symbol : symbols) {
      if (!symbol.function || symbol.section != base.section) continue;
      auto at = reinterpret_cast<std::uintptr_t>(address) + symbol.offset - base.offset;
      append(lines, hex(at), " ", hex(symbol.size), " ", symbol.name, "\n");
    }
  }
  return lines;
}

/// Best effort: a profile without names is no reason to fail.
inline void write_perf_map(const Vec<char>& object, const std::string& entry, const void* address) {
  auto lines = perf_map_lines(object, entry, address);
  auto path = cat("/tmp/perf-", ::getpid(), ".map");
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  // One write per kernel: lines of several threads do not mix.
  [[maybe_unused]] auto written = ::write(file, lines.data(), lines.size());
  ::close(file);
}

}  // namespace detail
}  // namespace lathe
