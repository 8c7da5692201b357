// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/schedule/core/impl/layer.ipp>
#endif
//
#include <lathe/schedule/primitives/impl/unit_blocks.ipp>
#include <lathe/schedule/primitives/impl/unit_loops.ipp>
#include <lathe/schedule/primitives/impl/unit_placement.ipp>
