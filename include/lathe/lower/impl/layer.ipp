// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif
//
#include <lathe/lower/guards/tile_guards.ipp>
//
#include <lathe/lower/blocks/check_accesses.ipp>
#include <lathe/lower/blocks/lower_bindings.ipp>
#include <lathe/lower/blocks/lower_blocks.ipp>
#include <lathe/lower/blocks/open_strides.ipp>
#include <lathe/lower/blocks/software_pipelines.ipp>
#include <lathe/lower/guards/hoist_guards.ipp>
#include <lathe/lower/impl/pipeline.ipp>
#include <lathe/lower/machine/contract.ipp>
#include <lathe/lower/machine/legalize_ops.ipp>
#include <lathe/lower/machine/legalize_types.ipp>
#include <lathe/lower/machine/narrow_types.ipp>
#include <lathe/lower/machine/simplify_program.ipp>
#include <lathe/lower/math/expand_math.ipp>
#include <lathe/lower/math/math_builder.ipp>
#include <lathe/lower/math/math_erf.ipp>
#include <lathe/lower/math/math_exp.ipp>
#include <lathe/lower/math/math_log.ipp>
#include <lathe/lower/math/math_payne_hanek.ipp>
#include <lathe/lower/math/math_pow.ipp>
#include <lathe/lower/math/math_trig.ipp>
#include <lathe/lower/storage/compact_buffers.ipp>
#include <lathe/lower/storage/double_buffers.ipp>
#include <lathe/lower/storage/flatten.ipp>
#include <lathe/lower/storage/hoist_storage.ipp>
#include <lathe/lower/storage/place_buffers.ipp>
#include <lathe/lower/storage/place_prefetches.ipp>
#include <lathe/lower/storage/promote_registers.ipp>
#include <lathe/lower/storage/roll_buffers.ipp>
#include <lathe/lower/vector/clone.ipp>
#include <lathe/lower/vector/interleave_stores.ipp>
#include <lathe/lower/vector/unroll.ipp>
#include <lathe/lower/vector/vectorize.ipp>
