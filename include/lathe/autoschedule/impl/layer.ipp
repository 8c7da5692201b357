// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/schedule/primitives/impl/layer.ipp>
#endif
//
#include <lathe/autoschedule/impl/default_decisions.ipp>
#include <lathe/autoschedule/impl/default_kept.ipp>
#include <lathe/autoschedule/impl/plan.ipp>
//
#include <lathe/autoschedule/impl/default_cost.ipp>
//
#include <lathe/autoschedule/impl/default_choices.ipp>
#include <lathe/autoschedule/impl/default_composites.ipp>
#include <lathe/autoschedule/impl/default_narrow.ipp>
#include <lathe/autoschedule/impl/default_nest.ipp>
//
#include <lathe/autoschedule/impl/default_invariants.ipp>
#include <lathe/autoschedule/impl/default_join_loops.ipp>
#include <lathe/autoschedule/impl/default_merge.ipp>
#include <lathe/autoschedule/impl/default_pack.ipp>
#include <lathe/autoschedule/impl/default_pad.ipp>
#include <lathe/autoschedule/impl/default_rows.ipp>
#include <lathe/autoschedule/impl/default_shape.ipp>
#include <lathe/autoschedule/impl/default_share.ipp>
#include <lathe/autoschedule/impl/default_slices.ipp>
//
#include <lathe/autoschedule/impl/default_moves.ipp>
#include <lathe/autoschedule/impl/default_row_blocks.ipp>
#include <lathe/autoschedule/impl/default_streams.ipp>
//
#include <lathe/autoschedule/impl/default_channels.ipp>
#include <lathe/autoschedule/impl/default_columns.ipp>
#include <lathe/autoschedule/impl/default_elementwise.ipp>
#include <lathe/autoschedule/impl/default_finish.ipp>
#include <lathe/autoschedule/impl/default_fold.ipp>
#include <lathe/autoschedule/impl/default_intrinsic.ipp>
#include <lathe/autoschedule/impl/default_loops.ipp>
#include <lathe/autoschedule/impl/default_place.ipp>
#include <lathe/autoschedule/impl/default_threads.ipp>
//
#include <lathe/autoschedule/impl/default_intrinsic_cost.ipp>
//
#include <lathe/autoschedule/impl/default_blocks.ipp>
#include <lathe/autoschedule/impl/default_stream_terms.ipp>
#include <lathe/autoschedule/impl/default_tensorize.ipp>
#include <lathe/autoschedule/impl/default_window_cost.ipp>
//
#include <lathe/autoschedule/impl/default_register_tile.ipp>
//
#include <lathe/autoschedule/impl/default_windows.ipp>
//
#include <lathe/autoschedule/impl/default_reduction.ipp>
//
#include <lathe/autoschedule/impl/default_tile.ipp>
//
#include <lathe/autoschedule/impl/default_schedule.ipp>
