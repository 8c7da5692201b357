// Functions from computations: jit compiles, evaluate interprets.
#pragma once

#include <lathe/dsl/script.hpp>
#include <lathe/ir/kinds.hpp>
#include <lathe/jit/kernel.hpp>
#include <lathe/jit/strides.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <optional>

namespace lathe {

/// Whether a computation may be given inputs that it does not read.
enum class UnreadInputs { refuse, allow };

struct JitOptions {
  /// Null: Context::default_context().
  const Context* context = nullptr;
  /// Default: host(), with as many processors as the context has threads, at most. L0312 if this
  /// machine cannot run its code.
  std::optional<Target> target{};
  /// No rounding that the program does not say: no fma for x * y + z, no reassociated sums.
  bool strict = false;
  /// How exact functions (exp, tanh, …) and divisions are: docs/math.md. What fast has changed is
  /// listed by the kernel's numerics(). L0604 fast under strict · L0605 accurate, where a function
  /// has no such version. The evaluator's functions are the C library's.
  Math math = Math::normal;
  /// L0410 where there is no LLVM, with what was tried. Else the evaluator stands in, thousands of
  /// times slower.
  bool require_compiled = false;
  /// Each access is tested before it happens, in machine code too: one outside of its tensor ends
  /// the call with L0409, which names tensor, index, shape and statement. What is proved to be
  /// inside costs nothing. Inputs that are promised to be constant are hashed at each call (L0318).
  bool checked = false;
  /// Compilation during a call has the context's time budget and is logged. Where it fails the
  /// evaluator stands in, which is said, or with require_compiled the call fails.
  Strides strides = Strides::late;
  /// Refused: L0316. A schedule or a program says its parameters itself, read or not.
  UnreadInputs unread_inputs = UnreadInputs::refuse;
};

/// What jit is given: tensors (scheduled by default), a Schedule, or a Program, with options.
/// A Program gets the default schedule unless steps have changed it, which its text says by the
/// word `scheduled`. One that was lowered already runs its loops one iteration after the other.
///     jit(D, A, B, D)   ·   jit(schedule, A, B, D)   ·   jit({D, {.strict = true}}, A, B, D)
class Source {
 public:
  Source(const AnyTensor& output, JitOptions options = {}, Location where = Location::here())
      : outputs_{{output}}, options_(std::move(options)), where_(where) {}
  Source(const OutputList& outputs, JitOptions options = {}, Location where = Location::here())
      : outputs_(outputs), options_(std::move(options)), where_(where) {}
  Source(const Schedule& schedule, JitOptions options = {}, Location where = Location::here())
      : program_(schedule.program()),
        scheduled_(true),
        options_(std::move(options)),
        where_(where) {}
  Source(const Program& program, JitOptions options = {}, Location where = Location::here())
      : program_(program), options_(std::move(options)), where_(where) {}
  /// versions() checks what it gives here.
  Source(const Schedule& last, Vec<Program> before, JitOptions options, Location where)
      : Source(last, std::move(options), where) {
    before_ = std::move(before);
  }

  const OutputList& outputs() const { return outputs_; }
  /// Of a schedule or a program; else none.
  const Program& program() const { return program_; }
  bool scheduled() const { return scheduled_; }
  /// Versions that come before program() where their Dims allow it.
  const Vec<Program>& before() const { return before_; }
  const JitOptions& options() const { return options_; }
  Location where() const { return where_; }

 private:
  OutputList outputs_;
  Program program_;
  Vec<Program> before_;
  bool scheduled_ = false;
  JitOptions options_;
  Location where_;
};

/// Schedules of one computation as one kernel: a call runs the first whose assumptions about Dims
/// hold (Schedule::assume); those of the last one every call must meet.
///     auto f = lt::jit(lt::versions({by_16, small, any}), A, B, D);
/// L0315 no schedule, or not all of one computation.
Source versions(const std::vector<Schedule>& all, JitOptions options = {},
                Location where = Location::here());

/// The untyped core: compiles for these parameters. A Program has all its own parameters, in its
/// order, if `params` is empty; else, as for a Schedule, params say which tensor each argument is:
/// by identity, else by name and type. Errors as program_of and lower, and: L0310 a param that the
/// program does not have, or lacks · L0312 target · L0316 an input that tensors do not read · L0410
/// no LLVM, where that is required · L0412 the context's time budget
AnyKernel jit_any(const Source& source, const Vec<ProgramParam>& params);
/// The same, interpreted: no code is made.
AnyKernel evaluate_any(const Source& source, const Vec<ProgramParam>& params);

namespace detail {

template <class T, int R>
View<const T, R> kernel_param(const Input<T, R>*);
template <class T>
T kernel_param(const Input<T, 0>*);
template <class T, int R>
View<T, R> kernel_param(const Tensor<T, R>*);
template <class T, int R>
View<T, R> kernel_param(const InOut<T, R>*);
template <class T, int R>
View<const T, R> kernel_param(const ScriptInput<T, R>*);
template <class T>
T kernel_param(const ScriptInput<T, 0>*);
template <class T, int R>
View<T, R> kernel_param(const ScriptBuffer<T, R>*);
template <class A>
concept KernelParam = requires(const A* a) {
  kernel_param(a);
};

template <class T, int R>
void known_elements(const Constant<T, R>*);
template <class T, int R>
void known_elements(const ScriptConstant<T, R>*);
template <class A>
concept ConstantArgument = requires(const A* a) {
  known_elements(a);
};

inline ProgramParam program_param(const AnyTensor& tensor) { return ProgramParam(tensor); }
template <class T, int R>
ProgramParam program_param(const Input<T, R>& input) {
  ProgramParam out(input);
  out.read_only = true;
  return out;
}
template <class T, int R>
ProgramParam program_param(const ScriptInput<T, R>& input) {
  ProgramParam out(input.tensor());
  out.read_only = true;
  return out;
}
template <class T, int R>
ProgramParam program_param(const ScriptBuffer<T, R>& buffer) {
  return ProgramParam(buffer.tensor());
}
template <class T, int R>
ProgramParam program_param(const InOut<T, R>& both) {
  return ProgramParam(both.input, both.result);
}

}  // namespace detail

/// Compiles a computation and gives a function of these arguments: inputs and results in any order,
/// each of which the source reads or computes. Of a script: its inputs, outputs and inouts.
///     auto f = lt::jit(D, A, B, D);   f(a, b, d);
/// Without LLVM the evaluator stands in (compiled() tells): the context's log says so, or without a
/// log hook standard error, once a process. Equal programs share code.
/// Errors as jit_any.
template <detail::KernelParam... A>
requires(sizeof...(A) > 0) auto jit(Source source, const A&... args) {
  return Kernel<decltype(detail::kernel_param(&args))...>(
      jit_any(source, {detail::program_param(args)...}));
}
/// A constant among them: says that it is none.
template <class... A>
requires(detail::ConstantArgument<A> || ...) void jit(Source, const A&...) {
  static_assert(!(detail::ConstantArgument<A> || ...),
                "lathe: a constant is no argument of a kernel: its elements are known");
}
/// The same function by interpretation, whatever the target; the reference in tests.
template <detail::KernelParam... A>
requires(sizeof...(A) > 0) auto evaluate(Source source, const A&... args) {
  return Kernel<decltype(detail::kernel_param(&args))...>(
      evaluate_any(source, {detail::program_param(args)...}));
}

/// The same for all parameters of the source in its order, given by what they are: View<const T, R>
/// for an input, View<T, R> for an output or inout, T for a scalar.
///     auto f = lt::jit<lt::View<const float, 1>, lt::View<float, 1>>(program);
/// L0301 if they are others.
template <class... P>
requires(sizeof...(P) > 0) auto jit(Source source) {
  return Kernel<P...>(jit_any(source, {}), source.where());
}
template <class... P>
requires(sizeof...(P) > 0) auto evaluate(Source source) {
  return Kernel<P...>(evaluate_any(source, {}), source.where());
}

}  // namespace lathe
