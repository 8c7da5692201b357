#pragma once

#include <lathe/schedule/core/impl/step_results.ipp>
#include <lathe/schedule/core/loop_steps.hpp>
#include <lathe/schedule/core/records.hpp>

namespace lathe {

LATHE_DECL Vec<LoopRef> LoopSteps::split_any(LoopRef loop, const Vec<Factor>& factors,
                                             std::optional<Tail> tail, Location where) {
  Vec<Arg> list;
  for (const auto& f : factors) list.push_back(Arg::of(f));
  return step_to_loops(detail::primitive_split(),
                       {loop, Arg::of_list(std::move(list)), detail::tail_argument(tail)}, where);
}

LATHE_DECL LoopRef LoopSteps::fuse(LoopRef outer, LoopRef inner, Location where) {
  return fuse(std::vector<LoopRef>{outer, inner}, where);
}

LATHE_DECL LoopRef LoopSteps::fuse(LoopRef a, LoopRef b, LoopRef c, Location where) {
  return fuse(std::vector<LoopRef>{a, b, c}, where);
}

LATHE_DECL LoopRef LoopSteps::fuse(const std::vector<LoopRef>& loops, Location where) {
  return step_to_loops(detail::primitive_fuse(), {Arg::of(loops)}, where)[0];
}

LATHE_DECL LoopRef LoopSteps::merge(LoopRef first, LoopRef second, Location where) {
  return merge(std::vector<LoopRef>{first, second}, where);
}

LATHE_DECL LoopRef LoopSteps::merge(const std::vector<LoopRef>& loops, Location where) {
  return step_to_loops(detail::primitive_merge(), {Arg::of(loops)}, where)[0];
}

LATHE_DECL Vec<LoopRef> LoopSteps::loop_partition_any(LoopRef loop, const Vec<Factor>& points,
                                                      Location where) {
  Vec<Arg> list;
  for (const auto& p : points) list.push_back(Arg::of(p));
  return step_to_loops(detail::primitive_loop_partition(), {loop, Arg::of_list(std::move(list))},
                       where);
}

LATHE_DECL void LoopSteps::reorder(std::initializer_list<LoopRef> loops, Location where) {
  reorder(std::vector<LoopRef>(loops), where);
}

LATHE_DECL void LoopSteps::reorder(const std::vector<LoopRef>& loops, Location where) {
  apply(detail::primitive_reorder(), {Arg::of(loops)}, where);
}

LATHE_DECL std::array<LoopRef, 4> LoopSteps::tile(LoopRef i, LoopRef j, Factor i_tile,
                                                  Factor j_tile, std::optional<Tail> tail,
                                                  Location where) {
  return detail::take<4>(
      step_to_loops(detail::primitive_tile(),
                    {i, j, Arg::of(i_tile), Arg::of(j_tile), detail::tail_argument(tail)}, where));
}

LATHE_DECL LoopRef LoopSteps::add_unit_loop(const LoopRef& loop, Location where) {
  return step_to_loops(detail::primitive_add_unit_loop(), {loop}, where)[0];
}

LATHE_DECL LoopRef LoopSteps::add_unit_loop(const BlockName& block, Location where) {
  return step_to_loops(detail::primitive_add_unit_loop(),
                       {BlockRef(resolve_block(block, "add_unit_loop", where))}, where)[0];
}

LATHE_DECL void LoopSteps::parallel(LoopRef loop, std::int64_t max_threads, Location where) {
  apply(detail::primitive_parallel(), {loop, Arg::of_number(max_threads)}, where);
}

LATHE_DECL void LoopSteps::vectorize(LoopRef loop, Location where) {
  apply(detail::primitive_vectorize(), {loop}, where);
}

LATHE_DECL void LoopSteps::unroll(LoopRef loop, std::int64_t factor, Location where) {
  apply(detail::primitive_unroll(), {loop, Arg::of_number(factor)}, where);
}

LATHE_DECL void LoopSteps::bind(LoopRef loop, std::string_view axis, Location where) {
  apply(detail::primitive_bind(), {loop, Arg::of_text(std::string(axis))}, where);
}

LATHE_DECL void LoopSteps::partition(LoopRef loop, Partition policy, Location where) {
  apply(detail::primitive_partition(), {loop, Arg::of_word(to_text(policy))}, where);
}

}  // namespace lathe
