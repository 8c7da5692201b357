#pragma once

#include <lathe/analysis/open_blocks.hpp>
#include <lathe/arith/facts.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/rules.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/fates.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline void add_free_vars(NodeSet& set, const AnyExpr& e) {
  if (!e.get()) return;
  for (const auto& v : free_vars(e)) set.insert(v.get());
}

inline bool names_any(const AnyExpr& e, const NodeSet& set) {
  for (const auto& v : free_vars(e))
    if (set.contains(v.get())) return true;
  return false;
}

/// A statement above an inner block: a loop, a let or an if.
struct Enclosing {
  Stmt stmt;
  bool in_else = false;
};

class OpenInnerBlocks : public Mutator {
 public:
  OpenInnerBlocks(const Program& program, Location where) : program_(program), where_(where) {
    for (const auto& d : program->dims) facts_.bind(d);
  }

  AnyExpr expr(const AnyExpr& e) override { return e; }
  Stmt stmt(const Stmt& s) override {
    if (const auto* b = s.as<BlockNode>()) return outer_ ? open(*b) : outermost(s, *b);
    if (!outer_) return descend(s);
    if (const auto* f = s.as<ForNode>()) return loop(s, *f);
    if (const auto* n = s.as<IfNode>()) return branch(s, *n);
    if (s.kind() != StmtKind::LetStmt) return descend(s);
    path_.push_back({s});
    Stmt out = descend(s);
    path_.pop_back();
    return out;
  }

 private:
  Stmt outermost(const Stmt& s, const BlockNode& b) {
    outer_ = &b;
    const Facts around = facts_;
    for (const auto& it : b.iters) facts_.bind(it);
    outer_facts_ = facts_;
    Stmt body = stmt(b.body);
    facts_ = around;
    outer_ = nullptr;
    if (body.same_as(b.body)) return s;
    BlockNode out = b;
    out.body = std::move(body);
    return make_block(std::move(out));
  }

  Stmt loop(const Stmt& s, const ForNode& f) {
    path_.push_back({s});
    const Facts around = facts_;
    facts_.bind(f);
    Stmt out = descend(s);
    facts_ = around;
    path_.pop_back();
    Vec<Stmt> all;
    for (const auto& [before, init] : inits_)
      if (before == &f) all.push_back(init);
    all.push_back(std::move(out));
    return make_seq(std::move(all));
  }

  Stmt branch(const Stmt& s, const IfNode& n) {
    path_.push_back({s});
    Stmt yes = stmt(n.then_body), no = n.else_body;
    if (no) path_.back().in_else = true, no = stmt(no);
    path_.pop_back();
    return make_if(n.condition, std::move(yes), std::move(no));
  }

  Stmt open(const BlockNode& b) {
    Stmt update = instance(b, b.reducer ? expand_update(b) : b.body, false);
    if (const auto* stream = b.attributes.find<StreamAttr>())
      update = with_streaming(update, stream->how);
    if (!b.init) return update;
    const std::size_t from = init_place(b);
    Stmt init = instance(b, expand_init(b), true);
    if (from == path_.size()) return make_seq({init, update});
    inits_.emplace_back(path_[from].stmt.get(), around_init(b, init, from));
    return update;
  }

  /// A block's body where its instance exists; for an init without what reduce iterators say. A
  /// binding that reads memory is read once.
  Stmt instance(const BlockNode& b, const Stmt& body, bool init) {
    Substitution values;
    for (const auto& it : b.iters) {
      if (init && it.kind == IterKind::reduce) continue;
      const bool plain = !reads(it.binding);
      values.emplace_back(it.var, plain ? it.binding : AnyExpr(fresh(it.var)));
    }
    Stmt out = stmt(substitute(body, values));
    const Vec<AnyExpr> conditions = predicate(b, init);
    for (const auto& c : reversed(conditions))
      out = make_if(fresh_lets(substitute(c, values)), std::move(out));
    for (const auto& it : reversed(b.iters)) {
      if (init && it.kind == IterKind::reduce) continue;
      out = guarded_iter(it, values, init ? outer_facts_ : facts_, std::move(out));
    }
    return out;
  }

  Stmt guarded_iter(const IterVar& it, const Substitution& values, const Facts& facts, Stmt out) {
    AnyExpr value;
    for (const auto& [var, given] : values)
      if (var == it.var) value = given;
    const AnyExpr min = substitute(it.min, values);
    const AnyExpr end = fold_add(min, substitute(it.extent, values));
    for (const auto& c : {value < end, value >= min})
      if (AnyExpr kept = simplify(c, facts); !is_const(kept, 1))
        out = make_if(fresh_lets(kept), std::move(out));
    const auto* var = value.as<VarNode>();
    return reads(it.binding) ? make_let_stmt(VarRef(var), it.binding, std::move(out)) : out;
  }

  static VarRef fresh(const VarRef& v) { return make_var(v->name, v->dtype); }

  static bool reads(const AnyExpr& e) {
    LoadedBuffers loads;
    loads.expr(e);
    return !loads.found.empty();
  }

  static Vec<AnyExpr> predicate(const BlockNode& b, bool init) {
    return init ? init_conjuncts(b) : conjuncts(b.predicate);
  }

  /// The outermost statement of the path that feeds a reduce iterator, through lets too.
  std::size_t init_place(const BlockNode& b) const {
    NodeSet sources;
    for (const auto& it : b.iters)
      if (it.kind == IterKind::reduce) add_free_vars(sources, it.binding);
    std::size_t from = path_.size();
    for (std::size_t k = path_.size(); k-- > 0;) {
      if (const auto* f = path_[k].stmt.as<ForNode>(); f && sources.contains(f->var.get()))
        from = k;
      if (const auto* let = path_[k].stmt.as<LetStmtNode>();
          let && sources.contains(let->var.get()))
        add_free_vars(sources, let->value);
    }
    for (const auto& it : outer_->iters)
      if (sources.contains(it.var.get()))
        throw UserError("L0506",
                        cat("program '", program_->name, "': block '", b.name(), "' inside block '",
                            outer_->name(), "' reduces over '", it.var->name,
                            "', an iterator of that block, so its init has no place inside of it"),
                        where_, excerpt(program_, b.tag), "fill first, then update without init");
    return from;
  }

  /// The init inside of copies of those statements of the path that its iterators need.
  Stmt around_init(const BlockNode& b, const Stmt& init, std::size_t from) {
    NodeSet needed;
    for (const auto& it : b.iters) {
      if (it.kind == IterKind::reduce) continue;
      for (const auto* e : {&it.binding, &it.min, &it.extent}) add_free_vars(needed, *e);
    }
    for (const auto& c : predicate(b, true)) add_free_vars(needed, c);
    NodeSet dropped;
    for (std::size_t k = path_.size(); k-- > from;) {
      const auto* f = path_[k].stmt.as<ForNode>();
      const auto* let = path_[k].stmt.as<LetStmtNode>();
      const VarNode* var = f ? f->var.get() : let ? let->var.get() : nullptr;
      if (!var) continue;
      if (!needed.contains(var)) {
        dropped.insert(var);
      } else if (f) {
        add_free_vars(needed, f->min), add_free_vars(needed, f->extent);
      } else {
        add_free_vars(needed, let->value);
      }
    }
    return wrap_init(init, from, dropped, {});
  }

  Stmt wrap_init(const Stmt& init, std::size_t k, const NodeSet& dropped, Substitution names) {
    if (k == path_.size()) return substitute(fresh_lets(init), names);
    const Stmt& s = path_[k].stmt;
    auto inside = [&] { return wrap_init(init, k + 1, dropped, names); };
    if (const auto* f = s.as<ForNode>(); f && !dropped.contains(f->var.get())) {
      const AnyExpr min = substitute(f->min, names), extent = substitute(f->extent, names);
      const VarRef var = fresh(f->var);
      names.emplace_back(f->var, AnyExpr(var));
      Attributes rest = after(Change::refill, f->attributes);
      rest.erase_if([](const Attribute& a) { return !may_carry(ForKind::serial, a); });
      return make_for(var, min, extent, inside(), ForKind::serial, rest);
    }
    if (const auto* let = s.as<LetStmtNode>(); let && !dropped.contains(let->var.get())) {
      const AnyExpr value = fresh_lets(substitute(let->value, names));
      const VarRef var = fresh(let->var);
      names.emplace_back(let->var, AnyExpr(var));
      return make_let_stmt(var, value, inside());
    }
    const auto* n = s.as<IfNode>();
    if (!n || names_any(n->condition, dropped)) return inside();
    const AnyExpr condition = fresh_lets(substitute(n->condition, names));
    return make_if(path_[k].in_else ? logical_not(condition) : condition, inside());
  }

  const Program& program_;
  Location where_;
  const BlockNode* outer_ = nullptr;
  Vec<Enclosing> path_;  ///< inside the outermost block
  Vec<std::pair<const StmtNode*, Stmt>> inits_;
  Facts facts_;
  Facts outer_facts_;  ///< without the loops inside: an init runs also where they do not
};

inline bool has_inner_blocks(const Stmt& s, bool inside = false) {
  if (s.as<BlockNode>() && inside) return true;
  const bool below = inside || s.as<BlockNode>();
  return any_child(s, [&](const Stmt& child) { return has_inner_blocks(child, below); });
}

}  // namespace detail

LATHE_DECL Program open_blocks(const Program& program, Location where) {
  if (!detail::has_inner_blocks(program->body)) return program;
  return program.with(detail::OpenInnerBlocks(program, where).stmt(program->body));
}

}  // namespace lathe
