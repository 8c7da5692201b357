#pragma once

#include <lathe/runtime/tile_permission.hpp>
#include <lathe/support/text.hpp>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#endif

namespace lathe {

#if defined(__x86_64__) && defined(__linux__)

LATHE_DECL bool permit_tiles(std::string& reason) {
  // Linux, Documentation/arch/x86/xstate.rst: ARCH_REQ_XCOMP_PERM for XTILEDATA.
  constexpr long request = 0x1023, tile_data = 18;
  if (::syscall(SYS_arch_prctl, request, tile_data) == 0) return true;
  const int error = errno;
  reason = cat("arch_prctl(ARCH_REQ_XCOMP_PERM, 18): ", std::strerror(error),
               error == ENOSPC ? " (a thread's signal stack is too small)" : "");
  return false;
}

#else

LATHE_DECL bool permit_tiles(std::string& reason) {
  reason = "this system has no tile registers to give";
  return false;
}

#endif

}  // namespace lathe
