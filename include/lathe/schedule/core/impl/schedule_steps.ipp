#pragma once

#include <lathe/dsl/expr.hpp>
#include <lathe/schedule/core/impl/step_results.ipp>
#include <lathe/schedule/core/records.hpp>
#include <lathe/schedule/core/schedule.hpp>

namespace lathe {

LATHE_DECL Vec<Sample> Schedule::sample_perfect_tile_any(const LoopRef& loop, std::size_t n,
                                                         std::int64_t max_inner,
                                                         std::int64_t min_inner,
                                                         const std::vector<std::int64_t>& decision,
                                                         Location where) {
  Vec<Sample> out;
  for (const auto& r :
       apply(detail::primitive_sample_perfect_tile(),
             {loop, Arg::of_number(static_cast<std::int64_t>(n)), Arg::of_number(max_inner),
              Arg::of_number(min_inner), detail::number_list(decision)},
             where))
    out.emplace_back(r.loop);
  return out;
}

LATHE_DECL Sample Schedule::sample_categorical(const std::vector<std::int64_t>& values,
                                               const std::vector<std::int64_t>& weights,
                                               std::int64_t decision, Location where) {
  return Sample(
      apply(detail::primitive_sample_categorical(),
            {detail::number_list(values), detail::number_list(weights), Arg::of_number(decision)},
            where)[0]
          .loop);
}

LATHE_DECL void Schedule::sample_compute_location(const BlockName& block, std::string_view decision,
                                                  Location where) {
  apply(detail::primitive_sample_compute_location(),
        {BlockRef(resolve_block(block, "sample_compute_location", where)),
         Arg::of_text(std::string(decision))},
        where);
}

LATHE_DECL std::int64_t Schedule::value(const Sample& sample, Location where) const {
  if (const std::int64_t* known = sample.var ? sampled(sample.var) : nullptr) return *known;
  refuse("value", detail::refusal("L0201", "no step of this schedule sampled this number"), where);
}

LATHE_DECL void Schedule::assume(const Expr<bool>& condition, Location where) {
  apply(detail::primitive_assume(), {Arg::of(Factor(condition.any()))}, where);
}

LATHE_DECL void Schedule::annotate(const LoopRef& loop, std::string_view key,
                                   const AttrValue& value, Location where) {
  apply(detail::primitive_annotate(), {loop, Arg::of_text(std::string(key)), Arg::of(value)},
        where);
}

LATHE_DECL void Schedule::annotate(const BlockName& block, std::string_view key,
                                   const AttrValue& value, Location where) {
  apply(detail::primitive_annotate(),
        {BlockRef(resolve_block(block, "annotate", where)), Arg::of_text(std::string(key)),
         Arg::of(value)},
        where);
}

LATHE_DECL void Schedule::unannotate(const LoopRef& loop, std::string_view key, Location where) {
  apply(detail::primitive_unannotate(), {loop, Arg::of_text(std::string(key))}, where);
}

LATHE_DECL void Schedule::unannotate(const BlockName& block, std::string_view key, Location where) {
  apply(detail::primitive_unannotate(),
        {BlockRef(resolve_block(block, "unannotate", where)), Arg::of_text(std::string(key))},
        where);
}

}  // namespace lathe
