#pragma once

#include <algorithm>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

// The elements that a constant index names: [first, first + lanes).
struct Slot {
  std::int64_t first = 0;
  int lanes = 1;

  bool operator==(const Slot&) const = default;
};
inline bool overlap(const Slot& a, const Slot& b) {
  return a.first < b.first + b.lanes && b.first < a.first + a.lanes;
}

inline bool constant_slot(const AnyExpr& index, Slot& out) {
  if (const auto* c = index.as<ConstNode>()) return out = {c->i, 1}, true;
  const auto* ramp = index.as<RampNode>();
  if (!ramp || !is_const(ramp->stride, 1)) return false;
  const auto* base = ramp->base.as<ConstNode>();
  if (!base) return false;
  return out = {base->i, ramp->lanes}, true;
}

// A hint to fetch an element of the buffer: nothing, once it is in registers.
inline bool is_prefetch_of(const Stmt& s, const Buffer& buffer) {
  const LoadNode* load = prefetched(s);
  return load && load->buffer == buffer;
}

// Which constant slots a buffer is accessed by, or that it can't be promoted.
class SlotCollector : public Visitor {
 public:
  explicit SlotCollector(const Buffer& buffer) : buffer_(buffer) {}
  bool possible = true;
  Vec<Slot> stored, loaded;

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>(); n && n->buffer == buffer_) note(n->indices[0], loaded);
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (!may_touch(s, Contents::bit(buffer_->name)) || is_prefetch_of(s, buffer_)) return;
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == buffer_) note(n->indices[0], stored);
    if (const auto* n = s.as<AtomicNode>(); n && n->buffer == buffer_) possible = false;
    // A parallel loop would share the registers among its iterations.
    if (const auto* f = s.as<ForNode>(); f && f->loop_kind == ForKind::parallel) {
      SlotCollector inside(buffer_);
      inside.stmt(f->body);
      if (!inside.possible || !inside.stored.empty() || !inside.loaded.empty()) possible = false;
      return;
    }
    descend(s);
  }

 private:
  void note(const AnyExpr& index, Vec<Slot>& list) {
    Slot slot;
    if (!constant_slot(index, slot)) {
      possible = false;
      return;
    }
    if (contains(list, slot)) return;
    list.push_back(slot);
  }

  const Buffer& buffer_;
};

inline bool holds(const Slot& outer, const Slot& inner) {
  return outer.first <= inner.first && inner.first + inner.lanes <= outer.first + outer.lanes;
}

// Stores decide the registers: of two that share lanes one must hold the other, which is a store to
// some lanes of a register. A load may take lanes out of one.
inline bool slots_agree(const SlotCollector& slots) {
  if (!slots.possible) return false;
  for (const auto& a : slots.stored)
    for (const auto& b : slots.stored)
      if (overlap(a, b) && !holds(a, b) && !holds(b, a)) return false;
  for (const auto& load : slots.loaded) {
    bool inside = false;
    for (const auto& store : slots.stored) inside |= holds(store, load);
    if (!inside) return false;
  }
  return true;
}

// The first lanes of a vector, if a mask is of these: ramp(a, 1, lanes) < broadcast(b, lanes).
inline std::int64_t lanes_below(const AnyExpr& mask) {
  const auto* less = mask.as<BinaryNode>();
  if (!less || less->op != BinaryOp::lt) return 0;
  const auto* ramp = less->a.as<RampNode>();
  const auto* end = less->b.as<BroadcastNode>();
  if (!ramp || !end || !is_const(ramp->stride, 1)) return 0;
  const std::int64_t *first = as_const_int(ramp->base), *last = as_const_int(end->value);
  return first && last ? *last - *first : 0;
}

// The mask of all accesses to a register, if it is one that stays the same: lanes outside of it are
// never asked for, and may hold anything. Parts may be loaded of the lanes inside.
class CommonMask : public Visitor {
 public:
  CommonMask(const Buffer& buffer, const Slot& slot) : buffer_(buffer), slot_(slot) {}

  bool found() const {
    if (differs_ || !mask_ || (parts_end_ > 0 && parts_end_ > lanes_below(mask_))) return false;
    for (const VarRef& v : free_vars(mask_))
      if (inside_.contains(v.get())) return false;
    return !find_load(mask_);
  }

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>(); n && n->buffer == buffer_)
      if (!note_part(n->indices[0], n->mask)) note(n->indices[0], n->mask);
    if (const auto* n = e.as<LetNode>())
      for (const auto& b : n->bindings) inside_.insert(b.var.get());
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == buffer_) note(n->indices[0], n->mask);
    if (const auto* n = s.as<ForNode>()) inside_.insert(n->var.get());
    if (const auto* n = s.as<LetStmtNode>()) inside_.insert(n->var.get());
    descend(s);
  }

 private:
  void note(const AnyExpr& index, const AnyExpr& mask) {
    Slot at;
    constant_slot(index, at);
    if (!overlap(at, slot_)) return;
    if (!mask || at.lanes != slot_.lanes)
      differs_ = true;
    else if (!mask_)
      mask_ = mask;
    else
      differs_ = differs_ || !structurally_equal(mask, mask_);
  }

  bool note_part(const AnyExpr& index, const AnyExpr& mask) {
    Slot at;
    constant_slot(index, at);
    if (mask.get() || at.lanes == slot_.lanes || !holds(slot_, at)) return false;
    parts_end_ = std::max(parts_end_, at.first + at.lanes - slot_.first);
    return true;
  }

  const Buffer& buffer_;
  const Slot slot_;
  AnyExpr mask_;
  std::int64_t parts_end_ = 0;  ///< of the slot's lanes
  NodeSet inside_;
  bool differs_ = false;
};

class UseRegisters : public Mutator {
 public:
  UseRegisters(const Buffer& buffer, const Vec<Slot>& slots, const Stmt& body) : buffer_(buffer) {
    for (const auto& slot : slots) {
      if (is_part(slot, slots)) continue;
      CommonMask mask(buffer, slot);
      mask.stmt(body);
      if (mask.found()) masked_alike_.push_back(slot.first);
      std::string name = buffer->name + "_" + std::to_string(slot.first);
      DType dtype = buffer->dtype.with_lanes(slot.lanes);
      Buffer reg(new BufferNode(name, dtype, {}, {}, Scope::reg));
      registers.emplace_back(slot, reg);
    }
  }
  Vec<std::pair<Slot, Buffer>> registers;

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    if (!n || n->buffer != buffer_) return descend(e);
    Slot want;
    constant_slot(n->indices[0], want);
    const auto& [slot, reg] = holder(want);
    AnyExpr whole = make_load(reg, {});
    if (slot.lanes == want.lanes) return whole;
    Vec<int> lanes;
    for (int l = 0; l < want.lanes; ++l)
      lanes.push_back(static_cast<int>(want.first - slot.first) + l);
    return make_shuffle({whole}, std::move(lanes));
  }

  Stmt stmt(const Stmt& s) override {
    if (!may_touch(s, Contents::bit(buffer_->name))) return s;
    if (is_prefetch_of(s, buffer_)) return make_seq({});
    const auto* n = s.as<StoreNode>();
    if (!n || n->buffer != buffer_) return descend(s);
    Slot want;
    constant_slot(n->indices[0], want);
    const auto& [slot, reg] = holder(want);
    AnyExpr value = expr(n->value), mask;
    if (n->mask) mask = expr(n->mask);
    if (value.dtype().lanes != want.lanes) value = make_broadcast(value, want.lanes);
    if (slot.lanes != want.lanes) {
      const AnyExpr lanes = lanes_of(want, slot);
      // Named outside of the select: it is stored to all lanes of the part.
      const VarRef part = make_var("part", value.dtype());
      Stmt store = blended(slot, reg, spread(part, want, slot),
                           mask.get() ? logical_and(lanes, spread(mask, want, slot)) : lanes);
      return make_let_stmt(part, value, std::move(store));
    }
    return blended(slot, reg, std::move(value), mask);
  }

 private:
  static bool is_part(const Slot& slot, const Vec<Slot>& slots) {
    for (const auto& other : slots)
      if (other.lanes > slot.lanes && holds(other, slot)) return true;
    return false;
  }
  Stmt blended(const Slot& slot, const Buffer& reg, AnyExpr value, const AnyExpr& mask) const {
    if (mask.get() && !contains(masked_alike_, slot.first))
      value = make_select(mask, value, make_load(reg, {}));
    return make_store(reg, {}, value);
  }
  // A vector of a part of a register in its lanes; what the others hold is not said.
  static AnyExpr spread(const AnyExpr& part, const Slot& want, const Slot& slot) {
    if (part.dtype().lanes == 1) return make_broadcast(part, slot.lanes);
    Vec<int> lanes;
    for (std::int64_t l = slot.first; l < slot.first + slot.lanes; ++l) {
      const bool inside = want.first <= l && l < want.first + want.lanes;
      lanes.push_back(inside ? static_cast<int>(l - want.first) : 0);
    }
    return make_shuffle({part}, std::move(lanes));
  }
  static AnyExpr lanes_of(const Slot& want, const Slot& slot) {
    const auto number = [](std::int64_t v) { return make_const(kI32, v); };
    const std::int64_t first = want.first - slot.first;
    const AnyExpr lane = make_ramp(number(0), number(1), slot.lanes);
    const auto all = [&](std::int64_t v) { return make_broadcast(number(v), slot.lanes); };
    const AnyExpr below = make_binary(BinaryOp::lt, lane, all(first + want.lanes));
    if (first == 0) return below;
    return logical_and(make_binary(BinaryOp::ge, lane, all(first)), below);
  }

  const std::pair<Slot, Buffer>& holder(const Slot& want) const {
    for (const auto& entry : registers)
      if (holds(entry.first, want)) return entry;
    unreachable("a promoted access has no register");
  }

  const Buffer& buffer_;
  Vec<std::int64_t> masked_alike_;  ///< first elements of registers whose mask may be left out
};

// More elements than this are memory: no target has so many registers.
inline constexpr std::size_t kMaxPromotedSlots = 256;

class Promote : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* a = s.as<AllocNode>();
    if (!a || a->buffer->rank() == 0) return descend(s);
    SlotCollector slots(a->buffer);
    slots.stmt(a->body);
    if (!slots_agree(slots) || slots.stored.size() > kMaxPromotedSlots) return descend(s);
    UseRegisters use(a->buffer, slots.stored, a->body);
    Stmt body = stmt(use.stmt(a->body));
    for (const auto& entry : use.registers) body = make_alloc(entry.second, body);
    return body;
  }
};

}  // namespace detail

LATHE_DECL Program promote_registers(const Program& program) {
  return program.with(detail::Promote().stmt(program->body), Stage::flat);
}

}  // namespace lathe
