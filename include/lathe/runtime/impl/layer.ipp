// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/support/impl/layer.ipp>
#endif
//
#include <lathe/runtime/impl/abi.ipp>
#include <lathe/runtime/impl/build_id.ipp>
#include <lathe/runtime/impl/isolate.ipp>
#include <lathe/runtime/impl/llvm.ipp>
#include <lathe/runtime/impl/llvm_compile.ipp>
#include <lathe/runtime/impl/llvm_effort.ipp>
#include <lathe/runtime/impl/object_cache.ipp>
#include <lathe/runtime/impl/object_file.ipp>
#include <lathe/runtime/impl/orc.ipp>
#include <lathe/runtime/impl/perf.ipp>
#include <lathe/runtime/impl/thread_pool.ipp>
#include <lathe/runtime/impl/tile_permission.ipp>
#include <lathe/runtime/impl/view.ipp>
