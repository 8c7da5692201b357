// The bodies of blocks, copies and layout: a translation unit of lathe::compiled.
#pragma once

#include <lathe/schedule/primitives/blocks/blockize.ipp>
#include <lathe/schedule/primitives/blocks/box_domain.ipp>
#include <lathe/schedule/primitives/blocks/decompose_padding.ipp>
#include <lathe/schedule/primitives/blocks/decompose_reduction.ipp>
#include <lathe/schedule/primitives/blocks/fold_lanes.ipp>
#include <lathe/schedule/primitives/blocks/fold_order.ipp>
#include <lathe/schedule/primitives/blocks/pad.ipp>
#include <lathe/schedule/primitives/blocks/resolve_selects.ipp>
#include <lathe/schedule/primitives/blocks/rfactor.ipp>
#include <lathe/schedule/primitives/blocks/select_to_predicate.ipp>
#include <lathe/schedule/primitives/blocks/share_window.ipp>
#include <lathe/schedule/primitives/blocks/split_terms.ipp>
#include <lathe/schedule/primitives/copies/cache.ipp>
#include <lathe/schedule/primitives/copies/cache_padded.ipp>
#include <lathe/schedule/primitives/copies/clone.ipp>
#include <lathe/schedule/primitives/copies/copies.ipp>
#include <lathe/schedule/primitives/copies/hoist_invariant.ipp>
#include <lathe/schedule/primitives/copies/padded_value.ipp>
#include <lathe/schedule/primitives/copies/reindex.ipp>
#include <lathe/schedule/primitives/layout/transform_block_layout.ipp>
