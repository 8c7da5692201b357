#pragma once

#include <lathe/jit/impl/jit.ipp>
#include <lathe/jit/open_code.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/text.hpp>

namespace lathe {

LATHE_DECL const KernelCode* OpenCode::get(const Context& context, std::string_view sparse,
                                           Location where) const {
  if (strides_ == Strides::dense)
    throw UserError(
        "L0305", cat("kernel '", program_->name, "' was made for arguments without gaps: ", sparse),
        where, {}, "make it with JitOptions::strides = lt::Strides::late or both");
  if (state_.load(std::memory_order_acquire) == State::none) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_.load(std::memory_order_relaxed) == State::none) make(context, sparse, where);
  }
  return code_.get();
}

LATHE_DECL void OpenCode::make(const Context& context, std::string_view sparse,
                               Location where) const {
  CodeKind kind = dense_->kind;
  kind.dense = false;
  try {
    context.log(LogLevel::info,
                cat("kernel '", program_->name, "' is compiled for any strides: ", sparse));
    code_ = detail::within_memory("call", where, [&] {
      return detail::compile_code(dense_->whole().versions, dense_->target, kind,
                                  Llvm::get(context.options().llvm, where),
                                  {context, Deadline(context), where});
    });
  } catch (const UserError& e) {
    if (require_compiled_) throw;
    evaluator_ = Evaluator(program_);
    detail::tell_interpreted(program_->name,
                             cat(sparse, ", and its compilation failed: ", e.what()), context);
  }
  state_.store(code_ ? State::compiled : State::interpreted, std::memory_order_release);
}

}  // namespace lathe
