// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/arith/impl/layer.ipp>
#endif
//
#include <lathe/dsl/impl/any.ipp>
#include <lathe/dsl/impl/boundary.ipp>
#include <lathe/dsl/impl/checks.ipp>
#include <lathe/dsl/impl/literal.ipp>
#include <lathe/dsl/impl/program.ipp>
#include <lathe/dsl/impl/reads.ipp>
#include <lathe/dsl/impl/reducers.ipp>
#include <lathe/dsl/impl/script.ipp>
#include <lathe/dsl/impl/script_block.ipp>
#include <lathe/dsl/impl/script_state.ipp>
#include <lathe/dsl/impl/statistics.ipp>
#include <lathe/dsl/impl/tensor_graph.ipp>
