// Lathe's version and the one switch that decides where function bodies live.
#pragma once

#define LATHE_VERSION_MAJOR 0
#define LATHE_VERSION_MINOR 1
#define LATHE_VERSION_PATCH 0
#define LATHE_VERSION_STRING "0.1.0"

// Header-only by default: bodies in impl/*.ipp are included and inline. With LATHE_SEPARATE_COMPILATION
// the bodies are compiled once, in the translation unit that includes <lathe/impl/src.hpp>.
#if defined(LATHE_SEPARATE_COMPILATION)
#define LATHE_DECL
#else
#define LATHE_DECL inline
#endif
