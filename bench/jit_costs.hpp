// What the jit suite measures of Lathe.
#pragma once

#include "core/case.hpp"

namespace bench {

/// cold: nothing is known · disk_cache: a process before compiled it · memory_cache: this context
/// compiled it
enum class CompileMode { cold, disk_cache, memory_cache };
const char* compile_mode_name(CompileMode mode);

/// Seconds to describe and compile a GEMM with bias and GELU; null without Lathe.
std::function<double(const Gemm&)> lathe_compile_seconds(CompileMode mode);

constexpr int call_elements = 16;
constexpr int calls_per_run = 64;
/// A kernel that adds 1 to call_elements floats, called calls_per_run times; none without Lathe.
std::vector<Competitor> lathe_calls(float* a, float* y);

}  // namespace bench
