// The bodies of blocks and guards: a translation unit of lathe::compiled.
#pragma once

#include <lathe/lower/blocks/check_accesses.ipp>
#include <lathe/lower/blocks/lower_bindings.ipp>
#include <lathe/lower/blocks/lower_blocks.ipp>
#include <lathe/lower/blocks/open_strides.ipp>
#include <lathe/lower/blocks/software_pipelines.ipp>
#include <lathe/lower/blocks/split_constants.ipp>
#include <lathe/lower/guards/clip_loops.ipp>
#include <lathe/lower/guards/hoist_guards.ipp>
#include <lathe/lower/guards/shift_tiles.ipp>
#include <lathe/lower/guards/solve_tails.ipp>
#include <lathe/lower/guards/tile_guards.ipp>
