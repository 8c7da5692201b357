// Every function body of Lathe, for header-only use or once per program in compiled mode.
// Made by tools/check_sources.py --write.
#pragma once

// Lowest layer first.
// clang-format off
#include <lathe/support/impl/layer.ipp>
#include <lathe/ir/impl/layer.ipp>
#include <lathe/arith/impl/layer.ipp>
#include <lathe/analysis/impl/layer.ipp>
#include <lathe/cost/impl/layer.ipp>
#include <lathe/dsl/impl/layer.ipp>
#include <lathe/schedule/core/impl/layer.ipp>
#include <lathe/schedule/primitives/impl/layer.ipp>
#include <lathe/autoschedule/impl/layer.ipp>
#include <lathe/lower/impl/layer.ipp>
#include <lathe/codegen/impl/layer.ipp>
#include <lathe/runtime/impl/layer.ipp>
#include <lathe/eval/impl/layer.ipp>
#include <lathe/jit/impl/layer.ipp>
