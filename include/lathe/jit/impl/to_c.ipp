#pragma once

#include <lathe/codegen/c/c_source.hpp>
#include <lathe/codegen/common/symbol.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/jit/source.hpp>
#include <lathe/jit/to_c.hpp>
#include <lathe/lower/pipeline.hpp>

namespace lathe {
namespace detail {

inline std::string slot_text(const CallSlot& slot, const ProgramNode& program) {
  const auto param = static_cast<std::size_t>(slot.param);
  switch (slot.kind) {
    case CallSlot::Kind::buffer:
      return cat("the elements of ", slot.name, ", ", program.params[param].dtype().str());
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

/// For C, of a source whose program is scheduled.
inline Program lowered_for_c(const Source& source, const Program& scheduled, const Target& target) {
  const JitOptions& options = source.options();
  const Program out = lowered_versions(source, scheduled, target,
                                       {.strict = options.strict,
                                        .checked = options.checked,
                                        .language = Language::c,
                                        .context = options.context,
                                        .where = source.where()});
  std::string why = verify_reason(out, Stage::machine, {target, Language::c});
  if (why.empty()) return out;
  throw UserError("L0622",
                  cat("to_c: C cannot say what program '", out->name, "' was lowered to: ", why),
                  source.where(), {}, "give the program as it was before lowering");
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
    const Program program = detail::bound_program(source, {}).program;
    const Program scheduled = detail::scheduled_program(source, program, target);
    return detail::c_of(detail::lowered_for_c(source, scheduled, target));
  });
}

LATHE_DECL std::string to_c(const AnyKernel& kernel, Location where) {
  if (!kernel) AnyKernel().call(nullptr, where);
  const Program scheduled = kernel.scheduled();
  // Versions stand side by side there, under the same names.
  if (!scheduled || !verify_reason(scheduled, scheduled->stage).empty())
    return to_c(Source(kernel.program(), {}, where));
  const CodeKind kind = kernel.code()->kind;
  const Source source(kernel.program(), {.strict = kind.strict, .checked = kind.checked}, where);
  return detail::c_of(detail::lowered_for_c(source, scheduled, Target()));
}

}  // namespace lathe
