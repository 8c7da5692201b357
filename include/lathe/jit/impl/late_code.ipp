#pragma once

#include <lathe/jit/impl/jit.ipp>
#include <lathe/jit/late_code.hpp>

namespace lathe {

LATHE_DECL const KernelCode& KernelCode::whole() const {
  return origin ? static_cast<const LateCode&>(*origin).get() : *this;
}

/// No time budget: whoever asks what a kernel is made of did not ask for one.
LATHE_DECL const KernelCode& LateCode::get() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (code_) return *code_;
  const Source source(program_, {.context = &context_,
                                 .target = target_,
                                 .strict = kind_.strict,
                                 .math = kind_.math,
                                 .checked = kind_.checked});
  const Deadline never;
  const detail::KernelMaker maker{
      source, &Llvm::get(context_.options().llvm), target_, {context_, never, source.where()}};
  code_ = maker.recipe({program_, {}}, maker.key({}))->code;
  return *code_;
}

}  // namespace lathe
