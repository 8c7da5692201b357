#pragma once

#include <cmath>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/vector/clone.hpp>
#include <utility>

namespace lathe {
namespace detail {

/// Whether it is an extreme of floats as the IR means them, which NaN and signed zeros count in.
inline const BinaryNode* as_extreme(const AnyExpr& e) {
  const auto* n = e.as<BinaryNode>();
  const bool extreme = n && (n->op == BinaryOp::max || n->op == BinaryOp::min) &&
                       n->dtype.is_float() && n->dtype.bits >= 32;
  return extreme ? n : nullptr;
}

/// The comparison that ignores NaN and the sign of zeros.
inline BinaryOp fast_extreme(BinaryOp op) {
  return op == BinaryOp::max ? BinaryOp::fast_max : BinaryOp::fast_min;
}

/// Where a guess may be wrong, gathered test by test: a term may be NaN, or a result is a zero.
class WrongGuess {
 public:
  /// Of terms that are numbers a sum is NaN where both infinities are among them, too.
  void note_sum(const AnyExpr& sum) { note(make_binary(BinaryOp::ne, sum, sum)); }
  void note_result(const AnyExpr& result) {
    note(make_binary(BinaryOp::eq, result, make_float(result.dtype(), 0)));
  }
  AnyExpr any;  ///< of all lanes and tests; empty: none was noted

 private:
  void note(const AnyExpr& lanes) {
    const AnyExpr some = lanes.dtype().lanes == 1 ? lanes : any_lane(lanes);
    any = any ? logical_or(any, some) : some;
  }
};

/// A register's scope that holds nothing but extremes of what memory has: partial ones, their
/// joining across lanes, and stores of the results behind all loops. It gives the same however
/// often it runs.
class ExtremeRegion : public Visitor {
 public:
  explicit ExtremeRegion(const AllocNode& scope) {
    const Stmt whole{Ref<AllocNode>(&scope)};
    stmt(whole);
    possible = possible && !reads_results_elsewhere(whole);
  }

  struct Result {
    Buffer buffer;
    Vec<AnyExpr> indices;
  };
  Vec<Result> results;
  bool possible = true;
  double extremes = 0;  ///< that run in all; a loop of unknown length counts as long

  /// A load of what the scope does not compute itself.
  bool is_term(const LoadNode& n) const {
    if (contains(registers_, n.buffer)) return false;
    for (const auto& r : results)
      if (r.buffer == n.buffer) return false;
    return true;
  }
  /// Whether the expression has such loads and nothing of the scope's own.
  bool is_term(const AnyExpr& e) const {
    Loads loads(*this);
    loads.expr(e);
    return loads.terms && !loads.own;
  }

  void expr(const AnyExpr& e) override {
    if (!possible || e.kind() == ExprKind::Var) return;
    if (const auto* c = e.as<ConstNode>()) {
      possible = !c->dtype.is_float() || !std::isnan(c->f);
      return;
    }
    if (const auto* n = as_extreme(e)) {
      extremes += runs_;
      for (const auto* side : {&n->a, &n->b})
        if (!is_term(*side)) expr(*side);
      return;
    }
    if (const auto* n = e.as<LoadNode>()) {
      possible = !is_term(*n) && !n->mask;
      return;
    }
    if (const auto* n = e.as<SelectNode>()) {
      possible = is_load_free(n->condition);
      return expr(n->yes), expr(n->no);
    }
    possible = e.kind() == ExprKind::Shuffle || e.kind() == ExprKind::Broadcast;
    if (possible) descend(e);
  }

  void stmt(const Stmt& s) override {
    if (!possible) return;
    switch (s.kind()) {
      case StmtKind::Alloc:
        return alloc(*s.as<AllocNode>());
      case StmtKind::Store:
        return store(*s.as<StoreNode>());
      case StmtKind::For:
        return loop(*s.as<ForNode>());
      case StmtKind::LetStmt:
        return let(*s.as<LetStmtNode>());
      case StmtKind::If:
        return branch(*s.as<IfNode>());
      case StmtKind::Seq:
        return descend(s);
      default:
        possible = false;
    }
  }

 private:
  struct Loads : Visitor {
    explicit Loads(const ExtremeRegion& its_region) : region(its_region) {}
    const ExtremeRegion& region;
    bool terms = false, own = false;
    void expr(const AnyExpr& e) override {
      if (const auto* n = e.as<LoadNode>()) (region.is_term(*n) ? terms : own) = true;
      own = own || e.kind() == ExprKind::Let || region.own_vars_.contains(e.get());
      descend(e);
    }
  };

  void let(const LetStmtNode& n) {
    Loads loads(*this);
    loads.expr(n.value);
    if (loads.own) own_vars_.insert(n.var.get());
    expr(n.value);
    stmt(n.body);
  }

  void alloc(const AllocNode& n) {
    possible = n.buffer->scope == Scope::reg && n.buffer->rank() == 0;
    registers_.push_back(n.buffer);
    stmt(n.body);
  }

  void loop(const ForNode& f) {
    constexpr double kLong = 64;
    if (f.loop_kind != ForKind::serial || !is_load_free(f.min) || !is_load_free(f.extent)) {
      possible = false;
      return;
    }
    const std::int64_t* extent = as_const_int(f.extent);
    const double outer = runs_;
    runs_ *= extent ? static_cast<double>(*extent) : kLong;
    ++loops_;
    stmt(f.body);
    --loops_, runs_ = outer;
  }

  // Guards of tiles: which terms there are.
  void branch(const IfNode& n) {
    if (!is_load_free(n.condition)) {
      possible = false;
      return;
    }
    ++branches_;
    stmt(n.then_body);
    if (n.else_body) stmt(n.else_body);
    --branches_;
  }

  void store(const StoreNode& n) {
    if (!contains(registers_, n.buffer)) note_result(n);
    expr(n.value);
  }

  // The first store of an element reads none of the results, so that all may be done again.
  void note_result(const StoreNode& n) {
    constexpr std::size_t kResults = 8;
    possible = possible && loops_ == 0 && branches_ == 0 && !n.mask && n.value.dtype().lanes == 1 &&
               n.value.dtype().is_float() && n.value.dtype().bits >= 32;
    for (const auto& i : n.indices) possible = possible && is_load_free(i);
    for (const auto& r : results)
      if (r.buffer == n.buffer && equal(r.indices, n.indices)) return check_reads(n, true);
    check_reads(n, false);
    results.push_back({n.buffer, n.indices});
    possible = possible && results.size() <= kResults;
  }
  void check_reads(const StoreNode& n, bool may) {
    struct Reads : Visitor {
      const StoreNode* store;
      bool own = false, other = false;
      void expr(const AnyExpr& e) override {
        if (const auto* load = e.as<LoadNode>(); load && load->buffer == store->buffer)
          (equal(load->indices, store->indices) ? own : other) = true;
        descend(e);
      }
    } reads;
    reads.store = &n;
    reads.expr(n.value);
    possible = possible && !reads.other && (may || !reads.own);
  }
  // But for the stores into them, which note_result looks at.
  bool reads_results_elsewhere(const Stmt& s) const {
    struct Reads : Visitor {
      const ExtremeRegion* region;
      const Buffer* into = nullptr;
      bool found = false;
      void expr(const AnyExpr& e) override {
        const auto* load = e.as<LoadNode>();
        for (const auto& r : region->results)
          found = found || (load && load->buffer == r.buffer && !(into && *into == r.buffer));
        descend(e);
      }
      void stmt(const Stmt& part) override {
        const auto* n = part.as<StoreNode>();
        into = n ? &n->buffer : nullptr;
        descend(part);
      }
    } reads;
    reads.region = this;
    reads.stmt(s);
    return reads.found;
  }
  static bool equal(const Vec<AnyExpr>& a, const Vec<AnyExpr>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k)
      if (!structurally_equal(a[k], b[k])) return false;
    return true;
  }

  Vec<Buffer> registers_;
  NodeSet own_vars_;  ///< names of what registers held
  double runs_ = 1;
  int loops_ = 0, branches_ = 0;
};

/// The region by comparisons that ignore NaN and the sign of zeros, which also add up all terms.
class GuessedRegion : public Mutator {
 public:
  explicit GuessedRegion(const ExtremeRegion& region) : region_(region) {}
  Vec<Buffer> sums;

  Stmt stmt(const Stmt& s) override {
    if (s.kind() == StmtKind::For) {
      Vec<AnyExpr> outside = std::exchange(summed_, {});
      Stmt out = descend(s);
      summed_ = std::move(outside);
      return out;
    }
    if (const auto* n = s.as<IfNode>()) {
      const Vec<AnyExpr> before = summed_;
      Stmt yes = stmt(n->then_body);
      summed_ = before;
      Stmt no = n->else_body ? stmt(n->else_body) : Stmt();
      summed_ = before;
      return make_if(n->condition, std::move(yes), std::move(no));
    }
    if (const auto* n = s.as<StoreNode>())
      return with_terms(n->value, [&](AnyExpr value) {
        return make_ref<StoreNode>(n->buffer, n->indices, std::move(value), n->mask, n->streaming);
      });
    if (const auto* n = s.as<LetStmtNode>())
      return with_terms(n->value, [&](AnyExpr value) {
        return make_let_stmt(n->var, std::move(value), stmt(n->body));
      });
    return descend(s);
  }

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = as_extreme(e);
    if (!n) return e.kind() == ExprKind::Load ? e : descend(e);
    const BinaryOp fast = fast_extreme(n->op);
    const bool right = region_.is_term(n->b);
    AnyExpr a = operand(n->a), b = operand(n->b);
    // The term first: then a register that is an infinity or a zero stays it.
    return right ? make_binary(fast, std::move(b), std::move(a))
                 : make_binary(fast, std::move(a), std::move(b));
  }

 private:
  struct Term {
    VarRef var;
    AnyExpr value;
  };

  AnyExpr operand(const AnyExpr& e) {
    if (!region_.is_term(e)) return expr(e);
    terms_.push_back({make_var("term", e.dtype()), e});
    return terms_.back().var;
  }

  template <class F>
  Stmt with_terms(const AnyExpr& value, const F& make) {
    terms_.clear();
    AnyExpr fast = expr(value);
    const Vec<Term> terms = std::move(terms_);
    terms_ = {};
    Vec<Stmt> all;
    for (const Term& t : terms) {
      if (is_summed(t.value)) continue;
      summed_.push_back(t.value);
      const AnyExpr sum = make_load(sum_of(t.value.dtype()), {});
      all.push_back(make_store(sum.as<LoadNode>()->buffer, {}, sum + AnyExpr(t.var)));
    }
    all.push_back(make(std::move(fast)));
    Stmt out = make_seq(std::move(all));
    for (std::size_t k = terms.size(); k-- > 0;)
      out = make_let_stmt(terms[k].var, terms[k].value, out);
    return out;
  }

  // A term of two extremes, as the least and the largest of a row, is added once: nothing in a
  // region stores to what terms load.
  bool is_summed(const AnyExpr& term) const {
    for (const AnyExpr& other : summed_)
      if (structurally_equal(term, other)) return true;
    return false;
  }

  // In turn, so that additions do not wait for each other.
  Buffer sum_of(DType type) {
    constexpr std::size_t kChains = 4;
    Vec<Buffer> same;
    for (const auto& sum : sums)
      if (sum->dtype == type) same.push_back(sum);
    if (same.size() == kChains) return same[next_++ % kChains];
    sums.push_back(Buffer(new BufferNode("sum", type, {}, {}, Scope::reg)));
    return sums.back();
  }

  const ExtremeRegion& region_;
  Vec<Term> terms_;
  Vec<AnyExpr> summed_;  ///< in this iteration of the loop around, whatever branches are taken
  std::size_t next_ = 0;
};

/// The region by guess, and again as it stands where a term may be NaN or a result is a zero.
inline Stmt guessed(const ExtremeRegion& region, const Stmt& whole) {
  GuessedRegion guess(region);
  const Stmt fast = guess.stmt(whole);
  Vec<Stmt> out;
  WrongGuess wrong;
  Vec<AnyExpr> totals;
  for (const auto& sum : guess.sums) {
    out.push_back(make_store(sum, {}, make_float(sum->dtype, 0)));
    bool added = false;
    for (AnyExpr& total : totals)
      if (!added && total.dtype() == sum->dtype) total = total + make_load(sum, {}), added = true;
    if (!added) totals.push_back(make_load(sum, {}));
  }
  for (const AnyExpr& total : totals) wrong.note_sum(total);
  for (const auto& r : region.results) wrong.note_result(make_load(r.buffer, r.indices));
  out.push_back(fast);
  out.push_back(make_if(wrong.any, CloneFresh().stmt(whole)));
  Stmt all = make_seq(std::move(out));
  for (const auto& sum : guess.sums) all = make_alloc(sum, all);
  return all;
}

}  // namespace detail
}  // namespace lathe
