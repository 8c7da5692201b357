#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/borders/mutator_in_loops.hpp>
#include <lathe/lower/machine/ordered_stmts.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/shuffles/strided_loads.hpp>

namespace lathe {
namespace detail {

/// Strided loads that happen wherever an expression is evaluated, by names that are known there,
/// and those in the arms of its selects, which may not.
class StridedLoadsOf : public Visitor {
 public:
  /// `loaded`: those that variables hold already; `inside`: names that are not known there.
  StridedLoadsOf(const NodeMap<AnyExpr>& loaded, const NodeSet& inside)
      : loaded_(loaded), inside_(inside) {}

  struct Found {
    const LoadNode* node;
    Strided load;
  };
  Vec<Found> found, in_arms;

  void run(const AnyExpr& e) {
    expr(e);
    to_ = &in_arms;
    for (std::size_t k = 0; k < arms_.size(); ++k) {
      const AnyExpr arm = arms_[k];
      expr(arm);
    }
  }
  void expr(const AnyExpr& e) override {
    if (e->shared() && !seen_.insert(e.get()).second) return;
    if (loaded_.contains(e.get())) return;
    if (const auto* n = e.as<LetNode>())
      for (const auto& b : n->bindings) inside_.insert(b.var.get());
    if (const auto* n = e.as<SelectNode>()) {
      arms_.append({n->yes, n->no});
      return expr(n->condition);
    }
    descend(e);
    const auto* n = e.as<LoadNode>();
    Strided load;
    if (!n) return;
    if (to_ == &in_arms) {
      if (load.set(n->buffer, n->indices, {}, n->dtype.lanes) && known(n->indices[0]) &&
          (!n->mask || !find_load(n->mask)))
        in_arms.push_back({n, std::move(load)});
    } else if (load.set(n->buffer, n->indices, n->mask, n->dtype.lanes) && known(n->indices[0]) &&
               (!n->mask || known(n->mask))) {
      found.push_back({n, std::move(load)});
    }
  }

 private:
  bool known(const AnyExpr& e) const {
    if (inside_.size() == 0) return true;
    for (const VarRef& v : free_vars(e))
      if (inside_.contains(v.get())) return false;
    return true;
  }
  const NodeMap<AnyExpr>& loaded_;
  NodeSet seen_, inside_;
  Vec<AnyExpr> arms_;
  Vec<Found>* to_ = &found;
};

/// Bindings and stores of a statement that stands between others, in the order in which they
/// happen. What is loaded before the first store can be loaded before all of it.
struct NestedStmt {
  explicit NestedStmt(const Stmt& s) { plain = add(s); }
  bool plain;  ///< nothing else is among them
  Vec<AnyExpr> before_stores;
  Vec<Buffer> stored;
  NodeSet bound;

 private:
  bool add(const Stmt& s) {
    if (const auto* let = s.as<LetStmtNode>()) {
      if (stored.empty()) before_stores.push_back(let->value);
      bound.insert(let->var.get());
      return add(let->body);
    }
    if (const auto* store = s.as<StoreNode>()) {
      if (stored.empty()) {
        before_stores.push_back(store->value);
        if (store->mask) before_stores.push_back(store->mask);
      }
      stored.push_back(store->buffer);
      return true;
    }
    if (!s.as<SeqNode>()) return false;
    for (const Stmt& child : seq_of(s))
      if (!add(child)) return false;
    return true;
  }
};

/// Groups of the loads of statements that follow each other.
struct LoadPlan {
  struct Entry {
    StridedGroup group;
    std::size_t first, last;  ///< steps that load from it
    bool open = true;
    Vec<LetBinding> lets{};
  };
  struct Use {
    const LoadNode* node;
    AnyExpr var;
    std::size_t step, entry;
  };
  Vec<Entry> entries;
  Vec<Use> uses;

  void add(const AnyExpr& e, std::size_t step, const NodeMap<AnyExpr>& loaded,
           const NodeSet& inside = {}) {
    StridedLoadsOf loads(loaded, inside);
    loads.run(e);
    for (const auto& [node, load] : loads.found) place(*node, load, step);
    for (const auto& [node, load] : loads.in_arms) share(*node, load, step);
  }
  void stored(const Buffer& b) {
    for (Entry& entry : entries)
      if (entry.group.depends_on(b)) entry.open = false;
  }
  void close() {
    for (Entry& entry : entries) entry.open = false;
  }
  // Variables stand inside one another, as do the statements after them: beyond some number loads
  // stay as they are.
  void finish(const TargetCaps& caps, const Facts& facts) {
    constexpr std::size_t most = 1000;
    std::size_t bound = 0;
    for (Entry& entry : entries) {
      entry.lets = entry.group.lets(caps, facts);
      if (bound + entry.lets.size() > most) entry.lets.clear();
      bound += entry.lets.size();
    }
  }

 private:
  void place(const LoadNode& n, const Strided& load, std::size_t step) {
    for (std::size_t k = 0; k < entries.size(); ++k) {
      if (!entries[k].open) continue;
      if (AnyExpr var = entries[k].group.add(n, load)) {
        entries[k].last = step;
        uses.push_back({&n, std::move(var), step, k});
        return;
      }
    }
    entries.push_back({StridedGroup(n, load), step, step});
    AnyExpr var = entries.back().group.add(n, load);
    uses.push_back({&n, std::move(var), step, entries.size() - 1});
  }
  // What is loaded anyway is there for an arm, too.
  void share(const LoadNode& n, const Strided& load, std::size_t step) {
    for (std::size_t k = 0; k < entries.size(); ++k) {
      if (!entries[k].open) continue;
      if (AnyExpr var = entries[k].group.shared(n, load)) {
        entries[k].last = step;
        uses.push_back({&n, std::move(var), step, k});
        return;
      }
    }
  }
};

class DeinterleaveLoads : public MutatorInLoops {
 public:
  DeinterleaveLoads(const Program& program, const TargetCaps& caps)
      : MutatorInLoops(program), caps_(caps) {}

  Stmt stmt(const Stmt& s) override {
    Vec<OrderedStmt> steps;
    follow(s, steps);
    if (steps.empty()) return s;
    const NodeMap<AnyExpr> around = loaded_;
    const LoadPlan plan = planned(steps, around);
    Vec<Piece> pieces;
    for (std::size_t k = steps.size(); k-- > 0;) {
      forget(0);
      loaded_ = around;
      use(plan, k);
      const Stmt& step = steps[k].stmt;
      if (steps[k].opens) {
        const auto* let = step.as<LetStmtNode>();
        AnyExpr value = expr(let->value);
        pieces.push_back(joined(pieces, steps.size() - 1));
        pieces.back().stmt = make_let_stmt(let->var, std::move(value), pieces.back().stmt);
      } else {
        const bool nested = steps.size() > 1 && step.as<LetStmtNode>();
        pieces.push_back({nested ? stmt(step) : MutatorInLoops::stmt(step), k});
      }
      for (const LoadPlan::Entry& entry : plan.entries) {
        if (entry.first != k || entry.lets.empty()) continue;
        Piece piece = joined(pieces, entry.last);
        for (std::size_t b = entry.lets.size(); b-- > 0;)
          piece.stmt = make_let_stmt(entry.lets[b].var, entry.lets[b].value, piece.stmt);
        pieces.push_back(std::move(piece));
      }
    }
    return joined(pieces, steps.size() - 1).stmt;
  }

 private:
  // A group's variables stand around all that follows its first load up to its last, and passes go
  // down such a nest by recursion.
  static constexpr std::size_t kMostSteps = 128;

  /// `around`: loads that variables hold already.
  LoadPlan planned(const Vec<OrderedStmt>& steps, const NodeMap<AnyExpr>& around) const {
    LoadPlan plan;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (k % kMostSteps == 0) plan.close();
      const Stmt& s = steps[k].stmt;
      if (const auto* store = s.as<StoreNode>()) {
        plan.add(store->value, k, around);
        if (store->mask) plan.add(store->mask, k, around);
        plan.stored(store->buffer);
      } else if (steps[k].opens) {
        plan.add(s.as<LetStmtNode>()->value, k, around);
      } else if (const NestedStmt nested(s); nested.plain && s.as<LetStmtNode>()) {
        for (const AnyExpr& e : nested.before_stores) plan.add(e, k, around, nested.bound);
        for (const Buffer& buffer : nested.stored) plan.stored(buffer);
      } else if (!prefetched(s)) {
        plan.close();
      }
    }
    plan.finish(caps_, facts_);
    return plan;
  }

  /// What has been rewritten, the next statement last, with the last step that each holds.
  struct Piece {
    Stmt stmt;
    std::size_t last;
  };
  static Piece joined(Vec<Piece>& pieces, std::size_t last) {
    Vec<Stmt> taken;
    std::size_t reached = 0;
    do {
      reached = pieces.back().last;
      taken.push_back(std::move(pieces.back().stmt));
      pieces.pop_back();
    } while (reached < last);
    return {make_seq(std::move(taken)), reached};
  }

  void use(const LoadPlan& plan, std::size_t step) {
    for (const LoadPlan::Use& u : plan.uses)
      if (u.step == step && !plan.entries[u.entry].lets.empty()) loaded_.insert(u.node, u.var);
  }

  AnyExpr rewritten(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>()) {
      if (const AnyExpr* var = loaded_.find(n)) return *var;
      // Names that the load needs are bound inside of its expression.
      return by_lanes_ ? descend(e) : in_place(e);
    }
    const auto* n = e.as<SelectNode>();
    if (!n) return descend(e);
    AnyExpr condition = expr(n->condition);
    const bool around = by_lanes_;
    // A mask for each lane of a dense load costs more than it saves.
    if (condition.dtype().lanes > 1) by_lanes_ = true;
    AnyExpr yes = arm(n->yes), no = arm(n->no);
    by_lanes_ = around;
    // A let around it that stands in two places has to stay one, which binds its variables once.
    if (condition.same_as(n->condition) && yes.same_as(n->yes) && no.same_as(n->no)) return e;
    return make_select(std::move(condition), std::move(yes), std::move(no));
  }

  // What is loaded here is not there for what follows.
  AnyExpr arm(const AnyExpr& e) {
    const std::size_t before = mark();
    AnyExpr out = by_lanes_ ? expr(e) : in_place(e);
    forget(before);
    return out;
  }

  AnyExpr in_place(const AnyExpr& e) {
    LoadPlan plan;
    plan.add(e, 0, loaded_);
    plan.finish(caps_, facts_);
    Vec<LetBinding> lets;
    for (const LoadPlan::Entry& entry : plan.entries)
      for (const LetBinding& b : entry.lets) lets.push_back(b);
    if (lets.empty()) return e.kind() == ExprKind::Load ? descend(e) : expr(e);
    NodeMap<AnyExpr> around = loaded_;
    use(plan, 0);
    const AnyExpr* var = loaded_.find(e.get());
    // A load that none of these gives has one of them as its index.
    AnyExpr body = var ? *var : e.kind() == ExprKind::Load ? descend(e) : expr(e);
    loaded_ = std::move(around);
    return make_let(std::move(lets), std::move(body));
  }

  const TargetCaps& caps_;
  NodeMap<AnyExpr> loaded_;  ///< variables that hold what the step's loads give
  bool by_lanes_ = false;    ///< in an arm that some lanes choose
};

}  // namespace detail

LATHE_DECL Program deinterleave_loads(const Program& program, const TargetCaps& caps) {
  return program.with(detail::DeinterleaveLoads(program, caps).stmt(program->body));
}

}  // namespace lathe
