#pragma once

#include <lathe/ir/renew.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/loops/split.ipp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline constexpr std::size_t kMaxPoints = 16, kMaxPartitionedNodes = 50000;

struct PartitionPlan {
  LoopSite site;
  Facts facts;         ///< around the loop
  Vec<AnyExpr> edges;  ///< min, the points, end: one more than there are parts

  std::size_t parts() const { return edges.size() - 1; }
  AnyExpr length(std::size_t part, const Facts& known) const {
    return simplify(fold_sub(edges[part + 1], edges[part]), known);
  }
};

// What a point may not hold: the program would compute it where it computed nothing before.
class FindHazard : public Visitor {
 public:
  explicit FindHazard(const Facts& facts) : facts_(facts) {}
  bool found = false;
  void expr(const AnyExpr& e) override {
    const auto* b = e.as<BinaryNode>();
    const bool divides = b && (b->op == BinaryOp::floordiv || b->op == BinaryOp::floormod ||
                               b->op == BinaryOp::div || b->op == BinaryOp::mod);
    found |= e.kind() == ExprKind::Load || e.kind() == ExprKind::Call;
    found |= divides && !prove_le(AnyExpr(1), b->b, facts_);
    descend(e);
  }

 private:
  const Facts& facts_;
};

inline Verdict read_point(const Program& program, const PartitionPlan& plan, const Arg& arg,
                          AnyExpr& out) {
  const VarRef& loop = plan.site.loop->var;
  if (arg.kind == ArgKind::inferred)
    return refusal_at(loop, "L0231", "infer is no point", "use numbers and Dims");
  out = arg.kind == ArgKind::number ? AnyExpr(arg.number) : arg.expr;
  if (out.dtype() != kI64)
    return refusal_at(loop, "L0231",
                      "point " + extent_text(out) + " is " + out.dtype().str() + ", not i64");
  for (const auto& used : free_vars(out))
    if (!is_dim(program, used))
      return refusal_at(loop, "L0231",
                        "point " + extent_text(out) + " names " + in_quotes(used->name) +
                            ", which is no Dim of the program",
                        "use numbers and Dims");
  FindHazard hazard(plan.facts);
  hazard.expr(out);
  if (!hazard.found) return {};
  return refusal_at(loop, "L0231",
                    "point " + extent_text(out) +
                        " holds a load, a call, or a division by what may be less than 1",
                    "use numbers and Dims");
}

// The points rise from the loop's first value to its end. Only parts whose length a Dim decides may
// be empty.
inline Verdict check_points(const PartitionPlan& plan, const Vec<Arg>& points) {
  const ForNode& loop = *plan.site.loop;
  auto range = [](const AnyExpr& from, const AnyExpr& to) {
    return extent_text(from) + ".." + extent_text(to);
  };
  for (std::size_t k = 0; k < plan.parts(); ++k) {
    const AnyExpr &from = plan.edges[k], &to = plan.edges[k + 1];
    const bool rises = prove_le(from, to, plan.facts);
    const bool known = as_const_int(from) && as_const_int(to);
    if (rises && !prove_eq(from, to, plan.facts)) continue;
    return refusal_at(loop.var, "L0231",
                      "points " + factors_text(points) + ": part " + range(from, to) +
                          (rises ? " is empty" : " may end before it begins"),
                      "points rise inside " + range(plan.edges.front(), plan.edges.back()) +
                          (known || rises ? "" : ": a Dim may need .min"));
  }
  return {};
}

// A copy of an init would start the sum again in each part.
inline Verdict check_cut_reductions(const LoopSite& site) {
  const ForNode& loop = *site.loop;
  for (const auto& inside : blocks_below(loop.body)) {
    const BlockNode& block = *inside.block;
    if (!block.init || !feeds(loop, block, IterKind::reduce)) continue;
    const ForNode* outermost = &loop;
    for (const auto& outer : reversed(site.loops))
      if (feeds(*outer, block, IterKind::reduce)) outermost = outer.get();
    return refusal_at(loop.var, "L0231",
                      "loop " + describe(loop) + " feeds the reduction of block " +
                          in_quotes(block.name()) + ", which each part would start anew",
                      "decompose_reduction at loop " + in_quotes(outermost->var->name) +
                          " first: the parts then add to one sum");
  }
  return {};
}

inline Verdict check_clones(const PartitionPlan& plan) {
  const ForNode& loop = *plan.site.loop;
  Buffer allocated;
  each_statement(loop.body, [&](const Stmt& s) {
    if (const auto* a = s.as<AllocNode>()) allocated = a->buffer;
  });
  if (allocated)
    return refusal_at(loop.var, "L0231",
                      "loop " + describe(loop) + " holds the allocation of " +
                          in_quotes(allocated->name) + ", which can't be copied");
  if (node_count(loop.body) * plan.parts() <= kMaxPartitionedNodes) return {};
  return refusal_at(loop.var, "L0231",
                    std::to_string(plan.parts()) + " copies of the body of loop " + describe(loop) +
                        " are more than " + std::to_string(kMaxPartitionedNodes) + " nodes",
                    "use fewer points");
}

inline Verdict plan_partition(const Program& program, const Args& args, PartitionPlan& plan) {
  plan.site = find_loop(program->body, args[0].loop);
  const ForNode& loop = *plan.site.loop;
  const Vec<Arg>& points = args[1].list;
  if (auto no = check_serial_change(loop, Change::replace)) return no;
  if (auto no = check_fixed_bounds(loop)) return no;
  if (points.empty() || points.size() > kMaxPoints)
    return refusal_at(loop.var, "L0231",
                      "takes 1 to " + std::to_string(kMaxPoints) + " points, not " +
                          std::to_string(points.size()));
  plan.facts = facts_on(plan.site.path, program_facts(program));
  plan.edges.push_back(loop.min);
  for (const auto& arg : points) {
    AnyExpr point;
    if (auto no = read_point(program, plan, arg, point)) return no;
    plan.edges.push_back(point);
  }
  plan.edges.push_back(simplify(fold_add(loop.min, loop.extent), program_facts(program)));
  if (auto no = check_points(plan, points)) return no;
  if (auto no = check_cut_reductions(plan.site)) return no;
  return check_clones(plan);
}

/// One part of the loop's body: everything that it binds is new.
class PartOfBody : public RenewVars {
 public:
  PartOfBody(const Program& program, const PartitionPlan& plan, std::size_t part, AnyExpr value,
             NamePool& names)
      : program_(program), dims_(program_facts(program)), plan_(plan), part_(part), names_(names) {
    replace(plan.site.loop->var, std::move(value));
  }

  Stmt stmt(const Stmt& s) override {
    const auto* block = s.as<BlockNode>();
    return block ? clone(*block) : RenewVars::stmt(s);
  }

  Vec<std::pair<BlockTag, std::string>> cloned;  ///< blocks, and what their copy is called

 private:
  Stmt clone(const BlockNode& block) {
    BlockNode out = block;
    out.tag = make_ref<BlockTagNode>(names_.fresh(block.name() + "_" + std::to_string(part_)));
    cloned.emplace_back(block.tag, out.tag->name);
    for (auto& it : out.iters) {
      shrink(it);
      it.binding = expr(it.binding);
    }
    for (auto& it : out.iters) it.var = renew(it.var);
    return descend(make_block(std::move(out)));
  }

  // An iterator that is the loop, shifted, takes the values of this part. Its domain holds for the
  // block wherever it may move: nothing but the dims may prove it.
  void shrink(IterVar& it) const {
    const ForNode& loop = *plan_.site.loop;
    if (!uses_var(it.binding, loop.var)) return;
    AnyExpr shift = simplify(fold_sub(it.binding, AnyExpr(loop.var)), dims_);
    AnyExpr min = simplify(fold_add(plan_.edges[part_], shift), dims_);
    AnyExpr extent = plan_.length(part_, dims_);
    if (!over_dims(program_, min) || !over_dims(program_, extent)) return;
    if (prove_le(it.min, min, dims_) &&
        prove_le(fold_add(min, extent), fold_add(it.min, it.extent), dims_))
      it.min = min, it.extent = extent;
  }

  const Program& program_;
  const Facts dims_;
  const PartitionPlan& plan_;
  const std::size_t part_;
  NamePool& names_;
};

inline void apply_partition(const Program& program, const PartitionPlan& plan, Edit& edit) {
  const ForNode& loop = *plan.site.loop;
  Vec<std::string> used = names_around(plan.site);
  NamePool names(program);
  Vec<Stmt> parts;
  Vec<std::pair<BlockTag, std::string>> copies;
  std::string into;
  for (std::size_t k = 0; k < plan.parts(); ++k) {
    VarRef var = make_var(loop_name(loop.var->name + std::to_string(k), used), loop.var->dtype);
    PartOfBody body(program, plan, k, fold_add(plan.edges[k], AnyExpr(var)), names);
    parts.push_back(
        fresh_lets(make_for(var, AnyExpr(0), plan.length(k, plan.facts), body.stmt(loop.body))));
    edit.results.push_back(LoopRef(var));
    into += (k ? ", " : "") + var->name;
    if (k == 0)
      copies = std::move(body.cloned);
    else
      for (std::size_t b = 0; b < copies.size(); ++b)
        copies[b].second += ", " + body.cloned[b].second;
  }
  edit.program = program.with(replace_at(plan.site.path, make_seq(std::move(parts))));
  edit.consumed.push_back({loop.var, "was partitioned into " + into});
  each_statement(loop.body, [&](const Stmt& s) {
    if (const auto* f = s.as<ForNode>())
      edit.consumed.push_back({f->var, "was copied when " + in_quotes(loop.var->name) +
                                           " was partitioned into " + into});
  });
  for (const auto& [tag, tags] : copies) edit.consumed.push_back({tag, "was copied into " + tags});
}

inline Verdict run_loop_partition(const Program& program, const Args& args, Edit* edit) {
  PartitionPlan plan;
  if (auto no = plan_partition(program, args, plan)) return no;
  if (edit) apply_partition(program, plan, *edit);
  return {};
}

LATHE_DECL const Primitive& primitive_loop_partition() {
  static const Primitive record{
      "loop_partition",
      1,
      {{"loop", ArgKind::loop}, {"points", ArgKind::list, {}, ArgKind::factor}},
      "one loop becomes several, one after the other",
      run_loop_partition};
  return record;
}

}  // namespace lathe::detail
