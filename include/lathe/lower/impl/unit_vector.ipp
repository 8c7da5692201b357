// The bodies of vector: a translation unit of lathe::compiled.
#pragma once

#include <lathe/lower/vector/clone.ipp>
#include <lathe/lower/vector/interleave_stores.ipp>
#include <lathe/lower/vector/lift_loads.ipp>
#include <lathe/lower/vector/narrow_integers.ipp>
#include <lathe/lower/vector/unroll.ipp>
#include <lathe/lower/vector/vectorize.ipp>
