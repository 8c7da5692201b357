#pragma once

#include <lathe/schedule/core/block_steps.hpp>
#include <lathe/schedule/core/impl/step_results.ipp>
#include <lathe/schedule/core/records.hpp>

namespace lathe {

LATHE_DECL void BlockSteps::atomic(const BlockName& block, Location where) {
  apply(detail::primitive_atomic(), {BlockRef(resolve_block(block, "atomic", where))}, where);
}

LATHE_DECL void BlockSteps::resolve_selects(const BlockName& block, Location where) {
  apply(detail::primitive_resolve_selects(),
        {BlockRef(resolve_block(block, "resolve_selects", where))}, where);
}

LATHE_DECL void BlockSteps::box_domain(const BlockName& block, Location where) {
  apply(detail::primitive_box_domain(), {BlockRef(resolve_block(block, "box_domain", where))},
        where);
}

LATHE_DECL void BlockSteps::select_to_predicate(const BlockName& block, Location where) {
  apply(detail::primitive_select_to_predicate(),
        {BlockRef(resolve_block(block, "select_to_predicate", where))}, where);
}

LATHE_DECL void BlockSteps::compute_at(const BlockName& block, LoopRef loop, Location where) {
  apply(detail::primitive_compute_at(), {BlockRef(resolve_block(block, "compute_at", where)), loop},
        where);
}

LATHE_DECL void BlockSteps::reverse_compute_at(const BlockName& block, LoopRef loop,
                                               Location where) {
  apply(detail::primitive_reverse_compute_at(),
        {BlockRef(resolve_block(block, "reverse_compute_at", where)), loop}, where);
}

LATHE_DECL void BlockSteps::compute_inline(const BlockName& block, Location where) {
  apply(detail::primitive_compute_inline(),
        {BlockRef(resolve_block(block, "compute_inline", where))}, where);
}

LATHE_DECL void BlockSteps::reverse_compute_inline(const BlockName& block, Location where) {
  apply(detail::primitive_reverse_compute_inline(),
        {BlockRef(resolve_block(block, "reverse_compute_inline", where))}, where);
}

LATHE_DECL BlockRef BlockSteps::cache_read(const BlockName& consumer, const BufferName& buffer,
                                           Scope scope, Location where) {
  Arg source = Arg::of_buffer(resolve_buffer(buffer, "cache_read", where));
  return detail::as_block(apply(detail::primitive_cache_read(),
                                {BlockRef(resolve_block(consumer, "cache_read", where)), source,
                                 Arg::of_word(to_text(scope))},
                                where));
}

LATHE_DECL BlockRef BlockSteps::cache_write(const BlockName& block, Scope scope, Location where) {
  return detail::as_block(apply(
      detail::primitive_cache_write(),
      {BlockRef(resolve_block(block, "cache_write", where)), Arg::of_word(to_text(scope))}, where));
}

LATHE_DECL BlockRef BlockSteps::cache_padded(const BlockName& block, const BufferName& buffer,
                                             Location where) {
  Arg read = Arg::of_buffer(resolve_buffer(buffer, "cache_padded", where));
  return detail::as_block(apply(detail::primitive_cache_padded(),
                                {BlockRef(resolve_block(block, "cache_padded", where)), read},
                                where));
}

LATHE_DECL BlockRef BlockSteps::reindex(const BlockName& block, const BufferName& buffer,
                                        Location where) {
  Arg touched = Arg::of_buffer(resolve_buffer(buffer, "reindex", where));
  return detail::as_block(apply(detail::primitive_reindex(),
                                {BlockRef(resolve_block(block, "reindex", where)), touched},
                                where));
}

LATHE_DECL BlockRef BlockSteps::hoist_invariant(const BlockName& block, LoopRef loop,
                                                Location where) {
  return detail::as_block(apply(detail::primitive_hoist_invariant(),
                                {BlockRef(resolve_block(block, "hoist_invariant", where)), loop},
                                where));
}

LATHE_DECL BlockRef BlockSteps::clone(const BlockName& block,
                                      const std::vector<BlockName>& consumers, Location where) {
  Vec<Arg> readers;
  for (const auto& name : consumers)
    readers.push_back(BlockRef(resolve_block(name, "clone", where)));
  return detail::as_block(apply(
      detail::primitive_clone(),
      {BlockRef(resolve_block(block, "clone", where)), Arg::of_list(std::move(readers))}, where));
}

LATHE_DECL BlockRef BlockSteps::decompose_reduction(const BlockName& block, LoopRef loop,
                                                    Location where) {
  return detail::as_block(
      apply(detail::primitive_decompose_reduction(),
            {BlockRef(resolve_block(block, "decompose_reduction", where)), loop}, where));
}

LATHE_DECL BlockRef BlockSteps::fold_lanes(LoopRef loop, int lanes, std::optional<Tail> tail,
                                           Location where) {
  return detail::as_block(apply(detail::primitive_fold_lanes(),
                                {loop, Arg::of_number(lanes), detail::tail_argument(tail)}, where));
}

LATHE_DECL BlockRef BlockSteps::decompose_padding(const BlockName& block, LoopRef loop,
                                                  Location where) {
  return detail::as_block(apply(detail::primitive_decompose_padding(),
                                {BlockRef(resolve_block(block, "decompose_padding", where)), loop},
                                where));
}

LATHE_DECL Vec<BlockRef> BlockSteps::pad_n(const BlockName& block,
                                           const std::vector<Factor>& multiples, std::size_t number,
                                           Location where) {
  Vec<Arg> list;
  for (const auto& m : multiples) list.push_back(Arg::of(m));
  return blocks_of(detail::primitive_pad(),
                   {BlockRef(resolve_block(block, "pad", where)), Arg::of_list(std::move(list))},
                   number, where);
}

LATHE_DECL Vec<BlockRef> BlockSteps::split_terms_n(const BlockName& block, std::size_t number,
                                                   Location where) {
  return blocks_of(detail::primitive_split_terms(),
                   {BlockRef(resolve_block(block, "split_terms", where))}, number, where);
}

LATHE_DECL Vec<BlockRef> BlockSteps::blocks_of(const Primitive& primitive, Args args,
                                               std::size_t number, Location where) {
  BlockSteps next = *this;
  Vec<BlockRef> blocks;
  for (const auto& r : next.apply(primitive, std::move(args), where)) blocks.emplace_back(r.block);
  if (number != kAnyNumber && blocks.size() != number)
    refuse(primitive.name,
           detail::refusal("L0202", "gives " + std::to_string(blocks.size()) + " blocks, not " +
                                        std::to_string(number)),
           where);
  *this = next;
  return blocks;
}

LATHE_DECL BlockRef BlockSteps::share_window(LoopRef loop, Location where) {
  return detail::as_block(apply(detail::primitive_share_window(), {loop}, where));
}
LATHE_DECL BlockRef BlockSteps::rfactor(LoopRef loop, int axis, Location where) {
  return detail::as_block(apply(detail::primitive_rfactor(), {loop, Arg::of_number(axis)}, where));
}

LATHE_DECL void BlockSteps::blockize(LoopRef loop, Location where) {
  apply(detail::primitive_blockize(), {loop}, where);
}

LATHE_DECL void BlockSteps::tensorize(LoopRef loop, std::string_view name, Location where) {
  tensorize(std::move(loop), name, {}, {}, {}, where);
}

LATHE_DECL void BlockSteps::tensorize(LoopRef loop, const TensorIntrin& row, Location where) {
  const TensorIntrin* known = find_tensor_intrin(row.name);
  const bool named = known && known->description == row.description &&
                     known->implementation == row.implementation && known->rounding == row.rounding;
  if (named) return tensorize(std::move(loop), row.name, where);
  tensorize(std::move(loop), row.name, row.description, row.implementation, row.rounding, where);
}

LATHE_DECL void BlockSteps::tensorize(LoopRef loop, std::string_view name,
                                      std::string_view description, std::string_view implementation,
                                      std::string_view rounding, Location where) {
  Args args{loop};
  for (std::string_view text : {name, description, implementation, rounding})
    args.push_back(Arg::of_text(std::string(text)));
  apply(detail::primitive_tensorize(), std::move(args), where);
}

LATHE_DECL void BlockSteps::transform_block_layout(const BlockName& block, LayoutMap map,
                                                   Location where) {
  apply(detail::primitive_transform_block_layout(),
        {BlockRef(resolve_block(block, "transform_block_layout", where)), Arg(std::move(map))},
        where);
}

}  // namespace lathe
