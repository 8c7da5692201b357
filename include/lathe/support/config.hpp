// Lathe's version and the one switch that decides where function bodies live.
#pragma once

#if !defined(__cpp_exceptions)
#error "lathe reports errors by exceptions: build without -fno-exceptions"
#endif

#define LATHE_VERSION_MAJOR 0
#define LATHE_VERSION_MINOR 1
#define LATHE_VERSION_PATCH 0
#define LATHE_VERSION_STRING "0.1.0"

// Where code lives: <layer>/name.hpp holds declarations (and templates) and includes no body;
// bodies are in <layer>/impl/name.ipp, marked LATHE_DECL; <layer>/impl/layer.ipp includes the
// bodies of its layer and of the layers below. The entry header <lathe/lathe.hpp> includes all
// declarations and then, unless LATHE_SEPARATE_COMPILATION is defined, <lathe/impl/src.hpp>: all
// bodies. Compiled separately, one translation unit includes <lathe/impl/src.hpp>.
#if defined(LATHE_SEPARATE_COMPILATION)
#define LATHE_DECL
#else
#define LATHE_DECL inline
#endif
