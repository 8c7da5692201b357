#pragma once

#include <lathe/eval/evaluate.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/jit/intrinsic_check.hpp>
#include <lathe/schedule/primitives/tensor/intrinsic.hpp>
#include <lathe/support/random.hpp>

namespace lathe {
namespace detail {

/// Memory for the operands of a row, filled anew for each trial.
class IntrinsicTrial {
 public:
  IntrinsicTrial(const Intrinsic& row, std::uint64_t seed) : row_(row) {
    for (std::size_t k = 0; k < row.operands.size(); ++k) {
      const BufferNode& b = *row.operands[k].described;
      std::int64_t count = 1;
      for (const auto& extent : b.shape) count *= *as_const_int(extent);
      Vec<char> bytes(static_cast<std::size_t>(count * b.dtype.element_bytes()), '\0');
      for (std::int64_t e = 0; e < count; ++e)
        write_element(b.dtype, bytes.data() + e * b.dtype.element_bytes(),
                      value(b.dtype, random_bits(seed, static_cast<std::uint64_t>(e) * 16 + k)));
      memory_.push_back(std::move(bytes));
    }
  }

  Vec<Vec<char>> run(const Program& program) const {
    Vec<Vec<char>> memory = memory_;
    Vec<std::uint64_t> slots;
    for (const CallSlot& s : slot_layout(program)) {
      const auto operand = static_cast<std::size_t>(s.param);
      slots.push_back(s.kind == CallSlot::Kind::buffer
                          ? reinterpret_cast<std::uintptr_t>(memory[operand].data())
                          : dense_stride(*row_.operands[operand].described, s.index));
    }
    Evaluator(program).run(slots.data());
    return memory;
  }

  std::string difference() const {
    const Vec<Vec<char>> wanted = run(row_.description), got = run(row_.implementation);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const BufferNode& b = *row_.operands[k].described;
      const int bytes = b.dtype.element_bytes();
      for (std::size_t at = 0; at < wanted[k].size(); at += static_cast<std::size_t>(bytes)) {
        const Scalar x = read_element(b.dtype, wanted[k].data() + at),
                     y = read_element(b.dtype, got[k].data() + at);
        if (is_nan(b.dtype, x) ? is_nan(b.dtype, y)
                               : scalar_bits(b.dtype, x) == scalar_bits(b.dtype, y))
          continue;
        return cat("element ", at / static_cast<std::size_t>(bytes), " of '", b.name, "' is ",
                   text(b.dtype, y), ", and ", text(b.dtype, x), " by the description");
      }
    }
    return {};
  }

 private:
  static std::uint64_t dense_stride(const BufferNode& b, int axis) {
    std::int64_t stride = 1;
    for (int d = axis + 1; d < b.rank(); ++d)
      stride *= *as_const_int(b.shape[static_cast<std::size_t>(d)]);
    return static_cast<std::uint64_t>(stride);
  }
  Scalar value(DType t, std::uint64_t bits) const {
    if (row_.rounding.empty())
      return scalar_from_bits(t, t.bits == 64 ? bits : bits >> (64 - t.bits));
    const int small = static_cast<int>(bits >> 60) - (t.is_float() || t.is_signed() ? 8 : 0);
    return scalar_of(t, small, small);
  }
  static bool is_nan(DType t, Scalar x) {
    return t.is_float() && (t.bits == 64 ? x.f != x.f : x.s != x.s);
  }
  static std::string text(DType t, Scalar x) {
    return str(t.is_float() ? make_float(t, t.bits == 64 ? x.f : static_cast<double>(x.s))
                            : make_int(t, x.i));
  }

  const Intrinsic& row_;
  Vec<Vec<char>> memory_;
};

}  // namespace detail

LATHE_DECL std::string intrinsic_difference(const TensorIntrin& row, Location where) {
  detail::Intrinsic read;
  if (auto no = detail::read_intrinsic(row, read))
    throw UserError(no->id, cat("intrinsic_difference: ", no->message), where, {}, no->help);
  constexpr std::uint64_t trials = 8;
  for (std::uint64_t seed = 1; seed <= trials; ++seed)
    if (std::string found = detail::IntrinsicTrial(read, seed).difference(); !found.empty())
      return found;
  return {};
}

}  // namespace lathe
