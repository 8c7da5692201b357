// The bodies of this layer; those of the layers below come with dsl's and analysis' layer.ipp.
#pragma once

#include <lathe/analysis/impl/layer.ipp>
#include <lathe/dsl/impl/layer.ipp>
//
#include <lathe/schedule/impl/edit.ipp>
#include <lathe/schedule/impl/found.ipp>
#include <lathe/schedule/impl/init.ipp>
#include <lathe/schedule/impl/nest.ipp>
#include <lathe/schedule/impl/wording.ipp>
//
#include <lathe/schedule/impl/shift.ipp>
#include <lathe/schedule/impl/step_checks.ipp>
//
#include <lathe/schedule/impl/split.ipp>
//
#include <lathe/schedule/impl/fold_order.ipp>
//
#include <lathe/schedule/impl/compute_at.ipp>
//
#include <lathe/schedule/impl/copies.ipp>
//
#include <lathe/schedule/impl/cache.ipp>
//
#include <lathe/schedule/impl/add_unit_loop.ipp>
#include <lathe/schedule/impl/annotate.ipp>
#include <lathe/schedule/impl/assume.ipp>
#include <lathe/schedule/impl/atomic.ipp>
#include <lathe/schedule/impl/bind.ipp>
#include <lathe/schedule/impl/blockize.ipp>
#include <lathe/schedule/impl/change_type.ipp>
#include <lathe/schedule/impl/clone.ipp>
#include <lathe/schedule/impl/compute_inline.ipp>
#include <lathe/schedule/impl/decompose_padding.ipp>
#include <lathe/schedule/impl/decompose_reduction.ipp>
#include <lathe/schedule/impl/fuse.ipp>
#include <lathe/schedule/impl/inputs_first.ipp>
#include <lathe/schedule/impl/kinds.ipp>
#include <lathe/schedule/impl/loop_partition.ipp>
#include <lathe/schedule/impl/pad.ipp>
#include <lathe/schedule/impl/partition.ipp>
#include <lathe/schedule/impl/queries.ipp>
#include <lathe/schedule/impl/reindex.ipp>
#include <lathe/schedule/impl/reorder.ipp>
#include <lathe/schedule/impl/reverse_compute_at.ipp>
#include <lathe/schedule/impl/reverse_compute_inline.ipp>
#include <lathe/schedule/impl/rfactor.ipp>
#include <lathe/schedule/impl/sample.ipp>
#include <lathe/schedule/impl/settled.ipp>
#include <lathe/schedule/impl/steady_conditions.ipp>
#include <lathe/schedule/impl/storage.ipp>
#include <lathe/schedule/impl/tensorize.ipp>
#include <lathe/schedule/impl/tile.ipp>
#include <lathe/schedule/impl/transform_block_layout.ipp>
#include <lathe/schedule/impl/unannotate.ipp>
//
#include <lathe/schedule/impl/hoist_storage.ipp>
#include <lathe/schedule/impl/merge.ipp>
//
#include <lathe/schedule/impl/double_buffer.ipp>
//
#include <lathe/schedule/impl/marks.ipp>
#include <lathe/schedule/impl/rolling_buffer.ipp>
#include <lathe/schedule/impl/software_pipeline.ipp>
//
#include <lathe/schedule/impl/arguments.ipp>
#include <lathe/schedule/impl/claims.ipp>
#include <lathe/schedule/impl/methods.ipp>
#include <lathe/schedule/impl/primitive.ipp>
#include <lathe/schedule/impl/schedule.ipp>
//
#include <lathe/schedule/impl/sample_location.ipp>
//
#include <lathe/schedule/impl/html_style.ipp>
//
#include <lathe/schedule/impl/html.ipp>
//
#include <lathe/schedule/impl/replay.ipp>
#include <lathe/schedule/impl/trace_parse.ipp>
#include <lathe/schedule/impl/trace_print.ipp>
//
#include <lathe/schedule/impl/default_cost.ipp>
//
#include <lathe/schedule/impl/default_nest.ipp>
//
#include <lathe/schedule/impl/default_rows.ipp>
//
#include <lathe/schedule/impl/default_streams.ipp>
//
#include <lathe/schedule/impl/default_elementwise.ipp>
#include <lathe/schedule/impl/default_place.ipp>
#include <lathe/schedule/impl/default_reduction.ipp>
#include <lathe/schedule/impl/default_threads.ipp>
//
#include <lathe/schedule/impl/default_tile.ipp>
//
#include <lathe/schedule/impl/default_schedule.ipp>
