// The bodies of this layer and of those below it.
#pragma once

#include <lathe/arith/impl/layer.ipp>
//
#include <lathe/eval/impl/blocks.ipp>
#include <lathe/eval/impl/compile.ipp>
#include <lathe/eval/impl/evaluate.ipp>
#include <lathe/eval/impl/expr.ipp>
