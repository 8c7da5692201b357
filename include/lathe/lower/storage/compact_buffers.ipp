#pragma once

#include <algorithm>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

// The hull, per dimension, of where a buffer is stored to below an Alloc, over the variables
// outside.
class StoredBox : public Visitor {
 public:
  StoredBox(const Buffer& buffer, const Facts& outer)
      : box(static_cast<std::size_t>(buffer->rank())), buffer_(buffer), facts_(outer) {}
  Vec<Interval> box;
  bool any = false;

  void stmt(const Stmt& s) override {
    if (!may_touch(s, Contents::bit(buffer_->name))) return;
    if (const auto* f = s.as<ForNode>()) {
      Facts outer = facts_;
      facts_.bind(*f);
      inner_.push_back(f->var);
      descend(s);
      inner_.pop_back();
      facts_ = outer;
      return;
    }
    if (const auto* let = s.as<LetStmtNode>(); let && let->value.dtype() == kIndex)
      lets_.emplace_back(let->var, let->value);
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == buffer_) note(n->indices);
    if (const auto* n = s.as<AtomicNode>(); n && n->buffer == buffer_) note(n->indices);
    descend(s);
  }

 private:
  void note(const Vec<AnyExpr>& indices) {
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      AnyExpr index = indices[axis];
      for (const auto& let : reversed(lets_)) index = substitute(index, {let});
      Interval here = ends(index);
      if (!any)
        box[axis] = here;
      else
        merge(box[axis], here);
    }
    any = true;
  }

  // Of a vector: from its least lane to its greatest.
  Interval ends(const AnyExpr& index) const {
    if (!index.dtype().is_vector()) return bounds(index, inner_, facts_);
    auto lanes = lane_offsets(index);
    if (!lanes) return {};
    Interval all = bounds(lanes->base, inner_, facts_);
    if (!all.bounded()) return {};
    const auto [first, last] = std::minmax_element(lanes->offsets.begin(), lanes->offsets.end());
    return {simplify(fold_add(all.min, AnyExpr(*first)), facts_),
            simplify(fold_add(all.max, AnyExpr(*last)), facts_)};
  }

  // The smaller of two minima where one is provably smaller; else nothing is known.
  void merge(Interval& all, const Interval& here) {
    if (!all.bounded() || !here.bounded()) {
      all = {};
      return;
    }
    if (prove_le(here.min, all.min, facts_))
      all.min = here.min;
    else if (!prove_le(all.min, here.min, facts_))
      all = {};
    if (!all.bounded()) return;
    if (prove_le(all.max, here.max, facts_))
      all.max = here.max;
    else if (!prove_le(here.max, all.max, facts_))
      all = {};
  }

  const Buffer& buffer_;
  Facts facts_;
  Vec<VarRef> inner_;
  Substitution lets_;
};

// Indices relative to where a smaller buffer begins.
class RebaseAccesses : public MoveAccesses {
 public:
  RebaseAccesses(const Buffer& from, const Buffer& to, const Vec<AnyExpr>& origin)
      : MoveAccesses(from, to), origin_(origin) {}

 private:
  Vec<AnyExpr> place(const Vec<AnyExpr>& indices) override {
    Vec<AnyExpr> out;
    for (std::size_t axis = 0; axis < indices.size(); ++axis)
      out.push_back(is_const(origin_[axis], 0) ? indices[axis]
                                               : from_origin(indices[axis], origin_[axis]));
    return out;
  }
  static AnyExpr from_origin(const AnyExpr& index, const AnyExpr& origin) {
    if (!index.dtype().is_vector()) return index - origin;
    if (auto lanes = lane_offsets(index))
      if (AnyExpr out = with_offsets(lanes->base - origin, lanes->offsets)) return out;
    return index - make_broadcast(origin, index.dtype().lanes);
  }
  const Vec<AnyExpr>& origin_;
};

class AllocatedBuffers : public Visitor {
 public:
  void expr(const AnyExpr&) override {}
  void stmt(const Stmt& s) override {
    if (const auto* a = s.as<AllocNode>()) found.push_back(a->buffer);
    descend(s);
  }
  Vec<Buffer> found;
};

// Simplifies the nests that touch a temporary: those of its neighbours stay as they are.
class SimplifyNests : public Mutator {
 public:
  SimplifyNests(const Vec<Buffer>& buffers, const Facts& facts)
      : bits_(bits_of(buffers)), facts_(facts) {}
  Stmt stmt(const Stmt& s) override {
    if (s.kind() == StmtKind::Seq || s.kind() == StmtKind::Alloc) return descend(s);
    return may_touch(s, bits_) ? simplify(s, facts_) : s;
  }

 private:
  std::uint64_t bits_;
  const Facts& facts_;
};

class ShrinkBuffers : public Mutator {
 public:
  explicit ShrinkBuffers(const Program& program) : facts_(program) {
    for (const auto& d : program->dims) constants_.push_back(d->var);
  }
  /// Whether indices are differences now that nobody has simplified.
  bool rebased() const { return rebased_; }

  Stmt stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) {
      Facts outer = facts_;
      facts_.bind(*f);
      Stmt out = descend(s);
      facts_ = outer;
      return out;
    }
    if (const auto* a = s.as<AllocNode>()) return shrink(*a);
    return descend(s);
  }

 private:
  // Every element that is read was stored, so the box of the stores is all that is needed.
  Stmt shrink(const AllocNode& a) {
    StoredBox stored(a.buffer, facts_);
    stored.stmt(a.body);
    // Reads without stores stand in loops that run nothing.
    if (!stored.any) return make_alloc(a.buffer, stmt(a.body));
    BufferNode node = *a.buffer;
    node.alignment = kTemporaryAlignment;
    Vec<AnyExpr> origin(node.shape.size(), AnyExpr(0));
    std::int64_t unproven = 1;
    for (std::size_t axis = 0; axis < node.shape.size(); ++axis) {
      AnyExpr extent = box_extent(stored.box[axis], node.shape[axis], unproven);
      if (!extent.get() || loads_written(stored.box[axis].min, a.body)) continue;
      origin[axis] = stored.box[axis].min;
      rebased_ = rebased_ || !is_const(origin[axis], 0);
      node.shape[axis] = extent;
    }
    Buffer small(new BufferNode(std::move(node)));
    return make_alloc(small, stmt(RebaseAccesses(a.buffer, small, origin).stmt(a.body)));
  }

  // How many elements the box has along an axis, or none if that is not less than the whole axis.
  // `unproven`: the product of extents so far that may be more than the whole.
  AnyExpr box_extent(const Interval& box, const AnyExpr& whole, std::int64_t& unproven) const {
    if (!box.bounded()) return {};
    AnyExpr extent = simplify(box.max - box.min + 1, facts_);
    ConstInterval range = const_bounds(extent, facts_);
    const std::int64_t most = std::max<std::int64_t>(range.max, 1);
    if (const auto* length = as_const_int(whole); length && range.has_max())
      return most < *length ? AnyExpr(most) : AnyExpr();
    if (range.has_max() && (most <= kFew || prove_le(AnyExpr(most), whole, facts_))) return most;
    // Against an axis of unknown length a constant bound may be anything.
    if (range.has_max() && most >= kTypeBound) return {};
    if (!as_const_int(extent) && only_dims(extent))  // an empty loop stores fewer than none
      return range.min < 0 ? simplify(fold_max(extent, AnyExpr(0)), facts_) : extent;
    if (!range.has_max() || most > kMostUnproven || unproven > kMostElements / most) return {};
    unproven *= most;
    return most;
  }

  bool only_dims(const AnyExpr& e) const { return is_load_free(e) && names_only(e, constants_); }

  // A cache line, and the widest vector.
  static constexpr int kTemporaryAlignment = 64;
  // Elements along an axis that may be there in vain where only the sizes of a call say how many
  // there are: so few may become registers.
  static constexpr std::int64_t kFew = 64;
  // The same where nothing but the bound is known.
  static constexpr std::int64_t kMostUnproven = 4096;
  static constexpr std::int64_t kMostElements = std::int64_t{1} << 20;
  // From here on the bound is that of an index's element type.
  static constexpr std::int64_t kTypeBound = std::int64_t{1} << 30;
  Facts facts_;
  Vec<VarRef> constants_;
  bool rebased_ = false;
};

}  // namespace detail

LATHE_DECL Program compact_buffers(const Program& program) {
  detail::AllocatedBuffers temporaries;
  temporaries.stmt(program->body);
  if (temporaries.found.empty()) return program;
  // All at once: nests hold many temporaries, and each that is moved would simplify all of a nest.
  const Facts facts(program);
  detail::SimplifyNests simplify_nests(temporaries.found, facts);
  detail::ShrinkBuffers shrink(program);
  const Stmt body = shrink.stmt(simplify_nests.stmt(program->body));
  return program.with(shrink.rebased() ? simplify_nests.stmt(body) : body);
}

}  // namespace lathe
