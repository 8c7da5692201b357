#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/support/dense_map.hpp>
#include <optional>

namespace lathe {
namespace detail {

/// The step of an arg-reduction into registers: of (value, position) the left one stays where it
/// wins, or ties and stands no further back.
struct ArgStep {
  Buffer value, position;
  AnyExpr keeps;    ///< the condition as the reducer says it
  AnyExpr shorter;  ///< the same where positions never fall from one step to the next
  AnyExpr at;       ///< the position on the right
  AnyExpr worst;    ///< the identity of the value
};

/// The steps that each iteration of a loop takes, one for each pair of registers, which nothing
/// else in the loop stores to.
class ArgSteps : public Visitor {
 public:
  explicit ArgSteps(const Stmt& body) {
    stmt(body);
    for (const ArgStep& step : found_)
      if (stores_to(body, step.value) == 1 && stores_to(body, step.position) == 1)
        steps.push_back(step);
  }
  Vec<ArgStep> steps;

  void expr(const AnyExpr&) override {}
  void stmt(const Stmt& s) override {
    if (const auto* let = s.as<LetStmtNode>()) lets_.insert(let->var.get(), let->value);
    if (const auto* store = s.as<StoreNode>()) note(*store);
    // What may not run takes no step.
    if (s.kind() == StmtKind::Seq || s.kind() == StmtKind::LetStmt) descend(s);
  }

 private:
  // A choice that has a name: of what a register held, or of something new.
  const SelectNode* choice(const StoreNode& n) const {
    const AnyExpr* named = n.indices.empty() && !n.mask ? lets_.find(n.value.get()) : nullptr;
    return named ? named->as<SelectNode>() : nullptr;
  }
  bool holds(const AnyExpr& var, const Buffer& reg) const {
    const AnyExpr* value = lets_.find(var.get());
    const auto* load = value ? value->as<LoadNode>() : nullptr;
    return load && load->buffer == reg && load->indices.empty();
  }

  static int stores_to(const Stmt& body, const Buffer& reg) {
    int count = 0;
    each_statement(body, [&](const Stmt& s) {
      const auto* n = s.as<StoreNode>();
      count += n && n->buffer == reg;
    });
    return count;
  }

  void note(const StoreNode& n) {
    const SelectNode* now = choice(n);
    if (!now || n.buffer->scope != Scope::reg || !holds(now->yes, n.buffer)) return;
    if (last_ && structurally_equal(last_->condition, now->condition))
      if (auto step = as_step(*last_, *now)) {
        step->value = last_buffer_, step->position = n.buffer;
        found_.push_back(std::move(*step));
      }
    last_ = now, last_buffer_ = n.buffer;
  }

  // By its value, if that names nothing of the loop's body.
  AnyExpr position_of(const AnyExpr& e) const {
    const AnyExpr* named = lets_.find(e.get());
    const AnyExpr at = named ? *named : e;
    for (const auto& v : free_vars(at))
      if (lets_.contains(v.get())) return {};
    return at;
  }

  std::optional<ArgStep> as_step(const SelectNode& value, const SelectNode& position) const {
    const DType t = value.dtype.scalar();
    const AnyExpr at = position_of(position.no);
    if (position.dtype.scalar() != kIndex || t.is_bool() || !at) return {};
    for (const char* name : {"argmax", "argmin"}) {
      const ReducerRef known = builtin_reducer(name, {t, kIndex});
      Substitution operands;
      for (int k = 0; k < 2; ++k) {
        const SelectNode& from = k == 0 ? value : position;
        operands.emplace_back(known->lhs[static_cast<std::size_t>(k)], from.yes);
        operands.emplace_back(known->rhs[static_cast<std::size_t>(k)], from.no);
      }
      const auto* all = known->combine[0].as<SelectNode>();
      if (!structurally_equal(said(all->condition, operands), said(value.condition, {}))) continue;
      const bool is_max = name == std::string_view("argmax");
      AnyExpr shorter =
          make_binary(BinaryOp::le, is_max ? value.no : value.yes, is_max ? value.yes : value.no);
      if (t.is_float()) shorter = logical_or(shorter, make_call(CallOp::is_nan, {value.yes}));
      return ArgStep{{}, {}, value.condition, shorter, at, known->identity[0]};
    }
    return {};
  }

  // With these in the place of variables, and all comparisons the same way round.
  static AnyExpr said(const AnyExpr& e, const Substitution& operands) {
    for (const auto& [var, by] : operands)
      if (var.get() == e.get()) return by;
    if (const auto* n = e.as<BinaryNode>()) {
      AnyExpr a = said(n->a, operands), b = said(n->b, operands);
      if (n->op == BinaryOp::gt) return make_binary(BinaryOp::lt, std::move(b), std::move(a));
      return make_binary(n->op, std::move(a), std::move(b));
    }
    if (const auto* n = e.as<UnaryNode>()) return make_unary(n->op, said(n->a, operands));
    if (const auto* n = e.as<CallNode>(); n && n->op == CallOp::is_nan)
      return make_call(n->op, {said(n->args[0], operands)});
    return e;
  }

  Vec<ArgStep> found_;
  NodeMap<AnyExpr> lets_;
  const SelectNode* last_ = nullptr;
  Buffer last_buffer_;
};

// Positions that a loop takes in rising order need no comparison: of equal values the first one
// stays. The identity's position, which is beyond all, becomes that of the first element.
class RisingPositions : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* seq = s.as<SeqNode>();
    if (!seq) return descend(s);
    Vec<Stmt> out;
    Stores held;  // by registers, as constants
    for (const Stmt& child : seq->stmts) {
      const auto* loop = child.as<ForNode>();
      const Stmt done = loop ? risen(*loop, child, held, out) : Stmt();
      out.push_back(done ? done : stmt(child));
      held = those_left(held, child);
      const auto* store = child.as<StoreNode>();
      if (store && store->indices.empty() && store->buffer->scope == Scope::reg)
        held.push_back(store);
    }
    return make_seq(std::move(out));
  }

 private:
  using Stores = Vec<const StoreNode*>;

  // Those that the statement does not store to.
  static Stores those_left(const Stores& held, const Stmt& s) {
    Stores left;
    for (const StoreNode* store : held) {
      const bool again = any_statement(s, [&](const Stmt& part) {
        const auto* n = part.as<StoreNode>();
        return n && n->buffer == store->buffer;
      });
      if (!again) left.push_back(store);
    }
    return left;
  }

  // The loop with its shorter steps; `before` gets the first positions. Empty: none is.
  static Stmt risen(const ForNode& loop, const Stmt& whole, const Stores& held, Vec<Stmt>& before) {
    const ArgSteps found(loop.body);
    Vec<ArgStep> steps;
    for (const ArgStep& step : found.steps) {
      if (!starts_afresh(step, held) || !rises(step, loop)) continue;
      AnyExpr first = substitute(step.at, {{loop.var, loop.min}});
      const std::int64_t* extent = as_const_int(loop.extent);
      if (!extent || *extent < 1)
        first = make_select(AnyExpr(0) < loop.extent, first, make_int(first.dtype(), INT64_MAX));
      before.push_back(make_store(step.position, {}, simplify(first)));
      steps.push_back(step);
    }
    return steps.empty() ? Stmt() : Shorter(steps).stmt(whole);
  }

  static bool starts_afresh(const ArgStep& step, const Stores& held) {
    bool value = false, position = false;
    for (const StoreNode* s : held) {
      const AnyExpr is = lane(s->value);
      if (s->buffer == step.value) value = structurally_equal(is, step.worst);
      if (s->buffer == step.position) position = is_const(is, INT64_MAX);
    }
    return value && position;
  }
  static AnyExpr lane(const AnyExpr& e) {
    const auto* all = e.as<BroadcastNode>();
    return all ? all->value : e;
  }

  // Never less than in the iteration before, in all lanes.
  static bool rises(const ArgStep& step, const ForNode& loop) {
    if (loop.loop_kind != ForKind::serial) return false;
    AnyExpr at = lane(step.at);
    if (const auto* ramp = at.as<RampNode>()) {
      if (uses_var(ramp->stride, loop.var)) return false;
      at = ramp->base;
    }
    if (at.dtype() != kIndex || !is_load_free(at)) return false;
    const AnyExpr next = substitute(at, {{loop.var, AnyExpr(loop.var) + 1}});
    const AnyExpr by = simplify(next - at);
    const std::int64_t* known = as_const_int(by);
    return known && *known >= 0;
  }

  class Shorter : public Mutator {
   public:
    explicit Shorter(const Vec<ArgStep>& steps) : steps_(steps) {}
    AnyExpr expr(const AnyExpr& e) override {
      const auto* n = e.as<SelectNode>();
      for (const ArgStep& step : steps_)
        if (n && structurally_equal(n->condition, step.keeps))
          return make_select(step.shorter, n->yes, n->no);
      return e;
    }

   private:
    const Vec<ArgStep>& steps_;
  };
};

}  // namespace detail

LATHE_DECL Program rising_positions(const Program& program) {
  return program.with(detail::RisingPositions().stmt(program->body));
}

}  // namespace lathe
