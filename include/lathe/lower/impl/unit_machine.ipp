// The bodies of machine and impl: a translation unit of lathe::compiled.
#pragma once

#include <lathe/lower/impl/pipeline.ipp>
#include <lathe/lower/machine/contract.ipp>
#include <lathe/lower/machine/count_lanes.ipp>
#include <lathe/lower/machine/deinterleave.ipp>
#include <lathe/lower/machine/deinterleave_loads.ipp>
#include <lathe/lower/machine/guard_operators.ipp>
#include <lathe/lower/machine/guess_extremes.ipp>
#include <lathe/lower/machine/lane_blocks.ipp>
#include <lathe/lower/machine/lane_masks.ipp>
#include <lathe/lower/machine/lane_pieces.ipp>
#include <lathe/lower/machine/legalize_ops.ipp>
#include <lathe/lower/machine/legalize_types.ipp>
#include <lathe/lower/machine/mask_arms.ipp>
#include <lathe/lower/machine/narrow_types.ipp>
#include <lathe/lower/machine/near_lanes.ipp>
#include <lathe/lower/machine/near_loads.ipp>
#include <lathe/lower/machine/piecewise_loads.ipp>
#include <lathe/lower/machine/rising_positions.ipp>
#include <lathe/lower/machine/simplify_program.ipp>
#include <lathe/lower/machine/strided_loads.ipp>
#include <lathe/lower/machine/turned_rows.ipp>
#include <lathe/lower/machine/turned_stores.ipp>
#include <lathe/lower/machine/wrapped_loads.ipp>
#include <lathe/lower/machine/zip_stores.ipp>
