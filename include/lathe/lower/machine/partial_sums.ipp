#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/partial_sums.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

inline bool is_load_of(const AnyExpr& e, const Buffer& reg) {
  const auto* load = e.as<LoadNode>();
  return load && load->buffer == reg && load->indices.empty() && !load->mask.get();
}

LATHE_DECL AnyExpr added_term(const StoreNode& n, bool chosen) {
  const auto is_before = [&](const AnyExpr& e) { return is_load_of(e, n.buffer); };
  if (!n.indices.empty() || (n.mask.get() && !chosen)) return {};
  AnyExpr value = n.value;
  if (const auto* some = value.as<SelectNode>(); some && chosen && is_before(some->no))
    value = some->yes;
  const auto* sum = value.as<BinaryNode>();
  return sum && sum->op == BinaryOp::add && is_before(sum->a) ? sum->b : AnyExpr();
}

/// A tail's terms, added to the first lanes of a register:
///     let part = shuffle(r; 0, 1, 2, 3) + term; r = select(ramp(0, 1, 8) < 4 && c, shuffle(part;
///     0, 1, 2, 3, …), r)
struct AddedToFirst {
  AnyExpr term, condition;  ///< empty: it does something else

  explicit AddedToFirst(const LetStmtNode& let) {
    const auto* sum = let.value.as<BinaryNode>();
    const auto* first = sum && sum->op == BinaryOp::add ? sum->a.as<ShuffleNode>() : nullptr;
    const auto* store = let.body.as<StoreNode>();
    const auto* some = store && !store->mask.get() ? store->value.as<SelectNode>() : nullptr;
    const auto* back = some ? some->yes.as<ShuffleNode>() : nullptr;
    if (!first || !back || !store->indices.empty() || first->vectors.size() != 1 ||
        back->vectors.size() != 1 || back->vectors[0].get() != let.var.get() ||
        !is_load_of(first->vectors[0], store->buffer) || !is_load_of(some->no, store->buffer))
      return;
    const int lanes = first->dtype.lanes;
    if (!starts(first->lanes, lanes) || !starts(back->lanes, lanes) ||
        !below(some->condition, lanes))
      return;
    term = sum->b, condition = some->condition;
  }

 private:
  static bool starts(const Vec<int>& lanes, int count) {
    for (int l = 0; l < count; ++l)
      if (lanes[static_cast<std::size_t>(l)] != l) return false;
    return true;
  }
  /// Whether no lane from `count` on is chosen.
  static bool below(const AnyExpr& condition, int count) {
    const auto* n = condition.as<BinaryNode>();
    if (n && n->op == BinaryOp::and_) return below(n->a, count) || below(n->b, count);
    const auto* lanes = n && n->op == BinaryOp::lt ? n->a.as<RampNode>() : nullptr;
    const auto* end = lanes ? n->b.as<BroadcastNode>() : nullptr;
    const std::int64_t* limit = end ? as_const_int(end->value) : nullptr;
    return limit && *limit <= count && is_const(lanes->base, 0) && is_const(lanes->stride, 1);
  }
};

/// How the lanes of registers get into totals. A lane of a value is how often each lane of each
/// register is in it, as far as it is a sum of such.
class LanesOfTotals : public Visitor {
 public:
  struct Register {
    Buffer buffer;
    bool used = false;        ///< otherwise than by beginning and adding
    std::int64_t total = -1;  ///< which one takes all lanes, each once
  };
  Vec<Register> registers;

  /// The statements that stand below the allocs of registers, one after the other.
  explicit LanesOfTotals(const Vec<Stmt>& steps) {
    for (const Stmt& s : steps) step(s);
    for (auto& r : registers) finish(r);
  }

 private:
  /// Of one lane: register and lane of it, and how often.
  using Lane = Vec<std::pair<int, int>>;
  struct Value {
    bool known = false;
    Vec<Lane> lanes;
  };
  struct Total {
    Buffer buffer;
    Vec<AnyExpr> indices;
    int lane;
    Lane parts;
  };

  void step(const Stmt& s) {
    const auto* n = s.as<StoreNode>();
    if (!n) return loops(s);
    if (is_start(*n)) return begin(n->buffer);
    if (const AnyExpr term = added_term(*n, true); term.get() && find(n->buffer))
      return spoil_term(*n, term);
    const Value value = value_of(n->value);
    if (n->buffer->scope == Scope::reg && n->indices.empty() && !n->mask.get()) {
      if (!value.known) spoil(n->value);
      held_.insert(n->buffer.get(), value);
      return;
    }
    if (!value.known || n->mask.get()) return spoil(n->value);
    for (std::size_t l = 0; l < value.lanes.size(); ++l)
      if (!value.lanes[l].empty()) add_total(*n, static_cast<int>(l), value.lanes[l]);
  }

  /// Loops and branches may add to registers, and use them in no other way.
  void loops(const Stmt& s) {
    struct Inside : Visitor {
      LanesOfTotals& all;
      explicit Inside(LanesOfTotals& a) : all(a) {}
      void expr(const AnyExpr& e) override { all.spoil(e); }
      void stmt(const Stmt& s) override {
        if (const auto* let = s.as<LetStmtNode>())
          if (const AddedToFirst some(*let); some.term)
            return all.spoil(some.term), all.spoil(some.condition);
        const auto* n = s.as<StoreNode>();
        if (!n) return descend(s);
        if (const AnyExpr term = added_term(*n, true)) return all.spoil_term(*n, term);
        if (Register* r = all.find(n->buffer)) r->used = true;
        all.held_.insert(n->buffer.get(), Value());
        descend(s);
      }
    } inside(*this);
    inside.stmt(s);
  }

  static bool is_start(const StoreNode& n) {
    const auto* all = n.value.as<BroadcastNode>();
    return n.buffer->scope == Scope::reg && n.indices.empty() && n.buffer->dtype.is_int() &&
           n.buffer->dtype.is_vector() && all && is_const(all->value, 0);
  }
  void begin(const Buffer& b) {
    if (find(b))
      find(b)->used = true;
    else
      registers.push_back({b});
  }
  Register* find(const Buffer& b) {
    for (auto& r : registers)
      if (r.buffer == b) return &r;
    return nullptr;
  }
  int index_of(const Register* r) const { return static_cast<int>(r - registers.data()); }

  /// What is added, and what says to which lanes.
  void spoil_term(const StoreNode& n, const AnyExpr& term) {
    spoil(term);
    if (n.mask) spoil(n.mask);
    if (const auto* some = n.value.as<SelectNode>()) spoil(some->condition);
  }

  /// What no sum of lanes says.
  void spoil(const AnyExpr& e) {
    struct Loads : Visitor {
      LanesOfTotals& all;
      explicit Loads(LanesOfTotals& a) : all(a) {}
      void expr(const AnyExpr& e) override {
        if (const auto* n = e.as<LoadNode>()) all.spoil_register(n->buffer);
        descend(e);
      }
    } loads(*this);
    loads.expr(e);
  }
  void spoil_register(const Buffer& b) {
    if (Register* r = find(b)) r->used = true;
    const Value* v = held_.find(b.get());
    if (!v) return;
    if (v->lanes.size() == 1 && !v->lanes[0].empty()) {
      for (const auto& t : totals_)
        if (t.buffer == b) return;
      totals_.push_back({b, {}, 0, v->lanes[0]});
    } else {
      for (const Lane& lane : v->lanes)
        for (const auto& [reg, at] : lane) registers[static_cast<std::size_t>(reg)].used = true;
    }
  }

  Value value_of(const AnyExpr& e) {
    const int lanes = e.dtype().lanes;
    Value out{true, Vec<Lane>(static_cast<std::size_t>(lanes))};
    if (const auto* n = e.as<LoadNode>()) {
      if (const Value* v = held_.find(n->buffer.get()); v && n->indices.empty()) return *v;
      const Register* r = find(n->buffer);
      for (int l = 0; r && l < lanes; ++l)
        out.lanes[static_cast<std::size_t>(l)].push_back({index_of(r), l});
      for (const auto& i : n->indices) spoil(i);
      if (n->mask) spoil(n->mask);
      return out;
    }
    if (const auto* n = e.as<BinaryNode>(); n && n->op == BinaryOp::add && n->dtype.is_int())
      return summed(value_of(n->a), value_of(n->b));
    if (const auto* n = e.as<ShuffleNode>(); n && n->vectors.size() == 1) {
      const Value v = value_of(n->vectors[0]);
      if (!v.known) return {};
      for (std::size_t l = 0; l < out.lanes.size(); ++l)
        out.lanes[l] = v.lanes[static_cast<std::size_t>(n->lanes[l])];
      return out;
    }
    spoil(e);
    return out;
  }
  static Value summed(const Value& a, const Value& b) {
    if (!a.known || !b.known) return {};
    Value out = a;
    for (std::size_t l = 0; l < out.lanes.size(); ++l) out.lanes[l].append(b.lanes[l]);
    return out;
  }

  void add_total(const StoreNode& n, int lane, const Lane& parts) {
    for (auto& t : totals_)
      if (t.buffer == n.buffer && t.lane == lane && same(t.indices, n.indices))
        return t.parts.append(parts);
    totals_.push_back({n.buffer, n.indices, lane, parts});
  }
  static bool same(const Vec<AnyExpr>& a, const Vec<AnyExpr>& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
      if (!structurally_equal(a[k], b[k])) return false;
    return a.size() == b.size();
  }

  void finish(Register& r) const {
    for (std::size_t t = 0; t < totals_.size() && !r.used; ++t) {
      Vec<int> times(static_cast<std::size_t>(r.buffer->dtype.lanes), 0);
      int all = 0;
      for (const auto& [reg, lane] : totals_[t].parts)
        if (reg == index_of(&r)) ++times[static_cast<std::size_t>(lane)], ++all;
      if (all == 0) continue;
      for (const int n : times)
        if (n != 1 || r.total >= 0) return void(r.total = -1);
      r.total = static_cast<std::int64_t>(t);
    }
  }

  NodeMap<Value> held_;  ///< registers that hold sums of lanes
  Vec<Total> totals_;
};

LATHE_DECL Vec<Vec<Buffer>> PartialSums::of(const Stmt& body, NodeSet& reached) {
  Vec<Stmt> steps;
  const auto follow = [&](const auto& self, const Stmt& s) -> void {
    if (const auto* alloc = s.as<AllocNode>(); alloc && alloc->buffer->scope == Scope::reg) {
      reached.insert(alloc);
      return self(self, alloc->body);
    }
    if (!s.as<SeqNode>()) return steps.push_back(s);
    for (const Stmt& child : seq_of(s)) self(self, child);
  };
  follow(follow, body);
  const LanesOfTotals lanes(steps);
  Vec<Vec<Buffer>> out;
  Vec<std::int64_t> totals;
  for (const auto& r : lanes.registers) {
    if (r.used || r.total < 0) continue;
    std::size_t k = 0;
    while (k < totals.size() && totals[k] != r.total) ++k;
    if (k == totals.size()) totals.push_back(r.total), out.push_back({});
    out[k].push_back(r.buffer);
  }
  return out;
}

}  // namespace lathe::detail
