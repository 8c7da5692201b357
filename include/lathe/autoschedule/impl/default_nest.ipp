#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/borders.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/reducer.hpp>

namespace lathe {
namespace detail {

// What nests may grow to in lowered nodes, all together: LLVM takes half a minute for some times
// as many. Programs of hundreds of stages go without copies of vectors, and then without tiles.
inline constexpr std::size_t kDefaultNodes = 50000;
// Lowered nodes for each node of an elementwise block: vectors, four of them in flight, their
// tails.
inline constexpr std::size_t kVectorNodes = 12, kUnrolledNodes = 48;

// The loops that hold one block alone, and what the block reads and writes over these.
struct DefaultNest {
  BlockTag block;
  Vec<LoopRef> spatial, reduce;
  Vec<ForRef> all;                ///< the same, as they stand
  Vec<AccessSite> reads, writes;  ///< of a reduction without the elements that it folds into
  Vec<Buffer> clamped;            ///< read at places that are clamped or wrap, in `reads` without
  Vec<LoopRef> bounds;            ///< which say how many terms there are: these stay inside
  Vec<LoopRef> parts;             ///< that count a part of an iterator, as jo * 64 + ji
  bool leaves_out = false;        ///< terms by a predicate: of how many, only the loops know
  LoopRef unit;  ///< the one along which the output has stride 1; empty if it is none of these
  /// Registers after which what channels have of their own comes again: vectors are of so many.
  std::int64_t period = 1;
  /// Floats that are read in casts to one wider type alone, and that type.
  Vec<std::pair<Buffer, DType>> converted;

  /// What a number of the buffer is converted to when it is read, or its own type.
  DType type_read(const Buffer& buffer) const {
    for (const auto& [from, to] : converted)
      if (from == buffer) return to;
    return buffer->dtype;
  }
};

// Which floats a block reads in casts alone, all of one buffer to the same wider type.
class FindConversions : public Visitor {
 public:
  explicit FindConversions(const BlockNode& block) {
    if (block.predicate) expr(block.predicate);
    stmt(block.body);
    for (const auto& [from, to] : seen_)
      if (from->dtype.is_float() && to.is_float() && to.bits >= 32 && to.bits > from->dtype.bits)
        found.emplace_back(from, to);
  }
  Vec<std::pair<Buffer, DType>> found;

  void expr(const AnyExpr& e) override {
    const auto* cast = e.as<CastNode>();
    if (const auto* load = (cast ? cast->value : e).as<LoadNode>()) {
      note(load->buffer, e.dtype().scalar());
      for (const auto& index : load->indices) expr(index);
      return;
    }
    descend(e);
  }

 private:
  void note(const Buffer& buffer, DType to) {
    for (auto& [from, type] : seen_)
      if (from == buffer) {
        if (type != to) type = buffer->dtype;
        return;
      }
    seen_.emplace_back(buffer, to);
  }
  Vec<std::pair<Buffer, DType>> seen_;
};

// What the tiling of one nest needs to know of it.
class NestSteps : protected DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

 protected:
  DefaultNest nest_of(const BlockSite& at) const {
    DefaultNest nest;
    nest.block = at.block->tag;
    for (const auto& f : at.loops) {
      if (block_tags(f->body).size() != 1 || f->loop_kind != ForKind::serial) continue;
      nest.all.push_back(f);
      (feeds(*f, *at.block, IterKind::reduce) ? nest.reduce : nest.spatial)
          .push_back(LoopRef(f->var));
      for (const auto& it : at.block->iters)
        if (it.binding.get() != f->var.get() && uses_var(it.binding, f->var))
          nest.parts.push_back(LoopRef(f->var));
    }
    for (const auto& loop : nest.spatial)
      for (const auto& f : nest.all)
        if ((uses_var(f->min, loop.var) || uses_var(f->extent, loop.var)) &&
            !contains(nest.bounds, loop))
          nest.bounds.push_back(loop);
    nest.leaves_out = at.block->predicate.get() != nullptr;
    nest.converted = FindConversions(*at.block).found;
    const Facts facts = facts_on(at.path);
    nest.writes = over_loops(writes_of(*at.block), *at.block, facts);
    for (auto& write : nest.writes) join_digits(*write.buffer, write.indices);
    if (!nest.writes.empty())
      for (const auto& loop : nest.spatial)
        if (step_of(nest.writes[0].indices, loop.var) == Step::unit) nest.unit = loop;
    for (auto& read : over_loops(reads_of(*at.block), *at.block, facts))
      if (!is_output(nest, read.buffer)) add_read(nest, std::move(read), facts);
    return nest;
  }

  // Borders run apart: away from them a place that is clamped or wraps around is the place itself.
  void add_read(DefaultNest& nest, AccessSite read, const Facts& facts) const {
    const bool stays = ends_in_elements(nest, read);
    for (auto& index : read.indices) {
      if (stays) break;
      const AnyExpr inside = away_from_borders(index, facts);
      if (same_expr(inside, index) || as_const_int(inside)) continue;
      index = inside;
      if (!contains(nest.clamped, read.buffer)) nest.clamped.push_back(read.buffer);
    }
    join_digits(*read.buffer, read.indices);
    nest.reads.push_back(std::move(read));
  }

  // Whether lanes at the end of a row are loaded one by one: where only a call tells how long it is
  // they are no shuffle, and not all targets load elements so narrow under a mask. Written out for
  // several terms LLVM takes ten seconds for them.
  bool ends_in_elements(const DefaultNest& nest, const AccessSite& read) const {
    return read.buffer->dtype.element_bytes() < std::min(TargetCaps(target_).masked_bytes, 4) &&
           nest.unit.var.get() && !has_const_trip(nest, nest.unit) &&
           std::any_of(read.indices.begin(), read.indices.end(), [&](const AnyExpr& index) {
             return uses_var(index, nest.unit.var) && !unclamped(index).same_as(index);
           });
  }

  // The nest of a block whose loops have become fewer: `loops` stand for those of before.
  DefaultNest over_loop(const BlockNode& block, const DefaultNest& before,
                        const Substitution& loops) const {
    DefaultNest nest = nest_of(site(BlockRef(block.tag)));
    nest.reads = before.reads, nest.writes = before.writes, nest.period = before.period;
    for (auto* accesses : {&nest.reads, &nest.writes})
      for (auto& access : *accesses)
        for (auto& index : access.indices) index = simplify(substitute(index, loops));
    return nest;
  }

  // Where it has any: padding may lie along another loop alone, and tiles without a tail have none.
  void run_borders_apart(const LoopRef& loop) {
    const Args args{loop, Arg::of_word(to_text(Partition::always))};
    if (!s_.check(primitive_partition(), args)) s_.partition(loop, Partition::always);
  }

  static std::int64_t trip_of(const DefaultNest& nest, const LoopRef& loop) {
    for (const auto& f : nest.all)
      if (f->var == loop.var) return trip(*f);
    return 1;
  }
  static bool has_const_trip(const DefaultNest& nest, const LoopRef& loop) {
    for (const auto& f : nest.all)
      if (f->var == loop.var) return as_const_int(f->extent) != nullptr;
    return false;
  }

  static Vec<LoopRef> others(const DefaultNest& nest) {
    Vec<LoopRef> out;
    for (const auto& l : nest.spatial)
      if (!(l == nest.unit)) out.push_back(l);
    return out;
  }

  static bool is_output(const DefaultNest& nest, const Buffer& buffer) {
    for (const auto& w : nest.writes)
      if (w.buffer == buffer) return true;
    return false;
  }

  // The axis whose index is the loop, if no other names it; else the rank.
  static std::size_t axis_of(const AccessSite& access, const LoopRef& loop) {
    std::size_t found = access.indices.size();
    for (std::size_t axis = 0; axis < access.indices.size(); ++axis) {
      if (!uses_var(access.indices[axis], loop.var)) continue;
      if (found < access.indices.size() || access.indices[axis].get() != loop.var.get())
        return access.indices.size();
      found = axis;
    }
    return found;
  }

  static bool is_only_read(const DefaultNest& nest, const Buffer& buffer) {
    return std::count_if(nest.reads.begin(), nest.reads.end(),
                         [&](const AccessSite& read) { return read.buffer == buffer; }) == 1;
  }

  // Whether other stages are inside of its outermost loop.
  bool shares_rows(const BlockRef& ref) const {
    const BlockSite at = site(ref);
    return !at.loops.empty() && block_tags(at.loops[0]->body).size() > 1;
  }

  // The innermost of the outer loops that each have an operand of their own, as those over a batch
  // or heads: its copy is made there, and is near where it is read. Not where that would leave
  // threads without work, which `shared` loops can't find elsewhere. `read` is over loops.
  LoopRef own_matrix(const BlockRef& ref, const AccessSite& read, bool shared) const {
    LoopRef place;
    double tasks = 1;
    for (const auto& loop : site(ref).loops) {
      if (trip(*loop) == 1) continue;
      if (axis_of(read, LoopRef(loop->var)) == read.indices.size()) break;
      place = LoopRef(loop->var), tasks *= static_cast<double>(trip(*loop));
    }
    return shared || tasks >= kTasksPerCore * target_.cores ? place : LoopRef();
  }

  bool is_constant(const Buffer& buffer) const {
    for (const Param& p : s_.program()->params)
      if (p.buffer == buffer) return p.constancy != Constancy::none;
    return false;
  }

  // A copy of what a block reads whose places along an axis lie a line apart from one set of the
  // first cache to the next.
  BlockRef copy_apart(const BlockRef& ref, const AccessSite& read, std::size_t axis) {
    const BlockRef copy = s_.cache_read(ref, read.buffer->name, Scope::global);
    set_apart(copy, axis);
    return copy;
  }
  void set_apart(const BlockRef& copy, std::size_t axis) {
    const std::int64_t bytes = writes_of(*site(copy).block)[0].buffer->dtype.element_bytes();
    s_.storage_align(copy, static_cast<std::int64_t>(axis), kCacheWay / bytes,
                     target_.line_bytes / bytes);
  }

  // A vector along the last loop for each iteration of the one around it.
  void write_out_vectors(const BlockRef& block, std::size_t around = 1) {
    const auto loops = s_.loops(block);
    s_.vectorize(loops.back());
    for (std::size_t k = 0; k < around; ++k) s_.unroll(loops[loops.size() - 2 - k]);
  }
  // Whether accesses run through `unit` and the loop around it as through one, or stay where they
  // are.
  static bool run_through(const Vec<AccessSite>& accesses, const LoopRef& around,
                          const LoopRef& unit, std::int64_t trips) {
    return std::all_of(accesses.begin(), accesses.end(), [&](const AccessSite& access) {
      const auto outer = flat_stride(access, around.var), inner = flat_stride(access, unit.var);
      return outer && inner && ((*outer == trips && *inner == 1) || (*outer == 0 && *inner == 0));
    });
  }

  void vectorize_last(const BlockRef& block, std::int64_t lanes) {
    const auto parts = s_.split_any(s_.loops(block).back(), {infer, lanes});
    s_.vectorize(parts[1]);
  }

  // Tiles of `across` by `along` elements of two axes, apart from the others; 1: not split.
  struct TiledAxes {
    std::size_t rank = 0, across_axis = 0, along_axis = 0;
    std::int64_t across = 1, along = 1;
  };
  static LayoutMap tiled_layout(const TiledAxes& of) {
    Vec<VarRef> from;
    for (std::size_t k = 0; k < of.rank; ++k) from.push_back(make_var("d" + std::to_string(k)));
    Vec<AnyExpr> to, inside;
    const auto split = [&](std::size_t axis, std::int64_t size) {
      to.push_back(floordiv(AnyExpr(from[axis]), AnyExpr(size)));
      inside.push_back(floormod(AnyExpr(from[axis]), AnyExpr(size)));
    };
    if (of.across > 1) split(of.across_axis, of.across);
    for (std::size_t k = 0; k < of.rank; ++k)
      if (!(of.across > 1 && k == of.across_axis) && !(of.along > 1 && k == of.along_axis))
        to.push_back(from[k]);
    if (of.along > 1) split(of.along_axis, of.along);
    to.append(inside);
    return make_ref<LayoutMapNode>(from, to);
  }

  // Rows of memory that are turned in registers together: as many as a vector of 64 bytes has
  // floats.
  static constexpr std::int64_t kTurnedRows = 16;

  // The innermost spatial loop of those that `wanted` is true of.
  template <class F>
  static LoopRef innermost(const DefaultNest& nest, const F& wanted) {
    for (std::size_t k = nest.spatial.size(); k-- > 0;)
      if (trip_of(nest, nest.spatial[k]) > 1 && wanted(nest.spatial[k])) return nest.spatial[k];
    return {};
  }

  // Rows of equal height: 128 rows in tiles of at most 12 are 11 tiles of 12, the last one short
  // by 4.
  static std::int64_t balanced(std::int64_t extent, std::int64_t most) {
    const std::int64_t count = (extent + most - 1) / most;
    return (extent + count - 1) / count;
  }

  // What a block reads or writes, by the loops around it instead of its iterators.
  static Vec<AccessSite> over_loops(Vec<AccessSite> accesses, const BlockNode& block,
                                    const Facts& facts) {
    Substitution bound;
    for (const auto& it : block.iters) bound.emplace_back(it.var, it.binding);
    for (auto& access : accesses)
      for (auto& index : access.indices) index = simplify(substitute(index, bound), facts);
    return accesses;
  }
};

}  // namespace detail
}  // namespace lathe
