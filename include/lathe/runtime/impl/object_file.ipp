#pragma once

#include <cstring>
#include <lathe/runtime/object_file.hpp>

namespace lathe {
namespace detail {

// The parts of ELF that are needed (System V ABI, chapter 4), so that no <elf.h> is.
struct ElfHeader {
  unsigned char ident[16];
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, program_headers, section_headers;
  std::uint32_t flags;
  std::uint16_t header_size, program_size, program_count, section_size, section_count, names;
};
struct ElfSection {
  std::uint32_t name, type;
  std::uint64_t flags, address, offset, size;
  std::uint32_t link, info;
  std::uint64_t alignment, entry_size;
};
struct ElfSymbol {
  std::uint32_t name;
  unsigned char info, other;
  std::uint16_t section;
  std::uint64_t value, size;
};

/// Reads with bounds checked: the bytes may come from a damaged file.
struct Bytes {
  const char* data;
  std::size_t size;
  bool holds(std::uint64_t offset, std::uint64_t count) const {
    return offset <= size && count <= size - offset;
  }
  template <class T>
  bool read(std::uint64_t offset, T& value) const {
    if (!holds(offset, sizeof value)) return false;
    std::memcpy(&value, data + offset, sizeof value);
    return true;
  }
  bool string(std::uint64_t offset, std::string& value) const {
    if (offset >= size) return false;
    auto* end = static_cast<const char*>(std::memchr(data + offset, 0, size - offset));
    if (end) value.assign(data + offset, end);
    return end != nullptr;
  }
};

inline bool read_symbol_table(Bytes file, const ElfSection& table, const ElfSection& names,
                              Vec<ObjectSymbol>& symbols) {
  if (!file.holds(names.offset, names.size) || !file.holds(table.offset, table.size)) return false;
  Bytes strings{file.data + names.offset, static_cast<std::size_t>(names.size)};
  for (std::uint64_t at = 0; at + sizeof(ElfSymbol) <= table.size; at += sizeof(ElfSymbol)) {
    constexpr int function_type = 2, section_type = 3, file_type = 4;
    ElfSymbol symbol;
    ObjectSymbol out;
    if (!file.read(table.offset + at, symbol)) return false;
    int type = symbol.info & 15;
    if (symbol.name == 0 || type == section_type || type == file_type) continue;
    if (!strings.string(symbol.name, out.name)) return false;
    out.defined = symbol.section != 0;
    out.function = type == function_type;
    out.global = symbol.info >> 4 != 0;
    out.section = symbol.section, out.offset = symbol.value, out.size = symbol.size;
    symbols.push_back(out);
  }
  return true;
}

}  // namespace detail

LATHE_DECL bool read_symbols(const char* bytes, std::size_t size, Vec<ObjectSymbol>& symbols) {
  detail::Bytes file{bytes, size};
  detail::ElfHeader header;
  if (!file.read(0, header) || std::memcmp(header.ident, "\177ELF\2\1", 6) != 0) return false;
  auto section_at = [&](std::uint64_t i, detail::ElfSection& section) {
    return i < header.section_count &&
           file.read(header.section_headers + i * sizeof section, section);
  };
  for (std::uint64_t i = 0; i < header.section_count; ++i) {
    constexpr std::uint32_t symbol_table = 2;
    detail::ElfSection table, names;
    if (!section_at(i, table)) return false;
    if (table.type != symbol_table) continue;
    if (!section_at(table.link, names) || !detail::read_symbol_table(file, table, names, symbols))
      return false;
  }
  return true;
}

}  // namespace lathe
