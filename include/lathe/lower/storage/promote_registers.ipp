#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

// The elements that a constant index names: [first, first + lanes).
struct Slot {
  std::int64_t first = 0;
  int lanes = 1;
};

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
    for (const auto& other : list)
      if (other.first == slot.first && other.lanes == slot.lanes) return;
    list.push_back(slot);
  }

  const Buffer& buffer_;
};

// Stores decide the registers: they must be equal or disjoint. A load may take lanes out of one of
// them.
inline bool slots_agree(const SlotCollector& slots) {
  if (!slots.possible) return false;
  for (const auto& a : slots.stored)
    for (const auto& b : slots.stored)
      if (&a != &b && a.first < b.first + b.lanes && b.first < a.first + a.lanes) return false;
  for (const auto& load : slots.loaded) {
    bool inside = false;
    for (const auto& store : slots.stored)
      inside |= store.first <= load.first && load.first + load.lanes <= store.first + store.lanes;
    if (!inside) return false;
  }
  return true;
}

class UseRegisters : public Mutator {
 public:
  UseRegisters(const Buffer& buffer, const Vec<Slot>& slots) : buffer_(buffer) {
    for (const auto& slot : slots) {
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
    const Buffer& reg = holder(want).second;
    AnyExpr value = expr(n->value);
    if (value.dtype().lanes != want.lanes) value = make_broadcast(value, want.lanes);
    if (n->mask) value = make_select(expr(n->mask), value, make_load(reg, {}));
    return make_store(reg, {}, value);
  }

 private:
  const std::pair<Slot, Buffer>& holder(const Slot& want) const {
    for (const auto& entry : registers)
      if (entry.first.first <= want.first &&
          want.first + want.lanes <= entry.first.first + entry.first.lanes)
        return entry;
    unreachable("a promoted access has no register");
  }

  const Buffer& buffer_;
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
    UseRegisters use(a->buffer, slots.stored);
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
