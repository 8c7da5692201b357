// Tensor intrinsics: what an instruction, or a piece of code as fast as one, computes on small
// tensors, as rows that `tensorize` matches loops with.
#pragma once

#include <lathe/support/target.hpp>
#include <string>
#include <string_view>

namespace lathe {

/// A row is a value: one of tensor_intrins(), or a program's own, for which nothing has to be
/// registered. Both texts are programs with the same parameters, buffers of constant shape.
struct TensorIntrin {
  std::string name;
  /// What it computes: one block under loops of constant extent. Each of its indices is one of the
  /// block's iterators.
  std::string description;
  /// What takes its place: stores without loops, at constant places, as a rule of whole vectors. It
  /// has to compute what the description says; that is believed (intrinsic_difference tests it).
  std::string implementation;
  /// How its floating-point results may differ from the description's; empty: no bit does.
  std::string rounding{};
  /// Where a target has all of these, the implementation is one instruction. Elsewhere the same
  /// bits are computed in several.
  Vec<std::string> features{};
  /// Cycles there between two of them, and from one to the next that adds to its result.
  double cycles = 1, latency = 4;
  /// Registers that it takes besides those of its operands and results.
  int temporaries = 0;
};

/// The rows that come with Lathe.
const Vec<TensorIntrin>& tensor_intrins();
/// One of them; null if there is none of that name.
const TensorIntrin* find_tensor_intrin(std::string_view name);

}  // namespace lathe
