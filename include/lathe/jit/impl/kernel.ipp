#pragma once

#include <lathe/ir/narrow.hpp>
#include <lathe/jit/kernel.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/text.hpp>

namespace lathe {

LATHE_DECL AnyKernel::AnyKernel(Ref<Binding> binding, Ref<KernelCode> code, Evaluator evaluator,
                                const Context& context) {
  auto* state = new State;
  state_ = Ref<State>(state);
  state->binding = std::move(binding);
  state->code = std::move(code);
  state->evaluator = std::move(evaluator);
  state->context = &context;
  if (!state->code) return;
  state->entry = state->code->entry;
  const auto& messages = state->code->text.messages;
  state->notes = {state->binding->program()->name, messages.data(),
                  static_cast<int>(messages.size())};
}

LATHE_DECL void AnyKernel::refuse_empty(Location where) {
  throw UserError("L0313", "an empty kernel is called", where, {},
                  "make it with lt::jit or lt::evaluate");
}

LATHE_DECL void AnyKernel::call_large(const CallArg* args, Location where) const {
  auto slots = detail::within_memory("call", where, [&] {
    return std::vector<std::uint64_t>(static_cast<std::size_t>(state_->binding->slots()));
  });
  state_->binding->bind(args, slots.data(), where);
  run(slots.data(), where);
}

namespace detail {

/// Whether a view's elements are a dtype's: by code and bits, or by size alone for types that have
/// no code.
inline bool element_matches(ElementType type, int bytes, DType t) {
  if (bytes != t.element_bytes()) return false;
  switch (type.code) {
    case ElementType::integer:
      return t.is_signed();
    case ElementType::unsigned_integer:
      return t.is_unsigned();
    case ElementType::floating:
      return t.code == TypeCode::ieee;
    case ElementType::bfloat:
      return t.code == TypeCode::bfloat;
    case ElementType::boolean:
      return t.is_bool();
    default:
      return true;
  }
}

inline void check_any_view(const AnyView& v, const Param& p, Location where) {
  const int rank = p.buffer ? p.buffer->rank() : 0;
  std::string what = cat("'", p.name(), "': the view ");
  if (v.rank != rank)
    throw UserError("L0301", cat(what, "has rank ", v.rank, ", but the parameter has ", rank),
                    where);
  if (!element_matches(v.type, v.element_bytes, p.dtype()))
    throw UserError("L0301", cat(what, "has elements of another type than ", p.dtype().str()),
                    where);
  if (v.read_only && p.access != Access::in)
    throw UserError("L0301", cat(what, "is read-only, but the parameter is written"), where);
  if (rank > 0 && (!v.extents || !v.strides))
    throw UserError("L0301", cat(what, "has no ", v.extents ? "strides" : "extents"), where);
  if (!p.buffer && !v.data)
    throw UserError("L0306", cat("'", p.name(), "': the pointer is null"), where);
}

}  // namespace detail

LATHE_DECL void AnyKernel::operator()(std::span<const AnyView> args, Location where) const {
  if (!state_) refuse_empty(where);
  const Binding& b = *state_->binding;
  if (static_cast<int>(args.size()) != b.args())
    throw UserError("L0301",
                    cat("kernel '", b.program()->name, "' takes ", b.args(),
                        " arguments, but is given ", args.size()),
                    where);
  auto all =
      detail::within_memory("call", where, [&] { return std::vector<CallArg>(args.size()); });
  for (std::size_t k = 0; k < args.size(); ++k) {
    const Param& p = b.param_of(static_cast<int>(k));
    detail::check_any_view(args[k], p, where);
    all[k].extents = args[k].extents;
    all[k].strides = args[k].strides;
    if (p.buffer)
      all[k].data = args[k].data;
    else
      std::memcpy(&all[k].scalar, args[k].data,
                  static_cast<std::size_t>(p.dtype().element_bytes()));
  }
  call(all.data(), where);
}

LATHE_DECL std::string AnyKernel::assembly() const {
  const Ref<KernelCode> made = code();
  if (!made) return {};
  const Context& context = *state_->context;
  return compile_to_assembly(Llvm::get(context.options().llvm), made->text.text, made->target);
}

}  // namespace lathe
