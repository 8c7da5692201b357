#pragma once

#include <lathe/arith/interval.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/vector/clone.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// One lane of a vector, by itself where the vector is made of lanes that can be told.
inline AnyExpr lane_of(const AnyExpr& e, int lane) {
  if (e.dtype().lanes == 1) return e;
  const auto repeated = [&](const AnyExpr& part) {
    return lane_of(part, lane % part.dtype().lanes);
  };
  if (const auto* ramp = e.as<RampNode>()) {
    const int step = lane / ramp->base.dtype().lanes;
    return step == 0 ? repeated(ramp->base) : repeated(ramp->base) + repeated(ramp->stride) * step;
  }
  if (const auto* all = e.as<BroadcastNode>()) return repeated(all->value);
  if (const auto* n = e.as<BinaryNode>())
    return make_binary(n->op, lane_of(n->a, lane), lane_of(n->b, lane));
  return make_shuffle({e}, {lane});
}

/// The assertions that the accesses of one statement need, in the order in which they happen: what
/// an index reads is tested before the index is, and each under what makes its access happen.
class AccessChecks : public Visitor {
 public:
  AccessChecks(const Facts& facts, std::string statement)
      : facts_(facts), statement_(std::move(statement)) {}

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>()) {
      descend(e);
      access(n->buffer, n->indices, n->mask);
    } else if (const auto* s = e.as<SelectNode>()) {
      expr(s->condition);
      under(s->condition, s->yes);
      under(logical_not(s->condition), s->no);
    } else if (const auto* let = e.as<LetNode>()) {
      for (const auto& b : let->bindings) {
        expr(b.value);
        path_.push_back({b.var, b.value});
      }
      expr(let->body);
      path_.resize(path_.size() - let->bindings.size());
    } else if (const auto* call = e.as<CallNode>(); call && call->op == CallOp::prefetch) {
      // A prefetch touches nothing; its index may read.
      for (const auto& i : call->args[0].as<LoadNode>()->indices) expr(i);
    } else {
      descend(e);
    }
  }

  void access(const Buffer& buffer, const Vec<AnyExpr>& indices, const AnyExpr& mask) {
    const BufferNode& b = *buffer;
    if (b.rank() == 0 || static_cast<int>(indices.size()) != b.rank()) return;
    if (all_inside(b, indices)) return;
    int lanes = 1;
    for (const auto& i : indices) lanes = std::max<int>(lanes, i.dtype().lanes);
    for (int l = 0; l < lanes; ++l) {
      AnyExpr inside;
      Vec<AnyExpr> values;
      for (std::size_t d = 0; d < indices.size(); ++d) {
        const AnyExpr at = lane_of(indices[d], l);
        const AnyExpr within = logical_and(AnyExpr(0) <= at, at < b.shape[d]);
        inside = inside ? logical_and(inside, within) : within;
        values.push_back(at);
      }
      for (const auto& extent : b.shape) values.push_back(extent);
      if (mask) path_.push_back({{}, mask});
      add(inside, message(b), values, l);
      if (mask) path_.pop_back();
    }
  }

  Vec<Stmt> take() { return std::move(checks_); }

 private:
  /// Of all lanes at once: tiles have a thousand.
  bool all_inside(const BufferNode& b, const Vec<AnyExpr>& indices) const {
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const std::int64_t* extent = as_const_int(b.shape[d]);
      const ConstInterval range = const_bounds(indices[d], facts_);
      if (!extent || !range.has_min() || !range.has_max() || range.min < 0 || range.max >= *extent)
        return false;
    }
    return true;
  }

  /// A condition that holds, or a variable that is bound, around what is visited.
  struct Around {
    VarRef var;
    AnyExpr e;
  };

  void under(const AnyExpr& condition, const AnyExpr& e) {
    path_.push_back({{}, condition});
    expr(e);
    path_.pop_back();
  }
  std::string message(const BufferNode& b) const {
    std::string at, shape;
    for (int d = 0; d < b.rank(); ++d) {
      append(at, d ? ", {" : "{", d, "}");
      append(shape, d ? ", {" : "{", d + b.rank(), "}");
    }
    return cat("'", b.name, "' has no element [", at, "], its shape is [", shape, "]\nin ",
               statement_);
  }
  template <class T>
  static void note_vars(NodeSet& used, const T& what) {
    for (const auto& v : free_vars(what)) used.insert(v.get());
  }
  void add(const AnyExpr& inside, const std::string& message, const Vec<AnyExpr>& values,
           int lane) {
    Facts facts = facts_;
    for (const auto& around : path_)
      if (!around.var) facts.assume(lane_of(around.e, lane));
    if (prove(inside, facts)) return;
    Stmt check = make_ref<AssertNode>(inside, message, values);
    NodeSet used;
    note_vars(used, check);
    for (const auto& around : reversed(path_)) {
      if (around.var && !used.contains(around.var.get())) continue;
      note_vars(used, around.e);
      check = around.var ? Stmt(make_ref<LetStmtNode>(around.var, around.e, check))
                         : make_if(lane_of(around.e, lane), check, {});
    }
    for (const auto& known : checks_)
      if (structurally_equal(known, check)) return;
    checks_.push_back(check);
  }

  const Facts& facts_;
  std::string statement_;
  Vec<Around> path_;
  Vec<Stmt> checks_;
};

/// What messages show of a statement: its first line.
inline std::string statement_text(const Stmt& s) {
  constexpr std::size_t most = 160;
  std::string text = str(s);
  text.resize(std::min(text.size(), text.find('\n')));
  if (text.size() > most) text = text.substr(0, most) + " …";
  return text;
}

class CheckAccesses : public Mutator {
 public:
  explicit CheckAccesses(const Program& program) : facts_(program) {}

  Stmt stmt(const Stmt& s) override {
    switch (s.kind()) {
      case StmtKind::For:
        return loop(s);
      case StmtKind::If:
        return branch(s);
      case StmtKind::While:
        return repeat(s);
      case StmtKind::Alloc:
      case StmtKind::Seq:
        return descend(s);
      case StmtKind::LetStmt: {
        const auto* n = s.as<LetStmtNode>();
        return checked(
            s, [&](AccessChecks& c) { c.expr(n->value); }, descend(s));
      }
      case StmtKind::Store: {
        const auto* n = s.as<StoreNode>();
        return checked(
            s, [&](AccessChecks& c) { write(c, *n, n->mask); }, s);
      }
      case StmtKind::Atomic:
        return checked(
            s, [&](AccessChecks& c) { write(c, *s.as<AtomicNode>(), {}); }, s);
      case StmtKind::Assert: {
        const auto* n = s.as<AssertNode>();
        return checked(
            s, [&](AccessChecks& c) { c.expr(n->condition); }, s);
      }
      case StmtKind::Evaluate:
        return checked(
            s, [&](AccessChecks& c) { c.expr(s.as<EvaluateNode>()->call); }, s);
      case StmtKind::Block:
        break;
    }
    unreachable("check_accesses: a block was not lowered");
  }

 private:
  template <class Node>
  static void write(AccessChecks& c, const Node& n, const AnyExpr& mask) {
    for (const auto& i : n.indices) c.expr(i);
    if (mask) c.expr(mask);
    c.expr(n.value);
    c.access(n.buffer, n.indices, mask);
  }
  template <class F>
  Stmt checked(const Stmt& s, F visit, const Stmt& then) {
    AccessChecks checks(facts_, statement_text(s));
    visit(checks);
    Vec<Stmt> all = checks.take();
    if (all.empty()) return then;
    for (auto& check : all) check = CloneFresh().stmt(check);
    all.push_back(then);
    return make_seq(std::move(all));
  }
  Stmt loop(const Stmt& s) {
    const auto* f = s.as<ForNode>();
    const Facts outer = facts_;
    facts_.bind(*f);
    const Stmt body = stmt(f->body);
    facts_ = outer;
    const Stmt again = body.same_as(f->body)
                           ? s
                           : make_for(f->var, f->min, f->extent, body, f->loop_kind, f->attributes);
    return checked(
        s, [&](AccessChecks& c) { c.expr(f->min), c.expr(f->extent); }, again);
  }
  // a && b evaluates both: where b reads, it may only do so where a holds.
  Stmt branch(const Stmt& s) {
    const auto* n = s.as<IfNode>();
    const auto* both = n->condition.as<BinaryNode>();
    if (both && both->op == BinaryOp::and_ && !n->else_body)
      return branch(make_if(both->a, make_if(both->b, n->then_body, {}), {}));
    const Facts outer = facts_;
    facts_.assume_before(n->condition);
    const Stmt yes = stmt(n->then_body);
    facts_ = outer;
    facts_.assume_before(logical_not(n->condition));
    const Stmt no = n->else_body ? stmt(n->else_body) : Stmt();
    facts_ = outer;
    return checked(
        s, [&](AccessChecks& c) { c.expr(n->condition); }, make_if(n->condition, yes, no));
  }
  Stmt repeat(const Stmt& s) {
    const auto* n = s.as<WhileNode>();
    auto look = [&](AccessChecks& c) { c.expr(n->condition); };
    const Stmt body = make_seq({stmt(n->body), checked(s, look, make_seq({}))});
    return checked(s, look, make_ref<WhileNode>(n->condition, body));
  }

  Facts facts_;
};

}  // namespace detail

LATHE_DECL Program check_accesses(const Program& program) {
  return program.with(detail::CheckAccesses(program).stmt(program->body));
}

}  // namespace lathe
