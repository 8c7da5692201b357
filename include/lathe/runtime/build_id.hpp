// Which build of Lathe runs: two that may make other code of one program have other ids.
#pragma once

#include <string>

namespace lathe {

/// The build id that the linker gave the executable or library which Lathe is part of, in hex: a
/// hash of its contents. Empty if there is none (`-Wl,--build-id` asks for one).
const std::string& build_id();

namespace detail {
/// Of the ELF file that is loaded there.
std::string build_id_of(const char* start);
}  // namespace detail

}  // namespace lathe
