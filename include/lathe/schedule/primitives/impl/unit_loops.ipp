// The bodies of loops, sampling and storage: a translation unit of lathe::compiled.
#pragma once

#include <lathe/schedule/primitives/loops/add_unit_loop.ipp>
#include <lathe/schedule/primitives/loops/annotate.ipp>
#include <lathe/schedule/primitives/loops/assume.ipp>
#include <lathe/schedule/primitives/loops/bind.ipp>
#include <lathe/schedule/primitives/loops/fuse.ipp>
#include <lathe/schedule/primitives/loops/kinds.ipp>
#include <lathe/schedule/primitives/loops/loop_partition.ipp>
#include <lathe/schedule/primitives/loops/merge.ipp>
#include <lathe/schedule/primitives/loops/partition.ipp>
#include <lathe/schedule/primitives/loops/reorder.ipp>
#include <lathe/schedule/primitives/loops/split.ipp>
#include <lathe/schedule/primitives/loops/tile.ipp>
#include <lathe/schedule/primitives/loops/unannotate.ipp>
#include <lathe/schedule/primitives/sampling/sample.ipp>
#include <lathe/schedule/primitives/sampling/sample_location.ipp>
#include <lathe/schedule/primitives/storage/atomic.ipp>
#include <lathe/schedule/primitives/storage/change_type.ipp>
#include <lathe/schedule/primitives/storage/double_buffer.ipp>
#include <lathe/schedule/primitives/storage/hoist_storage.ipp>
#include <lathe/schedule/primitives/storage/rolling_buffer.ipp>
#include <lathe/schedule/primitives/storage/software_pipeline.ipp>
#include <lathe/schedule/primitives/storage/storage.ipp>
