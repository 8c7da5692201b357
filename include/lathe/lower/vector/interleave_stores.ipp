#pragma once

#include <algorithm>
#include <lathe/analysis/access.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <utility>

namespace lathe {
namespace detail {

// A computation as a list: each operation on vectors is bound by a let. Indices stay expressions,
// as codegen looks at their form; so do the arms of selects, which may not be evaluated.
class OperationList : public Mutator {
 public:
  Vec<std::pair<VarRef, AnyExpr>> lets;

  AnyExpr expr(const AnyExpr& e) override {
    switch (e.kind()) {
      case ExprKind::Load:
        return bound(whole(e));
      case ExprKind::Let: {
        const auto* n = e.as<LetNode>();
        for (const auto& b : n->bindings) bind(b.var, b.value);
        return expr(n->body);
      }
      case ExprKind::Select: {
        const auto* n = e.as<SelectNode>();
        return bound(make_select(expr(n->condition), whole(n->yes), whole(n->no)));
      }
      case ExprKind::Binary:
      case ExprKind::Unary:
      case ExprKind::Cast:
      case ExprKind::Call:
        return bound(descend(e));
      default:
        return whole(e);
    }
  }
  void bind(const VarRef& var, const AnyExpr& its_value) {
    const AnyExpr value = expr(its_value);
    values_.emplace_back(var, value.dtype().lanes == 1 ? named(value) : value);
  }
  /// With the names that were bound.
  AnyExpr whole(const AnyExpr& e) const { return values_.empty() ? e : substitute(e, values_); }

 private:
  AnyExpr bound(const AnyExpr& value) { return value.dtype().lanes == 1 ? value : named(value); }

  AnyExpr named(const AnyExpr& value) {
    if (value.kind() <= ExprKind::Var) return value;
    // What is shared inside of the computation stands in several of them then.
    lets.emplace_back(make_var("v", value.dtype()), fresh_lets(value));
    return lets.back().first;
  }

  Substitution values_;
};

/// What a core does with operations on vectors: tables of the vendors' optimization guides for
/// Skylake to Golden Cove, Zen 2 to 5 and Neoverse V1.
struct VectorUnits {
  static constexpr int kCycles = 4;     ///< that an fma takes
  static constexpr int kUnits = 2;      ///< in each of which one begins in a cycle
  static constexpr int kWaiting = 104;  ///< operations that schedulers hold: 97 and more
  /// From how many operations that wait for each other on, the core by itself finds too few to do:
  /// it would have to hold that many of each of the computations that fill its units.
  static constexpr std::uint32_t kDeep = kWaiting / (kCycles * kUnits);
};
// Of the code that is met, exp and its like have chains of 14 to 25 operations, and stencils that
// load few vectors up to 11.
static_assert(VectorUnits::kDeep > 11 && VectorUnits::kDeep <= 14);

/// How many computations keep a core's vector units at work, and have room in its registers.
inline std::size_t side_by_side(const Target& target) {
  // Units are half as wide as registers where loads are.
  const int under_way =
      VectorUnits::kCycles * VectorUnits::kUnits * target.load_lanes(1) / target.lanes(1);
  // The argument, what range reduction left of it, the running value, and a constant.
  const int room = target.vector_registers / 4;
  return static_cast<std::size_t>(std::max(std::min(under_way, room), 1));
}

class InterleaveStores : public Mutator {
 public:
  explicit InterleaveStores(const Target& target)
      : side_by_side_(side_by_side(target)),
        most_nodes_(kMostNodes / static_cast<std::uint32_t>(side_by_side_)) {}

  AnyExpr expr(const AnyExpr& e) override { return e; }

  Stmt stmt(const Stmt& s) override {
    const auto* seq = s.as<SeqNode>();
    if (!seq) return descend(s);
    Vec<Stmt> out;
    Vec<Computation> group;
    const auto close = [&] {
      if (!group.empty()) out.push_back(in_turn(group));
      group.clear();
    };
    for (const Stmt& child : seq->stmts) {
      Computation next;
      if (!next.set(child) || !is_deep(next)) {
        close();
        out.push_back(stmt(child));
        continue;
      }
      if (group.size() == side_by_side_ || !independent(group, next)) close();
      group.push_back(std::move(next));
    }
    close();
    return make_seq(std::move(out));
  }

 private:
  // Each operation of a group becomes a statement inside the one before; passes go down such a nest
  // by recursion, and the parser takes 2000 with those of other passes. Of longer computations
  // fewer are in turn.
  static constexpr std::size_t kMostNested = 900;
  // Of all computations in turn: larger ones stay as they are, and their operations are not listed.
  static constexpr std::uint32_t kMostNodes = 8000;

  // The longest chain of operations on vectors that wait for each other, and how many vectors are
  // loaded.
  struct Chain : Visitor {
    std::uint32_t length = 0, loads = 0;  // of what was visited
    NodeMap<std::uint32_t> of_names;

    std::uint32_t of(const AnyExpr& e) {
      const std::uint32_t beside = std::exchange(length, 0);
      expr(e);
      return std::exchange(length, beside);
    }
    void expr(const AnyExpr& e) override {
      std::uint32_t here = 1;
      if (const auto* let = e.as<LetNode>()) {
        for (const auto& b : let->bindings) of_names[b.var.get()] = of(b.value);
        here = of(let->body);
      } else if (const auto* name = e.as<VarNode>()) {
        const std::uint32_t* bound = of_names.find(name);
        here = bound ? *bound : 0;
      } else if (!e.dtype().is_vector() || e.kind() == ExprKind::Broadcast ||
                 e.kind() == ExprKind::Ramp) {
        here = 0;
      } else {
        loads += e.kind() == ExprKind::Load;
        const std::uint32_t beside = std::exchange(length, 0);
        descend(e);
        here += std::exchange(length, beside);
      }
      length = std::max(length, here);
    }
  };

  // Names, and what is stored of them: one value, or all results of a reducer.
  struct Computation {
    Stmt original;
    Vec<const LetStmtNode*> lets;
    Vec<const StoreNode*> stores;

    bool set(const Stmt& s) {
      original = s;
      const StmtNode* at = s.get();
      for (; at->kind == StmtKind::LetStmt; at = lets.back()->body.get())
        lets.push_back(static_cast<const LetStmtNode*>(at));
      const auto* seq = at->kind == StmtKind::Seq ? static_cast<const SeqNode*>(at) : nullptr;
      if (!seq) return add(*at);
      for (const Stmt& one : seq->stmts)
        if (!add(*one.get())) return false;
      return !lets.empty();
    }
    std::uint32_t weight() const {
      std::uint32_t sum = 0;
      for (const auto* n : lets) sum += n->value.get()->weight;
      for (const auto* n : stores) sum += n->value.get()->weight;
      return sum;
    }

   private:
    // All is computed before the first store.
    bool add(const StmtNode& s) {
      if (s.kind != StmtKind::Store) return false;
      const auto& n = static_cast<const StoreNode&>(s);
      if (!n.value.dtype().is_vector()) return false;
      const Vec<Buffer> read = buffers_read(Ref<StoreNode>(&n));
      for (const auto* before : stores)
        if (contains(read, before->buffer)) return false;
      stores.push_back(&n);
      return true;
    }
  };

  // What is loaded beyond a few vectors needs the registers that computations in turn would take:
  // each such load counts against the chain (edges of 3 x 3 pixels, 15 operations of which 12
  // load).
  static bool is_deep(const Chain& chain) {
    constexpr std::uint32_t kFewLoads = 4;
    const std::uint32_t crowding = std::max(chain.loads, kFewLoads) - kFewLoads;
    return chain.length >= VectorUnits::kDeep + crowding;
  }
  // Deep ones of several stores are in turn with each other.
  bool is_deep(const Computation& c) const {
    if (c.weight() > most_nodes_) return false;
    Chain all;
    for (const auto* n : c.lets) all.of_names[n->var.get()] = all.of(n->value);
    for (const auto* n : c.stores) {
      Chain alone;
      alone.expr(n->value);
      if (c.stores.size() > 1 && is_deep(alone)) return false;
      all.expr(n->value);
    }
    return is_deep(all);
  }

  // What it loads is then loaded before the others are stored.
  static bool independent(const Vec<Computation>& group, const Computation& next) {
    const Vec<Buffer> read = buffers_read(next.original);
    for (const Computation& before : group)
      for (const StoreNode* n : before.stores)
        if (contains(read, n->buffer)) return false;
    return true;
  }

  Stmt in_turn(const Vec<Computation>& group) {
    Vec<Stmt> out;
    Vec<Listed> turn;
    std::size_t nested = 0;
    const auto close = [&] {
      if (!turn.empty())
        out.push_back(turn.size() == 1 ? descend(turn[0].original) : interleaved(turn));
      turn.clear(), nested = 0;
    };
    for (const Computation& c : group) {
      Listed next = listed(c);
      if (nested + next.lets.size() > kMostNested) close();
      nested += next.lets.size();
      turn.push_back(std::move(next));
    }
    close();
    return make_seq(std::move(out));
  }

  // A computation as a list, and its stores.
  struct Listed {
    Vec<std::pair<VarRef, AnyExpr>> lets;
    Vec<Stmt> stores;
    Stmt original;
  };
  static Listed listed(const Computation& c) {
    OperationList list;
    for (const auto* n : c.lets) list.bind(n->var, n->value);
    Listed out;
    for (const auto* n : c.stores) {
      const AnyExpr value = list.expr(n->value);
      Vec<AnyExpr> indices;
      for (const auto& i : n->indices) indices.push_back(list.whole(i));
      const AnyExpr mask = n->mask ? list.whole(n->mask) : n->mask;
      out.stores.push_back(fresh_lets(
          make_ref<StoreNode>(n->buffer, std::move(indices), value, mask, n->streaming)));
    }
    out.lets = std::move(list.lets), out.original = c.original;
    return out;
  }

  static Stmt interleaved(const Vec<Listed>& all) {
    Vec<Stmt> stores;
    std::size_t longest = 0;
    for (const Listed& one : all) {
      for (const Stmt& store : one.stores) stores.push_back(store);
      longest = std::max(longest, one.lets.size());
    }
    Stmt out = make_seq(std::move(stores));
    for (std::size_t at = longest; at-- > 0;)
      for (std::size_t k = all.size(); k-- > 0;)
        if (at < all[k].lets.size())
          out = make_let_stmt(all[k].lets[at].first, all[k].lets[at].second, out);
    return out;
  }

  const std::size_t side_by_side_;
  const std::uint32_t most_nodes_;
};

}  // namespace detail

LATHE_DECL Program interleave_stores(const Program& program, const Target& target) {
  return program.with(detail::InterleaveStores(target).stmt(program->body));
}

}  // namespace lathe
