#pragma once

#include <algorithm>
#include <lathe/analysis/instances.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

// Loops as if each ran: where one is empty, there is no instance of which to ask.
inline Vec<IterDomain> running_domains(const Vec<ForRef>& loops, std::size_t from, Facts& facts) {
  Vec<IterDomain> out;
  for (std::size_t k = from; k < loops.size(); ++k) {
    AnyExpr extent = loops[k]->extent;
    const std::int64_t* c = as_const_int(extent);
    if (c && *c < 1) extent = make_var("n");
    if (!c || *c < 1) facts.assume(AnyExpr(1) <= extent);
    out.push_back({loops[k]->var, loops[k]->min, extent});
  }
  return out;
}

/// Whether an expression is a sum of loops with constant bounds, each times more than what those
/// of lower factors come to, as splits and fusions bind iterators: its value tells each loop.
class DigitSum {
 public:
  /// fixed: loops outside, which have one value.
  DigitSum(const Vec<IterDomain>& loops, const Vec<VarRef>& fixed) : loops_(loops), fixed_(fixed) {}

  bool read(const AnyExpr& e) {
    terms_.clear();
    if (!add(e)) return false;
    std::sort(terms_.begin(), terms_.end(),
              [](const Term& a, const Term& b) { return a.scale < b.scale; });
    std::int64_t below = 0;  // the largest sum of the digits so far
    for (const Term& t : terms_) {
      std::int64_t most = 0;
      if (t.scale <= below || __builtin_mul_overflow(t.scale, t.last, &most) ||
          __builtin_add_overflow(below, most, &below))
        return false;
    }
    return true;
  }
  void mark(Vec<bool>& told) const {
    for (const Term& t : terms_) told[t.loop] = true;
  }

 private:
  struct Term {
    std::size_t loop;
    std::int64_t scale, last;
  };

  bool add(const AnyExpr& e) {
    if (e.kind() == ExprKind::Const || e.kind() == ExprKind::Var) return add_term(e, 1);
    const auto* n = e.as<BinaryNode>();
    if (n && n->op == BinaryOp::add) return add(n->a) && add(n->b);
    const std::int64_t* scale = n && n->op == BinaryOp::mul ? as_const_int(n->b) : nullptr;
    return scale && *scale > 0 && add_term(n->a, *scale);
  }
  bool add_term(const AnyExpr& e, std::int64_t scale) {
    if (e.kind() == ExprKind::Const) return true;
    const auto* v = e.as<VarNode>();
    if (!v) return false;
    for (const auto& var : fixed_)
      if (var.get() == v) return true;
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      if (loops_[k].var.get() != v) continue;
      for (const Term& t : terms_)
        if (t.loop == k) return false;
      const std::int64_t* extent = as_const_int(loops_[k].extent);
      if (!extent || !as_const_int(loops_[k].min)) return false;
      terms_.push_back({k, scale, *extent - 1});
      return true;
    }
    return false;
  }

  const Vec<IterDomain>& loops_;
  const Vec<VarRef>& fixed_;
  Vec<Term> terms_;
};

/// Which loops the values of some expressions tell. A guard of a split (guard_count) names a
/// position that lies in a range of its own, shorter than its loops reach: it takes their place,
/// and where the expressions tell it, it tells the loops.
class DeterminedLoops {
 public:
  /// fixed: loops outside of these.
  DeterminedLoops(const BlockNode& block, Vec<IterDomain> loops, Vec<VarRef> fixed,
                  const Facts& facts)
      : loops_(std::move(loops)),
        fixed_(std::move(fixed)),
        facts_(facts),
        known_(loops_.size(), false) {
    for (std::size_t k = 0; k < loops_.size(); ++k) known_[k] = is_const(loops_[k].extent, 1);
    const std::size_t guards = guard_count(block), all = block.iters.size();
    for (std::size_t k = all - guards; k < all; ++k) guards_.push_back(guard_of(block.iters[k]));
    // Splits of a part of a split come later, and name loops inside of it.
    for (std::size_t k = guards_.size(); k-- > 0;)
      for (std::size_t outer = 0; outer < k; ++outer)
        guards_[outer].value = over_guard(guards_[outer].value, guards_[k]);
  }

  void mark(const Vec<AnyExpr>& targets) {
    mark_digits(targets);
    if (tells_all(targets)) return;
    mark_plain(targets);
    if (guards_.empty() || tells_all(targets)) return;
    Vec<AnyExpr> over;
    for (AnyExpr e : targets) {
      for (std::size_t k = guards_.size(); k-- > 0;) e = over_guard(e, guards_[k]);
      over.push_back(std::move(e));
    }
    Vec<IterDomain> inputs;
    for (const auto& g : guards_) inputs.push_back(g.domain);
    for (const auto& d : loops_) inputs.push_back(d);
    Vec<bool> told = solve(over, inputs);
    for (std::size_t k = 0; k < guards_.size(); ++k) {
      if (!told[k]) continue;
      const Vec<bool> inner = solve({guards_[k].value}, inputs);
      for (std::size_t v = 0; v < inner.size(); ++v) told[v] = told[v] || inner[v];
    }
    for (std::size_t k = 0; k < loops_.size(); ++k)
      known_[k] = known_[k] || told[guards_.size() + k];
  }
  /// Nothing more can be told by these: what they don't name, they never tell.
  bool tells_all(const Vec<AnyExpr>& targets) const {
    for (std::size_t k = 0; k < loops_.size(); ++k)
      for (const auto& e : targets)
        if (!known_[k] && uses_var(e, loops_[k].var)) return false;
    return true;
  }
  const Vec<bool>& known() const { return known_; }

 private:
  struct Guard {
    IterDomain domain;
    AnyExpr value;  ///< over the loops, and over guards inside
  };

  static Guard guard_of(const IterVar& it) {
    return {{make_var(it.var->name), it.min, it.extent}, it.binding};
  }
  // What needs no proof.
  void mark_digits(const Vec<AnyExpr>& targets) {
    DigitSum sum(loops_, fixed_);
    for (const auto& e : targets)
      if (sum.read(e)) sum.mark(known_);
  }
  void mark_plain(const Vec<AnyExpr>& targets) {
    const Vec<bool> told = solve(targets, loops_);
    for (std::size_t k = 0; k < told.size(); ++k) known_[k] = known_[k] || told[k];
  }
  // e with the guard's variable for its value, if that takes all of its loops out of e.
  AnyExpr over_guard(const AnyExpr& e, const Guard& guard) const {
    const AnyExpr rest = simplify(fold_sub(e, guard.value), facts_);
    for (const auto& v : free_vars(guard.value))
      for (const auto& d : loops_)
        if (d.var == v && uses_var(rest, v)) return e;
    return fold_add(rest, AnyExpr(guard.domain.var));
  }
  // Of inputs that the expressions name; others are told by nothing.
  Vec<bool> solve(const Vec<AnyExpr>& targets, const Vec<IterDomain>& inputs) const {
    Vec<bool> told(inputs.size(), false);
    Vec<IterDomain> named;
    Vec<std::size_t> which;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      bool used = false;
      for (const auto& e : targets) used = used || uses_var(e, inputs[k].var);
      if (!used) continue;
      named.push_back(inputs[k]);
      which.push_back(k);
    }
    if (named.empty()) return told;
    const IterMap map = iter_map(targets, named, {}, facts_);
    for (std::size_t k = 0; k < map.determined.size(); ++k) told[which[k]] = map.determined[k];
    return told;
  }

  Vec<IterDomain> loops_;
  Vec<VarRef> fixed_;
  const Facts& facts_;
  Vec<bool> known_;
  Vec<Guard> guards_;
};

LATHE_DECL bool bindings_over_guards(const BlockNode& block, Vec<IterDomain>& loops,
                                     const Facts& facts, Vec<AnyExpr>& bindings) {
  const std::size_t own = block.iters.size() - guard_count(block);
  bindings.clear();
  for (const auto& it : block.iters) bindings.push_back(it.binding);
  // Splits of a part of a split come later, and name loops inside of it.
  for (std::size_t g = block.iters.size(); g-- > own;) {
    const IterVar& guard = block.iters[g];
    const AnyExpr value = bindings[g], last = fold_add(guard.min, guard.extent);
    Vec<IterDomain> named;
    for (const auto& d : loops)
      if (uses_var(value, d.var)) named.push_back(d);
    const IterMap map = iter_map({value}, named, {}, facts);
    if (!map.covering || !prove_le(map.sums[0].min, guard.min, facts) ||
        !prove_le(last, fold_add(map.sums[0].min, map.sums[0].extent), facts))
      return false;
    const VarRef var = make_var(guard.var->name);
    loops.push_back({var, guard.min, guard.extent});
    bindings.resize(g);
    for (auto& e : bindings) {
      const AnyExpr rest = simplify(fold_sub(e, value), facts);
      bool names = false, left = false;
      for (const auto& d : named)
        names = names || uses_var(e, d.var), left = left || uses_var(rest, d.var);
      if (names && left) return false;
      if (names) e = fold_add(rest, AnyExpr(var));
    }
    loops.erase_if([&](const IterDomain& d) {
      return std::any_of(named.begin(), named.end(),
                         [&](const IterDomain& n) { return n.var == d.var; });
    });
  }
  return true;
}

// The loop before which the init of a block stands, or the block itself.
inline std::size_t init_stands_at(const Vec<Stmt>& path, const BlockNode& block) {
  for (std::size_t k = 0; k + 1 < path.size(); ++k)
    if (const auto* f = path[k].as<ForNode>(); f && feeds(*f, block, IterKind::reduce)) return k;
  return path.size() - 1;
}

}  // namespace detail

LATHE_DECL Instances::Instances(const BlockSite& site, const Facts& facts)
    : site_(site), facts_(facts_on(site.path, facts)) {
  while (first_ < site.loops.size() && !feeds(*site.loops[first_], *site.block, IterKind::reduce))
    ++first_;
}

// For each loop from `from` inward, whether the iterators tell its value. All of them together tell
// the most; where one of them has no form that can be read, those tell that can. What is told of
// all loops at once is told with the outer ones fixed, which may be in the way of a form.
LATHE_DECL Vec<bool> Instances::determined(std::size_t from, bool by_point) const {
  Facts facts = facts_;
  Vec<IterDomain> domain = detail::running_domains(site_.loops, from, facts);
  const BlockNode& block = *site_.block;
  Vec<VarRef> fixed;
  for (std::size_t k = 0; k < from; ++k) fixed.push_back(site_.loops[k]->var);
  detail::DeterminedLoops loops(block, std::move(domain), std::move(fixed), facts);
  Vec<AnyExpr> targets;
  for (std::size_t k = 0; k + guard_count(block) < block.iters.size(); ++k)
    if (!by_point || block.iters[k].kind != IterKind::reduce)
      targets.push_back(block.iters[k].binding);
  if (!targets.empty()) loops.mark(targets);
  for (std::size_t k = 0; !loops.tells_all(targets) && targets.size() > 1 && k < targets.size();
       ++k)
    loops.mark({targets[k]});
  Vec<bool> known = loops.known();
  if (loops.tells_all(targets) || from == 0) return known;
  const Vec<bool> all = determined(0, by_point);
  for (std::size_t k = 0; k < known.size(); ++k) known[k] = known[k] || all[from + k];
  return known;
}

LATHE_DECL ForRef Instances::repeats_point(std::size_t from, std::size_t to) const {
  if (from >= to) return {};
  const Vec<bool> told = told_by_point(from);
  for (std::size_t k = from; k < to; ++k)
    if (!told[k - from]) return site_.loops[k];
  return {};
}

LATHE_DECL ForRef Instances::repeats_instance(std::size_t from) const {
  if (from >= site_.loops.size()) return {};
  const Vec<bool> known = determined(from, false);
  for (std::size_t k = from; k < site_.loops.size(); ++k)
    if (!known[k - from]) return site_.loops[k];
  return {};
}

LATHE_DECL ForRef Instances::repeats_update() const {
  if (!site_.block->reducer || is_idempotent(classify(*site_.block->reducer))) return {};
  return repeats_instance(begin_of_fold());
}

// At most one for each iteration of the loops that the point does not tell; and at most one for
// each point of the reduce domains, where none of them comes twice.
LATHE_DECL std::optional<std::int64_t> Instances::most_updates() const {
  const std::size_t from = begin_of_fold();
  auto product = [](const Vec<ConstInterval>& counts) -> std::optional<std::int64_t> {
    ConstInterval all{1, 1};
    for (const auto& c : counts) {
      if (!c.has_max()) return std::nullopt;
      all = detail::range_mul(all, {0, std::max<std::int64_t>(c.max, 0)});
    }
    return all.has_max() ? std::optional<std::int64_t>(all.max) : std::nullopt;
  };
  Vec<ConstInterval> iterations;
  const Vec<bool> known = determined(from, true);
  for (std::size_t k = from; k < site_.loops.size(); ++k)
    if (!known[k - from]) iterations.push_back(const_bounds(site_.loops[k]->extent, facts_));
  std::optional<std::int64_t> most = product(iterations);
  if (repeats_instance(from)) return most;
  const BlockNode& block = *site_.block;
  Facts facts = facts_;
  for (const auto& it : block.iters) facts.bind(it);
  Vec<ConstInterval> domains;
  for (std::size_t k = 0; k + guard_count(block) < block.iters.size(); ++k)
    if (block.iters[k].kind == IterKind::reduce)
      domains.push_back(const_bounds(block.iters[k].extent, facts));
  const std::optional<std::int64_t> points = product(domains);
  if (!most || (points && *points < *most)) return points;
  return most;
}

namespace detail {

// What a statement around a block says of where its init stores.
inline void add_path_terms(const Stmt& s, Vec<AnyExpr>& out) {
  if (const auto* f = s.as<ForNode>()) out.push_back(f->min), out.push_back(f->extent);
  if (const auto* branch = s.as<IfNode>()) out.push_back(branch->condition);
  if (const auto* let = s.as<LetStmtNode>()) out.push_back(let->value);
  const auto* block = s.as<BlockNode>();
  if (!block) return;
  if (block->predicate) out.push_back(block->predicate);
  for (const auto& it : block->iters)
    for (const auto* e : {&it.min, &it.extent, &it.binding}) out.push_back(*e);
}

}  // namespace detail

LATHE_DECL Vec<Buffer> init_inputs(const BlockSite& site, std::size_t from) {
  const BlockNode& block = *site.block;
  if (!block.init) return {};
  Vec<AnyExpr> read = init_conjuncts(block);
  for (const auto& it : block.iters) {
    if (it.kind == IterKind::reduce) continue;
    for (const auto* e : {&it.min, &it.extent, &it.binding}) read.push_back(*e);
  }
  each_statement(block.body, [&](const Stmt& s) {
    if (const auto* store = s.as<StoreNode>()) read.append(store->indices);
  });
  for (std::size_t k = from; k + 1 < site.path.size(); ++k)
    detail::add_path_terms(site.path[k], read);
  detail::LoadedBuffers loads;
  for (const auto& e : read)
    if (e.kind() != ExprKind::Const && e.kind() != ExprKind::Var) loads.expr(e);
  return loads.found;
}

LATHE_DECL Vec<StaleInit> stale_inits(const Stmt& root) {
  return stale_inits(detail::find_inits(root));
}
LATHE_DECL Vec<StaleInit> stale_inits(const Vec<BlockSite>& inits) {
  Vec<StaleInit> out;
  for (const auto& site : inits) {
    const std::size_t from = detail::init_stands_at(site.path, *site.block);
    const Vec<Buffer> inputs = init_inputs(site, from);
    if (inputs.empty()) continue;
    Vec<Buffer> found;
    detail::any_use(site.path[from], [&](const detail::BufferUse& use) {
      if (!use.is_write || !contains(inputs, use.buffer) || contains(found, use.buffer))
        return false;
      found.push_back(use.buffer);
      Vec<VarRef> loops;
      for (const auto& loop : site.loops) loops.push_back(loop->var);
      const BlockTag writer = use.block ? use.block->tag : BlockTag();
      out.push_back({site.block->tag, use.buffer, writer, std::move(loops)});
      return false;
    });
  }
  return out;
}

LATHE_DECL bool is_idempotent(const ReducerInfo& reducer) {
  if (!reducer.op || reducer.kind != ReducerClass::reorder) return false;
  switch (*reducer.op) {
    case BinaryOp::min:
    case BinaryOp::max:
    case BinaryOp::and_:
    case BinaryOp::or_:
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
      return true;
    default:
      return false;
  }
}

}  // namespace lathe
