// Code whose origin is made when somebody asks for it.
#pragma once

#include <lathe/jit/kernel_code.hpp>
#include <lathe/support/context.hpp>
#include <mutex>

namespace lathe {

/// Of code that came from a folder: plans and lowers its program as it was done then. Thread-safe.
class LateCode : public RefCounted {
 public:
  LateCode(const Context& context, Program program, Target target, CodeKind kind)
      : context_(context), program_(std::move(program)), target_(std::move(target)), kind_(kind) {}
  const KernelCode& get() const;

 private:
  const Context& context_;
  Program program_;
  Target target_;
  CodeKind kind_;
  mutable std::mutex mutex_;
  mutable Ref<KernelCode> code_;
};

}  // namespace lathe
