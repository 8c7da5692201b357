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

    /// What the loop at this depth reads along the axis that is next.
    Slice at(std::size_t depth) {
      while (is_fixed()) ++axis_;
      Slice all = Slice::none;
      for (const auto& read : reads_) {
        const Slice one = slice(read, depth);
        if (one == Slice::none || (all != Slice::none && one != all)) return Slice::none;
        all = one;
      }
      return all;
    }
    std::size_t axis() const { return axis_; }
    void next_axis() { ++axis_; }

   private:
    struct Read {
      const BlockSite* user;
      Vec<AnyExpr> indices;  ///< over loops of more than one iteration
    };

    static Vec<AnyExpr> by_loops(const BlockSite& user, Vec<AnyExpr> indices) {
      Substitution bound, fixed;
      for (const auto& it : user.block->iters) bound.emplace_back(it.var, it.binding);
      for (const auto& loop : user.loops)
        if (trip(*loop) == 1) fixed.emplace_back(loop->var, loop->min);
      for (auto& index : indices) index = simplify(substitute(substitute(index, bound), fixed));
      return indices;
    }

    bool is_fixed() const {
      return !reads_.empty() && std::all_of(reads_.begin(), reads_.end(), [&](const Read& read) {
        return axis_ < read.indices.size() && as_const_int(read.indices[axis_]);
      });
    }

    // Digits of a number: loops count what those inside of them run through.
    Slice slice(const Read& read, std::size_t depth) const {
      const Vec<ForRef>& loops = read.user->loops;
      if (loops.size() <= depth || loops[depth]->var != users_.back().loops[depth]->var ||
          read.indices.size() <= axis_)
        return Slice::none;
      Vec<VarRef> vars;
      for (const auto& loop : loops) vars.push_back(loop->var);
      const auto index = affine_of(read.indices[axis_], vars);
      if (!index || !is_const(index->rest, 0)) return Slice::none;
      std::int64_t inside = 1, step = 0;
      for (std::size_t k = loops.size(); k-- > 0;) {
        const auto coef = index->coef(k);
        if (!coef || *coef < 0) return Slice::none;
        if (*coef == 0) continue;
        if (*coef < inside) return Slice::none;
        inside = *coef * trip(*loops[k]);
        if (k == depth) step = *coef;
      }
      return step == 0 ? Slice::none : step == 1 ? Slice::row : Slice::block;
    }

    const Vec<BlockSite>& users_;
    Vec<Read> reads_;
    std::size_t axis_ = 0;
  };
};

}  // namespace detail
}  // namespace lathe
