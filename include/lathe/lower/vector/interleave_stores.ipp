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
        for (const auto& b : n->bindings) {
          const AnyExpr value = expr(b.value);
          values_.emplace_back(b.var, value.dtype().lanes == 1 ? named(value) : value);
        }
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

 private:
  AnyExpr whole(const AnyExpr& e) { return values_.empty() ? e : substitute(e, values_); }

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
  static constexpr int kWaiting = 104;  ///< operations that schedulers hold: 97 to 128
  /// From how many operations that wait for each other on, the core by itself finds too few to do:
  /// it would have to hold that many of each of the computations that fill its units.
  static constexpr std::uint32_t kDeep = kWaiting / (kCycles * kUnits);
};
// Of the code that is met, exp and its like have 13 to 25 without their loads, and stencils up
// to 9.
static_assert(VectorUnits::kDeep > 9 && VectorUnits::kDeep <= 13);

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
    Vec<const StoreNode*> group;
    const auto close = [&] {
      if (!group.empty()) out.push_back(in_turn(group));
      group.clear();
    };
    for (const Stmt& child : seq->stmts) {
      const auto* n = child.as<StoreNode>();
      if (!n || !is_deep(*n)) {
        close();
        out.push_back(stmt(child));
        continue;
      }
      if (group.size() == side_by_side_ || !independent(group, *n)) close();
      group.push_back(n);
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
      } else if (!e.dtype().is_vector() || e.kind() == ExprKind::Broadcast) {
        here = 0;
      } else if (e.kind() == ExprKind::Load) {
        ++loads;
      } else {
        const std::uint32_t beside = std::exchange(length, 0);
        descend(e);
        here += std::exchange(length, beside);
      }
      length = std::max(length, here);
    }
  };

  // Vectors that are loaded need the registers that computations in turn would take.
  bool is_deep(const StoreNode& n) const {
    const ExprNode& value = *n.value.get();
    if (value.dtype.lanes == 1 || value.weight > most_nodes_) return false;
    Chain chain;
    chain.expr(n.value);
    return chain.length >= VectorUnits::kDeep + chain.loads;
  }

  // What it loads is then loaded before the others are stored.
  static bool independent(const Vec<const StoreNode*>& group, const StoreNode& next) {
    const Vec<Buffer> read = buffers_read(Ref<StoreNode>(&next));
    for (const StoreNode* n : group)
      if (contains(read, n->buffer)) return false;
    return true;
  }

  static Stmt in_turn(const Vec<const StoreNode*>& group) {
    Vec<Stmt> out;
    Vec<Listed> turn;
    std::size_t nested = 0;
    const auto close = [&] {
      if (!turn.empty()) out.push_back(turn.size() == 1 ? turn[0].original : interleaved(turn));
      turn.clear(), nested = 0;
    };
    for (const StoreNode* n : group) {
      Listed next = listed(*n);
      if (nested + next.lets.size() > kMostNested) close();
      nested += next.lets.size();
      turn.push_back(std::move(next));
    }
    close();
    return make_seq(std::move(out));
  }

  // A store and its computation as a list.
  struct Listed {
    Vec<std::pair<VarRef, AnyExpr>> lets;
    Stmt store, original;
  };
  static Listed listed(const StoreNode& n) {
    OperationList list;
    const AnyExpr value = list.expr(n.value);
    return {std::move(list.lets),
            fresh_lets(make_ref<StoreNode>(n.buffer, n.indices, value, n.mask, n.streaming)),
            Ref<StoreNode>(&n)};
  }

  static Stmt interleaved(const Vec<Listed>& all) {
    Vec<Stmt> stores;
    std::size_t longest = 0;
    for (const Listed& one : all) {
      stores.push_back(one.store);
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
