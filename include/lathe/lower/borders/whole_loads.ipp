#pragma once

#include <lathe/analysis/find.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/machine_form.hpp>
#include <lathe/lower/borders/lane_pieces.hpp>
#include <lathe/lower/borders/mutator_in_loops.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

/// Neighbours in a row, lane l being clamp(first + l, lowest, highest).
struct RowLanes {
  AnyExpr first;
  LaneEnds ends;
  int count = 0;

  /// Whether the index is like this; without ends it is a ramp.
  bool set(const AnyExpr& index) {
    AnyExpr base;
    const AnyExpr rest = without_uniform_terms(index, base);
    const AnyExpr held = ends.inside(rest), free = held ? held : rest;
    std::int64_t stride = 0;
    if (!lane_stride(free, stride) || stride != 1) return false;
    count = free.dtype().lanes;
    const auto moved = [&](const AnyExpr& e) {
      return base.get() && e.get() ? fold_add(base, e) : e;
    };
    first = moved(lane_base(free)), ends.lowest = moved(ends.lowest);
    ends.highest = moved(ends.highest);
    return true;
  }
  /// Of the first lane.
  AnyExpr first_place() const {
    const AnyExpr ended = ends.highest ? fold_min(first, ends.highest) : first;
    return ends.lowest ? fold_max(ended, ends.lowest) : ended;
  }
  bool has_ends() const { return ends.lowest.get() || ends.highest.get(); }
};

class WholeLoads : public MutatorInLoops {
 public:
  WholeLoads(const Program& program, const TargetCaps& caps)
      : MutatorInLoops(program), program_(program), caps_(caps) {}

  Stmt stmt(const Stmt& s) override {
    const Stmt loops = long_rows_ ? Stmt() : lane_loops(s);
    if (!loops) return MutatorInLoops::stmt(s);
    AnyExpr condition;
    long_rows_ = &condition;
    Stmt out = MutatorInLoops::stmt(s);
    long_rows_ = nullptr;
    return condition ? make_if(condition, out, loops) : out;
  }

 private:
  /// Stores of vectors to parameters as loops over their lanes; empty where there is anything else,
  /// as temporaries that may be registers are, or lanes may load what others store.
  Stmt lane_loops(const Stmt& s) const {
    const auto* seq = s.as<SeqNode>();
    Vec<Stmt> loops;
    for (const auto& one : seq ? seq->stmts : Vec<Stmt>{s}) {
      const auto* n = one.as<StoreNode>();
      const bool vector = n && n->value.dtype().is_vector() && is_param(program_, n->buffer);
      const Stmt loop = vector && !loads_written(n->value, s) ? lane_loop(*n) : Stmt();
      if (!loop) return {};
      loops.push_back(loop);
    }
    return make_seq(std::move(loops));
  }

  static Stmt lane_loop(const StoreNode& n) {
    const VarRef lane = make_var("lane");
    // The vectors beside the loop keep the names of scalars.
    const auto scalar = [&](const AnyExpr& e) {
      const AnyExpr one = in_lane(e, lane);
      return one ? fresh_lets(one) : one;
    };
    Vec<AnyExpr> indices;
    for (const auto& i : n.indices) indices.push_back(scalar(i));
    const AnyExpr value = scalar(n.value), taken = n.mask ? scalar(n.mask) : AnyExpr();
    for (const auto& i : indices)
      if (!i) return {};
    if (!value || (n.mask.get() && !taken)) return {};
    const Stmt body = make_store(n.buffer, std::move(indices), value);
    return make_for(lane, AnyExpr(0), AnyExpr(n.value.dtype().lanes),
                    taken ? make_if(taken, body) : body);
  }

  AnyExpr rewritten(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    RowLanes lanes;
    if (!n || !has_no_masks(n->dtype) || !lanes.set(n->indices.back()) || !is_cut(*n, lanes) ||
        !is_in_row(*n, lanes))
      return descend(e);
    // Parts of the index stand at several places.
    return fresh_lets(moved_inside(*n, lanes));
  }

  bool has_no_masks(DType t) const {
    return t.lanes > 1 && caps_.masks_by_parts(t.element_bytes()) && is_permuted(t, caps_);
  }

  /// Whether lanes are repeated or left out; those that are known numbers of elements apart are
  /// shuffled.
  static bool is_cut(const LoadNode& n, const RowLanes& lanes) {
    return n.mask ? lanes.has_ends() || !is_uniform(n.mask)
                  : lanes.has_ends() && !lane_offsets(n.indices.back());
  }

  /// Whether there is such a row, of contiguous elements, and it may be as long as a vector.
  bool is_in_row(const LoadNode& n, const RowLanes& lanes) const {
    const BufferNode& b = *n.buffer;
    if (!is_param(program_, n.buffer) || (!b.strides.empty() && !is_const(b.strides.back(), 1)))
      return false;
    for (std::size_t d = 0; d + 1 < n.indices.size(); ++d) {
      const AnyExpr& at = n.indices[d];
      if (at.dtype().is_vector() && !is_uniform(at)) return false;
      const AnyExpr row = lane_base(at);
      if (!prove_le(AnyExpr(0), row, facts_) || !prove_lt(row, b.shape[d], facts_)) return false;
    }
    return !prove_lt(b.shape.back(), AnyExpr(lanes.count), facts_);
  }

  AnyExpr moved_inside(const LoadNode& n, const RowLanes& lanes) {
    const AnyExpr room = fold_sub(n.buffer->shape.back(), AnyExpr(lanes.count)),
                  start = fold_max(fold_min(lanes.first_place(), room), AnyExpr(0));
    return with_value("first", start, [&](const AnyExpr& at) {
      return with_value("row", whole(n, at, lanes.count), [&](const AnyExpr& row) {
        const AnyExpr value = make_call(CallOp::permute, {row, lanes_from(lanes, at)});
        return n.mask ? make_select(expr(n.mask), value, make_const(value.dtype(), 0)) : value;
      });
    });
  }

  /// The vector that starts there; of a shorter row all of it.
  AnyExpr whole(const LoadNode& n, const AnyExpr& start, int count) const {
    Vec<AnyExpr> indices;
    for (const auto& at : n.indices) indices.push_back(lane_base(at));
    indices.back() = make_ramp(start, AnyExpr(1), count);
    const AnyExpr all = make_load(n.buffer, indices), &extent = n.buffer->shape.back();
    if (prove_le(AnyExpr(count), extent, facts_)) return all;
    const AnyExpr fits = AnyExpr(count) <= extent;
    if (long_rows_) {
      if (!*long_rows_ || !prove(fits, facts_.with(*long_rows_)))
        *long_rows_ = fold_and(*long_rows_, fits);
      return all;
    }
    const AnyExpr in_row = make_binary(BinaryOp::lt, make_ramp(AnyExpr(0), AnyExpr(1), count),
                                       make_broadcast(extent, count));
    return make_select(fits, all, make_load(n.buffer, indices, in_row));
  }

  /// Which of the elements from `start` on each lane takes.
  static AnyExpr lanes_from(const RowLanes& lanes, const AnyExpr& start) {
    const int last = lanes.count - 1;
    const auto number = [&](const AnyExpr& place, int least, int most) {
      const AnyExpr by = fold_max(fold_min(fold_sub(place, start), AnyExpr(most)), AnyExpr(least));
      return make_broadcast(make_cast(kI8, by), lanes.count);
    };
    const auto ends_at = [&](const AnyExpr& end, int without) {
      return end ? number(end, 0, last) : make_broadcast(make_int(kI8, without), lanes.count);
    };
    const AnyExpr lane = make_ramp(make_int(kI8, 0), make_int(kI8, 1), lanes.count) +
                         number(lanes.first, -lanes.count, lanes.count);
    return make_binary(BinaryOp::max,
                       make_binary(BinaryOp::min, lane, ends_at(lanes.ends.highest, last)),
                       ends_at(lanes.ends.lowest, 0));
  }

  const Program& program_;
  const TargetCaps& caps_;
  /// Of the statement that is rewritten: that rows are as long as vectors. Null: loads ask.
  AnyExpr* long_rows_ = nullptr;
};

}  // namespace detail

LATHE_DECL Program whole_loads(const Program& program, const TargetCaps& caps) {
  return program.with(detail::WholeLoads(program, caps).stmt(program->body));
}

}  // namespace lathe
