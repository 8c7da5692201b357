// Several schedules of one computation in one kernel.
#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/jit/jit.hpp>
#include <lathe/jit/source.hpp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// What a Dim must be in one version and need not be in the other.
inline AnyExpr narrower(const DimNode& dim, const DimNode& general) {
  const AnyExpr n(dim.var);
  if (dim.min == dim.max && general.min != general.max) return eq(n, AnyExpr(dim.min));
  AnyExpr out;
  if (dim.min > general.min) out = fold_and(out, n >= AnyExpr(dim.min));
  if (dim.max < general.max) out = fold_and(out, n <= AnyExpr(dim.max));
  if (general.multiple_of % dim.multiple_of != 0)
    out = fold_and(out, eq(floormod(n, AnyExpr(dim.multiple_of)), AnyExpr(0)));
  return out;
}

inline AnyExpr holds_for(const Program& version, const Program& general) {
  AnyExpr out;
  for (std::size_t k = 0; k < version->dims.size(); ++k)
    out = fold_and(out, narrower(*version->dims[k], *general->dims[k]));
  return out;
}

// Lowering gives parameters strides and types of its own.
inline Stmt with_params_of(const Program& last, const Program& version) {
  Stmt body = version->body;
  Substitution strides;
  for (std::size_t k = 0; k < last->params.size(); ++k) {
    const Buffer &from = version->params[k].buffer, &to = last->params[k].buffer;
    if (!from || from == to) continue;
    body = replace_buffer(body, from, to);
    for (std::size_t axis = 0; axis < from->strides.size(); ++axis)
      if (const auto* var = from->strides[axis].as<VarNode>())
        strides.emplace_back(VarRef(var), to->strides[axis]);
  }
  return strides.empty() ? body : substitute(body, strides);
}

LATHE_DECL Program dispatched(const ProgramVersions& versions) {
  const Program& last = versions.last;
  Stmt body = last->body;
  for (const Program& version : reversed(versions.before)) {
    const AnyExpr condition = holds_for(version, last);
    const Stmt own = with_params_of(last, version);
    body = condition ? make_if(condition, own, body) : own;
  }
  return last.with(body);
}

LATHE_DECL SplitVersions split_versions(const ProgramVersions& versions) {
  SplitVersions out;
  Vec<Param> kept;
  const std::size_t own = versions.last->params.size();
  const auto split = [&](const Program& version) {
    SplitProgram parts = split_constants(version);
    for (OncePart& part : parts.once) {
      for (int& output : part.outputs) output += static_cast<int>(kept.size());
      out.once.push_back(std::move(part));
    }
    for (std::size_t k = own; k < parts.rest->params.size(); ++k)
      kept.push_back(parts.rest->params[k]);
    return parts.rest;
  };
  const auto with_kept = [&](const Program& version) {
    ProgramNode node = *version;
    node.params.resize(own);
    for (const Param& p : kept) node.params.push_back(p);
    return Program(std::move(node));
  };
  for (const Program& version : versions.before) out.rest.before.push_back(split(version));
  out.rest.last = split(versions.last);
  if (kept.empty()) return out;
  for (Program& version : out.rest.before) version = with_kept(version);
  out.rest.last = with_kept(out.rest.last);
  return out;
}

inline bool same_interface(const Program& a, const Program& b) {
  if (a->params.size() != b->params.size() || a->dims.size() != b->dims.size()) return false;
  for (std::size_t k = 0; k < a->params.size(); ++k)
    if (a->params[k].buffer != b->params[k].buffer || a->params[k].var != b->params[k].var)
      return false;
  for (std::size_t k = 0; k < a->dims.size(); ++k)
    if (a->dims[k]->var != b->dims[k]->var) return false;
  return true;
}

}  // namespace detail

LATHE_DECL Source versions(const std::vector<Schedule>& all, JitOptions options, Location where) {
  if (all.empty()) throw UserError("L0315", "versions: there is no schedule", where);
  const Schedule& last = all.back();
  Vec<Program> before;
  for (std::size_t k = 0; k + 1 < all.size(); ++k) {
    if (all[k].trace().program_hash != last.trace().program_hash ||
        !detail::same_interface(all[k].program(), last.program()))
      throw UserError("L0315",
                      cat("versions: schedule ", k, " is of another computation than the last one"),
                      where, {}, "start them from the same tensors, or copy one schedule");
    before.push_back(all[k].program());
  }
  return Source(last, std::move(before), std::move(options), where);
}

}  // namespace lathe
