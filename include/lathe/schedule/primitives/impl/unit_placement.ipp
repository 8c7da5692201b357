// The bodies of placement and tensor: a translation unit of lathe::compiled.
#pragma once

#include <lathe/schedule/primitives/placement/compute_at.ipp>
#include <lathe/schedule/primitives/placement/compute_inline.ipp>
#include <lathe/schedule/primitives/placement/inputs_first.ipp>
#include <lathe/schedule/primitives/placement/reverse_compute_at.ipp>
#include <lathe/schedule/primitives/placement/reverse_compute_inline.ipp>
#include <lathe/schedule/primitives/tensor/tensorize.ipp>
