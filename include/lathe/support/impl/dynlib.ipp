#pragma once

#include <dlfcn.h>

#include <lathe/support/dynlib.hpp>

namespace lathe {

LATHE_DECL DynamicLibrary DynamicLibrary::open(const std::string& name, std::string* reason) {
  DynamicLibrary library;
  library.handle_ = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library.handle_ && reason) {
    const char* words = ::dlerror();
    *reason = words ? words : "cannot be loaded";
  }
  return library;
}

LATHE_DECL void* DynamicLibrary::symbol(const char* name) const {
  return handle_ ? ::dlsym(handle_, name) : nullptr;
}

LATHE_DECL std::string DynamicLibrary::file_of(const void* symbol) {
  ::Dl_info info{};
  return symbol && ::dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : "";
}

}  // namespace lathe
