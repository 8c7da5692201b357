#pragma once

#include <algorithm>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/storage/promote_registers.ipp>

namespace lathe {
namespace detail {

// Where lanes side by side of a buffer lie.
struct LanesAt {
  Poly base;  ///< without its constant
  Slot slot;

  /// Whether they lie side by side.
  bool set(const AnyExpr& index) {
    const auto* ramp = index.as<RampNode>();
    if (ramp ? !is_const(ramp->stride, 1) : index.dtype().lanes > 1) return false;
    base = poly_shallow(ramp ? ramp->base : index);
    slot = {std::exchange(base.constant, 0), index.dtype().lanes};
    return true;
  }
};

// Those of a place that, with its mask, stays the same in a loop.
struct KeptLanes {
  Slot slot;
  AnyExpr index, mask;
  bool loaded = false, surely_stored = false;
  Buffer reg{};
};

// Whether a loop has an iteration for sure.
inline bool runs(const ForNode& loop) {
  const std::int64_t* trips = as_const_int(loop.extent);
  return trips && *trips > 0;
}

// The accesses of a loop to one buffer, as places that are loaded and surely stored in it.
class AccumulatorPlaces : public Visitor {
 public:
  AccumulatorPlaces(const Buffer& buffer, const ForNode& loop) : buffer_(buffer) {
    // What is asserted before a store may be that its place is one.
    possible_ =
        !any_statement(loop.body, [](const Stmt& s) { return s.kind() == StmtKind::Assert; });
    bound_.insert(loop.var.get());
    AccumulatorPlaces::stmt(loop.body);
    for (const auto& p : places) possible_ = possible_ && p.loaded && p.surely_stored;
  }
  Vec<KeptLanes> places;

  /// Whether these are all accesses, and differ, and some are under masks: LLVM's scalar promotion
  /// keeps the others in registers.
  bool found() const {
    const auto masked = [](const KeptLanes& p) { return p.mask.get() != nullptr; };
    return possible_ && std::any_of(places.begin(), places.end(), masked) && !names_bound();
  }

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LetNode>())
      for (const auto& b : n->bindings) bound_.insert(b.var.get());
    if (const auto* n = e.as<LoadNode>(); n && n->buffer == buffer_)
      if (KeptLanes* place = place_of(n->indices[0], n->mask)) place->loaded = true;
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (!possible_ || !may_touch(s, Contents::bit(buffer_->name)) || is_prefetch_of(s, buffer_))
      return;
    if (const auto* n = s.as<LetStmtNode>()) bound_.insert(n->var.get());
    if (const auto* n = s.as<ForNode>()) return loop(s, *n);
    if (s.kind() == StmtKind::If) return perhaps(s);
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == buffer_) store(*n);
    if (const auto* n = s.as<AllocNode>(); n && n->buffer == buffer_) possible_ = false;
    if (s.kind() == StmtKind::While || s.kind() == StmtKind::Atomic) possible_ = false;
    descend(s);
  }

 private:
  void loop(const Stmt& s, const ForNode& n) {
    bound_.insert(n.var.get());
    if (n.loop_kind != ForKind::serial) possible_ = false;
    if (runs(n))
      descend(s);
    else
      perhaps(s);
  }
  void perhaps(const Stmt& s) {
    const bool before = std::exchange(sure_, false);
    descend(s);
    sure_ = before;
  }
  void store(const StoreNode& n) {
    if (n.streaming != Streaming::none) possible_ = false;
    if (KeptLanes* place = place_of(n.indices[0], n.mask); place && sure_)
      place->surely_stored = true;
  }

  KeptLanes* place_of(const AnyExpr& index, const AnyExpr& mask) {
    LanesAt at;
    if (!at.set(index)) return refused();
    if (places.empty()) base_ = at.base;
    if (!poly_equal(at.base, base_)) return refused();
    for (auto& p : places) {
      if (!overlap(p.slot, at.slot)) continue;
      const bool same =
          p.slot == at.slot && (mask.get() && p.mask.get() ? structurally_equal(mask, p.mask)
                                                           : mask.get() == p.mask.get());
      return same ? &p : refused();
    }
    if (places.size() == kMaxPromotedSlots || find_load(index) || (mask.get() && find_load(mask)))
      return refused();
    places.push_back({at.slot, index, mask});
    return &places.back();
  }
  KeptLanes* refused() {
    possible_ = false;
    return nullptr;
  }
  bool names_bound() const {
    const auto is_bound = [&](const VarRef& v) { return bound_.contains(v.get()); };
    for (const auto& p : places)
      for (const AnyExpr& e : {p.index, p.mask})
        if (const Vec<VarRef> vars = e.get() ? free_vars(e) : Vec<VarRef>();
            std::any_of(vars.begin(), vars.end(), is_bound))
          return true;
    return false;
  }

  const Buffer& buffer_;
  Poly base_;
  NodeSet bound_;
  bool possible_ = true, sure_ = true;
};

// Lanes of a buffer, where they are accessed, become registers.
class InRegisters : public Mutator {
 public:
  InRegisters(const Buffer& buffer, const Vec<KeptLanes>& places)
      : buffer_(buffer), places_(places) {}

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    return n && n->buffer == buffer_ ? make_load(register_at(n->indices[0]), {}) : descend(e);
  }
  Stmt stmt(const Stmt& s) override {
    if (!may_touch(s, Contents::bit(buffer_->name))) return s;
    if (is_prefetch_of(s, buffer_)) return make_seq({});
    const auto* n = s.as<StoreNode>();
    if (!n || n->buffer != buffer_) return descend(s);
    return make_store(register_at(n->indices[0]), {}, expr(n->value));
  }

 private:
  const Buffer& register_at(const AnyExpr& index) const {
    LanesAt at;
    at.set(index);
    for (const auto& p : places_)
      if (p.slot == at.slot) return p.reg;
    unreachable("an accumulator has no register");
  }

  const Buffer& buffer_;
  const Vec<KeptLanes>& places_;
};

class PromoteAccumulators : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* loop = s.as<ForNode>();
    if (!loop || loop->loop_kind != ForKind::serial) return descend(s);
    for (const auto& buffer : stored_under_masks(loop->body)) {
      AccumulatorPlaces kept(buffer, *loop);
      if (kept.found()) return stmt(in_registers(buffer, *loop, kept.places));
    }
    return descend(s);
  }

 private:
  static Vec<Buffer> stored_under_masks(const Stmt& body) {
    Vec<Buffer> out;
    any_statement(body, [&](const Stmt& s) {
      const auto* n = s.as<StoreNode>();
      if (n && n->mask.get() && n->buffer->scope != Scope::reg && !contains(out, n->buffer))
        out.push_back(n->buffer);
      return false;
    });
    return out;
  }

  Stmt in_registers(const Buffer& buffer, const ForNode& loop, Vec<KeptLanes>& places) {
    Vec<Stmt> before, after;
    for (auto& p : places) {
      const DType type = buffer->dtype.with_lanes(p.index.dtype().lanes);
      p.reg = Buffer(new BufferNode(cat(buffer->name, "_sum", ++count_), type, {}, {}, Scope::reg));
      before.push_back(make_store(p.reg, {}, make_load(buffer, {p.index}, p.mask)));
      after.push_back(make_store(buffer, {p.index}, make_load(p.reg, {}), p.mask));
    }
    Vec<Stmt> all = before;
    all.push_back(make_for(loop.var, loop.min, loop.extent,
                           InRegisters(buffer, places).stmt(loop.body), loop.loop_kind,
                           loop.attributes));
    all.append(after);
    Stmt out = make_seq(std::move(all));
    for (const auto& p : places) out = make_alloc(p.reg, out);
    // A loop that does not run leaves memory alone.
    return runs(loop) ? out : make_if(AnyExpr(0) < loop.extent, out);
  }

  int count_ = 0;
};

}  // namespace detail

LATHE_DECL Program promote_accumulators(const Program& program) {
  return program.with(detail::PromoteAccumulators().stmt(program->body), Stage::flat);
}

}  // namespace lathe
