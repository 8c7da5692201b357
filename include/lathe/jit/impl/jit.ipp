#pragma once

#include <lathe/codegen/llvm_ir.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/jit/code_cache.hpp>
#include <lathe/jit/jit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/runtime/orc.hpp>
#include <lathe/schedule/default_schedule.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline const Context& context_of(const Source& source) {
  return source.options().context ? *source.options().context : Context::default_context();
}

/// A source's program, and which of its parameters each argument is for.
struct BoundProgram {
  Program program;
  std::vector<int> order;
};

inline std::string list_params(const Program& p) {
  return join(p->params, ", ", [](const Param& param) -> const std::string& { return param.name(); });
}

inline bool is_param_of(const AnyTensor& t, const Param& p) {
  if (t.is_scalar()) return p.var && p.var == t.scalar();
  return p.buffer && p.buffer == t.param_buffer();
}
inline bool looks_like(const AnyTensor& t, const Param& p) {
  const int rank = p.buffer ? p.buffer->rank() : 0;
  return t.is_scalar() == !p.buffer && t.name() == p.name() && t.dtype() == p.dtype() && t.rank() == rank;
}

inline int find_param(const Program& program, const ProgramParam& wanted, Location where) {
  const int count = static_cast<int>(program->params.size());
  for (int k = 0; k < count; ++k)
    if (is_param_of(wanted.tensor, program->params[static_cast<std::size_t>(k)])) return k;
  for (int k = 0; k < count; ++k)
    if (looks_like(wanted.tensor, program->params[static_cast<std::size_t>(k)])) return k;
  throw UserError("L0310", cat("'", wanted.tensor.name(), "' is no parameter of program '", program->name, "'"), where,
                  cat("its parameters: ", list_params(program)),
                  "outputs and inputs are fixed where the schedule is made: lt::Schedule s(lt::outputs(…))");
}

/// Puts the arguments of a call in relation to the parameters of a finished program.
inline BoundProgram match_params(const Program& program, const std::vector<ProgramParam>& params, Location where) {
  BoundProgram out{program, {}};
  std::vector<bool> given(program->params.size());
  for (const auto& p : params) {
    int index = find_param(program, p, where);
    const Access access = program->params[static_cast<std::size_t>(index)].access;
    if (p.result && access != Access::inout)
      throw UserError("L0310", cat("'", p.tensor.name(), "' is not declared inout in program '", program->name, "'"), where);
    if (given[static_cast<std::size_t>(index)])
      throw UserError("L0310", cat("'", p.tensor.name(), "' is given twice"), where);
    given[static_cast<std::size_t>(index)] = true;
    out.order.push_back(index);
  }
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (params.empty()) out.order.push_back(static_cast<int>(k));
    else if (!given[k])
      throw UserError("L0310", cat("parameter '", program->params[k].name(), "' of program '", program->name, "' is not given"),
                      where, cat("its parameters: ", list_params(program)));
  }
  return out;
}

inline BoundProgram bound_program(const Source& source, const std::vector<ProgramParam>& params) {
  if (source.program()) return match_params(source.program(), params, source.where());
  BoundProgram out{params.empty() ? program_of(source.outputs(), source.where())
                                  : program_of(source.outputs(), params, source.where()),
                   {}};
  for (std::size_t k = 0; k < out.program->params.size(); ++k) out.order.push_back(static_cast<int>(k));
  return out;
}

inline Program scheduled_program(const Source& source, const Program& program, const Target& target) {
  if (source.scheduled() || program->stage != Stage::blocks) return program;
  return default_schedule(program, target, {.strict = source.options().strict}).program();
}

inline std::uint64_t code_hash(const Program& scheduled, const Target& target, bool strict, int llvm_major) {
  std::uint64_t h = structural_hash(scheduled);
  auto mix = [&h](std::uint64_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; };
  for (char c : target.str()) mix(static_cast<unsigned char>(c));
  mix(strict ? 1 : 2);
  mix(static_cast<std::uint64_t>(llvm_major));
  return h;
}

inline Ref<KernelCode> compile_code(const Source& source, const Program& scheduled, const Target& target, const Llvm& llvm,
                                    const Context& context) {
  const bool strict = source.options().strict;
  CodeCache& cache = CodeCache::of(context);
  const std::uint64_t hash = code_hash(scheduled, target, strict, llvm.major());
  if (auto known = cache.find(hash, scheduled, target, strict, llvm.major())) return known;
  auto* code = new KernelCode;
  Ref<KernelCode> out(code);
  code->scheduled = scheduled;
  code->target = target;
  code->strict = strict;
  code->llvm_major = llvm.major();
  code->lowered = lower(scheduled, target, {.strict = strict, .context = &context});
  code->text = emit_llvm(code->lowered, target, llvm.major());
  std::vector<char> object = compile_to_object(llvm, code->text.text, target);
  code->loaded = Jit::of(context, source.where()).load(object, code->text.symbol);
  code->entry = code->loaded->entry();
  return cache.add(hash, out);
}

inline Target target_of(const Source& source) {
  Target target = source.options().target ? *source.options().target : host();
  std::string reason;
  if (!target.runs_on(host(), &reason))
    throw UserError("L0312", cat("code for '", target.name, "' does not run on this machine: ", reason), source.where(), {},
                    "use lt::host(), or export the code");
  return target;
}

inline AnyKernel make_evaluator(const BoundProgram& bound, const Context& context) {
  return AnyKernel(make_ref<Binding>(bound.program, bound.order), {}, Evaluator(open_strides(bound.program)), context);
}

}  // namespace detail

LATHE_DECL AnyKernel jit_any(const Source& source, const std::vector<ProgramParam>& params) {
  const Context& context = detail::context_of(source);
  detail::BoundProgram bound = detail::bound_program(source, params);
  Target target = detail::target_of(source);
  std::string reason;
  const Llvm* llvm = Llvm::find(context.options().llvm, &reason);
  if (!llvm) {
    context.log(LogLevel::warning, cat("kernel '", bound.program->name, "' is interpreted: ", reason));
    return detail::make_evaluator(bound, context);
  }
  Program scheduled = detail::scheduled_program(source, bound.program, target);
  auto code = detail::compile_code(source, scheduled, target, *llvm, context);
  return AnyKernel(make_ref<Binding>(bound.program, bound.order), code, Evaluator(), context);
}

LATHE_DECL AnyKernel evaluate_any(const Source& source, const std::vector<ProgramParam>& params) {
  return detail::make_evaluator(detail::bound_program(source, params), detail::context_of(source));
}

}  // namespace lathe
