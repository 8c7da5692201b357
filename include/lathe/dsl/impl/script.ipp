#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/dsl/impl/script_state.ipp>
#include <lathe/dsl/script.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/share.hpp>

namespace lathe {

LATHE_DECL AnyExpr AnyScriptBuffer::at(Vec<AnyExpr> indices, Location where) const {
  detail::check_indices(tensor_, indices, where);
  if (tensor_.is_scalar()) return tensor_.scalar();
  return make_load(tensor_.inner_buffer(), std::move(indices));
}

// A range of constants that ends before it begins is empty, as in C++.
LATHE_DECL Range range(const Extent& begin, const Extent& end) {
  const AnyExpr &lo = begin.any(), &hi = end.any();
  if (!lo.get() || !hi.get() || lo.dtype() != kIndex || hi.dtype() != kIndex) return {lo, hi};
  if (is_const(lo, 0)) return {lo, hi};
  const auto *first = as_const_int(lo), *last = as_const_int(hi);
  if (first && last && *last < *first) return {lo, AnyExpr(0)};
  return {lo, fold_sub(hi, lo)};
}

LATHE_DECL AnyScript::AnyScript(std::string name, Location where) {
  detail::check_name(name, where);
  state_ = make_ref<detail::ScriptState>(std::move(name), where);
}
LATHE_DECL detail::ScriptState& AnyScript::state() const {
  return const_cast<detail::ScriptState&>(static_cast<const detail::ScriptState&>(*state_));
}

LATHE_DECL const std::string& AnyScript::name() const { return state().name; }

namespace detail {

/// A handle to a buffer: an input tensor whose buffer is the script's own.
inline AnyScriptBuffer script_handle(const Buffer& buffer, Layout layout, Location where) {
  auto* source = new TensorSource;
  Ref<TensorSource> owner(source);
  source->name = buffer->name;
  source->is_input = true;
  source->layout = layout;
  source->extents = buffer->shape;
  source->where = where;
  source->storage.push_back({buffer, buffer});
  return AnyScriptBuffer(tensor_of(owner, 0, buffer->name, buffer->dtype));
}

inline Vec<AnyExpr> script_extents(ScriptState& state, const std::string& name, DType dtype,
                                   const Vec<Extent>& extents, Location where) {
  if (dtype.is_vector())
    throw UserError("L0109", cat("the elements of '", name, "' are vectors, ", dtype.str()), where);
  Vec<AnyExpr> shape = checked_extents(name, extents, where);
  for (const auto& e : shape) state.check(cat("an extent of '", name, "'"), e, where);
  return shape;
}

/// With its shared parts bound; one that was given no value is left for the checks.
inline AnyExpr bound_value(const AnyExpr& e) { return e ? bind_shared(e) : e; }

}  // namespace detail

LATHE_DECL AnyScriptBuffer AnyScript::param(Access access, std::string name, DType dtype,
                                            Vec<Extent> extents, Layout layout, Location where) {
  detail::ScriptState& s = state();
  s.check_at_top(cat("parameter '", name, "'"), where);
  Vec<AnyExpr> shape = detail::script_extents(s, name, dtype, extents, where);
  s.claim(s.buffer_names, "buffer", name, where);
  const auto kind = access == Access::in ? detail::ScriptName::input : detail::ScriptName::memory;
  if (access == Access::in && shape.empty()) {
    auto origin = make_ref<detail::VarOrigin>(detail::VarOrigin::scalar, name);
    VarRef var = detail::make_declared_var(name, dtype, origin);
    s.params.push_back({access, {}, var});
    s.declare(var.get(), kind, name);
    return AnyScriptBuffer(AnyTensor(var));
  }
  Buffer buffer = detail::argument_buffer(name, dtype, shape, layout);
  s.params.push_back({access, buffer, {}});
  s.declare(buffer.get(), kind, name);
  return detail::script_handle(buffer, layout, where);
}

LATHE_DECL AnyScriptBuffer AnyScript::constant(const AnyTensor& tensor, Location where) {
  detail::ScriptState& s = state();
  const std::string name = tensor.name();
  if (!tensor.is_constant())
    throw UserError("L0132", cat("'", name, "' is no constant"), where, {},
                    "make it with lt::constant, or declare it with input");
  s.check_at_top(cat("constant '", name, "'"), where);
  s.claim(s.buffer_names, "buffer", name, where);
  const Buffer& buffer = tensor.param_buffer();
  s.params.push_back({Access::in, buffer, {}, Constancy::owned, tensor.source().content});
  s.declare(buffer.get(), detail::ScriptName::input, name);
  return detail::script_handle(buffer, Layout::dense, where);
}

LATHE_DECL AnyScriptBuffer AnyScript::local(std::string name, DType dtype, Vec<Extent> extents,
                                            Scope scope, Location where) {
  detail::ScriptState& s = state();
  Vec<AnyExpr> shape = detail::script_extents(s, name, dtype, extents, where);
  s.claim(s.buffer_names, "buffer", name, where);
  Buffer buffer = make_buffer(name, dtype, shape, scope);
  s.open({buffer, {}, {}, 0}, where);
  s.declare(buffer.get(), detail::ScriptName::memory, name);
  return detail::script_handle(buffer, Layout::dense, where);
}

LATHE_DECL void AnyScript::store(const AnyExpr& element, const AnyExpr& its_value, Location where) {
  const AnyExpr value = detail::bound_value(its_value);
  const LoadNode& to = state().target(element, value, where);
  state().add(make_store(to.buffer, to.indices, value), where);
}

LATHE_DECL void AnyScript::atomic(BinaryOp op, const AnyExpr& element, const AnyExpr& its_value,
                                  Location where) {
  const AnyExpr value = detail::bound_value(its_value);
  const LoadNode& to = state().target(element, value, where);
  const std::string what = cat("the atomic update of '", to.buffer->name, "'");
  if (is_comparison(op)) throw UserError("L0109", cat(what, " is a comparison"), where);
  if (auto problem = typing_problem(make_binary(op, value, value)); !problem.empty())
    throw UserError("L0109", cat(what, " by '", op_text(op), "': ", problem), where);
  state().add(make_ref<AtomicNode>(op, to.buffer, to.indices, value), where);
}

LATHE_DECL AnyExpr AnyScript::let(std::string name, const AnyExpr& its_value, Location where) {
  detail::ScriptState& s = state();
  const AnyExpr value = detail::bound_value(its_value);
  detail::check_name(name, where);
  s.check(cat("the value of '", name, "'"), value, where);
  VarRef var = make_var(name, value.dtype());
  s.open({{}, var, value, 0}, where);
  s.declare(var.get(), detail::ScriptName::let, name);
  return var;
}

LATHE_DECL void AnyScript::assert_(const AnyExpr& condition, std::string message, Location where) {
  state().check_condition("an asserted condition", condition, where);
  state().add(make_ref<AssertNode>(condition, std::move(message)), where);
}

LATHE_DECL void AnyScript::for_(std::string name, const Range& over,
                                FunctionRef<void(const VarRef&)> body, Location where) {
  detail::ScriptState& s = state();
  detail::check_name(name, where);
  const std::string what = cat("loop '", name, "'");
  s.check_range(what, over, where);
  VarRef var = make_var(name);
  auto run = [&] {
    s.loops.push_back({var, over});
    s.declare(var.get(), detail::ScriptName::loop, name);
    body(var);
  };
  s.add(make_for(var, over.min, over.extent, s.record(cat("the body of ", what), run, where)),
        where);
}

LATHE_DECL void AnyScript::if_(const AnyExpr& condition, FunctionRef<void()> then, Location where) {
  state().check_condition("the condition of an if", condition, where);
  state().add(make_if(condition, state().record("the body of an if", then, where)), where);
}
LATHE_DECL void AnyScript::if_(const AnyExpr& condition, FunctionRef<void()> then,
                               FunctionRef<void()> otherwise, Location where) {
  detail::ScriptState& s = state();
  s.check_condition("the condition of an if", condition, where);
  Stmt yes = s.record("the body of an if", then, where);
  s.add(make_if(condition, yes, s.record("the other body of an if", otherwise, where)), where);
}

LATHE_DECL void AnyScript::while_(const AnyExpr& condition, FunctionRef<void()> body,
                                  Location where) {
  state().check_condition("the condition of a while", condition, where);
  state().add(make_ref<WhileNode>(condition, state().record("the body of a while", body, where)),
              where);
}

LATHE_DECL Program AnyScript::program(Location where) const { return state().program(where); }

LATHE_DECL ReducerRef fold_reducer(Fold fold, const Vec<DType>& dtypes, Location where) {
  static constexpr std::string_view names[] = {"sum", "prod", "max",    "min",
                                               "any", "all",  "argmax", "argmin"};
  const std::string_view name = names[static_cast<int>(fold)];
  if (ReducerRef found = builtin_reducer(name, dtypes)) return found;
  throw UserError("L0109",
                  cat("there is no fold ", name, " of (",
                      join(dtypes, ", ", [](DType t) { return t.str(); }), ")"),
                  where, {},
                  "argmax and argmin fold a value and an i64 position, any and all bools");
}

LATHE_DECL Program script(std::string name, FunctionRef<void(Script&)> body, Location where) {
  Script p(std::move(name), where);
  detail::at_place(cat("script '", p.name(), "'"), where, [&] { body(p); });
  return p.program(where);
}

}  // namespace lathe
