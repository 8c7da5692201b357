#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Register tiles of a reduction.
class TileRegisters : protected StreamedTerms {
 public:
  using StreamedTerms::StreamedTerms;

 protected:
  // C[.., i, j] over r: a tile of rows × vectors of j stays in registers for the whole reduction.
  void tile_registers(const BlockRef& ref, const DefaultNest& nest, const RegisterTile& tile,
                      std::int64_t lanes) {
    if (too_large(ref, nest, tile, lanes))
      return void(attempt([&] { vectors_inside(nest, lanes); }));
    const std::int64_t block = decided_block(nest, tiles_in_block(nest, tile, lanes));
    if (const TermBlocks blocks = blocks_of_terms(nest, tile, lanes); block > 0 && blocks.tiles > 0)
      if (const TermBlocks decided = decided_blocks(nest, blocks);
          decided.tiles > 0 && attempt([&] { tile_terms(ref, nest, tile, lanes, decided); }))
        return;
    if (block > 0 && attempt([&] { tile_nest(ref, nest, tile, lanes, block); })) return;
    if (attempt([&] { tile_nest(ref, nest, tile, lanes, 0); })) return;
    attempt([&] { vectors_inside(nest, lanes); });
  }

  // False: nothing done.
  bool stream_terms(const BlockRef& ref, const DefaultNest& nest, const RegisterTile& tile,
                    std::int64_t lanes) {
    const TermBlocks blocks = streams_of_terms(nest, tile, lanes);
    return blocks.tiles > 0 &&
           attempt([&] { tile_terms(ref, nest, streamed_tile(nest, tile), lanes, blocks); });
  }

 private:
  // Whether all that is written out, 16 terms where rows are turned, would fill the program.
  bool too_large(const BlockRef& ref, const DefaultNest& nest, const RegisterTile& tile,
                 std::int64_t lanes) const {
    const bool turned = std::any_of(nest.reads.begin(), nest.reads.end(), [&](const auto& read) {
      return !worth_panels(nest, tile, read, lanes) && is_turned(nest, read);
    });
    const std::int64_t copies = tile.height * tile.vectors * (turned ? kTurnedRows : 1);
    const BlockNode& b = *site(ref).block;
    return static_cast<std::size_t>(copies) * (node_count(b.body) + expanded_nodes(b)) >
           kDefaultNodes;
  }

  std::int64_t decided_block(const DefaultNest& nest, std::int64_t tiles) const {
    const auto others = [&] {
      Vec<std::int64_t> all;
      if (tiles > 0) all.append({0, 2 * tiles});
      if (tiles > 1) all.push_back(tiles / 2);
      return all;
    };
    return decided(nest.block, "blocks", tiles, others, [](std::int64_t t) {
      return PlanOption{"tiles", {t}, 0};
    });
  }
  std::int64_t decided_row_block(const DefaultNest& nest, const RegisterTile& tile) const {
    const std::int64_t tiles = rows_in_block(nest, tile);
    if (tiles == 0) return 0;
    const auto others = [&] {
      Vec<std::int64_t> all{0, 2 * tiles};
      if (tiles > 1) all.push_back(tiles / 2);
      return all;
    };
    return decided(nest.block, "row_blocks", tiles, others, [](std::int64_t t) {
      return PlanOption{"tiles", {t}, 0};
    });
  }
  TermBlocks decided_blocks(const DefaultNest& nest, const TermBlocks& blocks) const {
    const auto others = [&] {
      Vec<TermBlocks> all{TermBlocks()};
      if (blocks.terms > 1) {
        all.push_back(blocks), all.back().terms *= 2;
        all.push_back(blocks), all.back().terms /= 2;
      }
      return all;
    };
    return decided(nest.block, "term_blocks", blocks, others, [](const TermBlocks& b) {
      return PlanOption{"terms", {b.terms, b.tiles}, 0};
    });
  }

  // The loops of a tile: over tiles, what is unrolled, and the lanes.
  struct Parts {
    Vec<LoopRef> order, inner;
    LoopRef rows, lanes;  ///< over tiles of rows, if there are some
    LoopRef blocks;       ///< of tiles along the lanes, if there are some
    LoopRef row_blocks;   ///< of tiles of rows, around those
  };

  // Which operands stay where they are, whether some of these are turned, and copies of rows.
  struct Operands {
    Vec<AccessSite> in_place;
    Vec<BlockRef> rows;
    Vec<PackPanels::Panels> panels;
    bool turned = false, panels_are_constant = true;
  };
  // `copies_crowded`: rows that push each other out of the first cache are copied. `times`: how
  // many tiles along the lanes read a row one after the other. Rows that others come back to later
  // are converted before all loops.
  Operands copy_operands(const BlockRef& ref, const DefaultNest& nest, const RegisterTile& tile,
                         std::int64_t lanes, bool copies_crowded, std::int64_t times) {
    Operands out;
    for (const auto& read : nest.reads) {
      const bool of_columns = worth_panels(nest, tile, read, lanes);
      if (of_columns || worth_row_panels(nest, tile, read)) {
        out.panels.push_back(
            of_columns ? PackPanels(job_).lay_out(ref, nest, read, nest.unit, tile.vectors * lanes)
                       : PackPanels(job_).lay_out(ref, nest, read, tile.rows, tile.height));
        if (of_columns)
          out.panels_are_constant = out.panels_are_constant && is_constant(read.buffer);
        if (const DType held = type_held(nest, read); held != read.buffer->dtype)
          s_.change_type(out.panels.back().copy, held);
        continue;
      }
      out.turned = out.turned || is_turned(nest, read);
      out.in_place.push_back(read);
      const bool ahead = times < kRowReuse && tiles_along(nest, tile.vectors * lanes) >= kFarReuse,
                 converts = (times >= kRowReuse || ahead) && converts_rows(nest, tile, read),
                 apart = copies_crowded && crowded_rows(nest, tile, read);
      if (!converts && !apart) continue;
      const BlockRef copy = s_.cache_read(ref, read.buffer->name, Scope::global);
      if (converts) s_.change_type(copy, nest.type_read(read.buffer));
      if (apart) set_apart(copy, axis_of(read, tile.rows));
      if (ahead)
        vectorize_last(copy, lanes);
      else
        out.rows.push_back(copy);
    }
    return out;
  }

  // Sums wait in memory between blocks of terms, and are added up in the same order.
  void tile_terms(const BlockRef& ref, const DefaultNest& nest, const RegisterTile& tile,
                  std::int64_t lanes, const TermBlocks& blocks) {
    const Operands operands =
        copy_operands(ref, nest, tile, lanes, blocks.tiles >= kRowReuse && !blocks.streams,
                      blocks.streams ? 1 : blocks.tiles);
    const auto columns = s_.split_any(nest.unit, {infer, blocks.tiles, tile.vectors * lanes});
    Vec<LoopRef> rows;
    LoopRef row_blocks;
    if (tile.rows.var.get())
      rows = split_rows(tile, blocks.streams ? 0 : decided_row_block(nest, tile), row_blocks);
    const auto first = nest.reduce.begin() + static_cast<std::ptrdiff_t>(blocks.whole);
    Vec<LoopRef> around(nest.reduce.begin(), first), terms(first, nest.reduce.end());
    if (blocks.terms > 0) {
      const auto parts = s_.split_any(terms[0], {infer, blocks.terms});
      around.push_back(parts[0]), terms[0] = parts[1];
    }
    Vec<LoopRef> outside, below;
    for (const auto& l : nest.spatial) {
      if (l == nest.unit) continue;
      (meets_again(nest, l) ? below : outside).push_back(l == tile.rows ? rows[0] : l);
    }
    Vec<LoopRef> order = outside;
    if (row_blocks.var.get()) order.push_back(row_blocks);
    order.push_back(columns[0]);
    order.append(around);
    if (blocks.near) order.push_back(columns[1]);
    order.append(below);
    if (!blocks.near) order.push_back(columns[1]);
    order.append(terms);
    if (!rows.empty()) order.push_back(rows[1]);
    order.push_back(columns[2]);
    s_.reorder(order);
    const BlockRef user = FinishTiles(job_).only_user(ref);
    const BlockRef init = s_.decompose_reduction(ref, around[0]);
    s_.vectorize(columns[2]);
    if (!rows.empty()) s_.unroll(rows[1]);
    s_.vectorize(s_.loops(init).back());
    for (const auto& panels : operands.panels) {
      LoopRef place;
      if (panels.of_rows && !is_constant(panels.read.buffer))
        place = own_matrix(ref, panels.read, shares_rows(ref));
      else if (!panels.of_rows && !operands.panels_are_constant)
        place = around.back();
      if (place.var.get()) s_.compute_at(panels.copy, place);
      PackPanels(job_).order_loops(panels);
    }
    for (const auto& copy : operands.rows)
      place_rows(copy, blocks.near ? around.back() : rows[0], lanes);
    if (!blocks.streams) fetch_ahead(nest, operands.in_place, terms.back());
    if (operands.panels_are_constant) fetch_panels(nest, operands.panels, terms.back());
    if (user.tag.get()) FinishTiles(job_).move_reader(user, columns[0]);
  }

  void tile_nest(const BlockRef& ref, const DefaultNest& nest, const RegisterTile& tile,
                 std::int64_t lanes, std::int64_t block) {
    const std::int64_t times = block > 0 || !(nest.spatial.back() == nest.unit)
                                   ? std::max<std::int64_t>(block, 1)
                                   : tiles_along(nest, tile.vectors * lanes);
    Operands operands = copy_operands(ref, nest, tile, lanes, block >= kRowReuse, times);
    Parts parts = split_tile(nest, tile, lanes, block);
    Vec<LoopRef> order = parts.order, reduce = nest.reduce;
    if (operands.turned) parts.inner.push_back(split_turned(nest, reduce));
    order.append(reduce);
    order.append(parts.inner);
    order.push_back(parts.lanes);
    s_.reorder(order);
    for (auto& panels : operands.panels) {
      if (!is_constant(panels.read.buffer)) panels.place = place_of_panels(ref, panels, parts);
      if (panels.place.var.get()) s_.compute_at(panels.copy, panels.place);
      PackPanels(job_).order_loops(panels);
    }
    if (operands.turned) s_.unroll(parts.inner.back()), parts.inner.pop_back();
    FinishTiles(job_).keep_in_registers(ref, parts.order.back(), reduce.front(), parts.inner,
                                        parts.lanes);
    for (const auto& copy : operands.rows) place_rows(copy, parts.rows, lanes);
    const bool written_out = !operands.turned && unroll_terms(nest, tile.height * tile.vectors);
    if (!written_out) {
      fetch_ahead(nest, operands.in_place, reduce.back());
      fetch_panels(nest, operands.panels, reduce.back());
    }
  }

  // A block at a time, which stays in the second cache from the copy on, unless that would be made
  // more than once by few rows, or threads would lack work.
  LoopRef place_of_panels(const BlockRef& ref, const PackPanels::Panels& panels,
                          const Parts& parts) const {
    const LoopRef own = own_matrix(ref, panels.read, shares_rows(ref));
    if (!parts.blocks.var.get() || panels.of_rows) return own;
    double tasks = 1;
    for (const auto& loop : site(ref).loops) {
      if (loop->var == parts.row_blocks.var) continue;
      tasks *= static_cast<double>(trip(*loop));
      if (loop->var == parts.blocks.var) break;
      if (trip(*loop) > 1 && step_of(panels.read.indices, loop->var) == Step::none) return own;
    }
    return target_.cores == 1 || tasks >= kTasksPerCore * target_.cores ? parts.blocks : own;
  }

  // Of tiles, and of a tile. `block`: tiles of a block, around which a loop stands then.
  Vec<LoopRef> split_rows(const RegisterTile& tile, std::int64_t block, LoopRef& blocks) {
    if (block == 0) return s_.split_any(tile.rows, {infer, tile.height});
    const auto parts = s_.split_any(tile.rows, {infer, block, tile.height});
    blocks = parts[0];
    return {parts[1], parts[2]};
  }

  // `block`: tiles along the lanes whose operands stay in the second cache while rows pass by; 0:
  // all of them.
  Parts split_tile(const DefaultNest& nest, const RegisterTile& tile, std::int64_t lanes,
                   std::int64_t block) {
    Parts out;
    Vec<LoopRef> columns;
    const Vec<LoopRef> spatial = shared_inside(nest);
    for (const auto& l : spatial) {
      if (l == nest.unit) {
        Vec<Factor> factors{infer};
        if (block > 0) factors.push_back(block);
        factors.push_back(tile.vectors * lanes);
        columns = s_.split_any(l, factors);
        out.order.push_back(columns[block > 0 ? 1 : 0]);
        out.lanes = columns.back();
      } else if (l == tile.rows && tile.height > 1) {
        const auto rows =
            split_rows(tile, block > 0 ? decided_row_block(nest, tile) : 0, out.row_blocks);
        out.order.push_back(rows[0]);
        out.inner.push_back(rows[1]);
        out.rows = rows[0];
      } else {
        out.order.push_back(l);
      }
    }
    if (block > 0) {
      std::size_t at = 0;
      while (at < spatial.size() && !meets_again(nest, spatial[at])) ++at;
      out.order.insert_at(at, columns[0]);
      if (out.row_blocks.var.get()) out.order.insert_at(at, out.row_blocks);
      out.blocks = columns[0];
    }
    return out;
  }

  // Runs of memory that lie a page or more apart, which no hardware fetches ahead of their use.
  void fetch_ahead(const DefaultNest& nest, const Vec<AccessSite>& reads, const LoopRef& terms) {
    if (trip_of(nest, nest.reduce.back()) < 2 * kTermsAhead) return;
    for (const auto& read : reads) {
      if (step_of(read.indices, nest.unit.var) != Step::unit) continue;
      const auto stride = flat_stride(read, nest.reduce.back().var);
      const double bytes = term_bytes(nest, read) * static_cast<double>(trip_of(nest, nest.unit));
      if (stride && static_cast<double>(*stride) * read.buffer->dtype.element_bytes() >= kPage &&
          bytes > static_cast<double>(target_.l2_bytes))
        s_.prefetch(read.buffer->name, terms, kTermsAhead);
    }
  }

  // Panels that the second cache does not hold, a page ahead: hardware does not look past its end.
  void fetch_panels(const DefaultNest& nest, const Vec<PackPanels::Panels>& all,
                    const LoopRef& terms) {
    for (const auto& panels : all) {
      if (panels.place.var.get() || panels.of_rows) continue;
      const Buffer to = writes_of(*site(panels.copy).block)[0].buffer;
      const double bytes = to->dtype.element_bytes();
      const auto ahead =
          static_cast<std::int64_t>(kPage / (bytes * static_cast<double>(panels.width)));
      if (ahead >= 1 && elements(*to) * bytes > static_cast<double>(target_.l2_bytes) &&
          trip_of(nest, nest.reduce.back()) >= 2 * ahead)
        s_.prefetch(to->name, terms, static_cast<int>(ahead));
    }
  }

  // Whether rows are converted one number at a time, for all lanes, and could be by vectors.
  static bool converts_rows(const DefaultNest& nest, const RegisterTile& tile,
                            const AccessSite& read) {
    return is_converted(nest, read) && tile.height > 1 &&
           step_of(read.indices, nest.unit.var) == Step::none &&
           step_of(read.indices, nest.reduce.back().var) == Step::unit &&
           is_only_read(nest, read.buffer) && axis_of(read, tile.rows) < read.indices.size();
  }
  bool crowded_rows(const DefaultNest& nest, const RegisterTile& tile,
                    const AccessSite& read) const {
    return 2 * rows_in_set(nest, tile, read) > cache_ways() &&
           axis_of(read, tile.rows) < read.indices.size();
  }

  void place_rows(const BlockRef& copy, const LoopRef& rows, std::int64_t lanes) {
    s_.compute_at(copy, rows);
    vectorize_last(copy, lanes);
  }

  // Tiles for which rows are converted next to them, and before all loops, through memory.
  static constexpr std::int64_t kRowReuse = 2, kFarReuse = 4;
  static constexpr std::int64_t kTermsAhead = 8;

  // Short reductions, from the innermost loop on, are written out: windows and small matrices.
  // Whether any loop is.
  bool unroll_terms(const DefaultNest& nest, std::int64_t statements) {
    constexpr std::int64_t kMostStatements = 32;
    bool any = false;
    for (std::size_t k = nest.reduce.size(); k-- > 0; any = true) {
      const LoopRef& loop = nest.reduce[k];
      statements *= trip_of(nest, loop);
      if (!has_const_trip(nest, loop) || statements > kMostStatements) break;
      s_.unroll(loop);
    }
    return any;
  }

  // The inner part of the innermost reduce loop.
  LoopRef split_turned(const DefaultNest& nest, Vec<LoopRef>& reduce) {
    const std::int64_t columns = std::min(kTurnedRows, trip_of(nest, reduce.back()));
    const auto parts = s_.split_any(reduce.back(), {infer, columns});
    reduce.back() = parts[0];
    return parts[1];
  }

  // Without registers: lanes of the output below the reduction.
  void vectors_inside(const DefaultNest& nest, std::int64_t lanes) {
    Vec<LoopRef> order = nest.spatial;
    order.pop_back();
    order.append(nest.reduce);
    auto parts = s_.split_any(nest.unit, {infer, lanes});
    order.push_back(parts[0]);
    order.push_back(parts[1]);
    s_.reorder(order);
    s_.vectorize(parts[1]);
  }
};

}  // namespace detail
}  // namespace lathe
