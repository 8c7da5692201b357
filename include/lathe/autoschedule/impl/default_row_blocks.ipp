#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <utility>
#include <vector>

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
    const Vec<AccessSite> again = read_again(block, block.iters[axis].var);
    return std::any_of(again.begin(), again.end(),
                       [&](const AccessSite& read) { return tells_places(block, read); });
  }

  // Weights of a window are the same for each place of a row, which keeps them in registers.
  static bool tells_places(const BlockNode& block, const AccessSite& read) {
    return std::any_of(block.iters.begin(), block.iters.end(), [&](const IterVar& it) {
      return it.kind == IterKind::spatial && step_of(read.indices, it.var) != Step::none;
    });
  }

  // What is read by terms, and the same for each row.
  static Vec<AccessSite> read_again(const BlockNode& block, const VarRef& row) {
    return reads_by_terms(block, [&](const AnyExpr& index) { return uses_var(index, row); });
  }
  // The same for several rows that follow each other, as keys are that heads share: row / 4.
  static Vec<AccessSite> read_by_groups(const BlockNode& block, const VarRef& row) {
    return reads_by_terms(block, [&](const AnyExpr& index) {
      return uses_var(index, row) && affine_of(index, {row}).has_value();
    });
  }
  template <class F>
  static Vec<AccessSite> reads_by_terms(const BlockNode& block, const F& tells_row) {
    Vec<AccessSite> out;
    for (const auto& read : reads_of(block)) {
      bool told = false, reduced = false;
      for (const auto& index : read.indices) {
        told = told || tells_row(index);
        for (const auto& it : block.iters)
          reduced = reduced || (it.kind == IterKind::reduce && uses_var(index, it.var));
      }
      if (reduced && !told) out.push_back(read);
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
  // a product takes longer than to read its operand from memory. The producer is the operand, or
  // the product, of which its user takes a block of rows then.
  RowBlock block_of(const BlockSite& producer, const Vec<BlockSite>& users) const {
    if (users.size() != 1) return {};
    Slices slices(*producer.block, users);
    double outside = 1;
    for (std::size_t depth = 0; depth < users[0].loops.size(); ++depth) {
      const ForNode& loop = *users[0].loops[depth];
      if (trip(loop) == 1) continue;
      if (slices.at(depth) != Slice::row) return {};
      if (wants_rows_together(users[0], depth)) return block_in(users[0], producer, loop, outside);
      if (shares_group(*producer.block, slices.axis()))
        if (const BlockSite operand = operand_of(producer, slices.axis()); operand.block)
          return block_in(producer, operand, loop, outside);
      slices.next_axis(), outside *= static_cast<double>(trip(loop));
    }
    return {};
  }

  // `outside`: iterations of the loops around the one over rows.
  RowBlock block_in(const BlockSite& product, const BlockSite& operand, const ForNode& rows,
                    double outside) const {
    const double elements = elements_of(operand);
    const double held = elements * body_cost(*operand.block).widest / outside;
    const bool few = volume(product.loops) <= kFewColumns * elements;
    if (!few || held <= half_of_cache() || !as_const_int(rows.extent) || !computes_rows(operand))
      return {};
    const double row = held / static_cast<double>(trip(rows));
    return {LoopRef(rows.var), rows_in(half_of_cache() / (2 * row), trip(rows))};
  }

  // Loops of what reads a product, in the order of the axes that its operand has: where heads lie
  // inside of places, weights are computed head by head, and so is the product then. Empty: they
  // are, or all of the operand stays in the second cache.
  Vec<LoopRef> by_axes_of_operand(const BlockSite& producer, const Vec<BlockSite>& users) const {
    const BlockSite operand = users.size() == 1 ? operand_of(producer) : BlockSite();
    if (!operand.block || !computes_rows(operand) ||
        elements_of(operand) * body_cost(*operand.block).widest <= half_of_cache())
      return {};
    std::vector<std::pair<std::size_t, LoopRef>> found;  // with axes of the operand
    Slices slices(*producer.block, users);
    for (std::size_t depth = 0; depth < users[0].loops.size(); ++depth) {
      const ForNode& loop = *users[0].loops[depth];
      if (trip(loop) == 1) continue;
      if (slices.at(depth) != Slice::row) break;
      const std::size_t axis = axis_of_operand(producer, operand, slices.axis());
      if (axis == kNoAxis) break;
      found.emplace_back(axis, LoopRef(loop.var));
      slices.next_axis();
    }
    const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (std::is_sorted(found.begin(), found.end(), before)) return {};
    std::stable_sort(found.begin(), found.end(), before);
    Vec<LoopRef> order;
    for (const auto& [axis, loop] : found) order.push_back(loop);
    return order;
  }

  static constexpr std::size_t kNoAxis = static_cast<std::size_t>(-1);
  // Along which axis of its operand a product reads by one of its own.
  static std::size_t axis_of_operand(const BlockSite& product, const BlockSite& operand,
                                     std::size_t axis) {
    const Buffer made = writes_of(*operand.block)[0].buffer;
    for (const auto& read : reads_of(*product.block)) {
      if (read.buffer != made) continue;
      for (std::size_t k = 0; k < read.indices.size(); ++k)
        if (read.indices[k].get() == product.block->iters[axis].var.get()) return k;
    }
    return kNoAxis;
  }

  // What computes the rows that a product takes, several for each part of the other operand.
  BlockSite operand_of(const BlockSite& product) const {
    for (std::size_t axis = 0; axis < product.block->iters.size(); ++axis)
      if (product.block->iters[axis].kind == IterKind::spatial &&
          shares_group(*product.block, axis))
        if (const BlockSite operand = operand_of(product, axis); operand.block) return operand;
    return {};
  }
  BlockSite operand_of(const BlockSite& product, std::size_t axis) const {
    for (const auto& read : reads_of(*product.block)) {
      bool by_row = false;
      for (const auto& index : read.indices)
        by_row = by_row || uses_var(index, product.block->iters[axis].var);
      const auto makers = writers(s_.program()->body, read.buffer);
      if (by_row && makers.size() == 1 && is_private(s_.program()->body, read.buffer))
        return makers[0];
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
  // 256 multiply-adds take 16 cycles with AVX2, in which memory moves over ten elements (Zen 3).
  static constexpr double kFewColumns = 256;
  // Four tiles of registers, which share what they read of the other operand in the first cache.
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
  static bool wants_rows_together(const BlockSite& user, std::size_t depth) {
    Vec<VarRef> inside;
    for (std::size_t k = depth + 1; k < user.loops.size(); ++k)
      if (const VarRef iterator = iterator_of(*user.block, *user.loops[k]))
        inside.push_back(iterator);
    const VarRef row = iterator_of(*user.block, *user.loops[depth]);
    return row && user.block->reducer && shares_matrix(*user.block, row, inside);
  }
  // The same of what computes rows, where several share a group's operand.
  static bool shares_group(const BlockNode& producer, std::size_t axis) {
    if (!producer.reducer || axis >= producer.iters.size()) return false;
    Vec<VarRef> inside;
    for (std::size_t k = axis + 1; k < producer.iters.size(); ++k)
      inside.push_back(producer.iters[k].var);
    return shares_matrix(producer, producer.iters[axis].var, inside);
  }

  static bool shares_matrix(const BlockNode& block, const VarRef& row, const Vec<VarRef>& inside) {
    const Vec<AccessSite> shared = read_by_groups(block, row);
    return std::any_of(shared.begin(), shared.end(), [&](const AccessSite& read) {
      bool is_matrix = false;
      for (const auto& it : block.iters) {
        if (it.kind == IterKind::reduce || !contains(inside, it.var)) continue;
        const ConstInterval extent = const_bounds(it.extent);
        const bool told = step_of(read.indices, it.var) != Step::none;
        if (!told && (!extent.has_max() || extent.max >= kRowsTogether)) return false;
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
};

}  // namespace detail
}  // namespace lathe
