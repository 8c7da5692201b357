#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <numeric>

namespace lathe {
namespace detail {

// C[.., i, j] over r, by an intrinsic: a[i, r] as it lies or in tiles of its own, b[r, j] in tiles
// that are laid out ahead.
class TensorizeNest : IntrinsicCosts {
 public:
  using IntrinsicCosts::IntrinsicCosts;

  Vec<BlockRef> made;  ///< besides copies; their loops are as they come

  /// None: no intrinsic computes what the nest does.
  std::optional<IntrinsicTile> best(const BlockNode& block, const DefaultNest& nest) const {
    return best_intrinsic(block, nest);
  }

  /// False: not to be laid out so.
  bool run(const BlockRef& ref, const IntrinsicTile& tile, const DefaultNest& nest) {
    BlockRef moved;
    if (tile.fit.moves_b) moved = move_signs(ref, tile);
    if (tile.pads) pad(ref, tile);
    if (!moved.tag.get())
      widen(ref, tile);
    else
      inline_into_user(moved);
    const Loops at = loops_of(ref, nest, tile);
    const std::optional<Copy> b = pack(ref, tile, true);
    std::optional<Copy> a;
    if (tile.copies_a) a = pack(ref, tile, false);
    if (!b || (tile.copies_a && !a)) return false;
    const Order order = split(at, tile);
    Vec<LoopRef> all = order.tiles;
    all.append(order.terms);
    all.append(order.inner);
    all.append(order.one);
    s_.reorder(all);
    for (const auto& l : order.inner) s_.unroll(l);
    if (tile.in_tiles())
      keep_in_tiles(ref, tile, order);
    else
      keep_in_registers(ref, tile, order);
    if (a) {
      if (order.panel.var.get()) s_.compute_at(a->block, order.panel);
      copy_rows(*a, tile);
    }
    if (tile.b_in_blocks) s_.compute_at(b->block, order.block);
    copy_groups(*b, tile);
    return true;
  }

 private:
  // The loops of the nest, as they are now.
  struct Loops {
    Vec<LoopRef> spatial, reduce;  ///< but for the three
    LoopRef rows, columns, depth;
  };
  // Their order: loops over tiles, up to where a tile is finished; terms; those that are unrolled;
  // those of one instruction.
  struct Order {
    Vec<LoopRef> tiles, terms, inner, one;
    LoopRef block, panel;  ///< below which columns of b, or rows of a, stay the same
  };

  Order split(const Loops& at, const IntrinsicTile& tile) {
    const ProductRow& p = *tile.fit.product;
    Order out;
    const auto outside = [&](bool in_b) {
      for (const auto& l : at.spatial)
        if ((step_of(tile.fit.b.indices, l.var) != Step::none) == in_b) out.tiles.push_back(l);
    };
    const std::int64_t count = tile.columns / (tile.blocks * tile.vectors * p.columns);
    const auto columns = parts(at.columns, {count, tile.blocks, tile.vectors, p.columns});
    outside(true);
    add(out.tiles, columns[0]);
    out.block = columns[0];
    outside(false);
    Vec<LoopRef> rows(3);
    if (at.rows.var.get())
      rows = parts(at.rows, {tile.rows / (p.rows * tile.height), tile.height, p.rows});
    add(out.tiles, rows[0]);
    if (!out.tiles.empty()) out.panel = out.tiles.back();
    add(out.tiles, columns[1]);
    add(out.inner, rows[1]);
    add(out.inner, columns[2]);
    const auto depth = parts(at.depth, {tile.depth / p.depth(), p.groups, p.group});
    out.terms = at.reduce;
    add(out.terms, depth[0]);
    for (const LoopRef& l : {rows[2], columns[3], depth[1], depth[2]}) add(out.one, l);
    for (auto* needed : {&out.tiles, &out.terms})
      if (needed->empty()) needed->push_back(s_.add_unit_loop(out.one.back()));
    return out;
  }
  static void add(Vec<LoopRef>& to, const LoopRef& loop) {
    if (loop.var.get()) to.push_back(loop);
  }
  // Parts of a loop by their extents; none for those of one iteration.
  Vec<LoopRef> parts(const LoopRef& loop, const Vec<std::int64_t>& extents) {
    Vec<Factor> factors;
    for (std::int64_t extent : extents)
      if (extent > 1) factors.push_back(factors.empty() ? infer : Factor(extent));
    const auto split = factors.size() > 1 ? s_.split_any(loop, factors) : Vec<LoopRef>{loop};
    Vec<LoopRef> out;
    std::size_t next = 0;
    for (std::int64_t extent : extents) out.push_back(extent > 1 ? split[next++] : LoopRef());
    if (factors.empty()) out[0] = loop;
    return out;
  }

  void pad(const BlockRef& ref, const IntrinsicTile& tile) {
    std::vector<Factor> multiples;
    for (const auto& it : site(ref).block->iters) {
      const auto is = [&](const LoopRef& l) { return it.binding.get() == l.var.get(); };
      std::int64_t multiple = 1;
      if (is(tile.fit.columns)) multiple = tile.columns;
      if (is(tile.fit.depth)) multiple = tile.depth;
      if (is(tile.fit.rows)) multiple = tile.rows;
      multiples.push_back(multiple);
    }
    inline_into_user(s_.pad(ref, multiples).back());
  }

  // Copies of what is narrower than the intrinsic's operands.
  void widen(const BlockRef& ref, const IntrinsicTile& tile) {
    const ProductRow& p = *tile.fit.product;
    const ProductOperands now(p, *site(ref).block, tile.fit.turned);
    const auto widen_one = [&](const Buffer& is, const AccessSite& was, std::size_t operand) {
      if (is->dtype == p.type_of(operand)) return;
      const BlockRef copy =
          is == was.buffer ? s_.cache_read(ref, is->name, Scope::global) : s_.block(is->name);
      s_.change_type(copy, p.type_of(operand));
    };
    widen_one(now.a, tile.fit.a, p.a);
    widen_one(now.b, tile.fit.b, p.b);
  }

  // Bytes of b as those of the other sign, which are 128 more or less: what that adds to a result
  // is as many times the sum of a row of a. Returns the block that moves them.
  BlockRef move_signs(const BlockRef& ref, const IntrinsicTile& tile) {
    const BlockRef moved = s_.cache_read(ref, tile.fit.b.buffer->name, Scope::global);
    const ProductRow& p = *tile.fit.product;
    const DType to = p.type_of(p.b);
    s_.change_type(moved, to, to.is_signed() ? -128 : 128);
    made = s_.split_terms(ref);
    if (inline_into_user(made.back())) made.erase_at(made.size() - 1);
    return moved;
  }
  bool inline_into_user(const BlockRef& block) {
    return FinishTiles(job_).only_user(block).tag.get() &&
           attempt([&] { s_.compute_inline(block); });
  }

  // Padding and copies leave the loops in their order.
  Loops loops_of(const BlockRef& ref, const DefaultNest& nest, const IntrinsicTile& tile) const {
    Loops out;
    const auto now = s_.loops(ref);
    const std::size_t outside = now.size() - nest.all.size();
    for (std::size_t k = 0; k < nest.all.size(); ++k) {
      const LoopRef was(nest.all[k]->var), &is = now[outside + k];
      if (was == tile.fit.rows)
        out.rows = is;
      else if (was == tile.fit.columns)
        out.columns = is;
      else if (was == tile.fit.depth)
        out.depth = is;
      else
        (contains(nest.reduce, was) ? out.reduce : out.spatial).push_back(is);
    }
    return out;
  }

  // A copy of one operand, and which of its axes two loops are.
  struct Copy {
    BlockRef block;
    std::size_t rank = 0, across = 0, along = 0;
    bool side_by_side = false;  ///< whether terms lie side by side in what is copied
  };
  Copy copy_of(const BlockRef& ref, const IntrinsicTile& tile, bool of_b) {
    const AccessSite& was = of_b ? tile.fit.b : tile.fit.a;
    const BlockSite at = site(ref);
    TensorMatch match(tile.fit.product->code, *at.block, tile.fit.turned);
    match.run(*only_store(*at.block));
    const Bound* now = nullptr;
    for (const Bound& bound : match.bound)
      if (bound.operand == (of_b ? tile.fit.product->b : tile.fit.product->a)) now = &bound;
    Copy out;
    out.rank = now->indices.size();
    out.block = now->buffer == was.buffer ? s_.cache_read(ref, was.buffer->name, Scope::global)
                                          : s_.block(now->buffer->name);
    AccessSite access;
    access.buffer = now->buffer, access.indices = now->indices;
    const AccessSite by_loops = over_loops({access}, *at.block, facts_on(at.path))[0];
    out.across = axis_of(by_loops, of_b ? tile.fit.columns : tile.fit.rows);
    out.along = axis_of(by_loops, tile.fit.depth);
    out.side_by_side = step_of(was.indices, tile.fit.depth.var) == Step::unit;
    return out;
  }

  // Tiles of b; rows of a in tiles, or with their terms side by side. Empty where an axis that they
  // have to run along is none of the operand's.
  std::optional<Copy> pack(const BlockRef& ref, const IntrinsicTile& tile, bool of_b) {
    const ProductRow& p = *tile.fit.product;
    Copy copy = copy_of(ref, tile, of_b);
    const bool crosses = of_b || p.rows > 1;
    if (copy.along == copy.rank || (crosses && copy.across == copy.rank)) return {};
    TiledAxes axes{copy.rank, copy.across, copy.along, p.rows, p.depth()};
    if (of_b) axes.across = p.columns, axes.along = p.group;
    s_.transform_layout(copy.block, tiled_layout(axes));
    return copy;
  }

  // Some tiles of as many panels as a line of memory has, without a rest: it is read once, from few
  // pages, and written in runs. A group lies side by side, or vectors of columns are interleaved
  // (zip_stores).
  void copy_groups(const Copy& copy, const IntrinsicTile& tile) {
    const ProductRow& p = *tile.fit.product;
    const LoopRef across = loop_of(copy, copy.across), along = loop_of(copy, copy.along);
    const std::int64_t panels =
                           tile.b_in_blocks ? tile.blocks * tile.vectors : tile.columns / p.columns,
                       bytes = p.columns * tile.fit.b.buffer->dtype.element_bytes(),
                       of_line =
                           std::gcd(std::max<std::int64_t>(target_.line_bytes / bytes, 1), panels);
    const auto columns = s_.split_any(across, {infer, of_line, p.columns});
    const auto depth = s_.split_any(along, {infer, kTurnedRows, p.group});
    Vec<LoopRef> order;
    for (const auto& l : own_loops(copy))
      if (!contains(columns, l) && !contains(depth, l)) order.push_back(l);
    order.append({depth[0], columns[0], depth[1], columns[1]});
    if (copy.side_by_side)
      order.append({columns[2], depth[2]});
    else
      order.append({depth[2], columns[2]});
    s_.reorder(order);
    if (!copy.side_by_side) s_.unroll(depth[2]);
    s_.vectorize(order.back());
  }
  Vec<LoopRef> own_loops(const Copy& copy) const {
    Vec<LoopRef> out;
    for (const auto& f : site(copy.block).loops)
      if (block_tags(f->body).size() == 1) out.push_back(LoopRef(f->var));
    return out;
  }

  // The loop of a copy that runs along one of its axes, where it stands now.
  LoopRef loop_of(const Copy& copy, std::size_t axis) const {
    const BlockSite at = site(copy.block);
    LoopRef found;
    for (const auto& f : at.loops)
      if (uses_var(at.block->iters[axis].binding, f->var)) found = LoopRef(f->var);
    return found;
  }

  // Whole runs of terms; from memory in which they lie apart, those of some rows are turned in
  // registers.
  void copy_rows(const Copy& copy, const IntrinsicTile& tile) {
    const std::int64_t run = std::max<std::int64_t>(tile.fit.product->depth(), kTurnedRows);
    const auto terms = s_.split_any(loop_of(copy, copy.along), {infer, run});
    if (copy.side_by_side || copy.across == copy.rank) {
      if (!(s_.loops(copy.block).back() == terms[1])) s_.reorder({terms[0], terms[1]});
      return s_.vectorize(terms[1]);
    }
    const auto rows = s_.split_any(loop_of(copy, copy.across), {infer, kTurnedRows});
    s_.reorder({terms[0], rows[0], rows[1], terms[1]});
    s_.unroll(rows[1]);
    s_.vectorize(terms[1]);
  }

  // Sums in tile registers, which are stored whole: to the output, or to where the one reader of
  // the block takes them from.
  void keep_in_tiles(const BlockRef& ref, const IntrinsicTile& tile, const Order& order) {
    const LoopRef& place = order.tiles.back();
    const ProductRow& p = *tile.fit.product;
    const std::string type = writes_of(*site(ref).block)[0].buffer->dtype.str();
    const BlockRef user = FinishTiles(job_).only_user(ref);
    const BlockRef out = s_.cache_write(ref, Scope::fragment);
    s_.reverse_compute_at(out, place);
    if (user.tag.get()) FinishTiles(job_).move_reader(user, place);
    const BlockRef zero = s_.decompose_reduction(ref, order.terms[0]);
    s_.tensorize(order.one[0], p.row->name);
    s_.tensorize(s_.loops(zero).rbegin()[1], "tilezero_" + type);
    Vec<LoopRef> loops;
    for (const auto& f : site(out).loops)
      if (trip(*f) > 1 && !contains(order.tiles, LoopRef(f->var))) loops.push_back(LoopRef(f->var));
    const auto rows = s_.split_any(loops[loops.size() - 2], {infer, p.rows}),
               columns = s_.split_any(loops.back(), {infer, p.columns});
    s_.reorder({rows[0], columns[0], rows[1], columns[1]});
    s_.unroll(rows[0]), s_.unroll(columns[0]);
    s_.tensorize(rows[1], "tilecopy_" + type);
  }

  void keep_in_registers(const BlockRef& ref, const IntrinsicTile& tile, const Order& order) {
    const BlockRef out = FinishTiles(job_).run(ref, order.tiles.back());
    const BlockRef init = s_.decompose_reduction(ref, order.terms[0]);
    s_.tensorize(order.one[0], tile.fit.product->row->name);
    const auto at = s_.loops(init);
    s_.vectorize(at.back());
    const auto finished = s_.loops(out);
    const auto lanes = s_.split_any(finished.back(), {infer, tile.fit.product->columns});
    s_.vectorize(lanes[1]);
    s_.unroll(lanes[0]);
    if (tile.height > 1) s_.unroll(s_.loops(out).rbegin()[2]);
  }
};

}  // namespace detail
}  // namespace lathe
