// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif
//
#include <lathe/codegen/c/impl/expr.ipp>
#include <lathe/codegen/c/impl/stmt.ipp>
#include <lathe/codegen/c/impl/unit.ipp>
#include <lathe/codegen/common/impl/captures.ipp>
#include <lathe/codegen/llvm/impl/address.ipp>
#include <lathe/codegen/llvm/impl/atomic.ipp>
#include <lathe/codegen/llvm/impl/avx512_calls.ipp>
#include <lathe/codegen/llvm/impl/builder.ipp>
#include <lathe/codegen/llvm/impl/cast.ipp>
#include <lathe/codegen/llvm/impl/dots.ipp>
#include <lathe/codegen/llvm/impl/early_allocs.ipp>
#include <lathe/codegen/llvm/impl/expr.ipp>
#include <lathe/codegen/llvm/impl/llvm_ir.ipp>
#include <lathe/codegen/llvm/impl/load.ipp>
#include <lathe/codegen/llvm/impl/narrow_masks.ipp>
#include <lathe/codegen/llvm/impl/ops.ipp>
#include <lathe/codegen/llvm/impl/parallel.ipp>
#include <lathe/codegen/llvm/impl/permute.ipp>
#include <lathe/codegen/llvm/impl/stmt.ipp>
#include <lathe/codegen/llvm/impl/store.ipp>
#include <lathe/codegen/llvm/impl/tiles.ipp>
#include <lathe/codegen/llvm/impl/types.ipp>
