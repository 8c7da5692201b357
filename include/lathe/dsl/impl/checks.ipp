#pragma once

#include <lathe/dsl/checks.hpp>
#include <lathe/dsl/constant.hpp>
#include <lathe/ir/reducer_law.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

LATHE_DECL void check_name(const std::string& name, Location where) {
  bool good = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name)
    good = good &&
           ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
  if (good) return;
  throw UserError("L0101", "'" + name + "' is not a name", where, {},
                  "use letters, digits and underscores, and begin with no digit");
}

LATHE_DECL void check_index_type(const std::string& what, const AnyExpr& e, Location where) {
  if (!e.get()) throw UserError("L0104", what + " is undefined", where);
  if (e.dtype() == kIndex) return;
  const auto* value = as_const_int(e);
  if (value && e.dtype() == kU64 && *value < 0)
    throw UserError(
        "L0104",
        what + " is " + std::to_string(static_cast<std::uint64_t>(*value)) + ", which no i64 holds",
        where);
  throw UserError("L0104",
                  what + " is of type " + e.dtype().str() + ", but indices and extents are i64",
                  where, {}, "convert it with lt::cast<std::int64_t>(…)");
}

/// What is shared in an expression is computed, and compiled, at each use.
LATHE_DECL void check_weight(const std::string& what, const AnyExpr& e, Location where) {
  if (e.get()->height > kMaxValueHeight)
    throw UserError("L0123", what + " has more than " + std::to_string(kMaxValueHeight) + " levels",
                    where, {}, "give a part of it a tensor of its own, or fold over a Reduce");
  if (e.get()->weight <= kMaxValueWeight) return;
  throw UserError("L0124",
                  what + " has more than " + std::to_string(kMaxValueWeight) +
                      " operations, each shared one counted at each use",
                  where, {}, "give what is shared a tensor of its own");
}

/// Extents may name dims only: what a tensor's shape is must be known before any element is.
inline void check_shape_vars(const std::string& what, const AnyExpr& e, Location where) {
  const LoadNode* load = find_load(e);
  std::string name = load ? load->buffer->name : "";
  for (const auto& v : free_vars(e)) {
    const auto* origin = origin_of(*v);
    if (!origin || origin->kind != VarOrigin::dim) name = v->name;
  }
  if (name.empty()) return;
  throw UserError("L0119", what + " depends on '" + name + "', which is not a Dim", where, {},
                  "extents are made of integers and Dims");
}

LATHE_DECL void check_extents(const std::string& name, const Vec<AnyExpr>& extents,
                              Location where) {
  constexpr std::int64_t most = std::int64_t{1} << 56;  // far from where 64 bits of bytes end
  std::int64_t count = 1;
  bool empty = false, overflow = false;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::string what = "extent " + std::to_string(d) + " of '" + name + "'";
    check_index_type(what, extents[d], where);
    check_weight(what, extents[d], where);
    check_shape_vars(what, extents[d], where);
    const auto* value = as_const_int(extents[d]);
    if (!value) continue;
    if (*value < 0)
      throw UserError("L0102", what + " is " + std::to_string(*value), where, {},
                      "extents are 0 or more");
    if (*value == 0)
      empty = true;
    else
      overflow = overflow || __builtin_mul_overflow(count, *value, &count);
  }
  if (!empty && (overflow || count > most))
    throw UserError("L0103", "'" + name + "' has more than 2^56 elements", where);
}

LATHE_DECL void check_reduce_range(const std::string& name, const AnyExpr& min,
                                   const AnyExpr& extent, Location where) {
  check_index_type("the start of reduce axis '" + name + "'", min, where);
  check_index_type("the extent of reduce axis '" + name + "'", extent, where);
  const auto* value = as_const_int(extent);
  if (value && *value < 0)
    throw UserError("L0102",
                    "the extent of reduce axis '" + name + "' is " + std::to_string(*value), where,
                    {}, "extents are 0 or more");
  const auto* first = as_const_int(min);
  std::int64_t end = 0;
  if (value && first && __builtin_add_overflow(*first, *value, &end))
    throw UserError("L0127",
                    "reduce axis '" + name + "' has " + std::to_string(*value) + " points from " +
                        std::to_string(*first) + " on, beyond 64 bits",
                    where, {}, "start + extent is at most 2^63 - 1");
}

/// Positions among the points of several axes are numbers of 64 bits.
inline void check_reduce_points(const TensorSource& source, const AnyValue& value) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t points = 1;
  bool empty = false, overflow = false;
  for (const auto& axis : value.axes) {
    const auto* extent = as_const_int(axis.extent);
    if (!extent) continue;
    if (*extent == 0)
      empty = true;
    else
      overflow = overflow || __builtin_mul_overflow(points, *extent, &points);
  }
  if (!empty && (overflow || points > most))
    throw UserError("L0127", "the reduce axes of '" + source.name + "' have more than 2^62 points",
                    source.where);
}

LATHE_DECL void check_indices(const AnyTensor& tensor, const Vec<AnyExpr>& indices,
                              Location where) {
  if (!tensor) throw UserError("L0116", "an undefined tensor is read", where);
  if (static_cast<int>(indices.size()) != tensor.rank())
    throw UserError("L0108",
                    "'" + tensor.name() + "' has rank " + std::to_string(tensor.rank()) +
                        ", but is read with " + std::to_string(indices.size()) +
                        (indices.size() == 1 ? " index" : " indices"),
                    where);
  for (std::size_t d = 0; d < indices.size(); ++d)
    check_index_type("index " + std::to_string(d) + " of '" + tensor.name() + "'", indices[d],
                     where);
}

/// Checks that every variable of e is an axis of this compute, one of the reduce axes, a dim or a
/// scalar.
inline void check_vars(const TensorSource& source, const Vec<AnyReduce>& axes,
                       std::size_t axes_known, const AnyExpr& e) {
  for (const auto& var : free_vars(e)) {
    bool known = false;
    for (const auto& it : source.iters) known = known || it.var == var;
    for (std::size_t k = 0; k < axes_known; ++k) known = known || axes[k].var == var;
    const auto* origin = origin_of(*var);
    if (known || (origin && (origin->kind == VarOrigin::dim || origin->kind == VarOrigin::scalar)))
      continue;
    if (origin && origin->kind == VarOrigin::reduce)
      throw UserError(
          "L0105", "reduce axis '" + origin->label + "' is left unreduced in '" + source.name + "'",
          source.where, {}, "fold over it: lt::sum(…, " + origin->label + ")");
    std::string label = origin ? origin->label : var->name;
    std::string owner = origin && !origin->owner.empty() ? " of '" + origin->owner + "'" : "";
    throw UserError("L0106",
                    "'" + source.name + "' uses variable '" + label + "'" + owner +
                        ", which is not an axis of its own",
                    source.where, {}, "use the variables that the body's parameters give");
  }
}

/// The conditions of a conjunction.
inline void split_and(const AnyExpr& e, Vec<AnyExpr>& out) {
  const auto* node = e.as<BinaryNode>();
  if (node && node->op == BinaryOp::and_) {
    split_and(node->a, out);
    split_and(node->b, out);
  } else {
    out.push_back(e);
  }
}

/// A condition that names no reduce axis would leave elements without a value.
inline void check_predicate(const TensorSource& source, const AnyValue& value) {
  if (value.predicate.dtype() != kBool)
    throw UserError("L0109",
                    "the condition of where() in '" + source.name + "' is of type " +
                        value.predicate.dtype().str() + ", not bool",
                    source.where);
  check_weight("the condition of '" + source.name + "'", value.predicate, source.where);
  check_vars(source, value.axes, value.axes.size(), value.predicate);
  Vec<AnyExpr> conditions;
  split_and(value.predicate, conditions);
  for (const auto& c : conditions) {
    bool named = false;
    for (const auto& axis : value.axes) named = named || uses_var(c, axis.var);
    if (!named)
      throw UserError("L0117",
                      "a condition in where() of '" + source.name + "' names no reduce axis",
                      source.where, {}, "put it into an lt::select around the term");
  }
}

inline void check_reduce_axes(const TensorSource& source, const AnyValue& value) {
  if (value.axes.empty())
    throw UserError("L0107", "the reduction of '" + source.name + "' has no axis", source.where);
  for (std::size_t k = 0; k < value.axes.size(); ++k) {
    if (!value.axes[k].var || !value.axes[k].min.get() || !value.axes[k].extent.get())
      throw UserError("L0116", "a reduce axis of '" + source.name + "' is undefined", source.where);
    for (std::size_t other = 0; other < k; ++other)
      if (value.axes[other].var == value.axes[k].var)
        throw UserError(
            "L0107",
            "reduce axis '" + value.axes[k].var->name + "' is given twice in '" + source.name + "'",
            source.where);
    check_vars(source, value.axes, k, value.axes[k].min);
    check_vars(source, value.axes, k, value.axes[k].extent);
  }
  check_reduce_points(source, value);
}

LATHE_DECL void check_buffers(const TensorSource& source, const AnyExpr& e) {
  struct Loads : Visitor {
    Buffer found;
    void expr(const AnyExpr& x) override {
      if (const auto* load = x.as<LoadNode>(); load && !load->buffer->origin) found = load->buffer;
      descend(x);
    }
  } loads;
  loads.expr(e);
  if (!loads.found) return;
  throw UserError("L0129",
                  "'" + source.name + "' reads '" + loads.found->name + "', which is no tensor",
                  source.where, {}, "a compute reads tensors; what a script declares is its own");
}

LATHE_DECL void check_value(const TensorSource& source, const AnyValue& value) {
  if (value.values.empty())
    throw UserError("L0116", "the body of '" + source.name + "' gives no value", source.where);
  if (value.reducer) {
    check_reduce_axes(source, value);
    if (value.values.size() != value.reducer->identity.size())
      throw UserError("L0107",
                      "reducer '" + value.reducer->name + "' folds " +
                          std::to_string(value.reducer->identity.size()) + " values, but '" +
                          source.name + "' gives it " + std::to_string(value.values.size()),
                      source.where);
    if (value.predicate) check_predicate(source, value);
  } else if (!value.axes.empty() || value.predicate.get()) {
    throw UserError("L0107", "'" + source.name + "' has reduce axes or a condition, but no reducer",
                    source.where);
  }
  for (std::size_t k = 0; k < value.values.size(); ++k) {
    const AnyExpr& v = value.values[k];
    if (!v.get())
      throw UserError("L0116", "the body of '" + source.name + "' gives an undefined value",
                      source.where);
    check_weight("the value of '" + source.name + "'", v, source.where);
    if (v.dtype().is_vector())
      throw UserError("L0109", "the value of '" + source.name + "' is a vector, " + v.dtype().str(),
                      source.where);
    if (value.reducer && value.reducer->identity[k].dtype() != v.dtype())
      throw UserError("L0109",
                      "reducer '" + value.reducer->name + "' folds " +
                          value.reducer->identity[k].dtype().str() + ", but its term in '" +
                          source.name + "' is " + v.dtype().str(),
                      source.where);
    check_vars(source, value.axes, value.axes.size(), v);
    check_buffers(source, v);
  }
  // Which tuples there are is only known by the terms.
  if (value.reducer && value.values.size() > 1)
    check_reducer_laws(*value.reducer, value.values, source.where);
}

/// What an empty fold gives must be known without any tensor or axis.
inline void check_identity(const ReducerNode& reducer, const AnyExpr& identity, Location where) {
  const std::string what = "the identity of reducer '" + reducer.name + "'";
  check_weight(what, identity, where);
  const char* help = "an identity is made of numbers; what depends on data belongs into the term";
  for (const auto& var : free_vars(identity)) {
    const auto* origin = origin_of(*var);
    throw UserError("L0121", what + " uses '" + (origin ? origin->label : var->name) + "'", where,
                    {}, help);
  }
  if (find_load(identity)) throw UserError("L0121", what + " reads a tensor", where, {}, help);
}

LATHE_DECL void check_reducer(const ReducerNode& reducer, Location where) {
  for (const auto& e : reducer.identity) check_identity(reducer, e, where);
  bool reads = false;
  for (std::size_t k = 0; k < reducer.combine.size(); ++k) {
    if (!reducer.combine[k].get())
      throw UserError("L0116", "reducer '" + reducer.name + "' combines to an undefined value",
                      where);
    check_weight("reducer '" + reducer.name + "'", reducer.combine[k], where);
    reads = reads || find_load(reducer.combine[k]);
    for (const auto& var : free_vars(reducer.combine[k])) {
      bool own = false;
      for (const auto& v : reducer.lhs) own = own || v == var;
      for (const auto& v : reducer.rhs) own = own || v == var;
      if (!own)
        throw UserError(
            "L0121",
            "reducer '" + reducer.name + "' uses '" + var->name + "', which is not its operand",
            where, {}, "put what depends on tensors or axes into the term");
    }
    if (reducer.combine[k].dtype() != reducer.identity[k].dtype())
      throw UserError("L0109",
                      "reducer '" + reducer.name + "' combines to " +
                          reducer.combine[k].dtype().str() + ", but its identity is " +
                          reducer.identity[k].dtype().str(),
                      where);
  }
  if (reads)
    throw UserError("L0121", "reducer '" + reducer.name + "' reads a tensor", where, {},
                    "put what depends on tensors or axes into the term");
}

LATHE_DECL void check_reducer_laws(const ReducerNode& reducer, std::span<const AnyExpr> terms,
                                   Location where) {
  const std::string problem = law_problem(reducer, terms);
  if (problem.empty()) return;
  throw UserError("L0131", "reducer '" + reducer.name + "' " + problem, where, {},
                  "its options say that it is; leave them out, and it folds in the order of the "
                  "axes");
}

LATHE_DECL void check_element_count(const std::string& name, std::size_t given,
                                    std::span<const std::int64_t> extents, Location where) {
  std::size_t count = 1;
  bool fits = true;
  for (const std::int64_t extent : extents)
    fits = fits && extent >= 0 &&
           !__builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count);
  if (!fits || count == given) return;  // make_constant says what does not fit
  throw UserError("L0132",
                  "constant '" + name + "' is given " + std::to_string(given) +
                      " elements, but its extents say " + std::to_string(count),
                  where);
}

}  // namespace lathe::detail
