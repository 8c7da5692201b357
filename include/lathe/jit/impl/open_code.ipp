#pragma once

#include <lathe/jit/impl/compile_code.ipp>
#include <lathe/jit/impl/jit.ipp>
#include <lathe/jit/open_code.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// Which of the slots that a call fills code takes that was made for some of them; empty: all.
inline Vec<int> slots_taken(const SlotLayout& filled, const SlotLayout& taken) {
  Vec<int> out;
  if (filled.size() == taken.size()) return out;
  for (const CallSlot& slot : taken)
    for (std::size_t k = 0; k < filled.size(); ++k)
      if (filled[k].kind == slot.kind && filled[k].param == slot.param &&
          filled[k].index == slot.index)
        out.push_back(static_cast<int>(k));
  invariant(out.size() == taken.size(), "code for gaps takes a slot that no call fills");
  return out;
}

inline ProgramVersions with_gaps(ProgramVersions versions, Gaps gaps) {
  for (Program& version : versions.before) version = open_strides(version, gaps);
  versions.last = open_strides(versions.last, gaps);
  return versions;
}

}  // namespace detail

LATHE_DECL const OpenCode::Version& OpenCode::get(const Context& context, Gaps gaps,
                                                  std::string_view sparse, Location where) const {
  if (strides_ == Strides::dense)
    throw UserError(
        "L0305", cat("kernel '", program_->name, "' was made for arguments without gaps: ", sparse),
        where, {}, "make it with JitOptions::strides = lt::Strides::late or both");
  if (const Version* known = find(gaps)) return *known;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!find(gaps)) make(context, gaps, sparse, where);
  return *find(gaps);
}

LATHE_DECL void OpenCode::make(const Context& context, Gaps gaps, std::string_view sparse,
                               Location where) const {
  Made& made = made_[static_cast<std::size_t>(gaps)];
  try {
    context.log(LogLevel::info,
                cat("kernel '", program_->name, "' is compiled for ",
                    gaps == Gaps::pixels ? "gaps around pixels: " : "any strides: ", sparse));
    made.version = detail::within_memory("call", where,
                                         [&] { return compiled_version(context, gaps, where); });
  } catch (const UserError& e) {
    if (require_compiled_) throw;
    if (!evaluator_.program()) evaluator_ = Evaluator(program_);
    detail::tell_interpreted(program_->name,
                             cat(sparse, ", and its compilation failed: ", e.what()), context);
  }
  made.done.store(true, std::memory_order_release);
}

LATHE_DECL OpenCode::Version OpenCode::compiled_version(const Context& context, Gaps gaps,
                                                        Location where) const {
  CodeKind kind = dense_->kind;
  kind.dense = false;
  const Target& target = dense_->target;
  const Deadline deadline(context);
  const detail::Compilation by{context, deadline, where};
  const ProgramVersions versions =
      unplanned_ ? detail::planned_versions(open_strides(unplanned_, gaps), target, kind.strict, by)
                 : detail::with_gaps(dense_->whole().versions, gaps);
  Version out;
  out.code =
      detail::compile_code(versions, target, kind, Llvm::get(context.options().llvm, where), by);
  out.slots = detail::slots_taken(slot_layout(program_), out.code->text.slots);
  return out;
}

}  // namespace lathe
