#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/flat_stride.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/cost/step.hpp>
#include <lathe/ir/math_table.hpp>
#include <lathe/ir/visit.hpp>
#include <type_traits>

namespace lathe {
namespace detail {

// Operations below which waking another thread costs more than it saves (about 10 µs of vector
// code).
inline constexpr double kParallelWork = 1 << 17;
/// Iterations of a parallel loop that balance.
inline constexpr double kTasksPerCore = 4;
// Elements of a 1-D loop that one task handles at least.
inline constexpr std::int64_t kTaskElements = 16384;
// The same for arrays in memory, where long runs keep the prefetchers going.
inline constexpr std::int64_t kMemoryTaskElements = 16 * kTaskElements;
// Vectors in flight in an elementwise loop: enough to cover latency, more only costs code.
inline constexpr std::int64_t kElementwiseUnroll = 4;
// Rows of a sliding window that are computed together, fewer where they share sets of the cache,
// the most that each may load (beyond it the code only grows), and the share of loads to save for
// which several rows at once pay in caches (docs/notes/stencils.md has the figures).
inline constexpr std::int64_t kWindowRows = 8, kCrowdedRows = 6;
inline constexpr int kWindowLoads = 32;
inline constexpr double kWindowShare = 0.3;
// Vectors, one of each channel, that interleave in registers (zip_stores).
inline constexpr std::int64_t kMostChannels = 8;
// Addresses so far apart fall on the same set of a first-level cache: its size over its ways, 4 KiB
// on x86-64 (the page, as it is indexed before translation).
inline constexpr std::int64_t kCacheWay = 4096;
// Of memory that a core finds by one address translation, and that hardware fetches ahead in.
inline constexpr std::int64_t kPage = 4096;
// What a transcendental call costs in plain operations.
inline constexpr double kMathCost = 12;

// What it takes to round a result to f16, and to widen that again, in plain operations; more for
// types without a conversion.
inline constexpr double kRoundingCost = 3;

// What one instance of a block computes and touches.
class BodyCost : public Visitor {
 public:
  double ops = 0;
  int loads = 0, math = 0;
  double latency = 4;         ///< cycles until what a term is folded into can take the next one
  int widest = 1, moved = 1;  ///< bytes of the widest element; of those that memory holds

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>()) {
      ++loads;
      note_moved(n->buffer->dtype);
      return;  // index arithmetic is shared by the lanes
    }
    if (const auto* n = e.as<CallNode>()) {
      bool heavy = is_transcendental(n->op);
      ops += heavy ? kMathCost : e.dtype().lanes;  // what an intrinsic puts in has lanes already
      math += heavy;
    } else if (e.kind() == ExprKind::Binary || e.kind() == ExprKind::Select) {
      ops += 1;
    }
    if (const auto* n = e.as<CastNode>()) {
      note(e.dtype());
      ops += n->value.dtype().bits != e.dtype().bits;
    }
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>()) {
      ops += 1;
      note_moved(n->buffer->dtype);
      return expr(n->value);
    }
    descend(s);
  }

 private:
  void note_moved(DType t) {
    note(t);
    moved = std::max(moved, t.element_bytes());
  }
  void note(DType t) { widest = t.element_bytes() > widest ? t.element_bytes() : widest; }
};

inline BodyCost body_cost(const BlockNode& block) {
  BodyCost cost;
  cost.stmt(block.body);
  return cost;
}

// Conditions of the place, which are asked for a whole vector, or once for several terms: their
// operations, and whether all are linear in the place, as those are that tell an image from its
// border: none is asked inside of it.
class Conditions : public Visitor {
 public:
  explicit Conditions(const BlockNode& block) {
    for (const auto& it : block.iters) place_.push_back(it.var);
    stmt(block.body);
  }
  double ops = 0;
  bool of_borders = true;

  void expr(const AnyExpr& e) override {
    if (e.kind() == ExprKind::Load) return;
    const auto* n = e.as<SelectNode>();
    if (!n || find_load(n->condition)) return descend(e);
    BodyCost cost;
    cost.expr(n->condition);
    ops += cost.ops + 1;
    for (const auto& part : conjuncts(n->condition)) of_borders = of_borders && is_linear(part);
    expr(n->yes), expr(n->no);
  }

 private:
  bool is_linear(const AnyExpr& condition) const {
    const auto* n = condition.as<BinaryNode>();
    return n && is_comparison(n->op) && n->a.dtype() == kIndex &&
           affine_of(n->a - n->b, place_).has_value();
  }
  Vec<VarRef> place_;
};

// What lowering makes of operations that no machine has, in nodes a vector: functions become
// polynomials, of angles with the reduction of large ones (f32 and f64, x86-64 and AVX-512: 63 to
// 310, angles 410 to 1173, powers 269 to 704), floats of 8 bits are decoded and rounded in integers
// (109 to 155), quotients of integers are checked (33 to 180), floats of 16 bits become wider (10
// to 50).
class ExpandedNodes : public Visitor {
 public:
  std::size_t count = 0;
  void expr(const AnyExpr& e) override {
    if (e.kind() == ExprKind::Load) return;  // addresses are scalars
    if (const auto* call = e.as<CallNode>())
      count += is_transcendental(call->op) ? nodes_of(call->op) : narrow(e.dtype());
    else if (const auto* binary = e.as<BinaryNode>())
      count += divides(*binary) ? kQuotient : narrow(binary->a.dtype());
    else if (const auto* cast = e.as<CastNode>())
      count += std::max(narrow(e.dtype()), narrow(cast->value.dtype()));
    else if (e.kind() == ExprKind::Unary)
      count += narrow(e.dtype());
    descend(e);
  }

 private:
  static constexpr std::size_t kQuotient = 100;

  static bool divides(const BinaryNode& n) {
    const bool quotient = n.op == BinaryOp::div || n.op == BinaryOp::floordiv ||
                          n.op == BinaryOp::mod || n.op == BinaryOp::floormod;
    return quotient && !n.a.dtype().is_float();
  }
  static std::size_t narrow(DType t) {
    if (!t.is_float() || t.bits >= 32) return 0;
    return t.bits == 8 ? 130 : 30;
  }
  static std::size_t nodes_of(CallOp op) {
    switch (op) {
      case CallOp::sin:
      case CallOp::cos:
      case CallOp::tan:
        return 1000;
      case CallOp::pow:
        return 500;
      default:
        return 150;
    }
  }
};

inline std::size_t expanded_nodes(const BlockNode& block) {
  ExpandedNodes nodes;
  nodes.stmt(block.body);
  return nodes.count;
}

inline std::optional<std::int64_t> flat_stride(const AccessSite& access, const VarRef& loop) {
  return flat_stride(*access.buffer, access.indices, loop);
}

// How many steps of a loop lie between two elements, if one is the other moved along it alone.
inline std::optional<std::int64_t> steps_between(const AccessSite& a, const AccessSite& b,
                                                 const VarRef& loop) {
  std::optional<std::int64_t> steps;
  for (std::size_t axis = 0; axis < a.indices.size(); ++axis) {
    const AnyExpr apart = simplify(b.indices[axis] - a.indices[axis]);
    const std::int64_t* distance = as_const_int(apart);
    auto affine = affine_of(a.indices[axis], {loop});
    if (!distance || !affine || !affine->coef(0)) return std::nullopt;
    const std::int64_t coef = *affine->coef(0);
    if (coef == 0 && *distance == 0) continue;
    if (coef == 0 || *distance % coef != 0) return std::nullopt;
    if (steps && *steps != *distance / coef) return std::nullopt;
    steps = *distance / coef;
  }
  return steps.value_or(0);
}

// Of the elements that move with a loop, the share that a neighbouring iteration reads too, in a
// window that slides. What does not depend on the loop stays near as it is: rows that have nothing
// else in common are slower together, each being a stream of its own (docs/notes/stencils.md).
inline double share_read_again(const Vec<AccessSite>& reads, const VarRef& loop) {
  constexpr std::int64_t kNear = 4;
  int moving = 0, again = 0;
  for (const auto& read : reads) {
    if (step_of(read.indices, loop) == Step::none) continue;
    ++moving;
    again += std::any_of(reads.begin(), reads.end(), [&](const AccessSite& other) {
      if (other.buffer != read.buffer) return false;
      const auto steps = steps_between(read, other, loop);
      return steps && *steps > 0 && *steps <= kNear;
    });
  }
  return moving == 0 ? 0 : static_cast<double>(again) / moving;
}

// A schedule in progress, and what was left out of it.
struct DefaultJob {
  Schedule& schedule;
  const Target& target;
  const KeptNests& kept;
  std::vector<std::string>* left_out;  ///< none: nobody asks
  PlanWork* plan;                      ///< none: rules decide, and nobody wants to know what
};

// What the parts of the default schedule share: the schedule, and steps that are left out where
// they are not legal.
class DefaultSteps {
 public:
  explicit DefaultSteps(const DefaultJob& job) : s_(job.schedule), target_(job.target), job_(job) {}

 protected:
  // Also undone where `step` returns false.
  template <class F>
  bool attempt(F&& step) {
    const Schedule before = s_;
    s_.shows_places_ = false;  // nobody reads why a step was left out
    try {
      bool done = true;
      if constexpr (std::is_same_v<decltype(step()), bool>)
        done = step();
      else
        step();
      if (!done) s_ = before;
      s_.shows_places_ = before.shows_places_;
      return done;
    } catch (const UserError& e) {
      s_ = before;
      if (job_.left_out) job_.left_out->push_back(e.id() + ' ' + e.message());
      return false;
    }
  }

  // Which of some candidates is taken: `best`, or what a plan asks for.
  template <class Candidates, class Option>
  std::size_t decide(const BlockTag& block, std::string_view what, const Candidates& all,
                     std::size_t best, const Option& option) const {
    if (!job_.plan || all.empty()) return best;
    std::vector<PlanOption> options;
    for (const auto& candidate : all) options.push_back(option(candidate));
    return job_.plan->decide(block->name, what, std::move(options), best);
  }

  // What is taken where no cost tells: `best`, or of `others()` what a plan asks for.
  template <class T, class Others, class Option>
  T decided(const BlockTag& block, std::string_view what, const T& best, const Others& others,
            const Option& option) const {
    if (!job_.plan) return best;
    Vec<T> all{best};
    all.append(others());
    return all[decide(block, what, all, 0, option)];
  }
  // What was compared, and is not what is done.
  void forget(const BlockTag& block, std::string_view what) const {
    if (job_.plan) job_.plan->forget(block->name, what);
  }

  bool kept(const BlockRef& block) const { return job_.kept.holds(block.tag); }
  bool kept(const Vec<BlockSite>& blocks) const {
    return std::any_of(blocks.begin(), blocks.end(),
                       [&](const BlockSite& at) { return job_.kept.holds(at.block->tag); });
  }

  // Whether a copy of what is written is a box by the block's own iterators.
  static bool is_plain(const AccessSite& write) {
    return std::all_of(write.indices.begin(), write.indices.end(),
                       [](const auto& e) { return e.kind() == ExprKind::Var || as_const_int(e); });
  }

  // `unknown`: what an extent counts that has no bound.
  static double bytes_of(const BufferNode& buffer, double unknown = 0) {
    double bytes = buffer.dtype.element_bytes();
    for (const auto& extent : buffer.shape) {
      const ConstInterval range = const_bounds(extent);
      bytes *= range.has_max() ? static_cast<double>(range.max) : unknown;
    }
    return bytes;
  }

  BlockSite site(const BlockRef& block) const { return find_block(s_.program()->body, block.tag); }

  static std::int64_t trip(const ForNode& loop) {
    ConstInterval range = const_bounds(loop.extent);
    return range.has_max() ? range.max : 1024;  // a symbolic extent is taken to be worth the work
  }
  // Parts of a loop that keep all cores at work, of at least so many iterations each: equal ones,
  // if there are such. 0: too few iterations.
  std::int64_t tasks_in(std::int64_t trips, std::int64_t least = 1) const {
    const std::int64_t most =
        std::min(static_cast<std::int64_t>(kTasksPerCore) * target_.cores, trips / least);
    for (std::int64_t tasks = most; tasks >= target_.cores; --tasks)
      if (trips % tasks == 0) return tasks;
    return most >= target_.cores ? most : 0;
  }
  static double volume(const Vec<ForRef>& loops) {
    double v = 1;
    for (const auto& f : loops) v *= static_cast<double>(trip(*f));
    return v;
  }

  Schedule& s_;
  const Target& target_;
  const DefaultJob job_;
};

}  // namespace detail
}  // namespace lathe
