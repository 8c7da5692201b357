// Lathe's entry header: describe tensor computations, schedule them, compile and run them.
#pragma once

#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/cost/explanation.hpp>
#include <lathe/dsl/dsl.hpp>
#include <lathe/fwd.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/jit/intrinsic_check.hpp>
#include <lathe/jit/jit.hpp>
#include <lathe/jit/measure_machine.hpp>
#include <lathe/jit/to_c.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/runtime/view.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <lathe/support/context.hpp>
#include <lathe/support/target.hpp>

#if !defined(LATHE_SEPARATE_COMPILATION) || defined(LATHE_IMPLEMENTATION)
#include <lathe/impl/src.hpp>
#endif
