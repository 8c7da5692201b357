// The arguments of a program: random content, and its way into the oracle and into the evaluator.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <utility>

#include "interpreter.hpp"

namespace oracle {

using Dims = std::vector<std::pair<std::string, std::int64_t>>;

/// One argument: dense elements, or a scalar's bits.
struct Argument {
  std::string name;
  DType type;
  bool is_scalar = false, starts_undefined = false, written = false;
  std::vector<std::int64_t> extents, strides;
  std::vector<char> bytes;
  std::uint64_t scalar = 0;

  std::size_t elements() const { return bytes.size() / element_bytes(); }
  std::size_t element_bytes() const { return static_cast<std::size_t>(type.element_bytes()); }
  Number element(std::size_t k) const {
    return read_bytes(type, bytes.data() + k * element_bytes());
  }
};
using Arguments = std::vector<Argument>;
inline constexpr std::int64_t kMostElements = 1 << 22;  ///< of one argument

inline void set_dims(const lathe::Program& program, const Dims& dims, State& state) {
  for (const auto& dim : program->dims)
    for (const auto& [name, value] : dims)
      if (name == dim->var->name) state.set(dim->var, whole_number(value));
}

/// Arguments of the right sizes; next(type) gives their elements.
template <class Next>
Arguments make_arguments(const lathe::Program& program, const Dims& dims, Next next) {
  State state;
  set_dims(program, dims, state);
  Arguments all;
  for (const auto& param : program->params) {
    Argument a;
    a.name = param.name(), a.type = param.dtype(), a.is_scalar = !param.buffer;
    a.starts_undefined = param.access == lathe::Access::out;
    a.written = param.access != lathe::Access::in;
    std::int64_t count = 1;
    if (a.is_scalar) {
      write_bytes(a.type, reinterpret_cast<char*>(&a.scalar), next(a.type));
      all.push_back(std::move(a));
      continue;
    }
    for (const auto& e : param.buffer->shape)
      a.extents.push_back(static_cast<std::int64_t>(Expression(state).index(e)));
    a.strides.resize(a.extents.size());
    for (std::size_t d = a.extents.size(); d-- > 0; count *= a.extents[d]) {
      if (a.extents[d] < 0 || a.extents[d] > kMostElements / std::max<std::int64_t>(count, 1))
        throw NoResult(NoResult::too_large, "no argument is as large as '" + a.name + "'");
      a.strides[d] = count;
    }
    a.bytes.resize(static_cast<std::size_t>(count) * a.element_bytes());
    for (std::size_t k = 0; k < a.elements(); ++k)
      write_bytes(a.type, a.bytes.data() + k * a.element_bytes(), next(a.type));
    all.push_back(std::move(a));
  }
  return all;
}

/// The state that a call begins with.
inline State start_of(const lathe::Program& program, const Dims& dims, const Arguments& args) {
  State state;
  set_dims(program, dims, state);
  for (std::size_t k = 0; k < args.size(); ++k) {
    const Argument& a = args[k];
    const lathe::Param& param = program->params[k];
    if (a.is_scalar) {
      state.set(param.var, read_bytes(a.type, reinterpret_cast<const char*>(&a.scalar)));
      continue;
    }
    Array array(a.name, a.type, std::vector<Whole>(a.extents.begin(), a.extents.end()));
    for (std::size_t e = 0; e < a.elements() && !a.starts_undefined; ++e)
      array.numbers()[e] = a.element(e);
    state.arrays[param.buffer.get()] = std::move(array);
  }
  return state;
}

/// The written arguments' elements after a call, in order; nothing where nothing was stored.
using Results = std::vector<std::vector<std::optional<Number>>>;

inline Results interpret(const lathe::Program& program, const Dims& dims, const Arguments& args) {
  State state = start_of(program, dims, args);
  Interpreter(program, state).run();
  Results out;
  for (std::size_t k = 0; k < args.size(); ++k)
    if (args[k].written) out.push_back(state.array(program->params[k].buffer).numbers());
  return out;
}

}  // namespace oracle
