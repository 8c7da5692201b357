// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/schedule/core/impl/layer.ipp>
#endif
//
#include <lathe/schedule/primitives/loops/split.ipp>
//
#include <lathe/schedule/primitives/blocks/fold_order.ipp>
//
#include <lathe/schedule/primitives/placement/compute_at.ipp>
//
#include <lathe/schedule/primitives/copies/copies.ipp>
//
#include <lathe/schedule/primitives/copies/cache.ipp>
//
#include <lathe/schedule/primitives/blocks/blockize.ipp>
#include <lathe/schedule/primitives/blocks/decompose_padding.ipp>
#include <lathe/schedule/primitives/blocks/decompose_reduction.ipp>
#include <lathe/schedule/primitives/blocks/pad.ipp>
#include <lathe/schedule/primitives/blocks/rfactor.ipp>
#include <lathe/schedule/primitives/copies/clone.ipp>
#include <lathe/schedule/primitives/copies/reindex.ipp>
#include <lathe/schedule/primitives/layout/transform_block_layout.ipp>
#include <lathe/schedule/primitives/loops/add_unit_loop.ipp>
#include <lathe/schedule/primitives/loops/annotate.ipp>
#include <lathe/schedule/primitives/loops/assume.ipp>
#include <lathe/schedule/primitives/loops/bind.ipp>
#include <lathe/schedule/primitives/loops/fuse.ipp>
#include <lathe/schedule/primitives/loops/kinds.ipp>
#include <lathe/schedule/primitives/loops/loop_partition.ipp>
#include <lathe/schedule/primitives/loops/partition.ipp>
#include <lathe/schedule/primitives/loops/reorder.ipp>
#include <lathe/schedule/primitives/loops/tile.ipp>
#include <lathe/schedule/primitives/loops/unannotate.ipp>
#include <lathe/schedule/primitives/placement/compute_inline.ipp>
#include <lathe/schedule/primitives/placement/inputs_first.ipp>
#include <lathe/schedule/primitives/placement/reverse_compute_at.ipp>
#include <lathe/schedule/primitives/placement/reverse_compute_inline.ipp>
#include <lathe/schedule/primitives/sampling/sample.ipp>
#include <lathe/schedule/primitives/storage/atomic.ipp>
#include <lathe/schedule/primitives/storage/change_type.ipp>
#include <lathe/schedule/primitives/storage/storage.ipp>
#include <lathe/schedule/primitives/tensor/tensorize.ipp>
//
#include <lathe/schedule/primitives/loops/merge.ipp>
#include <lathe/schedule/primitives/storage/hoist_storage.ipp>
//
#include <lathe/schedule/primitives/storage/double_buffer.ipp>
//
#include <lathe/schedule/primitives/storage/rolling_buffer.ipp>
#include <lathe/schedule/primitives/storage/software_pipeline.ipp>
//
#include <lathe/schedule/primitives/sampling/sample_location.ipp>
