#pragma once

#include <lathe/analysis/partition.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/fates.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/vector/clone.hpp>

namespace lathe::detail {

// Conditions by their place in the program, and what they are.
class DecideConditions : public Mutator {
 public:
  void decide(const ExprNode* node, bool value) {
    if (node) known_.emplace_back(node, value);
  }
  AnyExpr expr(const AnyExpr& e) override {
    for (const auto& [node, value] : known_)
      if (e.get() == node) return make_bool(value);
    return descend(e);
  }

 private:
  Vec<std::pair<const ExprNode*, bool>> known_;
};

// A loop whose partition is always becomes the iterations before its steady conditions hold, those
// where they all do, and those after. Of one around a loop whose tail is peel, only what guards
// that tail is such a condition. Loops inside are partitioned in the steady part alone.
class PartitionLoops : public Mutator {
 public:
  explicit PartitionLoops(const Program& program) : facts_(program) {
    for (const auto& d : program->dims) known_.push_back(d->var);
    each_statement(program->body, [&](const Stmt& s) {
      if (const auto* f = s.as<ForNode>()) peels_ = peels_ || tail_of(*f) == Tail::peel;
    });
  }

  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    // Lanes and copies stay as they are, whatever a program says that no schedule made.
    const bool apart = f->loop_kind == ForKind::serial || f->loop_kind == ForKind::parallel;
    const Partition policy = partition_of(*f);
    if (apart && (policy == Partition::always || (peels_ && policy == Partition::automatic)))
      return partitioned(*f);
    return with_body(*f, f->min, f->extent, f->body, f->attributes);
  }

 private:
  struct Parts {
    AnyExpr from, to;  ///< of the steady part
    Vec<SteadyCondition> conditions;
    int starts = 0, ends = 0;  ///< how many of them say where it begins, where it ends
  };

  Stmt with_body(const ForNode& f, const AnyExpr& min, const AnyExpr& extent, const Stmt& body,
                 const Attributes& attributes) {
    Facts outer = facts_;
    facts_.bind(f.var, min, extent);
    known_.push_back(f.var);
    Stmt inside = stmt(body);
    known_.pop_back();
    facts_ = outer;
    return make_for(f.var, min, extent, inside, f.loop_kind, attributes);
  }

  Parts parts_of(const ForNode& f) const {
    const AnyExpr end = fold_add(f.min, f.extent);
    Parts parts{f.min, end, {}};
    const bool all = partition_of(f) == Partition::always;
    for (auto& c : steady_conditions(f, facts_, known_)) {
      if (!all && !c.peeled) continue;
      AnyExpr from = c.from ? simplify(fold_max(parts.from, c.from), facts_) : parts.from;
      AnyExpr to = c.to ? simplify(fold_min(parts.to, c.to), facts_) : parts.to;
      if (prove_le(to, from, facts_)) continue;  // both hold nowhere
      parts.from = from, parts.to = to;
      (c.is_start() ? parts.starts : parts.ends) += 1;
      parts.conditions.push_back(std::move(c));
    }
    parts.from = simplify(fold_min(parts.from, end), facts_);
    parts.to = simplify(fold_max(parts.to, parts.from), facts_);
    return parts;
  }

  Stmt partitioned(const ForNode& f) {
    LoopHead head = head_of(f);
    head.attributes.erase<PartitionAttr>();
    const Parts parts = parts_of(f);
    if (parts.conditions.empty()) return with_body(f, f.min, f.extent, f.body, head.attributes);
    Stmt before = border(f, f.min, parts.from, parts, true);
    Stmt steady = steady_part(f, parts, head.attributes);
    Stmt after = border(f, parts.to, fold_add(f.min, f.extent), parts, false);
    return make_seq({before, steady, after});
  }

  Stmt steady_part(const ForNode& f, const Parts& parts, const Attributes& attributes) {
    DecideConditions decide;
    const AnyExpr extent = simplify(fold_sub(parts.to, parts.from), facts_);
    Facts inside = facts_;
    inside.bind(f.var, parts.from, extent);
    for (const auto& c : parts.conditions) {
      decide.decide(c.node, c.value);
      inside.assume(c.full);
    }
    const Stmt body = simplify(decide.stmt(f.body), inside);
    return with_body(f, parts.from, extent, body, attributes);
  }

  // Few iterations, of which no more are peeled. Where one condition alone says where they end or
  // begin, it does not hold in any.
  Stmt border(const ForNode& f, const AnyExpr& from, const AnyExpr& to, const Parts& parts,
              bool first) const {
    const AnyExpr extent = simplify(fold_sub(to, from), facts_);
    if (is_const(extent, 0)) return make_seq({});
    DecideConditions decide;
    for (const auto& c : parts.conditions) {
      const bool alone = first ? parts.starts == 1 : parts.ends == 1;
      if (c.exact && alone && c.is_start() == first) decide.decide(c.node, !c.value);
    }
    Attributes its_own = after(Change::border, f.attributes);
    its_own.set(PartitionAttr{Partition::never});
    const Stmt body = as_border(decide.stmt(f.body));
    return CloneFresh().stmt(make_for(f.var, from, extent, body, f.loop_kind, its_own));
  }

  // Loops inside run as in the steady part, but are not cut in three once more: of n loops in each
  // other 3^n nests would come.
  static Stmt as_border(const Stmt& s) {
    return with_loop_attributes(s, [](const ForNode& f) {
      Attributes rest = after(Change::border, f.attributes);
      if (partition_of(f) == Partition::always) rest.erase<PartitionAttr>();
      return rest;
    });
  }

  Facts facts_;
  Vec<VarRef> known_;   ///< Dims, and the loops around
  bool peels_ = false;  ///< some loop's tail is peel
};

}  // namespace lathe::detail
