#pragma once

#include <lathe/dsl/expr.hpp>
#include <lathe/schedule/core/records.hpp>
#include <lathe/schedule/core/schedule.hpp>

namespace lathe {
namespace detail {

inline Vec<LoopRef> as_loops(const Args& results) {
  Vec<LoopRef> out;
  for (const auto& r : results) out.emplace_back(r.loop);
  return out;
}
inline BlockRef as_block(const Args& results) { return BlockRef(results[0].block); }
inline Arg number_list(const Vec<std::int64_t>& numbers) {
  Vec<Arg> list;
  for (std::int64_t n : numbers) list.push_back(Arg::of_number(n));
  return Arg::of_list(std::move(list));
}
inline Arg tail_argument(const std::optional<Tail>& tail) {
  return Arg::of_word(tail ? to_text(*tail) : "auto");
}

}  // namespace detail

// The step is taken back where there is no memory for what it gives.
LATHE_DECL Vec<LoopRef> Schedule::step_to_loops(const Primitive& primitive, Args args,
                                                Location where) {
  return detail::within_memory("schedule", where, [&] {
    Schedule next = *this;
    auto loops = detail::as_loops(next.apply(primitive, std::move(args), where));
    *this = next;
    return loops;
  });
}

LATHE_DECL Vec<LoopRef> Schedule::split_any(LoopRef loop, const Vec<Factor>& factors,
                                            std::optional<Tail> tail, Location where) {
  Vec<Arg> list;
  for (const auto& f : factors) list.push_back(Arg::of(f));
  return step_to_loops(detail::primitive_split(),
                       {loop, Arg::of_list(std::move(list)), detail::tail_argument(tail)}, where);
}

LATHE_DECL LoopRef Schedule::fuse(LoopRef outer, LoopRef inner, Location where) {
  return fuse(std::vector<LoopRef>{outer, inner}, where);
}
LATHE_DECL LoopRef Schedule::fuse(LoopRef a, LoopRef b, LoopRef c, Location where) {
  return fuse(std::vector<LoopRef>{a, b, c}, where);
}
LATHE_DECL LoopRef Schedule::fuse(const std::vector<LoopRef>& loops, Location where) {
  return step_to_loops(detail::primitive_fuse(), {Arg::of(loops)}, where)[0];
}

LATHE_DECL LoopRef Schedule::merge(LoopRef first, LoopRef second, Location where) {
  return merge(std::vector<LoopRef>{first, second}, where);
}
LATHE_DECL LoopRef Schedule::merge(const std::vector<LoopRef>& loops, Location where) {
  return step_to_loops(detail::primitive_merge(), {Arg::of(loops)}, where)[0];
}

LATHE_DECL Vec<LoopRef> Schedule::loop_partition_any(LoopRef loop, const Vec<Factor>& points,
                                                     Location where) {
  Vec<Arg> list;
  for (const auto& p : points) list.push_back(Arg::of(p));
  return step_to_loops(detail::primitive_loop_partition(), {loop, Arg::of_list(std::move(list))},
                       where);
}

LATHE_DECL void Schedule::reorder(std::initializer_list<LoopRef> loops, Location where) {
  reorder(std::vector<LoopRef>(loops), where);
}
LATHE_DECL void Schedule::reorder(const std::vector<LoopRef>& loops, Location where) {
  apply(detail::primitive_reorder(), {Arg::of(loops)}, where);
}

LATHE_DECL std::array<LoopRef, 4> Schedule::tile(LoopRef i, LoopRef j, Factor i_tile, Factor j_tile,
                                                 std::optional<Tail> tail, Location where) {
  return take<4>(
      step_to_loops(detail::primitive_tile(),
                    {i, j, Arg::of(i_tile), Arg::of(j_tile), detail::tail_argument(tail)}, where));
}

LATHE_DECL LoopRef Schedule::add_unit_loop(const LoopRef& loop, Location where) {
  return step_to_loops(detail::primitive_add_unit_loop(), {loop}, where)[0];
}
LATHE_DECL LoopRef Schedule::add_unit_loop(const BlockName& block, Location where) {
  return step_to_loops(detail::primitive_add_unit_loop(),
                       {BlockRef(resolve_block(block, "add_unit_loop", where))}, where)[0];
}

LATHE_DECL void Schedule::parallel(LoopRef loop, std::int64_t max_threads, Location where) {
  apply(detail::primitive_parallel(), {loop, Arg::of_number(max_threads)}, where);
}
LATHE_DECL void Schedule::vectorize(LoopRef loop, Location where) {
  apply(detail::primitive_vectorize(), {loop}, where);
}
LATHE_DECL void Schedule::unroll(LoopRef loop, std::int64_t factor, Location where) {
  apply(detail::primitive_unroll(), {loop, Arg::of_number(factor)}, where);
}
LATHE_DECL void Schedule::bind(LoopRef loop, std::string_view axis, Location where) {
  apply(detail::primitive_bind(), {loop, Arg::of_text(std::string(axis))}, where);
}

LATHE_DECL void Schedule::atomic(const BlockName& block, Location where) {
  apply(detail::primitive_atomic(), {BlockRef(resolve_block(block, "atomic", where))}, where);
}

LATHE_DECL void Schedule::partition(LoopRef loop, Partition policy, Location where) {
  apply(detail::primitive_partition(), {loop, Arg::of_word(to_text(policy))}, where);
}

LATHE_DECL void Schedule::compute_at(const BlockName& block, LoopRef loop, Location where) {
  apply(detail::primitive_compute_at(), {BlockRef(resolve_block(block, "compute_at", where)), loop},
        where);
}
LATHE_DECL void Schedule::reverse_compute_at(const BlockName& block, LoopRef loop, Location where) {
  apply(detail::primitive_reverse_compute_at(),
        {BlockRef(resolve_block(block, "reverse_compute_at", where)), loop}, where);
}
LATHE_DECL void Schedule::compute_inline(const BlockName& block, Location where) {
  apply(detail::primitive_compute_inline(),
        {BlockRef(resolve_block(block, "compute_inline", where))}, where);
}
LATHE_DECL void Schedule::reverse_compute_inline(const BlockName& block, Location where) {
  apply(detail::primitive_reverse_compute_inline(),
        {BlockRef(resolve_block(block, "reverse_compute_inline", where))}, where);
}

LATHE_DECL BlockRef Schedule::cache_read(const BlockName& consumer, const BufferName& buffer,
                                         Scope scope, Location where) {
  Arg source = Arg::of_buffer(resolve_buffer(buffer, "cache_read", where));
  return detail::as_block(apply(detail::primitive_cache_read(),
                                {BlockRef(resolve_block(consumer, "cache_read", where)), source,
                                 Arg::of_word(to_text(scope))},
                                where));
}
LATHE_DECL BlockRef Schedule::cache_write(const BlockName& block, Scope scope, Location where) {
  return detail::as_block(apply(
      detail::primitive_cache_write(),
      {BlockRef(resolve_block(block, "cache_write", where)), Arg::of_word(to_text(scope))}, where));
}

LATHE_DECL BlockRef Schedule::reindex(const BlockName& block, const BufferName& buffer,
                                      Location where) {
  Arg touched = Arg::of_buffer(resolve_buffer(buffer, "reindex", where));
  return detail::as_block(apply(detail::primitive_reindex(),
                                {BlockRef(resolve_block(block, "reindex", where)), touched},
                                where));
}

LATHE_DECL BlockRef Schedule::clone(const BlockName& block, const std::vector<BlockName>& consumers,
                                    Location where) {
  Vec<Arg> readers;
  for (const auto& name : consumers)
    readers.push_back(BlockRef(resolve_block(name, "clone", where)));
  return detail::as_block(apply(
      detail::primitive_clone(),
      {BlockRef(resolve_block(block, "clone", where)), Arg::of_list(std::move(readers))}, where));
}

LATHE_DECL BlockRef Schedule::decompose_reduction(const BlockName& block, LoopRef loop,
                                                  Location where) {
  return detail::as_block(
      apply(detail::primitive_decompose_reduction(),
            {BlockRef(resolve_block(block, "decompose_reduction", where)), loop}, where));
}
LATHE_DECL BlockRef Schedule::decompose_padding(const BlockName& block, LoopRef loop,
                                                Location where) {
  return detail::as_block(apply(detail::primitive_decompose_padding(),
                                {BlockRef(resolve_block(block, "decompose_padding", where)), loop},
                                where));
}
LATHE_DECL Vec<BlockRef> Schedule::pad_n(const BlockName& block,
                                         const std::vector<Factor>& multiples,
                                         std::optional<std::size_t> n, Location where) {
  Vec<Arg> list;
  for (const auto& m : multiples) list.push_back(Arg::of(m));
  Schedule next = *this;
  Vec<BlockRef> copies;
  for (const auto& r : next.apply(
           detail::primitive_pad(),
           {BlockRef(resolve_block(block, "pad", where)), Arg::of_list(std::move(list))}, where))
    copies.emplace_back(r.block);
  if (n && copies.size() != *n)
    refuse("pad",
           detail::refusal("L0202", "gives " + std::to_string(copies.size()) + " blocks, not " +
                                        std::to_string(*n)),
           where);
  *this = next;
  return copies;
}
LATHE_DECL BlockRef Schedule::rfactor(LoopRef loop, int axis, Location where) {
  return detail::as_block(apply(detail::primitive_rfactor(), {loop, Arg::of_number(axis)}, where));
}

LATHE_DECL void Schedule::blockize(LoopRef loop, Location where) {
  apply(detail::primitive_blockize(), {loop}, where);
}

LATHE_DECL void Schedule::tensorize(LoopRef loop, std::string_view name, Location where) {
  tensorize(std::move(loop), name, {}, {}, {}, where);
}
LATHE_DECL void Schedule::tensorize(LoopRef loop, const TensorIntrin& row, Location where) {
  const TensorIntrin* known = find_tensor_intrin(row.name);
  const bool named = known && known->description == row.description &&
                     known->implementation == row.implementation && known->rounding == row.rounding;
  if (named) return tensorize(std::move(loop), row.name, where);
  tensorize(std::move(loop), row.name, row.description, row.implementation, row.rounding, where);
}
LATHE_DECL void Schedule::tensorize(LoopRef loop, std::string_view name,
                                    std::string_view description, std::string_view implementation,
                                    std::string_view rounding, Location where) {
  Args args{loop};
  for (std::string_view text : {name, description, implementation, rounding})
    args.push_back(Arg::of_text(std::string(text)));
  apply(detail::primitive_tensorize(), std::move(args), where);
}

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

LATHE_DECL void Schedule::set_scope(const BufferName& buffer, Scope scope, Location where) {
  apply(detail::primitive_set_scope(),
        {Arg::of_buffer(resolve_buffer(buffer, "set_scope", where)), Arg::of_word(to_text(scope))},
        where);
}
LATHE_DECL void Schedule::transform_layout(const BufferName& buffer, LayoutMap map,
                                           Location where) {
  apply(detail::primitive_transform_layout(),
        {Arg::of_buffer(resolve_buffer(buffer, "transform_layout", where)), Arg(std::move(map))},
        where);
}
LATHE_DECL void Schedule::storage_align(const BufferName& buffer, std::int64_t dim,
                                        std::int64_t factor, std::int64_t offset, Location where) {
  apply(detail::primitive_storage_align(),
        {Arg::of_buffer(resolve_buffer(buffer, "storage_align", where)), Arg::of_number(dim),
         Arg::of_number(factor), Arg::of_number(offset)},
        where);
}
LATHE_DECL void Schedule::change_type(const BufferName& buffer, DType dtype, Location where) {
  apply(detail::primitive_change_type(),
        {Arg::of_buffer(resolve_buffer(buffer, "change_type", where)), Arg::of_word(dtype.str())},
        where);
}
LATHE_DECL void Schedule::hoist_storage(const BufferName& buffer, LoopRef loop, Location where) {
  apply(detail::primitive_hoist_storage(),
        {Arg::of_buffer(resolve_buffer(buffer, "hoist_storage", where)), loop}, where);
}
LATHE_DECL void Schedule::double_buffer(const BufferName& buffer, LoopRef loop, Location where) {
  apply(detail::primitive_double_buffer(),
        {Arg::of_buffer(resolve_buffer(buffer, "double_buffer", where)), loop}, where);
}
LATHE_DECL void Schedule::rolling_buffer(const BlockName& block, LoopRef loop, Location where) {
  apply(detail::primitive_rolling_buffer(),
        {BlockRef(resolve_block(block, "rolling_buffer", where)), loop}, where);
}
LATHE_DECL void Schedule::software_pipeline(LoopRef loop, const std::vector<std::int64_t>& stages,
                                            const std::vector<std::int64_t>& orders,
                                            Location where) {
  apply(detail::primitive_software_pipeline(),
        {loop, detail::number_list(stages), detail::number_list(orders)}, where);
}
LATHE_DECL void Schedule::transform_block_layout(const BlockName& block, LayoutMap map,
                                                 Location where) {
  apply(detail::primitive_transform_block_layout(),
        {BlockRef(resolve_block(block, "transform_block_layout", where)), Arg(std::move(map))},
        where);
}
LATHE_DECL void Schedule::prefetch(const BufferName& buffer, LoopRef loop, std::int64_t distance,
                                   int locality, Location where) {
  apply(detail::primitive_prefetch(),
        {Arg::of_buffer(resolve_buffer(buffer, "prefetch", where)), loop, Arg::of_number(distance),
         Arg::of_number(locality)},
        where);
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
