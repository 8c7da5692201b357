// The bodies of this layer and of those below it.
#pragma once

#include <lathe/arith/impl/layer.ipp>
#include <lathe/ir/impl/layer.ipp>
#include <lathe/support/impl/layer.ipp>
//
#include <lathe/lower/impl/clone.ipp>
#include <lathe/lower/impl/compact_buffers.ipp>
#include <lathe/lower/impl/flatten.ipp>
#include <lathe/lower/impl/hoist_guards.ipp>
#include <lathe/lower/impl/lower_blocks.ipp>
#include <lathe/lower/impl/open_strides.ipp>
#include <lathe/lower/impl/promote_registers.ipp>
#include <lathe/lower/impl/simplify_program.ipp>
#include <lathe/lower/impl/unroll.ipp>
#include <lathe/lower/impl/vectorize.ipp>
