// The bodies of this layer and of those below it.
#pragma once

#include <lathe/arith/impl/layer.ipp>
//
#include <lathe/codegen/impl/llvm_address.ipp>
#include <lathe/codegen/impl/llvm_atomic.ipp>
#include <lathe/codegen/impl/llvm_builder.ipp>
#include <lathe/codegen/impl/llvm_cast.ipp>
#include <lathe/codegen/impl/llvm_expr.ipp>
#include <lathe/codegen/impl/llvm_ir.ipp>
#include <lathe/codegen/impl/llvm_load.ipp>
#include <lathe/codegen/impl/llvm_mask.ipp>
#include <lathe/codegen/impl/llvm_ops.ipp>
#include <lathe/codegen/impl/llvm_parallel.ipp>
#include <lathe/codegen/impl/llvm_stmt.ipp>
#include <lathe/codegen/impl/llvm_store.ipp>
#include <lathe/codegen/impl/llvm_types.ipp>
