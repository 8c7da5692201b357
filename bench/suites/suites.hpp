// Which cases there are.
#pragma once

#include "core/case.hpp"
#include "core/options.hpp"
#include "core/report.hpp"

namespace bench {

std::vector<Case> gemm_cases();
/// Some sizes are drawn with the seed.
std::vector<Case> small_cases(unsigned seed);
std::vector<Case> elementwise_cases();
std::vector<Case> stencil_cases();
std::vector<Case> photo_cases();
std::vector<Case> apps_cases();

/// The suites above by name; none for those below.
std::vector<Case> cases_of(const std::string& suite, unsigned seed);

/// Times programs under schedules that experts would write, on one thread.
void run_hand_suite(const Options& options, Report& report);
/// None without Lathe.
std::vector<std::string> hand_case_names();

/// Times programs under Lathe's default schedule beside plain loops, on one thread, in sizes drawn
/// with options.seed. Throws std::runtime_error after the last one if a result was wrong.
void run_plain_suite(const Options& options, Report& report);
/// None without Lathe.
std::vector<std::string> plain_case_names(const Options& options);

/// The same of programs that move elements of large arrays, also beside copies of as many bytes.
void run_move_suite(const Options& options, Report& report);
/// None without Lathe.
std::vector<std::string> move_case_names(const Options& options);

/// The same of programs over images, also beside a library's functions.
void run_image_suite(const Options& options, Report& report);
/// None without Lathe.
std::vector<std::string> image_case_names(const Options& options);

/// Times programs of the suites plain and ansor by the plan of the default schedule beside other
/// plans, on one thread, and says how well predictions order them. Throws std::runtime_error after
/// the last one if a plan's result was wrong.
void run_regret_suite(const Options& options, Report& report);
/// None without Lathe.
std::vector<std::string> regret_case_names(const Options& options);

/// Times products of matrices of all types under Lathe's default schedule beside libraries, on one
/// thread; some sizes are drawn with options.seed. Throws std::runtime_error after the last one if
/// a result of Lathe was wrong.
void run_types_suite(const Options& options, Report& report);
/// None without Lathe.
std::vector<std::string> types_case_names(const Options& options);

/// Times the single operators of Ansor's evaluation under Lathe's default schedule beside
/// libraries; one size of each is drawn with options.seed. Throws std::runtime_error after the last
/// one if a result of Lathe was wrong.
void run_ansor_suite(const Options& options, Report& report);
/// None without Lathe.
std::vector<std::string> ansor_case_names(const Options& options);

/// The same of attention, products with norms and activations around, norms and rotations.
void run_transformer_suite(const Options& options, Report& report);
/// None without Lathe.
std::vector<std::string> transformer_case_names(const Options& options);

/// Times what happens around kernels: compilation, calls, and the include of the header.
void run_jit_suite(const Options& options, Report& report);
std::vector<std::string> jit_case_names();

/// Times the parts of compilations; prints a table of its own.
void run_compile_suite(const Options& options);
std::vector<std::string> compile_case_names();

/// Times the steps of schedules.
void run_schedule_suite(const Options& options, Report& report);
std::vector<std::string> schedule_case_names();

/// Times the kernels of tests/polybench as they are scheduled there, and their loops in C++.
void run_polybench_suite(const Options& options, Report& report);
/// None without Lathe.
std::vector<std::string> polybench_case_names();

}  // namespace bench
