#pragma once

#include <algorithm>
#include <lathe/ir/share.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// Nodes to be written twice before a name is worth it: in a value, in an index,
// and in expressions that are too large to be written out.
inline constexpr std::uint64_t kSharedValue = 64, kSharedIndex = 512, kSharedLarge = 2;
inline constexpr std::uint32_t kLargeWeight = 20000;
// Of a piece of a tall expression.
inline constexpr int kPieceHeight = 256;

// The distinct nodes of an expression, children first, so that the root comes
// last; and for each the places where it can be bound. A place is a node: the
// let goes around it.
class SharedGraph {
 public:
  explicit SharedGraph(const AnyExpr& root) : large_(root->weight > kLargeWeight) {
    collect(root);
    measure();
    for (std::size_t k = nodes_.size(); k-- > 0;) find_needs(static_cast<int>(k));
    for (std::size_t k = 0; k < nodes_.size(); ++k) find_hazards(static_cast<int>(k));
    for (std::size_t k = nodes_.size(); k-- > 0;) place(static_cast<int>(k));
  }

  AnyExpr bound() {
    if (!any_) return nodes_.back().e;
    Vec<Vec<LetBinding>> lets(nodes_.size());
    struct Rebuild : Mutator {
      explicit Rebuild(SharedGraph& its_graph) : graph(its_graph) {}
      AnyExpr expr(const AnyExpr& child) override {
        const Node& n = graph.nodes_[static_cast<std::size_t>(*graph.numbers_.find(child.get()))];
        return n.var ? AnyExpr(n.var) : n.result;
      }
      AnyExpr once(const AnyExpr& e) { return descend(e); }
      SharedGraph& graph;
    } rebuild(*this);
    int names = 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      Node& n = nodes_[k];
      n.result = make_let(std::move(lets[k]), rebuild.once(n.e));
      if (n.place < 0) continue;
      n.var = make_var(cat("t", names++), n.e.dtype());
      lets[static_cast<std::size_t>(n.place)].push_back({n.var, n.result});
    }
    return nodes_.back().result;
  }

 private:
  // Which arms of a select need a node: 1 yes, 2 no.
  struct Arm {
    int select, arms;
  };
  struct Node {
    AnyExpr e, result;
    VarRef var;
    Vec<int> children;  // in evaluation order
    std::uint64_t cost = 1;
    int height = 1, uses = 0;
    int dominator = -1, depth = 0;
    int needed_from = 0;  // the outermost node whose evaluation needs this one in any case
    int safe_from = 0;    // the outermost one where it may be evaluated, needed or not
    int place = -1;       // where it is bound
    Vec<Arm> arms;
    bool fixed = false, in_value = false, wanted = false;
    bool unique = false;  // stands once in the result
  };

  Node& at(int k) { return nodes_[static_cast<std::size_t>(k)]; }

  static Vec<AnyExpr> children_of(const AnyExpr& e) {
    struct Children : Visitor {
      Vec<AnyExpr> all;
      void expr(const AnyExpr& x) override { all.push_back(x); }
      void of(const AnyExpr& x) { descend(x); }
    } children;
    children.of(e);
    return std::move(children.all);
  }

  void collect(const AnyExpr& root) {
    struct Open {
      AnyExpr e;
      Vec<AnyExpr> children;
      std::size_t next = 0;
    };
    Vec<Open> stack;
    stack.push_back({root, children_of(root)});
    while (!stack.empty()) {
      Open& top = stack.back();
      if (top.next < top.children.size()) {
        AnyExpr child = top.children[top.next++];
        if (!numbers_.contains(child.get())) stack.push_back({child, children_of(child)});
        continue;
      }
      if (!numbers_.contains(top.e.get())) add(top.e, top.children);
      stack.pop_back();
    }
  }

  void add(const AnyExpr& e, const Vec<AnyExpr>& children) {
    numbers_[e.get()] = static_cast<int>(nodes_.size());
    Node n;
    n.e = e;
    // A variable that a let of the user's binds ends with it.
    n.fixed = e.kind() == ExprKind::Let;
    for (const auto& child : children) {
      const int k = *numbers_.find(child.get());
      n.children.push_back(k);
      ++at(k).uses;
      n.fixed = n.fixed || at(k).fixed;
    }
    if (const auto* let = e.as<LetNode>())
      for (const auto& b : let->bindings) bound_.insert(b.var.get());
    nodes_.push_back(std::move(n));
  }

  // What each node costs once what is below it is bound.
  void measure() {
    nodes_.back().in_value = true;
    for (std::size_t k = nodes_.size(); k-- > 0;) {
      const Node& n = nodes_[k];
      const auto* load = n.e.as<LoadNode>();
      for (int child : n.children) at(child).in_value |= n.in_value && !load;
    }
    for (auto& n : nodes_) {
      n.fixed = n.fixed || bound_.contains(n.e.get());
      for (int k : n.children) {
        const Node& child = at(k);
        n.fixed = n.fixed || child.fixed;
        n.cost += child.wanted ? 1 : child.cost;
        n.height = std::max(n.height, child.wanted ? 2 : child.height + 1);
      }
      n.cost = std::min<std::uint64_t>(n.cost, kLargeWeight);
      n.wanted = n.e.kind() > ExprKind::Var && !n.fixed && worth_a_name(n);
      any_ = any_ || n.wanted;
    }
    nodes_.back().wanted = false;
  }

  bool worth_a_name(const Node& n) const {
    if (n.height >= kPieceHeight) return true;
    const std::uint64_t least = large_ ? kSharedLarge : n.in_value ? kSharedValue : kSharedIndex;
    return n.uses > 1 && n.cost > 1 && n.cost * static_cast<std::uint64_t>(n.uses - 1) >= least;
  }

  // Parents come before their children.
  void find_needs(int k) {
    Node& n = at(k);
    n.needed_from = std::max(n.needed_from, k);
    const auto* select = n.e.as<SelectNode>();
    for (std::size_t c = 0; c < n.children.size(); ++c) {
      Node& child = at(n.children[c]);
      if (select && c > 0)
        need_in_arm(child, k, c == 1 ? 1 : 2);
      else
        need(child, n);
    }
  }

  // Children come before their parents. A load may be of an element that is not
  // there: only where it is needed in any case, or where a condition or its
  // index keeps it inside, is it harmless.
  void find_hazards(int k) {
    Node& n = at(k);
    const auto* select = n.e.as<SelectNode>();
    const auto* load = n.e.as<LoadNode>();
    int inside = static_cast<int>(nodes_.size()) - 1;
    const Vec<AnyExpr> conditions = select ? first_conjuncts(select->condition) : Vec<AnyExpr>();
    for (std::size_t c = 0; c < n.children.size(); ++c)
      inside = std::min(inside, select && c == 1 ? safe_under(n.children[c], conditions, 4)
                                                 : at(n.children[c]).safe_from);
    if (load && !is_inside(*load, {})) inside = k;
    n.safe_from = std::max(n.needed_from, inside);
  }

  // What a condition joins, or the first of that: in bounds are two comparisons an axis, and a
  // condition may share its parts so often that all of them are too many.
  static Vec<AnyExpr> first_conjuncts(const AnyExpr& condition) {
    Vec<AnyExpr> found, open{condition};
    for (int looked_at = 0; looked_at < 32 && !open.empty(); ++looked_at) {
      const AnyExpr part = open.back();
      open.pop_back();
      const auto* n = part.as<BinaryNode>();
      if (n && n->op == BinaryOp::and_) {
        open.push_back(n->b);
        open.push_back(n->a);
      } else {
        found.push_back(part);
      }
    }
    return found;
  }

  // The same of a part of an arm, whose loads the conditions may keep inside.
  int safe_under(int k, const Vec<AnyExpr>& conditions, int depth) {
    const Node& n = at(k);
    const auto* load = n.e.as<LoadNode>();
    const bool guarded = load && is_inside(*load, conditions);
    const bool through = n.e.kind() == ExprKind::Binary || n.e.kind() == ExprKind::Unary ||
                         n.e.kind() == ExprKind::Cast;
    if (!guarded && (!through || depth == 0)) return n.safe_from;
    int inside = static_cast<int>(nodes_.size()) - 1;
    for (int c : n.children)
      inside = std::min(inside, guarded ? at(c).safe_from : safe_under(c, conditions, depth - 1));
    return std::max(n.safe_from, inside);
  }

  static bool is_inside(const LoadNode& n, const Vec<AnyExpr>& conditions) {
    if (n.mask) return false;
    for (std::size_t d = 0; d < n.indices.size(); ++d)
      if (!is_inside(n.indices[d], n.buffer->shape[d], conditions)) return false;
    return true;
  }
  // By its form: a number, a remainder, or what the conditions say literally.
  static bool is_inside(const AnyExpr& index, const AnyExpr& extent,
                        const Vec<AnyExpr>& conditions) {
    const auto *size = as_const_int(extent), *number = as_const_int(index);
    const auto* n = index.as<BinaryNode>();
    if (size && number) return *number >= 0 && *number < *size;
    if (const auto* c = n && n->op == BinaryOp::floormod ? as_const_int(n->b) : nullptr; c && size)
      return *size > 0 && *c >= 0 && *c <= *size;
    bool low = false, high = false;
    for (const auto& condition : conditions) {
      const auto* at = condition.as<BinaryNode>();
      if (!at) continue;
      const auto is = [&](BinaryOp op, const AnyExpr& a, const AnyExpr& b) {
        const auto *x = as_const_int(b), *y = as_const_int(at->b);
        return at->op == op && at->a.same_as(a) && (at->b.same_as(b) || (x && y && *x == *y));
      };
      const auto* first = as_const_int(at->a);
      low = low || is(BinaryOp::ge, index, AnyExpr(0)) ||
            (at->op == BinaryOp::le && first && *first == 0 && at->b.same_as(index));
      high = high || is(BinaryOp::lt, index, extent);
    }
    return low && high;
  }

  // Parents come before their children: where k is bound, and what that says of
  // those.
  void place(int k) {
    Node& n = at(k);
    n.unique = n.unique || k + 1 == static_cast<int>(nodes_.size());
    if (n.wanted) n.place = place_of(n);
    if (n.place >= 0) {
      // From there on it is its binding that uses what is below it.
      n.unique = true;
      n.dominator = n.place;
      n.depth = at(n.place).depth + 1;
    }
    for (int c : n.children) {
      dominate(at(c), k);
      at(c).unique = at(c).uses == 1 && n.unique;
    }
  }

  // The nearest node that every way from the root to the child passes.
  void dominate(Node& child, int parent) {
    int a = child.dominator, b = parent;
    if (a < 0) a = b;
    while (a != b) {
      int& deeper = at(a).depth >= at(b).depth ? a : b;
      deeper = at(deeper).dominator;
    }
    child.dominator = a;
    child.depth = at(a).depth + 1;
  }

  void need(Node& child, const Node& parent) {
    child.needed_from = std::max(child.needed_from, parent.needed_from);
    for (const auto& arm : parent.arms) need_in_arm(child, arm.select, arm.arms);
  }
  // Needed by both arms is needed by the select.
  void need_in_arm(Node& child, int select, int arms) {
    for (auto& known : child.arms) {
      if (known.select != select) continue;
      known.arms |= arms;
      if (known.arms == 3) need(child, at(select));
      return;
    }
    constexpr std::size_t most = 4;
    if (child.arms.size() < most) child.arms.push_back({select, arms});
  }

  // The outermost place where each evaluation needs it, or the next one around
  // all uses; -1 if it may be bound at none. What is cut for its height goes
  // out as far as it may.
  int place_of(const Node& n) {
    const bool cut = n.height >= kPieceHeight;
    const int root = static_cast<int>(nodes_.size()) - 1;
    if (n.needed_from == root || (cut && n.safe_from == root)) return root;
    int found = -1;
    for (int k = n.dominator; k >= 0; k = at(k).dominator) {
      if (!at(k).unique) continue;
      if (n.needed_from < k && (n.safe_from < k || found >= 0)) break;
      found = k;
    }
    return found;
  }

  Vec<Node> nodes_;
  NodeMap<int> numbers_;
  NodeSet bound_;  // by lets of the user
  bool large_, any_ = false;
};

}  // namespace detail

LATHE_DECL AnyExpr bind_shared(const AnyExpr& e) {
  if (e->weight < detail::kSharedValue) return e;
  return detail::SharedGraph(e).bound();
}

}  // namespace lathe
