// Code of a kernel for views with gaps between rows, beside that for views without.
#pragma once

#include <atomic>
#include <lathe/eval/evaluate.hpp>
#include <lathe/jit/kernel_code.hpp>
#include <lathe/jit/strides.hpp>
#include <lathe/support/context.hpp>
#include <mutex>
#include <string_view>

namespace lathe {

/// What a kernel does with views that its code is not for. Thread-safe.
class OpenCode : public RefCounted {
 public:
  /// `code`, for views without gaps, may be none: then the evaluator runs all calls.
  OpenCode(Program program, Ref<KernelCode> code, Strides strides, bool require_compiled)
      : program_(std::move(program)),
        dense_(std::move(code)),
        strides_(strides),
        require_compiled_(require_compiled) {}

  /// Code for any strides, compiled by the first caller while others wait; null: evaluator() stands
  /// in. `sparse` says what is not dense about the call. L0305 for Strides::dense; with
  /// require_compiled what compilation raises.
  const KernelCode* get(const Context& context, std::string_view sparse, Location where) const;
  const Evaluator& evaluator() const { return evaluator_; }
  /// Whether get() has made code.
  bool compiled() const { return state_.load(std::memory_order_acquire) == State::compiled; }

 private:
  enum class State : std::uint8_t { none, compiled, interpreted };
  void make(const Context& context, std::string_view sparse, Location where) const;

  Program program_;
  Ref<KernelCode> dense_;
  Strides strides_;
  bool require_compiled_;
  mutable std::mutex mutex_;
  mutable Ref<KernelCode> code_;
  mutable Evaluator evaluator_;
  mutable std::atomic<State> state_{State::none};  ///< what it names was written before
};

}  // namespace lathe
