// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif
//
#include <lathe/lower/impl/unit_blocks.ipp>
#include <lathe/lower/impl/unit_machine.ipp>
#include <lathe/lower/impl/unit_math.ipp>
#include <lathe/lower/impl/unit_storage.ipp>
#include <lathe/lower/impl/unit_tiles.ipp>
#include <lathe/lower/impl/unit_vector.ipp>
