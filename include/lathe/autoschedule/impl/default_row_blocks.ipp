#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// How many rows of a product's operand are computed before the product takes them: one at a time
// would read the other operand again for each.
class RowBlocks : protected SliceSteps {
 public:
  using SliceSteps::SliceSteps;

 protected:
  // A matrix product: an operand that the axis of the rows does not index is read again for every
  // row, so that rows want to be computed several at a time.
  static bool reuses_along_rows(const BlockNode& block, std::size_t axis) {
    if (!block.reducer || block.iters.size() < axis + 3) return false;
    return !read_again(block, block.iters[axis].var).empty();
  }

  // What is read by terms, and the same for each row.
  static Vec<AccessSite> read_again(const BlockNode& block, const VarRef& row) {
    Vec<AccessSite> out;
    for (const auto& read : reads_of(block)) {
      bool indexed = false, reduced = false;
      for (const auto& index : read.indices) {
        indexed = indexed || uses_var(index, row);
        for (const auto& it : block.iters)
          reduced = reduced || (it.kind == IterKind::reduce && uses_var(index, it.var));
      }
      if (reduced && !indexed) out.push_back(read);
    }
    return out;
  }

  /// Rows of a product that are computed together with its operand.
  struct RowBlock {
    LoopRef loop;
    std::int64_t rows = 0;  ///< 0: no blocks
  };

  // Of a product of few columns whose operand, all rows of it, leaves the second cache: a block of
  // rows stays there, with what it is computed from, as attention's weights do. With many columns
  // a product takes longer than to read its operand from memory.
  RowBlock block_of(const BlockSite& producer, const Vec<BlockSite>& users) const {
    if (users.size() != 1 || !computes_rows(producer)) return {};
    Slices slices(*producer.block, users);
    const double elements = elements_of(producer);
    double held = elements * body_cost(*producer.block).widest;
    for (std::size_t depth = 0; depth < users[0].loops.size(); ++depth) {
      const ForNode& loop = *users[0].loops[depth];
      if (trip(loop) == 1) continue;
      if (slices.at(depth) != Slice::row) return {};
      const auto trips = static_cast<double>(trip(loop));
      if (wants_rows_together(users[0], depth)) {
        const bool few = volume(users[0].loops) <= kFewColumns * elements;
        if (!few || held <= half_of_cache() || !as_const_int(loop.extent)) return {};
        return {LoopRef(loop.var), rows_in(half_of_cache() / (2 * held / trips), trip(loop))};
      }
      slices.next_axis(), held /= trips;
    }
    return {};
  }

  static double elements_of(const BlockSite& at) {
    double count = 1;
    for (const auto& loop : at.loops)
      if (!feeds(*loop, *at.block, IterKind::reduce)) count *= static_cast<double>(trip(*loop));
    return count;
  }

  double half_of_cache() const { return static_cast<double>(target_.l2_bytes) / 2; }

  // So many rows at most, in equal blocks if there are such.
  static std::int64_t rows_in(double most, std::int64_t all) {
    const std::int64_t rows = std::max(static_cast<std::int64_t>(most), kLeastRows);
    if (2 * rows > all) return 0;
    for (std::int64_t equal = rows; 2 * equal > rows; --equal)
      if (all % equal == 0 && equal % kRowsTogether == 0) return equal;
    return rows / kRowsTogether * kRowsTogether;
  }
  static constexpr double kFewColumns = 256;
  static constexpr std::int64_t kLeastRows = 16;

  // Whether what it reads is computed too.
  bool computes_rows(const BlockSite& producer) const {
    const auto reads = reads_of(*producer.block);
    return std::any_of(reads.begin(), reads.end(), [&](const AccessSite& read) {
      return is_private(s_.program()->body, read.buffer);
    });
  }

  // Whether a user is a product of such rows, and no loop inside has as many that share what they
  // read.
  bool wants_rows_together(const BlockSite& user, std::size_t depth) const {
    const BlockNode& block = *user.block;
    const VarRef row = iterator_of(block, *user.loops[depth]);
    if (!row || !block.reducer) return false;
    const Vec<AccessSite> shared = read_again(block, row);
    return std::any_of(shared.begin(), shared.end(), [&](const AccessSite& read) {
      bool is_matrix = false;
      for (std::size_t k = depth + 1; k < user.loops.size(); ++k) {
        const VarRef other = iterator_of(block, *user.loops[k]);
        if (!other || is_reduced(block, other)) continue;
        const bool told = step_of(read.indices, other) != Step::none;
        if (!told && trip(*user.loops[k]) >= kRowsTogether) return false;
        is_matrix = is_matrix || told;
      }
      return is_matrix;
    });
  }
  static constexpr std::int64_t kRowsTogether = 8;

  static VarRef iterator_of(const BlockNode& block, const ForNode& loop) {
    for (const auto& it : block.iters)
      if (uses_var(it.binding, loop.var)) return it.var;
    return {};
  }
  static bool is_reduced(const BlockNode& block, const VarRef& iterator) {
    return std::any_of(block.iters.begin(), block.iters.end(), [&](const IterVar& it) {
      return it.var == iterator && it.kind == IterKind::reduce;
    });
  }
};

}  // namespace detail
}  // namespace lathe
