// The bodies of storage: a translation unit of lathe::compiled.
#pragma once

#include <lathe/lower/storage/align_rows.ipp>
#include <lathe/lower/storage/compact_buffers.ipp>
#include <lathe/lower/storage/double_buffers.ipp>
#include <lathe/lower/storage/flatten.ipp>
#include <lathe/lower/storage/hoist_storage.ipp>
#include <lathe/lower/storage/place_buffers.ipp>
#include <lathe/lower/storage/place_prefetches.ipp>
#include <lathe/lower/storage/promote_accumulators.ipp>
#include <lathe/lower/storage/promote_registers.ipp>
#include <lathe/lower/storage/roll_buffers.ipp>
