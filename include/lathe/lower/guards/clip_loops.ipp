#pragma once

#include <lathe/analysis/find.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

// Serial loops run where guards inside let their body do something: the terms of a triangle, of a
// band.
class ClipToGuards : public Mutator {
 public:
  explicit ClipToGuards(const Program& program) : facts_(program_facts(program)) {}

  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    const bool may = f->loop_kind == ForKind::serial && !is_tile(*f) && !counts_registers(*f);
    const Stmt clipped = may ? clip(*f) : s;
    f = clipped.as<ForNode>();
    const Facts outer = facts_;
    facts_.bind(f->var, f->min, f->extent);
    const Stmt body = stmt(f->body);
    facts_ = outer;
    return make_for(f->var, f->min, f->extent, body, f->loop_kind, f->attributes);
  }

 private:
  /// Where a statement does something: from one end to before the other. Null: no such end.
  struct Range {
    AnyExpr from, to;
  };

  // Short loops are tiles, of which most are whole, and all are compiled as if they were.
  static bool is_tile(const ForNode& f) {
    constexpr std::int64_t kLongestTile = 8;
    const auto* extent = as_const_int(f.extent);
    return extent && *extent <= kLongestTile;
  }
  // Loops over registers are written out, as often as they say.
  static bool counts_registers(const ForNode& f) {
    struct Places : Visitor {
      const VarRef& var;
      bool found = false;
      explicit Places(const ForNode& f) : var(f.var) { stmt(f.body); }
      void expr(const AnyExpr& e) override {
        if (const auto* load = e.as<LoadNode>()) note(load->buffer, load->indices);
        descend(e);
      }
      void stmt(const Stmt& s) override {
        if (const auto* store = s.as<StoreNode>()) note(store->buffer, store->indices);
        descend(s);
      }
      void note(const Buffer& buffer, const Vec<AnyExpr>& indices) {
        if (buffer->scope != Scope::reg) return;
        for (const auto& index : indices) found = found || uses_var(index, var);
      }
    };
    return Places(f).found;
  }

  Stmt clip(const ForNode& f) {
    const AnyExpr end = fold_add(f.min, f.extent);
    var_ = f.var;
    const Range range = of(f.body, facts_, {});
    AnyExpr from = f.min, to = end;
    if (range.from.get() && !prove_le(range.from, f.min, facts_)) from = fold_max(from, range.from);
    if (range.to.get() && !prove_le(end, range.to, facts_)) to = fold_min(to, range.to);
    if (from.same_as(f.min) && to.same_as(end))
      return make_for(f.var, f.min, f.extent, f.body, f.loop_kind, f.attributes);
    const AnyExpr extent = simplify(fold_max(fold_sub(to, from), AnyExpr(0)), facts_);
    Facts inside = facts_;
    inside.bind(f.var, from, extent);
    inside.assume(from <= AnyExpr(f.var));
    inside.assume(AnyExpr(f.var) < to);
    return make_for(f.var, simplify(from, facts_), extent, simplify(f.body, inside), f.loop_kind,
                    f.attributes);
  }

  // `inner`: variables of loops between the clipped one and the statement.
  Range of(const Stmt& s, const Facts& facts, const Vec<VarRef>& inner) const {
    if (const auto* guard = s.as<IfNode>()) return of_guard(*guard, facts, inner);
    if (const auto* alloc = s.as<AllocNode>()) return of(alloc->body, facts, inner);
    if (const auto* f = s.as<ForNode>()) {
      Facts inside = facts;
      inside.bind(f->var, f->min, f->extent);
      Vec<VarRef> vars = inner;
      vars.push_back(f->var);
      return of(f->body, inside, vars);
    }
    if (const auto* seq = s.as<SeqNode>(); seq && !seq->stmts.empty()) {
      Range all = of(seq->stmts[0], facts, inner);
      for (std::size_t k = 1; k < seq->stmts.size() && (all.from.get() || all.to.get()); ++k)
        all = either(all, of(seq->stmts[k], facts, inner));
      return all;
    }
    return {};
  }
  Range of_guard(const IfNode& guard, const Facts& facts, const Vec<VarRef>& inner) const {
    Range all = of(guard.then_body, facts, inner);
    for (const auto& part : conjuncts(guard.condition)) all = both(all, of(part, facts, inner));
    return guard.else_body ? either(all, of(guard.else_body, facts, inner)) : all;
  }

  // Of a comparison that is linear in the loop, whatever the loops inside of it count.
  Range of(const AnyExpr& condition, const Facts& facts, const Vec<VarRef>& inner) const {
    const auto* n = condition.as<BinaryNode>();
    if (!n || n->a.dtype() != kIndex || !is_load_free(condition)) return {};
    switch (n->op) {
      case BinaryOp::lt:
        return where_positive(n->b - n->a, facts, inner);
      case BinaryOp::gt:
        return where_positive(n->a - n->b, facts, inner);
      case BinaryOp::le:
        return where_positive(n->b - n->a + 1, facts, inner);
      case BinaryOp::ge:
        return where_positive(n->a - n->b + 1, facts, inner);
      default:
        return {};
    }
  }
  Range where_positive(const AnyExpr& e, const Facts& facts, const Vec<VarRef>& inner) const {
    const auto linear = affine_of(e, {var_}, facts);
    const auto coef = linear ? linear->coef(0) : std::nullopt;
    if (!coef || *coef == 0) return {};
    const AnyExpr rest = inner.empty() ? linear->rest : bounds(linear->rest, inner, facts).max;
    if (!rest.get() || uses_var(rest, var_)) return {};
    if (*coef > 0) return {floordiv(-rest, AnyExpr(*coef)) + 1, {}};
    return {{}, floordiv(rest - 1, AnyExpr(-*coef)) + 1};
  }

  static Range both(const Range& a, const Range& b) {
    return {!a.from.get() || !b.from.get() ? (a.from.get() ? a.from : b.from)
                                           : fold_max(a.from, b.from),
            !a.to.get() || !b.to.get() ? (a.to.get() ? a.to : b.to) : fold_min(a.to, b.to)};
  }
  static Range either(const Range& a, const Range& b) {
    Range out;
    if (a.from.get() && b.from.get()) out.from = fold_min(a.from, b.from);
    if (a.to.get() && b.to.get()) out.to = fold_max(a.to, b.to);
    return out;
  }

  Facts facts_;
  VarRef var_;  ///< of the loop that is clipped
};

}  // namespace detail

LATHE_DECL Program clip_loops(const Program& program) {
  return program.with(detail::ClipToGuards(program).stmt(program->body));
}

}  // namespace lathe
