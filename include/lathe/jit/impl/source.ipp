#pragma once

#include <lathe/ir/verify.hpp>
#include <lathe/jit/impl/unread.ipp>
#include <lathe/jit/open_code.hpp>
#include <lathe/jit/source.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

LATHE_DECL const Context& context_of(const Source& source) {
  return source.options().context ? *source.options().context : Context::default_context();
}

inline std::string list_params(const Program& p) {
  Vec<std::string> names;
  for (const Param& param : p->params)
    if (param.is_argument()) names.push_back(param.name());
  return join(names, ", ");
}

inline bool is_param_of(const AnyTensor& t, const Param& p) {
  if (t.is_scalar()) return p.var && p.var == t.scalar();
  return p.buffer && p.buffer == t.param_buffer();
}
inline bool looks_like(const AnyTensor& t, const Param& p) {
  const int rank = p.buffer ? p.buffer->rank() : 0;
  return t.is_scalar() == !p.buffer && t.name() == p.name() && t.dtype() == p.dtype() &&
         t.rank() == rank;
}

inline int find_param(const Program& program, const ProgramParam& wanted, Location where) {
  const int count = static_cast<int>(program->params.size());
  const auto argument = [&](const auto& fits) {
    for (int k = 0; k < count; ++k) {
      const Param& p = program->params[static_cast<std::size_t>(k)];
      if (p.is_argument() && fits(wanted.tensor, p)) return k;
    }
    return -1;
  };
  int found = argument(is_param_of);
  if (found < 0) found = argument(looks_like);
  if (found >= 0) return found;
  throw UserError(
      "L0310", cat("'", wanted.tensor.name(), "' is no parameter of program '", program->name, "'"),
      where, cat("its parameters: ", list_params(program)),
      "outputs and inputs are fixed where the schedule is made: lt::Schedule s(lt::outputs(…))");
}

/// Puts the arguments of a call in relation to the parameters of a finished program.
inline BoundProgram match_params(const Program& program, const Vec<ProgramParam>& params,
                                 Location where) {
  BoundProgram out{program, {}};
  Vec<bool> given(program->params.size());
  for (const auto& p : params) {
    if (!p.tensor)
      throw UserError("L0116", cat("argument ", out.order.size(), " is an undefined tensor"),
                      where);
    int index = find_param(program, p, where);
    const Access access = program->params[static_cast<std::size_t>(index)].access;
    if (p.result && access != Access::inout)
      throw UserError(
          "L0310",
          cat("'", p.tensor.name(), "' is not declared inout in program '", program->name, "'"),
          where, {},
          cat("declare it where the schedule is made: lt::Schedule s(lt::inout(", p.tensor.name(),
              ", ", p.result.name(), ")), or inside lt::outputs(…)"));
    if (p.read_only && access != Access::in)
      throw UserError("L0310",
                      cat("'", p.tensor.name(), "' is written by program '", program->name,
                          "', but is given as an input"),
                      where, {}, cat("give lt::inout(", p.tensor.name(), ", result)"));
    if (given[static_cast<std::size_t>(index)])
      throw UserError("L0310", cat("'", p.tensor.name(), "' is given twice"), where);
    given[static_cast<std::size_t>(index)] = true;
    out.order.push_back(index);
  }
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (!program->params[k].is_argument()) continue;
    if (params.empty())
      out.order.push_back(static_cast<int>(k));
    else if (!given[k])
      throw UserError("L0310",
                      cat("parameter '", program->params[k].name(), "' of program '", program->name,
                          "' is not given"),
                      where, cat("its parameters: ", list_params(program)));
  }
  return out;
}

LATHE_DECL BoundProgram bound_program(const Source& source, const Vec<ProgramParam>& params) {
  check_math(source.options().strict, source.options().math, source.where());
  if (source.program()) {
    verify_defined(source.program(), source.where());
    return match_params(source.program(), params, source.where());
  }
  BoundProgram out{params.empty() ? program_of(source.outputs(), source.where())
                                  : program_of(source.outputs(), params, source.where()),
                   {}};
  if (source.options().unread_inputs == UnreadInputs::refuse)
    refuse_unread(out.program, source.where());
  for (std::size_t k = 0; k < out.program->params.size(); ++k)
    if (out.program->params[k].is_argument()) out.order.push_back(static_cast<int>(k));
  return out;
}

LATHE_DECL AnyKernel make_evaluator(const BoundProgram& bound, const Source& source) {
  KernelParts parts;
  parts.binding = make_ref<Binding>(bound.program, bound.order);
  parts.evaluator = Evaluator(bound.program);
  const auto constants = make_ref<KernelConstants>(bound.program, bound.order,
                                                   source.options().checked, source.where());
  if (constants->any()) parts.constants = constants;
  return AnyKernel(std::move(parts), context_of(source));
}

}  // namespace detail

LATHE_DECL AnyKernel evaluate_any(const Source& source, const Vec<ProgramParam>& params) {
  return detail::within_memory("evaluate", source.where(), [&] {
    return detail::make_evaluator(detail::bound_program(source, params), source);
  });
}

}  // namespace lathe
