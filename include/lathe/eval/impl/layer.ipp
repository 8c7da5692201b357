// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/arith/impl/layer.ipp>
#endif
//
#include <lathe/eval/impl/blocks.ipp>
#include <lathe/eval/impl/compile.ipp>
#include <lathe/eval/impl/evaluate.ipp>
#include <lathe/eval/impl/expr.ipp>
