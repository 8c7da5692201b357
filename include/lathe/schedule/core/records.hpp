// The table of primitives: adding one is a line here and a file that defines primitive_<name>.
#pragma once

#include <lathe/schedule/core/primitive.hpp>

namespace lathe {

// clang-format off
#define LATHE_PRIMITIVES(X)  \
  /* queries */              \
  X(block)                   \
  X(loops)                   \
  X(loop)                    \
  X(loop_at)                 \
  /* loops */                \
  X(split)                   \
  X(fuse)                    \
  X(loop_partition)          \
  X(merge)                   \
  X(reorder)                 \
  X(tile)                    \
  X(add_unit_loop)           \
  /* kinds of loops */       \
  X(parallel)                \
  X(vectorize)               \
  X(unroll)                  \
  X(bind)                    \
  X(atomic)                  \
  X(partition)               \
  /* places of blocks */     \
  X(compute_at)              \
  X(reverse_compute_at)      \
  X(compute_inline)          \
  X(reverse_compute_inline)  \
  /* copies */               \
  X(cache_read)              \
  X(cache_write)             \
  X(cache_padded)            \
  X(reindex)                 \
  X(hoist_invariant)         \
  X(clone)                   \
  /* blocks */               \
  X(decompose_reduction)     \
  X(rfactor)                 \
  X(split_terms)             \
  X(share_window)            \
  X(fold_lanes)              \
  X(decompose_padding)       \
  X(pad)                     \
  X(resolve_selects)         \
  X(box_domain)              \
  X(select_to_predicate)     \
  X(transform_block_layout)  \
  X(blockize)                \
  X(tensorize)               \
  /* storage */              \
  X(set_scope)               \
  X(transform_layout)        \
  X(storage_align)           \
  X(change_type)             \
  X(hoist_storage)           \
  X(double_buffer)           \
  X(rolling_buffer)          \
  X(software_pipeline)       \
  X(prefetch)                \
  /* marks */                \
  X(annotate)                \
  X(unannotate)              \
  X(assume)                  \
  /* samples */              \
  X(sample_perfect_tile)     \
  X(sample_categorical)      \
  X(sample_compute_location)
// clang-format on

namespace detail {

#define LATHE_PRIMITIVE(name) const Primitive& primitive_##name();
LATHE_PRIMITIVES(LATHE_PRIMITIVE)
#undef LATHE_PRIMITIVE

}  // namespace detail
}  // namespace lathe
