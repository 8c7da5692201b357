// The bodies of this layer and of those below it.
#pragma once

#include <lathe/schedule/primitives/impl/layer.ipp>
//
#include <lathe/autoschedule/impl/default_cost.ipp>
//
#include <lathe/autoschedule/impl/default_nest.ipp>
//
#include <lathe/autoschedule/impl/default_rows.ipp>
//
#include <lathe/autoschedule/impl/default_streams.ipp>
//
#include <lathe/autoschedule/impl/default_elementwise.ipp>
#include <lathe/autoschedule/impl/default_place.ipp>
#include <lathe/autoschedule/impl/default_reduction.ipp>
#include <lathe/autoschedule/impl/default_threads.ipp>
//
#include <lathe/autoschedule/impl/default_tile.ipp>
//
#include <lathe/autoschedule/impl/default_schedule.ipp>
