#pragma once

#include <lathe/analysis/find.hpp>
#include <lathe/arith/interval.hpp>
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

/// All stores to one pair of registers, in their order.
using ArgChain = Vec<ArgStep>;

/// The steps that statements take whenever they run, by pairs of registers that nothing else in
/// them stores to.
class ArgChains : public Visitor {
 public:
  explicit ArgChains(const Stmt& body) {
    stmt(body);
    for (const ArgStep& step : found_) chain_of(step).push_back(step);
    chains.erase_if([&](const ArgChain& c) {
      const auto count = static_cast<int>(c.size());
      return stores_to(body, c[0].value) != count || stores_to(body, c[0].position) != count;
    });
  }
  Vec<ArgChain> chains;

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

  ArgChain& chain_of(const ArgStep& step) {
    for (ArgChain& c : chains)
      if (c[0].value == step.value && c[0].position == step.position) return c;
    return chains.emplace_back();
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

  AnyExpr named(const AnyExpr& e) const {
    const AnyExpr* value = lets_.find(e.get());
    return value ? *value : e;
  }
  // By its value, if that names nothing of the loop's body.
  AnyExpr position_of(const AnyExpr& e) const {
    AnyExpr at = named(e);
    if (const auto* all = at.as<BroadcastNode>())
      at = make_broadcast(named(all->value), at.dtype().lanes);
    for (const auto& v : free_vars(at))
      if (lets_.contains(v.get())) return {};
    return at;
  }

  std::optional<ArgStep> as_step(const SelectNode& value, const SelectNode& position) const {
    const DType t = value.dtype.scalar();
    const AnyExpr at = position_of(position.no);
    const DType counts = position.dtype.scalar();
    if (!counts.is_int() || t.is_bool() || !at) return {};
    for (const char* name : {"argmax", "argmin"}) {
      const ReducerRef known = builtin_reducer(name, {t, counts});
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

// Positions that are taken in rising order need no comparison: of equal values the first one stays.
// The identity's position, which is beyond all, becomes that of the first element.
class RisingPositions : public Mutator {
 public:
  explicit RisingPositions(Facts facts) : facts_(std::move(facts)) {}

  Stmt stmt(const Stmt& s) override {
    if (const auto* loop = s.as<ForNode>()) {
      const Facts around = facts_;
      facts_.bind(*loop);
      Stmt out = descend(s);
      facts_ = around;
      return out;
    }
    const auto* seq = s.as<SeqNode>();
    return seq ? in_order(seq->stmts) : descend(s);
  }

 private:
  using Stores = Vec<const StoreNode*>;

  Stmt in_order(Vec<Stmt> steps) {
    Vec<Stmt> out;
    Stores held;         // by registers, as constants
    bool tried = false;  // the rest of the statements, since the last of these
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const auto* loop = steps[k].as<ForNode>();
      const bool sets = is_set(steps[k]);
      if (loop) {
        if (Stmt done = risen(steps[k], loop, held, out)) steps[k] = std::move(done);
      } else if (!sets && !tried && !held.empty()) {
        const Stmt rest =
            make_seq(Vec<Stmt>(steps.begin() + static_cast<std::ptrdiff_t>(k), steps.end()));
        if (const Stmt done = risen(rest, nullptr, held, out)) {
          steps.resize(k);
          steps.append(seq_of(done));
        }
      }
      tried = !sets;
      held = those_left(held, steps[k]);
      if (sets) held.push_back(steps[k].as<StoreNode>());
      out.push_back(stmt(steps[k]));
    }
    return make_seq(std::move(out));
  }

  static bool is_set(const Stmt& s) {
    const auto* store = s.as<StoreNode>();
    return store && store->indices.empty() && store->buffer->scope == Scope::reg;
  }

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

  // The statements, or the loop that they are, with shorter steps; `before` gets the first
  // positions. Empty: there are none.
  Stmt risen(const Stmt& whole, const ForNode* loop, const Stores& held, Vec<Stmt>& before) const {
    Facts inside = facts_;
    if (loop) inside.bind(*loop);
    Vec<ArgStep> steps;
    for (const ArgChain& chain : ArgChains(loop ? loop->body : whole).chains) {
      if (!starts_afresh(chain[0], held) || !rises(chain, loop, inside)) continue;
      AnyExpr first = chain[0].at;
      if (loop) first = substitute(first, {{loop->var, loop->min}});
      const std::int64_t* extent = loop ? as_const_int(loop->extent) : nullptr;
      if (loop && (!extent || *extent < 1))
        first = make_select(AnyExpr(0) < loop->extent, first, none(first.dtype()));
      before.push_back(make_store(chain[0].position, {}, simplify(first)));
      steps.append(chain);
    }
    return steps.empty() ? Stmt() : Shorter(steps).stmt(whole);
  }

  static bool starts_afresh(const ArgStep& step, const Stores& held) {
    bool value = false, position = false;
    for (const StoreNode* s : held) {
      const AnyExpr is = lane(s->value);
      if (s->buffer == step.value) value = structurally_equal(is, step.worst);
      if (s->buffer == step.position) position = structurally_equal(is, none(is.dtype()));
    }
    return value && position;
  }
  static AnyExpr none(DType t) { return make_const(t, range_of_type(t.scalar()).max); }
  static AnyExpr lane(const AnyExpr& e) {
    const auto* all = e.as<BroadcastNode>();
    return all ? all->value : e;
  }

  // Never less than in the step before, in all lanes, from one iteration to the next too.
  static bool rises(const ArgChain& chain, const ForNode* loop, const Facts& inside) {
    if (loop && loop->loop_kind != ForKind::serial) return false;
    Vec<LanePosition> at;
    for (const ArgStep& step : chain) {
      at.push_back(lane_position(step.at, inside));
      const LanePosition& last = at.back();
      if (!last.base || !structurally_equal(last.stride, at[0].stride)) return false;
      if (loop && uses_var(last.stride, loop->var)) return false;
      if (at.size() > 1 && !is_behind(last.base, at[at.size() - 2].base)) return false;
    }
    if (!loop) return true;
    return is_behind(substitute(at[0].base, {{loop->var, AnyExpr(loop->var) + 1}}), at.back().base);
  }
  static bool is_behind(const AnyExpr& next, const AnyExpr& at) {
    const AnyExpr by = simplify(next - at);
    const std::int64_t* known = as_const_int(by);
    return known && *known >= 0;
  }

  // Lane l is base + l * stride, as a number that does not wrap; no base: nothing is known.
  struct LanePosition {
    AnyExpr base, stride = AnyExpr(0);
  };
  static LanePosition lane_position(const AnyExpr& position, const Facts& inside) {
    LanePosition out;
    AnyExpr at = lane(position);
    if (const auto* cast = at.as<CastNode>()) {
      if (!fits(cast->value, cast->dtype, inside)) return {};
      at = lane(cast->value);
    }
    if (at.as<ConstNode>()) at = AnyExpr(at.as<ConstNode>()->i);
    if (const auto* ramp = at.as<RampNode>()) out.stride = ramp->stride, at = ramp->base;
    if (at.dtype() == kIndex && is_load_free(at)) out.base = at;
    return out;
  }
  static bool fits(const AnyExpr& e, DType t, const Facts& facts) {
    const ConstInterval range = const_bounds(e, facts), all = range_of_type(t.scalar());
    return range.has_min() && range.has_max() && range.min >= all.min && range.max <= all.max;
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

  Facts facts_;  ///< of the loops around
};

}  // namespace detail

LATHE_DECL Program rising_positions(const Program& program) {
  return program.with(detail::RisingPositions(detail::program_facts(program)).stmt(program->body));
}

}  // namespace lathe
