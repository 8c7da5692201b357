// Code of a kernel for views with gaps between rows, beside that for views without.
#pragma once

#include <atomic>
#include <lathe/eval/evaluate.hpp>
#include <lathe/jit/kernel_code.hpp>
#include <lathe/jit/strides.hpp>
#include <lathe/lower/gaps.hpp>
#include <lathe/support/context.hpp>
#include <mutex>
#include <string_view>

namespace lathe {

/// What a kernel does with views that its code is not for. Thread-safe.
class OpenCode : public RefCounted {
 public:
  struct Version {
    Ref<KernelCode> code;  ///< none: evaluator() stands in
    Vec<int> slots;        ///< of a call, those that the code takes, in order; empty: all
  };

  /// `code`, for views without gaps, may be none: then the evaluator runs all calls. `unplanned`:
  /// the program, if nobody scheduled it and none of it runs once; it is then planned for gaps.
  OpenCode(Program program, Ref<KernelCode> code, Strides strides, bool require_compiled,
           Program unplanned = {})
      : program_(std::move(program)),
        unplanned_(std::move(unplanned)),
        dense_(std::move(code)),
        strides_(strides),
        require_compiled_(require_compiled) {}

  /// Null before get().
  const Version* find(Gaps gaps) const {
    const Made& made = made_[static_cast<std::size_t>(gaps)];
    return made.done.load(std::memory_order_acquire) ? &made.version : nullptr;
  }
  /// Compiled by the first caller while others wait. `sparse` says what is not dense about the
  /// call. L0305 for Strides::dense; with require_compiled what compilation raises.
  const Version& get(const Context& context, Gaps gaps, std::string_view sparse,
                     Location where) const;
  const Evaluator& evaluator() const { return evaluator_; }
  /// Whether get() has made code.
  bool compiled(Gaps gaps) const { return find(gaps) && find(gaps)->code; }

 private:
  struct Made {
    Version version;
    std::atomic<bool> done{false};  ///< the version was written before
  };
  void make(const Context& context, Gaps gaps, std::string_view sparse, Location where) const;
  Version compiled_version(const Context& context, Gaps gaps, Location where) const;

  Program program_, unplanned_;
  Ref<KernelCode> dense_;
  Strides strides_;
  bool require_compiled_;
  mutable std::mutex mutex_;
  mutable Evaluator evaluator_;
  mutable Made made_[2];  ///< by Gaps
};

}  // namespace lathe
