#pragma once

#include <lathe/analysis/region.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/schedule/primitives/tensor/tensor_match.ipp>

namespace lathe::detail {

/// What an operand of a block does while the loops of a tile run.
struct TileAccess {
  Buffer buffer;
  Vec<AnyExpr> indices;          ///< over the block's iterators; of the tile's first point
  Vec<Vec<std::int64_t>> steps;  ///< by dimension and loop of the tile
  std::size_t operand = 0;
};

struct TensorPlan {
  LoopSite site;      ///< of the outermost loop of the tile
  Vec<ForRef> chain;  ///< the tile's loops, outermost first
  Vec<ForRef> loops;  ///< those of more than one iteration
  BlockSite block;
  Intrinsic intrinsic;
  Facts facts;
  Substitution bindings;     ///< of the iterators, loops of one iteration at their start
  Vec<TileAccess> accesses;  ///< in the order of the match
  Vec<std::int64_t> spans;   ///< by iterator: from a tile's first value to its last
  Vec<std::size_t> loop_of;  ///< by loop of the description; none for those of one iteration
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

inline constexpr std::int64_t kMostTile = 4096;  // iterations of a loop, points of an output

inline Refusal tensor_refusal(const TensorPlan& plan, std::string why, std::string help = {}) {
  return refusal_at(plan.block.block->tag, "L0235",
                    in_quotes(plan.intrinsic.name) + " does not do what block " +
                        in_quotes(plan.block.block->name()) + " does: " + std::move(why),
                    std::move(help));
}

// The loops from the named one inward, each alone in the one around it, and the block in them.
inline Verdict find_tile(const Program& program, const VarRef& loop, TensorPlan& plan) {
  plan.site = find_loop(program->body, loop);
  Stmt s = plan.site.path.back();
  for (const auto* f = s.as<ForNode>(); f; f = s.as<ForNode>()) {
    if (auto no = check_serial_change(*f, Change::replace)) return no;
    const std::int64_t* extent = as_const_int(f->extent);
    if (!extent || *extent < 1 || *extent > kMostTile)
      return refusal_at(
          f->var, "L0235",
          "loop " + describe(*f) + " has no constant extent from 1 to " + std::to_string(kMostTile),
          "split it by what the intrinsic takes");
    plan.chain.emplace_back(f);
    if (!is_const(f->extent, 1)) plan.loops.emplace_back(f);
    s = f->body;
  }
  const auto* block = s.as<BlockNode>();
  if (!block)
    return refusal_at(loop, "L0235",
                      "loop " + describe(*plan.site.loop) + " does not hold one block alone",
                      "an intrinsic takes the place of one block's innermost loops");
  plan.block = find_block(program->body, block->tag);
  plan.facts = facts_on(plan.block.path, program_facts(program));
  return {};
}

inline Verdict check_tile_block(const TensorPlan& plan) {
  const BlockNode& block = *plan.block.block;
  if (block.init)
    return tensor_refusal(plan, "it sets its identity itself", "decompose_reduction it first");
  if (block.predicate.get() || guard_count(block) > 0)
    return tensor_refusal(plan, "it does not run for all points of the loops",
                          "split so that nothing has to be guarded");
  if (!only_store(block) || only_store(block)->mask.get() || !block.reads.empty() ||
      !block.writes.empty())
    return tensor_refusal(plan, "it is not one plain store");
  for (const auto& f : plan.chain)
    for (const auto& inside : plan.chain)
      if (uses_var(inside->min, f->var))
        return tensor_refusal(plan, "loop " + in_quotes(inside->var->name) + " starts where loop " +
                                        in_quotes(f->var->name) + " says");
  return {};
}

// coefficients of the tile's loops; none unless they are numbers from 0 on
inline std::optional<Vec<std::int64_t>> tile_steps(const TensorPlan& plan, const AnyExpr& e) {
  Vec<VarRef> vars;
  for (const auto& f : plan.loops) vars.push_back(f->var);
  std::optional<Affine> affine = affine_of(e, vars, plan.facts);
  Vec<std::int64_t> out;
  for (std::size_t k = 0; affine && k < vars.size(); ++k) {
    std::optional<std::int64_t> step = affine->coef(k);
    if (!step || *step < 0 || *step > kMostOffset) return {};
    out.push_back(*step);
  }
  return affine ? std::optional(std::move(out)) : std::nullopt;
}

// A tile lies in the domain as a whole, at whatever place its first point has there.
inline Verdict plan_iterators(TensorPlan& plan) {
  Substitution units;
  for (const auto& f : plan.chain)
    if (is_const(f->extent, 1)) units.emplace_back(f->var, f->min);
  for (const auto& it : plan.block.block->iters)
    plan.bindings.emplace_back(it.var, substitute(it.binding, units));
  for (std::size_t k = 0; k < plan.bindings.size(); ++k) {
    const IterVar& it = plan.block.block->iters[k];
    const AnyExpr& at = plan.bindings[k].second;
    auto steps = tile_steps(plan, at);
    if (!steps)
      return tensor_refusal(plan, "iterator " + in_quotes(it.var->name) + " = " + str(it.binding) +
                                      " is not linear in the loops");
    std::int64_t span = 0;
    for (std::size_t l = 0; l < steps->size(); ++l)
      span += (*steps)[l] * (*as_const_int(plan.loops[l]->extent) - 1);
    plan.spans.push_back(span);
    if (span == 0) continue;
    if (!prove_le(it.min, at, plan.facts) || !prove_lt(at, fold_add(it.min, it.extent), plan.facts))
      return tensor_refusal(plan,
                            "iterator " + in_quotes(it.var->name) + " = " + str(it.binding) +
                                " may leave its domain inside of a tile",
                            "split by a divisor, or take the full tiles apart with "
                            "loop_partition");
  }
  return {};
}

inline Verdict plan_accesses(TensorPlan& plan) {
  TensorMatch match(plan.intrinsic, *plan.block.block);
  match.run(*only_store(*plan.block.block));
  if (!match.difference.empty()) return tensor_refusal(plan, match.difference);
  for (const auto& b : match.bound) {
    TileAccess access{b.buffer, b.indices, {}, b.operand};
    for (const auto& index : b.indices) {
      auto steps = tile_steps(plan, substitute(index, plan.bindings));
      if (!steps || !is_load_free(index))
        return tensor_refusal(plan, "index " + str(index) + " of " + in_quotes(b.buffer->name) +
                                        " is not linear in the loops");
      access.steps.push_back(std::move(*steps));
    }
    plan.accesses.push_back(std::move(access));
  }
  return {};
}

inline std::string kind_of_loop(const ForNode& loop, const BlockNode& block) {
  const bool spatial = feeds(loop, block, IterKind::spatial),
             reduce = feeds(loop, block, IterKind::reduce);
  if (spatial == reduce) return spatial ? "both" : "unused";
  return reduce ? "reduce" : "spatial";
}

inline std::string loops_text(const Vec<ForRef>& loops, const BlockNode& block) {
  if (loops.empty()) return "none";
  return join(loops, " ", [&](const ForRef& f) {
    const std::string kind = kind_of_loop(*f, block);
    return f->var->name + (kind == "spatial" ? "" : ":" + kind) + "(" + extent_text(f->extent) +
           ")";
  });
}

// Distances between neighbours along a dimension; none where only the call knows.
inline std::optional<std::int64_t> stride_of(const Program& program, const BufferNode& buffer,
                                             std::size_t dimension) {
  const std::size_t rank = buffer.shape.size();
  if (!buffer.strides.empty()) {
    const std::int64_t* s = as_const_int(buffer.strides[dimension]);
    return s ? std::optional(*s) : std::nullopt;
  }
  if (dimension + 1 == rank) return 1;
  if (is_param(program, Buffer(&buffer))) return {};
  std::int64_t stride = 1;
  for (std::size_t d = dimension + 1; d < rank; ++d) {
    const std::int64_t* extent = as_const_int(buffer.shape[d]);
    if (!extent || __builtin_mul_overflow(stride, *extent, &stride)) return {};
  }
  return stride;
}

// How far apart elements are along an axis of the operand; none where only the call knows.
inline std::optional<std::int64_t> tile_stride(const Program& program, const TileAccess& access,
                                               std::size_t loop) {
  std::int64_t out = 0;
  for (std::size_t d = 0; d < access.steps.size(); ++d) {
    if (access.steps[d][loop] == 0) continue;
    auto stride = stride_of(program, *access.buffer, d);
    std::int64_t part = 0;
    if (!stride || __builtin_mul_overflow(*stride, access.steps[d][loop], &part) ||
        __builtin_add_overflow(out, part, &out))
      return {};
  }
  return out;
}

/// Tests one way to see the tile's loops as those of the description.
class TileTest {
 public:
  TileTest(const Program& program, const TensorPlan& plan, const Vec<std::size_t>& loop_of)
      : program_(program), plan_(plan), loop_of_(loop_of) {}

  std::string help;

  /// Why it is none; empty if it is one.
  std::string run() {
    const auto& described = plan_.intrinsic.loops;
    for (std::size_t k = 0; k < described.size(); ++k) {
      if (loop_of_[k] == TensorPlan::none) continue;
      const ForNode &wanted = *described[k], &loop = *plan_.loops[loop_of_[k]];
      if (!is_const(loop.extent, *as_const_int(wanted.extent)) ||
          kind_of_loop(wanted, *plan_.intrinsic.block) != kind_of_loop(loop, *plan_.block.block))
        return other_loops();
    }
    for (const auto& access : plan_.accesses)
      if (std::string why = access_problem(access); !why.empty()) return why;
    const TileAccess& output = plan_.accesses[0];
    if (!apart(output))
      return "two of its points store to one element of " + in_quotes(output.buffer->name);
    return {};
  }

  std::string other_loops() {
    help = "split and reorder so that these are the innermost loops, and tensorize the outermost";
    return "its loops are " + loops_text(plan_.intrinsic.loops, *plan_.intrinsic.block) +
           "; those of the block are " + loops_text(plan_.loops, *plan_.block.block);
  }

 private:
  std::string access_problem(const TileAccess& access) {
    const Intrinsic::Operand& o = plan_.intrinsic.operands[access.operand];
    const std::string name = in_quotes(access.buffer->name), wanted = in_quotes(o.described->name);
    for (std::size_t k = 0; k < loop_of_.size(); ++k) {
      if (loop_of_[k] == TensorPlan::none) continue;
      std::size_t axis = 0;
      while (axis < o.axes.size() && o.axes[axis] != k) ++axis;
      const std::string along = in_quotes(plan_.loops[loop_of_[k]]->var->name);
      auto stride = tile_stride(program_, access, loop_of_[k]);
      const bool moves = varies(access, loop_of_[k]);
      if (axis == o.axes.size() && moves)
        return name + " varies along " + along + ", and " + wanted + " of the description does not";
      if (axis < o.axes.size() && !moves)
        return name + " does not vary along " + along + ", and " + wanted +
               " of the description does";
      if (axis == o.axes.size() || !o.across[axis]) continue;
      const std::int64_t dense = dense_stride(*o.described, axis);
      if (stride && *stride == dense) continue;
      help = "transform_layout of a copy (cache_read, cache_write) lays elements out";
      return "elements of " + name + " along " + along + " are " +
             (stride ? std::to_string(*stride) + " apart" : "apart by what a call says") +
             ", those of " + wanted + " in the description " + std::to_string(dense);
    }
    return {};
  }
  // Different points of the output's loops are different elements.
  bool apart(const TileAccess& access) const {
    Vec<Vec<std::int64_t>> points{Vec<std::int64_t>(access.steps.size(), 0)};
    for (std::size_t loop = 0; loop < plan_.loops.size(); ++loop) {
      if (!varies(access, loop)) continue;
      const std::int64_t extent = *as_const_int(plan_.loops[loop]->extent);
      const std::size_t before = points.size();
      if (static_cast<std::size_t>(extent) * before > kMostTile) return false;
      for (std::int64_t k = 1; k < extent; ++k)
        for (std::size_t p = 0; p < before; ++p) {
          Vec<std::int64_t> next = points[p];
          for (std::size_t d = 0; d < next.size(); ++d) next[d] += k * access.steps[d][loop];
          points.push_back(std::move(next));
        }
    }
    auto less = [](const Vec<std::int64_t>& a, const Vec<std::int64_t>& b) {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    };
    std::sort(points.begin(), points.end(), less);
    for (std::size_t p = 1; p < points.size(); ++p)
      if (!less(points[p - 1], points[p])) return false;
    return true;
  }
  static bool varies(const TileAccess& access, std::size_t loop) {
    for (const auto& steps : access.steps)
      if (steps[loop] != 0) return true;
    return false;
  }
  static std::int64_t dense_stride(const BufferNode& b, std::size_t axis) {
    std::int64_t stride = 1;
    for (std::size_t d = axis + 1; d < b.shape.size(); ++d) stride *= *as_const_int(b.shape[d]);
    return stride;
  }

  const Program& program_;
  const TensorPlan& plan_;
  const Vec<std::size_t>& loop_of_;
};

// Loops correspond in the order that they have, or in another. What is told is of the former.
inline Verdict plan_loops(const Program& program, TensorPlan& plan) {
  const auto& described = plan.intrinsic.loops;
  Vec<std::size_t> order;
  for (std::size_t k = 0; k < plan.loops.size(); ++k) order.push_back(k);
  std::size_t wanted = 0;
  for (const auto& f : described) wanted += !is_const(f->extent, 1);
  Vec<std::size_t> loop_of(described.size(), TensorPlan::none);
  TileTest counted(program, plan, loop_of);
  constexpr std::size_t most = 6;
  if (wanted != order.size() || wanted > most) {
    std::string why = counted.other_loops();
    return tensor_refusal(plan, why, counted.help);
  }
  std::string first, help;
  do {
    for (std::size_t k = 0, next = 0; k < described.size(); ++k)
      if (!is_const(described[k]->extent, 1)) loop_of[k] = order[next++];
    TileTest test(program, plan, loop_of);
    std::string why = test.run();
    if (why.empty()) return plan.loop_of = loop_of, Verdict();
    if (first.empty()) first = why, help = test.help;
  } while (std::next_permutation(order.begin(), order.end()));
  return tensor_refusal(plan, first, help);
}

/// The implementation, with the block's buffers in the place of its parameters.
class PlaceTensors : public Mutator {
 public:
  explicit PlaceTensors(const TensorPlan& plan) : plan_(plan) {}

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    if (!n) return descend(e);
    const TileAccess& to = access(n->buffer);
    return make_load(to.buffer, place(to, n->indices), optional(n->mask));
  }
  Stmt stmt(const Stmt& s) override {
    const auto* n = s.as<StoreNode>();
    if (!n) return descend(s);
    const TileAccess& to = access(n->buffer);
    return make_store(to.buffer, place(to, n->indices), expr(n->value));
  }

 private:
  const TileAccess& access(const Buffer& buffer) const {
    for (const auto& a : plan_.accesses)
      if (plan_.intrinsic.operands[a.operand].implemented == buffer) return a;
    unreachable("an operand that is not bound");
  }

  // Element (q0, q1, …) of the operand lies q0 steps along one loop and q1 along another from where
  // the tile begins.
  Vec<AnyExpr> place(const TileAccess& to, const Vec<AnyExpr>& indices) const {
    const auto& axes = plan_.intrinsic.operands[to.operand].axes;
    Vec<Vec<std::int64_t>> at(to.indices.size());
    std::size_t lanes = 1;
    for (const auto& index : indices)
      lanes = std::max(lanes, static_cast<std::size_t>(index.dtype().lanes));
    for (auto& offsets : at) offsets = Vec<std::int64_t>(lanes, 0);
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      const std::size_t loop = plan_.loop_of[axes[axis]];
      if (loop == TensorPlan::none) continue;
      auto q = lane_offsets(indices[axis]);
      for (std::size_t d = 0; d < at.size(); ++d)
        for (std::size_t l = 0; l < lanes; ++l)
          at[d][l] += to.steps[d][loop] *
                      (*as_const_int(q->base) + q->offsets[q->offsets.size() == 1 ? 0 : l]);
    }
    return in_dimensions(to.indices, at);
  }

  // A dimension in which all lanes are equal takes a scalar, if another one says how many there
  // are.
  static Vec<AnyExpr> in_dimensions(const Vec<AnyExpr>& first, const Vec<Vec<std::int64_t>>& at) {
    Vec<AnyExpr> out;
    bool vector = false;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const bool last = d + 1 == at.size();
      const bool scalar = all_equal(at[d]) && (vector || !last);
      out.push_back(scalar ? fold_add(first[d], AnyExpr(at[d][0])) : scattered(first[d], at[d]));
      vector = vector || !scalar;
    }
    return out;
  }
  // Offsets without a pattern are spelled out.
  static AnyExpr scattered(const AnyExpr& first, const Vec<std::int64_t>& offsets) {
    if (AnyExpr e = with_offsets(first, offsets)) return e;
    Vec<AnyExpr> lanes;
    Vec<int> order;
    for (std::int64_t o : offsets)
      lanes.push_back(fold_add(first, AnyExpr(o))), order.push_back(static_cast<int>(order.size()));
    return make_shuffle(std::move(lanes), std::move(order));
  }

  const TensorPlan& plan_;
};

// The box of the buffer that a tile may touch.
inline Region tile_region(const TensorPlan& plan, const TileAccess& access) {
  Region out{access.buffer, {}};
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    std::int64_t span = 0;
    for (std::size_t l = 0; l < plan.loops.size(); ++l)
      span += access.steps[d][l] * (*as_const_int(plan.loops[l]->extent) - 1);
    out.ranges.push_back({access.indices[d], AnyExpr(span + 1)});
  }
  return out;
}

inline void apply_tensorize(const Program& program, const TensorPlan& plan, Edit& edit) {
  BlockNode block = *plan.block.block;
  Substitution first;
  for (const auto& f : plan.chain) first.emplace_back(f->var, f->min);
  for (std::size_t k = 0; k < block.iters.size(); ++k) {
    IterVar& it = block.iters[k];
    it.binding = simplify(substitute(it.binding, first), plan.facts);
    it.extent = fold_sub(it.extent, AnyExpr(plan.spans[k]));
  }
  for (const auto& access : plan.accesses) {
    const Intrinsic::Operand& o = plan.intrinsic.operands[access.operand];
    if (o.read) block.reads.push_back(tile_region(plan, access));
    if (o.written) block.writes.push_back(tile_region(plan, access));
  }
  block.reducer = {};
  block.body = fresh_lets(PlaceTensors(plan).stmt(plan.intrinsic.implementation->body));
  edit.program = program.with(replace_at(plan.site.path, make_block(std::move(block))));
  for (const auto& f : plan.chain)
    edit.consumed.push_back({f->var, "was tensorized by " + in_quotes(plan.intrinsic.name)});
  if (!plan.intrinsic.rounding.empty())
    edit.reassociates =
        "tensorize: by " + in_quotes(plan.intrinsic.name) + ", " + plan.intrinsic.rounding;
}

inline Verdict find_row(const Args& args, TensorIntrin& row) {
  row.name = args[1].text, row.description = args[2].text, row.implementation = args[3].text;
  row.rounding = args[4].text;
  if (!row.description.empty() || !row.implementation.empty()) return {};
  const TensorIntrin* known = find_tensor_intrin(row.name);
  if (!known)
    return refusal("L0236", "no intrinsic is called " + in_quotes(row.name), known_intrinsics());
  row = *known;
  return {};
}

inline Verdict run_tensorize(const Program& program, const Args& args, Edit* edit) {
  TensorPlan plan;
  TensorIntrin row;
  if (auto no = find_row(args, row)) return no;
  if (auto no = read_intrinsic(row, plan.intrinsic)) return no;
  if (auto no = find_tile(program, args[0].loop, plan)) return no;
  if (auto no = check_tile_block(plan)) return no;
  if (auto no = plan_iterators(plan)) return no;
  if (auto no = plan_accesses(plan)) return no;
  if (auto no = plan_loops(program, plan)) return no;
  if (edit) apply_tensorize(program, plan, *edit);
  return {};
}

LATHE_DECL const Primitive& primitive_tensorize() {
  static const Primitive record{"tensorize",
                                1,
                                {{"loop", ArgKind::loop},
                                 {"intrinsic", ArgKind::text},
                                 {"description", ArgKind::text, "\"\""},
                                 {"implementation", ArgKind::text, "\"\""},
                                 {"rounding", ArgKind::text, "\"\""}},
                                "innermost loops become an instruction",
                                run_tensorize};
  return record;
}

}  // namespace lathe::detail
