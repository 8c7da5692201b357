#pragma once

#include <lathe/schedule/core/impl/step_results.ipp>
#include <lathe/schedule/core/records.hpp>
#include <lathe/schedule/core/storage_steps.hpp>

namespace lathe {

LATHE_DECL void StorageSteps::set_scope(const BufferName& buffer, Scope scope, Location where) {
  apply(detail::primitive_set_scope(),
        {Arg::of_buffer(resolve_buffer(buffer, "set_scope", where)), Arg::of_word(to_text(scope))},
        where);
}

LATHE_DECL void StorageSteps::transform_layout(const BufferName& buffer, LayoutMap map,
                                               Location where) {
  apply(detail::primitive_transform_layout(),
        {Arg::of_buffer(resolve_buffer(buffer, "transform_layout", where)), Arg(std::move(map))},
        where);
}

LATHE_DECL void StorageSteps::storage_align(const BufferName& buffer, std::int64_t dim,
                                            std::int64_t factor, std::int64_t offset,
                                            Location where) {
  apply(detail::primitive_storage_align(),
        {Arg::of_buffer(resolve_buffer(buffer, "storage_align", where)), Arg::of_number(dim),
         Arg::of_number(factor), Arg::of_number(offset)},
        where);
}

LATHE_DECL void StorageSteps::change_type(const BufferName& buffer, DType dtype, Location where) {
  change_type(buffer, dtype, 0, where);
}
LATHE_DECL void StorageSteps::change_type(const BufferName& buffer, DType dtype,
                                          std::int64_t offset, Location where) {
  apply(detail::primitive_change_type(),
        {Arg::of_buffer(resolve_buffer(buffer, "change_type", where)), Arg::of_word(dtype.str()),
         Arg::of_number(offset)},
        where);
}

LATHE_DECL void StorageSteps::hoist_storage(const BufferName& buffer, LoopRef loop,
                                            Location where) {
  apply(detail::primitive_hoist_storage(),
        {Arg::of_buffer(resolve_buffer(buffer, "hoist_storage", where)), loop}, where);
}

LATHE_DECL void StorageSteps::double_buffer(const BufferName& buffer, LoopRef loop,
                                            Location where) {
  apply(detail::primitive_double_buffer(),
        {Arg::of_buffer(resolve_buffer(buffer, "double_buffer", where)), loop}, where);
}

LATHE_DECL void StorageSteps::rolling_buffer(const BlockName& block, LoopRef loop, Location where) {
  apply(detail::primitive_rolling_buffer(),
        {BlockRef(resolve_block(block, "rolling_buffer", where)), loop}, where);
}

LATHE_DECL void StorageSteps::software_pipeline(LoopRef loop,
                                                const std::vector<std::int64_t>& stages,
                                                const std::vector<std::int64_t>& orders,
                                                Location where) {
  apply(detail::primitive_software_pipeline(),
        {loop, detail::number_list(stages), detail::number_list(orders)}, where);
}

LATHE_DECL void StorageSteps::prefetch(const BufferName& buffer, LoopRef loop,
                                       std::int64_t distance, int locality, Location where) {
  apply(detail::primitive_prefetch(),
        {Arg::of_buffer(resolve_buffer(buffer, "prefetch", where)), loop, Arg::of_number(distance),
         Arg::of_number(locality)},
        where);
}

}  // namespace lathe
