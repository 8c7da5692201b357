#pragma once

#include <lathe/schedule/primitives/tensor/intrinsic.ipp>
#include <lathe/schedule/primitives/tensor/place_tensors.ipp>
#include <lathe/schedule/primitives/tensor/tile_loops.ipp>

namespace lathe::detail {

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

// Factors in the order in which they are written, or else turned around.
inline Verdict plan_operands(const Program& program, TensorPlan& plan) {
  Verdict first;
  for (const bool turned : {false, true}) {
    TensorPlan next = plan;
    Verdict no = plan_accesses(next, turned);
    if (!no) no = plan_loops(program, next);
    if (!no) {
      plan = std::move(next);
      return {};
    }
    if (!turned) first = std::move(no);
  }
  return first;
}

inline Verdict run_tensorize(const Program& program, const Args& args, Edit* edit) {
  TensorPlan plan;
  TensorIntrin row;
  if (auto no = find_row(args, row)) return no;
  if (auto no = read_intrinsic(row, plan.intrinsic)) return no;
  if (auto no = find_tile(program, args[0].loop, plan)) return no;
  if (auto no = check_tile_block(plan)) return no;
  if (auto no = plan_iterators(plan)) return no;
  if (auto no = plan_operands(program, plan)) return no;
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
