// Every function body of Lathe, for the one translation unit of a program in compiled mode.
// Made by tools/check_sources.py --write.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#error "Define LATHE_SEPARATE_COMPILATION for the whole program before including <lathe/impl/src.hpp>"
#endif

#include <lathe/support/impl/error.ipp>
#include <lathe/ir/impl/dtype.ipp>
#include <lathe/ir/impl/expr.ipp>
#include <lathe/ir/impl/layer.ipp>
#include <lathe/ir/impl/stmt.ipp>
#include <lathe/ir/impl/visit.ipp>
#include <lathe/runtime/impl/view.ipp>
