// Where a reduction's identity is stored: before which loop, and at which spatial points.
//
// "Once per evaluation of its spatial point, before its first update and also when the reduce
// domain is empty: before the outermost loop that feeds a reduce iterator, for the spatial points
// reached inside that loop, under the part of the predicate that names no reduce iterator." Which
// points those are follows from the loops that the spatial iterators come from, and from the
// conditions that name nothing else; other loops are taken to run. (ir/stmt.hpp)
#pragma once

#include <lathe/ir/visit.hpp>
#include <set>

#include "state.hpp"

namespace oracle {

using VarSet = std::set<const lathe::VarNode*>;

/// A statement on the way from the program's body to a block.
struct Around {
  lathe::Stmt stmt;
  bool in_else = false;
};
using Path = std::vector<Around>;

/// A reduction with init. Its identity is stored before path[from], or where from is the path's
/// length before each of its instances.
struct InitPlace {
  const lathe::BlockNode* block = nullptr;
  Path path;
  std::size_t from = 0;
  VarSet spatial;  ///< what the spatial iterators come from
};

/// All variables in e, those of its lets too.
inline void add_vars(const lathe::AnyExpr& e, VarSet& out) {
  struct Collect : lathe::Visitor {
    VarSet* vars = nullptr;
    void expr(const lathe::AnyExpr& x) override {
      if (const auto* v = x.as<lathe::VarNode>()) vars->insert(v);
      descend(x);
    }
  } collect;
  collect.vars = &out;
  if (e) collect.expr(e);
}
inline bool names_any(const lathe::AnyExpr& e, const VarSet& vars) {
  VarSet found;
  add_vars(e, found);
  for (const auto* v : found)
    if (vars.count(v)) return true;
  return false;
}

inline VarSet reduce_iterators(const lathe::BlockNode& block) {
  VarSet out;
  for (const auto& it : block.iters)
    if (it.kind == lathe::IterKind::reduce) out.insert(it.var.get());
  return out;
}

/// The conditions whose conjunction is e.
inline void conjuncts(const lathe::AnyExpr& e, std::vector<lathe::AnyExpr>& out) {
  const auto* n = e ? e.as<lathe::BinaryNode>() : nullptr;
  if (n && n->op == lathe::BinaryOp::and_)
    conjuncts(n->a, out), conjuncts(n->b, out);
  else if (e)
    out.push_back(e);
}
/// Those of the block's predicate that name no reduce iterator.
inline std::vector<lathe::AnyExpr> spatial_conditions(const lathe::BlockNode& block) {
  std::vector<lathe::AnyExpr> all, out;
  conjuncts(block.predicate, all);
  const VarSet reduced = reduce_iterators(block);
  for (const auto& e : all)
    if (!names_any(e, reduced)) out.push_back(e);
  return out;
}

/// Adds what the variables are made of: the values of lets and the bindings of blocks around.
inline void add_sources(const Path& path, VarSet& vars) {
  for (std::size_t k = path.size(); k-- > 0;) {
    if (const auto* let = path[k].stmt.as<lathe::LetStmtNode>(); let && vars.count(let->var.get()))
      add_vars(let->value, vars);
    if (const auto* block = path[k].stmt.as<lathe::BlockNode>())
      for (const auto& it : block->iters)
        if (vars.count(it.var.get())) add_vars(it.binding, vars);
  }
}

inline VarSet fed_by(const lathe::BlockNode& block, const Path& path, bool reduce) {
  VarSet out;
  for (const auto& it : block.iters) {
    if ((it.kind == lathe::IterKind::reduce) != reduce) continue;
    add_vars(it.binding, out);
    if (!reduce) add_vars(it.min, out), add_vars(it.extent, out);
  }
  if (!reduce)
    for (const auto& e : spatial_conditions(block)) add_vars(e, out);
  // A spatial point of the blocks around is part of where this one is.
  for (const auto& around : path)
    if (const auto* outer = around.stmt.as<lathe::BlockNode>(); outer && !reduce)
      for (const auto& it : outer->iters)
        if (it.kind != lathe::IterKind::reduce) add_vars(it.binding, out);
  add_sources(path, out);
  return out;
}

inline InitPlace init_place(const lathe::BlockNode& block, const Path& path) {
  InitPlace out{&block, path, path.size(), {}};
  const VarSet reduces = fed_by(block, path, true);
  VarSet spatial = fed_by(block, path, false);
  for (std::size_t k = path.size(); k-- > 0;) {
    const auto* loop = path[k].stmt.as<lathe::ForNode>();
    if (!loop) continue;
    if (reduces.count(loop->var.get())) out.from = k;
    // The range of a loop that is needed is needed too.
    if (!spatial.count(loop->var.get())) continue;
    add_vars(loop->min, spatial), add_vars(loop->extent, spatial);
    add_sources(path, spatial);
  }
  out.spatial = spatial;
  return out;
}

/// Every reduction with init below s, with the way to it.
inline void find_inits(const lathe::Stmt& s, Path& path, std::vector<InitPlace>& out) {
  if (const auto* block = s.as<lathe::BlockNode>(); block && block->init)
    out.push_back(init_place(*block, path));
  if (const auto* seq = s.as<lathe::SeqNode>()) {
    for (const auto& child : seq->stmts) find_inits(child, path, out);
    return;
  }
  const auto* branch = s.as<lathe::IfNode>();
  lathe::any_child(s, [&](const lathe::Stmt& child) {
    path.push_back({s, branch && child.same_as(branch->else_body)});
    find_inits(child, path, out);
    path.pop_back();
    return false;
  });
}

}  // namespace oracle
