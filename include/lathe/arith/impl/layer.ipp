// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif
//
#include <lathe/arith/impl/poly.ipp>
//
#include <lathe/arith/impl/reach.ipp>
//
#include <lathe/arith/impl/range.ipp>
//
#include <lathe/arith/impl/fold.ipp>
//
#include <lathe/arith/impl/data.ipp>
//
#include <lathe/arith/impl/divmod.ipp>
//
#include <lathe/arith/impl/index.ipp>
//
#include <lathe/arith/impl/prove.ipp>
//
#include <lathe/arith/impl/logic.ipp>
//
#include <lathe/arith/impl/lanes.ipp>
//
#include <lathe/arith/impl/facts.ipp>
//
#include <lathe/arith/impl/simplify.ipp>
//
#include <lathe/arith/impl/simplify_stmt.ipp>
//
#include <lathe/arith/impl/interval.ipp>
//
#include <lathe/arith/impl/iter_map.ipp>
//
#include <lathe/arith/impl/iter_inverse.ipp>
//
#include <lathe/arith/impl/determined.ipp>
//
#include <lathe/arith/impl/lane_offsets.ipp>
