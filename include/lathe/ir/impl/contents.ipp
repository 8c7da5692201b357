#pragma once

#include <functional>
#include <lathe/ir/contents.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

LATHE_DECL std::uint64_t Contents::bit(const std::string& name) {
  return std::uint64_t{1} << (std::hash<std::string>()(name) % 64);
}
// Multiplied by the golden ratio, of which the highest bits depend on all of the address.
LATHE_DECL std::uint64_t Contents::bit(const void* node) {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(node));
  return std::uint64_t{1} << (address * 0x9E3779B97F4A7C15u >> 58);
}

LATHE_DECL void Contents::add(const Contents& other) {
  blocks |= other.blocks, loops |= other.loops, buffers |= other.buffers;
  block_count += other.block_count;
  allocs |= other.allocs, inits |= other.inits;
  promises |= other.promises, axes |= other.axes, marks |= other.marks;
}

LATHE_DECL Contents ContentsMemo::get() const {
  const std::uint32_t flags = flags_.load(std::memory_order_acquire);
  Contents out;
  out.blocks = blocks_.load(std::memory_order_relaxed);
  out.loops = loops_.load(std::memory_order_relaxed);
  out.buffers = buffers_.load(std::memory_order_relaxed);
  out.block_count = block_count_.load(std::memory_order_relaxed);
  out.allocs = flags & 2, out.inits = flags & 4;
  out.promises = flags & 8, out.axes = flags & 16, out.marks = flags & 32;
  return out;
}

LATHE_DECL void ContentsMemo::set(const Contents& c) const {
  blocks_.store(c.blocks, std::memory_order_relaxed);
  loops_.store(c.loops, std::memory_order_relaxed);
  buffers_.store(c.buffers, std::memory_order_relaxed);
  block_count_.store(c.block_count, std::memory_order_relaxed);
  flags_.store(1u | (c.allocs ? 2u : 0u) | (c.inits ? 4u : 0u) | (c.promises ? 8u : 0u) |
                   (c.axes ? 16u : 0u) | (c.marks ? 32u : 0u),
               std::memory_order_release);
}

/// Of what lies below one statement.
class GatherContents : public Visitor {
 public:
  explicit GatherContents(const Stmt& s) { enter(s); }
  Contents found;

  void expr(const AnyExpr& e) override {
    if (e.kind() != ExprKind::Const && e.kind() != ExprKind::Var) descend(e);
  }
  void stmt(const Stmt& s) override {
    if (has_contents(s))
      found.add(contents_of(s));
    else
      enter(s);
  }
  void buffer(const Buffer& b) override { found.buffers |= Contents::bit(b->name); }

 private:
  void enter(const Stmt& s) {
    if (const auto* f = s.as<ForNode>()) {
      found.loops |= Contents::bit(f->var.get());
      found.promises |= f->loop_kind != ForKind::serial;
      found.axes |= is_bound(f->loop_kind);
      found.marks |= !f->attributes.empty();
    } else if (const auto* b = s.as<BlockNode>()) {
      found.blocks |= Contents::bit(b->name());
      found.inits |= b->init;
      ++found.block_count;
    }
    found.allocs |= s.kind() == StmtKind::Alloc;
    descend(s);
  }
};

LATHE_DECL void gather_contents(const Stmt& s) { s->contents.set(GatherContents(s).found); }

}  // namespace lathe::detail
