#pragma once

#include <lathe/dsl/impl/script.ipp>

namespace lathe {
namespace detail {

/// What a block's body touches, but for what it allocates itself.
class ScriptTouches : Visitor {
 public:
  explicit ScriptTouches(const Stmt& body) { stmt(body); }
  Vec<Buffer> read, written;

 private:
  void expr(const AnyExpr& e) override {
    if (const auto* load = e.as<LoadNode>()) note(read, load->buffer);
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<AllocNode>()) own_.push_back(n->buffer);
    if (const auto* n = s.as<StoreNode>()) note(written, n->buffer);
    if (const auto* n = s.as<AtomicNode>()) note(written, n->buffer), note(read, n->buffer);
    descend(s);
  }
  void note(Vec<Buffer>& list, const Buffer& buffer) {
    for (const auto* known : {&own_, &list})
      for (const auto& b : *known)
        if (b == buffer) return;
    list.push_back(buffer);
  }
  Vec<Buffer> own_;
};

/// The iterators of a block, with the loops that they are bound to.
class ScriptIters {
 public:
  ScriptIters(ScriptState& state, const std::string& block, Location where)
      : state_(state), block_(block), where_(where) {}

  void add(const BlockIter& given) {
    const std::string what = cat("iterator ", iters.size(), " of block '", block_, "'");
    check_index_type(cat("the binding of ", what), given.binding(), where_);
    state_.check(cat("the binding of ", what), given.binding(), where_);
    const ScriptLoop* loop = loop_of(given.binding());
    Range domain = given.domain();
    if (!domain.min.get() && !domain.extent.get()) {
      if (!loop)
        throw UserError("L0130", cat(what, " is bound to no loop, so it needs its values"), where_,
                        {}, "give them: lt::spatial(binding, extent)");
      domain = loop->over;
    }
    state_.check_range(what, domain, where_);
    check_loads(what, domain);
    domain = {inside(what, domain.min), inside(what, domain.extent)};
    VarRef var = make_var(cat("v", loop ? loop->var->name : std::to_string(iters.size())));
    iters.push_back({var, domain.min, domain.extent, given.kind(), given.binding()});
    if (loop) bound_.emplace_back(loop->var, AnyExpr(var));
  }
  Vec<IterVar> iters;

 private:
  const ScriptLoop* loop_of(const AnyExpr& binding) const {
    for (const auto& loop : state_.loops)
      if (loop.var.get() == binding.get()) return &loop;
    return nullptr;
  }
  /// Each instance tests its domain: what it reads there must not change.
  void check_loads(const std::string& what, const Range& domain) const {
    const ScriptTouches touched(
        make_seq({make_ref<EvaluateNode>(domain.min), make_ref<EvaluateNode>(domain.extent)}));
    for (const auto& buffer : touched.read)
      if (!state_.is_input(buffer))
        throw UserError(
            "L0122",
            cat("the values of ", what, " depend on '", buffer->name, "', which is no input"),
            where_, {}, "write the statements without a block, or make it an input");
  }
  /// As the block sees it: over the iterators before this one.
  AnyExpr inside(const std::string& what, const AnyExpr& e) const {
    AnyExpr out = substitute(e, bound_);
    for (const auto& var : free_vars(out))
      if (state_.is_hidden_in_blocks(*var))
        throw UserError("L0130",
                        cat("the values of ", what, " depend on '", var->name,
                            "', to which no iterator before it is bound"),
                        where_, {}, cat("bind one: lt::spatial(", var->name, "), before this one"));
    return out;
  }

  ScriptState& state_;
  const std::string& block_;
  Location where_;
  Substitution bound_;
};

/// A block that declares regions is known by them alone, so they must name all that it touches.
inline void check_regions(const BlockNode& block, Location where) {
  if (block.reads.empty() && block.writes.empty()) return;
  const ScriptTouches touched(block.body);
  auto check = [&](const Vec<Buffer>& used, const Vec<Region>& declared, const char* verb) {
    for (const auto& buffer : used) {
      bool named = false;
      for (const auto& region : declared) named = named || region.buffer == buffer;
      if (!named)
        throw UserError("L0130",
                        cat("block '", block.name(), "' declares what it touches, but not that it ",
                            verb, " '", buffer->name, "'"),
                        where, {}, cat("add p.", verb, "(", buffer->name, ", …)"));
    }
  };
  check(touched.read, block.reads, "reads");
  check(touched.written, block.writes, "writes");
}

/// A loop's variable that was given alone: it folds if the block does and stores nowhere by it.
inline void deduce_kinds(BlockNode& block, const Vec<BlockIter>& given) {
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k].has_kind() || !block.reducer) continue;
    bool stored_by = false;
    for (const auto& s : seq_of(block.body))
      for (const auto& index : s.as<StoreNode>()->indices)
        stored_by = stored_by || uses_var(index, block.iters[k].var);
    if (!stored_by) block.iters[k].kind = IterKind::reduce;
  }
}

}  // namespace detail

LATHE_DECL void AnyScript::block(std::string name, const Vec<BlockIter>& iters,
                                 FunctionRef<void(std::span<const VarRef>)> body, Location where) {
  detail::ScriptState& s = state();
  detail::check_name(name, where);
  detail::ScriptIters bound(s, name, where);
  for (const auto& it : iters) bound.add(it);
  BlockNode node(make_ref<BlockTagNode>(name), bound.iters, {});
  auto run = [&] {
    s.claim(s.block_names, "block", name, where);
    Vec<VarRef> vars;
    for (const auto& it : node.iters) {
      vars.push_back(it.var);
      s.declare(it.var.get(), detail::ScriptName::iterator, it.var->name);
    }
    body(vars);
  };
  node.body = s.record(cat("the body of block '", name, "'"), run, where, &node);
  detail::check_regions(node, where);
  detail::deduce_kinds(node, iters);
  if (std::string problem = init_problem(node); !problem.empty())
    throw UserError("L0130", problem, where, {},
                    "store the identity in a block before, and call update instead of reduce");
  s.add(make_block(std::move(node)), where);
}

LATHE_DECL void AnyScript::fold(const ReducerRef& reducer, const Vec<AnyExpr>& elements,
                                const Vec<AnyExpr>& its_terms, bool init, Location where) {
  detail::ScriptState& s = state();
  BlockNode& block = s.current_block("a fold", where);
  if (!reducer) throw UserError("L0116", "an undefined reducer is used", where);
  Vec<AnyExpr> terms;
  for (const auto& term : its_terms) terms.push_back(detail::bound_value(term));
  if (elements.size() != terms.size() || terms.size() != reducer->identity.size())
    throw UserError("L0107",
                    cat("reducer '", reducer->name, "' folds ", reducer->identity.size(),
                        " values, but block '", block.name(), "' gives it ", terms.size(), " for ",
                        elements.size(), " elements"),
                    where);
  s.check_folds_alone(block, where);
  Vec<Stmt> stores;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const LoadNode& to = s.target(elements[k], terms[k], where);
    if (terms[k].dtype() != reducer->identity[k].dtype())
      throw UserError(
          "L0109",
          cat("reducer '", reducer->name, "' folds ", reducer->identity[k].dtype().str(),
              ", but its term in block '", block.name(), "' is ", terms[k].dtype().str()),
          where);
    stores.push_back(make_store(to.buffer, to.indices, terms[k]));
  }
  if (terms.size() > 1) detail::check_reducer_laws(*reducer, terms, where);
  for (auto& store : stores) s.add(std::move(store), where);
  block.reducer = reducer;
  block.init = init;
}

LATHE_DECL void AnyScript::where(const AnyExpr& condition, Location where) {
  BlockNode& block = state().current_block("a where", where);
  state().check_condition(cat("the condition of block '", block.name(), "'"), condition, where);
  block.predicate = fold_and(block.predicate, condition);
}

LATHE_DECL void AnyScript::region(bool writes, const AnyScriptBuffer& buffer, Vec<Range> ranges,
                                  Location where) {
  detail::ScriptState& s = state();
  BlockNode& block = s.current_block(writes ? "a writes" : "a reads", where);
  const std::string what = cat("what block '", block.name(), "' ", writes ? "writes" : "reads",
                               " of '", buffer.name(), "'");
  if (buffer.tensor().is_scalar() || static_cast<int>(ranges.size()) != buffer.rank())
    throw UserError("L0108",
                    cat('\'', buffer.name(), "' has rank ", buffer.rank(), ", but ", what, " has ",
                        ranges.size(), ranges.size() == 1 ? " range" : " ranges"),
                    where);
  for (const auto& range : ranges) s.check_range(what, range, where);
  s.check_known(what, buffer.buffer(), where);
  (writes ? block.writes : block.reads).push_back({buffer.buffer(), std::move(ranges)});
}

}  // namespace lathe
