#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <numeric>

namespace lathe {
namespace detail {

// Columns fewer than the lanes of a vector, folded over rows that follow each other in memory:
// sums over places of three channels. Some rows fill whole vectors, each place of which has a
// partial result of its own.
class FoldColumns : NestSteps {
 public:
  using NestSteps::NestSteps;

  struct Shape {
    std::int64_t rows = 0;  ///< that have results of their own; 0: no such nest
    std::size_t loops = 1;  ///< innermost reduce loops that run through the rows
  };

  // `loops` run through memory as one, over as many `rows`.
  Shape shape(const DefaultNest& nest, std::size_t loops, std::int64_t rows,
              std::int64_t lanes) const {
    if (!nest.unit.var.get() || !has_const_trip(nest, nest.unit) || nest.leaves_out) return {};
    const std::int64_t columns = trip_of(nest, nest.unit);
    if (columns < 1 || columns >= lanes || !any_through(nest) ||
        !run_through(nest.reads, nest.reduce.back(), nest.unit, columns))
      return {};
    const std::int64_t least = lanes / std::gcd(columns, lanes), vectors = columns * least / lanes,
                       together = least * ((kVectors + vectors - 1) / vectors);
    return rows < 2 * together ? Shape() : Shape{together, loops};
  }

  void run(const DefaultNest& nest, const Shape& shape, std::int64_t lanes) {
    const Vec<LoopRef> through(nest.reduce.end() - static_cast<std::ptrdiff_t>(shape.loops),
                               nest.reduce.end());
    const LoopRef along = through.size() > 1 ? s_.fuse(through) : through[0];
    const BlockRef parts = s_.rfactor(s_.split_any(along, {infer, shape.rows})[1]);
    const Vec<LoopRef> outer = others(nest);
    if (!outer.empty()) s_.compute_at(parts, outer.back());
    const auto [terms, row, column] = loops_of(parts);
    Vec<LoopRef> order = terms;
    order.append({row, column});
    s_.reorder(order);
    s_.split_any(s_.fuse({row, column}), {infer, lanes});
    const BlockRef init = s_.decompose_reduction(parts, terms.front());
    for (const auto& block : {parts, init}) write_out_vectors(block);
    s_.set_scope(parts, Scope::reg);
  }

 private:
  // Accumulators that cover the latency of an addition.
  static constexpr std::int64_t kVectors = 4;

  static bool any_through(const DefaultNest& nest) {
    return std::any_of(nest.reads.begin(), nest.reads.end(), [&](const AccessSite& read) {
      return flat_stride(read, nest.unit.var) == std::int64_t{1};
    });
  }

  struct Loops {
    Vec<LoopRef> terms;
    LoopRef row, column;  ///< row: of those with results of their own
  };
  Loops loops_of(const BlockRef& parts) const {
    const BlockSite at = site(parts);
    const AccessSite write = nest_of(at).writes[0];
    Loops out;
    for (const auto& f : at.loops) {
      const LoopRef loop(f->var);
      if (feeds(*f, *at.block, IterKind::reduce))
        out.terms.push_back(loop);
      else if (uses_var(write.indices.front(), f->var))
        out.row = loop;
      else if (uses_var(write.indices.back(), f->var))
        out.column = loop;
    }
    return out;
  }
};

}  // namespace detail
}  // namespace lathe
