#pragma once

#include <algorithm>
#include <lathe/analysis/find.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/cost/explanation.hpp>
#include <lathe/cost/stage_model.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// Arguments move once between the core and the nearest level that holds all of them.
inline void set_roof(Explanation& out, ProgramWork& work) {
  const Machine& m = out.machine;
  for (const auto& p : work.program()->params)
    if (p.buffer) out.bytes += work.bytes_of(p.buffer, {});
  double ideal = 0;
  for (const auto& stage : out.stages) ideal += stage.ideal;
  Resource level = Resource::memory;
  double speed = std::max(m.memory_speed, m.memory_speed_all);
  if (out.bytes <= m.l3_bytes) level = Resource::l3, speed = m.l3_speed * m.cores;
  if (out.bytes <= m.l2_bytes) level = Resource::l2, speed = m.l2_speed * m.cores;
  if (out.bytes <= m.l1_bytes)
    level = Resource::l1, speed = m.vector_bytes * m.loads * m.clock * m.cores;
  const double moved = out.bytes / speed;
  out.bound = ideal >= moved ? Resource::operations : level;
  out.roof = std::max(ideal, moved);
}

// The program in the sizes that costs are told for: a Dim is as large as it may be, or 1024 where
// that is no bound. Quotients by a Dim then say what a loop touches.
inline Program in_numbers(const Program& program, std::vector<std::string>& notes) {
  Substitution sizes;
  for (const auto& d : program->dims) {
    const bool open = d->max >= kLargestDim;
    const std::int64_t multiple = std::max<std::int64_t>(d->multiple_of, 1),
                       least = std::max(kGuessedSize, d->min) + multiple - 1,
                       size = open ? least - least % multiple : d->max - d->max % multiple;
    sizes.emplace_back(d->var, AnyExpr(size));
    if (open) notes.push_back(cat(d->var->name, " is taken to be ", size));
  }
  if (sizes.empty()) return program;
  ProgramNode node = *program;
  for (auto& param : node.params) {
    if (!param.buffer) continue;
    BufferNode sized = *param.buffer;
    for (auto* all : {&sized.shape, &sized.strides})
      for (auto& e : *all) e = simplify(substitute(e, sizes));
    const Buffer to(new BufferNode(std::move(sized)));
    node.body = replace_buffer(node.body, param.buffer, to);
    param.buffer = to;
  }
  node.body = substitute(node.body, sizes);
  node.dims.clear();
  return Program(std::move(node));
}

inline bool holds_blocks(const BlockNode& block) { return !block_tags(block.body).empty(); }

}  // namespace detail

LATHE_DECL double Explanation::operations() const {
  double sum = 0;
  for (const auto& stage : stages) sum += stage.operations;
  return sum;
}
LATHE_DECL double Explanation::predicted() const {
  double sum = 0;
  for (const auto& stage : stages) sum += stage.predicted();
  return sum;
}
LATHE_DECL double Explanation::share() const {
  const double time = measured > 0 ? measured : predicted();
  return time > 0 ? roof / time : 0;
}

LATHE_DECL Explanation explain(const Program& given, const ExplainOptions& options) {
  Explanation out;
  std::vector<std::string> guesses;
  const Program program = detail::in_numbers(given, guesses);
  out.program = program->name;
  out.machine = options.machine.name.empty() ? Machine(host()) : options.machine;
  out.measured = options.measured;
  detail::ProgramWork work(program, out.machine);
  for (const auto& site : blocks_below(program->body)) {
    if (detail::holds_blocks(*site.block)) continue;
    const detail::StageModel model = detail::stage_model(site, work, out.machine);
    out.stages.push_back(detail::stage_cost(model, out.machine));
  }
  if (out.stages.empty())
    out.notes.push_back("a lowered program has no blocks, of which stages could be told");
  detail::set_roof(out, work);
  for (const auto& guess : guesses) out.notes.push_back(guess);
  if (out.machine.source == "table")
    out.notes.push_back("speeds are a table's; measure_machine() measures those of this machine");
  return out;
}

}  // namespace lathe
