#pragma once

#include <lathe/ir/impl/text/parser.hpp>
#include <lathe/ir/reducer_law.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

/// An update of several values as expand_update writes it out: operands, results, stores.
struct UpdateWrittenOut {
  Vec<AnyExpr> terms;
  Vec<Stmt> stores;
};

/// Without terms where the statement is none by this reducer.
inline UpdateWrittenOut update_written_out(const Stmt& s, const ReducerNode& reducer) {
  const std::size_t count = reducer.combine.size();
  Vec<const LetStmtNode*> lets;
  Stmt body = s;
  while (lets.size() < 3 * count) {
    const auto* let = body.as<LetStmtNode>();
    if (!let) return {};
    lets.push_back(let);
    body = let->body;
  }
  UpdateWrittenOut out{{}, seq_of(body)};
  if (out.stores.size() != count) return {};
  Substitution operands;
  for (std::size_t k = 0; k < count; ++k) {
    const auto* store = out.stores[k].as<StoreNode>();
    const LetStmtNode &own = *lets[2 * k], &term = *lets[2 * k + 1];
    if (!store || !structurally_equal(own.value, make_load(store->buffer, store->indices)) ||
        store->value.as<VarNode>() != lets[2 * count + k]->var.get())
      return {};
    operands.emplace_back(reducer.lhs[k], AnyExpr(own.var));
    operands.emplace_back(reducer.rhs[k], AnyExpr(term.var));
    out.terms.push_back(term.value);
  }
  for (std::size_t k = 0; k < count; ++k)
    if (!structurally_equal(lets[2 * count + k]->value, substitute(reducer.combine[k], operands)))
      return {};
  return out;
}

// What the statements of a text store to each buffer.
class StoresOfText : public Visitor {
 public:
  struct Stored {
    AnyExpr value;
    const ReducerNode* fold = nullptr;  ///< that it is a term of
    std::size_t output = 0;
  };
  /// Updates by these are known where they are written out, too.
  explicit StoresOfText(const Vec<const ReducerNode*>& reducers) : reducers_(reducers) {}

  void stmt(const Stmt& s) override {
    const auto* block = s.as<BlockNode>();
    if (block && block->reducer) return fold(seq_of(block->body), *block->reducer);
    if (s.as<LetStmtNode>() && fold_written_out(s)) return;
    if (const auto* n = s.as<StoreNode>()) of_[n->buffer.get()].push_back({n->value});
    if (const auto* n = s.as<AtomicNode>()) of_[n->buffer.get()].push_back({n->value});
    descend(s);
  }
  void expr(const AnyExpr&) override {}

  const Vec<Stored>* of(const Buffer& b) const { return of_.find(b.get()); }
  /// Terms of updates that are written out.
  const Vec<std::pair<const ReducerNode*, Vec<AnyExpr>>>& written_out() const {
    return written_out_;
  }

 private:
  bool fold_written_out(const Stmt& s) {
    for (const ReducerNode* r : reducers_) {
      UpdateWrittenOut update = update_written_out(s, *r);
      if (update.terms.empty()) continue;
      fold(update.stores, *r);
      written_out_.emplace_back(r, std::move(update.terms));
      return true;
    }
    return false;
  }
  void fold(const Vec<Stmt>& stores, const ReducerNode& reducer) {
    std::size_t output = 0;
    for (const auto& store : stores)
      if (const auto* n = store.as<StoreNode>())
        of_[n->buffer.get()].push_back({n->value, &reducer, output++});
  }

  const Vec<const ReducerNode*>& reducers_;
  NodeMap<Vec<Stored>> of_;
  Vec<std::pair<const ReducerNode*, Vec<AnyExpr>>> written_out_;
};

/// The operands with which a combine of a reducer is written out in an expression.
class CombineOperands : Visitor {
 public:
  CombineOperands(const ReducerNode& reducer, std::size_t output, const AnyExpr& e)
      : reducer_(reducer) {
    const AnyExpr& combine = reducer.combine[output];
    match(combine, e);
    if (!structurally_equal(substitute(combine, found_), e)) found_ = {};
  }

  /// Whether there are any, and is(operand, output) holds of each.
  template <class F>
  bool all(const F& is) const {
    for (std::size_t k = 0; k < reducer_.lhs.size(); ++k)
      for (const auto& [var, operand] : found_)
        if ((var == reducer_.lhs[k] || var == reducer_.rhs[k]) && !is(operand, k)) return false;
    return !found_.empty();
  }

 private:
  void match(const AnyExpr& pattern, const AnyExpr& e) {
    if (!seen_.insert(pattern.get()).second) return;
    if (const auto* var = pattern.as<VarNode>();
        var && (contains(reducer_.lhs, VarRef(var)) || contains(reducer_.rhs, VarRef(var))))
      return found_.push_back({VarRef(var), e});
    if (pattern.kind() != e.kind()) return;
    const Vec<AnyExpr> parts = parts_of(pattern), others = parts_of(e);
    for (std::size_t k = 0; k < parts.size() && k < others.size(); ++k) match(parts[k], others[k]);
  }
  Vec<AnyExpr> parts_of(const AnyExpr& e) {
    parts_ = {};
    descend(e);
    return std::move(parts_);
  }
  void expr(const AnyExpr& e) override { parts_.push_back(e); }

  const ReducerNode& reducer_;
  Substitution found_;
  NodeSet seen_;
  Vec<AnyExpr> parts_;
};

/// Whether terms are partial results of their own reducer, as rfactor and fold_lanes leave them:
/// tuples that other blocks have folded, two such joined, copies and identities of them. Those
/// blocks are tried; tuples at random in their place would be what no fold gives.
class PartialResults {
 public:
  PartialResults(const StoresOfText& all, const ReducerNode& reducer)
      : all_(all), reducer_(reducer) {}

  bool are(const Vec<AnyExpr>& terms) {
    bool loads = false;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      loads = loads || terms[k].kind() != ExprKind::Const;
      if (!is(terms[k], k)) return false;
    }
    return loads;
  }

 private:
  bool is(const AnyExpr& e, std::size_t output) {
    if (e.kind() == ExprKind::Const) return true;
    if (const auto* s = e.as<SelectNode>()) return is(s->yes, output) && is(s->no, output);
    // Floats wait in temporaries of another type, as change_type leaves them.
    if (const auto* c = e.as<CastNode>(); c && c->dtype.is_float() && c->value.dtype().is_float())
      return is(c->value, output);
    const auto* load = e.as<LoadNode>();
    if (!load)
      return CombineOperands(reducer_, output, e).all([&](const AnyExpr& operand, std::size_t k) {
        return is(operand, k);
      });
    if (const auto* seen = seen_.find(load->buffer.get())) return *seen == output;
    seen_.insert(load->buffer.get(), output);
    const auto* stored = all_.of(load->buffer);
    if (!stored) return false;
    for (const auto& s : *stored) {
      const bool folded = s.fold == &reducer_ && s.output == output;
      if (!folded && (s.fold || !is(s.value, output))) return false;
    }
    return true;
  }

  const StoresOfText& all_;
  const ReducerNode& reducer_;
  NodeMap<std::size_t> seen_;  ///< buffers, and which of the values they hold
};

// Which tuples a reducer of several values meets is only known by the terms.
inline void Parser::try_folds(const Stmt& program) const {
  if (folds_.empty()) return;
  Vec<const ReducerNode*> reducers;
  for (const auto& [block, at] : folds_) {
    const ReducerNode* reducer = block.as<BlockNode>()->reducer.get();
    if (!contains(reducers, reducer)) reducers.push_back(reducer);
  }
  StoresOfText stored(reducers);
  stored.stmt(program);
  for (const auto& [block, at] : folds_) {
    const auto* n = block.as<BlockNode>();
    const ReducerNode& reducer = *n->reducer;
    const auto attempt = [&, at = at](const Vec<AnyExpr>& terms) {
      if (terms.size() != reducer.lhs.size() || PartialResults(stored, reducer).are(terms)) return;
      if (const std::string problem = law_problem(reducer, terms); !problem.empty())
        fail(tokens_[at], "L0507", cat("reducer '", reducer.name, "' ", problem));
    };
    Vec<AnyExpr> terms;
    for (const auto& store : seq_of(n->body))
      if (const auto* term = store.as<StoreNode>()) terms.push_back(term->value);
    attempt(terms);
    for (const auto& [by, others] : stored.written_out())
      if (by == &reducer) attempt(others);
  }
}

}  // namespace lathe::detail
