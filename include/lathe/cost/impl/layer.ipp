// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif
//
#include <lathe/cost/impl/machine.ipp>
//
#include <lathe/cost/impl/operation_cost.ipp>
#include <lathe/cost/impl/program_work.ipp>
#include <lathe/cost/impl/step.ipp>
//
#include <lathe/cost/impl/stage_advice.ipp>
#include <lathe/cost/impl/stage_cost.ipp>
#include <lathe/cost/impl/stage_model.ipp>
//
#include <lathe/cost/impl/explain.ipp>
#include <lathe/cost/impl/explanation_text.ipp>
