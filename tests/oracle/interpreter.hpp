// What a program of blocks does, instance by instance: the definition in ir/stmt.hpp made
// executable, slow and with no care for anything but that.
#pragma once

#include <lathe/ir/stmt.hpp>

#include "expression.hpp"
#include "init.hpp"

namespace oracle {

class Interpreter {
 public:
  /// The state holds dims, scalars and the parameters' content, and what they are after run().
  Interpreter(const lathe::Program& program, State& state)
      : body_(program->body), state_(state), values_(state) {
    if (program->stage != lathe::Stage::blocks) no_meaning("a stage after blocks");
    Path path;
    find_inits(body_, path, inits_);
  }
  void run() { run(body_); }

 private:
  static constexpr long kMostSteps = 20'000'000;  ///< a minute
  void count_step() {
    if (++steps_ > kMostSteps) throw NoResult(NoResult::endless, "it does not end");
  }

  void run(const lathe::Stmt& s) {
    count_step();
    switch (s.kind()) {
      case lathe::StmtKind::For:
        return run_loop(*s.as<lathe::ForNode>());
      case lathe::StmtKind::Block:
        return run_block(*s.as<lathe::BlockNode>());
      case lathe::StmtKind::Alloc:
        return run_alloc(*s.as<lathe::AllocNode>());
      case lathe::StmtKind::Store:
        return run_store(*s.as<lathe::StoreNode>());
      case lathe::StmtKind::Atomic:
        return run_atomic(*s.as<lathe::AtomicNode>());
      case lathe::StmtKind::LetStmt: {
        const auto* n = s.as<lathe::LetStmtNode>();
        state_.vars[n->var.get()] = values_.all_lanes(n->value);
        run(n->body);
        state_.vars.erase(n->var.get());
        return;
      }
      case lathe::StmtKind::Seq:
        for (const auto& child : s.as<lathe::SeqNode>()->stmts) run(child);
        return;
      case lathe::StmtKind::If: {
        const auto* n = s.as<lathe::IfNode>();
        if (values_.holds(n->condition)) return run(n->then_body);
        if (n->else_body) run(n->else_body);
        return;
      }
      case lathe::StmtKind::While: {
        const auto* n = s.as<lathe::WhileNode>();
        while (values_.holds(n->condition)) run(n->body);
        return;
      }
      case lathe::StmtKind::Assert: {
        const auto* n = s.as<lathe::AssertNode>();
        if (!values_.holds(n->condition)) throw NoResult(NoResult::assertion, n->message);
        return;
      }
      case lathe::StmtKind::Evaluate:
        return;  // a hint
    }
  }

  /// body for each value of the loop's variable.
  template <class Body>
  void each_iteration(const lathe::ForNode& n, Body body) {
    const Whole min = values_.index(n.min), extent = values_.index(n.extent);
    for (Whole i = 0; i < extent; ++i) {
      count_step();
      state_.set(n.var, whole_number(wrapped(n.var->dtype, min + i)));
      body();
    }
    state_.vars.erase(n.var.get());
  }
  void run_loop(const lathe::ForNode& n) {
    for (const auto& init : inits_)
      if (init.from < init.path.size() && init.path[init.from].stmt.get() == &n)
        reach(init, init.from);
    each_iteration(n, [&] { run(n.body); });
  }

  void run_alloc(const lathe::AllocNode& n) {
    std::vector<Whole> extents;
    for (const auto& e : n.buffer->shape) extents.push_back(values_.index(e));
    state_.arrays[n.buffer.get()] = Array(n.buffer->name, n.buffer->dtype, extents);
    run(n.body);
    state_.arrays.erase(n.buffer.get());
  }

  struct Write {
    std::vector<Whole> at;
    int lane;
    Number value;
  };
  void write_all(const lathe::Buffer& b, const std::vector<Write>& writes) {
    for (const auto& w : writes) state_.array(b).write(w.at, w.lane, w.value);
  }
  int lanes_of(const lathe::AnyExpr& value, const lathe::Vec<lathe::AnyExpr>& indices) {
    int lanes = value.dtype().lanes;
    for (const auto& e : indices) lanes = std::max<int>(lanes, e.dtype().lanes);
    return lanes;
  }

  /// All lanes are evaluated before any is stored.
  void run_store(const lathe::StoreNode& n) {
    std::vector<Write> writes;
    const bool whole_element = n.buffer->dtype.lanes > 1;
    for (int l = 0; l < lanes_of(n.value, n.indices); ++l) {
      if (bool(n.mask) && !values_.spread(n.mask, l).whole) continue;
      writes.push_back(
          {values_.indices(n.indices, l), whole_element ? l : 0, values_.spread(n.value, l)});
    }
    write_all(n.buffer, writes);
  }

  void run_atomic(const lathe::AtomicNode& n) {
    std::vector<Write> updates;
    for (int l = 0; l < lanes_of(n.value, n.indices); ++l)
      updates.push_back({values_.indices(n.indices, l), 0, values_.spread(n.value, l)});
    Array& array = state_.array(n.buffer);
    for (const auto& u : updates)
      array.write(u.at, 0, binary(n.op, n.buffer->dtype.scalar(), array.read(u.at), u.value));
  }

  /// Gives an iterator its value; false where that is outside of its domain.
  bool enter(const lathe::IterVar& it) {
    const Whole at = values_.index(it.binding);
    state_.set(it.var, whole_number(at));
    const Whole min = values_.index(it.min), extent = values_.index(it.extent);
    return at >= min && at - min < extent;
  }
  /// The domain comes before the predicate, which may read by it, and its parts in their order.
  bool enter(const lathe::BlockNode& n) {
    for (const auto& it : n.iters)
      if (!enter(it)) return false;
    std::vector<lathe::AnyExpr> conditions;
    conjuncts(n.predicate, conditions);
    for (const auto& e : conditions)
      if (!values_.holds(e)) return false;
    return true;
  }
  bool enter_spatially(const lathe::BlockNode& n) {
    for (const auto& it : n.iters)
      if (it.kind != lathe::IterKind::reduce && !enter(it)) return false;
    for (const auto& e : spatial_conditions(n))
      if (!values_.holds(e)) return false;
    return true;
  }
  void leave(const lathe::BlockNode& n) {
    for (const auto& it : n.iters) state_.vars.erase(it.var.get());
  }

  void run_block(const lathe::BlockNode& n) {
    for (const auto& init : inits_)
      if (init.block == &n && init.from == init.path.size()) reach(init, init.from);
    if (enter(n)) n.reducer ? update(n) : run(n.body);
    leave(n);
  }

  /// element becomes combine(lhs = element, rhs = term), of all outputs together.
  void update(const lathe::BlockNode& n) {
    const lathe::ReducerNode& r = *n.reducer;
    const lathe::Vec<lathe::Stmt> stores = lathe::seq_of(n.body);
    std::vector<std::vector<Whole>> places;
    for (std::size_t k = 0; k < stores.size(); ++k) {
      const auto* store = stores[k].as<lathe::StoreNode>();
      places.push_back(values_.indices(store->indices, 0));
      state_.set(r.lhs[k], state_.array(store->buffer).read(places[k]));
      state_.set(r.rhs[k], values_.lane(store->value, 0));
    }
    Lanes combined;
    for (const auto& e : r.combine) combined.push_back(values_.lane(e, 0));
    for (std::size_t k = 0; k < stores.size(); ++k)
      state_.array(stores[k].as<lathe::StoreNode>()->buffer).write(places[k], 0, combined[k]);
  }
  void store_identity(const lathe::BlockNode& n) {
    std::size_t k = 0;
    for (const auto& s : lathe::seq_of(n.body)) {
      const auto* store = s.as<lathe::StoreNode>();
      for (const auto& e : store->indices)
        if (names_any(e, reduce_iterators(n)))
          throw NoResult(NoResult::meaningless, "no place for an identity");
      const Number identity = values_.lane(n.reducer->identity[k++], 0);
      state_.array(store->buffer).write(values_.indices(store->indices, 0), 0, identity);
    }
  }

  /// Goes to each spatial point inside path[k], past loops that feed no spatial iterator, and
  /// stores the identity there.
  void reach(const InitPlace& init, std::size_t k) {
    if (k == init.path.size()) {
      if (enter_spatially(*init.block)) store_identity(*init.block);
      return leave(*init.block);
    }
    const lathe::Stmt& around = init.path[k].stmt;
    auto inside = [&] { reach(init, k + 1); };
    if (const auto* loop = around.as<lathe::ForNode>()) {
      if (!init.spatial.count(loop->var.get())) return inside();
      return each_iteration(*loop, inside);
    }
    if (const auto* let = around.as<lathe::LetStmtNode>()) {
      if (!known(let->value)) return inside();
      state_.vars[let->var.get()] = values_.all_lanes(let->value);
      inside();
      state_.vars.erase(let->var.get());
      return;
    }
    if (const auto* block = around.as<lathe::BlockNode>()) {
      if (enter_spatially(*block)) inside();
      return leave(*block);
    }
    const auto* branch = around.as<lathe::IfNode>();
    // What depends on other loops says nothing of the point.
    if (!branch || !known(branch->condition) ||
        values_.holds(branch->condition) != init.path[k].in_else)
      inside();
  }
  /// Whether e names no variable that has no value (of loops that are gone past).
  bool known(const lathe::AnyExpr& e) {
    for (const auto& v : lathe::free_vars(e))
      if (!state_.knows(v.get())) return false;
    return true;
  }

  lathe::Stmt body_;
  State& state_;
  Expression values_;
  std::vector<InitPlace> inits_;
  long steps_ = 0;
};

}  // namespace oracle
