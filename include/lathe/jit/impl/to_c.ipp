#pragma once

#include <lathe/codegen/c/c_source.hpp>
#include <lathe/codegen/common/symbol.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/jit/kernel_code.hpp>
#include <lathe/jit/source.hpp>
#include <lathe/jit/to_c.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/pipeline.hpp>

namespace lathe {
namespace detail {

inline std::string slot_text(const CallSlot& slot, const ProgramNode& program) {
  const auto param = static_cast<std::size_t>(slot.param);
  switch (slot.kind) {
    case CallSlot::Kind::buffer:
      return cat("the elements of ", program.params[param].is_argument() ? "" : "constant ",
                 slot.name, ", ", program.params[param].dtype().str());
    case CallSlot::Kind::dim:
      return cat("the extent ", slot.name);
    case CallSlot::Kind::stride:
      return cat("the stride of axis ", slot.index, " of ", program.params[param].name(),
                 ", in elements");
    default:
      return cat("the number ", slot.name, ", ", program.params[param].dtype().str(),
                 ", in its low bytes");
  }
}

inline Program lowered_for_c(const ProgramVersions& versions, const Target& target,
                             LowerOptions options) {
  options.language = Language::c;
  const Program out = lowered_versions(versions, target, options);
  std::string why = verify_reason(out, Stage::machine, {target, Language::c});
  if (why.empty()) return out;
  throw UserError("L0622",
                  cat("to_c: C cannot say what program '", out->name, "' was lowered to: ", why),
                  options.where, {}, "give the program as it was before lowering");
}

inline std::string c_of(const Program& lowered) {
  CUnit unit;
  const std::string symbol = kernel_symbol(lowered->name);
  const Vec<std::string> messages = unit.add(lowered, symbol);
  std::string head =
      cat("/* int32_t ", symbol, "(const uint64_t *slots, lathe_runtime *rt);\n   slots:\n");
  int number = 0;
  for (const auto& slot : slot_layout(lowered))
    append(head, "     ", number++, "  ", slot_text(slot, *lowered), "\n");
  head += "   returns 0; 1: no memory";
  for (std::size_t k = 0; k < messages.size(); ++k) append(head, "; ", 16 + k, ": ", messages[k]);
  // No message ends the comment.
  for (std::size_t at = 0; (at = head.find("*/", at)) != head.npos;) head.replace(at, 2, "* /");
  return cat(head, " */\n", unit.text());
}

}  // namespace detail

LATHE_DECL std::string to_c(const Source& source) {
  return detail::within_memory("to_c", source.where(), [&] {
    const Target target = source.options().target ? *source.options().target : Target();
    if (target.kind != TargetKind::cpu)
      throw UserError("L0620", cat("to_c: '", target.name, "' is no CPU"), source.where(), {},
                      "leave the target out, or name a CPU");
    const JitOptions& options = source.options();
    Program program = detail::bound_program(source, {}).program;
    // What nobody scheduled is planned for the views that the C code takes: any.
    if (!source.scheduled() && program->stage == Stage::blocks) program = open_strides(program);
    return detail::c_of(detail::lowered_for_c(detail::scheduled_versions(source, program, target),
                                              target,
                                              {.strict = options.strict,
                                               .math = options.math,
                                               .checked = options.checked,
                                               .context = options.context,
                                               .where = source.where()}));
  });
}

LATHE_DECL std::string to_c(const AnyKernel& kernel, Location where) {
  if (!kernel) AnyKernel().call(nullptr, where);
  if (!kernel.once().empty())
    throw UserError(
        "L0623",
        cat("to_c: kernel '", kernel.program()->name, "' keeps what it has computed of constants"),
        where, {}, "give to_c the schedule: its C computes that in each call");
  const Ref<KernelCode> code = kernel.code();
  if (!code) return to_c(Source(kernel.program(), {}, where));
  return detail::within_memory("to_c", where, [&] {
    const CodeKind kind = code->kind;
    return detail::c_of(detail::lowered_for_c(
        code->whole().versions, Target(),
        {.strict = kind.strict, .math = kind.math, .checked = kind.checked, .where = where}));
  });
}

}  // namespace lathe
