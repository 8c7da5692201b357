// Programs of tensors: their parameters, the order of these, and the intermediates to allocate.
#pragma once

#include <lathe/dsl/any.hpp>

namespace lathe {

/// One parameter: a tensor, or with `result` an input whose memory that computed tensor takes over.
struct ProgramParam {
  AnyTensor tensor;
  AnyTensor result;
  /// Of typed calls: the argument is a view of const elements.
  bool read_only = false;

  ProgramParam(AnyTensor its_tensor, AnyTensor its_result = {})
      : tensor(std::move(its_tensor)), result(std::move(its_result)) {}
};

/// The tensors that a program computes, in order.
struct OutputList {
  Vec<AnyTensor> tensors;
  Vec<ProgramParam> inouts{};  ///< those of them that take over an input's memory
};

/// The program of these tensors at Stage::blocks: one block per compute, in an order in which what
/// is read was computed before; every tensor that is no parameter is allocated. Parameters are in
/// the order given. L0111 one name twice · L0112 input or output not among params · L0113 param
/// that is neither · L0114 dim of unknown value · L0115 inout not legal · L0116 undefined tensor
Program program_of(const OutputList& outputs, const Vec<ProgramParam>& params,
                   Location where = Location::here());
/// Parameters are the inputs in order of first use, then the outputs; an inout counts as an input.
Program program_of(const OutputList& outputs, Location where = Location::here());
inline Program program_of(const AnyTensor& output, Location where = Location::here()) {
  return program_of(OutputList{{output}}, where);
}

}  // namespace lathe
