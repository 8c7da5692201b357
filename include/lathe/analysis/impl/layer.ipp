// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/arith/impl/layer.ipp>
#endif
//
#include <lathe/analysis/impl/access.ipp>
//
#include <lathe/analysis/impl/uses.ipp>
//
#include <lathe/analysis/impl/places.ipp>
//
#include <lathe/analysis/impl/region.ipp>
//
#include <lathe/analysis/impl/region_lower.ipp>
//
#include <lathe/analysis/impl/block.ipp>
#include <lathe/analysis/impl/borders.ipp>
//
#include <lathe/analysis/impl/instances.ipp>
//
#include <lathe/analysis/impl/dependence.ipp>
//
#include <lathe/analysis/impl/told_apart.ipp>
//
#include <lathe/analysis/impl/carried.ipp>
//
#include <lathe/analysis/impl/cover.ipp>
//
#include <lathe/analysis/impl/footprint.ipp>
//
#include <lathe/analysis/impl/open_blocks.ipp>
//
#include <lathe/analysis/impl/find.ipp>
//
#include <lathe/analysis/impl/held.ipp>
//
#include <lathe/analysis/impl/found.ipp>
//
#include <lathe/analysis/impl/filled.ipp>
//
#include <lathe/analysis/impl/kept.ipp>
//
#include <lathe/analysis/impl/settled.ipp>
//
#include <lathe/analysis/impl/shift.ipp>
//
#include <lathe/analysis/impl/steady_conditions.ipp>
//
#include <lathe/analysis/impl/doubled.ipp>
//
#include <lathe/analysis/impl/roll.ipp>
//
#include <lathe/analysis/impl/pipeline.ipp>
//
#include <lathe/analysis/impl/marks.ipp>
