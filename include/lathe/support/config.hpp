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
// declarations and then <lathe/impl/src.hpp>: all bodies. A program that defines
// LATHE_SEPARATE_COMPILATION has no bodies in its files: lathe::compiled holds them, or the one
// file that defines LATHE_IMPLEMENTATION.
#if defined(LATHE_IMPLEMENTATION) && !defined(LATHE_SEPARATE_COMPILATION)
#define LATHE_SEPARATE_COMPILATION
#endif
#if defined(LATHE_SEPARATE_COMPILATION)
#define LATHE_DECL
#else
#define LATHE_DECL inline
#endif

// What runs only while a kernel is made, in files that hold the bodies: compiled in little time
// rather than for speed. Most of what a first jit takes is LLVM's. g++ inlines functions of such a
// region into others only if it must: LATHE_ACCESSOR marks those that calls of kernels need so.
#if !defined(__OPTIMIZE__) || \
    (defined(LATHE_SEPARATE_COMPILATION) && !defined(LATHE_IMPLEMENTATION))
#define LATHE_LEAN_BEGIN
#define LATHE_LEAN_END
#define LATHE_ACCESSOR
#elif defined(__clang__)
#define LATHE_LEAN_BEGIN \
  _Pragma("clang attribute push(__attribute__((minsize)), apply_to = function)")
#define LATHE_LEAN_END _Pragma("clang attribute pop")
#define LATHE_ACCESSOR
#elif defined(__GNUC__)
#define LATHE_LEAN_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\"Og\")")
#define LATHE_LEAN_END _Pragma("GCC pop_options")
#define LATHE_ACCESSOR [[gnu::always_inline]]
#else
#define LATHE_LEAN_BEGIN
#define LATHE_LEAN_END
#define LATHE_ACCESSOR
#endif
