// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#include <lathe/dsl/impl/layer.ipp>
#endif
//
#include <lathe/schedule/core/impl/edit.ipp>
#include <lathe/schedule/core/impl/init.ipp>
#include <lathe/schedule/core/impl/nest.ipp>
#include <lathe/schedule/core/impl/wording.ipp>
//
#include <lathe/schedule/core/impl/step_checks.ipp>
//
#include <lathe/schedule/core/impl/queries.ipp>
//
#include <lathe/schedule/core/impl/marks.ipp>
//
#include <lathe/schedule/core/impl/arguments.ipp>
#include <lathe/schedule/core/impl/block_steps.ipp>
#include <lathe/schedule/core/impl/claims.ipp>
#include <lathe/schedule/core/impl/loop_steps.ipp>
#include <lathe/schedule/core/impl/primitive.ipp>
#include <lathe/schedule/core/impl/schedule.ipp>
#include <lathe/schedule/core/impl/schedule_state.ipp>
#include <lathe/schedule/core/impl/schedule_steps.ipp>
#include <lathe/schedule/core/impl/storage_steps.ipp>
//
#include <lathe/schedule/core/impl/html_style.ipp>
//
#include <lathe/schedule/core/impl/html.ipp>
//
#include <lathe/schedule/core/impl/replay.ipp>
#include <lathe/schedule/core/impl/trace_parse.ipp>
#include <lathe/schedule/core/impl/trace_print.ipp>
