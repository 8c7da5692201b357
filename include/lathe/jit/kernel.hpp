// Kernels: typed, immutable function objects over views.
#pragma once

#include <lathe/cost/explanation.hpp>
#include <lathe/eval/evaluate.hpp>
#include <lathe/ir/narrow.hpp>
#include <lathe/jit/binding.hpp>
#include <lathe/jit/kernel_arg.hpp>
#include <lathe/jit/kernel_code.hpp>
#include <lathe/runtime/abi.hpp>
#include <lathe/runtime/view.hpp>
#include <lathe/support/kernel.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace lathe {

class KernelConstants;
class OpenCode;

/// What a kernel is made of.
struct KernelParts {
  KernelParts();
  KernelParts(KernelParts&&) noexcept;
  KernelParts& operator=(KernelParts&&) noexcept;
  ~KernelParts();

  Ref<Binding> binding;
  Ref<KernelCode> code;  ///< none: `evaluator` runs
  Evaluator evaluator;
  Ref<OpenCode> open;              ///< for calls that are not dense, where those differ
  Ref<KernelConstants> constants;  ///< none: there are none
};

namespace detail {

/// What a view or a number is that stands for a parameter.
struct ParamType {
  int rank = 0;
  ElementType type;
  int element_bytes = 0;
  bool read_only = true, is_number = false;
};
template <class P>
inline constexpr ParamType param_type{0, ElementTypeOf<P>::value, int(sizeof(P)), true, true};
template <class T, int R>
inline constexpr ParamType param_type<View<T, R>>{R, ElementTypeOf<std::remove_const_t<T>>::value,
                                                  int(sizeof(T)), std::is_const_v<T>};

}  // namespace detail

/// A kernel whose rank and types are run-time values. Immutable, cheap to copy, callable from many
/// threads at once.
class AnyKernel {
 public:
  AnyKernel() = default;
  AnyKernel(KernelParts parts, const Context& context);

  /// Arguments in the order that it was made for. Errors as Binding::bind, L0313 for an empty
  /// kernel, and what the program itself raises.
  [[gnu::noinline]] void call(const CallArg* args, Location where = Location::here()) const {
    if (!state_) refuse_empty(where);
    const State& s = *state_;
    if (s.slots > Binding::kStackSlots) return call_large(args, where);
    std::uint64_t slots[Binding::kStackSlots];
    if (s.entry && s.binding->bind_dense(args, slots)) {
      if (s.constants) bind_constants(args, slots, where);
      return run(slots, where);
    }
    bind(args, slots, where);
    run_any(args, slots, where);
  }
  /// The same for views of any type: L0301 for a wrong number, rank or element type. A scalar is a
  /// view of rank 0.
  void operator()(std::span<const AnyView> args, Location where = Location::here()) const;

  /// Whether calls run machine code. False if the evaluator stands in: asked for, or no LLVM here
  /// (JitOptions::require_compiled refuses that); and of an empty kernel.
  bool compiled() const { return state_ && state_->entry; }
  /// The program as it was given (scheduled or not). An empty kernel has none of this and of what
  /// follows.
  Program program() const { return state_ ? state_->binding->program() : Program(); }
  /// What of it runs once, when the kernel is made or first called, since it reads constants alone;
  /// what follows is without that.
  std::vector<Program> once() const;
  /// The program under the schedule that was compiled, the default one if none was given, and flat
  /// code after lowering; none for an evaluator. Names may be those of an equal program that was
  /// compiled before. Code, here and below, is that for arguments without gaps, where there are
  /// two.
  Program scheduled() const;
  Program lowered() const;
  /// The LLVM IR that was compiled, and its assembly; empty for an evaluator.
  std::string llvm_ir() const;
  std::string assembly() const;
  /// What JitOptions::math = fast has changed of the rounding that the program says, in words;
  /// empty if nothing, and for an evaluator. Schedule::numerics() lists the steps that change it.
  std::vector<std::string> numerics() const;
  /// What each stage costs under the schedule that was compiled, and what would help; by default on
  /// the machine that the code is for. Of several versions, the last.
  Explanation explain(const ExplainOptions& options = {}) const;
  /// Seconds of a call, the median over some 20 ms of calls, each of which does what it does: what
  /// is updated in place is updated as often. Errors as call.
  double measure(const CallArg* args, Location where = Location::here()) const;
  Ref<KernelCode> code() const;
  explicit operator bool() const { return static_cast<bool>(state_); }

 private:
  template <class... P>
  friend class Kernel;

  /// Constants of a dense call: their slots lie on the caller's stack.
  static constexpr int kDenseConstants = 8;
  struct State : RefCounted, KernelParts {
    explicit State(KernelParts parts) : KernelParts(std::move(parts)) {}

    KernelEntry entry = nullptr;
    const Context* context = nullptr;
    const std::int64_t* dense_plan = nullptr;  ///< the binding's, where a dense call can do
    const std::uint64_t* addresses = nullptr;  ///< of constants, for dense calls
    int address_count = 0;
    int slots = 0;
    KernelNotes notes;
  };
  // Fills all slots of a call.
  void bind(const CallArg* args, std::uint64_t* slots, Location where) const {
    const State& s = *state_;
    s.binding->bind(args, slots, where);
    if (s.constants) bind_constants(args, slots, where);
  }
  void bind_constants(const CallArg* args, std::uint64_t* slots, Location where) const;
  [[gnu::always_inline]] void run(const std::uint64_t* slots, Location where) const {
    const State& s = *state_;
    if (s.entry)
      call_kernel(s.entry, slots, *s.context, s.notes, where);
    else
      interpret(slots, where);
  }
  // Not inlined: calls of machine code would keep registers and memory for it.
  [[gnu::noinline]] void interpret(const std::uint64_t* slots, Location where) const {
    state_->evaluator.run(slots, *state_->context, where);
  }
  // For arguments that were bound; those of call_dense need not be looked at again.
  void run_any(const CallArg* args, std::uint64_t* slots, Location where) const {
    const State& s = *state_;
    if (s.open && !s.binding->dense(args)) return run_open(args, slots, where);
    run(slots, where);
  }
  void run_open(const CallArg* args, std::uint64_t* slots, Location where) const;
  // As call, for arguments that are row-major views of known shape, or scalars; false, and nothing
  // done, for any other. The types of `args` must have passed check_types. Always inlined, with all
  // that it calls: a view need not be written to memory to be compared, a third of such a call.
  template <class... A>
  [[gnu::always_inline]] bool call_dense(Location where, const A&... args) const {
    if (!state_ || !state_->dense_plan) return false;
    constexpr std::size_t count = detail::dense_layout<A...>.slots;
    std::uint64_t slots[count + kDenseConstants];
    if (!detail::fill_dense(std::index_sequence_for<A...>(), state_->dense_plan, slots, args...))
      return false;
    for (int k = 0; k < state_->address_count; ++k)
      slots[count + std::size_t(k)] = state_->addresses[k];
    run(slots, where);
    return true;
  }
  // L0301 unless a function of such parameters can stand for this kernel.
  void check_types(std::span<const detail::ParamType> types, Location where) const;
  [[noreturn]] static void refuse_empty(Location where);
  void call_large(const CallArg* args, Location where) const;

  Ref<State> state_;
};

/// What jit and evaluate give: call it with one argument per tensor that it was made for, in that
/// order. P is View<const T, R> for an input, View<T, R> for a result or an inout, T for a scalar.
/// Immutable, cheap to copy, callable from many threads at once; the Context must outlive its
/// calls. An argument may be a View, anything contiguous where the rank is 1, or a type with a
/// ViewOf. Errors as AnyKernel::call.
template <class... P>
class Kernel {
 public:
  Kernel() = default;
  /// L0301 if that kernel's parameters are others.
  explicit Kernel(AnyKernel kernel, Location where = Location::here())
      : kernel_(std::move(kernel)) {
    const std::array<detail::ParamType, sizeof...(P)> types{detail::param_type<P>...};
    kernel_.check_types(types, where);
  }

  [[gnu::always_inline]] void operator()(const std::type_identity_t<detail::KernelArg<P>>&... args,
                                         Location where = Location::here()) const {
    if (kernel_.call_dense(where, args...)) return;
    // Copies: arguments that others see have to be written to memory before they are compared.
    const CallArg all[] = {args.call()...};
    kernel_.call(all, where);
  }
  /// Arguments that fit no parameters: says which.
  template <class... A>
  requires(!detail::KernelParams<P...>::template take<A...>()) void operator()(A&&...) const {
    static_assert(sizeof...(A) == sizeof...(P),
                  "lathe: a kernel takes one argument for each tensor and scalar that it was made "
                  "for, in that order");
    if constexpr (sizeof...(A) == sizeof...(P)) (void(detail::ExplainArg<P, A>{}), ...);
  }
  const AnyKernel& any() const { return kernel_; }
  /// Whether calls run machine code, and what was compiled, as those of AnyKernel.
  bool compiled() const { return kernel_.compiled(); }
  Program program() const { return kernel_.program(); }
  std::vector<Program> once() const { return kernel_.once(); }
  Program scheduled() const { return kernel_.scheduled(); }
  Program lowered() const { return kernel_.lowered(); }
  std::string llvm_ir() const { return kernel_.llvm_ir(); }
  std::string assembly() const { return kernel_.assembly(); }
  std::vector<std::string> numerics() const { return kernel_.numerics(); }
  Explanation explain(const ExplainOptions& options = {}) const { return kernel_.explain(options); }
  double measure(const std::type_identity_t<detail::KernelArg<P>>&... args,
                 Location where = Location::here()) const {
    const CallArg all[] = {args.call()...};
    return kernel_.measure(all, where);
  }

 private:
  AnyKernel kernel_;
};

}  // namespace lathe
