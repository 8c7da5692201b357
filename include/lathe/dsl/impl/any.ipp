#pragma once

#include <algorithm>
#include <lathe/dsl/any.hpp>
#include <lathe/dsl/checks.hpp>
#include <lathe/ir/share.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

LATHE_DECL const VarOrigin* origin_of(const VarNode& var) {
  return static_cast<const VarOrigin*>(var.origin.get());
}
LATHE_DECL const TensorOrigin* origin_of(const Buffer& buffer) {
  return static_cast<const TensorOrigin*>(buffer->origin.get());
}

// A compute holds what it reads. A pipeline of any length is taken down one compute after the
// other: with one destructor inside the next, long ones would overflow the stack.
LATHE_DECL TensorOrigin::~TensorOrigin() {
  static thread_local const TensorSource* waiting = nullptr;
  static thread_local bool running = false;
  if (!source || source->shared()) return;  // somebody else holds it, or takes it down
  source->retain();
  source->next = waiting;
  waiting = source.get();
  source = {};
  if (running) return;
  running = true;
  while (const TensorSource* first = waiting) {
    waiting = first->next;
    first->release();
  }
  running = false;
}

LATHE_DECL VarRef make_declared_var(std::string name, DType dtype, Ref<VarOrigin> origin) {
  auto* node = new VarNode(std::move(name), dtype);
  node->origin = origin;
  node->data = origin->kind == VarOrigin::scalar;
  return VarRef(node);
}

/// Names of a block's iterators: i j k l i4 i5 …
inline std::string axis_name(std::size_t d) {
  return d < 4 ? std::string(1, "ijkl"[d]) : "i" + std::to_string(d);
}

inline AnyExpr times(const AnyExpr& a, const AnyExpr& b) {
  const auto *x = as_const_int(a), *y = as_const_int(b);
  if (x && y)
    return make_int(kIndex, static_cast<std::int64_t>(static_cast<std::uint64_t>(*x) *
                                                      static_cast<std::uint64_t>(*y)));
  return x && *x == 1 ? b : a * b;
}

/// Strides of an argument: constants where the layout fixes them, else variables. None for
/// row_major: from the first pass of lowering on, such a parameter's outer strides are variables
/// too.
inline Vec<AnyExpr> argument_strides(const std::string& name, const Vec<AnyExpr>& extents,
                                     Layout layout) {
  Vec<AnyExpr> strides;
  const std::size_t rank = extents.size();
  if (layout == Layout::row_major || (rank < 2 && layout != Layout::any_stride)) return strides;
  for (std::size_t d = 0; d < rank; ++d) {
    bool unit = layout == Layout::col_major && d == 0;
    std::string label = name + "_s" + std::to_string(d);
    if (unit)
      strides.push_back(AnyExpr(1));
    else
      strides.push_back(
          make_declared_var(label, kIndex, make_ref<VarOrigin>(VarOrigin::stride, label)));
  }
  if (layout != Layout::dense) return strides;
  strides[rank - 1] = AnyExpr(1);
  for (std::size_t d = rank - 1; d-- > 0;) strides[d] = times(strides[d + 1], extents[d + 1]);
  return strides;
}

inline Buffer argument_buffer(const std::string& name, DType dtype, const Vec<AnyExpr>& extents,
                              Layout layout) {
  return make_ref<BufferNode>(name, dtype, extents, argument_strides(name, extents, layout));
}

inline AnyTensor tensor_of(Ref<TensorSource> source, int output, std::string name, DType dtype) {
  auto* node = new BufferNode(std::move(name), dtype, source->extents);
  Buffer owner(node);
  node->origin = make_ref<TensorOrigin>(source, output);
  return AnyTensor(owner);
}

inline Vec<AnyExpr> checked_extents(const std::string& name, const Vec<Extent>& extents,
                                    Location where) {
  if (extents.size() > kMaxRank)
    throw UserError("L0120",
                    "'" + name + "' has " + std::to_string(extents.size()) + " axes, more than " +
                        std::to_string(kMaxRank),
                    where);
  Vec<AnyExpr> out;
  for (const auto& e : extents) out.push_back(e.any());
  check_extents(name, out, where);
  return out;
}

/// The spatial iterators of a compute, each with its own variable.
inline Vec<IterVar> spatial_iters(const std::string& name, const Vec<AnyExpr>& extents) {
  Vec<IterVar> iters;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::string axis = axis_name(d);
    VarRef var =
        make_declared_var("v" + axis, kIndex, make_ref<VarOrigin>(VarOrigin::axis, axis, name));
    iters.push_back({var, AnyExpr(0), extents[d], IterKind::spatial, {}});
  }
  return iters;
}

inline bool name_taken(const Vec<IterVar>& iters, const std::string& name) {
  for (const auto& it : iters)
    if (it.var->name == name) return true;
  return false;
}

/// Gives the block reduce variables of its own and moves the values over to them.
inline void adopt_reduction(TensorSource& source, const AnyValue& value) {
  Substitution map;
  for (const auto& axis : value.axes) {
    std::string name = "v" + axis.var->name;
    for (int n = 1; name_taken(source.iters, name); ++n)
      name = "v" + axis.var->name + "_" + std::to_string(n);
    auto origin = make_ref<VarOrigin>(VarOrigin::reduce, axis.var->name, source.name);
    VarRef fresh = make_declared_var(name, kIndex, origin);
    AnyExpr min = substitute(axis.min, map), extent = substitute(axis.extent, map);
    map.emplace_back(axis.var, AnyExpr(fresh));
    source.iters.push_back({fresh, min, extent, IterKind::reduce, {}});
  }
  for (auto& v : source.values) v = substitute(v, map);
  if (value.predicate) source.predicate = substitute(value.predicate, map);
  source.reducer = value.reducer;
}

inline std::string help_of(const UserError& e) {
  const std::string text = e.what();
  auto at = text.find("\n  help: ");
  return at == std::string::npos ? std::string() : text.substr(at + 9);
}

/// Nodes of the untyped core check what they are made of as the passes' invariants.
LATHE_DECL UserError unfit_operands(const std::string& what, const InternalError& e,
                                    Location where) {
  const std::string text = e.what(), prefix = "internal error: ";
  const auto begin = text.find(prefix) == 0 ? prefix.size() : 0;
  return UserError("L0109", what + ": " + text.substr(begin, text.find('\n') - begin), where, {},
                   "operands of the untyped core have one type; convert with make_cast");
}

/// What f gives. Operators have no place for a Location: what they report is reported at `where`.
template <class F>
auto at_place(const std::string& what, Location where, F&& f) {
  try {
    return f();
  } catch (const UserError& e) {
    if (e.where().line != 0) throw;
    throw UserError(e.id(), e.message(), where, {}, help_of(e));
  } catch (const InternalError& e) {
    throw unfit_operands(what, e, where);
  }
}

inline AnyValue run_body(FunctionRef<AnyValue(std::span<const VarRef>)> body,
                         const TensorSource& source) {
  Vec<VarRef> vars;
  for (const auto& it : source.iters) vars.push_back(it.var);
  return at_place("the body of '" + source.name + "'", source.where, [&] { return body(vars); });
}

/// Before anything walks through them: written out they may be of any size. A condition of where()
/// keeps its parts, which are tested one after the other.
inline void bind_shared_parts(AnyValue& value) {
  for (auto& v : value.values)
    if (v) v = bind_shared(v);
  if (!value.predicate) return;
  AnyExpr all;
  for (const auto& part : conjuncts(value.predicate)) {
    AnyExpr bound = bind_shared(part);
    all = all ? logical_and(all, bound) : bound;
  }
  value.predicate = all;
}

inline Vec<AnyTensor> make_compute(const std::string& name, const Vec<Extent>& extents,
                                   FunctionRef<AnyValue(std::span<const VarRef>)> body,
                                   Location where) {
  check_name(name, where);
  auto* source = new TensorSource;
  Ref<TensorSource> owner(source);
  source->name = name;
  source->where = where;
  source->extents = checked_extents(name, extents, where);
  source->tag = make_ref<BlockTagNode>(name);
  source->iters = spatial_iters(name, source->extents);
  AnyValue value = run_body(body, *source);
  bind_shared_parts(value);
  check_value(*source, value);
  source->values = value.values;
  if (value.reducer) adopt_reduction(*source, value);
  check_reads(*source);
  Vec<AnyTensor> out;
  for (std::size_t k = 0; k < source->values.size(); ++k) {
    std::string label = source->values.size() == 1 ? name : name + "_" + std::to_string(k);
    DType dtype = source->values[k].dtype();
    source->storage.push_back({make_buffer(label, dtype, source->extents),
                               argument_buffer(label, dtype, source->extents, Layout::row_major)});
    out.push_back(tensor_of(owner, static_cast<int>(k), label, dtype));
  }
  return out;
}

}  // namespace detail

LATHE_DECL std::string_view to_text(Layout layout) {
  static constexpr std::string_view texts[] = {"row_major", "col_major", "any_stride", "dense"};
  return texts[static_cast<int>(layout)];
}

LATHE_DECL const Vec<AnyExpr>& AnyTensor::shape() const {
  static const Vec<AnyExpr> none;
  return scalar_ ? none : defined().shape;
}
LATHE_DECL const BufferNode& AnyTensor::defined() const {
  if (!buffer_) throw UserError("L0116", "an undefined tensor is used", Location{});
  return *buffer_;
}
LATHE_DECL const detail::TensorOrigin& AnyTensor::origin() const {
  const auto* origin = static_cast<const detail::TensorOrigin*>(defined().origin.get());
  if (!origin) throw UserError("L0116", "'" + name() + "' is no tensor of a compute", Location{});
  return *origin;
}

LATHE_DECL AnyExpr AnyTensor::at(Vec<AnyExpr> indices, Location where) const {
  detail::check_indices(*this, indices, where);
  if (scalar_) return scalar_;
  return make_load(buffer_, std::move(indices));
}

namespace detail {

/// An input of such elements, without its storage.
inline TensorSource* input_source(const std::string& name, DType dtype, const Vec<Extent>& extents,
                                  Location where) {
  check_name(name, where);
  if (dtype.is_vector())
    throw UserError("L0109", "the elements of '" + name + "' are vectors, " + dtype.str(), where);
  Vec<AnyExpr> shape = checked_extents(name, extents, where);
  auto* source = new TensorSource;
  source->name = name;
  source->is_input = true;
  source->extents = std::move(shape);
  source->where = where;
  return source;
}

}  // namespace detail

LATHE_DECL AnyTensor make_input(std::string name, DType dtype, Vec<Extent> extents,
                                InputOptions options, Location where) {
  auto* source = detail::input_source(name, dtype, extents, where);
  Ref<detail::TensorSource> owner(source);
  if (source->extents.empty()) {
    if (options.constant)
      throw UserError("L0132", "'" + name + "' is passed by value, and can't be constant", where,
                      {}, "write the number where it is used");
    auto origin = make_ref<detail::VarOrigin>(detail::VarOrigin::scalar, name);
    return AnyTensor(detail::make_declared_var(name, dtype, origin));
  }
  source->layout = options.layout;
  if (options.constant) source->constancy = Constancy::promised;
  source->storage.push_back(
      {nullptr, detail::argument_buffer(name, dtype, source->extents, options.layout)});
  return detail::tensor_of(owner, 0, name, dtype);
}

LATHE_DECL AnyTensor make_constant(std::string name, DType dtype,
                                   std::span<const std::int64_t> extents, const void* elements,
                                   const std::int64_t* strides, Location where) {
  auto* source =
      detail::input_source(name, dtype, Vec<Extent>(extents.begin(), extents.end()), where);
  Ref<detail::TensorSource> owner(source);
  if (extents.empty())
    throw UserError("L0132", "constant '" + name + "' has no axes", where, {},
                    "write the number where it is used");
  const bool empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
  if (!elements && !empty)
    throw UserError("L0132", "constant '" + name + "': the pointer to its elements is null", where);
  source->layout = Layout::dense;
  source->constancy = Constancy::owned;
  source->content = detail::within_memory("constant", where, [&] {
    return copy_constant(elements, static_cast<std::size_t>(dtype.element_bytes()),
                         static_cast<int>(extents.size()), extents.data(), strides);
  });
  source->storage.push_back({nullptr, constant_buffer(name, dtype, source->extents)});
  return detail::tensor_of(owner, 0, name, dtype);
}

LATHE_DECL AnyReduce make_reduce(std::string name, Extent min, Extent extent, Location where) {
  detail::check_name(name, where);
  detail::check_reduce_range(name, min.any(), extent.any(), where);
  auto origin = make_ref<detail::VarOrigin>(detail::VarOrigin::reduce, name);
  return {detail::make_declared_var(name, kIndex, origin), min.any(), extent.any()};
}

LATHE_DECL Vec<AnyTensor> compute_any(std::string name, Vec<Extent> extents,
                                      FunctionRef<AnyValue(std::span<const VarRef>)> body,
                                      Location where) {
  return detail::within_memory("compute", where,
                               [&] { return detail::make_compute(name, extents, body, where); });
}

}  // namespace lathe
