// The bodies of this layer and of those below it.
#pragma once

#include <lathe/schedule/impl/layer.ipp>
//
#include <lathe/lower/impl/tile_guards.ipp>
//
#include <lathe/lower/impl/check_accesses.ipp>
#include <lathe/lower/impl/clone.ipp>
#include <lathe/lower/impl/compact_buffers.ipp>
#include <lathe/lower/impl/contract.ipp>
#include <lathe/lower/impl/double_buffers.ipp>
#include <lathe/lower/impl/expand_math.ipp>
#include <lathe/lower/impl/flatten.ipp>
#include <lathe/lower/impl/hoist_guards.ipp>
#include <lathe/lower/impl/hoist_storage.ipp>
#include <lathe/lower/impl/interleave_stores.ipp>
#include <lathe/lower/impl/legalize_ops.ipp>
#include <lathe/lower/impl/legalize_types.ipp>
#include <lathe/lower/impl/lower_bindings.ipp>
#include <lathe/lower/impl/lower_blocks.ipp>
#include <lathe/lower/impl/math_builder.ipp>
#include <lathe/lower/impl/math_erf.ipp>
#include <lathe/lower/impl/math_exp.ipp>
#include <lathe/lower/impl/math_log.ipp>
#include <lathe/lower/impl/math_payne_hanek.ipp>
#include <lathe/lower/impl/math_pow.ipp>
#include <lathe/lower/impl/math_trig.ipp>
#include <lathe/lower/impl/narrow_types.ipp>
#include <lathe/lower/impl/open_strides.ipp>
#include <lathe/lower/impl/pipeline.ipp>
#include <lathe/lower/impl/place_buffers.ipp>
#include <lathe/lower/impl/place_prefetches.ipp>
#include <lathe/lower/impl/promote_registers.ipp>
#include <lathe/lower/impl/roll_buffers.ipp>
#include <lathe/lower/impl/simplify_program.ipp>
#include <lathe/lower/impl/software_pipelines.ipp>
#include <lathe/lower/impl/unroll.ipp>
#include <lathe/lower/impl/vectorize.ipp>
