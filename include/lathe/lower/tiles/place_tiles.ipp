#pragma once

#include <lathe/lower/passes.hpp>
#include <lathe/lower/tiles/configure_tiles.ipp>
#include <lathe/lower/tiles/expand_tiles.ipp>
#include <lathe/lower/tiles/tile_run.ipp>

namespace lathe {
namespace detail {

inline bool has_fragments(const Stmt& s) {
  const auto* a = s.as<AllocNode>();
  return a && a->buffer->scope == Scope::fragment;
}

/// Fragments and operands in registers. Each outermost statement that uses some begins with what
/// sizes they have.
class PlaceTiles : public Mutator {
 public:
  explicit PlaceTiles(Location where) : where_(where) {}

  AnyExpr expr(const AnyExpr& e) override { return e; }
  Stmt stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>(); f && f->loop_kind == ForKind::parallel) return apart(*f);
    if (const auto* a = s.as<AllocNode>(); a && a->buffer->scope == Scope::fragment)
      return region([&] { return fragment(*a); });
    if (s.kind() == StmtKind::Seq || stores_tile(s)) return sequence(seq_of(s));
    return descend(s);
  }

 private:
  // Threads have registers of their own.
  Stmt apart(const ForNode& f) {
    TileConfig* const around = std::exchange(config_, nullptr);
    const Stmt body = ConfigureOnce().body(stmt(f.body));
    config_ = around;
    return make_for(f.var, f.min, f.extent, body, f.loop_kind, f.attributes);
  }

  template <class Make>
  Stmt region(Make make) {
    if (config_) return make();
    TileConfig config;
    config_ = &config;
    const Stmt body = make();
    config_ = nullptr;
    return make_seq({config.configure(), body});
  }

  Stmt fragment(const AllocNode& a) {
    FindTiles found(a.buffer, where_);
    found.stmt(a.body);
    for (auto& tile : found.tiles) {
      const auto number = config_->take(tile.rows, tile.columns * a.buffer->dtype.element_bytes());
      if (!number) too_many_tiles(where_);
      const DType type = a.buffer->dtype.with_lanes(tile.rows * tile.columns);
      tile.reg = tile_register(cat(a.buffer->name, '_', tile.base), type, *number);
    }
    Stmt out = stmt(UseTiles(a.buffer, found.tiles).stmt(a.body));
    for (const auto& tile : found.tiles) {
      config_->release(tile.reg->tile);
      out = make_alloc(tile.reg, std::move(out));
    }
    return out;
  }

  Stmt sequence(const Vec<Stmt>& stmts) {
    Vec<Stmt> out;
    for (std::size_t at = 0; at < stmts.size();) {
      Vec<Stmt> tiles;
      while (at < stmts.size() && stores_tile(stmts[at])) tiles.push_back(stmts[at++]);
      if (tiles.empty())
        out.push_back(stmt(stmts[at++]));
      else
        out.push_back(region([&] { return TileRun(tiles, *config_, where_).run(); }));
    }
    return make_seq(std::move(out));
  }

  TileConfig* config_ = nullptr;  ///< null outside of what uses registers
  Location where_;
};

}  // namespace detail

LATHE_DECL Program place_tiles(const Program& program, const TargetCaps& caps, Location where) {
  bool any = false, legal = caps.byte_tiles || caps.bf16_tiles;
  each_statement(program->body, [&](const Stmt& s) {
    const bool stores = detail::stores_tile(s);
    any = any || stores || detail::has_fragments(s);
    if (stores) legal = legal && detail::has_tiles(caps, *s.as<StoreNode>()->value.as<CallNode>());
  });
  if (!any) return program;
  if (!legal) return program.with(detail::ExpandTiles(where).stmt(program->body));
  const Stmt placed = detail::PlaceTiles(where).stmt(program->body);
  return program.with(detail::ConfigureOnce().body(placed));
}

}  // namespace lathe
