#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/dsl/impl/any.ipp>
#include <lathe/dsl/impl/script_state.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline constexpr std::size_t kMostScriptBodies = 100;
inline constexpr std::size_t kMostScriptScopes = 1000;

/// All variables and loads of an expression, but for what it binds itself.
class ScriptExprs : Visitor {
 public:
  ScriptExprs(ScriptState& state, const std::string& what, Location where)
      : state_(state), what_(what), where_(where) {}
  void expr(const AnyExpr& e) override {
    if (const auto* var = e.as<VarNode>()) {
      if (!bound_.contains(var)) state_.check_var(what_, *var, where_);
      return;
    }
    if (const auto* let = e.as<LetNode>())
      for (const auto& b : let->bindings) bound_.insert(b.var.get());
    if (const auto* load = e.as<LoadNode>()) state_.check_known(what_, load->buffer, where_);
    descend(e);
  }

 private:
  ScriptState& state_;
  const std::string& what_;
  Location where_;
  NodeSet bound_;
};

LATHE_DECL ScriptState::ScriptState(std::string its_name, Location its_where)
    : name(std::move(its_name)), where(its_where), bodies_(1) {}

LATHE_DECL void ScriptState::note_dim(const VarNode& var) {
  for (const auto& known : dims)
    if (known.get() == &var) return;
  dims.push_back(VarRef(&var));
}

LATHE_DECL void ScriptState::check_var(const std::string& what, const VarNode& var,
                                       Location where_used) {
  const VarOrigin* origin = origin_of(var);
  if (origin && origin->kind == VarOrigin::dim) return note_dim(var);
  const ScriptName* found = names_.find(&var);
  if (!found)
    throw UserError("L0129",
                    cat(what, " uses '", origin ? origin->label : var.name,
                        "', which is no variable of script '", name, "'"),
                    where_used, {},
                    "use what the bodies of this script's loops and blocks are given");
  const bool is_loop = found->kind == ScriptName::loop;
  if (!found->open)
    throw UserError("L0129",
                    cat(what, " uses ", is_loop ? "loop variable" : "", is_loop ? " '" : "'",
                        var.name, "' outside of ",
                        is_loop                               ? "its loop"
                        : found->kind == ScriptName::iterator ? "its block"
                                                              : "the body that declares it"),
                    where_used);
  if ((is_loop || found->kind == ScriptName::let) && found->level < level_)
    throw UserError("L0129",
                    cat(what, " uses '", var.name, "' from around block '",
                        bodies_.back().block ? bodies_.back().block->name() : std::string(),
                        "', which has iterators of its own"),
                    where_used, {},
                    is_loop
                        ? cat("bind an iterator to it: lt::spatial(", var.name, "), and use that")
                        : std::string("declare it inside the block"));
}

LATHE_DECL void ScriptState::check_known(const std::string& what, const Buffer& buffer,
                                         Location where_used) {
  const ScriptName* found = names_.find(buffer.get());
  if (!found)
    throw UserError(
        "L0129", cat(what, " uses '", buffer->name, "', which is no buffer of script '", name, "'"),
        where_used, {},
        buffer->origin ? "declare it in the script: p.input<T>(name, {extents})"
                       : "each script has buffers of its own");
  if (!found->open)
    throw UserError("L0129",
                    cat(what, " uses '", buffer->name, "' outside of the body that declares it"),
                    where_used);
}

LATHE_DECL void ScriptState::check(const std::string& what, const AnyExpr& e, Location where_used) {
  if (!e.get()) throw UserError("L0116", cat(what, " is undefined"), where_used);
  check_weight(what, e, where_used);
  if (e.dtype().is_vector())
    throw UserError("L0109", cat(what, " is a vector, ", e.dtype().str()), where_used);
  ScriptExprs(*this, what, where_used).expr(e);
}
LATHE_DECL void ScriptState::check_condition(const std::string& what, const AnyExpr& e,
                                             Location where_used) {
  check(what, e, where_used);
  if (e.dtype() != kBool)
    throw UserError("L0109", cat(what, " is of type ", e.dtype().str(), ", not bool"), where_used);
}
LATHE_DECL void ScriptState::check_range(const std::string& what, const Range& over,
                                         Location where_used) {
  for (const auto* e : {&over.min, &over.extent}) {
    check_index_type(cat(e == &over.min ? "the start of " : "the extent of ", what), *e,
                     where_used);
    check(what, *e, where_used);
  }
  const auto* extent = as_const_int(over.extent);
  if (extent && *extent < 0)
    throw UserError("L0102", cat("the extent of ", what, " is ", *extent), where_used, {},
                    "extents are 0 or more");
}

LATHE_DECL const LoadNode& ScriptState::target(const AnyExpr& element, const AnyExpr& value,
                                               Location where_used) {
  const auto* load = element.as<LoadNode>();
  if (const auto* scalar = element.as<VarNode>(); scalar && names_.contains(scalar))
    throw UserError("L0128", cat("a store to '", scalar->name, "', which is no buffer"), where_used,
                    {}, "scalar inputs are passed by value: declare a local");
  if (!load || load->mask.get())
    throw UserError("L0128", "a store to something that is no element of a buffer", where_used);
  const std::string what = cat("the element of '", load->buffer->name, "' that is stored to");
  check(what, element, where_used);
  if (names_.find(load->buffer.get())->kind == ScriptName::input)
    throw UserError("L0128",
                    cat("a store to '", load->buffer->name, "', an input of script '", name, "'"),
                    where_used, {}, "declare it with output or inout");
  check(cat("the value stored to '", load->buffer->name, "'"), value, where_used);
  if (value.dtype() != load->dtype)
    throw UserError("L0109",
                    cat("'", load->buffer->name, "' holds ", load->dtype.str(),
                        ", but the value stored is ", value.dtype().str()),
                    where_used, {}, "convert it with lt::cast<T>(…)");
  return *load;
}

LATHE_DECL void ScriptState::claim(Vec<std::string>& names, const char* kind,
                                   const std::string& wanted, Location where_used) {
  check_name(wanted, where_used);
  for (const auto& known : names)
    if (known == wanted)
      throw UserError("L0111",
                      cat("two ", kind, "s of script '", name, "' are called '", wanted, "'"),
                      where_used, {}, cat("give each ", kind, " a name of its own"));
  names.push_back(wanted);
}

LATHE_DECL void ScriptState::declare(const RefCounted* node, ScriptName::Kind kind,
                                     const std::string& its_name) {
  names_[node] = {kind, its_name, level_, true};
  declared_.push_back(node);
}

[[noreturn]] inline void refuse_beside_fold(const BlockNode& block, Location where) {
  throw UserError("L0130", cat("block '", block.name(), "' folds, and holds nothing else"), where,
                  {}, "give the other statements a block of their own");
}

LATHE_DECL void ScriptState::open(ScriptScope scope, Location where_used) {
  std::size_t count = 1;
  for (const auto& body : bodies_) count += body.scopes.size();
  if (count > kMostScriptScopes)
    throw UserError("L0130",
                    cat("more than ", kMostScriptScopes, " lets and locals hold at one place"),
                    where_used, {}, "declare them in the bodies that use them");
  if (const BlockNode* block = bodies_.back().block; block && block->reducer)
    refuse_beside_fold(*block, where_used);
  scope.first = bodies_.back().stmts.size();
  bodies_.back().scopes.push_back(std::move(scope));
}

LATHE_DECL void ScriptState::add(Stmt s, Location where_used) {
  ScriptBody& body = bodies_.back();
  if (body.block && body.block->reducer) refuse_beside_fold(*body.block, where_used);
  body.stmts.push_back(std::move(s));
}
LATHE_DECL void ScriptState::check_folds_alone(const BlockNode& block, Location where_used) const {
  const ScriptBody& body = bodies_.back();
  if (block.reducer || !body.stmts.empty() || !body.scopes.empty())
    refuse_beside_fold(block, where_used);
}
LATHE_DECL void ScriptState::check_at_top(const std::string& what, Location where_used) const {
  if (bodies_.size() == 1) return;
  throw UserError("L0130", cat(what, " stands inside a body of script '", name, "'"), where_used,
                  {}, "put it outside of loops, branches and blocks");
}
LATHE_DECL bool ScriptState::is_hidden_in_blocks(const VarNode& var) const {
  const ScriptName* found = names_.find(&var);
  return found && (found->kind == ScriptName::loop || found->kind == ScriptName::let);
}

LATHE_DECL bool ScriptState::is_input(const Buffer& buffer) const {
  const ScriptName* found = names_.find(buffer.get());
  return found && found->kind == ScriptName::input;
}

/// A let holds from its place on, memory in all of the body: steps may then move what uses it.
inline Stmt closed(ScriptBody& body) {
  for (const auto& scope : reversed(body.scopes)) {
    if (scope.buffer) continue;
    Stmt rest = make_seq({body.stmts.begin() + scope.first, body.stmts.end()});
    body.stmts.resize(scope.first);
    body.stmts.push_back(make_let_stmt(scope.var, scope.value, std::move(rest)));
  }
  Stmt out = make_seq(body.stmts);
  for (const auto& scope : reversed(body.scopes))
    if (scope.buffer) out = make_alloc(scope.buffer, std::move(out));
  return out;
}

LATHE_DECL void ScriptState::return_to(const Mark& before) {
  bodies_.resize(before.bodies);
  loops.resize(before.loops);
  level_ = before.level;
  for (; declared_.size() > before.declared; declared_.pop_back())
    names_[declared_.back()].open = false;
}

LATHE_DECL Stmt ScriptState::record(const std::string& what, FunctionRef<void()> body,
                                    Location where_used, BlockNode* block) {
  if (bodies_.size() > kMostScriptBodies)
    throw UserError("L0130",
                    cat("more than ", kMostScriptBodies, " loops and branches inside one another"),
                    where_used);
  const Mark before = mark();
  const std::size_t buffers = buffer_names.size(), blocks = block_names.size();
  bodies_.emplace_back();
  bodies_.back().block = block;
  if (block) ++level_;
  try {
    at_place(what, where_used, body);
  } catch (...) {
    return_to(before);
    buffer_names.resize(buffers), block_names.resize(blocks);
    throw;
  }
  Stmt out = closed(bodies_.back());
  return_to(before);
  return out;
}

LATHE_DECL BlockNode& ScriptState::current_block(const char* what, Location where_used) {
  if (BlockNode* block = bodies_.back().block) return *block;
  throw UserError("L0130", cat(what, " stands in no block"), where_used, {},
                  "put it directly into the body of a block");
}

LATHE_DECL Program ScriptState::program(Location where_used) const {
  check_at_top("program()", where_used);
  for (const auto& dim : dims) verify_dim(dim, params, where_used);
  ProgramNode node;
  node.name = name;
  node.params = params;
  for (const auto& dim : dims) {
    const VarOrigin* o = origin_of(*dim);
    node.dims.push_back(make_ref<DimNode>(dim, o->min, o->max, o->multiple_of));
  }
  ScriptBody body = bodies_[0];
  node.body = closed(body);
  Program out(std::move(node));
  verify_user(out, where_used);
  verify_defined(out, where_used);
  return out;
}

}  // namespace lathe::detail
