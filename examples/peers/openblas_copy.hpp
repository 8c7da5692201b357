// OpenBLAS with the kernels of a given core type: it fixes them when it is loaded, and does not
// always choose the fastest. The loader takes a file that it has loaded for the same one, so each
// core type gets a copy of the library in memory.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace peers {

struct OpenblasCopy {
  void* handle = nullptr;  ///< for dlsym
  std::string error;       ///< why there is no handle
};

/// The file descriptor of a copy, or -1.
inline int copy_in_memory(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const int copy = file ? memfd_create("openblas", MFD_CLOEXEC) : -1;
  std::vector<char> block(1 << 20);
  while (copy >= 0 && file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (write(copy, block.data(), static_cast<std::size_t>(file.gcount())) != file.gcount())
      return -1;
  }
  return copy;
}

/// The library at `path`, with `core` as its OPENBLAS_CORETYPE; "" leaves the choice to OpenBLAS.
inline OpenblasCopy load_openblas_copy(const std::string& path, const std::string& core) {
  // The descriptor stays open: a later copy would get the same number, and so the same path.
  const int copy = copy_in_memory(path);
  if (copy < 0) return {nullptr, "can't copy " + path};
  setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
  void* handle = dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW | RTLD_LOCAL);
  unsetenv("OPENBLAS_CORETYPE");
  if (!handle) return {nullptr, dlerror()};
  return {handle, ""};
}

}  // namespace peers
