#pragma once

#include <algorithm>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Results of two loops side by side, each folded from lanes along its terms: A[i, r] * B[j, r] of
// some rows and columns takes a load of A for all columns and one of B for all rows. No operand has
// to be turned, which pays where a copy would be read too few times.
class FoldTiles : ReductionCosts {
 public:
  using ReductionCosts::ReductionCosts;

  struct Shape {
    LoopRef rows, columns;
    std::int64_t height = 1, width = 1;
    double cycles = 1e30;  ///< a vector of terms
  };

  // None: other loops than two share loads, or what is read again does not stay in the second
  // cache.
  Shape shape(const BodyCost& body, const DefaultNest& nest, std::int64_t lanes) const {
    Shape out;
    const LoopRef& along = nest.reduce.back();
    if (nest.reads.size() != 2 || nest.reduce.size() != 1 || !has_const_trip(nest, along))
      return out;
    const AccessSite &a = nest.reads[0], &b = nest.reads[1];
    for (const auto* read : {&a, &b})
      if (step_of(read->indices, along.var) != Step::unit) return out;
    out.rows = own_loop(nest, a, b), out.columns = own_loop(nest, b, a);
    if (!out.rows.var.get() || !out.columns.var.get() || !stays(nest, a, b)) return Shape();
    const auto of = [&](std::int64_t height, std::int64_t width) {
      return with_tile(body, nest, out, height, width, lanes);
    };
    const auto others = [&] {
      Vec<Shape> all;
      for (std::int64_t height = 1; height <= 2 * kRows; ++height)
        for (std::int64_t width = 1; (height + 1) * width < target_.vector_registers; ++width)
          all.push_back(of(height, width));
      return all;
    };
    return decided(nest.block, "fold_tile", of(kRows, target_.vector_registers / (2 * kRows)),
                   others, [](const Shape& shape) {
                     return PlanOption{"results", {shape.height, shape.width}, shape.cycles};
                   });
  }

  // To load, turn and store what a register tile would read across its terms, for each vector that
  // is computed with it. Of constants that is done once, ahead.
  double copy_cycles(const DefaultNest& nest) const {
    double all = 0;
    for (const auto& read : nest.reads) {
      if (!is_turned(nest, read) || is_constant(read.buffer)) continue;
      double uses = 1;
      for (const auto& loop : nest.spatial)
        if (step_of(read.indices, loop.var) == Step::none)
          uses *= static_cast<double>(trip_of(nest, loop));
      Work work;
      work.vectors = 2, work.operations = kTurn;
      all += cycles(work, 0) / uses;
    }
    return all;
  }

  void run(const DefaultNest& nest, const Shape& shape, std::int64_t lanes) {
    const auto rows = s_.split_any(shape.rows, {infer, shape.height});
    const auto columns = s_.split_any(shape.columns, {infer, shape.width});
    const bool more_rows = trip_of(nest, shape.rows) > trip_of(nest, shape.columns);
    Vec<LoopRef> order;
    for (const auto& loop : nest.spatial)
      if (!(loop == shape.rows) && !(loop == shape.columns)) order.push_back(loop);
    order.append({more_rows ? rows[0] : columns[0], more_rows ? columns[0] : rows[0],
                  nest.reduce.back(), rows[1], columns[1]});
    s_.reorder(order);
    s_.fold_lanes(nest.reduce.back(), static_cast<int>(lanes));
  }

 private:
  // By as many columns as fill half of the registers: four rows of the 16 that AVX2 has meet two.
  static constexpr std::int64_t kRows = 4;

  // `height` by `width` results at most, in equal tiles.
  Shape with_tile(const BodyCost& body, const DefaultNest& nest, Shape shape, std::int64_t height,
                  std::int64_t width, std::int64_t lanes) const {
    const std::int64_t rows = trip_of(nest, shape.rows), columns = trip_of(nest, shape.columns),
                       terms = trip_of(nest, nest.reduce.back());
    shape.height = balanced(rows, height), shape.width = balanced(columns, width);
    Work work;
    work.vectors = 1.0 / static_cast<double>(shape.height) + 1.0 / static_cast<double>(shape.width);
    work.operations = std::max(body.ops - 1, 1.0) +
                      kFoldOperations * static_cast<double>(lanes) / static_cast<double>(terms);
    shape.cycles = cycles(work, 0) * share(rows, shape.height) * share(columns, shape.width);
    return shape;
  }

  // The innermost loop that moves one read and not the other.
  LoopRef own_loop(const DefaultNest& nest, const AccessSite& read, const AccessSite& other) const {
    return innermost(nest, [&](const LoopRef& loop) {
      return has_const_trip(nest, loop) && step_of(read.indices, loop.var) != Step::none &&
             step_of(other.indices, loop.var) == Step::none;
    });
  }

  // The operand with fewer rows is read again for each few rows of the other.
  bool stays(const DefaultNest& nest, const AccessSite& a, const AccessSite& b) const {
    double least = 1e30;
    for (const auto* read : {&a, &b}) {
      double bytes = read->buffer->dtype.element_bytes();
      for (const auto& f : nest.all)
        if (step_of(read->indices, f->var) != Step::none) bytes *= static_cast<double>(trip(*f));
      least = std::min(least, bytes);
    }
    return 2 * least <= static_cast<double>(target_.l2_bytes);
  }
};

}  // namespace detail
}  // namespace lathe
