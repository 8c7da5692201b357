// Kernels: typed, immutable function objects over views.
#pragma once

#include <lathe/cost/explanation.hpp>
#include <lathe/eval/evaluate.hpp>
#include <lathe/ir/narrow.hpp>
#include <lathe/jit/binding.hpp>
#include <lathe/jit/dense_call.hpp>
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
  void run_any(const CallArg* args, const std::uint64_t* slots, Location where) const {
    const State& s = *state_;
    if (s.open && !s.binding->dense(args)) return run_open(args, slots, where);
    run(slots, where);
  }
  void run_open(const CallArg* args, const std::uint64_t* slots, Location where) const;
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

/// How an argument type of one's own becomes a view: specialise with `static constexpr int rank`,
/// `using element_type` and `static View<element_type, rank> view(C&)`. See interop/eigen.hpp.
template <class C>
struct ViewOf;

namespace detail {

template <class C>
concept HasViewOf = requires(std::remove_reference_t<C>& c) {
  ViewOf<std::remove_cvref_t<C>>::view(c);
};
template <class From, class To>
concept SameElement = (std::is_same_v<std::remove_const_t<From>, std::remove_const_t<To>> ||
                       SameDType<From, To>)&&(std::is_const_v<To> || !std::is_const_v<From>);
template <class C>
inline constexpr bool is_view = false;
template <class T, int R>
inline constexpr bool is_view<View<T, R>> = true;
// A view of rank 1 has data() and size() too, but need not be contiguous.
template <class C, class T>
concept ContiguousOf = !is_view<std::remove_cvref_t<C>> && requires(C & c) {
  c.data();
  c.size();
}
&&SameElement<std::remove_pointer_t<decltype(std::declval<C&>().data())>, T>;

/// One parameter of a typed kernel: what converts to it.
template <class P>
struct KernelArg {
  static_assert(std::is_trivially_copyable_v<P> && sizeof(P) <= 8,
                "lathe: a scalar parameter of this type is not supported");
  P value;
  template <class A>
  requires std::is_convertible_v<A, P> KernelArg(const A& a) : value(static_cast<P>(a)) {}
  CallArg call() const {
    CallArg out;
    out.scalar = to_slot(value);
    return out;
  }
  static constexpr int rank = -1;
  static constexpr bool written = false;
  [[gnu::always_inline]] bool match(const std::int64_t*, std::uint64_t* slot, std::uint64_t*,
                                    ArgBytes&) const {
    *slot = to_slot(value);
    return true;
  }
};

/// Lives for one call, on the caller's stack: it may point into a view that lives as long, or into
/// itself.
template <class T, int R>
struct KernelArg<View<T, R>> {
  template <class U>
  requires SameElement<U, T> KernelArg(const View<U, R>& v) {
    set(v.data(), v.extents(), v.strides());
  }
  /// A vector, array or span of all elements.
  template <class C>
  requires(R == 1 && ContiguousOf<C, T> && !HasViewOf<C>) KernelArg(C&& c) {
    set(c.data(), static_cast<std::int64_t>(c.size()));
  }
  template <class C>
  requires(R == 1 && ContiguousOf<const C, T> && !HasViewOf<const C>) KernelArg(const C& c) {
    set(c.data(), static_cast<std::int64_t>(c.size()));
  }
  template <class U, std::size_t N>
  requires(R == 1 && SameElement<U, T>) KernelArg(U (&array)[N]) {
    set(array, static_cast<std::int64_t>(N));
  }
  /// A number of one's own, for a result without axes.
  template <class U>
  requires(R == 0 && SameElement<U, T>) KernelArg(U& element) { set(&element, own_, own_); }
  template <class U>
  requires(R == 0 && SameElement<U, T>) KernelArg(U* element) { set(element, own_, own_); }
  template <class C>
  requires(HasViewOf<std::remove_reference_t<C>>) KernelArg(C&& c) {
    const View<T, R> v = ViewOf<std::remove_cvref_t<C>>::view(c);
    for (int d = 0; d < R; ++d) own_[d] = v.extent(d), own_[R + d] = v.stride(d);
    set(v.data(), own_, own_ + R);
  }
  KernelArg(const KernelArg&) = delete;
  KernelArg& operator=(const KernelArg&) = delete;

  const CallArg& call() const { return call_; }
  static constexpr int rank = R;
  static constexpr bool written = !std::is_const_v<T>;
  [[gnu::always_inline]] bool match(const std::int64_t* plan, std::uint64_t* slot,
                                    std::uint64_t* strides, ArgBytes& bytes) const {
    return match_dense<R>(call_, plan, slot, strides, bytes);
  }

 private:
  void set(const void* data, const std::int64_t* extents, const std::int64_t* strides) {
    call_.data = const_cast<void*>(data);
    call_.extents = extents;
    call_.strides = strides;
  }
  void set(const void* data, std::int64_t size) {
    own_[0] = size;
    own_[1] = 1;
    set(data, own_, own_ + 1);
  }

  CallArg call_;
  std::int64_t own_[R > 0 ? std::size_t(2 * R) : 1];  ///< extents, then strides, of what is no View
};

template <class C>
struct ElementOfArg {};
template <class T, int R>
struct ElementOfArg<View<T, R>> {
  using type = T;
};
template <class C>
requires requires(C& c) { typename ViewOf<C>::element_type; }
struct ElementOfArg<C> {
  using type = typename ViewOf<C>::element_type;
};
template <class C>
requires(!is_view<C>) && (!HasViewOf<C>)&&requires(C& c) {
  c.data();
  c.size();
}
struct ElementOfArg<C> {
  using type = std::remove_pointer_t<decltype(std::declval<C&>().data())>;
};

/// Why an argument of a kernel does not fit its parameter, for whoever reads the compiler's errors.
template <class P, class A>
struct ExplainArg {
  static_assert(std::is_convertible_v<A, KernelArg<P>>,
                "lathe: a scalar parameter takes a number of its type");
};
template <class T, int R, class A>
struct ExplainArg<View<T, R>, A> {
  using C = std::remove_cvref_t<A>;
  static constexpr bool fits = std::is_convertible_v<A, KernelArg<View<T, R>>>;
  static constexpr bool has_elements = requires { typename ElementOfArg<C>::type; };
  template <class V>
  struct Element {
    using type = T;
  };
  template <class V>
  requires requires { typename ElementOfArg<V>::type; }
  struct Element<V> : ElementOfArg<V> {};
  using U = typename Element<C>::type;
  static constexpr bool same_type =
      std::is_same_v<std::remove_const_t<U>, std::remove_const_t<T>> || SameDType<U, T>;
  static constexpr bool read_only =
      std::is_const_v<U> || (std::is_const_v<std::remove_reference_t<A>> && !is_view<C>);

  static_assert(fits || has_elements,
                "lathe: an argument of a kernel is a container of elements, lt::view(container, "
                "{extents}), or lt::View<T, R>(pointer, {extents})");
  static_assert(fits || same_type,
                "lathe: the elements of this argument have another type than the parameter's");
  static_assert(fits || !same_type || std::is_const_v<T> || !read_only,
                "lathe: the kernel writes to this parameter: its argument can't be const");
  static_assert(fits || !has_elements || !same_type || (read_only && !std::is_const_v<T>),
                "lathe: the parameter has another rank than this argument: "
                "lt::view(container, {rows, columns}) says which shape a container has");
};

template <class... P>
struct KernelParams {
  template <class... A>
  static constexpr bool take() {
    if constexpr (sizeof...(A) == sizeof...(P))
      return (std::is_convertible_v<A, KernelArg<P>> && ...);
    else if constexpr (sizeof...(A) == sizeof...(P) + 1)
      return std::is_convertible_v<std::tuple_element_t<sizeof...(P), std::tuple<A...>>, Location>;
    else
      return false;
  }
};

}  // namespace detail

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
