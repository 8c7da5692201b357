// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/autoschedule/impl/layer.ipp>
#include <lathe/codegen/impl/layer.ipp>
#include <lathe/eval/impl/layer.ipp>
#include <lathe/lower/impl/layer.ipp>
#include <lathe/runtime/impl/layer.ipp>
#endif
//
#include <lathe/jit/impl/binding.ipp>
#include <lathe/jit/impl/binding_check.ipp>
#include <lathe/jit/impl/binding_errors.ipp>
#include <lathe/jit/impl/binding_sizes.ipp>
#include <lathe/jit/impl/code_cache.ipp>
#include <lathe/jit/impl/compile_code.ipp>
#include <lathe/jit/impl/constant_shelf.ipp>
#include <lathe/jit/impl/explain.ipp>
#include <lathe/jit/impl/intrinsic_check.ipp>
#include <lathe/jit/impl/jit.ipp>
#include <lathe/jit/impl/kernel.ipp>
#include <lathe/jit/impl/kernel_constants.ipp>
#include <lathe/jit/impl/late_code.ipp>
#include <lathe/jit/impl/measure_machine.ipp>
#include <lathe/jit/impl/open_code.ipp>
#include <lathe/jit/impl/recipe_cache.ipp>
#include <lathe/jit/impl/recipe_folder.ipp>
#include <lathe/jit/impl/source.ipp>
#include <lathe/jit/impl/to_c.ipp>
#include <lathe/jit/impl/unread.ipp>
#include <lathe/jit/impl/versions.ipp>
