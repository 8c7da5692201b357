#pragma once

#include <lathe/ir/narrow.hpp>
#include <lathe/jit/kernel.hpp>
#include <lathe/jit/kernel_constants.hpp>
#include <lathe/jit/open_code.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/text.hpp>

namespace lathe {

// Here, where OpenCode is known: it has a mutex, which costs a user's compiler time.
LATHE_DECL KernelParts::KernelParts() = default;
LATHE_DECL KernelParts::KernelParts(KernelParts&&) noexcept = default;
LATHE_DECL KernelParts& KernelParts::operator=(KernelParts&&) noexcept = default;
LATHE_DECL KernelParts::~KernelParts() = default;

LATHE_DECL AnyKernel::AnyKernel(KernelParts parts, const Context& context) {
  auto* state = new State(std::move(parts));
  state_ = Ref<State>(state);
  state->context = &context;
  state->slots = state->binding->arg_slots();
  state->dense_plan = state->binding->dense_plan();
  if (const KernelConstants* constants = state->constants.get()) {
    state->address_count = constants->count();
    state->slots += state->address_count;
    state->addresses = constants->addresses();
    if (!state->addresses || state->address_count > kDenseConstants) state->dense_plan = nullptr;
  }
  if (!state->code) return;
  invariant(static_cast<int>(state->code->text.slots.size()) == state->slots,
            "a kernel and its binding differ on the slots of a call");
  state->entry = state->code->entry;
  state->notes = state->code->notes(state->binding->program()->name);
}

LATHE_DECL void AnyKernel::refuse_empty(Location where) {
  throw UserError("L0313", "an empty kernel is called", where, {},
                  "make it with lt::jit or lt::evaluate");
}

LATHE_DECL void AnyKernel::call_large(const CallArg* args, Location where) const {
  auto slots = detail::within_memory(
      "call", where, [&] { return Vec<std::uint64_t>(static_cast<std::size_t>(state_->slots)); });
  bind(args, slots.data(), where);
  run_any(args, slots.data(), where);
}

LATHE_DECL void AnyKernel::bind_constants(const CallArg* args, std::uint64_t* slots,
                                          Location where) const {
  state_->constants->bind(args, slots + state_->binding->arg_slots(), where);
}

LATHE_DECL std::vector<Program> AnyKernel::once() const {
  return state_ && state_->constants ? state_->constants->once() : std::vector<Program>();
}

LATHE_DECL void AnyKernel::run_open(const CallArg* args, std::uint64_t* slots,
                                    Location where) const {
  const State& s = *state_;
  const Gaps gaps = s.binding->gaps(args);
  const OpenCode::Version* known = s.open->find(gaps);
  const OpenCode::Version& version =
      known ? *known : s.open->get(*s.context, gaps, s.binding->describe_sparse(args), where);
  if (!version.code) return s.open->evaluator().run(slots, *s.context, where);
  // In order, so that none is read after it was written.
  for (std::size_t k = 0; k < version.slots.size(); ++k)
    slots[k] = slots[static_cast<std::size_t>(version.slots[k])];
  call_kernel(version.code->entry, slots, *s.context,
              version.code->notes(s.binding->program()->name), where);
}

namespace detail {

/// "f16", or in words what has no element type of that code.
inline std::string element_text(ElementType type, int bytes) {
  const std::string bits = std::to_string(type.bits);
  switch (type.code) {
    case ElementType::integer:
      return "i" + bits;
    case ElementType::unsigned_integer:
      return "u" + bits;
    case ElementType::floating:
      return "f" + bits;
    case ElementType::bfloat:
      return "bf" + bits;
    case ElementType::boolean:
      return "bool";
    case ElementType::float8_e4m3:
      return "f8e4m3";
    case ElementType::float8_e5m2:
      return "f8e5m2";
    default:
      return cat("an unknown type of ", bytes, " bytes");
  }
}

inline void check_type(const ParamType& given, const Param& p, std::string_view giver,
                       Location where) {
  const int rank = p.buffer ? p.buffer->rank() : 0;
  const std::string what = cat("'", p.name(), "': the ", giver, " ");
  if (given.rank != rank)
    throw UserError("L0301", cat(what, "has rank ", given.rank, ", but the parameter has ", rank),
                    where);
  if (given.type != element_type_of(p.dtype()) || given.element_bytes != p.dtype().element_bytes())
    throw UserError("L0301",
                    cat(what, "has elements of ", element_text(given.type, given.element_bytes),
                        ", but the parameter is ", p.dtype().str()),
                    where, {},
                    given.type.code == ElementType::other
                        ? "specialise lt::ElementTypeOf for a number type of your own"
                        : "");
  if (given.read_only && p.access != Access::in)
    throw UserError("L0301", cat(what, "is read-only, but the parameter is written"), where);
}

inline void check_any_view(const AnyView& v, const Param& p, Location where) {
  const int rank = p.buffer ? p.buffer->rank() : 0;
  check_type({v.rank, v.type, v.element_bytes, v.read_only}, p, "view", where);
  const std::string what = cat("'", p.name(), "': the view ");
  if (rank > 0 && (!v.extents || !v.strides))
    throw UserError("L0301", cat(what, "has no ", v.extents ? "strides" : "extents"), where);
  if (!p.buffer && !v.data)
    throw UserError("L0306", cat("'", p.name(), "': the pointer is null"), where);
}

}  // namespace detail

LATHE_DECL void AnyKernel::check_types(std::span<const detail::ParamType> types,
                                       Location where) const {
  if (!state_) return;
  const Binding& b = *state_->binding;
  if (static_cast<int>(types.size()) != b.args())
    throw UserError("L0301",
                    cat("kernel '", b.program()->name, "' takes ", b.args(),
                        " arguments, but the typed kernel has ", types.size()),
                    where);
  for (std::size_t k = 0; k < types.size(); ++k) {
    const Param& p = b.param_of(static_cast<int>(k));
    if (types[k].is_number == static_cast<bool>(p.buffer))
      throw UserError("L0301",
                      cat("'", p.name(), "': the typed kernel has a ", p.buffer ? "number" : "view",
                          ", but the parameter is a ", p.buffer ? "tensor" : "number"),
                      where);
    detail::check_type(types[k], p, "typed kernel", where);
  }
}

LATHE_DECL void AnyKernel::operator()(std::span<const AnyView> args, Location where) const {
  if (!state_) refuse_empty(where);
  const Binding& b = *state_->binding;
  if (static_cast<int>(args.size()) != b.args())
    throw UserError("L0301",
                    cat("kernel '", b.program()->name, "' takes ", b.args(),
                        " arguments, but is given ", args.size()),
                    where);
  auto all = detail::within_memory("call", where, [&] { return Vec<CallArg>(args.size()); });
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

LATHE_DECL Ref<KernelCode> AnyKernel::code() const {
  return state_ ? state_->code : Ref<KernelCode>();
}

LATHE_DECL Program AnyKernel::scheduled() const {
  return code() ? code()->whole().scheduled : Program();
}
LATHE_DECL Program AnyKernel::lowered() const {
  return code() ? code()->whole().lowered : Program();
}
LATHE_DECL std::string AnyKernel::llvm_ir() const {
  return code() ? code()->whole().text.text : std::string();
}

LATHE_DECL std::vector<std::string> AnyKernel::numerics() const {
  return code() ? code()->numerics : std::vector<std::string>();
}

LATHE_DECL std::string AnyKernel::assembly() const {
  const Ref<KernelCode> made = code();
  if (!made) return {};
  const Context& context = *state_->context;
  return compile_to_assembly(Llvm::get(context.options().llvm), made->whole().text.text,
                             made->target);
}

}  // namespace lathe
