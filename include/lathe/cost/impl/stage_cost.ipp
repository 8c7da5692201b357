#pragma once

#include <algorithm>
#include <lathe/cost/stage_model.hpp>
#include <lathe/support/text.hpp>

namespace lathe {

LATHE_DECL std::string_view to_text(Resource resource) {
  static constexpr std::string_view kNames[] = {"operations", "latency", "L1",
                                                "L2",         "L3",      "memory"};
  return kNames[static_cast<std::size_t>(resource)];
}

LATHE_DECL Resource StageCost::limit() const {
  return static_cast<Resource>(std::max_element(seconds.begin(), seconds.end()) - seconds.begin());
}

namespace detail {

inline double cycles_of_vector(const OperationMix& mix, const Machine& machine) {
  return mix.fused / machine.fmas + std::max(0.0, mix.simple) / machine.operations +
         mix.divides * machine.divide;
}

inline std::vector<std::string> loop_texts(const StageModel& model) {
  std::vector<std::string> out;
  for (const auto& l : model.loops) {
    std::string kind(to_text(l.loop->loop_kind));
    if (l.loop->loop_kind == ForKind::serial) kind.clear();
    out.push_back(cat(kind, kind.empty() ? "" : " ", l.loop->var->name, ' ',
                      static_cast<std::int64_t>(l.trip)));
  }
  return out;
}

LATHE_DECL StageCost stage_cost(const StageModel& model, const Machine& machine) {
  StageCost cost;
  cost.name = model.site.block->name();
  cost.loops = loop_texts(model);
  cost.points = model.points;
  cost.operations = model.points * model.mix.counted;
  cost.lanes = model.lanes, cost.threads = model.threads;
  cost.bytes[0] = model.near_bytes;
  for (const auto& access : model.accesses)
    for (std::size_t level = 0; level < 3; ++level) cost.bytes[level + 1] += access.missed[level];
  const double each = cycles_of_vector(model.mix, machine), second = machine.clock * model.threads;
  const double whole = std::max(1.0, machine.vector_bytes / model.mix.widest);
  const double moves = std::max(model.loads / machine.loads, model.stores / machine.stores);
  cost.seconds = {
      model.vectors * each / second,
      model.chain * machine.latency / second,
      (moves + model.gathered * machine.gather) / second,
      cost.bytes[1] / (machine.l2_speed * model.threads),
      cost.bytes[2] / (machine.l3_speed * model.threads),
      cost.bytes[3] / std::min(machine.memory_speed * model.threads,
                               std::max(machine.memory_speed, machine.memory_speed_all))};
  cost.ideal = model.points / whole * each / (machine.clock * machine.cores);
  cost.helps = stage_advice(model, cost, machine);
  return cost;
}

}  // namespace detail
}  // namespace lathe
