// Which loop of a tile is which loop of an intrinsic's description.
#pragma once

#include <lathe/schedule/primitives/tensor/tile_plan.ipp>

namespace lathe::detail {

inline std::string kind_of_loop(const ForNode& loop, const BlockNode& block) {
  const bool spatial = feeds(loop, block, IterKind::spatial),
             reduce = feeds(loop, block, IterKind::reduce);
  if (spatial == reduce) return spatial ? "both" : "unused";
  return reduce ? "reduce" : "spatial";
}

inline std::string loops_text(const Vec<ForRef>& loops, const BlockNode& block) {
  if (loops.empty()) return "none";
  return join(loops, " ", [&](const ForRef& f) {
    const std::string kind = kind_of_loop(*f, block);
    return f->var->name + (kind == "spatial" ? "" : ":" + kind) + "(" + extent_text(f->extent) +
           ")";
  });
}

// Distances between neighbours along a dimension; none where only the call knows.
inline std::optional<std::int64_t> stride_of(const Program& program, const BufferNode& buffer,
                                             std::size_t dimension) {
  const std::size_t rank = buffer.shape.size();
  if (!buffer.strides.empty()) {
    const std::int64_t* s = as_const_int(buffer.strides[dimension]);
    return s ? std::optional(*s) : std::nullopt;
  }
  if (dimension + 1 == rank) return 1;
  if (is_param(program, Buffer(&buffer))) return {};
  std::int64_t stride = 1;
  for (std::size_t d = dimension + 1; d < rank; ++d) {
    const std::int64_t* extent = as_const_int(buffer.shape[d]);
    if (!extent || __builtin_mul_overflow(stride, *extent, &stride)) return {};
  }
  return stride;
}

// How far apart elements are along an axis of the operand; none where only the call knows.
inline std::optional<std::int64_t> tile_stride(const Program& program, const TileAccess& access,
                                               std::size_t loop) {
  std::int64_t out = 0;
  for (std::size_t d = 0; d < access.steps.size(); ++d) {
    if (access.steps[d][loop] == 0) continue;
    auto stride = stride_of(program, *access.buffer, d);
    std::int64_t part = 0;
    if (!stride || __builtin_mul_overflow(*stride, access.steps[d][loop], &part) ||
        __builtin_add_overflow(out, part, &out))
      return {};
  }
  return out;
}

/// Tests one way to see the tile's loops as those of the description.
class TileTest {
 public:
  TileTest(const Program& program, const TensorPlan& plan, const Vec<std::size_t>& loop_of)
      : program_(program), plan_(plan), loop_of_(loop_of) {}

  std::string help;

  /// Why it is none; empty if it is one.
  std::string run() {
    const auto& described = plan_.intrinsic.loops;
    for (std::size_t k = 0; k < described.size(); ++k) {
      if (loop_of_[k] == TensorPlan::none) continue;
      const ForNode &wanted = *described[k], &loop = *plan_.loops[loop_of_[k]];
      if (!is_const(loop.extent, *as_const_int(wanted.extent)) ||
          kind_of_loop(wanted, *plan_.intrinsic.block) != kind_of_loop(loop, *plan_.block.block))
        return other_loops();
    }
    for (const auto& access : plan_.accesses)
      if (std::string why = access_problem(access); !why.empty()) return why;
    const TileAccess& output = plan_.accesses[0];
    if (!apart(output))
      return "two of its points store to one element of " + in_quotes(output.buffer->name);
    return {};
  }

  std::string other_loops() {
    help = "split and reorder so that these are the innermost loops, and tensorize the outermost";
    return "its loops are " + loops_text(plan_.intrinsic.loops, *plan_.intrinsic.block) +
           "; those of the block are " + loops_text(plan_.loops, *plan_.block.block);
  }

 private:
  std::string access_problem(const TileAccess& access) {
    const Intrinsic::Operand& o = plan_.intrinsic.operands[access.operand];
    const std::string name = in_quotes(access.buffer->name), wanted = in_quotes(o.described->name);
    for (std::size_t k = 0; k < loop_of_.size(); ++k) {
      if (loop_of_[k] == TensorPlan::none) continue;
      std::size_t axis = 0;
      while (axis < o.axes.size() && o.axes[axis] != k) ++axis;
      const std::string along = in_quotes(plan_.loops[loop_of_[k]]->var->name);
      auto stride = tile_stride(program_, access, loop_of_[k]);
      const bool moves = varies(access, loop_of_[k]);
      if (axis == o.axes.size() && moves)
        return name + " varies along " + along + ", and " + wanted + " of the description does not";
      if (axis < o.axes.size() && !moves)
        return name + " does not vary along " + along + ", and " + wanted +
               " of the description does";
      if (axis == o.axes.size() || !o.across[axis] || (o.is_tile && axis == 0)) continue;
      const std::int64_t dense = dense_stride(*o.described, axis);
      if (stride && *stride == dense) continue;
      help = "transform_layout of a copy (cache_read, cache_write) lays elements out";
      return "elements of " + name + " along " + along + " are " +
             (stride ? std::to_string(*stride) + " apart" : "apart by what a call says") +
             ", those of " + wanted + " in the description " + std::to_string(dense);
    }
    return {};
  }
  // Different points of the output's loops are different elements.
  bool apart(const TileAccess& access) const {
    Vec<Vec<std::int64_t>> points{Vec<std::int64_t>(access.steps.size(), 0)};
    for (std::size_t loop = 0; loop < plan_.loops.size(); ++loop) {
      if (!varies(access, loop)) continue;
      const std::int64_t extent = *as_const_int(plan_.loops[loop]->extent);
      const std::size_t before = points.size();
      if (static_cast<std::size_t>(extent) * before > kMostTile) return false;
      for (std::int64_t k = 1; k < extent; ++k)
        for (std::size_t p = 0; p < before; ++p) {
          Vec<std::int64_t> next = points[p];
          for (std::size_t d = 0; d < next.size(); ++d) next[d] += k * access.steps[d][loop];
          points.push_back(std::move(next));
        }
    }
    auto less = [](const Vec<std::int64_t>& a, const Vec<std::int64_t>& b) {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    };
    std::sort(points.begin(), points.end(), less);
    for (std::size_t p = 1; p < points.size(); ++p)
      if (!less(points[p - 1], points[p])) return false;
    return true;
  }
  static bool varies(const TileAccess& access, std::size_t loop) {
    for (const auto& steps : access.steps)
      if (steps[loop] != 0) return true;
    return false;
  }
  static std::int64_t dense_stride(const BufferNode& b, std::size_t axis) {
    std::int64_t stride = 1;
    for (std::size_t d = axis + 1; d < b.shape.size(); ++d) stride *= *as_const_int(b.shape[d]);
    return stride;
  }

  const Program& program_;
  const TensorPlan& plan_;
  const Vec<std::size_t>& loop_of_;
};

// Loops correspond in the order that they have, or in another. What is told is of the former.
inline Verdict plan_loops(const Program& program, TensorPlan& plan) {
  const auto& described = plan.intrinsic.loops;
  Vec<std::size_t> order;
  for (std::size_t k = 0; k < plan.loops.size(); ++k) order.push_back(k);
  std::size_t wanted = 0;
  for (const auto& f : described) wanted += !is_const(f->extent, 1);
  Vec<std::size_t> loop_of(described.size(), TensorPlan::none);
  TileTest counted(program, plan, loop_of);
  constexpr std::size_t most = 6;
  if (wanted != order.size() || wanted > most) {
    std::string why = counted.other_loops();
    return tensor_refusal(plan, why, counted.help);
  }
  std::string first, help;
  do {
    for (std::size_t k = 0, next = 0; k < described.size(); ++k)
      if (!is_const(described[k]->extent, 1)) loop_of[k] = order[next++];
    TileTest test(program, plan, loop_of);
    std::string why = test.run();
    if (why.empty()) return plan.loop_of = loop_of, Verdict();
    if (first.empty()) first = why, help = test.help;
  } while (std::next_permutation(order.begin(), order.end()));
  return tensor_refusal(plan, first, help);
}

}  // namespace lathe::detail
