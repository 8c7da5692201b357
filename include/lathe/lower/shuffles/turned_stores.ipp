#pragma once

#include <algorithm>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/machine/ordered_stmts.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/shuffles/strided_loads.hpp>
#include <lathe/lower/shuffles/turned_rows.hpp>

namespace lathe {
namespace detail {

/// Whether elements of different lanes are different ones, whatever the columns. Constant strides
/// say it themselves. One that is no constant is that between two indices of an axis but the last:
/// then columns, a constant number of elements apart, differ in later axes.
inline bool rows_apart(const Buffer& buffer, const Strided& at) {
  if (!at.step) return true;
  AnyExpr dense = AnyExpr(1);
  for (std::size_t axis = buffer->shape.size(); axis-- > 0;) {
    const AnyExpr stride = buffer->strides.empty() ? dense : buffer->strides[axis];
    if (axis + 1 < buffer->shape.size() && poly_equal(poly_shallow(stride), poly_shallow(at.step)))
      return true;
    dense = fold_mul(dense, buffer->shape[axis]);
  }
  return false;
}

/// Stores of columns of one matrix, lane l to row l, which may all happen where the last one does.
class StoredColumns {
 public:
  StoredColumns(const StoreNode& n, const Strided& at)
      : head_(&n), first_(at), least_(at.constant), most_(at.constant) {}

  bool open = true;
  std::size_t last = 0;  ///< the step of the last store

  const Buffer& buffer() const { return head_->buffer; }

  std::size_t size() const { return members_.size(); }

  /// The variable for what the store stores, as a member from here on; empty if it is none.
  VarRef add(const StoreNode& n, const Strided& at, std::size_t step) {
    const std::int64_t least = std::min(least_, at.constant), most = std::max(most_, at.constant);
    const std::int64_t lanes = n.value.dtype().lanes;
    const std::int64_t reach = at.step ? lanes : std::min(lanes, at.stride);
    if (n.value.dtype() != head_->value.dtype() || !at.same_rows(first_) || most - least >= reach)
      return {};
    const bool masked = static_cast<bool>(head_->mask);
    if (masked != static_cast<bool>(n.mask)) return {};
    if (masked && !structurally_equal(n.mask, head_->mask)) return {};
    for (const Member& m : members_)
      if (m.constant == at.constant) return {};
    least_ = least, most_ = most, last = step;
    members_.push_back({&n, at.constant, make_var("column", n.value.dtype())});
    open = static_cast<std::int64_t>(members_.size()) < reach;
    return members_.back().value;
  }

  /// What the members have stored there, where a load has the index of one; else empty.
  AnyExpr stored(const LoadNode& n) const {
    if (n.mask.get() || head_->mask.get()) return {};
    for (const Member& m : members_)
      if (n.dtype == m.value->dtype && structurally_equal(n.indices[0], m.store->indices[0]))
        return m.value;
    return {};
  }

  /// All stores; empty where single elements cost no more.
  Stmt rows(const TargetCaps& caps) const {
    const auto count = static_cast<std::int64_t>(members_.size());
    const DType type = head_->value.dtype();
    TurnedTiles tiles(type, count, caps);
    if (tiles.width() == 1 || most_ - least_ + 1 != count) return {};
    Vec<Member> columns = members_;
    std::sort(columns.begin(), columns.end(),
              [](const Member& a, const Member& b) { return a.constant < b.constant; });
    Vec<LetBinding> firsts = row_firsts();
    Vec<Stmt> stores;
    std::int64_t at = 0;
    for (; at + tiles.width() <= count; at += tiles.width()) {
      Vec<AnyExpr> vectors;
      for (std::int64_t c = at; c < at + tiles.width(); ++c)
        vectors.push_back(columns[static_cast<std::size_t>(c)].value);
      tiles.turn(vectors);
      for (std::size_t r = 0; r < firsts.size(); ++r)
        stores.push_back(row_piece(vectors, firsts[r].var, static_cast<std::int64_t>(r), at));
    }
    const auto pieces = static_cast<int>(stores.size());
    if (pieces + tiles.instructions >= by_elements(type, static_cast<int>(at), caps)) return {};
    for (; at < count; ++at) {
      const Member& m = columns[static_cast<std::size_t>(at)];
      stores.push_back(make_store(buffer(), m.store->indices, m.value, head_->mask));
    }
    Stmt out = make_seq(std::move(stores));
    for (const Vec<LetBinding>* part : {&tiles.lets, &firsts})
      for (std::size_t b = part->size(); b-- > 0;)
        out = make_let_stmt((*part)[b].var, (*part)[b].value, out);
    return out;
  }

 private:
  struct Member {
    const StoreNode* store;
    std::int64_t constant;
    VarRef value;
  };

  /// Where the first column of each row is.
  Vec<LetBinding> row_firsts() const {
    std::int64_t rows = head_->value.dtype().lanes;
    if (const std::int64_t* known = first_.limit ? as_const_int(first_.limit) : nullptr)
      rows = std::clamp<std::int64_t>(*known, 0, rows);
    const AnyExpr base = fold_add(lane_base(head_->indices[0]), AnyExpr(least_ - first_.constant));
    Vec<LetBinding> out;
    for (std::int64_t r = 0; r < rows; ++r) {
      const AnyExpr from = r == 0 ? base : AnyExpr(out[0].var);
      const AnyExpr value = fold_add(from, fold_mul(fresh_lets(first_.row_stride()), AnyExpr(r)));
      out.push_back({make_var("row"), value});
    }
    return out;
  }

  Stmt row_piece(const Vec<AnyExpr>& vectors, const AnyExpr& first, std::int64_t row,
                 std::int64_t column) const {
    const auto width = static_cast<std::int64_t>(vectors.size());
    AnyExpr value = vectors[static_cast<std::size_t>(row % width)];
    if (width < value.dtype().lanes) {
      Vec<int> map;
      for (std::int64_t l = row / width * width; l < (row / width + 1) * width; ++l)
        map.push_back(static_cast<int>(l));
      value = make_shuffle({value}, std::move(map));
    }
    const AnyExpr from = fold_add(first, AnyExpr(column));
    Stmt out = make_store(buffer(), {make_ramp(from, AnyExpr(1), static_cast<int>(width))}, value);
    if (!first_.limit || as_const_int(first_.limit)) return out;
    return make_if(AnyExpr(row) < fresh_lets(first_.limit), out);
  }

  const StoreNode* head_;
  Strided first_;
  std::int64_t least_, most_;
  Vec<Member> members_;
};

/// Loads of an expression, each once.
struct LoadsOf : Visitor {
  Vec<const LoadNode*> found;

  void expr(const AnyExpr& e) override {
    if (e->shared() && !seen_.insert(e.get()).second) return;
    if (const auto* n = e.as<LoadNode>()) found.push_back(n);
    descend(e);
  }

 private:
  NodeSet seen_;
};

/// Groups of the stores of statements that follow each other, and loads of what they store.
class StorePlan {
 public:
  StorePlan(const Vec<OrderedStmt>& steps, const TargetCaps& caps) : members_(steps.size()) {
    for (std::size_t k = 0; k < steps.size(); ++k) step(steps[k], k);
    // Each variable stands around the statements after it, and passes go down by recursion.
    constexpr std::size_t most = 1000;
    std::size_t bound = 0;
    for (const StoredColumns& g : groups_) {
      rows_.push_back(bound < most ? g.rows(caps) : Stmt());
      if (rows_.back()) bound += g.size();
    }
  }

  /// The variable of what a step stores, where that is stored later.
  const VarRef* variable(std::size_t step) const {
    const Member& m = members_[step];
    return m.var && rows_[m.group] ? &m.var : nullptr;
  }
  /// What takes the place of a group's last store; empty at any other.
  Stmt rows_after(std::size_t step) const {
    const std::size_t group = members_[step].group;
    return groups_[group].last == step ? rows_[group] : Stmt();
  }
  /// Adds the loads of a step that have a variable.
  void use(std::size_t step, NodeMap<AnyExpr>& loaded) const {
    for (const Use& u : uses_)
      if (u.step == step && rows_[u.group]) loaded.insert(u.node, u.value);
  }

 private:
  struct Member {
    std::size_t group = 0;
    VarRef var;
  };
  struct Use {
    const LoadNode* node;
    AnyExpr value;
    std::size_t step, group;
  };

  void step(const OrderedStmt& s, std::size_t k) {
    if (const auto* store = s.stmt.as<StoreNode>()) {
      reads(store->value, k);
      for (const AnyExpr& index : store->indices) reads(index, k);
      if (store->mask) reads(store->mask, k);
      place(*store, k);
    } else if (s.opens) {
      reads(s.stmt.as<LetStmtNode>()->value, k);
    } else if (!prefetched(s.stmt)) {
      for (StoredColumns& g : groups_) g.open = false;
    }
  }

  void reads(const AnyExpr& e, std::size_t k) {
    if (std::none_of(groups_.begin(), groups_.end(), [](const auto& g) { return g.open; })) return;
    LoadsOf loads;
    loads.expr(e);
    for (const LoadNode* n : loads.found) read(*n, k);
  }

  void read(const LoadNode& n, std::size_t k) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!groups_[g].open || groups_[g].buffer().get() != n.buffer.get()) continue;
      if (const AnyExpr value = groups_[g].stored(n))
        uses_.push_back({&n, value, k, g});
      else
        groups_[g].open = false;
    }
  }

  void place(const StoreNode& n, std::size_t k) {
    Strided at;
    const int lanes = n.value.dtype().lanes;
    const bool columns = n.streaming == Streaming::none &&
                         at.set(n.buffer, n.indices, n.mask, lanes) && !at.reversed &&
                         !find_load(n.indices[0]) && rows_apart(n.buffer, at) &&
                         !(n.mask.get() && find_load(n.mask));
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!groups_[g].open || groups_[g].buffer().get() != n.buffer.get()) continue;
      if (const VarRef var = columns ? groups_[g].add(n, at, k) : VarRef()) {
        members_[k] = {g, var};
        return;
      }
      groups_[g].open = false;
    }
    if (!columns) return;
    groups_.push_back(StoredColumns(n, at));
    members_[k] = {groups_.size() - 1, groups_.back().add(n, at, k)};
  }

  Vec<StoredColumns> groups_;
  Vec<Stmt> rows_;  ///< what each group becomes; empty: it stays
  Vec<Member> members_;
  Vec<Use> uses_;
};

class TurnStores : public SharingMutator {
 public:
  explicit TurnStores(const TargetCaps& caps) : caps_(caps) {}

  Stmt stmt(const Stmt& s) override {
    Vec<OrderedStmt> steps;
    follow(s, steps);
    if (steps.empty()) return s;
    const StorePlan plan(steps, caps_);
    Vec<Stmt> after;  // the last one first
    for (std::size_t k = steps.size(); k-- > 0;) {
      forget(0);
      loaded_.clear();
      plan.use(k, loaded_);
      const Stmt& step = steps[k].stmt;
      if (steps[k].opens) {
        const auto* let = step.as<LetStmtNode>();
        after = {make_let_stmt(let->var, expr(let->value), in_order(after))};
      } else if (const VarRef* var = plan.variable(k)) {
        if (Stmt rows = plan.rows_after(k)) after.push_back(std::move(rows));
        after = {make_let_stmt(*var, expr(step.as<StoreNode>()->value), in_order(after))};
      } else {
        const bool nested = steps.size() > 1 && step.as<LetStmtNode>();
        after.push_back(nested ? stmt(step) : descend(step));
      }
    }
    return in_order(after);
  }

 private:
  static Stmt in_order(Vec<Stmt>& after) {
    std::reverse(after.begin(), after.end());
    return make_seq(std::move(after));
  }

  AnyExpr rewritten(const AnyExpr& e) override {
    const AnyExpr* var = loaded_.find(e.get());
    return var ? *var : descend(e);
  }

  const TargetCaps& caps_;
  NodeMap<AnyExpr> loaded_;  ///< variables that hold what the step's loads give
};

}  // namespace detail

LATHE_DECL Program turn_stores(const Program& program, const TargetCaps& caps) {
  return program.with(detail::TurnStores(caps).stmt(program->body));
}

}  // namespace lathe
