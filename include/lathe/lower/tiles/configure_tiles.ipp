#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/tiles/tile_config.ipp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

/// Which sizes of tile registers the statements of a body ask for.
struct TileNeeds {
  enum Kind { none, one, several } kind = none;
  TileConfig config;
  bool parallel = false;  ///< a parallel loop, whose threads may leave no register as it was

  void add(const TileNeeds& other) {
    parallel = parallel || other.parallel;
    if (other.kind == none || kind == several) return;
    if (kind == none || other.kind == several || !config.agrees(other.config))
      kind = kind == none ? other.kind : several, config = other.config;
    else
      config.add(other.config);
  }
  bool alike() const { return kind == one && !parallel; }
};

/// Setting registers up takes as long as a dozen products (44 ns, KERNELS 2.7 as measured): done
/// before the largest statements in which no other sizes are asked for, and once in most bodies.
class ConfigureOnce : public Mutator {
 public:
  AnyExpr expr(const AnyExpr& e) override { return e; }

  /// The body of a kernel or of a parallel loop, which gives the registers back.
  Stmt body(const Stmt& s) {
    if (needs(s).kind == TileNeeds::none) return s;
    return make_seq({stmt(s), TileConfig().configure()});
  }
  Stmt stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>(); f && f->loop_kind == ForKind::parallel) return s;
    const TileNeeds& wants = needs(s);
    if (!wants.alike()) return wants.kind == TileNeeds::none ? s : descend(s);
    const Stmt first = wants.config.configure();
    Strip rest;
    return make_seq({first, rest.stmt(s)});
  }

 private:
  // Takes the configurations out.
  struct Strip : Mutator {
    AnyExpr expr(const AnyExpr& e) override { return e; }
    Stmt stmt(const Stmt& s) override { return tile_configuration(s) ? make_seq({}) : descend(s); }
  };

  const TileNeeds& needs(const Stmt& s) {
    if (const TileNeeds* known = known_.find(s.get())) return *known;
    TileNeeds out;
    if (const CallNode* call = tile_configuration(s)) {
      out.kind = TileNeeds::one, out.config = TileConfig(*call);
    } else {
      any_child(s, [&](const Stmt& child) { return out.add(needs(child)), false; });
      if (const auto* f = s.as<ForNode>(); f && f->loop_kind == ForKind::parallel) {
        out.parallel = true;
        out.kind = TileNeeds::none;
      }
    }
    known_.insert(s.get(), out);
    return *known_.find(s.get());
  }

  NodeMap<TileNeeds> known_;
};

}  // namespace lathe::detail
