// What the jit suite measures of Lathe.
#pragma once

#include "core/case.hpp"

namespace bench {

/// cold: nothing is known · new_process: the first thing that a process does, less the time to load
/// libLLVM · disk_cache: a context before kept it in a folder · memory_cache: this one compiled an
/// equal program · same_tensors: this one compiled these very tensors
enum class CompileMode { cold, new_process, disk_cache, memory_cache, same_tensors };
const char* compile_mode_name(CompileMode mode);

/// Seconds to describe (but for same_tensors) and compile a GEMM with bias and GELU; null without
/// Lathe.
std::function<double(const Gemm&)> lathe_compile_seconds(CompileMode mode);

/// What such a process runs instead of main: it prints the seconds. False: this is no such process.
bool lathe_compile_child();

constexpr int call_elements = 16;
constexpr int calls_per_run = 64;
/// A kernel that adds 1 to call_elements floats, called calls_per_run times; none without Lathe.
std::vector<Competitor> lathe_calls(float* a, float* y);

constexpr int tail_elements = 4003, tail_lanes = 8;
/// Doubles tail_elements floats in vectors of tail_lanes, in one kernel for each tail that a split
/// may have anywhere: guard, mask, peel. None without Lathe.
std::vector<Competitor> lathe_tails(const float* x, float* y);
/// Compiles a product in tiles of 8 x 32 with such tails.
std::vector<Competitor> lathe_tail_compilers();

}  // namespace bench
