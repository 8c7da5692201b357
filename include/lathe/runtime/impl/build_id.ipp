#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <lathe/runtime/build_id.hpp>
#include <lathe/runtime/impl/object_file.ipp>

namespace lathe {
namespace detail {

struct ElfSegment {
  std::uint32_t type, flags;
  std::uint64_t offset, address, physical, file_size, size, alignment;
};
struct ElfNote {
  std::uint32_t name_size, size, type;
};

/// The id among notes, each of which has a header, a name and a description, padded to words.
inline std::string build_id_in(Bytes notes) {
  constexpr std::uint32_t id_type = 3;
  const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
  ElfNote note;
  for (std::uint64_t at = 0; notes.read(at, note);) {
    const std::uint64_t name = at + sizeof note, id = name + padded(note.name_size);
    if (!notes.holds(id, note.size)) break;
    at = id + padded(note.size);
    if (note.type != id_type || note.name_size != 4 || std::memcmp(notes.data + name, "GNU", 4))
      continue;
    std::string out;
    for (std::uint32_t k = 0; k < note.size; ++k)
      for (const int shift : {4, 0})
        out += "0123456789abcdef"[(static_cast<unsigned char>(notes.data[id + k]) >> shift) & 15];
    return out;
  }
  return {};
}

/// The first segment begins with the headers, which a page holds, and has the notes.
LATHE_DECL std::string build_id_of(const char* start) {
  constexpr std::uint32_t load_type = 1, note_type = 4;
  const Bytes headers{start, 4096};
  Bytes image{start, 0};
  ElfHeader header;
  ElfSegment part;
  if (!headers.read(0, header) || std::memcmp(header.ident, "\177ELF\2", 5) != 0) return {};
  std::string id;
  for (std::uint64_t k = 0; k < header.program_count && id.empty(); ++k) {
    if (!headers.read(header.program_headers + k * header.program_size, part)) break;
    if (part.type == load_type && part.offset == 0)
      image.size = static_cast<std::size_t>(part.file_size);
    if (part.type == note_type && image.holds(part.offset, part.file_size))
      id = build_id_in({start + part.offset, static_cast<std::size_t>(part.file_size)});
  }
  return id;
}

}  // namespace detail

LATHE_DECL const std::string& build_id() {
  static const std::string id = [] {
    ::Dl_info info{};
    const bool found = ::dladdr(reinterpret_cast<const void*>(&build_id), &info) != 0;
    return found && info.dli_fbase ? detail::build_id_of(static_cast<const char*>(info.dli_fbase))
                                   : std::string();
  }();
  return id;
}

}  // namespace lathe
