// The table of math functions: which of them is expanded, native or a call, for which target.
#pragma once

#include <lathe/ir/dtype.hpp>
#include <lathe/ir/ops.hpp>
#include <lathe/support/target_caps.hpp>

namespace lathe {

/// expanded: a pass writes it as arithmetic, and none is left at Stage::machine. native: one
/// operation of the language that code is written in. call: a function of the C library.
enum class MathForm : std::uint8_t { expanded, native, call };

struct MathRow {
  CallOp op;
  MathForm form;
  bool TargetCaps::*cap = nullptr;  ///< what `form` needs; null: nothing
  MathForm otherwise = MathForm::expanded;
};

inline constexpr MathRow kMathTable[] = {
    {CallOp::exp, MathForm::expanded},
    {CallOp::exp2, MathForm::expanded},
    {CallOp::log, MathForm::expanded},
    {CallOp::log2, MathForm::expanded},
    {CallOp::sin, MathForm::expanded},
    {CallOp::cos, MathForm::expanded},
    {CallOp::tan, MathForm::expanded},
    {CallOp::tanh, MathForm::expanded},
    {CallOp::erf, MathForm::expanded},
    {CallOp::pow, MathForm::expanded},
    {CallOp::expm1, MathForm::expanded},
    {CallOp::log1p, MathForm::expanded},
    {CallOp::atan, MathForm::expanded},
    {CallOp::atan2, MathForm::expanded},
    {CallOp::cbrt, MathForm::expanded},
    {CallOp::sqrt, MathForm::native},
    {CallOp::abs, MathForm::native},
    {CallOp::copysign, MathForm::native},
    {CallOp::is_nan, MathForm::native},
    {CallOp::popcount, MathForm::native},
    {CallOp::floor, MathForm::native, &TargetCaps::rounds},
    {CallOp::ceil, MathForm::native, &TargetCaps::rounds},
    {CallOp::trunc, MathForm::native, &TargetCaps::rounds},
    {CallOp::round, MathForm::native, &TargetCaps::rounds},
    {CallOp::scalb, MathForm::native, &TargetCaps::scales},
    {CallOp::logb, MathForm::native, &TargetCaps::scales},
    {CallOp::significand, MathForm::native, &TargetCaps::scales},
    {CallOp::reciprocal_estimate, MathForm::native, &TargetCaps::estimates},
    {CallOp::rsqrt_estimate, MathForm::native, &TargetCaps::estimates},
    {CallOp::fma, MathForm::native, &TargetCaps::fma, MathForm::call},
    {CallOp::dot4, MathForm::native, &TargetCaps::byte_dots},
    {CallOp::dot2, MathForm::native, &TargetCaps::bf16_dots},
    {CallOp::dot_words, MathForm::native, &TargetCaps::word_dots},
    {CallOp::sad8, MathForm::native, &TargetCaps::byte_differences},
    {CallOp::mat_dot8, MathForm::native, &TargetCaps::byte_matrices},
    {CallOp::odd_dot2, MathForm::native, &TargetCaps::odd_dots},
    {CallOp::odd_mat_dot4, MathForm::native, &TargetCaps::odd_dots},
};

/// Of what has no row, the calls that compute nothing: native. The remainder of floats, an
/// operator, is a call everywhere.
constexpr MathForm math_form(CallOp op, const TargetCaps& caps) {
  for (const MathRow& row : kMathTable)
    if (row.op == op) return !row.cap || caps.*row.cap ? row.form : row.otherwise;
  return MathForm::native;
}

/// Whether `permute` of such vectors is a few instructions.
constexpr bool is_permuted(DType t, const TargetCaps& caps) {
  return t.bits >= 8 && t.bytes() <= caps.permuted_bytes;
}

/// Expanded for every target, as none has an instruction; many operations each.
constexpr bool is_transcendental(CallOp op) {
  return math_form(op, TargetCaps()) == MathForm::expanded;
}

/// Operations that a vector of a math function takes where it runs, rare paths apart: the
/// polynomials have degrees 5 to 13, and powers two of them (docs/math.md).
constexpr double operations_of_function(CallOp op) {
  switch (op) {
    case CallOp::pow:
      return 60;
    case CallOp::sin:
    case CallOp::cos:
    case CallOp::tan:
    case CallOp::erf:
    case CallOp::atan2:
      return 30;
    default:
      return 20;
  }
}

}  // namespace lathe
