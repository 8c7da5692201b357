#pragma once

#include <algorithm>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/ir/impl/verifier.hpp>
#include <lathe/ir/machine_form.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/support/slot_layout.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline void Verifier::fail(std::string reason) {
  if (!ok()) return;
  reason_ = std::move(reason);
  place_ = path_.empty() ? nullptr : path_.back();
}
inline bool Verifier::check(bool holds, std::string_view problem) {
  if (!holds) fail(std::string(problem));
  return holds && ok();
}

inline bool Verifier::scalar(const AnyExpr& e, std::string_view what) {
  if (!e.get()) return fail(cat(what, " is missing")), false;
  expr(e);
  if (e.dtype().is_vector()) fail(cat(what, " is a vector: ", str(e)));
  return ok();
}
inline bool Verifier::index(const AnyExpr& e, std::string_view what) {
  if (scalar(e, what) && !is_index(e.dtype()))
    fail(cat(what, " is of type ", e.dtype().str(), ", not i64: ", str(e)));
  return ok();
}
inline bool Verifier::condition(const AnyExpr& e, std::string_view what) {
  if (scalar(e, what) && !e.dtype().is_bool())
    fail(cat(what, " is of type ", e.dtype().str(), ", not bool: ", str(e)));
  return ok();
}

inline void Verifier::bind(const RefCounted* node, std::string_view name, bool hidden_in_blocks,
                           bool writable) {
  if (!node) return fail("a name without a variable or buffer");
  if (!entries_.insert(node, {level_, hidden_in_blocks, true, writable}))
    fail(cat('\'', name, "' is bound twice"));
}

inline void Verifier::use_var(const VarNode& v) {
  const Entry* e = entries_.find(&v);
  if (!e) return fail(cat("variable '", v.name, "' is not bound"));
  if (!e->in_scope || e->level > level_)
    return fail(cat("variable '", v.name, "' is used outside its scope"));
  if (e->hidden_in_blocks && e->level < level_)
    fail(cat("variable '", v.name, "' is bound around block '", blocks_.back()->name(),
             "', which has iterators of its own"));
}

inline const Verifier::Entry* Verifier::use_buffer(const Buffer& b) {
  const Entry* found = entries_.find(b.get());
  if (found && found->in_scope) return found;
  if (!found)
    fail(cat("buffer '", b->name, "' is neither a param nor allocated"));
  else
    fail(cat("buffer '", b->name, "' is used outside its alloc"));
  return nullptr;
}

inline void Verifier::access(const Buffer& b, const Vec<AnyExpr>& indices, bool writes) {
  const Entry* entry = use_buffer(b);
  if (!entry) return;
  if (writes && !entry->writable)
    return fail(cat("a store to '", b->name, "', which is an 'in' parameter"));
  auto count = static_cast<int>(indices.size());
  bool fits =
      stage_ < Stage::flat ? count == b->rank() : count == 1 || (count == 0 && b->rank() == 0);
  if (!fits)
    return fail(cat('\'', b->name, "' of rank ", b->rank(), " with ", count,
                    count == 1 ? " index" : " indices"));
  for (const auto& i : indices)
    if (!is_index(i.dtype().scalar()))
      fail(cat("an index of '", b->name, "' is of type ", i.dtype().str()));
}

inline void Verifier::let(const LetNode& n) {
  const bool again = stage_ >= Stage::flat && !lets_.insert(&n).second;
  for (const auto& b : n.bindings) {
    expr(b.value);
    if (!ok()) return;
    if (again)
      entries_[b.var.get()].in_scope = true;
    else
      bind(b.var.get(), b.var->name, true);
  }
  expr(n.body);
  for (const auto& b : reversed(n.bindings)) release(b.var.get());
}

inline void Verifier::call(const CallNode& n) {
  if (!op_pure(n.op) && !in_evaluate_)
    return fail(cat("a call of ", op_text(n.op), " outside an Evaluate"));
  if (is_tile(n.op) && std::exchange(tile_of_store_, nullptr) != &n)
    return fail(cat("a ", op_text(n.op), " that is not the value of a store"));
  in_evaluate_ = false;
  descend(AnyExpr(Ref<CallNode>(&n)));
}

inline void Verifier::select(const SelectNode& n) {
  const AnyExpr whole{Ref<SelectNode>(&n)};
  const bool by_lanes = n.condition.dtype().is_vector();
  if (arms_ > 0 && !by_lanes && met_.has_choice(whole)) return;
  expr(n.condition);
  arms_ += by_lanes;
  const std::size_t before = met_.mark();
  for (const auto* arm : {&n.yes, &n.no}) {
    expr(*arm);
    if (!by_lanes) met_.drop(before);
  }
  arms_ -= by_lanes;
  if (arms_ == 0 && !by_lanes && stage_ >= Stage::machine) met_.add_choice(whole);
}

/// In an arm: a load that was done before, by all lanes, with whatever its indices load.
inline bool Verifier::happened(const LoadNode& n) const {
  return stage_ >= Stage::machine && arms_ > 0 && !n.mask.get() && met_.find(n).get();
}

/// Both arms are computed, so a load in them needs a mask.
inline void Verifier::lanes_of_arm(const LoadNode& n, const AnyExpr& e) {
  if (stage_ < Stage::machine || n.mask.get() || n.indices.empty()) return;
  if (arms_ == 0)
    met_.add(n, e);
  else
    fail(cat("a load of all lanes in the arm of a select by lanes at stage machine: ", str(e)));
}

inline void Verifier::expr(const AnyExpr& e) {
  if (!ok()) return;
  if (!e.get()) return fail("an expression is missing");
  auto problem = typing_problem(e);
  if (!problem.empty()) return fail(cat(problem, ": ", str(e)));
  if (stage_ >= Stage::machine && !in_layout_) problem = machine_problem(e, caps_);
  if (!problem.empty()) return fail(cat(problem, " at stage machine: ", str(e)));
  if (const auto* v = e.as<VarNode>()) return use_var(*v);
  if (const auto* n = e.as<LetNode>()) return let(*n);
  if (const auto* n = e.as<CallNode>()) return call(*n);
  if (const auto* n = e.as<SelectNode>()) return select(*n);
  const auto* n = e.as<LoadNode>();
  if (n) access(n->buffer, n->indices, false);
  if (!ok() || (n && happened(*n))) return;
  descend(e);
  if (n && ok()) lanes_of_arm(*n, e);
}

// Extents and strides hold for as long as the buffer does, and no rewrite walks them: they name
// what does not change.
inline bool Verifier::layout(const AnyExpr& e, const std::string& what) {
  if (!index(e, what)) return false;
  if (const LoadNode* load = find_load(e))
    fail(cat(what, " reads '", load->buffer->name,
             "', whose elements may change: give it a name by a let before, ", str(e)));
  return ok();
}

// Lowering puts bindings in the place of iterators, but not in extents.
inline bool Verifier::names_bound(const AnyExpr& e) const {
  for (const auto& v : free_vars(e))
    if (const Entry* entry = entries_.find(v.get()); entry && entry->level > 0) return true;
  return false;
}

inline void Verifier::buffer_fields(const Buffer& b, bool is_param) {
  if (!b) return fail("a buffer is missing");
  in_layout_ = is_param;
  for (const auto& extent : b->shape) {
    layout(extent, cat("an extent of '", b->name, "'"));
    if (ok() && stage_ == Stage::blocks && names_bound(extent))
      fail(cat("an extent of '", b->name, "' depends on what a block binds: ", str(extent)));
  }
  if (!check(b->strides.empty() || b->strides.size() == b->shape.size(),
             "a buffer with fewer or more strides than dimensions"))
    return;
  for (const auto& stride : b->strides) {
    const auto* v = stride.as<VarNode>();
    if (is_param && v && !entries_.contains(v)) bind(v, v->name, false);
    layout(stride, cat("a stride of '", b->name, "'"));
  }
  in_layout_ = false;
  check(!is_param || b->aligned.empty(), "a parameter with aligned strides");
  for (std::size_t k = 0; k < b->aligned.size(); ++k) {
    const StrideRule& rule = b->aligned[k];
    check(b->strides.empty() && rule.dim >= 0 && rule.dim + 1 < b->rank(),
          "an aligned stride of no outer dimension of a dense buffer");
    check(rule.factor >= 1 && rule.factor <= kMostStrideFactor && rule.offset >= 0 &&
              rule.offset < rule.factor,
          "an aligned stride whose offset is not below its factor");
    for (std::size_t other = 0; other < k; ++other)
      check(b->aligned[other].dim != rule.dim, "two rules for one stride");
  }
  int a = b->alignment;
  check(a >= 0 && (a & (a - 1)) == 0, "an alignment that is no power of two");
  const bool whole = b->rank() == 0 && (b->scope == Scope::reg || b->scope == Scope::fragment);
  check(!b->dtype.is_vector() || whole, "vectors in a buffer that is no register of rank 0");
  check((b->tile >= 0) == (b->scope == Scope::fragment && b->rank() == 0) && b->tile < 8,
        "a tile register's number, which fragments of rank 0 have");
}

inline void Verifier::param(const Param& p) {
  if (!p.buffer) {
    if (!p.var) return fail("a parameter without a buffer or variable");
    check(p.access == Access::in, "a scalar parameter that is written");
    check(p.constancy == Constancy::none, "a constant without axes");
    return bind(p.var.get(), p.var->name, false);
  }
  buffer_fields(p.buffer, true);
  bind(p.buffer.get(), p.buffer->name, false, p.access != Access::in);
  check(p.buffer->scope == Scope::global, "a parameter that is not global");
  if (p.constancy != Constancy::none) constant(p);
}

inline void Verifier::constant(const Param& p) {
  check(p.access == Access::in, "a constant that is written");
  if (p.constancy != Constancy::owned) return;
  std::int64_t bytes = p.buffer->dtype.element_bytes(), stride = 1;
  for (std::size_t d = p.buffer->shape.size(); d-- > 0;) {
    const auto* extent = as_const_int(p.buffer->shape[d]);
    if (!check(extent && *extent >= 0, "a constant whose extents are no numbers")) return;
    const auto* declared = p.buffer->strides.empty() ? nullptr : as_const_int(p.buffer->strides[d]);
    check(declared ? *declared == stride : p.buffer->rank() == 1,
          "a constant that is not row-major without gaps");
    if (__builtin_mul_overflow(stride, *extent, &stride) ||
        __builtin_mul_overflow(bytes, *extent, &bytes))
      return fail("a constant that no memory can hold");
  }
  check(p.buffer->rank() > 0, "a constant without axes");
  check(!p.content || !p.content->data() || p.content->bytes() == static_cast<std::size_t>(bytes),
        "a constant with elements of another size than its type says");
}

inline void Verifier::program(const ProgramNode& p) {
  if (p.stage != stage_)
    return fail(cat("the program is at stage ", to_text(p.stage), ", not ", to_text(stage_)));
  check(!p.scheduled || p.stage == Stage::blocks, "a lowered program that is called scheduled");
  for (const auto& d : p.dims) {
    bind(d->var.get(), d->var->name, false);
    if (d->var->dtype != kIndex || d->min < 0 || d->max < d->min || d->multiple_of < 1)
      fail(cat("dim '", d->var->name, "' has impossible bounds"));
  }
  for (const auto& q : p.params)
    if (ok()) param(q);
  if (ok()) slots(p);
  stmt(p.body);
}

inline void Verifier::slots(const ProgramNode& p) {
  std::size_t count = p.dims.size();
  for (const auto& q : p.params) {
    const std::size_t axes = q.buffer ? q.buffer->shape.size() : 0;
    if (axes > kMostAxes)
      return fail(
          cat("parameter '", q.name(), "' has ", axes, " dimensions, more than ", kMostAxes));
    count += 1 + axes;
  }
  if (count > kMostSlots)
    fail(cat("parameters, their dimensions and dims are ", count, " in all, more than ",
             kMostSlots));
}

inline std::string failure_text(const Program& program, const Verifier& v, std::string_view after) {
  std::string text = cat("verify (", to_text(program->stage), ')');
  if (!after.empty()) append(text, " after ", after);
  append(text, ": ", v.reason());
  std::string shown = v.place() ? excerpt_of(program, v.place()) : std::string();
  return shown.empty() ? text : cat(text, '\n', shown);
}

}  // namespace detail

LATHE_DECL std::string verify_reason(const Program& program, Stage stage, const TargetCaps& caps) {
  if (!program) return "there is no program";
  detail::Verifier v(stage, caps);
  v.program(*program);
  return v.reason();
}

LATHE_DECL void verify(const Program& program, Stage stage, std::string_view after,
                       const TargetCaps& caps) {
  if (!program) throw InternalError("verify: there is no program");
  detail::Verifier v(stage, caps);
  v.program(*program);
  if (!v.reason().empty()) throw InternalError(detail::failure_text(program, v, after));
}

LATHE_DECL void verify_user(const Program& program, Location where) {
  if (!program) throw UserError("L0506", "the program is empty", where);
  const TargetCaps any;
  detail::Verifier v(program->stage, any);
  v.program(*program);
  if (v.reason().empty()) return;
  std::string shown = v.place() ? detail::excerpt_of(program, v.place()) : std::string();
  throw UserError("L0506", cat("program '", program->name, "': ", v.reason()), where, shown);
}

}  // namespace lathe
