#pragma once

#include <lathe/analysis/region.hpp>
#include <lathe/analysis/shift.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/schedule/primitives/blocks/separate.ipp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

/// One block of the nest: what its iterators become.
struct TilePart {
  BlockSite site;
  Vec<IterVar> iters, guards;  ///< of the new block that come from this one
  Substitution values;         ///< its iterators over those and the loops of the nest
  Vec<std::size_t> proofs;     ///< iterators whose domain is to hold all that the nest reaches

  const BlockNode& block() const { return *site.block; }
};

struct BlockizePlan {
  LoopSite site;
  TileLoops loops;
  Vec<TilePart> parts;
  Vec<IterVar> iters, guards;  ///< of the new block
  Substitution outer;          ///< loops around the nest, as the iterators tell them
  Stmt nest;                   ///< its bounds over the iterators

  const TilePart& last() const { return parts.back(); }
};

inline Refusal blockize_refusal(const TilePart& part, std::string why, std::string help = {}) {
  return refusal_at(part.block().tag, "L0257",
                    "block " + in_quotes(part.block().name()) + " " + why, std::move(help));
}
inline std::string bound_iterator(const IterVar& it) {
  return "iterator " + in_quotes(it.var->name) + " = " + str(it.binding);
}

// Kinds and marks that loops keep inside a block, where steps on blocks do not see them.
inline Verdict check_tile_loop(const ForNode& loop) {
  if (loop.loop_kind == ForKind::parallel || is_bound(loop.loop_kind))
    return refusal_at(
        loop.var, "L0204",
        "loop " + in_quotes(loop.var->name) + " is " + std::string(to_text(loop.loop_kind)),
        "threads share whole blocks: blockize a loop inside it");
  if (is_shifted(loop))
    return refusal_at(loop.var, "L0204",
                      "the tail of loop " + in_quotes(loop.var->name) +
                          " moves inward, which needs the iterators of the blocks below",
                      "split it with Tail::guard");
  return check_change(loop, Change::enclose);
}

// Loops, sequences and blocks, and nothing else.
inline Verdict check_tile_nest(const BlockizePlan& plan, const Stmt& s) {
  if (s.kind() == StmtKind::Block) return {};
  if (const auto* f = s.as<ForNode>()) {
    if (auto no = check_tile_loop(*f)) return no;
    return check_tile_nest(plan, f->body);
  }
  if (const auto* seq = s.as<SeqNode>()) {
    for (const auto& child : seq->stmts)
      if (auto no = check_tile_nest(plan, child)) return no;
    return {};
  }
  return refusal_at(plan.site.loop->var, "L0257",
                    "loop " + describe(*plan.site.loop) + " holds more than loops and blocks",
                    s.kind() == StmtKind::Alloc ? "allocate buffers around all of the program"
                                                : "give its statements blocks of their own");
}

inline Verdict check_tile_part(const TilePart& part, bool alone) {
  const BlockNode& block = part.block();
  if (block.init)
    return blockize_refusal(part, "is a reduction that sets its identity itself",
                            "decompose_reduction it first");
  if (!block_tags(block.body).empty())
    return blockize_refusal(part, "holds blocks itself", "blockize the loops inside of it");
  if (alone) return {};
  if (!block.reads.empty() || !block.writes.empty())
    return blockize_refusal(part, "declares what it touches, and is not alone in the nest",
                            "blockize a loop that holds this block alone");
  if (const Attribute* a = forbids(block.attributes, Change::join))
    return blockize_refusal(
        part, "carries the annotation " + in_quotes(key_of(*a)) + ", and is not alone in the nest",
        "annotate the block that they become");
  return {};
}

inline Verdict find_tile_parts(const Program& program, const VarRef& loop, BlockizePlan& plan) {
  plan.site = find_loop(program->body, loop);
  for (const auto& s : plan.site.path)
    if (s.kind() == StmtKind::Block || s.kind() == StmtKind::LetStmt)
      return refusal_at(loop, "L0257",
                        "loop " + describe(*plan.site.loop) + " stands inside a " +
                            (s.kind() == StmtKind::Block ? "block" : "let") + " already",
                        "blocks hold loops and statements, not blocks");
  if (auto no = check_tile_nest(plan, Stmt(plan.site.loop))) return no;
  Facts facts = program_facts(program);
  facts.keep_unit_vars();
  plan.loops.outer = vars_of(plan.site.loops);
  plan.loops.around = facts_on(plan.site.path, facts);
  plan.loops.written = buffers_written(plan.site.loop->body);
  for (const auto& below : blocks_below(plan.site.loop->body))
    plan.parts.push_back({find_block(program->body, below.block->tag), {}, {}, {}, {}});
  if (plan.parts.empty())
    return refusal_at(loop, "L0257", "loop " + describe(*plan.site.loop) + " holds no block");
  for (const auto& part : plan.parts)
    if (auto no = check_tile_part(part, plan.parts.size() == 1)) return no;
  return {};
}

// Of a binding that is to be read once for the whole nest.
inline bool reads_written(const TileLoops& loops, const AnyExpr& binding) {
  LoadedBuffers loads;
  loads.expr(binding);
  for (const auto& b : loads.found)
    if (contains(loops.written, b)) return true;
  return false;
}

// The iterator that counts tiles; its domain is to be proven later where that does not follow from
// the old one.
inline bool plan_tile_counter(const Program& program, const TileLoops& loops, const IterVar& it,
                              SeparateBinding b, TilePart& part, IterVar& out, bool& proof) {
  Range domain;
  proof = !domain_in_steps(it, b, loops, domain);
  if (proof && !domain_reached(program, b, loops, domain)) return false;
  if (const std::int64_t* start = as_const_int(domain.min)) {
    b.quotient = fold_sub(b.quotient, AnyExpr(*start));
    b.rest = fold_add(b.rest, fold_mul(b.scale, AnyExpr(*start)));
    domain.min = AnyExpr(0);
  }
  VarRef tile = make_var(it.var->name + "o");
  AnyExpr value = fold_add(fold_add(fold_mul(AnyExpr(tile), b.scale), b.rest), b.inner);
  part.values.emplace_back(it.var, simplify(value, loops.within));
  out = {tile, domain.min, domain.extent, it.kind, simplify(b.quotient, loops.around)};
  return true;
}

// What one iterator becomes: itself, if the nest does not move it; nothing, if only the nest does;
// else an iterator that counts the tiles.
inline Verdict plan_tile_iterator(const Program& program, const TileLoops& loops, std::size_t k,
                                  TilePart& part) {
  IterVar it = part.block().iters[k];
  const bool guard = k + guard_count(part.block()) >= part.block().iters.size();
  Vec<IterVar>& list = guard ? part.guards : part.iters;
  it.min = substitute(it.min, part.values);
  it.extent = substitute(it.extent, part.values);
  if (reads_written(loops, it.binding))
    return blockize_refusal(part, "has " + bound_iterator(it) + ", which the nest itself changes");
  SeparateBinding b;
  if (!separate(it.binding, loops, b))
    return blockize_refusal(
        part, "has " + bound_iterator(it) + ", which mixes loops of the nest with loops around it",
        "split and reorder so that it is a multiple of the outer ones plus the inner ones");
  IterVar counter = it;
  bool proof = false;
  if (!b.quotient) {
    part.values.emplace_back(it.var, simplify(fold_add(b.rest, b.inner), loops.within));
    part.proofs.push_back(k);
    return {};
  }
  if (is_const(b.inner, 0) && !loops.names_inner(it.min) && !loops.names_inner(it.extent)) {
    part.values.emplace_back(it.var, AnyExpr(it.var));
    // It may name loops of the nest that cancel out.
    if (loops.names_inner(it.binding))
      counter.binding = fold_add(fold_mul(b.quotient, b.scale), b.rest);
  } else if (!plan_tile_counter(program, loops, it, b, part, counter, proof))
    return blockize_refusal(part, "has " + bound_iterator(it) + ", whose tiles can't be counted");
  if (proof) part.proofs.push_back(k);
  list.push_back(std::move(counter));
  return {};
}

// One of the first iterators of a list that counts the same.
inline const IterVar* same_iterator(const Vec<IterVar>& known, std::size_t count,
                                    const IterVar& it) {
  for (std::size_t k = 0; k < count; ++k)
    if (known[k].kind == it.kind && same_expr(known[k].binding, it.binding) &&
        same_expr(known[k].min, it.min) && same_expr(known[k].extent, it.extent))
      return &known[k];
  return nullptr;
}
inline bool has_iterator(const TilePart& part, const IterVar& it) {
  return same_iterator(part.iters, part.iters.size(), it) ||
         same_iterator(part.guards, part.guards.size(), it);
}

// All iterators of all blocks. One that not all blocks have must not keep the others from running.
inline Verdict join_tile_iterators(BlockizePlan& plan) {
  for (auto& part : plan.parts)
    for (auto [from, to] :
         {std::pair(&part.iters, &plan.iters), std::pair(&part.guards, &plan.guards)}) {
      Substitution renamed;
      const std::size_t known = to->size();
      for (auto it : *from) {
        it.min = substitute(it.min, renamed), it.extent = substitute(it.extent, renamed);
        if (const IterVar* other = same_iterator(*to, known, it))
          renamed.emplace_back(it.var, AnyExpr(other->var));
        else
          to->push_back(it);
      }
      for (auto& [var, value] : part.values) value = substitute(value, renamed);
    }
  if (plan.parts.size() == 1) return {};
  for (const auto* list : {&plan.iters, &plan.guards})
    for (const auto& it : *list) {
      if (prove_le(it.min, it.binding, plan.loops.around) &&
          prove_lt(it.binding, fold_add(it.min, it.extent), plan.loops.around))
        continue;
      for (const auto& part : plan.parts)
        if (!has_iterator(part, it))
          return blockize_refusal(
              part,
              "runs where " + bound_iterator(it) + " of another block is outside of its domain",
              "blockize a loop that holds one block");
    }
  return {};
}

// Loops around the nest, solved for: what counts tiles tells one loop where the others are known.
inline Substitution told_by_iterators(const BlockizePlan& plan) {
  Substitution out;
  for (const auto& it : plan.iters) {
    std::optional<Affine> sum = affine_of(it.binding, plan.loops.outer, plan.loops.around);
    for (std::size_t k = plan.loops.outer.size(); sum && k-- > 0;) {
      const VarRef& loop = plan.loops.outer[k];
      bool known = false;
      for (const auto& [var, value] : out) known |= var == loop;
      if (known || sum->coef(k) != 1) continue;
      AnyExpr others = simplify(fold_sub(it.binding, AnyExpr(loop)), plan.loops.around);
      out.emplace_back(loop, fold_sub(AnyExpr(it.var), others));
      break;
    }
  }
  return out;
}

// The nest with its bounds over the iterators.
inline Verdict restate_bounds(BlockizePlan& plan) {
  plan.outer = told_by_iterators(plan);
  Facts facts;
  facts.keep_unit_vars();
  class Restate : public Mutator {
   public:
    Restate(const BlockizePlan& plan, const Facts& facts) : plan_(plan), facts_(facts) {}
    Verdict no;
    Stmt stmt(const Stmt& s) override {
      const auto* f = s.as<ForNode>();
      if (s.kind() == StmtKind::Block || !f) return s.kind() == StmtKind::Block ? s : descend(s);
      return make_for(f->var, bound(*f, f->min), bound(*f, f->extent), stmt(f->body), f->loop_kind,
                      f->attributes);
    }

   private:
    AnyExpr bound(const ForNode& loop, const AnyExpr& e) {
      AnyExpr out = e;
      for (std::size_t k = 0; k <= plan_.outer.size() && plan_.loops.names_outer(out); ++k)
        out = simplify(substitute(out, plan_.outer), facts_);
      if (!no && plan_.loops.names_outer(out))
        no = refusal_at(loop.var, "L0257",
                        "the bound " + extent_text(e) + " of loop " + in_quotes(loop.var->name) +
                            " depends on a loop around the nest that no iterator tells",
                        "blockize a loop outside of it");
      return out;
    }
    const BlockizePlan& plan_;
    const Facts& facts_;
  } restate(plan, facts);
  plan.nest = restate.stmt(Stmt(plan.site.loop));
  return restate.no;
}

// Where the nest decides that an instance of a block is in its domain, all that it reaches is.
inline Verdict check_tile_domains(const Program& program, const BlockizePlan& plan) {
  Facts facts = program_facts(program);
  for (const auto& it : plan.iters) facts.bind(it);
  for (const auto& part : plan.parts) {
    BlockSite within = find_block(plan.nest, part.block().tag);
    const Facts inside = facts_on(within.path, facts);
    for (std::size_t k : part.proofs) {
      const IterVar& it = part.block().iters[k];
      const AnyExpr value = substitute(AnyExpr(it.var), part.values);
      const AnyExpr min = substitute(it.min, part.values);
      const AnyExpr end = fold_add(min, substitute(it.extent, part.values));
      if (prove_le(min, value, inside) && prove_lt(value, end, inside)) continue;
      return blockize_refusal(part,
                              "has " + bound_iterator(it) + " in " + str(it.min) + ".." +
                                  str(simplify(fold_add(it.min, it.extent))) +
                                  ", a guard that cuts through tiles",
                              "pad the block, or take the full tiles apart with loop_partition");
    }
  }
  return {};
}

inline Verdict plan_blockize(const Program& program, const VarRef& loop, BlockizePlan& plan) {
  if (auto no = find_tile_parts(program, loop, plan)) return no;
  Facts facts = program_facts(program);
  facts.keep_unit_vars();
  for (auto& part : plan.parts) {
    plan.loops.within = facts_on(part.site.path, facts);
    plan.loops.inner.clear();
    for (std::size_t k = plan.site.loops.size(); k < part.site.loops.size(); ++k)
      plan.loops.inner.push_back(part.site.loops[k]->var);
    for (std::size_t k = 0; k < part.block().iters.size(); ++k)
      if (auto no = plan_tile_iterator(program, plan.loops, k, part)) return no;
  }
  if (auto no = join_tile_iterators(plan)) return no;
  if (auto no = restate_bounds(plan)) return no;
  return check_tile_domains(program, plan);
}

/// The blocks of the nest as what they do.
class OpenBlocks : public Mutator {
 public:
  explicit OpenBlocks(const BlockizePlan& plan) : plan_(plan) {}
  Stmt stmt(const Stmt& s) override {
    const auto* block = s.as<BlockNode>();
    if (!block) return descend(s);
    for (const auto& part : plan_.parts)
      if (part.block().tag == block->tag) return opened(part);
    unreachable("a block of the nest without a plan");
  }

 private:
  static Stmt opened(const TilePart& part) {
    const BlockNode& block = part.block();
    Stmt body = substitute(block.reducer ? expand_update(block) : block.body, part.values);
    const Vec<AnyExpr> conditions = conjuncts(block.predicate);
    for (const auto& condition : reversed(conditions))
      body = make_if(substitute(condition, part.values), std::move(body));
    return body;
  }
  const BlockizePlan& plan_;
};

// Declared regions over all that the nest reaches.
inline void widen_regions(const BlockizePlan& plan, const Facts& facts, BlockNode& block) {
  const TilePart& part = plan.last();
  Vec<VarRef> relaxed = vars_of(find_block(plan.nest, part.block().tag).loops);
  for (auto* list : {&block.reads, &block.writes})
    for (auto& region : *list)
      for (std::size_t d = 0; d < region.ranges.size(); ++d) {
        Range& r = region.ranges[d];
        const AnyExpr min = substitute(r.min, part.values),
                      end = fold_add(min, substitute(r.extent, part.values));
        const Interval first = bounds(min, relaxed, facts), past = bounds(end, relaxed, facts);
        r = {AnyExpr(0), region.buffer->shape[d]};
        if (first.min.get() && past.max.get())
          r = {first.min, simplify(fold_sub(past.max, first.min), facts)};
      }
}

inline void apply_blockize(const Program& program, const BlockizePlan& plan, Edit& edit) {
  const TilePart& last = plan.last();
  BlockNode block = last.block();
  block.iters = plan.iters;
  block.iters.append(plan.guards);
  block.reducer = {}, block.predicate = {};
  set_guard_count(block, plan.guards.size());
  Facts facts = program_facts(program);
  for (const auto& it : plan.iters) facts.bind(it);
  widen_regions(plan, facts_on(find_block(plan.nest, last.block().tag).path, facts), block);
  block.body = OpenBlocks(plan).stmt(plan.nest);
  // A binding that holds a let stands where its iterator was named, often more than once.
  const Stmt whole = fresh_lets(make_block(std::move(block)));
  edit.program = program.with(replace_at(plan.site.path, whole));
  for (const auto& part : plan.parts)
    if (part.block().tag != last.block().tag)
      edit.consumed.push_back(
          {part.block().tag, "became a part of " + in_quotes(last.block().name())});
}

inline Verdict run_blockize(const Program& program, const Args& args, Edit* edit) {
  BlockizePlan plan;
  if (auto no = plan_blockize(program, args[0].loop, plan)) return no;
  if (edit) apply_blockize(program, plan, *edit);
  return {};
}

LATHE_DECL const Primitive& primitive_blockize() {
  static const Primitive record{"blockize",
                                1,
                                {{"loop", ArgKind::loop}},
                                "the nest from a loop inward becomes one block",
                                run_blockize};
  return record;
}

}  // namespace lathe::detail
