#pragma once

#include <algorithm>
#include <lathe/analysis/access.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Which part of what a producer computes an iteration of its users' loops reads.
class SliceSteps : protected DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

 protected:
  /// What an iteration of a loop reads along an axis of a producer: one index, or several that
  /// follow each other. No other iteration reads these.
  enum class Slice : std::uint8_t { none, row, block };

  // Walks from loop to loop of the users, and from axis to axis of what the producer computes.
  class Slices {
   public:
    Slices(const BlockNode& producer, const Vec<BlockSite>& users) : users_(users) {
      const auto written = writes_of(producer);
      for (const auto& user : users)
        for (const auto& read : reads_of(*user.block))
          if (std::any_of(written.begin(), written.end(),
                          [&](const AccessSite& write) { return write.buffer == read.buffer; }))
            reads_.push_back({&user, by_loops(user, read.indices)});
    }

    /// What the loop at this depth reads along the axis that is next, or a later one: rows of
    /// which heads lie inside of places are walked head by head. Not the last one, along which
    /// vectors lie.
    Slice at(std::size_t depth) {
      if (reads_.empty()) return Slice::none;
      const std::size_t rank = reads_[0].indices.size();
      if (axes_.empty()) axes_ = Vec<bool>(rank, false);
      for (std::size_t axis = 0, open = 0; axis < rank; ++axis) {
        if (axes_[axis] || is_fixed(axis) || (open > 0 && axis + 1 == rank)) continue;
        ++open, axis_ = axis;
        if (const Slice slice = along(axis, depth); slice != Slice::none) return slice;
      }
      return Slice::none;
    }
    std::size_t axis() const { return axis_; }
    /// What comes after is along other axes.
    void next_axis() { axes_[axis_] = true; }

   private:
    struct Read {
      const BlockSite* user;
      Vec<AnyExpr> indices;  ///< over loops of more than one iteration
    };

    static Vec<AnyExpr> by_loops(const BlockSite& user, Vec<AnyExpr> indices) {
      Substitution bound, fixed;
      Facts inside;  // a clamped index of a row is that row
      for (const auto& it : user.block->iters) bound.emplace_back(it.var, it.binding);
      for (const auto& loop : user.loops) {
        inside.bind(*loop);
        if (trip(*loop) == 1) fixed.emplace_back(loop->var, loop->min);
      }
      for (auto& index : indices)
        index = simplify(substitute(substitute(index, bound), fixed), inside);
      return indices;
    }

    bool is_fixed(std::size_t axis) const {
      return std::all_of(reads_.begin(), reads_.end(), [&](const Read& read) {
        return axis < read.indices.size() && as_const_int(read.indices[axis]);
      });
    }

    Slice along(std::size_t axis, std::size_t depth) const {
      Slice all = Slice::none;
      for (const auto& read : reads_) {
        const Slice one = slice(read, axis, depth);
        if (one == Slice::none || (all != Slice::none && one != all)) return Slice::none;
        all = one;
      }
      return all;
    }

    // Digits of a number: loops count what those inside of them run through.
    Slice slice(const Read& read, std::size_t axis, std::size_t depth) const {
      const Vec<ForRef>& loops = read.user->loops;
      if (loops.size() <= depth || loops[depth]->var != users_.back().loops[depth]->var ||
          read.indices.size() <= axis)
        return Slice::none;
      Vec<VarRef> vars;
      for (const auto& loop : loops) vars.push_back(loop->var);
      const auto index = affine_of(read.indices[axis], vars);
      if (!index || !is_const(index->rest, 0)) return Slice::none;
      std::int64_t inside = 1, step = 0;
      for (std::size_t k = loops.size(); k-- > 0;) {
        const auto coef = index->coef(k);
        if (!coef || *coef < 0) return Slice::none;
        if (*coef == 0) continue;
        if (*coef < inside || __builtin_mul_overflow(*coef, trip(*loops[k]), &inside))
          return Slice::none;
        if (k == depth) step = *coef;
      }
      return step == 0 ? Slice::none : step == 1 ? Slice::row : Slice::block;
    }

    const Vec<BlockSite>& users_;
    Vec<Read> reads_;
    Vec<bool> axes_;  ///< that loops have walked through
    std::size_t axis_ = 0;
  };
};

}  // namespace detail
}  // namespace lathe
