#pragma once

#include <lathe/ir/impl/parser.hpp>
#include <lathe/ir/reducer_law.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// What the statements of a text store to each buffer.
class StoresOfText : public Visitor {
 public:
  struct Stored {
    AnyExpr value;
    const BlockNode* fold = nullptr;  ///< that it is a term of
    std::size_t output = 0;
  };
  void stmt(const Stmt& s) override {
    const auto* block = s.as<BlockNode>();
    if (block && block->reducer) {
      std::size_t output = 0;
      for (const auto& store : seq_of(block->body))
        if (const auto* n = store.as<StoreNode>())
          of_[n->buffer.get()].push_back({n->value, block, output++});
      return;
    }
    if (const auto* n = s.as<StoreNode>()) of_[n->buffer.get()].push_back({n->value});
    if (const auto* n = s.as<AtomicNode>()) of_[n->buffer.get()].push_back({n->value});
    descend(s);
  }
  void expr(const AnyExpr&) override {}

  const Vec<Stored>* of(const Buffer& b) const { return of_.find(b.get()); }

 private:
  NodeMap<Vec<Stored>> of_;
};

/// Whether terms are partial results of their own reducer, as rfactor leaves them: tuples that
/// other blocks have folded, copies and identities of such. Those blocks are tried; tuples at
/// random in their place would be what no fold gives.
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
    const auto* load = e.as<LoadNode>();
    if (!load) return false;
    if (const auto* seen = seen_.find(load->buffer.get())) return *seen == output;
    seen_.insert(load->buffer.get(), output);
    const auto* stored = all_.of(load->buffer);
    if (!stored) return false;
    for (const auto& s : *stored) {
      const bool folded = s.fold && s.fold->reducer.get() == &reducer_ && s.output == output;
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
  StoresOfText stored;
  stored.stmt(program);
  for (const auto& [block, at] : folds_) {
    const auto* n = block.as<BlockNode>();
    Vec<AnyExpr> terms;
    for (const auto& store : seq_of(n->body))
      if (const auto* term = store.as<StoreNode>()) terms.push_back(term->value);
    if (terms.size() != n->reducer->lhs.size() || PartialResults(stored, *n->reducer).are(terms))
      continue;
    if (const std::string problem = law_problem(*n->reducer, terms); !problem.empty())
      fail(tokens_[at], "L0507", cat("reducer '", n->reducer->name, "' ", problem));
  }
}

}  // namespace lathe::detail
